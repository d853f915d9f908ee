//! Accesses that cannot have come between others: the order of a pair is fixed, or the row of accesses spans the life of a block.
//!
//! Takes   the accesses of one process, and the order that starting and joining threads makes.
//! Gives   for a pair whether it is one of an interleaving; for two pairs whether their accesses can be a unit that was torn.
//! Misses  orders that locks, conditions and the program's own flags keep.
//!
//! - What a thread did before it started the other one, or after it joined it, comes in this order in every run.
//! - An access before its memory is freed is where it should be: a bug is the free that comes first. If the thread of the
//!   access touches nothing any more after the free, the two did not interleave at all: a destructor at the end, or a stack that unwinds.
//! - A free leaves no value behind that a read in between could have missed, or that would not fit to another variable.
//! - Two iterations of a loop are two pieces of work: no code means to be alone from one to the next. So are two rounds of a thread that came back to the
//!   same place in between (`visits`).
//! - From the first write to a block to its free is the block's whole life: no code means to have it for itself all that time.

use unpick_events::access::PastKind;
use unpick_recording::Access;

use crate::access_pairs::{AccessId, Pair, UntornRows, WindowWalk};
use crate::knowledge::Knowledge;
use crate::thread_order::ThreadOrder;

use super::catalogue::PatternId;
use super::visits::Visits;

/// Knows which orders of a process are fixed.
#[derive(Clone, Copy)]
pub struct Fixed<'w> {
    walk: &'w WindowWalk,
    knowledge: &'w dyn Knowledge,
    visits: &'w Visits,
    /// None: every pair counts, as the papers define it.
    threads: Option<&'w ThreadOrder>,
}

impl<'w> Fixed<'w> {
    pub fn of(walk: &'w WindowWalk, knowledge: &'w dyn Knowledge, visits: &'w Visits) -> Fixed<'w> {
        let by_window_only = walk.torn.is_none();
        let threads = walk.untorn.as_ref().map(UntornRows::threads);
        Fixed { walk, knowledge, visits, threads: threads.filter(|_| !by_window_only) }
    }

    /// Whether a pattern counts at all.
    pub fn may_be(&self, pattern: PatternId) -> bool {
        pattern.is_of_papers() || self.walk.has_edges
    }

    /// Whether the order of a pair says nothing.
    pub fn is_fixed_pair(&self, pair: &Pair) -> bool {
        self.is_fixed(pair.first, pair.second)
    }

    fn is_fixed(&self, first: AccessId, second: AccessId) -> bool {
        let Some(threads) = self.threads else { return false };
        let [first, second] = [first, second].map(|id| self.walk.accesses.get(id));
        threads.is_before(first, second) || is_free(second) && self.is_last_of(first, second)
    }

    /// Whether the thread of `first` touches nothing after `second`.
    fn is_last_of(&self, first: &Access, second: &Access) -> bool {
        let last = self.walk.last_touches.get(&first.thread);
        last.is_none_or(|last| *last < second.order)
    }

    /// Whether two pairs on two variables can show a unit that was torn: neither ends in a free, and what each thread did is one piece of
    /// work.
    pub fn may_tear_two(&self, first: [AccessId; 2], second: [AccessId; 2]) -> bool {
        let seconds = [first[1], second[1]];
        self.threads.is_none()
            || seconds.iter().all(|&second| !is_free(self.walk.accesses.get(second)))
                && self.is_one_piece(first[0], second[1])
                && self.is_one_piece(first[1], second[0])
    }

    /// Whether two accesses of a thread can be of one piece of work.
    fn is_one_piece(&self, one: AccessId, other: AccessId) -> bool {
        !self.visits.is_repeated_between(&self.walk.accesses, one, other)
            && !self.are_two_iterations(one, other)
    }

    fn are_two_iterations(&self, one: AccessId, other: AccessId) -> bool {
        let [one, other] = [one, other].map(|id| self.walk.accesses.get(id));
        self.walk
            .iterations
            .as_ref()
            .is_some_and(|iterations| iterations.are_two(one, other, self.knowledge))
    }

    /// Whether three accesses to one variable can show a unit that was torn.
    pub fn may_tear(&self, [first, middle, last]: [AccessId; 3]) -> bool {
        if self.threads.is_none() {
            return true;
        }
        let is_freed = is_free(self.walk.accesses.get(last));
        let is_read = !self.walk.accesses.get(middle).is_write();
        let is_of_whole_life = is_freed && (is_read || self.walk.first_writes.contains(&first));
        let is_fixed = self.is_fixed(first, middle) || self.is_fixed(middle, last);
        let [first, last] = [first, last].map(|id| self.walk.accesses.get(id));
        let iterations = self.walk.iterations.as_ref();
        let are_two = iterations
            .is_some_and(|iterations| iterations.are_two_at_variable(first, last, self.knowledge));
        !is_of_whole_life && !is_fixed && !are_two
    }
}

fn is_free(access: &Access) -> bool {
    access.kind == PastKind::Free
}
