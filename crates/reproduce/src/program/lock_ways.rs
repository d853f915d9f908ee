//! Where a function that takes a lock for its caller has that lock in hand: of the caller's arguments only the function knows which one
//! it is (`Mutex::lock` has in front where the result goes, `lock_guard` the guard).
//!
//! Takes   a call of such a function, and the program.      Gives  the calls inside it that have the lock in front, and how they are reached.
//! Misses  functions of modules that were not opened, and locks of types that are not known.
//! Cost    takes apart the functions on the way, some levels deep.

use crate::plan::CallPlace;

use super::hooks::{has_lock_in_front, takes_lock};
use super::{Call, ProgramModule};

/// A guard calls its lock, which calls the system's.
const DEEPEST: usize = 4;
/// A schedule has room for some places only.
const MOST_WAYS: usize = 8;

/// A call that has the lock in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LockWay {
    pub at: CallPlace,
    /// The calls that lead there, innermost first; the last is the one that was asked for.
    pub calls: Vec<CallPlace>,
}

impl ProgramModule {
    /// How a lock is taken by a call: by the call itself, or by others inside the function that it calls.
    pub fn lock_ways(&self, call: &Call) -> Vec<LockWay> {
        let mut ways = Vec::new();
        self.add_lock_ways(call, &[], &mut ways);
        ways.truncate(MOST_WAYS);
        ways
    }

    /// `outer` are the calls that led to `call`, innermost first.
    fn add_lock_ways(&self, call: &Call, outer: &[CallPlace], ways: &mut Vec<LockWay>) {
        let at = self.place(call.return_address);
        if self.is_with_lock_in_front(call) {
            ways.push(LockWay { at, calls: outer.to_vec() });
            return;
        }
        let callee = call.callee.as_deref().filter(|callee| takes_lock(callee));
        let Some(callee) = callee.filter(|_| outer.len() < DEEPEST) else { return };
        let outer: Vec<CallPlace> = [at].into_iter().chain(outer.iter().cloned()).collect();
        for inner in self.calls_inside(callee) {
            self.add_lock_ways(&inner, &outer, ways);
        }
    }

    fn is_with_lock_in_front(&self, call: &Call) -> bool {
        call.callee.as_deref().is_some_and(|callee| match callee.starts_with("__tsan_") {
            true => self.takes_lock(call),
            false => has_lock_in_front(callee),
        })
    }
}
