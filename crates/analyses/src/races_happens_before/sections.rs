//! Critical sections: who had which lock from when to when, and what was known at the end.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use unpick_events::{Address, ThreadId};

use super::clocks::VectorClock;

/// Of each lock and thread so many sections are remembered for those that begin later.
const MOST_REMEMBERED: usize = 32;
/// So many sections of a thread, counted back, can an access from before bytes were shared be in.
const DEEPEST: usize = 16;

/// The number of a critical section in its recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SectionNumber(u32);

#[derive(Debug)]
struct Section {
    lock: Address,
    thread: ThreadId,
    shared: bool,
    /// The events by which it began and ended.
    first: u64,
    last: Option<u64>,
    /// In which period of its thread it began.
    began: u32,
    /// What its thread knew at its end; nothing before that.
    given: VectorClock,
    /// In which period of its thread that was; 0 before.
    ended: u32,
}

#[derive(Debug, Default)]
pub struct Sections {
    all: Vec<Section>,
    open: FxHashMap<ThreadId, Vec<SectionNumber>>,
    /// In the order in which they began.
    by_thread: FxHashMap<ThreadId, Vec<SectionNumber>>,
    /// The latest that ended, by lock and then by thread.
    ended: FxHashMap<Address, FxHashMap<ThreadId, VecDeque<SectionNumber>>>,
}

impl Sections {
    pub fn begin(&mut self, thread: ThreadId, lock: Address, shared: bool, first: u64, began: u32) {
        let number = SectionNumber(self.all.len() as u32);
        let given = VectorClock::default();
        let (last, ended) = (None, 0);
        self.all.push(Section { lock, thread, shared, first, last, began, given, ended });
        self.open.entry(thread).or_default().push(number);
        self.by_thread.entry(thread).or_default().push(number);
    }

    /// A thread gives a lock back, and knows this of others.
    pub fn end(&mut self, thread: ThreadId, lock: Address, last: u64, knows: VectorClock) {
        let Some(open) = self.open.get_mut(&thread) else { return };
        let is_of_lock = |number: &SectionNumber| self.all[number.0 as usize].lock == lock;
        let Some(at) = open.iter().rposition(is_of_lock) else { return };
        let number = open.remove(at);
        let section = &mut self.all[number.0 as usize];
        (section.last, section.ended, section.given) = (Some(last), knows.of(thread), knows);
        let ended = self.ended.entry(lock).or_default().entry(thread).or_default();
        if ended.len() == MOST_REMEMBERED {
            ended.pop_front();
        }
        ended.push_back(number);
    }

    pub fn has_open(&self, thread: ThreadId) -> bool {
        self.open.get(&thread).is_some_and(|open| !open.is_empty())
    }

    /// Those that a thread is in.
    pub fn open(&self, thread: ThreadId) -> impl Iterator<Item = SectionNumber> + '_ {
        self.open.get(&thread).into_iter().flatten().copied()
    }

    pub fn lock_of(&self, number: SectionNumber) -> Address {
        self.all[number.0 as usize].lock
    }

    pub fn thread_of(&self, number: SectionNumber) -> ThreadId {
        self.all[number.0 as usize].thread
    }

    /// Whether others may read at the same time.
    pub fn is_shared(&self, number: SectionNumber) -> bool {
        self.all[number.0 as usize].shared
    }

    /// Whether somebody with this knowledge learns something by coming after a section, which must have ended: who knows its thread up to
    /// there knows all that its thread knew then.
    pub fn has_news(&self, number: SectionNumber, knows: &VectorClock) -> bool {
        let section = &self.all[number.0 as usize];
        section.ended > knows.of(section.thread)
    }

    /// What was known at the end of a section.
    pub fn take_given(&mut self, number: SectionNumber) -> VectorClock {
        std::mem::take(&mut self.all[number.0 as usize].given)
    }

    pub fn put_back(&mut self, number: SectionNumber, given: VectorClock) {
        self.all[number.0 as usize].given = given;
    }

    /// Of each other thread the latest section of a lock whose beginning a thread with this knowledge comes after. Readers do not
    /// keep each other out.
    pub fn that_began_before(
        &self,
        thread: ThreadId,
        lock: Address,
        shared: bool,
        knows: &VectorClock,
    ) -> Vec<SectionNumber> {
        let of_others = self.ended.get(&lock).into_iter().flatten();
        let of_others = of_others.filter(|(other, _)| **other != thread);
        let latest = of_others.filter_map(|(other, ended)| {
            ended.iter().rev().copied().find(|number| {
                let section = &self.all[number.0 as usize];
                !(shared && section.shared) && section.began <= knows.of(*other)
            })
        });
        latest.collect()
    }

    /// The section of a lock in which a thread was just before an event.
    pub fn of_moment(
        &self,
        thread: ThreadId,
        lock: Address,
        ordinal: u64,
    ) -> Option<SectionNumber> {
        let all = self.by_thread.get(&thread)?;
        let section = |number: &SectionNumber| &self.all[number.0 as usize];
        let begun = all.partition_point(|number| section(number).first < ordinal);
        let nearest = all[..begun].iter().rev().take(DEEPEST);
        let mut around = nearest.filter(|number| {
            let Section { lock: its, last, .. } = section(number);
            *its == lock && last.is_some_and(|last| ordinal <= last)
        });
        around.next().copied()
    }
}
