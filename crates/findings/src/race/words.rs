//! A race in sentences: what is wrong about it, and why.

use super::{CorrelatedAccess, RaceFinding};
use crate::finding::{AccessKind, FindingAccess};

/// The runtime remembers 16 bits of when an access was made that has no event.
const UNDATED: &str = " When the access was made whose calls are not known is known only to within 65536 events of its thread, which has had more: the locks and steps told of it \
    are those of the latest moment at which it can have been.";

/// What is wrong about a race.
pub fn sentence(race: &RaceFinding) -> String {
    let [first, second] = [&race.accesses[0], &race.accesses[1]];
    let variable = race.variable.as_ref();
    let what = variable.map_or_else(|| "the same memory".to_owned(), |name| format!("`{name}`"));
    if let Some(CorrelatedAccess { access: left_out, .. }) = &race.correlated {
        let other = left_out.variable.as_ref();
        let other = other.map_or_else(|| "other memory".to_owned(), |name| format!("`{name}`"));
        let end = match race.is_ordered() {
            true => "with no lock that keeps it from coming in between; something else does.",
            false => "and nothing keeps that from coming in between.",
        };
        return format!(
            "{} {} {what} and {} {other}, which belong together; {} {} {what}, {end}",
            who(first),
            did(first),
            did(left_out),
            who(second),
            did(second)
        );
    }
    let end = match () {
        () if race.unordered > 0 => "and nothing orders the two.",
        () if race.is_ordered() => "without a lock in common; something else orders the two.",
        () => "in an order, but without a lock in common: in another run the order may be gone.",
    };
    format!("{} {} {what}, {} {} it, {end}", who(first), did(first), who(second), did(second))
}

/// `Thread 1 (deposit)`, as it stands at the beginning of a sentence and inside.
fn who(access: &FindingAccess) -> String {
    let function = access.frame.function.as_ref();
    let function = function.map_or_else(String::new, |name| format!(" (`{name}`)"));
    let thread = if access.role == 1 { "Thread" } else { "thread" };
    format!("{thread} {}{function}", access.role)
}

fn did(access: &FindingAccess) -> String {
    let verb = match access.kind {
        AccessKind::Read => "read",
        AccessKind::Write => "wrote",
        AccessKind::Free => "freed",
    };
    if access.atomic { format!("atomically {verb}") } else { verb.to_owned() }
}

/// Why nothing orders the accesses, or what lock is missing.
pub fn why(race: &RaceFinding) -> String {
    let undated = if race.undated { UNDATED } else { "" };
    format!("{}{undated}", reason(race))
}

fn reason(race: &RaceFinding) -> String {
    if let Some(correlated) = &race.correlated {
        return unit_is_torn(race, correlated);
    }
    if race.unordered == 0 {
        return lock_missing(race);
    }
    let [first, second] = [&race.steps[0], &race.steps[1]];
    let gave = match &first.after {
        Some(step) => {
            format!("After its access, what thread 1 did next that others could wait for: {step}.")
        }
        None => "After its access, thread 1 did nothing that others could wait for.".to_owned(),
    };
    let took = match &second.before {
        Some(step) => format!("Before its own, what thread 2 had last waited for: {step}."),
        None => "Before its own, thread 2 had waited for nobody.".to_owned(),
    };
    format!("{gave} {took} No chain of such steps leads from the one to the other.")
}

fn unit_is_torn(race: &RaceFinding, correlated: &CorrelatedAccess) -> String {
    let [first, second] = [&race.accesses[0], &race.accesses[1]];
    let order = match &race.ordered_by {
        Some(step) if race.is_ordered() => format!(
            " But whenever it happened, thread 2 came before both accesses of thread 1 or after both, here by: {step}. As long as that stays so, it is no race."
        ),
        _ if race.unordered > 0 => {
            " Nor does anything put thread 2 before both accesses of thread 1, or after both."
                .to_owned()
        }
        _ => String::new(),
    };
    format!(
        "Thread 1 held {} at the one access and {} at the other, thread 2 {}: no lock is held over both and there.{order} They belong together: {}.",
        held(first),
        held(&correlated.access),
        held(second),
        correlated.correlation
    )
}

/// The locks held at an access.
fn held(access: &FindingAccess) -> String {
    let names = access.locks.iter().map(|lock| {
        let name = lock.name.clone().unwrap_or_else(|| format!("a {}", lock.kind));
        if lock.shared { format!("`{name}` (shared)") } else { format!("`{name}`") }
    });
    let names: Vec<String> = names.collect();
    if names.is_empty() { "no lock".to_owned() } else { names.join(", ") }
}

fn lock_missing(race: &RaceFinding) -> String {
    let order = match &race.ordered_by {
        Some(step) if race.is_ordered() => format!(
            " But whenever it happened, the later of the two came after the earlier, here by: {step}. As long as that stays so, it is no race."
        ),
        _ => " What put the two in an order was which thread came to a lock first; nothing under that lock makes it so.".to_owned(),
    };
    format!(
        "Thread 1 held {}, thread 2 {}: no lock was held at every access to the variable.{order}",
        held(&race.accesses[0]),
        held(&race.accesses[1])
    )
}
