//! Builds small programs with and without the runtime, runs them, and reads their recordings.
//!
//! A program must do the same with and without us: `Program::check` compares output and status, then gives the
//! recordings of the recorded run.
#![allow(dead_code)]

use std::collections::HashMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;
use unpick_recording::events::{Address, Kind};
use unpick_recording::{Action, Event, LockFlags, Recording};

/// The runtime as an archive to link with.
pub fn runtime() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| build("standalone"))
}

/// Builds one form of the runtime, in a target folder of its own: the usual one is locked by the cargo that runs us.
pub fn build(feature: &str) -> PathBuf {
    build_as(feature, "staticlib").join("libunpick_runtime.a")
}

/// The runtime as a shared object to preload.
pub fn preloadable_runtime() -> PathBuf {
    build_as("standalone", "cdylib").join("libunpick_runtime.so")
}

/// Gives the folder with what was built.
fn build_as(feature: &str, crate_type: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runtime").join(feature);
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["rustc", "--quiet", "--lib", "--profile", "runtime", "--crate-type", crate_type])
        .args(["--features", feature, "--target-dir"])
        .arg(&target)
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        // It would undo the optimisation across crates by which the runtime keeps its rules.
        .env_remove("CARGO_INCREMENTAL")
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target.join("runtime")
}

/// A program of `tests/programs`, built twice.
pub struct Program {
    folder: TempDir,
    plain: PathBuf,
    watched: PathBuf,
}

impl Program {
    pub fn build(source: &str) -> Self {
        Self::build_with(source, &[])
    }

    /// `options` are given to both compilers.
    pub fn build_with(source: &str, options: &[&str]) -> Self {
        Self::build_using(compiler_of(source), source, options)
    }

    pub fn build_using(compiler: &str, source: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let plain = folder.path().join("plain");
        let watched = folder.path().join("watched");
        let object = folder.path().join("watched.o");
        let source = source_path(source);
        run_tool(
            Command::new(compiler)
                .args(["-O1", "-g"])
                .args(options)
                .arg(&source)
                .arg("-o")
                .arg(&plain)
                .args(LIBRARIES),
        );
        run_tool(
            Command::new(compiler)
                .args(["-O1", "-g", "-fsanitize=thread"])
                .args(options)
                .arg("-c")
                .arg(&source)
                .arg("-o")
                .arg(&object),
        );
        run_tool(
            Command::new(compiler)
                .args(options)
                .arg(&object)
                .arg(runtime())
                .arg("-o")
                .arg(&watched)
                .args(LIBRARIES),
        );
        Self { folder, plain, watched }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The program with the runtime in it.
    pub fn watched(&self) -> &Path {
        &self.watched
    }

    /// Runs both, demands that they do the same, and reads what was recorded.
    pub fn check(&self) -> Run {
        self.check_with(&[], "")
    }

    pub fn check_with(&self, arguments: &[&str], options: &str) -> Run {
        let plain = limited(&self.plain).args(arguments).output().expect("it runs");
        let run = self.record(arguments, options);
        assert_eq!(shown(&run.output), shown(&plain), "the same with and without us");
        run
    }

    /// Runs the watched program only.
    pub fn record(&self, arguments: &[&str], options: &str) -> Run {
        let runs = tempfile::tempdir().expect("a folder");
        // A program that gives up its rights still has to find its run folder.
        set_open_to_all(runs.path());
        let output = limited(&self.watched)
            .args(arguments)
            .env("UNPICK_RUN_DIR", runs.path())
            .env("UNPICK_OPTIONS", format!("limit=268435456 {options}"))
            .output()
            .expect("it runs");
        Run { output, runs }
    }

    /// Runs the watched program without a recording.
    pub fn run_unrecorded(&self, arguments: &[&str]) -> Output {
        limited(&self.watched).args(arguments).output().expect("it runs")
    }
}

const LIBRARIES: [&str; 3] = ["-pthread", "-ldl", "-Wl,--export-dynamic-symbol=__tsan_*"];

fn set_open_to_all(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).expect("ours");
}

/// A hang is a failure, and it must not be ours to wait for.
pub fn limited(program: &Path) -> Command {
    let mut command = Command::new("timeout");
    command.args(["--signal=ABRT", "60"]).arg(program);
    command
}

/// Whether a test that needs this compiler can run. Without it the test is skipped, which one line says; under CI
/// nothing is skipped.
pub fn is_installed(compiler: &str) -> bool {
    let found = Command::new(compiler).arg("--version").output().is_ok();
    assert!(found || std::env::var_os("CI").is_none(), "{compiler} is not installed");
    if !found {
        eprintln!("skipped: {compiler} is not installed");
    }
    found
}

/// What `unpick cc` adds for this compiler: without it, clang leaves out the read of `x += 1`.
pub fn needed_by(compiler: &str) -> &'static [&'static str] {
    if compiler.starts_with("clang") {
        &["-mllvm", "-tsan-instrument-read-before-write"]
    } else {
        &[]
    }
}

fn compiler_of(source: &str) -> &'static str {
    if source.ends_with(".cc") { "g++" } else { "gcc" }
}

pub fn source_path(source: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs").join(source)
}

pub fn run_tool(command: &mut Command) {
    let output = command.output().expect("the tool starts");
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
}

fn shown(output: &Output) -> (String, String, Option<i32>, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code(), output.status.signal())
}

/// A recorded run.
pub struct Run {
    pub output: Output,
    runs: TempDir,
}

impl Run {
    pub fn folder(&self) -> &Path {
        self.runs.path()
    }

    pub fn recordings(&self) -> Vec<Recording> {
        let folder = fs::read_dir(self.runs.path()).expect("a folder");
        let mut files: Vec<PathBuf> = folder.map(|entry| entry.expect("an entry").path()).collect();
        files.retain(|file| file.extension().is_some_and(|extension| extension == "events"));
        files.sort();
        files
            .iter()
            .map(|file| {
                Recording::open(file).unwrap_or_else(|problem| panic!("{file:?}: {problem}"))
            })
            .collect()
    }

    /// The recording of a run with one process.
    pub fn recording(&self) -> Recording {
        let mut all = self.recordings();
        assert_eq!(
            all.len(),
            1,
            "one process image; {}",
            String::from_utf8_lossy(&self.output.stderr)
        );
        let recording = all.remove(0);
        assert_eq!(recording.damage(), [""; 0]);
        recording
    }
}

/// What was synchronised, in order, one line each: thread, kind, object (a letter each), flags.
pub fn synchronisation(recording: &Recording) -> Vec<String> {
    let mut names = Names::default();
    recording.events().filter_map(|event| names.line(&event)).collect()
}

#[derive(Default)]
struct Names {
    letters: HashMap<Address, char>,
}

impl Names {
    fn name(&mut self, object: Address) -> char {
        let next = (b'a' + self.letters.len() as u8) as char;
        *self.letters.entry(object).or_insert(next)
    }

    fn line(&mut self, event: &Event<'_>) -> Option<String> {
        let what = match event.action {
            Action::ThreadCreate { thread }
            | Action::ThreadJoin { thread }
            | Action::ThreadDetach { thread } => thread.0.to_string(),
            Action::Acquire { lock, flags }
            | Action::Release { lock, flags }
            | Action::LockWait { lock, flags } => {
                format!("{}{}", self.name(lock), words(flags))
            }
            Action::ConditionWait { condition, mutex } => {
                format!("{} {}", self.name(condition), self.name(mutex))
            }
            Action::ConditionWake { condition: object }
            | Action::ConditionSignal { condition: object }
            | Action::ConditionBroadcast { condition: object }
            | Action::BarrierArrive { barrier: object }
            | Action::BarrierLeave { barrier: object }
            | Action::SemaphorePost { semaphore: object }
            | Action::SemaphoreWait { semaphore: object }
            | Action::OnceBegin { once: object }
            | Action::OnceDone { once: object }
            | Action::FutexWait { word: object }
            | Action::FutexWoken { word: object }
            | Action::FutexWake { word: object }
            | Action::HappensBefore { object }
            | Action::HappensAfter { object } => self.name(object).to_string(),
            Action::FiberSwitch { to } => to.0.to_string(),
            Action::Exit { status } => status.to_string(),
            Action::Exec | Action::ThreadEnd { .. } => String::new(),
            Action::ThreadStart { creator, .. } => creator.0.to_string(),
            _ => return None,
        };
        Some(format!("{} {} {what}", event.thread.0, event.kind().name()).trim_end().to_owned())
    }
}

fn words(flags: LockFlags) -> String {
    let all = [
        (flags.is_shared(), " shared"),
        (flags.is_try(), " try"),
        (flags.is_timed(), " timed"),
        (flags.is_by_condition(), " by-condition"),
        (flags.is_recursive(), " recursive"),
    ];
    all.iter().filter(|(is_set, _)| *is_set).map(|(_, word)| *word).collect()
}

/// The lines of `synchronisation` of one thread, without its number. Calls made by libraries (the unwinder has locks
/// and onces of its own) are left out.
pub fn of_thread(recording: &Recording, thread: u16) -> Vec<String> {
    let mut names = Names::default();
    let events = recording
        .events()
        .filter(|event| event.thread.0 == thread && is_of_program(recording, event));
    let lines = events.filter_map(|event| names.line(&event));
    lines
        .map(|line| line.split_once(' ').map_or(String::new(), |(_, rest)| rest.to_owned()))
        .collect()
}

fn is_of_program(recording: &Recording, event: &Event<'_>) -> bool {
    event.site.0 == 0
        || recording
            .place_of(event.site)
            .is_some_and(|(module, _)| module.path.ends_with("/watched"))
}

pub fn count(recording: &Recording, kind: Kind) -> usize {
    recording.events().filter(|event| event.kind() == kind).count()
}
