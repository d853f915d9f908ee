//! What was counted, as text for people and as JSON for programs. `include/unpick.h` writes the same, byte by byte.

use std::fmt::Write;

use crate::complaint;
use crate::registry::{Counts, Entry, Registry};

/// A paragraph per breakpoint, and what to do about those that were never hit.
pub fn text(registry: &Registry) -> String {
    let mut text = String::new();
    for (name, entry) in registry.entries() {
        describe(&mut text, name, entry);
    }
    let reached: Vec<&str> = registry.entries().map(|(name, _)| name).collect();
    for name in registry.only.iter().filter(|name| !reached.contains(&name.as_str())) {
        text += &complaint::never_reached(name);
        text.push('\n');
    }
    text
}

fn describe(text: &mut String, name: &str, entry: &Entry) {
    let _ = write!(text, "unpick: breakpoint `{name}`: {}", times(entry.hits));
    if entry.out_of_order > 0 {
        let _ = write!(text, ", {} out of order", entry.out_of_order);
    }
    text.push('\n');
    for (role, half) in entry.halves.iter().enumerate() {
        let _ = writeln!(text, "  {}: {}", entry.role_word(role), arrivals(half));
    }
    if entry.hits == 0 {
        let (why, next) = diagnosis(entry);
        let _ = writeln!(text, "  why:  {why}\n  next: {next}");
    }
}

fn times(hits: u64) -> String {
    match hits {
        0 => "never hit".to_owned(),
        1 => "hit once".to_owned(),
        hits => format!("hit {hits} times"),
    }
}

fn arrivals(half: &Counts) -> String {
    let Some(place) = half.place else { return "not reached".to_owned() };
    let mut text = format!("reached {}", if half.arrivals == 1 { "once" } else { "" });
    if half.arrivals != 1 {
        let _ = write!(text, "{} times", half.arrivals);
    }
    let details =
        [(half.timeouts, "timed out"), (half.ignored, "ignored"), (half.skipped, "skipped")];
    for (count, word) in details.into_iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, ", {count} {word}");
    }
    let _ = write!(text, ", at {}", complaint::file_and_line(place));
    text
}

/// Why a breakpoint was never hit, and what to do.
fn diagnosis(entry: &Entry) -> (String, &'static str) {
    let of_role = |is_so: fn(&Counts) -> bool| {
        entry.halves.iter().position(is_so).map(|role| entry.role_word(role))
    };
    if let Some(role) = of_role(|half| half.arrivals == 0) {
        return (
            format!("no thread came to `{role}`"),
            "put it into the code of the other thread, under the same name; check that this code runs",
        );
    }
    if let Some(role) = of_role(|half| half.skipped == half.arrivals) {
        return (
            format!("the condition of `{role}` never held, or its lock was not held"),
            "look at `when` and `lock_held` there",
        );
    }
    if let Some(role) = of_role(|half| half.ignored + half.skipped == half.arrivals) {
        return (format!("all arrivals at `{role}` were ignored"), "make `ignore_first` smaller");
    }
    if entry.halves.iter().all(|half| half.patient == 0) {
        return (
            "all pauses are zero: nobody waits, so nobody is there to be met".to_owned(),
            "give one of the places a pause",
        );
    }
    (
        "the threads were not there at the same time, or not with the same objects".to_owned(),
        "try a longer pause: UNPICK_BREAKPOINT_PAUSE_MS=1000; check which objects are given",
    )
}

/// One line of JSON per breakpoint.
pub fn json(registry: &Registry) -> String {
    registry.entries().map(|(name, entry)| json_line(name, entry)).collect()
}

fn json_line(name: &str, entry: &Entry) -> String {
    let halves: Vec<String> = entry.halves.iter().map(json_half).collect();
    format!(
        "{{\"breakpoint\":\"{}\",\"kind\":\"{}\",\"hits\":{},\"out_of_order\":{},\"halves\":[{}]}}\n",
        escaped(name),
        entry.kind.word(),
        entry.hits,
        entry.out_of_order,
        halves.join(",")
    )
}

fn json_half(half: &Counts) -> String {
    let Counts { arrivals, timeouts, ignored, skipped, .. } = half;
    format!(
        "{{\"arrivals\":{arrivals},\"timeouts\":{timeouts},\"ignored\":{ignored},\"skipped\":{skipped}}}"
    )
}

fn escaped(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for letter in name.chars() {
        match letter {
            '"' | '\\' => text.extend(['\\', letter]),
            control if control < ' ' => {
                let _ = write!(text, "\\u{:04x}", u32::from(control));
            }
            other => text.push(other),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_in_json() {
        assert_eq!(escaped("a\"b\\c\nd"), "a\\\"b\\\\c\\u000ad");
    }
}
