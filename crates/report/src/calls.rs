//! How each access was reached: the calls around it, innermost first.

use unpick_findings::{FindingAccess, Frame};

use crate::Style;
use crate::layout::{cut, padded, printable};
use crate::short_names::shortened;
use crate::table::module;
use crate::words;

/// Calls shown per access.
const MOST_CALLS: usize = 8;
/// Columns before the function.
const BEFORE: usize = 6;

/// The call stacks of all accesses; accesses that were reached the same way are told once.
pub fn calls(accesses: &[FindingAccess], style: &Style) -> String {
    let mut told: Vec<(Vec<usize>, &FindingAccess)> = Vec::new();
    for (access, number) in accesses.iter().zip(1..) {
        match told.iter_mut().find(|(_, other)| same_way(other, access)) {
            Some((numbers, _)) => numbers.push(number),
            None => told.push((vec![number], access)),
        }
    }
    let mut text = format!("{}\n\n", style.paint().heading("Calls, innermost first"));
    for (numbers, access) in told {
        text.push_str(&of_access(&numbers, access, style));
    }
    text
}

fn same_way(one: &FindingAccess, other: &FindingAccess) -> bool {
    one.role == other.role && one.frame == other.frame && one.stack == other.stack
}

fn of_access(numbers: &[usize], access: &FindingAccess, style: &Style) -> String {
    let frames: Vec<&Frame> =
        std::iter::once(&access.frame).chain(&access.inlined_into).chain(&access.stack).collect();
    let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
    let head = format!("  {}  thread {}", numbers.join(", "), access.role);
    let mut text = format!("{}\n", style.paint().of_role(access.role, &head));
    for frame in frames.iter().take(MOST_CALLS) {
        text.push_str(&call(frame, access, style));
    }
    match (frames.len().saturating_sub(MOST_CALLS), access.stack.is_empty()) {
        (0, true) => text.push_str("      (who called it was not recorded)\n"),
        (0, false) => {}
        (more, _) => text.push_str(&format!("      … and {more} more\n")),
    }
    text
}

fn call(frame: &Frame, access: &FindingAccess, style: &Style) -> String {
    let columns = style.columns() - BEFORE;
    let of_function = columns * 3 / 5;
    let function = match &frame.function {
        Some(function) => shortened(&printable(function), of_function),
        None => "(function not known)".to_owned(),
    };
    let place = words::place(frame, columns - of_function - 2).unwrap_or_else(|| module(access));
    let line = format!(
        "      {}  {}",
        padded(&function, of_function),
        cut(&place, columns - of_function - 2)
    );
    format!("{}\n", line.trim_end())
}
