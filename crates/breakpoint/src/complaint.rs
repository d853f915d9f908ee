//! Messages about wrong use: what, where, why, next. One place, so that they read alike.

use std::panic::Location;

use crate::registry::{Ask, Entry};

/// As all messages name a place.
pub fn file_and_line(place: &Location<'_>) -> String {
    format!("{}:{}", place.file(), place.line())
}

pub fn impossible_role(ask: &Ask<'_>) -> String {
    let Ask { name, role, roles, .. } = ask;
    let place = file_and_line(ask.place);
    format!(
        "unpick: breakpoint `{name}` cannot be used like this: role {role} of {roles}\n  where: {place}\n  \
         why:   roles count from 0, and it takes two threads to meet\n  \
         next:  use a role below the number of roles, which is at least 2"
    )
}

pub fn other_shape(ask: &Ask<'_>, entry: &Entry) -> String {
    let Ask { name, kind, roles, .. } = ask;
    let place = file_and_line(ask.place);
    let (known_kind, known_roles) = (entry.kind.word(), entry.halves.len());
    let earlier = entry.halves.iter().find_map(|half| half.place);
    let earlier = earlier.map_or_else(String::new, |place| format!(" at {}", file_and_line(place)));
    format!(
        "unpick: breakpoint `{name}` contradicts itself: {} of {roles} here, {known_kind} of {known_roles} before\n  \
         where: {place}\n  why:   all places of one name are one breakpoint; it was first reached{earlier}\n  \
         next:  give one of them another name, or make them alike",
        kind.word()
    )
}

pub fn bad_pause(text: &str, limit_ms: u128) -> String {
    format!(
        "unpick: UNPICK_BREAKPOINT_PAUSE_MS is `{text}`, which is not a number of milliseconds from 0 to {limit_ms}: \
         the pauses in the program are used"
    )
}

pub fn no_names(text: &str) -> String {
    format!(
        "unpick: UNPICK_BREAKPOINTS is `{text}`, which is neither on nor off nor a list of names: all are on"
    )
}

pub fn cannot_write(file: &std::path::Path, error: &std::io::Error) -> String {
    format!("unpick: the report of breakpoints cannot be written to {}: {error}", file.display())
}

pub fn never_reached(name: &str) -> String {
    format!(
        "unpick: breakpoint `{name}` was not reached\n  why:   UNPICK_BREAKPOINTS asks for it, and no thread came to a \
         place of this name\n  next:  check the name, and that the code is built with breakpoints"
    )
}
