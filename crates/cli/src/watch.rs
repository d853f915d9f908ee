//! `unpick watch`: runs a program as it is, and reports every invariant that was violated.
//!
//! Takes   a command, trained invariants.      Gives  the program's own output and exit code; afterwards a report on standard error.
//! Misses  what the run did not do; places that training has not seen.
//! Cost    a recording of meetings only: violations need no more. A full one if caches are simulated, as they were in training.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};
use unpick_findings::{ViolatedInvariant, describe_violations};
use unpick_invariants::{Broken, Invariants, Sites, Suppressions, Violated};
use unpick_names::ProgramNames;
use unpick_problem::Problem;
use unpick_recording::RunOptions;
use unpick_run_store::{Store, run_number};
use unpick_runner::{Choices, FinishedRun, Invocation, Plan};

use crate::conclude::{NAMES, choices};
use crate::delays::DelayOptions;
use crate::output::findings::write_json;
use crate::program::{ProgramOptions, end_of_command_line};
use crate::quantities::{bytes, counted};
use crate::record::{fresh_seed, nothing_recorded, quoted, store_option};
use crate::simulation;
use crate::store_folder::store_folder;
use crate::terminal;
use crate::train::program_name;
use crate::trained::{Checked, SUPPRESSIONS_FILE, check_run, file_of, read_trained, suppressions};

pub const HELP: &str = "\
The program keeps its input, output and signals, and its exit code is the exit code of this command (128 + n if signal n killed it). What it
violated is told on standard error after it has ended, whether it failed or not; the exit code says nothing about that, the JSON does.
2 means that nothing could be watched, 70 that Unpick itself failed.

The program runs as it is, unless delays are asked for, which show more orders in fewer runs. Invariants that were trained through
simulated caches (unpick train --simulate-hardware) are watched through the same caches, by recording in full.

Known violations are left out by a file of suppressions, one per line: file third_party/*, function log_*, finding 3f2a9c41.

Examples:
  unpick watch -- ./bank 100
  unpick watch --json violations.json --suppressions quiet.txt -- ./bank 100";

/// What `unpick watch` can be told.
#[derive(clap::Args)]
pub struct Watch {
    /// What was learned [default: invariants.toml in the store]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Violations that are not to be reported [default: suppressions in the store, if it is there]
    #[arg(long, value_name = "FILE")]
    suppressions: Option<PathBuf>,
    /// Write what was violated as JSON to this file too; - for standard output, after what the program printed
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Stop recording a process after this much
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = bytes)]
    limit: u64,
    /// Seed of the delays; chosen if not given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    delays: DelayOptions,
    /// Say nothing if nothing was violated
    #[arg(long)]
    quiet: bool,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
    #[command(flatten)]
    program: ProgramOptions,
}

pub fn run(watch: Watch) -> Result<ExitCode, Problem> {
    watch.delays.check(
        "give both: unpick watch --delay-sync 5% --delay-min 2ms --delay-max 5ms -- PROGRAM",
    )?;
    let invocation = watch.program.invocation()?;
    // All that can be wrong is told before the program is run.
    let invariants = read_trained(&watch.invariants_file())?;
    invariants.check_program(&program_name(&invocation))?;
    let suppressions = suppressions(&watch.store, watch.suppressions.as_deref())?;
    let finished = unpick_runner::run(&watch.plan(&invocation, &invariants))?;
    let looked = Looked { watch: &watch, invocation: &invocation, invariants, finished };
    let told = looked.tell(&suppressions);
    let own = looked.finished.info.outcome.exit_status();
    match told {
        Ok(()) => Ok(ExitCode::from(own)),
        Err(problem) => {
            eprintln!("{problem}");
            // The program's own, unless it says that all went well.
            Ok(ExitCode::from(if own == 0 { problem.exit_code() } else { own }))
        }
    }
}

impl Watch {
    fn invariants_file(&self) -> PathBuf {
        file_of(&self.store, self.file.as_deref())
    }

    fn plan(&self, invocation: &Invocation, invariants: &Invariants) -> Plan {
        let full = invariants.hardware.is_some();
        let options = RunOptions { limit: self.limit, full, ..RunOptions::default() };
        let options = self.delays.applied_to(options);
        Plan {
            invocation: invocation.clone(),
            store: Store::at(&self.store),
            choices: Choices { options, seed: self.seed.unwrap_or_else(fresh_seed) },
        }
    }

    /// What another verb needs to find store and file again.
    fn options_again(&self) -> String {
        let file = self.file.as_ref();
        let file = file.map(|file| format!(" --file {}", quoted(&file.to_string_lossy())));
        format!("{}{}", store_option(&self.store), file.unwrap_or_default())
    }
}

/// A run that has ended, and what it is looked at with.
struct Looked<'w> {
    watch: &'w Watch,
    invocation: &'w Invocation,
    invariants: Invariants,
    finished: FinishedRun,
}

/// What came of it.
struct Seen {
    reported: Vec<ViolatedInvariant>,
    suppressed: usize,
    /// Of the places that the run checked: those that training knows, and all.
    known: (usize, usize),
    is_complete: bool,
    is_known_build: bool,
}

impl Looked<'_> {
    fn tell(&self, suppressions: &Suppressions) -> Result<(), Problem> {
        if let Some(trouble) = &self.finished.trouble {
            return Err(trouble.clone());
        }
        if self.finished.event_files.is_empty() {
            self.finished.discard();
            return Err(nothing_recorded(&self.finished));
        }
        let seen = self.see(suppressions)?;
        if seen.reported.is_empty() {
            self.finished.discard();
        }
        if let Some(file) = &self.watch.json {
            write_json(file, &self.json(&seen))?;
        }
        if seen.known == (0, seen.known.1) && seen.known.1 > 0 {
            return Err(self.other_code());
        }
        if !(self.watch.quiet && seen.reported.is_empty()) {
            eprint!("{}", self.text(&seen));
        }
        Ok(())
    }

    fn see(&self, suppressions: &Suppressions) -> Result<Seen, Problem> {
        let variant = self.invariants.variant();
        let Checked { run, is_complete } = check_run(&self.finished.folder, variant)?;
        let sites = Sites::seen_from(&std::env::current_dir().unwrap_or_default());
        let broken = self.invariants.broken_by(&run, &sites);
        let violations = broken.iter().map(|broken| &run.violations[broken.violation]);
        let names = ProgramNames::new(None, &NAMES);
        let described = describe_violations(&run, violations, &names, &choices());
        let mut reported: Vec<ViolatedInvariant> = described
            .into_iter()
            .zip(&broken)
            .map(|(one, broken)| with_training(one, broken))
            .collect();
        let before = reported.len();
        reported.retain(|one| !is_suppressed(one, suppressions));
        // What was never challenged before says most; then what happened seldom.
        reported.sort_by_key(|one| (one.trained.challenged > 0, one.count));
        Ok(Seen {
            suppressed: before - reported.len(),
            reported,
            known: self.invariants.known_sites(&run, &sites),
            is_complete,
            is_known_build: self.invariants.knows_builds(&run),
        })
    }

    fn run_number(&self) -> u64 {
        run_number(&self.finished.folder).unwrap_or(0)
    }

    fn json(&self, seen: &Seen) -> Value {
        json!({
            "schema": "unpick-watch/1",
            "file": self.watch.invariants_file().to_string_lossy(),
            "program": self.invariants.program,
            "hardware": simulation::as_json(self.invariants.hardware),
            "outcome": self.finished.info.outcome,
            "run": (!seen.reported.is_empty()).then(|| self.run_number()),
            "complete": seen.is_complete,
            "trained_build": seen.is_known_build,
            "known_places": seen.known.0,
            "checked_places": seen.known.1,
            "suppressed": seen.suppressed,
            "violations": seen.reported,
        })
    }

    fn text(&self, seen: &Seen) -> String {
        let mut text = match seen.reported.len() {
            0 => "unpick: no invariant was violated".to_owned(),
            count => format!("unpick: {} violated", counted(count as u64, "invariant")),
        };
        text += &format!(
            "; {} of {} are known from training{}\n",
            seen.known.0,
            counted(seen.known.1 as u64, "place"),
            match seen.suppressed {
                0 => String::new(),
                count => format!("; {count} suppressed"),
            }
        );
        if self.invariants.hardware.is_some() {
            text += &format!("unpick: {}", simulation::in_words(self.invariants.hardware));
        }
        if !seen.is_known_build {
            text += "unpick: this is another build than those that were trained: places are found by function and text of the line\n";
        }
        if !seen.is_complete {
            text +=
                "unpick: the recording is not complete: more may have been violated; see --limit\n";
        }
        let style = terminal::style_of_stderr(&self.watch.store);
        if !seen.reported.is_empty() {
            text += &format!("\n{}\n", unpick_report::violated(&seen.reported, &style));
            let suppressions = self.watch.suppressions.clone();
            let suppressions =
                suppressions.unwrap_or_else(|| self.watch.store.join(SUPPRESSIONS_FILE));
            text += &format!(
                "if it is harmless: echo finding {} >> {}\n",
                seen.reported[0].id,
                quoted(&suppressions.to_string_lossy())
            );
        }
        text + &format!("next: {}\n", self.next_command(seen))
    }

    /// Whether it can fail is for a hunt to say.
    fn next_command(&self, seen: &Seen) -> String {
        let end =
            end_of_command_line(&self.invocation.words(), self.invocation.written_as.as_deref());
        if seen.reported.is_empty() {
            return format!("unpick invariants{}", self.watch.options_again());
        }
        let store = store_option(&self.watch.store);
        let file = self.watch.file.as_ref();
        let file = file.map(|file| format!(" --invariants {}", quoted(&file.to_string_lossy())));
        format!("unpick hunt --active{store}{} {end}", file.unwrap_or_default())
    }

    fn other_code(&self) -> Problem {
        Problem::usage("nothing was watched: training has seen none of the places that this run came to")
            .at("file", self.watch.invariants_file().display())
            .why("the invariants are of other code: of another program by this name, of code that was rewritten since, or of a \
                  build whose lines are not known")
            .next("train with this program: unpick train --file OTHER.toml -- PROGRAM; the file was left as it is")
    }
}

fn with_training(one: ViolatedInvariant, broken: &Broken) -> ViolatedInvariant {
    ViolatedInvariant { id: broken.id.clone(), trained: broken.trained.into(), ..one }
}

fn is_suppressed(one: &ViolatedInvariant, suppressions: &Suppressions) -> bool {
    let frames = one.accesses.iter().map(|access| &access.frame);
    let files: Vec<&str> = frames.clone().filter_map(|frame| frame.file.as_deref()).collect();
    let functions: Vec<&str> = frames.filter_map(|frame| frame.function.as_deref()).collect();
    suppressions.cover(Violated { id: &one.id, files: &files, functions: &functions })
}
