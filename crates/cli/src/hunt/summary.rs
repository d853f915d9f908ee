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
pub fn exit_code(counts: &Counts, findings: Option<&Findings>, trouble: Option<&Problem>) -> u8 {
    if let Some(problem) = trouble {
        return problem.exit_code();
    }
    match findings {
        _ if counts.total() > 0 && counts.usable() == 0 => exit::OWN_FAULT,
        Some(findings) if findings.explain_something() => exit::FINDINGS,
        _ if counts.failed == 0 && orders_that_failed(findings) == 0 => 0,
        _ => exit::NO_CORRELATION,
    }
}

/// How many forced orders the program failed under.
fn orders_that_failed(findings: Option<&Findings>) -> u32 {
    findings.and_then(|findings| findings.active.as_ref()).map_or(0, |active| active.failed)
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
    if course.incomplete() > 0 {
        lines.push(format!(
            "{} runs were not recorded completely: see `unpick dump RUN`, and perhaps raise --limit",
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
        _ if counts.usable() == 0 => nothing_usable(course, &store),
        Some(findings) if findings.explain_something() => found(course, findings, &store),
        _ if counts.failed == 0 && orders_that_failed(findings) > 0 => {
            no_order_explains(&program, again)
        }
        _ if counts.failed == 0 => nothing_failed(&program, again),
        _ if counts.passed == 0 => everything_failed(&program, again),
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
        Ended::Enough(Enough::Runs) => "; all runs of the budget are made",
        Ended::Enough(Enough::Time) => "; the time is over",
        Ended::Enough(Enough::ForOrders) => "; then orders were forced that no run had had",
        Ended::Stopped => "; stopped by you",
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

fn nothing_usable(course: &Course<'_>, store: &str) -> Vec<String> {
    let why = course.last_unusable().unwrap_or("there was none");
    vec![
        format!("no run can be used; the last one: {why}"),
        format!(
            "next: see what each run says: unpick runs{store}; and what this machine lacks: unpick doctor"
        ),
    ]
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
    if *remaining > 0 {
        lines.push(format!("try the rest: unpick hunt{again} --resume --active {program}"));
    }
    lines
}

fn no_order_explains(program: &str, again: &str) -> Vec<String> {
    vec![
        "runs failed while orders were forced, but none of these orders is shown to be why: what fails the other way round as well is a symptom".into(),
        format!("next: see whether it fails by itself: unpick hunt{again} --resume --no-active {program}"),
    ]
}

fn everything_failed(program: &str, again: &str) -> Vec<String> {
    vec![
        "every run failed: what makes a run fail can only be told by comparing with runs that pass"
            .into(),
        format!("next: try without delays: unpick hunt{again} --no-delays {program}"),
        "      or less work for the program (fewer rounds, smaller input), or a sharper --fail-if"
            .into(),
    ]
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
        lines.push(format!("failing run {} again: {}", run.number, repeat_command(&run.info)));
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
