//! Whether experiments on one order speak against another.
//!
//! Takes   the runs that failed when an order was forced, and those that passed when it was prevented.      Returns  whether these tell it from another order.

use std::collections::HashSet;

use unpick_findings::{AccessKind, CodePlace, Finding, FindingAccess};

use super::span::own_functions;

/// When this order and the other one did their harm; none: the run did not have it.
type Moments = (Option<(u32, u32)>, Option<(u32, u32)>);

/// Whether runs fail without the other order, or pass with it.
pub fn tells_apart(failed: &[Moments], passed: &[Moments]) -> bool {
    let with_rival = passed.iter().filter(|(_, other)| other.is_some()).count();
    let without = failed.iter().filter(|moments| comes_first(moments)).count();
    is_part(without, failed.len()) || is_part(with_rival, passed.len())
}

/// Whether a failing run lacks the other order, or has it later than this one: an effect, and no cause.
fn comes_first(moments: &Moments) -> bool {
    match moments {
        (_, None) => true,
        (Some(own), Some(other)) => own < other,
        (None, Some(_)) => false,
    }
}

/// A part that is no accident of a window.
fn is_part(part: usize, whole: usize) -> bool {
    part > 0 && part * 5 >= whole
}

/// Whether two orders are of the same functions, or one is a part of the other: who looks at the one sees the other. An order of more functions may enclose the
/// other.
pub fn is_same_bug(one: &Finding, other: &Finding) -> bool {
    let functions = |finding: &Finding| -> HashSet<String> {
        let innermost = |access| own_functions(access).into_iter().next();
        finding.accesses.iter().filter_map(innermost).collect()
    };
    let (first, second) = (functions(one), functions(other));
    let are_of_same_functions = !first.is_empty() && first == second;
    are_of_same_functions || is_part_of(one, other) || is_part_of(other, one)
}

/// Whether all accesses of an order are accesses of another one.
pub fn is_part_of(part: &Finding, whole: &Finding) -> bool {
    let whole: Vec<_> = whole.accesses.iter().map(seen_at).collect();
    part.accesses.iter().all(|access| whole.contains(&seen_at(access)))
}

/// File and number.
type Line<'a> = (Option<&'a str>, u32);

/// What a reader sees of an access: a line may have several instructions for it. Code without a line is known by its place.
fn seen_at(access: &FindingAccess) -> (AccessKind, Vec<Line<'_>>, Option<&CodePlace>) {
    let frames = [&access.frame].into_iter().chain(&access.inlined_into);
    let lines: Vec<_> =
        frames.filter_map(|frame| Some((frame.file.as_deref(), frame.line?))).collect();
    let code = lines.is_empty().then_some(&access.code);
    (access.kind, lines, code)
}
