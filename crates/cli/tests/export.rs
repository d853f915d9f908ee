//! `unpick export` and `unpick import` from the outside: what one machine exports another one shows, and nobody learns where it was.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use flate2::read::GzDecoder;
use tempfile::TempDir;

const UNPICK: &str = env!("CARGO_BIN_EXE_unpick");
const BANK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bank/bank.c");

/// A user's machine: a home with a project in it.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn new() -> Machine {
        let machine = Machine { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(machine.project()).unwrap();
        machine
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home-of-somebody")
    }

    fn project(&self) -> PathBuf {
        self.home().join("project-of-somebody")
    }

    fn unpick(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(UNPICK);
        command.args(arguments).current_dir(self.project()).env("HOME", self.home());
        command.env_remove("PWD").env("COLUMNS", "80").output().unwrap()
    }

    fn succeeds(&self, arguments: &[&str]) -> String {
        let output = self.unpick(arguments);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 66)), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What was exported by a machine that is gone, and what it had shown.
struct Exported {
    folder: TempDir,
    home: PathBuf,
    project: PathBuf,
    shown: String,
}

impl Exported {
    fn file(&self) -> PathBuf {
        self.folder.path().join("bank.unpick")
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.file()).unwrap()
    }
}

/// Half of all synchronisation is delayed, so that some of the runs fail; those without delays pass.
fn exported() -> &'static Exported {
    static EXPORTED: OnceLock<Exported> = OnceLock::new();
    EXPORTED.get_or_init(|| {
        let machine = Machine::new();
        let project = machine.project();
        fs::copy(BANK, project.join("bank.c")).unwrap();
        machine.succeeds(&["cc", "-g", "-O1", "-pthread", "bank.c", "-o", "bank"]);
        let program = project.join("bank").display().to_string();
        let rest = machine.home().join("notes.txt").display().to_string();
        machine.succeeds(&[
            "hunt",
            "--quiet",
            "--failing",
            "4",
            "--passing",
            "4",
            "--no-confirm",
            "--runs",
            "60",
            "--delay-sync",
            "50%",
            "--delay-min",
            "50us",
            "--delay-max",
            "500us",
            "--",
            &program,
            "30",
            &rest,
        ]);
        let shown = machine.succeeds(&["show"]);
        let folder = tempfile::tempdir().unwrap();
        let exported = Exported { folder, home: machine.home(), project, shown };
        let file = exported.file().display().to_string();
        machine.succeeds(&["export", &file]);
        let first = exported.bytes();
        machine.succeeds(&["export", &file]);
        assert!(first == exported.bytes(), "the same runs give another file");
        exported
    })
}

#[test]
fn exported_runs_are_shown_where_neither_program_nor_source_is() {
    let exported = exported();
    let other = Machine::new();
    other.succeeds(&["import", &exported.file().display().to_string()]);
    // What runs printed stays where it is; all else is the same.
    assert!(exported.shown.starts_with("Failures\n"), "{}", exported.shown);
    let shown = exported.shown.lines().skip_while(|line| !line.contains(" runs: "));
    let shown: String = shown.map(|line| format!("{line}\n")).collect();
    assert_eq!(other.succeeds(&["show"]), shown);
    let ranked = other.succeeds(&["rank", "--formula", "ochiai"]);
    for name in ["account.balance", "account.lock", "bank.c:30:19", "    into->balance = balance;"]
    {
        assert!(ranked.contains(name), "{name}: {ranked}");
    }
    let runs = other.succeeds(&["runs"]);
    assert!(
        runs.contains("--delay-sync 50%") && runs.contains("-- ./bank 30 '~/notes.txt'"),
        "{runs}"
    );
}

#[test]
fn imported_runs_can_be_exported_again() {
    let exported = exported();
    let other = Machine::new();
    other.succeeds(&["import", "--store", "bank", &exported.file().display().to_string()]);
    other.succeeds(&["export", "--store", "bank", "again.unpick"]);
    let again = fs::read(other.project().join("again.unpick")).unwrap();
    assert!(again == exported.bytes(), "it is another file");
}

#[test]
fn the_file_does_not_say_where_it_was_made() {
    let exported = exported();
    let packed = exported.bytes();
    let mut unpacked = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
    let secrets = [&exported.home, &exported.project, &std::env::temp_dir()];
    let real = secrets.map(|path| path.canonicalize().unwrap_or_else(|_| path.clone()));
    for secret in secrets.into_iter().chain(&real) {
        let secret = secret.to_str().unwrap().as_bytes();
        for bytes in [&packed, &unpacked] {
            let found = bytes.windows(secret.len()).any(|window| window == secret);
            assert!(!found, "{} is in it", text(secret));
        }
    }
    assert!(text(&unpacked).contains("into->balance = balance;"), "it was looked at");
}

#[test]
fn recordings_travel_only_if_asked_for() {
    let machine = Machine::new();
    fs::copy(BANK, machine.project().join("bank.c")).unwrap();
    machine.succeeds(&["cc", "-g", "-O1", "-pthread", "bank.c", "-o", "bank"]);
    machine.succeeds(&[
        "hunt",
        "--quiet",
        "--runs",
        "1",
        "--no-delays",
        "--fail-if",
        "exit = 9",
        "--",
        "./bank",
        "2",
    ]);
    for (option, recordings) in [("--store=.unpick", 0), ("--with-recordings", 1)] {
        machine.succeeds(&["export", option, "one.unpick"]);
        let store = format!("store-{recordings}");
        machine.succeeds(&["import", "--store", &store, "one.unpick"]);
        // Beside `run.json`, `patterns.bin` and `graphs.bin`.
        let run = machine.project().join(store).join("runs/0001");
        assert_eq!(entries(&run), 3 + recordings, "{option}");
    }
}

#[test]
fn a_store_that_is_not_empty_is_left_alone() {
    let other = Machine::new();
    let store = other.project().join(".unpick/runs/0001");
    fs::create_dir_all(&store).unwrap();
    let output = other.unpick(&["import", &exported().file().display().to_string()]);
    assert_eq!(output.status.code(), Some(2));
    let told = text(&output.stderr);
    assert!(
        told.contains("not empty") && told.contains("unpick import --store DIR FILE"),
        "{told}"
    );
    assert_eq!(entries(&store), 0);
}

#[test]
fn a_disk_that_is_full_in_the_middle_leaves_nothing_behind() {
    let other = Machine::new();
    let script = r#"ulimit -f 1; exec "$0" "$@""#;
    let output = Command::new("sh")
        .args(["-c", script, UNPICK, "import"])
        .arg(exported().file())
        .current_dir(other.project())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(70), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("nothing was imported"), "{}", text(&output.stderr));
    assert_eq!(entries(&other.project()), 0);
}

#[test]
fn what_cannot_be_written_is_not_exported_in_part() {
    let machine = Machine::new();
    let file = exported().file().display().to_string();
    machine.succeeds(&["import", &file]);
    let output = machine.unpick(&["export", "no/such/folder/x.unpick"]);
    assert_eq!(output.status.code(), Some(70));
    let script = r#"ulimit -f 1; exec "$0" "$@""#;
    let output = Command::new("sh")
        .args(["-c", script, UNPICK, "export", "x.unpick"])
        .current_dir(machine.project())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(70), "{}", text(&output.stderr));
    assert_eq!(entries(&machine.project()), 1, "only the store is there");
}

#[test]
fn what_is_imported_must_be_an_export() {
    let machine = Machine::new();
    fs::write(machine.project().join("notes.txt"), "no archive").unwrap();
    for (file, told) in
        [("notes.txt", "this is no file of exported runs"), ("none", "cannot be opened")]
    {
        let output = machine.unpick(&["import", file]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(told), "{}", text(&output.stderr));
    }
    assert_eq!(entries(&machine.project()), 1);
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}
