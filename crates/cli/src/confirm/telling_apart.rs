//! Whether experiments on one order speak against another.
//!
//! Takes   the runs that failed when an order was forced, and those that passed when it was prevented.      Returns  whether these tell it from another order.

use std::collections::HashSet;

use unpick_findings::{AccessKind, CodePlace, Finding, FindingAccess};
use unpick_forcing::statistics::chance;
use unpick_forcing::{ALPHA, MIN_RUNS, Rate};

use super::span::own_functions;

const PART: f64 = 0.2;
const MOST: f64 = 0.5;

/// When this order and the other one did their harm; none: the run did not have it.
type Moments = (Option<(u32, u32)>, Option<(u32, u32)>);

/// Whether runs fail without the other order, or pass with it, in a part that is no accident of a window. An effect is seen without its cause more often by such accidents, because
/// the cause has to be there: so of an order that is usually earlier, it has to be most of them.
pub fn tells_apart(failed: &[Moments], passed: &[Moments], is_other_earlier: bool) -> bool {
    let least = if is_other_earlier { MOST } else { PART };
    let with_rival = passed.iter().filter(|(_, other)| other.is_some()).count();
    let without = failed.iter().filter(|moments| comes_first(moments)).count();
    is_part(without, failed.len(), least) || is_part(with_rival, passed.len(), least)
}

/// Whether the other order makes no difference of its own: runs that have it and not this one fail clearly less often than runs that have both, and
/// those that have only this one do not. Of runs in which neither was meddled with: whether they failed, had this order, had the other.
pub fn screens_off(runs: &[(bool, bool, bool)]) -> bool {
    let rate = |own: bool, other: bool| {
        let mut rate = Rate::default();
        let meant = runs.iter().filter(|run| (run.1, run.2) == (own, other));
        meant.for_each(|(failed, ..)| rate.add(*failed));
        rate
    };
    let (both, only_own, only_other) = (rate(true, true), rate(true, false), rate(false, true));
    let is_clearly_less = |rate: Rate| {
        rate.runs >= MIN_RUNS && rate.share() < both.share() && chance(both, rate) <= ALPHA
    };
    both.runs >= MIN_RUNS && is_clearly_less(only_other) && !is_clearly_less(only_own)
}

/// Whether a failing run lacks the other order, or has it later than this one: an effect, and no cause.
fn comes_first(moments: &Moments) -> bool {
    match moments {
        (_, None) => true,
        (Some(own), Some(other)) => own < other,
        (None, Some(_)) => false,
    }
}

fn is_part(part: usize, whole: usize, least: f64) -> bool {
    part > 0 && part as f64 >= least * whole as f64
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

/// Whether the accesses by which two orders do their harm are of one function.
pub fn do_harm_in_same_function(one: &Finding, other: &Finding) -> bool {
    let function = |finding: &Finding| {
        let harmful = finding.harmful_access()?;
        own_functions(harmful).into_iter().next()
    };
    function(one).is_some_and(|first| function(other) == Some(first))
}

/// Whether all accesses of an order are accesses of another one.
fn is_part_of(part: &Finding, whole: &Finding) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// So many runs that fail, and that pass.
    fn runs(failed: usize, passed: usize, own: bool, other: bool) -> Vec<(bool, bool, bool)> {
        let mut runs = vec![(true, own, other); failed];
        runs.extend(vec![(false, own, other); passed]);
        runs
    }

    #[test]
    fn an_order_that_is_harmless_without_this_one_is_screened_off() {
        let companion = [runs(12, 0, true, true), runs(0, 8, false, true)].concat();
        assert!(screens_off(&companion));
        let few = [runs(12, 0, true, true), runs(0, 3, false, true)].concat();
        assert!(!screens_off(&few), "three runs say little");
    }

    #[test]
    fn an_order_that_fails_without_this_one_is_not() {
        let cause = [runs(12, 0, true, true), runs(8, 1, false, true)].concat();
        assert!(!screens_off(&cause));
    }

    #[test]
    fn two_orders_that_need_each_other_are_not_told_apart() {
        let both_needed =
            [runs(12, 0, true, true), runs(0, 8, false, true), runs(0, 8, true, false)].concat();
        assert!(!screens_off(&both_needed));
    }
}
