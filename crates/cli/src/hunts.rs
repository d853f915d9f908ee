//! `unpick hunts`: the hunts of a store: when, of which program, how their runs ended, what leads.
//!
//! Takes   a store.      Gives  two lines per hunt, or one JSON object per hunt.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use unpick_events::Label;
use unpick_findings::{Confirmation, Findings};
use unpick_problem::Problem;
use unpick_run_store::{Store, StoredHunt};

use crate::dump::printable;
use crate::kept_findings;
use crate::output;
use crate::program::program_in_words;
use crate::quantities::counted;
use crate::record::store_option;
use crate::runs::say_left_out;
use crate::store_folder::store_folder;

pub const HELP: &str = "\
A hunt has the number of its first run. unpick show, rank, reconstruct, reproduce, confirm, pin and export take it as --hunt N; without it they
look at the latest hunt in which a run failed.

Examples:
  unpick hunts
  unpick show --hunt 1
  unpick reproduce --hunt 1 2";

/// What `unpick hunts` can be told.
#[derive(clap::Args)]
pub struct Hunts {
    /// One JSON object per hunt
    #[arg(long)]
    json: bool,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
}

pub fn run(hunts: Hunts) -> Result<ExitCode, Problem> {
    let store = Store::at(&hunts.store);
    let (found, damaged) = store.hunts();
    say_left_out(&damaged);
    if found.is_empty() {
        return Err(store.runs_of_hunt(None).err().unwrap_or_else(nothing));
    }
    let entries: Vec<_> = found.iter().map(|hunt| Entry::of(hunt, &hunts.store)).collect();
    let text = if hunts.json { as_json(&entries) } else { as_text(&entries, &hunts.store) };
    output::print(text.as_bytes()).map(|()| ExitCode::SUCCESS).map_err(|error| {
        Problem::own_fault("the hunts cannot be listed").at("file", "standard output").why(error)
    })
}

/// A hunt with runs, none of which has ended.
fn nothing() -> Problem {
    Problem::usage("no hunt of this store has a run that has ended").next("see: unpick runs")
}

struct Entry<'a> {
    hunt: &'a StoredHunt,
    /// None: none were kept, or they cannot be read.
    findings: Option<Findings>,
}

impl Entry<'_> {
    fn of<'a>(hunt: &'a StoredHunt, store: &Path) -> Entry<'a> {
        Entry { hunt, findings: kept_findings::read(store, Some(hunt.number)).ok() }
    }

    fn started_ms(&self) -> u64 {
        self.hunt.runs.first().map_or(0, |run| run.info.started_ms)
    }

    fn program(&self) -> String {
        self.hunt.runs.first().map_or_else(String::new, |run| program_in_words(&run.info))
    }

    /// What leads: a hang if one explains most failures, else the first finding; and its verdict.
    fn leading(&self) -> Option<(String, Option<Confirmation>)> {
        let findings = self.findings.as_ref()?;
        if let Some(hang) = findings.leading_hang() {
            let verdict = hang.confirmed.map(|confirmed| confirmed.verdict);
            return Some((hang.sentence.clone(), verdict));
        }
        let first = findings.findings.first()?;
        let verdict = first.confirmed.map(|confirmed| confirmed.verdict);
        Some((unpick_report::headline(first), verdict))
    }

    fn counts(&self) -> String {
        let count = |label| self.hunt.count(label);
        let unusable = match count(Label::Unusable) {
            0 => String::new(),
            unusable => format!(", {unusable} unusable"),
        };
        let runs = counted(self.hunt.runs.len() as u64, "run");
        format!("{runs}: {} failed, {} passed{unusable}", count(Label::Fail), count(Label::Pass))
    }

    fn found(&self) -> String {
        match self.leading() {
            Some((what, Some(verdict))) => format!("{what}: {}", verdict.name()),
            Some((what, None)) => format!("{what}: not confirmed"),
            None if self.hunt.count(Label::Fail) == 0 => "nothing failed".to_owned(),
            None => "no finding".to_owned(),
        }
    }

    fn json(&self) -> Value {
        let leading = self.leading();
        let verdict = leading.as_ref().and_then(|(_, verdict)| *verdict);
        json!({
            "hunt": self.hunt.number,
            "started_ms": self.started_ms(),
            "command": self.hunt.runs.first().map_or_else(Vec::new, |run| run.info.command.clone()),
            "runs": {
                "total": self.hunt.runs.len(),
                "passed": self.hunt.count(Label::Pass),
                "failed": self.hunt.count(Label::Fail),
                "unusable": self.hunt.count(Label::Unusable),
            },
            "leading": leading.map(|(what, _)| what),
            "verdict": verdict.map(Confirmation::name),
        })
    }
}

fn as_json(entries: &[Entry<'_>]) -> String {
    entries.iter().map(|entry| format!("{}\n", entry.json())).collect()
}

fn as_text(entries: &[Entry<'_>], store: &Path) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let lines = entries.iter().map(|entry| {
        let ago = now.saturating_sub(Duration::from_millis(entry.started_ms()));
        let head = format!("hunt {}, {}: {}", entry.hunt.number, in_words(ago), entry.program());
        let below = format!("{}; {}", entry.counts(), entry.found());
        format!("{}\n    {}\n", printable(&head), printable(&below))
    });
    let first = entries.first().map_or(1, |entry| entry.hunt.number);
    let next =
        format!("\nnext: look at one of them: unpick show{} --hunt {first}\n", store_option(store));
    lines.collect::<String>() + &next
}

/// `2 hours ago`.
fn in_words(ago: Duration) -> String {
    let seconds = ago.as_secs();
    let units = [("day", 86_400), ("hour", 3600), ("minute", 60)];
    let unit = units.into_iter().find(|(_, length)| seconds >= *length);
    unit.map_or_else(
        || "just now".to_owned(),
        |(name, length)| format!("{} ago", counted(seconds / length, name)),
    )
}

/// Which hunts there are beside the one that is shown: `2 earlier hunts: unpick hunts`.
pub fn others(store: &Path, shown: Option<u64>) -> Option<String> {
    let (hunts, _) = Store::at(store).hunts();
    let shown = shown.or_else(|| hunts.last().map(|hunt| hunt.number))?;
    let earlier = hunts.iter().filter(|hunt| hunt.number < shown).count() as u64;
    let later = hunts.iter().filter(|hunt| hunt.number > shown).count() as u64;
    let words = match (earlier, later) {
        (0, 0) => return None,
        (earlier, 0) => counted(earlier, "earlier hunt"),
        (0, later) => counted(later, "later hunt"),
        (earlier, later) => format!("{}, {later} later", counted(earlier, "earlier hunt")),
    };
    Some(format!("{words}: unpick hunts{}", store_option(store)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_in_the_largest_unit_that_fits() {
        let words = |seconds| in_words(Duration::from_secs(seconds));
        assert_eq!(words(59), "just now");
        assert_eq!(words(60), "1 minute ago");
        assert_eq!(words(7300), "2 hours ago");
        assert_eq!(words(200_000), "2 days ago");
    }
}
