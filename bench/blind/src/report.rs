//! The section of the results of one set; of the sealed set without rows.

use std::fs;

use unpick_bench_results::{command_line, figures_table, setting, table};

use crate::measure::Outcome;
use crate::options::{Options, Set, benchmark, published};
use crate::totals::{LEADER, Standard, figures, in_one_line};

pub struct Report<'a> {
    pub options: &'a Options,
    pub outcomes: &'a [Outcome],
    pub load_before: &'a str,
}

/// The command that gives the same results again.
pub fn command() -> String {
    command_line("unpick-bench-blind", published(std::env::args()).into_iter())
}

impl Report<'_> {
    fn figures(&self) -> Vec<unpick_bench_results::Figure> {
        figures(self.outcomes, self.standard(), self.options.time_limit())
    }

    pub fn totals_in_one_line(&self) -> String {
        in_one_line(&self.figures())
    }

    fn standard(&self) -> Standard {
        let set = self.options.set;
        if !self.options.busy {
            return Standard::OfSet(set);
        }
        let results = self.options.out.as_ref().and_then(|file| fs::read_to_string(file).ok());
        Standard::Idle(set, results.and_then(|text| idle_percent(&text, set)))
    }

    pub fn section(&self) -> String {
        let parts = [
            Some(format!("## {}", title(self.options))),
            Some(setting(&["gcc", "rustc"], &self.facts())),
            Some(figures_table(&self.figures())),
            (self.options.set != Set::Sealed).then(|| programs_table(self.outcomes)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }

    fn facts(&self) -> Vec<String> {
        let load = if self.options.busy {
            "all cores kept busy, one process each"
        } else {
            "nothing started beside the hunts"
        };
        vec![
            format!("load before: {}; {load}", self.load_before),
            format!("hunts: one of {} for each program", self.options.time),
            format!("command: `{}`", command()),
        ]
    }
}

fn title(options: &Options) -> String {
    let set = match options.set {
        Set::Open => "Blind programs, open half",
        Set::Sealed => "Blind programs, sealed half",
        Set::Second => "Blind programs that were written later",
        Set::Crates => "Blind programs, bugs inside published crates",
        Set::Cases => "Cases",
        Set::Subjects => "Subjects, hunted once",
    };
    format!("{set}{}", if options.busy { ", cores busy" } else { "" })
}

fn programs_table(outcomes: &[Outcome]) -> String {
    let head = [
        "program",
        "class",
        "leader",
        "verdict",
        "certainty",
        "failing",
        "first",
        "time",
        "reproduce",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(outcomes.iter().map(row));
    format!(
        "{}\n\nLeader: is the leading finding, or hang, the root cause by the truth file. Failing: runs that failed, of all. First: number of the first failing run. Time: of the hunt, in seconds. Reproduce: failures in 50 runs with the leader's order forced; `-`: not tried.",
        table(&rows)
    )
}

fn row(outcome: &Outcome) -> Vec<String> {
    let dash = || "-".to_owned();
    let forced = |forced: crate::hunt::Reproduced| format!("{} of {}", forced.failed, forced.runs);
    vec![
        outcome.name.clone(),
        outcome.class.clone(),
        judgement(outcome).to_owned(),
        outcome.verdict.clone().unwrap_or_else(dash),
        outcome.certainty.clone(),
        format!("{} of {}", outcome.failed, outcome.runs),
        outcome.first_failing.map_or_else(dash, |first| first.to_string()),
        format!("{:.1}", outcome.duration.as_secs_f64()),
        outcome.reproduced.map_or_else(dash, forced),
    ]
}

fn judgement(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome { trouble: Some(_), .. } => "no result",
        Outcome { has_leader: false, .. } => "none",
        Outcome { is_right: true, .. } => "right",
        _ => "wrong",
    }
}

/// The share of right leaders in the section of the same set with idle cores, in percent.
fn idle_percent(results: &str, set: Set) -> Option<f64> {
    let begin = format!("<!-- begin {} (", benchmark(set, false));
    let section = results.split_once(&begin)?.1;
    let row = section.lines().find(|line| line.starts_with(&format!("| {LEADER} ")))?;
    let measured = row.split('|').nth(3)?;
    let (count, rest) = measured.trim().split_once(" of ")?;
    let of: f64 = rest.split_whitespace().next()?.parse().ok()?;
    Some(100.0 * count.parse::<f64>().ok()? / of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn section(arguments: &[&str]) -> String {
        let options = Options::parse_from(["blind"].iter().chain(arguments));
        let outcome = Outcome {
            name: "c/job-queue".to_owned(),
            class: "publication".to_owned(),
            has_leader: true,
            is_right: true,
            certainty: "likely".to_owned(),
            trouble: None,
            ..Outcome::default()
        };
        let outcomes = [outcome.clone(), Outcome { is_right: false, ..outcome }];
        Report { options: &options, outcomes: &outcomes, load_before: "0 0 0" }.section()
    }

    #[test]
    fn the_section_of_the_sealed_half_has_totals_only() {
        let open = section(&["--set", "open"]);
        assert!(open.contains("c/job-queue") && open.contains("publication"), "{open}");
        let sealed = section(&["--set", "sealed"]);
        assert!(!sealed.contains("job-queue") && !sealed.contains("publication"), "{sealed}");
        assert!(sealed.contains("1 of 2 (50 %)"), "{sealed}");
    }

    #[test]
    fn the_share_with_idle_cores_is_read_from_its_section() {
        let begin = |busy| {
            format!("<!-- begin {} (generated, do not edit) -->\n", benchmark(Set::Open, busy))
        };
        let results = format!("{}x\n{}{}", begin(true), begin(false), section(&["--set", "open"]));
        assert_eq!(idle_percent(&results, Set::Open), Some(50.0));
        assert_eq!(idle_percent(&results, Set::Sealed), None);
    }
}
