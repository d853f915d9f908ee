//! One run of a hunt: watched, judged, put away.
//!
//! Takes   an `Attempt`.      Gives  a `Judged` run, whose `run.json` carries the label; a `Problem` only if the program
//!         cannot be run at all.
//!
//! What goes wrong on our side makes a run unusable, never failing. So does a time limit that
//! our own delays have used up.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use unpick_events::Label;
use unpick_problem::Problem;
use unpick_recording::JudgedBy;
use unpick_run_store::run_number;

use crate::launch::cannot_start;
use crate::moment::Moment;
use crate::run::{Begun, FinishedRun, Plan, cannot_describe, discard, milliseconds};
use crate::verdict::{Judge, Verdict};
use crate::watch::{Ending, Limits, NotWatched, Watched, watch};

const OWN_FOLDER: &str = "work";

/// What to run, and what counts as failing.
#[derive(Debug)]
pub struct Attempt<'a> {
    pub plan: &'a Plan,
    pub limits: &'a Limits,
    pub judge: &'a Judge,
    /// The hunt it belongs to; none: it is the first of a new one.
    pub hunt: Option<u64>,
    /// Its working folder is an empty one: `work` in the folder of the run.
    pub own_folder: bool,
    /// Set when the user wants no more.
    pub stop: &'a AtomicBool,
}

/// A run with a label.
#[derive(Debug)]
pub struct Judged {
    pub run: FinishedRun,
    pub number: u64,
    pub hunt: u64,
    /// The user wanted no more before it ended.
    pub stopped: bool,
    /// If it hung: what its threads were doing then.
    pub hang: Option<Moment>,
}

impl Judged {
    pub fn label(&self) -> Label {
        self.run.info.label.unwrap_or(Label::Unusable)
    }

    pub fn why(&self) -> &str {
        self.run.info.why.as_deref().unwrap_or_default()
    }

    /// How much room its recordings take.
    pub fn recorded_bytes(&self) -> u64 {
        self.run.event_files.iter().map(|file| file.bytes).sum()
    }

    /// What the verdict rests on, told further.
    pub fn add_to_why(&mut self, more: &str) -> Result<(), Problem> {
        self.run.info.why = Some(format!("{}: {more}", self.why()));
        self.write_info()
    }

    /// For what is found out about a run later: it cannot be used after all.
    pub fn set_unusable(&mut self, why: &str) -> Result<(), Problem> {
        self.run.info.label = Some(Label::Unusable);
        self.run.info.why = Some(why.to_owned());
        self.write_info()
    }

    fn write_info(&self) -> Result<(), Problem> {
        let folder = &self.run.folder;
        self.run.info.write(folder).map_err(|error| cannot_describe(folder, &error))
    }
}

/// Runs the program once.
pub fn attempt(attempt: &Attempt<'_>) -> Result<Judged, Problem> {
    let mut begun = Begun::new(attempt.plan)?;
    let number = run_number(&begun.folder).unwrap_or(0);
    let hunt = attempt.hunt.unwrap_or(number);
    begun.info.hunt = Some(hunt);
    begun.info.judged_by = Some(judged_by(attempt));
    if attempt.own_folder {
        begun.info.working_folder = make_own_folder(&begun)?;
    }
    let looked_for = attempt.judge.looked_for();
    let folder = begun.folder.clone();
    let command = command(attempt, &begun).inspect_err(|_| discard(&folder))?;
    let watched = watch(command, &folder, "", looked_for, attempt.limits, attempt.stop);
    let stopped = matches!(&watched, Ok(watched) if watched.ending == Ending::Stopped);
    let mut hang = None;
    let verdict = match watched {
        Ok(mut watched) => {
            let moment = watched.moment.take();
            hang =
                moment.filter(|moment| moment.is_standstill || !attempt.judge.saw_panic(&watched));
            judge(attempt, &mut begun, &watched)
        }
        Err(NotWatched::NotStarted(error)) => {
            discard(&folder);
            return Err(cannot_start(&begun.program, &error));
        }
        Err(NotWatched::Lost(error)) => {
            Verdict::new(Label::Unusable, format!("its end or output was lost: {error}"))
        }
    };
    begun.info.label = Some(verdict.label);
    begun.info.why = Some(verdict.why);
    let timed_out = hang.as_ref().is_some_and(|moment: &Moment| !moment.is_standstill);
    let mut judged = Judged { run: begun.finish(), number, hunt, stopped, hang };
    if let Some(why) = our_fault(&judged.run, timed_out) {
        judged.set_unusable(&why)?;
    }
    if attempt.own_folder && judged.label() != Label::Fail {
        // What cannot be removed takes room, and nothing else.
        let _ = fs::remove_dir_all(judged.run.folder.join(OWN_FOLDER));
    }
    Ok(judged)
}

fn judged_by(attempt: &Attempt<'_>) -> JudgedBy {
    let judge = attempt.judge;
    JudgedBy {
        fail_if: judge.conditions.iter().map(ToString::to_string).collect(),
        oracle: judge.oracle.as_ref().map(|oracle| oracle.to_string_lossy().into_owned()),
        timeout_ms: milliseconds(attempt.limits.timeout),
        own_folder: attempt.own_folder,
    }
}

fn command(attempt: &Attempt<'_>, begun: &Begun) -> Result<Command, Problem> {
    let (plan, program) = (attempt.plan, &begun.program.path);
    // What was found from here must be found from another folder too.
    let path = program.canonicalize().unwrap_or_else(|_| program.clone());
    let mut command = Command::new(if attempt.own_folder { &path } else { program });
    let invocation = &plan.invocation;
    let (name, arguments) =
        invocation.command.split_first().expect("a program was found by its name");
    invocation.surround(&mut command);
    command.arg0(name).args(arguments).envs(plan.choices.environment(&begun.folder));
    if attempt.own_folder {
        command.current_dir(&begun.info.working_folder);
    }
    // Without a file there is no input: in a background group a program could not read from the terminal, and two runs cannot
    // share what is typed once.
    command.stdin(invocation.open_stdin()?.map_or_else(Stdio::null, Stdio::from));
    Ok(command)
}

fn make_own_folder(begun: &Begun) -> Result<PathBuf, Problem> {
    let folder = begun.folder.join(OWN_FOLDER);
    match fs::create_dir(&folder) {
        Ok(()) => Ok(folder),
        Err(error) => {
            discard(&begun.folder);
            Err(cannot_describe(&begun.folder, &error))
        }
    }
}

fn judge(attempt: &Attempt<'_>, begun: &mut Begun, watched: &Watched) -> Verdict {
    begun.info.outcome = watched.outcome;
    begun.info.duration_ms = milliseconds(watched.duration);
    let verdict = attempt.judge.judge(watched, attempt.limits, &begun.folder, attempt.stop);
    match watched.leftovers {
        0 => verdict,
        left => {
            let why = format!("{}; {left} processes it had left behind were ended", verdict.why);
            Verdict { why, ..verdict }
        }
    }
}

/// Why a run says nothing about the program, if that is so.
fn our_fault(run: &FinishedRun, timed_out: bool) -> Option<String> {
    if let Some(trouble) = &run.trouble {
        return trouble.to_string().lines().next().map(str::to_owned);
    }
    if let Some(failure) = run.failures.first() {
        return Some(format!("process {} was not recorded: {}", failure.process, failure.why));
    }
    if run.event_files.is_empty() {
        return Some("nothing was recorded".to_owned());
    }
    let delayed: u64 = run.event_files.iter().map(|file| file.delayed).sum();
    let delayed = Duration::from_nanos(delayed);
    if timed_out && 2 * delayed >= Duration::from_millis(run.info.duration_ms) {
        let seconds = delayed.as_secs_f64();
        return Some(format!("its time was used up by {seconds:.1} s of our own delays"));
    }
    None
}
