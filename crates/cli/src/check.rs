//! `unpick check`: forces the orders of reproducer files in a program as it is now: a regression test.
//!
//! Takes   files of `unpick pin`; a program, of whatever build.
//! Gives   one line per file: it fails, it passes, or the file says nothing about this program any more; an exit code that tells.
//! Misses  a bug that another order brings about.
//! Cost    ten runs per file, or a minute.

mod answer;
mod libraries;

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use unpick_problem::Problem;
use unpick_reproduce::{Matched, Plan, Reproducer};
use unpick_runner::Invocation;

use crate::cargo_test;
use crate::forcing::{Forcing, JudgeOptions, PlanOptions};
use crate::output::findings::{print, write_json};
use crate::output::is_stdout;
use crate::program::end_of_command_line;
use crate::quantities::duration;
use crate::record::quoted;
use crate::reproduce::{nothing_usable, repeat};
use crate::terminal;
use answer::{Answer, Checked, exit_code};

pub const HELP: &str = "\
The program is that of the file, unless another is given; it must be built by unpick, but need not be the build that was pinned. Lines may have
moved: that is said below the file.

Exit codes: 66 a bug is still there, 0 all pass, 68 none fails, but a file does not apply any more or its code was never reached, 69 the same, but
a file was never seen to fail (unpick pin --unproven, --no-try), so that nothing follows, 2 the command line or a file is wrong, 70 Unpick's own fault.

Examples:
  unpick check tests/races/*.toml -- ./bank
  unpick check tests/races/lost-update.toml            the program and its arguments are in the file
  unpick check tests/races/*.toml --runs 50 --json - -- ./bank
  unpick check lost-update.toml --cargo -- test bank::transfer";

const USUAL_RUNS: u32 = 10;
const USUAL_TIME: Duration = Duration::from_secs(60);
/// To be held may take so much of a run's time; the rest is for the program.
const HELD_PART: u32 = 4;

/// What `unpick check` can be told.
#[derive(clap::Args)]
pub struct Check {
    /// Reproducer files, as unpick pin writes them
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Forced runs per file
    #[arg(long, value_name = "N", default_value_t = USUAL_RUNS, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// At most this long per file; 1m if it is not given
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    #[command(flatten)]
    plan: PlanOptions,
    #[command(flatten)]
    judge: JudgeOptions,
    /// A library of the program that has code of the order, if the program loads it by itself; may be given several times
    #[arg(long, value_name = "FILE")]
    library: Vec<PathBuf>,
    /// Write the answers as JSON to this file; - for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
    /// What follows -- is a test of a cargo project: test NAME, with cargo's options
    #[arg(long, requires = "command")]
    cargo: bool,
    /// The program and its arguments; without it, those of each file
    #[arg(last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

pub fn run(check: Check) -> Result<ExitCode, Problem> {
    // All files first: a slip of the pen in the last shall not show after minutes.
    let files = check.files.iter().map(|file| Ok((file.as_path(), read(file)?)));
    let files = files.collect::<Result<Vec<_>, Problem>>()?;
    let given = check.given()?;
    let mut all = Vec::new();
    for (file, reproducer) in &files {
        let checked = check.one(file, reproducer, given.as_ref())?;
        check.tell(&checked)?;
        all.push(checked);
    }
    check.tell_end(&all, &files)?;
    Ok(ExitCode::from(exit_code(&all)))
}

impl Check {
    /// The program of the command line.
    fn given(&self) -> Result<Option<Invocation>, Problem> {
        match (self.command.is_empty(), self.cargo) {
            (true, _) => Ok(None),
            (false, true) => cargo_test::invocation(&self.command).map(Some),
            (false, false) => Ok(Some(Invocation::plain(self.command.clone()))),
        }
    }

    fn one(
        &self,
        file: &Path,
        reproducer: &Reproducer,
        given: Option<&Invocation>,
    ) -> Result<Checked, Problem> {
        let invocation = match given {
            Some(invocation) => invocation.clone(),
            None => invocation_of(reproducer)?,
        };
        let folder = tempfile::tempdir().map_err(|error| no_folder(&error))?;
        let forcing = Forcing::of_reproducer(folder.path(), reproducer, invocation, &self.judge)?;
        let executable = forcing.executable()?;
        let checked = Checked::new(file, &executable);
        match self.matched(reproducer, &forcing, &executable) {
            Ok(matched) => self.forced(&forcing, matched, reproducer.was_seen_to_fail(), checked),
            Err(problem) => Ok(Checked { answer: Answer::does_not_apply(&problem), ..checked }),
        }
    }

    /// The order in the program as it is now.
    fn matched(
        &self,
        reproducer: &Reproducer,
        forcing: &Forcing,
        executable: &Path,
    ) -> Result<Matched, Problem> {
        reproducer.check_program(executable)?;
        let program = forcing.open_program()?;
        let program = libraries::added(program, reproducer, executable, &self.library)?;
        reproducer.matched(&program)
    }

    fn forced(
        &self,
        forcing: &Forcing,
        matched: Matched,
        was_seen_to_fail: bool,
        checked: Checked,
    ) -> Result<Checked, Problem> {
        let Matched { plan, changes } = matched;
        let plan = as_checked(self.plan.applied_to(plan, None), forcing);
        let bar = terminal::progress_bar(u64::from(self.runs), self.quiet);
        let time = self.time.unwrap_or(USUAL_TIME);
        let tally = repeat(forcing, Some(&plan), self.runs, Some(time), &bar)?;
        if tally.usable() == 0 {
            return Err(nothing_usable(&tally));
        }
        let answer = Answer::of(&plan, &tally, was_seen_to_fail);
        Ok(Checked { answer, changes, tally: Some(tally), ..checked })
    }

    fn is_json_on_stdout(&self) -> bool {
        self.json.as_deref().is_some_and(is_stdout)
    }

    fn tell(&self, checked: &Checked) -> Result<(), Problem> {
        if self.is_json_on_stdout() { Ok(()) } else { print(&checked.text()) }
    }

    fn tell_end(&self, all: &[Checked], files: &[(&Path, Reproducer)]) -> Result<(), Problem> {
        if let Some(file) = &self.json {
            let answers: Vec<_> = all.iter().map(Checked::to_json).collect();
            let value = json!({
                "schema": "unpick-check/1",
                "exit_code": exit_code(all),
                "files": answers,
            });
            write_json(file, &value)?;
        }
        if self.is_json_on_stdout() {
            return Ok(());
        }
        print(&self.next(all, files))
    }

    /// What to do about the first file that needs something done.
    fn next(&self, all: &[Checked], files: &[(&Path, Reproducer)]) -> String {
        let find = |wanted: fn(&Answer) -> bool| {
            let at = all.iter().position(|checked| wanted(&checked.answer))?;
            Some((&files[at].1, quoted(&files[at].0.to_string_lossy())))
        };
        if let Some((reproducer, _)) = find(Answer::is_failure) {
            let program = self.program_of(reproducer);
            return format!("next: the bug in full: unpick hunt {program}\n");
        }
        if let Some((reproducer, file)) = find(Answer::says_nothing) {
            let program = self.program_of(reproducer);
            return format!(
                "next: is the bug still there? unpick hunt {program}; then a new file: unpick pin 1 > {file}; else remove it\n"
            );
        }
        if let Some((reproducer, file)) = find(Answer::is_not_checked) {
            let program = self.program_of(reproducer);
            return format!(
                "next: make it a test, on the build that has the bug: unpick hunt {program}; unpick pin 1 > {file}\n"
            );
        }
        let files: Vec<_> = files.iter().map(|(file, _)| quoted(&file.to_string_lossy())).collect();
        format!("next: after the next change again: unpick check {}\n", files.join(" "))
    }

    /// As `unpick hunt` takes it.
    fn program_of(&self, reproducer: &Reproducer) -> String {
        let given: Vec<_> =
            self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let of_cargo = |words: &[String]| {
            let words: Vec<_> = [&["--cargo".to_owned()], words].concat();
            end_of_command_line(&[], Some(&words))
        };
        match (self.cargo, given.is_empty()) {
            (true, _) => of_cargo(&given),
            (false, false) => end_of_command_line(&given, None),
            (false, true) if !reproducer.cargo.is_empty() => of_cargo(&reproducer.cargo),
            (false, true) => end_of_command_line(&words_of(reproducer), None),
        }
    }
}

/// A plan as it is forced for a check: being held must not look like a hang.
pub fn as_checked(plan: Plan, forcing: &Forcing) -> Plan {
    Plan { budget: plan.budget.min(forcing.timeout() / HELD_PART), ..plan }
}

fn read(file: &Path) -> Result<Reproducer, Problem> {
    let text = fs::read_to_string(file).map_err(|error| {
        Problem::usage("a reproducer cannot be read")
            .at("file", file.display())
            .why(error)
            .next("make one of a finding: unpick pin 1 > FILE")
    })?;
    Reproducer::from_toml(&text, &file.display().to_string())
}

fn invocation_of(reproducer: &Reproducer) -> Result<Invocation, Problem> {
    if !reproducer.cargo.is_empty() {
        let words: Vec<_> = reproducer.cargo.iter().map(OsString::from).collect();
        return cargo_test::invocation(&words);
    }
    Ok(Invocation::plain(words_of(reproducer).into_iter().map(OsString::from).collect()))
}

fn words_of(reproducer: &Reproducer) -> Vec<String> {
    [std::slice::from_ref(&reproducer.program), &reproducer.arguments].concat()
}

fn no_folder(error: &std::io::Error) -> Problem {
    Problem::own_fault("there is no place for runs")
        .at("folder", std::env::temp_dir().display())
        .why(error)
        .next("free some space there, or choose another folder: TMPDIR=DIR unpick check …")
}
