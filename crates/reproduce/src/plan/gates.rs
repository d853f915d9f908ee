//! Where a thread waits before its step: where it takes the outermost lock that it would keep from others while it waits.
//!
//! Takes   the locks held at an access, and at the access of the same thread before.      Gives  at most one gate.
//! Misses  locks whose place is not known.

use unpick_findings::{CodePlace, FindingAccess, Frame, HeldLock};

use super::{CallPlace, PlanPlace};

/// The gate of an access; `before` is the access that the same role makes before it in the pattern.
pub fn gate(access: &FindingAccess, before: Option<&FindingAccess>) -> Option<PlanPlace> {
    let lock = access.locks.iter().find(|lock| is_taken_since(lock, before))?;
    place_of_lock(lock, &Surroundings::of(access))
}

/// A lock that the thread had at its access before is kept anyway.
fn is_taken_since(lock: &HeldLock, before: Option<&FindingAccess>) -> bool {
    let Some(before) = before else { return true };
    let Some(acquisition) = lock.acquisition else { return false };
    before.locks.iter().all(|held| held.acquisition != Some(acquisition))
}

/// Where the thread is that took a lock.
pub struct Surroundings<'a> {
    pub frame: &'a Frame,
    pub calls: &'a [CodePlace],
}

impl Surroundings<'_> {
    fn of(access: &FindingAccess) -> Surroundings<'_> {
        Surroundings { frame: &access.frame, calls: &access.calls }
    }
}

/// Where a lock was taken; with calls if that is code that is called from many places.
pub fn place_of_lock(lock: &HeldLock, surroundings: &Surroundings<'_>) -> Option<PlanPlace> {
    let helpers = calls_of_helpers(lock, surroundings);
    let (code, calls) = own_call(lock.code.as_ref()?, &lock.calls, lock.shown_call)?;
    let inside_library = lock.calls.len() - calls.len();
    place(code, calls, helpers.saturating_sub(inside_library))
}

/// Where the user calls the library that waits for a lock or takes it, and the calls that led there. Inside the library there is one
/// way for locks that are free and another for those that are not: the user's call is before both.
pub fn own_call<'c>(
    code: &'c CodePlace,
    calls: &'c [CodePlace],
    shown_call: Option<usize>,
) -> Option<(&'c CodePlace, &'c [CodePlace])> {
    match shown_call {
        Some(shown) => Some((calls.get(shown)?, &calls[shown + 1..])),
        None => Some((code, calls)),
    }
}

/// How many calls of `lock` led out of what it has in common with its surroundings: a function that takes locks for others is not
/// specific, the calls of it are.
fn calls_of_helpers(lock: &HeldLock, surroundings: &Surroundings<'_>) -> usize {
    if surroundings.calls.is_empty() {
        return usize::from(lock.taken_at.function != surroundings.frame.function);
    }
    let in_common = |own: &usize| lead_alike(&lock.calls[*own..], surroundings.calls);
    (0..lock.calls.len()).find(in_common).unwrap_or(lock.calls.len())
}

/// Whether calls are the outer ones of others. Both may have lost their outermost ones.
fn lead_alike(outer: &[CodePlace], calls: &[CodePlace]) -> bool {
    (0..calls.len()).any(|at| outer.iter().zip(&calls[at..]).all(|(one, other)| one == other))
}

/// A place with the innermost of the calls that led to it. Calls in unknown modules end the list: the runtime could not find them.
pub fn place(code: &CodePlace, calls: &[CodePlace], wanted_calls: usize) -> Option<PlanPlace> {
    let calls = calls.iter().take(wanted_calls).map_while(CallPlace::of).collect();
    Some(PlanPlace { at: CallPlace::of(code)?, calls })
}
