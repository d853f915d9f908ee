//! Slow is not hung: what a hunt makes of programs that wait, work or hang, by what they do and not by how long they take.
//!
//! Programs hang for sure, or end by themselves after a second, or never end. Time limits are far from what is asserted.

mod ran;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ran::Ran;
use serde_json::Value;
use tempfile::TempDir;

const UNPICK: &str = env!("CARGO_BIN_EXE_unpick");
const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
/// The number of the system call, as /proc prints it.
const FUTEX: &str = "202 ";
/// More than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A folder with one program, built by `unpick cc`.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn of(source: &str) -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        let source = format!("{FIXTURES}/{source}.c");
        let built = scene.unpick(&["cc", "-g", "-O1", "-pthread", &source, "-o", "program"]);
        assert_eq!(built.code, Some(0), "{}", built.stderr);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.folder.path());
        command.env("XDG_CACHE_HOME", self.path("cache")).env_remove("UNPICK_CC");
        command
    }

    fn unpick(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(UNPICK, arguments).output().unwrap())
    }

    fn hunt(&self, options: &[&str], program: &[&str]) -> Ran {
        self.unpick(&[&["hunt", "--no-delays", "--no-confirm"], options, &["--"], program].concat())
    }

    /// The first run of the store.
    fn first_run(&self) -> Value {
        let runs = self.unpick(&["runs", "--json"]);
        serde_json::from_str(runs.stdout.lines().next().unwrap()).unwrap()
    }

    /// What a program has written to a file, once it has.
    fn wait_for(&self, file: &str) -> String {
        let started = Instant::now();
        loop {
            let text = fs::read_to_string(self.path(file)).unwrap_or_default();
            if text.ends_with('\n') {
                return text;
            }
            assert!(started.elapsed() < PATIENCE, "{file} was never written");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn threads_that_wait_for_each_other_hang_at_once() {
    if fs::read("/proc/self/syscall").is_err() {
        eprintln!("skipped: the kernel does not say here what threads wait for");
        return;
    }
    let scene = Scene::of("hangs/deadlock");
    let hunt = scene.hunt(&["--runs", "1"], &["./program"]);
    assert_eq!(hunt.code, Some(66), "{}", hunt.stderr);
    let run = scene.first_run();
    let why = run["why"].as_str().unwrap();
    assert!(why.starts_with("hung: every thread is blocked: thread 2 waits for "), "{why}");
    // Before any run has passed the limit is a minute.
    assert!(run["duration_ms"].as_u64().unwrap() < 50_000, "{run}");
}

#[test]
fn a_process_whose_first_thread_has_ended_can_hang() {
    let scene = Scene::of("hangs/first_ends");
    let hunt = scene.hunt(&["--runs", "1", "--timeout", "3s"], &["./program"]);
    assert_eq!(hunt.code, Some(66), "{}", hunt.stderr);
    assert!(hunt.stderr.contains(": a deadlock"), "{}", hunt.stderr);
}

#[test]
fn threads_that_a_time_limit_or_a_timer_will_wake_do_not_hang() {
    for name in ["timed_wait", "alarm"] {
        let scene = Scene::of(&format!("slow/{name}"));
        let hunt = scene.hunt(&["--runs", "1"], &["./program"]);
        assert_eq!(hunt.code, Some(0), "{name}: {}", hunt.stderr);
        assert_eq!(scene.first_run()["label"], "pass", "{name}: {}", hunt.stderr);
    }
}

#[test]
fn a_run_that_makes_progress_at_the_limit_is_slow() {
    let scene = Scene::of("slow/progress");
    let hunt = scene.hunt(&["--runs", "1", "--timeout", "2s"], &["./program"]);
    assert_eq!(hunt.code, Some(70), "{}", hunt.stderr);
    let run = scene.first_run();
    assert_eq!(run["label"], "unusable", "{run}");
    assert!(run["why"].as_str().unwrap().contains("still making progress"), "{run}");
    assert!(hunt.stderr.contains("1 run was unusable: not finished after "), "{}", hunt.stderr);
}

#[test]
fn a_run_that_the_time_of_the_hunt_cuts_off_is_no_hang() {
    let scene = Scene::of("slow/progress");
    let started = Instant::now();
    let hunt = scene.hunt(&["--time", "2s", "--timeout", "1h"], &["./program"]);
    assert!(started.elapsed() < PATIENCE);
    assert_eq!(hunt.code, Some(70), "{}", hunt.stderr);
    let why = scene.first_run()["why"].to_string();
    assert!(why.contains("time limit reached when it had run for "), "{why}");
    assert!(hunt.stderr.contains("next: give it more time: unpick hunt"), "{}", hunt.stderr);
}

#[test]
fn who_interrupts_a_run_that_hangs_sees_how() {
    if fs::read("/proc/self/syscall").is_err() {
        eprintln!("skipped: the kernel does not say here what threads wait for");
        return;
    }
    let scene = Scene::of("hangs/deadlock");
    // Of two processes it is not certain that they hang, so it would go on for a minute.
    let script = "sh -c 'echo $$ > number; exec ./program'; exit 0";
    let hunt = ["--default-signal=INT", UNPICK, "hunt", "--no-delays", "--", "sh", "-c", script];
    let mut command = scene.command("env", &hunt);
    let hunt = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let program = scene.wait_for("number");
    wait_until_blocked(program.trim(), 3);
    let interrupt = format!("kill -INT {}", hunt.id());
    assert!(Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
    let hunt = Ran::from(hunt.wait_with_output().unwrap());
    assert_eq!(hunt.code, Some(66), "{}", hunt.stderr);
    assert!(hunt.stderr.contains("1 run: 1 failed, 0 passed; interrupted"), "{}", hunt.stderr);
    assert!(hunt.stderr.contains(": a deadlock"), "{}", hunt.stderr);
}

/// Until all threads of a process, of which there are so many, stay in the system call `futex`.
fn wait_until_blocked(process: &str, threads: usize) {
    let started = Instant::now();
    let mut before = Vec::new();
    loop {
        let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
        let calls = tasks.map(|task| fs::read_to_string(task.path().join("syscall")));
        let calls: Vec<String> = calls.map(|call| call.unwrap_or_default()).collect();
        let are_futexes = calls.iter().all(|call| call.starts_with(FUTEX));
        if are_futexes && calls.len() == threads && calls == before {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "process {process} never blocks");
        before = calls;
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn programs_do_not_survive_unpick() {
    let scene = Scene::of("slow/progress");
    let script = "sleep 1000 & echo $! $$ > numbers; exec ./program";
    for verb in ["hunt", "record"] {
        let _ = fs::remove_file(scene.path("numbers"));
        let unpick = scene.command(UNPICK, &[verb, "--", "sh", "-c", script]);
        let mut unpick = started(unpick);
        let numbers = scene.wait_for("numbers");
        // A program that was started a moment ago is not known to its guardian yet.
        wait_until_waiting(unpick.id());
        unpick.kill().unwrap();
        unpick.wait().unwrap();
        let [child, program] = numbers.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("{numbers}")
        };
        assert_ends(program);
        match verb {
            "hunt" => assert_ends(child),
            // In our own group, which is not ours to end.
            _ => drop(Command::new("kill").arg(child).status().unwrap()),
        }
    }
}

/// Until the first thread of a process stays in a system call.
fn wait_until_waiting(process: u32) {
    let started = Instant::now();
    let mut before = String::new();
    loop {
        let call = fs::read_to_string(format!("/proc/{process}/syscall")).unwrap();
        if call == before && !call.starts_with("running") {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "process {process} never waits");
        before = call;
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn started(mut command: Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

fn assert_ends(process: &str) {
    let started = Instant::now();
    let is_running = || {
        let stat = fs::read_to_string(format!("/proc/{process}/stat"));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    };
    while is_running() {
        assert!(started.elapsed() < PATIENCE, "process {process} goes on");
        std::thread::sleep(Duration::from_millis(20));
    }
}
