//! What the other threads of the process do while one is held: whether any of them can still come.
//!
//! Kept only while there is a schedule, from the same events that are recorded.

use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::*};
use unpick_events::Kind;
use unpick_events::kind::lock_flags::{BY_CONDITION, IS_RUST, TIMED};

use crate::sys;
use crate::thread::{self, Thread};

/// Locks a thread holds beyond this many are not known.
const MOST_LOCKS: usize = 16;

/// In what a held thread has seen: it stands aside, and goes on by itself before those it does that for give up.
pub const ASIDE: u64 = 1 << 63;

/// What a thread waits for and what it holds.
pub struct Standing {
    /// The kind of wait in the lowest byte; 0: none that is known.
    waits: AtomicU64,
    /// The lock it waits for.
    wanted: AtomicU64,
    held: [AtomicU64; MOST_LOCKS],
    /// By lock that is held: the steps, as bits, for which it counts that it was taken where it was.
    held_for: [AtomicU16; MOST_LOCKS],
    /// The same, of a lock that the thread is about to take.
    takes_for: AtomicU16,
    /// If it is held by us: which change it has seen last, plus 1. Who has not seen the latest may go on at once.
    pub held_since_change: AtomicU64,
    /// Its number in the kernel.
    kernel_id: AtomicU32,
    /// The number of the event after the last one by which it synchronised.
    next_ordinal: AtomicU64,
}

impl Standing {
    pub fn reset(&self) {
        self.waits.store(0, Relaxed);
        self.wanted.store(0, Relaxed);
        self.held_since_change.store(0, Relaxed);
        self.held.iter().for_each(|lock| lock.store(0, Relaxed));
        self.held_for.iter().for_each(|steps| steps.store(0, Relaxed));
        self.takes_for.store(0, Relaxed);
        self.next_ordinal.store(0, Relaxed);
    }

    fn add_lock(&self, lock: u64) {
        let takes_for = self.takes_for.load(Relaxed);
        self.takes_for.store(0, Relaxed);
        let free = self.held.iter().zip(&self.held_for).find(|(held, _)| held.load(Relaxed) == 0);
        if let Some((free, held_for)) = free {
            held_for.store(takes_for, Relaxed);
            free.store(lock, Relaxed);
        }
    }

    /// A lock that is held several times goes as often; what was taken last goes first.
    fn remove_lock(&self, lock: u64) {
        if let Some(held) = self.held.iter().rev().find(|held| held.load(Relaxed) == lock) {
            held.store(0, Relaxed);
        }
    }

    /// A wait at a condition gives the lock back, and gets it again: then it counts for what it did before.
    fn lend_lock(&self, lock: u64) {
        let mut held = self.held.iter().zip(&self.held_for).rev();
        if let Some((_, held_for)) = held.find(|(held, _)| held.load(Relaxed) == lock) {
            self.takes_for.store(held_for.load(Relaxed), Relaxed);
        }
        self.remove_lock(lock);
    }

    /// The thread is where it takes a lock that counts for these steps, as bits.
    pub fn takes_lock_for(&self, steps: u16) {
        self.takes_for.store(steps, Relaxed);
    }

    /// Whether it holds a lock that counts for a step.
    pub fn holds_for(&self, step: u8) -> bool {
        let counts = |steps: &AtomicU16| steps.load(Relaxed) & bit_of(step) != 0;
        let mut held = self.held.iter().zip(&self.held_for);
        held.any(|(held, held_for)| held.load(Relaxed) != 0 && counts(held_for))
    }

    fn holds(&self, lock: u64) -> bool {
        self.held.iter().any(|held| held.load(Relaxed) == lock)
    }
}

/// Steps as bits.
pub fn bit_of(step: u8) -> u16 {
    1_u16.checked_shl(step.into()).unwrap_or(0)
}

/// The thread synchronises: it may be about to wait, or has got or given something.
pub fn note_synchronisation(thread: &Thread, kind: Kind, flags: u16, object: u64) {
    let standing = &thread.standing;
    let is_rust = flags & IS_RUST != 0;
    match kind {
        // Releases of Rust's locks are no events.
        Kind::Acquire if !is_rust => standing.add_lock(object),
        Kind::Release if flags & BY_CONDITION != 0 => standing.lend_lock(object),
        Kind::Release if !is_rust => standing.remove_lock(object),
        Kind::KernelThread => standing.kernel_id.store(object as u32, Relaxed),
        _ => {}
    }
    let waits = if waits_for_others(kind, flags) { kind as u64 } else { 0 };
    let wanted = if kind == Kind::LockWait { object } else { 0 };
    standing.wanted.store(wanted, Relaxed);
    standing.waits.store(waits, Release);
}

/// The event by which the thread synchronises is recorded. Whoever finds the thread sleeping finds this as well.
pub fn note_recorded(thread: &Thread) {
    thread.standing.next_ordinal.store(thread.hot().time.get().into(), Relaxed);
}

fn waits_for_others(kind: Kind, flags: u16) -> bool {
    match kind {
        Kind::LockWait => flags & TIMED == 0,
        Kind::ConditionWait
        | Kind::ThreadJoinWait
        | Kind::BarrierArrive
        | Kind::SemaphoreBlock
        | Kind::OnceWait
        | Kind::FutexWait
        | Kind::ParkWait => true,
        _ => false,
    }
}

/// What stands in the way of those a held thread waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    None,
    /// There is nobody else, or all others wait for the end of a thread.
    Alone,
    /// Nobody can come, unless a wait ends by itself: conditions and futexes may have time limits.
    Perhaps(u8),
    /// Somebody waits for what the held thread has, or all wait for each other. The kind of a wait.
    Certain(u8),
}

/// All threads but one, by number.
fn others_than(held: &Thread) -> impl Iterator<Item = (u16, &'static Thread)> {
    let numbers = 1..=thread::threads_so_far().min(thread::MAX_THREADS as u32) as u16;
    let threads = numbers.filter_map(|number| Some((number, thread::thread_with_number(number)?)));
    threads.filter(move |(_, other)| !core::ptr::eq(*other, held))
}

/// A thread, and how many of its events there are.
pub struct Sight {
    pub thread: u16,
    pub next_ordinal: u64,
}

/// Tells the held thread, then those that wait for a lock it has, then all others that wait.
pub fn others_in_sight(held: &Thread, mut tell: impl FnMut(Sight)) {
    tell(Sight { thread: held.number(), next_ordinal: held.hot().time.get().into() });
    for first in [true, false] {
        for (thread, other) in others_than(held) {
            let standing = &other.standing;
            let is_waiting = standing.waits.load(Acquire) != 0;
            if is_waiting && standing.waits_for_lock_of(held) == first {
                tell(Sight { thread, next_ordinal: standing.next_ordinal.load(Relaxed) });
            }
        }
    }
}

/// What stands in the way of others while `held` is; `changes` is what was counted last.
pub fn obstacle(held: &Thread, changes: u32) -> Obstacle {
    if thread::is_one_coming() {
        return Obstacle::None;
    }
    let is_aside = held.standing.held_since_change.load(Relaxed) & ASIDE != 0;
    let mut company = Company { is_aside, ..Company::default() };
    for (_, other) in others_than(held) {
        if other.standing.waits_for_lock_of(held) && other.standing.sleeps() {
            return Obstacle::Certain(Kind::LockWait as u8);
        }
        if !company.add(&other.standing, changes) {
            return Obstacle::None;
        }
    }
    company.obstacle()
}

/// All other threads, none of which can go on.
#[derive(Default)]
struct Company {
    /// Who asks stands aside.
    is_aside: bool,
    others: usize,
    joining: usize,
    unsure: usize,
    kind: u8,
}

impl Company {
    /// Adds a thread; false if it can go on.
    fn add(&mut self, other: &Standing, changes: u32) -> bool {
        self.others += 1;
        let waits = other.waits.load(Acquire) as u8;
        if waits == 0 {
            let seen = other.held_since_change.load(Relaxed);
            let goes_on_first = seen & ASIDE != 0 && !self.is_aside;
            return !goes_on_first && seen & !ASIDE == u64::from(changes) + 1;
        }
        self.kind = waits;
        self.unsure += usize::from(!ends_by_others(waits));
        self.joining += usize::from(waits == Kind::ThreadJoinWait as u8);
        other.sleeps()
    }

    fn obstacle(&self) -> Obstacle {
        match self.unsure {
            _ if self.others == self.joining => Obstacle::Alone,
            0 => Obstacle::Certain(self.kind),
            _ => Obstacle::Perhaps(self.kind),
        }
    }
}

impl Standing {
    fn waits_for_lock_of(&self, held: &Thread) -> bool {
        self.waits.load(Acquire) as u8 == Kind::LockWait as u8
            && held.standing.holds(self.wanted.load(Relaxed))
    }

    /// Whether the kernel has it sleeping, and not just woken. If that cannot be found out it is believed to.
    fn sleeps(&self) -> bool {
        match sys::state_of_thread(self.kernel_id.load(Relaxed)) {
            Some(state) => state != b'R',
            None => true,
        }
    }
}

/// Whether a wait ends only by what another thread does.
fn ends_by_others(waits: u8) -> bool {
    [
        Kind::LockWait,
        Kind::ThreadJoinWait,
        Kind::BarrierArrive,
        Kind::SemaphoreBlock,
        Kind::OnceWait,
    ]
    .iter()
    .any(|kind| *kind as u8 == waits)
}
