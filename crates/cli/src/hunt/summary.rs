//! What came of a hunt: the exit code, and the lines after the findings.
//!
//! Takes   the course of a hunt and its findings.      Gives  text that ends in the next command.

use serde_json::json;
use unpick_findings::{Active, Findings, HangGroup, Origin};
use unpick_problem::{Problem, exit};
use unpick_run_store::StoredRun;
use unpick_runner::Rate;

use crate::contradiction::contradiction;
use crate::dump::printable;
use crate::hunt::budget::{Counts, Enough};
use crate::hunt::course::{Course, Ended};
use crate::hunt::rates::DelayRates;
use crate::quantities;
use crate::record::store_option;
use crate::repeat::repeat_command;

/// The exit code of a hunt.
pub fn exit_code(course: &Course<'_>, findings: Option<&Findings>) -> u8 {
    let outcome = Outcome {
        counts: *course.counts(),
        orders_that_failed: orders_that_failed(findings),
        is_explained: findings.is_some_and(Findings::explain_something),
        is_interrupted: course.is_interrupted(),
    };
    course.trouble().map_or_else(|| outcome.exit_code(), Problem::exit_code)
}

/// What decides the exit code.
struct Outcome {
    counts: Counts,
    orders_that_failed: u32,
    is_explained: bool,
    is_interrupted: bool,
}

impl Outcome {
    fn exit_code(&self) -> u8 {
        let Counts { failed, .. } = self.counts;
        if self.is_explained {
            exit::FINDINGS
        } else if failed > 0 || self.orders_that_failed > 0 {
            exit::NO_CORRELATION
        } else if self.is_interrupted {
            exit::INTERRUPTED
        } else if self.counts.total() > 0 && self.counts.usable() == 0 {
            exit::OWN_FAULT
        } else {
            0
        }
    }
}

/// How many forced orders the program failed under.
fn orders_that_failed(findings: Option<&Findings>) -> u32 {
    let active = findings.and_then(|findings| findings.active.as_ref());
    active.map_or(0, |active| active.failed + active.shown_failed() as u32)
}

/// What to say below the findings; `again` are the options that a further hunt needs as well.
pub fn lines(
    course: &Course<'_>,
    ended: Ended,
    findings: Option<&Findings>,
    again: &str,
) -> Vec<String> {
    let counts = course.counts();
    let mut lines = vec![counted(counts, ended)];
    let kinds = findings.and_then(unpick_report::kinds_of_failures);
    lines.extend(kinds.map(|kinds| format!("failures: {kinds}")));
    lines.extend(DelayRates::of(course).text());
    lines.extend(course.unusable().lines());
    if course.incomplete() > 0 {
        lines.push(format!(
            "{} runs were not recorded completely: see `unpick dump RUN`, and perhaps raise --limit or --time",
            course.incomplete()
        ));
    }
    if course.has_dropped_for_space() {
        lines
            .push("recordings of later passing runs were not kept: they took too much room".into());
    }
    let program = course.end_of_command_line();
    let store = store_option(course.store().folder());
    lines.extend(findings.into_iter().flat_map(|findings| hung(findings, &store)));
    if let Some(active) = findings.and_then(|findings| findings.active.as_ref()) {
        lines.extend(tried_orders(active, &program, again));
    }
    let told = match findings {
        _ if counts.usable() == 0 => nothing_usable(course, ended, &store, again),
        Some(findings) if findings.explain_something() => found(course, findings, &store),
        _ if counts.failed == 0 && orders_that_failed(findings) > 0 => {
            no_order_explains(&program, again)
        }
        _ if counts.failed == 0 => nothing_failed(&program, again),
        _ if counts.passed == 0 => everything_failed(course, &program, again),
        _ => nothing_correlates(course, &program, &store, again),
    };
    lines.extend(told);
    lines.iter().map(|line| format!("unpick: {line}")).collect()
}

fn counted(counts: &Counts, ended: Ended) -> String {
    let Counts { passed, failed, unusable } = counts;
    let unusable = if *unusable > 0 { format!(", {unusable} unusable") } else { String::new() };
    let why = match ended {
        Ended::Enough(Enough::Both | Enough::Many) => "",
        Ended::Enough(Enough::EveryRunFails) => "; stopped early, because every run fails",
        Ended::Enough(Enough::EveryRunIsUnusable) => "; stopped early, because no run can be used",
        Ended::Enough(Enough::Runs) => "; run limit reached",
        Ended::Enough(Enough::Time) => "; time limit reached",
        Ended::Enough(Enough::ForExperiments) => "; the rest of the time was for experiments",
        Ended::Enough(Enough::ForOrders) => "; then orders were forced that no run had had",
        Ended::Stopped => "; interrupted",
        Ended::Trouble => "; stopped by the problem below",
    };
    let runs = quantities::counted(counts.total().into(), "run");
    format!("{runs}: {failed} failed, {passed} passed{unusable}{why}")
}

/// How failing runs hung, each way in one line.
fn hung(findings: &Findings, store: &str) -> Vec<String> {
    let lines = findings.hangs.iter().map(|group| {
        let HangGroup { sentence, failed_runs, example_run, .. } = group;
        let others = match failed_runs - 1 {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        format!("run {example_run}{others} hung: {sentence}; all threads: unpick show{store} --run {example_run}")
    });
    lines.map(|line| printable(&line)).collect()
}

fn nothing_usable(course: &Course<'_>, ended: Ended, store: &str, again: &str) -> Vec<String> {
    let Some(why) = course.unusable().last() else {
        return vec!["no run ended: there is nothing to explain".into()];
    };
    let mut lines = vec![format!("no run can be used; the last one: {why}")];
    if ended == Ended::Enough(Enough::Time) {
        let program = course.end_of_command_line();
        lines.push(format!("next: give it more time: unpick hunt{again} --time 30m {program}"));
        lines.push("      or less work for the program (fewer rounds, smaller input)".into());
        return lines;
    }
    lines.push(format!(
            "next: see what each run says: unpick runs{store}; and what this machine lacks: unpick doctor"
        ));
    lines
}

fn nothing_failed(program: &str, again: &str) -> Vec<String> {
    vec![
        "no run failed: there is nothing to explain".into(),
        format!("next: give it more time: unpick hunt{again} --time 30m {program}"),
        "      or, if it did fail and its exit code does not tell, say how to know: --fail-if 'stdout ~ /RE/'".into(),
    ]
}

/// How far orders were tried that no run had, and how to go on.
fn tried_orders(active: &Active, program: &str, again: &str) -> Vec<String> {
    let Active { tried, reached, failed, remaining, .. } = active;
    let mut lines = vec![format!(
        "of {} that no run had, {tried} were tried: {reached} came about, {failed} made it fail; {remaining} remain",
        quantities::counted(u64::from(tried + remaining), "order")
    )];
    if !active.shown.is_empty() {
        lines.push(format!(
            "of orders that passing runs had, {} were forced between other threads: {} made it fail",
            active.shown.len(),
            active.shown_failed()
        ));
    }
    if *remaining > 0 {
        lines.push(format!("try the rest: unpick hunt{again} --resume --active {program}"));
    }
    lines
}

fn no_order_explains(program: &str, again: &str) -> Vec<String> {
    vec![
        "runs failed while orders were forced, but none of these orders is shown to be the cause: what fails as often when it is prevented is refuted".into(),
        format!("next: see whether it fails by itself: unpick hunt{again} --resume --no-active {program}"),
    ]
}

fn everything_failed(course: &Course<'_>, program: &str, again: &str) -> Vec<String> {
    let mut lines = vec![
        "every run failed: what makes a run fail can only be told by comparing with runs that pass"
            .into(),
        format!("next: try without delays: unpick hunt{again} --no-delays {program}"),
        "      or less work for the program (fewer rounds, smaller input), or a more specific --fail-if"
            .into(),
    ];
    if !course.has_input() {
        lines.push("      or, if it reads its standard input, which is empty: --stdin FILE".into());
    }
    lines
}

fn nothing_correlates(course: &Course<'_>, program: &str, store: &str, again: &str) -> Vec<String> {
    let runs = course.store().runs_of_hunt(course.number()).unwrap_or_default();
    let mut lines = vec!["runs failed, but no order of accesses goes with failing".to_owned()];
    lines.extend(contradiction(&runs));
    lines.extend([
        format!("next: look further: unpick rank{store} --window 10 --pair-window 1000"),
        format!("      or at more runs: unpick hunt{again} --resume --failing 100 --passing 100 {program}"),
        "      Perhaps the code that matters is not instrumented, or the failure is not about threads".into(),
    ]);
    lines
}

fn found(course: &Course<'_>, findings: &Findings, store: &str) -> Vec<String> {
    if findings.findings.first().is_some_and(|first| first.origin == Origin::Forced) {
        return vec![format!("next: make it fail again: unpick reproduce{store} 1")];
    }
    let first = findings.findings.first().map(|finding| finding.example_run);
    let leading = findings.leading_hang().map(|hang| hang.example_run);
    let hang = findings.hangs.first().map(|hang| hang.example_run);
    let Some(example_run) = leading.or(first).or(hang) else { return Vec::new() };
    let mut lines = Vec::new();
    if let Some(run) = stored(course, u64::from(example_run)) {
        lines.push(format!(
            "failing run {} again: {}",
            run.number,
            repeat_command(&run.info, &run.folder)
        ));
    }
    lines.push(format!(
        "all runs: unpick runs{store}; the failing one event by event: unpick dump{store} {example_run}"
    ));
    let is_of_run = leading.is_some() || first.is_none();
    let which = if is_of_run { format!("--run {example_run}") } else { "1".to_owned() };
    lines.push(format!(
        "next: make it fail: unpick reproduce{store} {which}; keep it as a test: unpick pin{store} {which} > bug.toml"
    ));
    lines
}

fn stored(course: &Course<'_>, number: u64) -> Option<StoredRun> {
    let runs = course.store().runs_of_hunt(course.number()).ok()?;
    runs.into_iter().find(|run| run.number == number)
}

/// The last line of `--json-lines`.
pub fn json_line(
    course: &Course<'_>,
    ended: Ended,
    findings: Option<&Findings>,
    code: u8,
) -> String {
    let counts = course.counts();
    let rates = DelayRates::of(course);
    let rate = |rate: &Rate| json!({ "failed": rate.failed, "runs": rate.runs });
    let line = json!({
        "event": "end",
        "why": counted(counts, ended),
        "hunt": course.number(),
        "runs": {
            "total": counts.total(),
            "passed": counts.passed,
            "failed": counts.failed,
            "unusable": counts.unusable,
        },
        "without_delays": rate(&rates.plain),
        "with_delays": rate(&rates.delayed),
        "duration_ms": course.elapsed().as_millis() as u64,
        "findings": findings,
        "exit_code": code,
    });
    format!("{line}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_hunt_does_not_say_that_no_run_failed() {
        let code = |failed, is_explained, is_interrupted| {
            let counts = Counts { passed: 3, failed, unusable: 0 };
            Outcome { counts, orders_that_failed: 0, is_explained, is_interrupted }.exit_code()
        };
        assert_eq!((code(0, false, false), code(0, false, true)), (0, exit::INTERRUPTED));
        assert_eq!((code(1, true, true), code(1, false, true)), (66, 67));
    }

    #[test]
    fn a_hunt_without_a_usable_run_is_our_own_fault_unless_it_was_interrupted() {
        let code = |is_interrupted| {
            let counts = Counts { passed: 0, failed: 0, unusable: 2 };
            let none =
                Outcome { counts, orders_that_failed: 0, is_explained: false, is_interrupted };
            none.exit_code()
        };
        assert_eq!((code(false), code(true)), (exit::OWN_FAULT, exit::INTERRUPTED));
    }
}
