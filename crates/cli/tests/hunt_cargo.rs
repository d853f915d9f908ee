//! `unpick hunt --cargo test NAME` and `unpick record --cargo test NAME`, on a small project.
//!
//! Nothing depends on luck: its tests always pass, always fail, or look at the number of their run.

mod ran;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use ran::Ran;
use serde_json::Value;
use tempfile::TempDir;

const UNPICK: &str = env!("CARGO_BIN_EXE_unpick");

const MANIFEST: &str = r#"
[package]
name = "my-bank"
version = "1.2.3"
edition = "2024"

[workspace]
"#;

/// A coin is lost in runs with an odd number, because the other teller comes in between.
const LIBRARY: &str = r#"
use std::sync::Mutex;
#[cfg(test)]
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

pub static BALANCE: Mutex<u32> = Mutex::new(0);

pub fn look() -> u32 {
    *BALANCE.lock().unwrap()
}

pub fn put(value: u32) {
    *BALANCE.lock().unwrap() = value;
}

#[cfg(test)]
mod bank {
    use super::*;

    fn this_run_is_odd() -> bool {
        let folder = std::env::var("UNPICK_RUN_DIR").unwrap();
        folder.ends_with(['1', '3', '5', '7', '9'])
    }

    fn other_teller() {
        std::thread::spawn(|| put(look() + 1)).join().unwrap();
    }

    static ITS_TURN: AtomicBool = AtomicBool::new(false);
    static IS_DONE: AtomicBool = AtomicBool::new(false);

    fn wait_for(flag: &AtomicBool) {
        while !flag.load(SeqCst) {
            std::thread::yield_now();
        }
    }

    /// Neither started nor joined here: what is ordered by that is no interleaving.
    fn let_other_teller() {
        ITS_TURN.store(true, SeqCst);
        wait_for(&IS_DONE);
    }

    #[test]
    fn transfer() {
        let other = std::thread::spawn(|| {
            wait_for(&ITS_TURN);
            put(look() + 1);
            IS_DONE.store(true, SeqCst);
        });
        if !this_run_is_odd() {
            let_other_teller();
        }
        let seen = look();
        if this_run_is_odd() {
            let_other_teller();
        }
        put(seen + 1);
        other.join().unwrap();
        assert_eq!(look(), 2);
    }

    #[test]
    fn transfer_twice() {}

    #[test]
    #[ignore]
    fn slow() {
        other_teller();
        assert_eq!(look(), 1);
    }

    #[test]
    fn in_two_programs() {}
}
"#;

const MAIN: &str = "fn main() {}";

const INTEGRATION: &str = r#"
use std::env::{current_dir, var};

#[test]
fn surroundings_are_those_of_cargo() {
    let folder = env!("CARGO_MANIFEST_DIR");
    assert_eq!(current_dir().unwrap(), std::path::Path::new(folder));
    assert_eq!(var("CARGO_MANIFEST_DIR").unwrap(), folder);
    assert_eq!(var("CARGO_MANIFEST_PATH").unwrap(), format!("{folder}/Cargo.toml"));
    assert_eq!(var("CARGO_PKG_NAME").unwrap(), "my-bank");
    assert_eq!(var("CARGO_PKG_VERSION").unwrap(), "1.2.3");
    assert_eq!(var("CARGO_BIN_EXE_my-bank").unwrap(), env!("CARGO_BIN_EXE_my-bank"));
    assert_eq!(var("OUT_DIR").unwrap(), env!("OUT_DIR"));
    assert_eq!(var("FROM_BUILD_SCRIPT").unwrap(), "told");
    assert!(var("LD_LIBRARY_PATH").unwrap().contains("/deps"));
}

#[test]
fn always_fails() {
    my_bank::put(1);
    panic!("as it must");
}

mod bank {
    #[test]
    fn in_two_programs() {
        my_bank::put(1);
    }
}
"#;

const BUILD_SCRIPT: &str = r#"fn main() { println!("cargo::rustc-env=FROM_BUILD_SCRIPT=told"); }"#;

/// The project, which is built once for all tests of this file.
fn project() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hunt-cargo");
        for (name, text) in [
            ("Cargo.toml", MANIFEST),
            ("build.rs", BUILD_SCRIPT),
            ("src/lib.rs", LIBRARY),
            ("src/main.rs", MAIN),
            ("tests/integration.rs", INTEGRATION),
        ] {
            write_if_changed(&folder.join(name), text);
        }
        folder
    })
}

/// What is written anew is built anew.
fn write_if_changed(path: &Path, text: &str) {
    if fs::read_to_string(path).ok().as_deref() != Some(text) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// A store of one's own for a test.
struct Scene {
    store: TempDir,
}

impl Scene {
    fn new() -> Scene {
        Scene { store: tempfile::tempdir().unwrap() }
    }

    fn ran(&self, mut command: Command) -> Ran {
        command.current_dir(project());
        // What the cargo that runs this test was told is not meant for the one under test.
        for variable in
            ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "RUSTFLAGS", "RUSTC_WRAPPER", "CARGO"]
        {
            command.env_remove(variable);
        }
        Ran::from(command.output().unwrap())
    }

    fn unpick(&self, verb: &str, arguments: &[&str]) -> Ran {
        let mut command = Command::new(UNPICK);
        command.arg(verb).arg("--store").arg(self.store.path()).args(arguments);
        self.ran(command)
    }

    fn hunt(&self, options: &[&str], request: &[&str]) -> Ran {
        self.unpick("hunt", &[options, &["--cargo"], request].concat())
    }

    fn runs(&self) -> Vec<Value> {
        let runs = self.unpick("runs", &["--json"]);
        runs.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

#[test]
fn a_test_is_hunted_by_its_name_and_its_runs_can_be_repeated() {
    let scene = Scene::new();
    let hunt = scene.hunt(&["--runs", "4", "--no-delays"], &["test", "bank::transfer"]);
    assert_eq!(hunt.code, Some(66), "{}{}", hunt.stdout, hunt.stderr);
    assert!(hunt.stderr.contains("unpick: test bank::transfer of my-bank\n"), "{}", hunt.stderr);
    assert!(hunt.stderr.contains("4 runs: 2 failed, 2 passed"), "{}", hunt.stderr);
    assert!(hunt.stdout.contains("src/lib.rs"), "{}", hunt.stdout);

    let runs = scene.runs();
    assert_eq!(runs[0]["command"][1], "--exact");
    let repeat = runs[0]["repeat"].as_str().unwrap();
    assert!(repeat.ends_with(" --cargo test bank::transfer"), "{repeat}");
    assert!(hunt.stderr.contains(" --cargo test bank::transfer\n"), "{}", hunt.stderr);
    // Run 5, which fails like all odd ones.
    let words: Vec<&str> = repeat.split(' ').skip(2).collect();
    let repeated = scene.unpick("record", &words);
    assert_eq!(repeated.code, Some(101), "{}", repeated.stderr);
    assert!(repeated.stderr.contains("threads, "), "{}", repeated.stderr);
    assert_eq!(scene.runs()[4]["repeat"], runs[0]["repeat"]);
}

#[test]
fn a_test_has_the_surroundings_that_cargo_gives_it() {
    let scene = Scene::new();
    let request = ["test", "--test", "integration", "surroundings"];
    let hunt = scene.hunt(&["--runs", "1"], &request);
    let told = fs::read_to_string(scene.store.path().join("runs/0001/stdout")).unwrap_or_default();
    assert_eq!(hunt.code, Some(0), "{told}{}", hunt.stderr);
    let next = "--time 30m --cargo test --test integration surroundings\n";
    assert!(hunt.stderr.contains(next), "{}", hunt.stderr);
}

#[test]
fn names_of_nextest_and_parts_of_names_do() {
    for request in [
        &["test", "my-bank::integration", "always_fails"][..],
        &["test", "my-bank::integration$always_fails"],
        &["test", "always_f", "--", "--nocapture", "--test-threads", "1"],
        &["t", "--", "--exact", "always_fails"],
    ] {
        let scene = Scene::new();
        let hunt = scene.hunt(&["--runs", "1"], request);
        assert_eq!(hunt.code, Some(67), "{request:?}: {}", hunt.stderr);
        assert_eq!(scene.runs()[0]["why"], "exit 101");
    }
}

#[test]
fn a_test_that_is_ignored_is_run_all_the_same() {
    let scene = Scene::new();
    let hunt = scene.hunt(&["--runs", "1"], &["test", "bank::slow"]);
    assert_eq!(hunt.code, Some(0), "{}", hunt.stderr);
    assert!(hunt.stderr.contains("marked #[ignore]"), "{}", hunt.stderr);
    let printed = fs::read_to_string(scene.store.path().join("runs/0001/stdout")).unwrap();
    assert!(printed.contains("1 passed"), "{printed}");
}

#[test]
fn what_is_not_one_test_is_told_with_what_there_is() {
    let refusals = [
        (
            &["test", "bank::transfre"][..],
            "there is no test `bank::transfre`",
            "\n    --cargo test my-bank bank::transfer\n",
        ),
        (
            &["test", "in_two_programs"],
            "`in_two_programs` means 2 tests",
            "\n    --cargo test my-bank::integration bank::in_two_programs",
        ),
        (
            &["test", "--lib", "trans"],
            "`trans` means 2 tests",
            "\n    --cargo test --lib my-bank bank::transfer_twice",
        ),
        (
            &["test", "other", "transfer"],
            "there is no test program `other`",
            "my-bank::integration",
        ),
        (&["test", "--doc", "x"], "a doctest cannot be run by itself", "#[test] function"),
        (&["test", "--lib"], "no test is named, and there are 4", "my-bank bank::slow"),
        (&["bench"], "--cargo knows tests only", "unpick cargo build"),
        (
            &["test", "--bin", "missing", "x"],
            "the tests cannot be built",
            "unpick cargo test --bin missing --no-run",
        ),
    ];
    for (request, what, next) in refusals {
        let hunt = Scene::new().hunt(&["--runs", "1"], request);
        assert_eq!(hunt.code, Some(2), "{request:?}: {}", hunt.stderr);
        assert!(hunt.stderr.contains(what) && hunt.stderr.contains(next), "{}", hunt.stderr);
    }
}
