//! `unpick show`: what a hunt found, again: all at a glance, or one finding in full.
//!
//! Takes   the findings of a hunt (`findings.json`) and the store's races that make the program fail (`races.json`), or a run.
//! Gives   the terminal report, or JSON for other tools, or a graph.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use unpick_findings::{Finding, Findings, Hang, RaceFinding, RaceMark};
use unpick_problem::Problem;
use unpick_recording::RunInfo;
use unpick_report::Style;
use unpick_run_store::{Store, StoredRun};

use crate::hang::read_hang;
use crate::hunts;
use crate::kept_findings::{self, FINDINGS_FILE};
use crate::one_run;
use crate::output::{self, is_stdout};
use crate::races::Report;
use crate::record::store_option;
use crate::store_folder::store_folder;
use crate::terminal;

pub const HELP: &str = "\
Examples:
  unpick show                     the ranked list, and the first finding in full
  unpick show 2                   the second finding in full
  unpick show 2 --json -          the same for other tools
  unpick show 2 --dot order.dot   its order as a graph: dot -Tsvg order.dot > order.svg
  unpick show --json findings.json
  unpick show --hunt 1            the findings of an earlier hunt: unpick hunts lists them
  unpick show --run 12            one run: how it ended and what it printed; if it hung, what each thread waits for and holds

Colours are left out when NO_COLOR is set or the output is not a terminal.";

/// What `unpick show` can be told.
#[derive(clap::Args)]
pub struct Show {
    /// Number of a finding in the list; without it, all at a glance
    #[arg(value_name = "N")]
    number: Option<usize>,
    /// A run, by its number: how it ended and what it printed; if it hung, what its threads were doing
    #[arg(long, value_name = "RUN", conflicts_with = "number")]
    run: Option<u64>,
    /// The hunt, by the number of its first run (see unpick hunts); without it, the latest in which a run failed
    #[arg(long, value_name = "N")]
    hunt: Option<u64>,
    /// Write JSON to this file instead of a report (`-`: standard output)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the order of finding N as a graph for Graphviz to this file (`-`: standard output)
    #[arg(long, value_name = "FILE", requires = "number", conflicts_with = "json")]
    dot: Option<PathBuf>,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
}

pub fn run(show: Show) -> Result<ExitCode, Problem> {
    match show.run {
        Some(number) => show.one_run(number)?,
        None => show.findings()?,
    }
    Ok(ExitCode::SUCCESS)
}

impl Show {
    fn one_run(&self, number: u64) -> Result<(), Problem> {
        let folder = Store::at(&self.store).run(number)?;
        let Some(hang) = read_hang(&folder)? else { return self.run_that_ended(number, folder) };
        match &self.json {
            Some(goal) => write_json(hang.to_json(), goal),
            None => {
                print(&unpick_report::hang(&hang, number, &terminal::style_of_stdout(&self.store)))
            }
        }
    }

    fn run_that_ended(&self, number: u64, folder: PathBuf) -> Result<(), Problem> {
        let info = RunInfo::read(&folder)?;
        let run = StoredRun { number, folder, info };
        match &self.json {
            Some(goal) => write_json(format!("{:#}", one_run::json(&run)), goal),
            None => print(&one_run::text(&run, &store_option(&self.store))),
        }
    }

    fn findings(&self) -> Result<(), Problem> {
        let file = self.store.join(FINDINGS_FILE);
        let races = self.confirmed_races();
        if races.is_confirmed() && self.json.is_none() && self.hunt.is_none() && !file.exists() {
            return print(&races.text);
        }
        let findings = kept_findings::read(&self.store, self.hunt)?;
        let hang = self.leading_hang(&findings);
        if let Some(number) = self.number
            && hang.is_none()
        {
            check_number(number, &findings, &file)?;
        }
        match (&self.json, &self.dot) {
            (Some(goal), _) => write_json(races.added_to(&self.chosen(findings)), goal),
            (None, Some(goal)) => write_text(&self.graph(findings), goal),
            (None, None) => {
                let hang = hang.map_or_else(String::new, |hang| hang + "\n");
                let races = if races.is_confirmed() { races.text + "\n" } else { String::new() };
                print(&(races + &hang + &self.report(&findings) + &self.other_hunts(&findings)))
            }
        }
    }

    /// Those of the last report of `unpick races`, unless one finding is asked for.
    fn confirmed_races(&self) -> ConfirmedRaces {
        let report = Report::read(&self.store).ok().filter(|_| self.number.is_none());
        let races = report.map_or_else(Vec::new, |report| report.races);
        let style = terminal::style_of_stdout(&self.store);
        let text = unpick_report::confirmed_races(&races, &style);
        let is_confirmed = |race: &RaceFinding| race.mark() == Some(RaceMark::Confirmed);
        ConfirmedRaces { text, races: races.into_iter().filter(is_confirmed).collect() }
    }

    /// Where a hang leads it is what number 1 means to `reproduce` and `pin`: it comes before the accesses that go with it.
    fn leading_hang(&self, findings: &Findings) -> Option<String> {
        let leading = findings.leading_hang().filter(|_| self.number == Some(1))?;
        let run = u64::from(leading.example_run);
        // Its run may be gone; what is known of the accesses is not.
        let hang = hang(&self.store, run).ok()?;
        Some(unpick_report::hang(&hang, run, &terminal::style_of_stdout(&self.store)))
    }

    fn report(&self, findings: &Findings) -> String {
        let style = self.style();
        let one = self.number.and_then(|number| unpick_report::one(findings, number, &style));
        one.unwrap_or_else(|| unpick_report::terminal(findings, &style))
    }

    /// Commands to paste name the hunt if it was named.
    fn style(&self) -> Style {
        let mut style = terminal::style_of_stdout(&self.store);
        style.command_options += &hunt_option(self.hunt);
        style
    }

    /// Below the list: which hunts there are besides.
    fn other_hunts(&self, findings: &Findings) -> String {
        let others = || hunts::others(&self.store, self.hunt.or(findings.hunt));
        let others = if self.number.is_none() { others() } else { None };
        others.map_or_else(String::new, |others| others + "\n")
    }

    /// The order of the finding that was asked for.
    fn graph(&self, findings: Findings) -> String {
        let chosen = self.chosen(findings).findings;
        chosen.iter().map(unpick_report::dot::pattern).collect()
    }

    /// What was asked for, of all findings.
    fn chosen(&self, mut findings: Findings) -> Findings {
        if let Some(number) = self.number {
            findings.findings = findings.findings.into_iter().skip(number - 1).take(1).collect();
        }
        findings
    }
}

/// Races that make the program fail when an order of theirs is forced.
struct ConfirmedRaces {
    text: String,
    races: Vec<RaceFinding>,
}

impl ConfirmedRaces {
    fn is_confirmed(&self) -> bool {
        !self.races.is_empty()
    }

    /// Findings as JSON, with these as `races`.
    fn added_to(&self, findings: &Findings) -> String {
        if self.races.is_empty() {
            return findings.to_json();
        }
        let mut all = serde_json::to_value(findings).unwrap_or_default();
        all["races"] = serde_json::to_value(&self.races).unwrap_or_default();
        format!("{all:#}")
    }
}

/// What a command needs to be about the same hunt: ` --hunt N`, or nothing if none was named.
pub fn hunt_option(hunt: Option<u64>) -> String {
    hunt.map_or_else(String::new, |hunt| format!(" --hunt {hunt}"))
}

/// How a run of a store hung.
pub fn hang(store: &Path, run: u64) -> Result<Hang, Problem> {
    let folder = Store::at(store).run(run)?;
    read_hang(&folder)?.ok_or_else(|| did_not_hang(run, &folder))
}

/// A finding of a hunt, by its number in the list.
pub fn finding(store: &Path, hunt: Option<u64>, number: usize) -> Result<Finding, Problem> {
    let mut findings = kept_findings::read(store, hunt)?;
    check_number(number, &findings, &store.join(FINDINGS_FILE))?;
    Ok(findings.findings.swap_remove(number - 1))
}

fn did_not_hang(number: u64, folder: &Path) -> Problem {
    Problem::usage(format!("run {number} did not hang"))
        .at("folder", folder.display())
        .why("only of runs that a hunt ended after its --timeout is it known what the threads waited for")
        .next(format!("see how it ended and what it printed: unpick show --run {number}; and which runs there are: unpick runs"))
}

fn check_number(number: usize, findings: &Findings, file: &Path) -> Result<(), Problem> {
    let count = findings.findings.len();
    if (1..=count).contains(&number) {
        return Ok(());
    }
    let there_are = match count {
        0 => "no findings".to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    Err(Problem::usage(format!("there is no finding {number}"))
        .at("file", file.display())
        .why(format!("the hunt has {there_are}"))
        .next("see them all: unpick show; or those of another hunt: unpick hunts"))
}

fn print(text: &str) -> Result<(), Problem> {
    output::print(text.as_bytes())
        .map_err(|error| cannot_write(Path::new("standard output"), &error))
}

fn write_json(json: String, goal: &Path) -> Result<(), Problem> {
    write_text(&(json + "\n"), goal)
}

fn write_text(text: &str, goal: &Path) -> Result<(), Problem> {
    if is_stdout(goal) {
        return print(text);
    }
    fs::write(goal, text).map_err(|error| cannot_write(goal, &error))
}

fn cannot_write(goal: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("the findings cannot be written")
        .at("file", goal.display())
        .why(error)
        .next("choose a file you can write to: unpick show --json FILE")
}
