//! `unpick rank`: ranks the runs of a hunt again, in another way; nothing is run.
//!
//! Takes   a store with labelled runs, a formula, a mode, windows; what was confirmed of its findings before.
//! Gives   findings, as `unpick hunt` does; those that are still the same with their verdicts.

use std::path::PathBuf;
use std::process::ExitCode;

use unpick_findings::{Alternative, Finding, Findings, HangGroup, Supporter};
use unpick_problem::{Problem, exit};
use unpick_run_store::{Store, StoredRun};

use crate::conclude::{View, alternatives_of, findings_of};
use crate::contradiction::contradiction;
use crate::kept_findings;
use crate::output::findings::{print, write_findings};
use crate::output::is_stdout;
use crate::runs::say_left_out;
use crate::show::hunt_option;
use crate::store_folder::store_folder;
use crate::supported::Guidance;
use crate::terminal;

pub const HELP: &str = "\
Other windows and modes need the recordings of the runs: hunt with --keep all, which is the default.
Exit codes: as those of unpick hunt.";

/// What `unpick rank` can be told.
#[derive(clap::Args)]
pub struct Rank {
    #[command(flatten)]
    view: View,
    /// The hunt, by the number of its first run (see unpick hunts); without it, the latest in which a run failed
    #[arg(long, value_name = "N")]
    hunt: Option<u64>,
    /// Write the findings as JSON to this file; - for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
}

pub fn run(mut rank: Rank) -> Result<ExitCode, Problem> {
    let store = Store::at(&rank.store);
    say_left_out(&store.runs().1);
    let runs = store.runs_of_hunt(rank.hunt.or_else(|| store.latest_failing_hunt()))?;
    rank.view.take_hints(&rank.store)?;
    if let Ok(earlier) =
        kept_findings::read(&rank.store, runs.first().and_then(|run| run.info.hunt))
    {
        rank.view.take_packages_of(&earlier);
    }
    let mut findings = findings_of(&store, &runs, &rank.view)?;
    if let Some(guidance) = Guidance::of_runs(&rank.store, &runs)? {
        guidance.support(&mut findings, &runs);
    }
    rank.take_over_verdicts(&mut findings, &store, &runs)?;
    if let Some(file) = &rank.json {
        write_findings(file, &findings)?;
    }
    if !rank.json.as_deref().is_some_and(is_stdout) {
        print(&report(&findings, &rank))?;
    }
    let counts = findings.runs;
    if counts.passed == 0 || counts.failed == 0 {
        eprintln!(
            "unpick: {} runs failed and {} passed: a ranking compares both",
            counts.failed, counts.passed
        );
    }
    let is_unexplained = !findings.explain_something();
    if counts.passed > 0 && counts.failed > 0 && is_unexplained {
        contradiction(&runs).iter().for_each(|line| eprintln!("unpick: {line}"));
    }
    let is_hang_explained = findings.hangs.iter().any(HangGroup::is_explained);
    Ok(ExitCode::from(match (counts.failed, findings.findings.is_empty()) {
        (0, _) => 0,
        _ if is_hang_explained => exit::FINDINGS,
        (_, false) if counts.passed > 0 => exit::FINDINGS,
        _ => exit::NO_CORRELATION,
    }))
}

impl Rank {
    /// What forcing has shown of a finding stays true however it is ranked.
    fn take_over_verdicts(
        &self,
        findings: &mut Findings,
        store: &Store,
        runs: &[StoredRun],
    ) -> Result<(), Problem> {
        // Without earlier findings there are no verdicts.
        let Ok(earlier) = kept_findings::read(&self.store, findings.hunt) else { return Ok(()) };
        for before in earlier.findings.iter().filter(|before| before.confirmed.is_some()) {
            let is_it = |finding: &Finding| finding.is_same(before);
            if !findings.findings.iter().any(is_it) {
                self.promote(before, findings, store, runs)?;
            }
        }
        findings.take_over_confirmations(&earlier);
        findings.take_over_order(&earlier);
        Ok(())
    }

    /// Puts what was confirmed before in front of the finding that it supports now.
    fn promote(
        &self,
        before: &Finding,
        findings: &mut Findings,
        store: &Store,
        runs: &[StoredRun],
    ) -> Result<(), Problem> {
        let alternatives = alternatives_of(store, runs, findings)?;
        // Most likely it is where it was.
        let mut all: Vec<&mut Finding> = findings.findings.iter_mut().collect();
        all.sort_by_key(|finding| finding.rank != before.rank);
        for finding in all.into_iter().filter(|finding| may_support(before, finding)) {
            let is_it = |one: &&Alternative| one.of.is_same(finding) && one.finding.is_same(before);
            if let Some(promoted) = alternatives.iter().find(is_it) {
                // These are of the cause, whatever leads.
                let reconstruction = finding.reconstruction.take();
                let invariants = std::mem::take(&mut finding.invariants);
                let promoted = promoted.finding.clone();
                *finding = Finding { reconstruction, invariants, rank: finding.rank, ..promoted };
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Whether a pattern may be among those that support a finding, of which some only are told.
fn may_support(before: &Finding, finding: &Finding) -> bool {
    let is_it = |supporter: &Supporter| supporter.pattern == before.pattern;
    finding.further_supporters > 0 || finding.supporters.iter().any(is_it)
}

fn report(findings: &Findings, rank: &Rank) -> String {
    let mut style = terminal::style_of_stdout(&rank.store);
    style.command_options += &hunt_option(rank.hunt);
    unpick_report::terminal(findings, &style)
}
