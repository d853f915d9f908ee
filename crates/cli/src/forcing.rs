//! Runs of a program under a plan: what `reproduce`, `confirm`, `check` and an active hunt have in common.
//!
//! Takes   what was hunted (command, what counts as failing, time limit), or the same from a command line; a plan.
//! Gives   how each run ended, and what came of the plan.
//! Cost    the runs. Their folders go when they have been read.

use std::ffi::OsString;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use unpick_analyses::Options;
use unpick_events::{Label, schedule};
use unpick_problem::Problem;
use unpick_recording::{Outcome as RunOutcome, RunInfo, RunOptions};
use unpick_reproduce::{Mode, Oracle, Outcome, Plan, Prevention, Program, Reproducer, Subject};
use unpick_run_store::{Store, StoredRun};
use unpick_runner::{
    Attempt, Choices, Condition, Invocation, Judge, Judged, Limits, Plan as RunPlan,
    Program as RunnableProgram, attempt, stop_on_signals,
};

use crate::cargo_test;
use crate::conclude::{condense, names_of_files};
use crate::hunt::{GRACE, OUTPUT_BYTES};
use crate::impasse::prevention;
use crate::quantities::duration;
use crate::record::fresh_seed;

/// Runs under a plan are made in a store of their own, inside the hunt's: they are no runs of the hunt.
const FORCED_FOLDER: &str = "forced";
/// A run that hangs is not waited for longer than so many times the longest of those that did not, but at least this long.
const PATIENCE: u32 = 20;
/// Where nothing is known about the program's runs.
const USUAL_TIMEOUT: Duration = Duration::from_secs(60);
/// How long, and how often, a program is run to see how long it takes.
const TIME_TO_LEARN: Duration = Duration::from_secs(10);
const RUNS_TO_LEARN: u32 = 3;
const SHORTEST_TIMEOUT: Duration = Duration::from_secs(1);
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
/// As a hunt's.
const RECORDING_LIMIT: u64 = 1 << 30;

/// What counts as failing, if not the same as in the hunt.
#[derive(clap::Args, Debug, Default)]
pub struct JudgeOptions {
    /// What makes a run fail, as in unpick hunt; without it, what did in the hunt
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Condition>,
    /// A shell command that judges a run, as in unpick hunt
    #[arg(long, value_name = "COMMAND")]
    pub oracle: Option<OsString>,
    /// A run that takes longer hangs; without it, twenty times as long as the longest run that passed, at least 1s
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
}

impl JudgeOptions {
    /// None: as it was.
    fn judge(&self) -> Option<Judge> {
        let is_given = !self.fail_if.is_empty() || self.oracle.is_some();
        is_given.then(|| Judge { conditions: self.fail_if.clone(), oracle: self.oracle.clone() })
    }
}

/// How plans are carried out, if not as usual.
#[derive(clap::Args, Debug, Default)]
pub struct PlanOptions {
    /// The longest that a thread is held at once
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub pause: Option<Duration>,
    /// The longest that all threads of a process together are held
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Force the order at most so often in a run
    #[arg(long, value_name = "N")]
    pub bound: Option<u64>,
    /// Let so many arrivals at the first step of each thread, and before it, pass first
    #[arg(long, value_name = "N")]
    pub ignore_first: Option<u64>,
    /// Let the other threads go on for so long before the last step
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub linger: Option<Duration>,
    /// The threads of the first two steps each wait until the other is at its step with the same bytes
    #[arg(long)]
    pub meet: bool,
    /// Do not wait with a step until the thread of the step before is at its own next one
    #[arg(long)]
    pub eager: bool,
}

impl PlanOptions {
    /// The plan as it was asked for. A partner that comes at all comes while a usual run lasts: nobody is held for longer.
    pub fn applied_to(&self, plan: Plan, usual_run: Option<Duration>) -> Plan {
        let usual = usual_run.map_or(plan.pause, |run| run.clamp(SHORTEST_PAUSE, plan.pause));
        Plan {
            pause: self.pause.unwrap_or(usual),
            budget: self.budget.unwrap_or(plan.budget),
            bound: self.bound.unwrap_or(plan.bound),
            ignored: self.ignore_first.unwrap_or(plan.ignored),
            linger: self.linger.unwrap_or(plan.linger),
            meet: self.meet || plan.meet,
            eager: self.eager || plan.eager,
            ..plan
        }
    }
}

/// The program of a hunt, and how plans are carried out on it: what `reproduce`, `confirm` and `pin` are told.
#[derive(clap::Args, Debug)]
pub struct ForcedProgram {
    #[command(flatten)]
    pub plan: PlanOptions,
    #[command(flatten)]
    judge: JudgeOptions,
    /// Folder that holds the runs of the hunt
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder())]
    pub store: PathBuf,
    /// Another program and its arguments than the hunt's; it must be the same build
    #[arg(last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

impl ForcedProgram {
    pub fn forcing(&self) -> Result<Forcing, Problem> {
        let hunted = Hunted::of_store(&Store::at(&self.store))?;
        Forcing::new(&self.store, &hunted, &self.judge, &self.command)
    }

    /// Run as in runs that are no hunt's.
    pub fn forcing_as(&self, hunted: &Hunted) -> Result<Forcing, Problem> {
        let forcing = Forcing::new(&self.store, hunted, &self.judge, &self.command)?;
        if self.judge.timeout.is_some() { Ok(forcing) } else { forcing.knowing_its_time() }
    }
}

/// A program that can be run under plans.
pub struct Forcing {
    invocation: Invocation,
    judge: Judge,
    limits: Limits,
    own_folder: bool,
    store: Store,
    stop: &'static AtomicBool,
    /// How long a run takes that passes, if any has.
    pub usual_run: Option<Duration>,
}

/// A run under a plan, or without one.
pub struct ForcedRun {
    pub label: Label,
    pub why: String,
    pub duration: Duration,
    pub outcome: Outcome,
    /// Its recording shows the order that was to be forced, although the runtime did not see it come about.
    pub is_shown: bool,
    /// What kept the order from coming about, if it did not.
    pub prevention: Option<Prevention>,
}

/// The runs of a hunt tell how the program is run; the longest that passed tells how long one takes.
pub struct Hunted {
    pub info: RunInfo,
    pub longest_pass: Option<Duration>,
}

impl Hunted {
    /// As the last hunt of a store ran its program.
    pub fn of_store(store: &Store) -> Result<Hunted, Problem> {
        Self::of_runs(store.runs_of_hunt(None)?).ok_or_else(|| no_runs(store))
    }

    /// None: there is no run.
    pub fn of_runs(runs: Vec<StoredRun>) -> Option<Hunted> {
        let passed = runs.iter().filter(|run| run.label() == Label::Pass);
        let longest = passed.map(|run| Duration::from_millis(run.info.duration_ms)).max();
        let last = runs.into_iter().next_back()?;
        Some(Hunted { info: last.info, longest_pass: longest })
    }

    /// As a run that is no hunt's. How long one took that was ended by a signal, as those that hang are, says nothing about others.
    pub fn of_run(info: RunInfo) -> Hunted {
        let has_ended = matches!(info.outcome, RunOutcome::Exit { .. });
        let longest_pass = has_ended.then(|| Duration::from_millis(info.duration_ms));
        Hunted { info, longest_pass }
    }

    fn invocation(&self) -> Result<Invocation, Problem> {
        if let Some(words) = &self.info.written_as {
            // `--cargo test NAME`: cargo knows the folder and the variables.
            let words: Vec<_> = words.iter().skip(1).map(OsString::from).collect();
            return cargo_test::invocation(&words);
        }
        let command = self.info.command.iter().map(OsString::from).collect();
        let folder = (!self.has_own_folder()).then(|| self.info.working_folder.clone());
        Ok(Invocation { folder, ..Invocation::plain(command) })
    }

    fn has_own_folder(&self) -> bool {
        self.info.judged_by.as_ref().is_some_and(|judged| judged.own_folder)
    }

    fn judge(&self) -> Result<Judge, Problem> {
        let Some(judged) = &self.info.judged_by else { return Ok(Judge::default()) };
        judge_of(&judged.fail_if, judged.oracle.as_deref())
    }

    fn timeout(&self) -> Duration {
        let hunted = self.info.judged_by.as_ref().map(|by| Duration::from_millis(by.timeout_ms));
        let usual = self.longest_pass.map_or(Duration::MAX, |longest| longest * PATIENCE);
        usual.max(SHORTEST_TIMEOUT).min(hunted.unwrap_or(USUAL_TIMEOUT))
    }
}

impl Forcing {
    /// The program of a hunt, unless a command says otherwise.
    pub fn new(
        store: &Path,
        hunted: &Hunted,
        options: &JudgeOptions,
        command: &[OsString],
    ) -> Result<Forcing, Problem> {
        let judge = match options.judge() {
            Some(judge) => judge,
            None => hunted.judge()?,
        };
        let invocation = if command.is_empty() {
            hunted.invocation()?
        } else {
            Invocation::plain(command.to_vec())
        };
        let timeout = options.timeout.unwrap_or_else(|| hunted.timeout());
        Ok(Self::of_hunted(store, hunted, invocation, judge, timeout))
    }

    fn of_hunted(
        store: &Path,
        hunted: &Hunted,
        invocation: Invocation,
        judge: Judge,
        timeout: Duration,
    ) -> Forcing {
        let usual_run = hunted.longest_pass;
        let own_folder = hunted.has_own_folder();
        Forcing { usual_run, ..Self::with(store, invocation, judge, timeout, own_folder) }
    }

    fn with(
        store: &Path,
        invocation: Invocation,
        judge: Judge,
        timeout: Duration,
        own_folder: bool,
    ) -> Forcing {
        Forcing {
            invocation,
            judge,
            limits: Limits { timeout, grace: GRACE, output: OUTPUT_BYTES },
            own_folder,
            store: Store::at(store.join(FORCED_FOLDER)),
            stop: stop_on_signals(),
            usual_run: None,
        }
    }

    /// The program of a hunt that has just ended; a run that takes longer than `most` hangs.
    pub fn of_hunt(
        store: &Path,
        hunted: &Hunted,
        invocation: &Invocation,
        most: Duration,
    ) -> Result<Forcing, Problem> {
        let timeout = hunted.timeout().min(most.max(SHORTEST_TIMEOUT));
        Ok(Self::of_hunted(store, hunted, invocation.clone(), hunted.judge()?, timeout))
    }

    /// The program of a reproducer, unless an invocation says otherwise.
    pub fn of_reproducer(
        store: &Path,
        reproducer: &Reproducer,
        invocation: Invocation,
        options: &JudgeOptions,
    ) -> Result<Forcing, Problem> {
        let oracle = &reproducer.oracle;
        let judge = match options.judge() {
            Some(judge) => judge,
            None => judge_of(&oracle.fail_if, oracle.command.as_deref())?,
        };
        let pinned = oracle.timeout_ms.map(|time| Duration::from_millis(time.into()));
        let timeout = options.timeout.or(pinned).unwrap_or(USUAL_TIMEOUT);
        Ok(Self::with(store, invocation, judge, timeout, reproducer.own_folder))
    }

    /// Where nothing is known about how long a run takes: runs it, left alone, and takes the time of one that passes.
    pub fn knowing_its_time(mut self) -> Result<Forcing, Problem> {
        let patient = self.limits.timeout;
        let mut tries = 0;
        self.limits.timeout = patient.min(TIME_TO_LEARN);
        while self.usual_run.is_none() && tries < RUNS_TO_LEARN {
            let Some(run) = self.run(None)? else { break };
            self.usual_run = (run.label == Label::Pass).then_some(run.duration);
            tries += 1;
        }
        let usual = self.usual_run.map_or(patient, |run| (run * PATIENCE).max(SHORTEST_TIMEOUT));
        self.limits.timeout = usual.min(patient);
        Ok(self)
    }

    /// What a reproducer has to know to run the program again.
    pub fn subject(&self) -> Subject {
        let words = self.invocation.words();
        let program = words.first().cloned().unwrap_or_default();
        let oracle = self.judge.oracle.as_ref();
        let subject = Subject {
            program,
            arguments: words.into_iter().skip(1).collect(),
            cargo: Vec::new(),
            own_folder: self.own_folder,
            oracle: Oracle {
                fail_if: self.judge.conditions.iter().map(ToString::to_string).collect(),
                command: oracle.map(|oracle| oracle.to_string_lossy().into_owned()),
                timeout_ms: u32::try_from(self.limits.timeout.as_millis()).ok(),
            },
            folder: std::env::current_dir().unwrap_or_default(),
        };
        match &self.invocation.written_as {
            Some(words) => of_cargo(subject, words),
            None => subject,
        }
    }

    /// The file that is run.
    pub fn executable(&self) -> Result<PathBuf, Problem> {
        let name = self.invocation.command.first().map(Path::new).unwrap_or(Path::new(""));
        Ok(RunnableProgram::find(name)?.path)
    }

    /// Its code. Of a script that is its interpreter, which has none that matters: the program it starts counts as a library then.
    pub fn program(&self) -> Result<Program, Problem> {
        let executable = self.executable()?;
        Program::open(&interpreter_of(&executable).unwrap_or(executable))
    }

    /// The plan with what the program's own code tells about its places.
    pub fn completed(&self, plan: Plan) -> Plan {
        // What cannot be read here is run all the same: the plan then knows less.
        match self.program() {
            Ok(program) => plan.with_copies(&program).completed(&program),
            Err(_) => plan,
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// A run that takes longer hangs.
    pub fn timeout(&self) -> Duration {
        self.limits.timeout
    }

    pub fn invocation(&self) -> &Invocation {
        &self.invocation
    }

    /// The folder for a run that somebody else makes.
    pub fn new_run_folder(&self) -> Result<PathBuf, Problem> {
        self.store.new_run()
    }

    /// Writes the file that tells the runtime; it is read when the program starts.
    pub fn write_schedule(&self, plan: &Plan) -> Result<PathBuf, Problem> {
        let folder = std::path::absolute(self.store.folder())
            .map_err(|error| cannot_write(self.store.folder(), &error))?;
        fs::create_dir_all(&folder).map_err(|error| cannot_write(&folder, &error))?;
        let file = folder.join(format!("schedule-{}", std::process::id()));
        fs::write(&file, plan.to_bytes()?).map_err(|error| cannot_write(&file, &error))?;
        Ok(file)
    }

    /// Runs the program once, under a plan if there is one. None: the user wants no more.
    pub fn run(&self, plan: Option<&Plan>) -> Result<Option<ForcedRun>, Problem> {
        let look = |run: &ForcedRun, folder: &Path| {
            let open = plan.filter(|plan| plan.mode == Mode::Force && run.outcome.hits == 0);
            // What cannot be read shows nothing.
            let is_shown = open.is_some_and(|plan| {
                condense(folder, Options::default())
                    .is_ok_and(|condensed| plan.is_shown_by(&condensed.patterns))
            });
            let prevention = open.filter(|_| !is_shown).and_then(|_| prevention_in(folder));
            Ok((is_shown, prevention))
        };
        let run = self.run_and(plan, look)?;
        Ok(run.map(|(run, (is_shown, prevention))| ForcedRun { is_shown, prevention, ..run }))
    }

    /// The same, and a look at the folder of the run before it goes.
    pub fn run_and<T>(
        &self,
        plan: Option<&Plan>,
        look: impl FnOnce(&ForcedRun, &Path) -> Result<T, Problem>,
    ) -> Result<Option<(ForcedRun, T)>, Problem> {
        let schedule = plan.map(|plan| self.write_schedule(plan)).transpose()?;
        let mut invocation = self.invocation.clone();
        if let Some(file) = &schedule {
            invocation.environment.push((schedule::VARIABLE.into(), file.into()));
        }
        let judged = self.attempt(invocation);
        if let Some(file) = schedule {
            // A file of some kilobytes that the next run writes anew.
            let _ = fs::remove_file(file);
        }
        let judged = judged?;
        let look_at = || {
            let run = forced_run(&judged)?;
            let seen = look(&run, &judged.run.folder)?;
            Ok((run, seen))
        };
        let run = (!judged.stopped).then(look_at).transpose();
        judged.run.discard();
        run
    }

    fn attempt(&self, invocation: Invocation) -> Result<Judged, Problem> {
        let options = RunOptions { limit: RECORDING_LIMIT, ..RunOptions::default() };
        let choices = Choices { options, seed: fresh_seed() };
        attempt(&Attempt {
            plan: &RunPlan { invocation, store: self.store.clone(), choices },
            limits: &self.limits,
            judge: &self.judge,
            hunt: None,
            own_folder: self.own_folder,
            stop: self.stop,
        })
    }
}

/// `/bin/sh` of a file that begins with `#!/bin/sh`.
fn interpreter_of(file: &Path) -> Option<PathBuf> {
    const LONGEST: u64 = 256;
    let mut beginning = Vec::new();
    fs::File::open(file).ok()?.take(LONGEST).read_to_end(&mut beginning).ok()?;
    let line = beginning.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let name = std::str::from_utf8(line).ok()?.split_whitespace().next()?;
    Some(PathBuf::from(name))
}

/// What counts as failing, from its texts in a file.
fn judge_of(fail_if: &[String], oracle: Option<&str>) -> Result<Judge, Problem> {
    let conditions = fail_if.iter().map(|text| text.parse());
    let conditions = conditions.collect::<Result<_, String>>().map_err(|error| {
        Problem::usage("what counts as failing cannot be read")
            .why(error)
            .next("say it again: --fail-if CONDITION")
    })?;
    Ok(Judge { conditions, oracle: oracle.map(OsString::from) })
}

/// Cargo finds the program of a test, wherever it is built; its name is enough to know it again.
fn of_cargo(subject: Subject, words: &[String]) -> Subject {
    let name = Path::new(&subject.program).file_name().unwrap_or_default();
    Subject {
        program: name.to_string_lossy().into_owned(),
        arguments: Vec::new(),
        cargo: words.iter().skip(1).cloned().collect(),
        ..subject
    }
}

fn forced_run(judged: &Judged) -> Result<ForcedRun, Problem> {
    let outcome = outcome_in(&judged.run.folder)?;
    let duration = Duration::from_millis(judged.run.info.duration_ms);
    let mut run = ForcedRun {
        label: judged.label(),
        why: judged.why().to_owned(),
        duration,
        outcome,
        is_shown: false,
        prevention: None,
    };
    if judged.hang.is_some() && 2 * run.outcome.held >= duration {
        run.label = Label::Unusable;
        run.why = format!("its time was used up by {:.1?} of being held", run.outcome.held);
    }
    Ok(run)
}

/// What all processes of a run made of the plan.
fn outcome_in(folder: &Path) -> Result<Outcome, Problem> {
    let outcomes = outcomes_in(folder)?;
    Outcome::sum(outcomes.iter().map(|(_, outcome)| outcome))
}

/// What each process made of it, with the file that says so.
fn outcomes_in(folder: &Path) -> Result<Vec<(PathBuf, Outcome)>, Problem> {
    let mut outcomes = Vec::new();
    let entries = fs::read_dir(folder).map_err(|error| cannot_read(folder, &error))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|extension| extension == "outcome") {
            let bytes = fs::read(&path).map_err(|error| cannot_read(&path, &error))?;
            let outcome = Outcome::from_bytes(&bytes, &path.display().to_string())?;
            outcomes.push((path, outcome));
        }
    }
    Ok(outcomes)
}

/// What kept the order from coming about, by the process that tells the most. Its recording has the name of its outcome.
fn prevention_in(folder: &Path) -> Option<Prevention> {
    let outcomes = outcomes_in(folder).ok()?;
    let impasses = outcomes.iter().filter_map(|(path, of)| Some((path, of.impasse.as_ref()?)));
    let (path, impasse) = impasses.max_by_key(|(_, impasse)| impasse.why)?;
    prevention(&path.with_extension("events"), impasse, names_of_files())
}

fn no_runs(store: &Store) -> Problem {
    Problem::usage("there is nothing to run again: no hunt has ended in this store")
        .at("folder", store.folder().display())
        .next("hunt: unpick hunt -- PROGRAM")
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Problem {
    Problem::own_fault("the schedule for the program cannot be written")
        .at("file", path.display())
        .why(error)
        .next("free some space, or choose another store: --store DIR")
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Problem {
    Problem::own_fault("what came of a forced run cannot be read")
        .at("file", path.display())
        .why(error)
        .next("run it again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_a_run_took_that_was_ended_says_nothing() {
        let ended = |outcome: RunOutcome| {
            let info = RunInfo { outcome, duration_ms: 20_000, ..a_run() };
            Hunted::of_run(info).longest_pass
        };
        assert_eq!(ended(RunOutcome::Exit { code: 1 }), Some(Duration::from_secs(20)));
        assert_eq!(ended(RunOutcome::Signal { number: 15 }), None);
    }

    fn a_run() -> RunInfo {
        RunInfo {
            command: vec!["./bank".to_owned()],
            working_folder: PathBuf::from("/"),
            started_ms: 0,
            duration_ms: 0,
            outcome: RunOutcome::Unknown,
            options: RunOptions::default(),
            seed: 1,
            unpick_version: String::new(),
            format_version: 2,
            label: None,
            why: None,
            hunt: None,
            written_as: None,
            judged_by: None,
        }
    }
}
