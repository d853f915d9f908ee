//! Where a thread waits before its step: where it takes the outermost lock that it would keep from others while it waits.
//!
//! Takes   the locks held at an access, and at the access of the same thread before.      Gives  at most one gate.
//! Misses  locks whose place is not known.

use unpick_findings::{CodePlace, FindingAccess, Frame, HeldLock};

use super::{CallPlace, PlanPlace};

/// The gate of an access; `before` is the access that the same role makes before it in the pattern.
pub fn gate(access: &FindingAccess, before: Option<&FindingAccess>) -> Option<PlanPlace> {
    let mut locks = access.locks.iter().filter(|lock| !is_of_language(lock));
    let lock = locks.find(|lock| is_taken_since(lock, before))?;
    let other =
        Reached { code: None, calls: &access.calls, shown_call: None, frame: &access.frame };
    let taken = Reached::of_lock(lock);
    match lock.distance {
        // Only what is called inside the library is known to have the lock in front.
        Some(_) => {
            Some(PlanPlace { distance: lock.distance, ..taken.inner_place_apart_from(&other)? })
        }
        None => taken.place_apart_from(&other),
    }
}

/// A lock that the thread had at its access before is kept anyway.
fn is_taken_since(lock: &HeldLock, before: Option<&FindingAccess>) -> bool {
    let Some(before) = before else { return true };
    let Some(acquisition) = lock.acquisition else { return false };
    before.locks.iter().all(|held| held.acquisition != Some(acquisition))
}

/// A lock that the library of the language takes for itself, as far as is known: no code of the user leads there. It is taken on other
/// ways too, and often long before.
fn is_of_language(lock: &HeldLock) -> bool {
    let function = lock.taken_at.function.as_deref().unwrap_or_default();
    lock.calls.is_empty() && lock.distance.is_none() && function.starts_with("std::")
}

/// A place where a lock is taken or waited for, and how it was reached.
pub struct Reached<'r> {
    pub code: Option<&'r CodePlace>,
    pub calls: &'r [CodePlace],
    pub shown_call: Option<usize>,
    pub frame: &'r Frame,
}

impl<'r> Reached<'r> {
    pub fn of_lock(lock: &'r HeldLock) -> Reached<'r> {
        let HeldLock { calls, shown_call, taken_at, .. } = lock;
        Reached { code: lock.code.as_ref(), calls, shown_call: *shown_call, frame: taken_at }
    }

    /// The place; with calls if it is code that is called from many places. What it has in common with the way to `other` of the
    /// same thread need not be said.
    pub fn place_apart_from(&self, other: &Reached<'_>) -> Option<PlanPlace> {
        let (code, calls) = self.own_call()?;
        let inside_library = self.calls.len() - calls.len();
        place(code, calls, self.calls_of_helpers(other).saturating_sub(inside_library))
    }

    /// The same, but inside the library, if it is in one.
    fn inner_place_apart_from(&self, other: &Reached<'_>) -> Option<PlanPlace> {
        let inside_library = self.shown_call.map_or(0, |shown| shown + 1);
        place(self.code?, self.calls, self.calls_of_helpers(other).max(inside_library))
    }

    /// Where the user calls the library that waits for a lock or takes it, and the calls that led there. Inside the library there is
    /// one way for locks that are free and another for those that are not: the user's call is before both.
    pub fn own_call(&self) -> Option<(&'r CodePlace, &'r [CodePlace])> {
        match self.shown_call {
            Some(shown) => Some((self.calls.get(shown)?, &self.calls[shown + 1..])),
            None => Some((self.code?, self.calls)),
        }
    }

    /// How many calls led out of what it has in common with `other`: a function that takes locks for others is not specific, the
    /// calls of it are.
    fn calls_of_helpers(&self, other: &Reached<'_>) -> usize {
        if other.calls.is_empty() {
            return usize::from(self.frame.function != other.frame.function);
        }
        let in_common = |own: &usize| lead_alike(&self.calls[*own..], other.calls);
        (0..self.calls.len()).find(in_common).unwrap_or(self.calls.len())
    }
}

/// Whether calls are the outer ones of others. Both may have lost their outermost ones.
fn lead_alike(outer: &[CodePlace], calls: &[CodePlace]) -> bool {
    (0..calls.len()).any(|at| outer.iter().zip(&calls[at..]).all(|(one, other)| one == other))
}

/// A place with the innermost of the calls that led to it. Calls in unknown modules end the list: the runtime could not find them.
pub fn place(code: &CodePlace, calls: &[CodePlace], wanted_calls: usize) -> Option<PlanPlace> {
    let calls = calls.iter().take(wanted_calls).map_while(CallPlace::of).collect();
    Some(PlanPlace { at: CallPlace::of(code)?, calls, distance: None })
}
