//! `unpick hunt`, `runs` and `rank` from the outside, on the bank of the README.
//!
//! What must fail fails by delays at half of all synchronisation, or by a condition that always holds; no test depends on
//! a rare order.

mod ran;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ran::Ran;
use serde_json::Value;
use tempfile::TempDir;

const UNPICK: &str = env!("CARGO_BIN_EXE_unpick");
const BANK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bank/bank.c");
/// With these the bank loses a coin in practically every run of 30 deposits.
const STRONG: [&str; 6] = ["--delay-sync", "50%", "--delay-min", "50us", "--delay-max", "500us"];

/// A folder with the bank, built by `unpick cc`.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        scene.build("bank", "-O1");
        scene
    }

    fn build(&self, name: &str, level: &str) {
        let arguments = ["cc", "-g", level, "-pthread", BANK, "-o", name];
        let built = self.command(&arguments).output().unwrap();
        assert!(built.status.success(), "{}", text(&built.stderr));
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(UNPICK);
        command.args(arguments);
        self.set_up(&mut command);
        command
    }

    fn set_up(&self, command: &mut Command) {
        command.current_dir(self.folder.path());
        command.env("XDG_CACHE_HOME", self.path("cache")).env_remove("UNPICK_CC");
    }

    fn unpick(&self, arguments: &[&str]) -> Ran {
        Ran::from(self.command(arguments).output().unwrap())
    }

    fn hunt(&self, options: &[&str], program: &[&str]) -> Ran {
        self.unpick(&[&["hunt"], options, &["--"], program].concat())
    }

    fn json(&self, file: &str) -> Value {
        serde_json::from_slice(&fs::read(self.path(file)).unwrap()).unwrap()
    }

    /// Every run as `unpick runs --json` tells it.
    fn runs(&self) -> Vec<Value> {
        let runs = self.unpick(&["runs", "--json"]);
        assert_eq!(runs.code, Some(0), "{}", runs.stderr);
        runs.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn files_with(folder: &Path, extension: &str) -> usize {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries.filter(|entry| entry.path().extension().is_some_and(|found| found == extension)).count()
}

#[test]
fn the_first_finding_names_the_balance_and_nothing_is_run_to_rank_again() {
    let scene = Scene::new();
    let options = ["--failing", "8", "--passing", "8", "--runs", "60", "--json", "found.json"];
    let hunt = scene.hunt(&[&options[..], &STRONG].concat(), &["./bank", "30"]);
    assert_eq!(hunt.code, Some(66), "{}{}", hunt.stdout, hunt.stderr);
    assert!(hunt.stdout.contains("Finding 1 of ") && hunt.stdout.contains("account.balance"));
    assert!(hunt.stderr.contains("failed without delays: "), "{}", hunt.stderr);
    assert!(hunt.stderr.contains("again: unpick record --seed "), "{}", hunt.stderr);

    let found = scene.json("found.json");
    assert_eq!(found, scene.json(".unpick/findings.json"));
    let first = &found["findings"][0];
    assert_eq!(first["accesses"][0]["variable"], "account.balance");
    assert_eq!(first["accesses"][0]["file"], BANK);

    let runs = scene.runs();
    assert_eq!(found["runs"]["total"], runs.len());
    let failing = runs.iter().find(|run| run["label"] == "fail").unwrap();
    assert_eq!(failing["why"], "exit 1");
    assert!(failing["repeat"].as_str().unwrap().ends_with(" -- ./bank 30"));

    for arguments in [["--formula", "ochiai"], ["--mode", "falcon"], ["--window", "8"]] {
        let rank = scene.unpick(&[&["rank"][..], &arguments].concat());
        assert_eq!(rank.code, Some(66), "{arguments:?}: {}", rank.stderr);
        assert!(rank.stdout.contains("account.balance"), "{arguments:?}: {}", rank.stdout);
    }
    assert_eq!(scene.runs().len(), runs.len());
}

#[test]
fn ignored_packages_are_kept_with_the_hunt_until_others_are_named() {
    let scene = Scene::new();
    let options = ["--failing", "8", "--passing", "8", "--runs", "60", "--no-confirm"];
    let ignored = ["--ignore-package", "examples/bank"];
    let hunt = scene.hunt(&[&options[..], &STRONG, &ignored].concat(), &["./bank", "30"]);
    assert_eq!(hunt.code, Some(67), "{}{}", hunt.stdout, hunt.stderr);
    let sentence = "all in ignored packages (examples/bank).";
    assert!(hunt.stdout.contains(sentence), "{}", hunt.stdout);
    let found = scene.json(".unpick/findings.json");
    assert_eq!(found["packages"]["ignored"], serde_json::json!(["examples/bank"]));
    assert!(found["packages"]["left_out"].as_u64().unwrap() > 0);
    assert_eq!(found["findings"], serde_json::json!([]));

    let again = scene.unpick(&["rank"]);
    assert_eq!((again.code, again.stdout.contains(sentence)), (Some(67), true), "{}", again.stdout);
    let shown = scene.unpick(&["show"]);
    assert!(shown.stdout.contains(sentence), "{}", shown.stdout);
    let others = scene.unpick(&["rank", "--own-package", "tokio"]);
    assert_eq!(others.code, Some(66), "{}", others.stdout);
    assert!(others.stdout.contains("account.balance") && !others.stdout.contains("Not reported"));
    assert_eq!(scene.unpick(&["rank", "--ignore-package", "./"]).code, Some(2));
}

#[test]
fn a_hunt_without_a_failing_run_is_no_finding() {
    let scene = Scene::new();
    let hunt = scene.hunt(&["--runs", "3", "--fail-if", "exit = 99"], &["./bank", "1"]);
    assert_eq!(hunt.code, Some(0), "{}", hunt.stderr);
    assert!(hunt.stderr.contains("3 runs: 0 failed, 3 passed"), "{}", hunt.stderr);
    assert!(hunt.stderr.contains("next: give it more time"), "{}", hunt.stderr);
}

#[test]
fn where_every_run_fails_a_passing_one_is_asked_for() {
    let scene = Scene::new();
    let options = ["--runs", "4", "--fail-if", "stdout ~ /^paid in: \\d+/"];
    let hunt = scene.hunt(&options, &["./bank", "1"]);
    assert_eq!(hunt.code, Some(67), "{}", hunt.stderr);
    assert!(hunt.stderr.contains("every run failed"), "{}", hunt.stderr);
    let next = r"unpick hunt --fail-if 'stdout ~ /^paid in: \d+/' --no-delays -- ./bank 1";
    assert!(hunt.stderr.contains(next), "{}", hunt.stderr);
    assert_eq!(scene.runs()[0]["why"], r"standard output has /^paid in: \d+/");
}

#[test]
fn a_program_that_leaves_its_folder_is_recorded_and_one_that_signals_its_group_ends_only_itself() {
    let scene = Scene::new();
    let script = "bank=$PWD/bank; cd / && $bank 1; true";
    let left = scene.hunt(&["--runs", "2", "--quiet"], &["sh", "-c", script]);
    assert_eq!(left.code, Some(0), "{}", left.stderr);
    assert!(left.stderr.contains("2 runs: 0 failed, 2 passed"), "{}", left.stderr);
    assert_eq!(files_with(&scene.path(".unpick/runs/0001"), "events"), 1);

    let signals = scene.hunt(&["--runs", "2", "--quiet"], &["sh", "-c", "./bank 1; kill -TERM 0"]);
    assert_eq!(signals.code, Some(67), "{}", signals.stderr);
    assert!(signals.stderr.contains("2 runs: 2 failed, 0 passed"), "{}", signals.stderr);
}

#[test]
fn a_run_that_hangs_has_failed() {
    let scene = Scene::new();
    let options = ["--timeout", "3s", "--runs", "1", "--fail-if", "exit = 99"];
    let hunt = scene.hunt(&options, &["sh", "-c", "./bank 1; sleep 1000"]);
    assert_eq!(hunt.code, Some(67), "{}", hunt.stderr);
    assert_eq!(scene.runs()[0]["why"], "did not end within 3 s");
}

#[test]
fn a_hunt_without_runs_is_refused() {
    let scene = Scene::new();
    let hunt = scene.hunt(&["--runs", "0"], &["./bank", "1"]);
    assert_eq!(hunt.code, Some(2), "{}", hunt.stderr);
    assert!(hunt.stderr.contains("--runs") && !scene.path(".unpick").exists(), "{}", hunt.stderr);
}

#[test]
fn every_run_reads_the_file_that_is_given_as_its_input() {
    let scene = Scene::new();
    fs::write(scene.path("words.txt"), "first\nsecond\n").unwrap();
    let program = ["sh", "-c", "./bank 1; cat; echo end"];
    let options = ["--runs", "2", "--no-delays", "--stdin", "words.txt", "--fail-if", "exit = 99"];
    let hunt = scene.hunt(&options, &program);
    assert_eq!(hunt.code, Some(0), "{}", hunt.stderr);
    assert!(hunt.stderr.contains(" --stdin words.txt "), "{}", hunt.stderr);
    for run in ["0001", "0002"] {
        let printed = fs::read_to_string(scene.path(".unpick/runs").join(run).join("stdout"));
        assert!(printed.unwrap().ends_with("first\nsecond\nend\n"));
    }
    let words = scene.path("words.txt").canonicalize().unwrap();
    assert_eq!(scene.json(".unpick/runs/0001/run.json")["stdin"], words.to_str().unwrap());
    let repeat = scene.runs()[0]["repeat"].as_str().unwrap().to_owned();
    assert!(repeat.contains(&format!(" --stdin {} -- sh ", words.display())), "{repeat}");

    let record = [&["record", "--stdin", "words.txt", "--"][..], &program].concat();
    let recorded = scene.unpick(&record);
    assert!(recorded.stdout.ends_with("first\nsecond\nend\n"), "{}", recorded.stdout);
    let missing = scene.hunt(&["--stdin", "no-such-file"], &program);
    assert_eq!(missing.code, Some(2), "{}", missing.stderr);
    assert!(missing.stderr.contains("standard input cannot be read"), "{}", missing.stderr);
}

#[test]
fn a_process_that_never_began_to_record_does_not_spoil_its_run() {
    let scene = Scene::new();
    let script = "./bank 1; head -c 9000 /dev/zero > \"$UNPICK_RUN_DIR/1-0.events\"";
    let options = ["--runs", "1", "--no-delays", "--fail-if", "exit = 99"];
    let hunt = scene.hunt(&options, &["sh", "-c", script]);
    assert_eq!(hunt.code, Some(0), "{}", hunt.stderr);
    assert!(hunt.stderr.contains("1 run: 0 failed, 1 passed"), "{}", hunt.stderr);
}

#[test]
fn an_oracle_that_cannot_be_run_makes_runs_unusable_not_failing() {
    let scene = Scene::new();
    let hunt = scene.hunt(&["--oracle", "./no-such-oracle"], &["./bank", "1"]);
    assert_eq!(hunt.code, Some(70), "{}", hunt.stderr);
    assert!(hunt.stderr.contains("no run can be used"), "{}", hunt.stderr);
    assert!(scene.runs().iter().all(|run| run["label"] == "unusable"));
}

#[test]
fn what_cannot_be_hunted_is_told_at_once() {
    let scene = Scene::new();
    let hunts = [
        (scene.hunt(&[], &["./missing"]), "there is no such file"),
        (scene.hunt(&[], &["true"]), "nothing was recorded"),
        (scene.hunt(&["--fail-if", "stdout = x"], &["./bank"]), "expected 'stdout ~ /RE/'"),
        (scene.hunt(&["--json", "-", "--json-lines"], &["./bank"]), "want standard output"),
    ];
    for (hunt, expected) in hunts {
        assert_eq!(hunt.code, Some(2), "{}", hunt.stderr);
        assert!(hunt.stderr.contains(expected), "{}", hunt.stderr);
    }
    assert_eq!(scene.unpick(&["runs"]).code, Some(2));
    assert_eq!(scene.unpick(&["rank"]).code, Some(2));
}

#[test]
fn without_recordings_patterns_and_graphs_remain() {
    let scene = Scene::new();
    let options = ["--failing", "2", "--passing", "2", "--runs", "20", "--keep", "none"];
    let hunt = scene.hunt(&[&options[..], &STRONG].concat(), &["./bank", "30"]);
    assert_eq!(hunt.code, Some(66), "{}", hunt.stderr);
    let run = scene.path(".unpick/runs/0001");
    assert_eq!((files_with(&run, "events"), files_with(&run, "bin")), (0, 2));
    assert_eq!(scene.unpick(&["rank"]).code, Some(66));
    let rank = scene.unpick(&["rank", "--mode", "falcon"]);
    assert_eq!(rank.code, Some(2));
    assert!(rank.stderr.contains("recordings were not kept"), "{}", rank.stderr);
}

#[test]
fn runs_of_two_builds_are_not_mixed() {
    let scene = Scene::new();
    scene.build("other", "-O0");
    let hunt = scene.hunt(&["--oracle", "cp other bank", "--runs", "5"], &["./bank", "5"]);
    assert_eq!(hunt.code, Some(2), "{}", hunt.stderr);
    assert!(hunt.stderr.contains("run 2 is of another build"), "{}", hunt.stderr);
    assert_eq!(scene.runs()[1]["label"], "unusable");
}

#[test]
fn a_hunt_is_resumed_with_the_runs_it_has() {
    let scene = Scene::new();
    let options = ["--no-delays", "--fail-if", "exit = 99", "--runs"];
    let hunt = scene.hunt(&[&options[..], &["3"]].concat(), &["./bank", "1"]);
    assert_eq!(hunt.code, Some(0), "{}", hunt.stderr);
    let hunt = scene.hunt(&[&options[..], &["2", "--resume"]].concat(), &["./bank", "1"]);
    assert!(hunt.stderr.contains("5 runs: 0 failed, 5 passed"), "{}", hunt.stderr);
    assert!(scene.runs().iter().all(|run| run["hunt"] == 1));
    let other = scene.hunt(&["--resume", "--runs", "2"], &["./bank", "2"]);
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("it ran another command"), "{}", other.stderr);
}

#[test]
fn two_hunts_at_once_share_a_store() {
    let scene = Scene::new();
    let hunt = |deposits: &str| {
        let arguments = ["hunt", "--runs", "5", "--fail-if", "exit = 99", "--", "./bank", deposits];
        let mut command = scene.command(&arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut hunts = [hunt("1"), hunt("2")];
    assert!(hunts.iter_mut().all(|hunt| hunt.wait().unwrap().success()));
    let runs = scene.runs();
    for deposits in ["1", "2"] {
        let own: Vec<_> = runs.iter().filter(|run| run["command"][1] == deposits).collect();
        assert_eq!(own.len(), 5);
        assert!(own.iter().all(|run| run["hunt"] == own[0]["run"]));
    }
}

#[test]
fn a_disk_that_is_full_in_the_middle_ends_a_hunt_with_the_runs_it_has() {
    let scene = Scene::new();
    // As if there were no room: the patterns of the third run cannot take their place.
    let oracle =
        r#"[ -e .unpick/runs/0003 ] && mkdir "$(dirname "$UNPICK_STDOUT")/patterns.bin"; true"#;
    let hunt = scene.hunt(&["--runs", "6", "--oracle", oracle], &["./bank", "1"]);
    assert_eq!(hunt.code, Some(70), "{}", hunt.stderr);
    assert!(hunt.stderr.contains("what was found in a run cannot be stored"), "{}", hunt.stderr);
    let unfinished = files_with(&scene.path(".unpick/runs/0003"), "unfinished");
    assert_eq!((scene.runs().len(), unfinished), (3, 0));
    // Its recording is there: nothing is lost.
    assert_eq!(scene.unpick(&["rank"]).code, Some(0));
}

/// A hunt of one run that goes on until there is a file `go`: its oracle waits for it.
fn live_hunt(scene: &Scene) -> Child {
    let oracle = "touch judging; until [ -e go ]; do sleep 0.02; done";
    let arguments = ["hunt", "--quiet", "--runs", "1", "--oracle", oracle, "--", "./bank", "1"];
    let hunt = scene.command(&arguments).stderr(Stdio::null()).spawn().unwrap();
    while !scene.path("judging").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    hunt
}

#[test]
fn what_a_live_hunt_writes_is_not_removed() {
    let scene = Scene::new();
    let mut hunt = live_hunt(&scene);
    let clean = scene.unpick(&["clean", "--runs", "0"]);
    assert_eq!(clean.code, Some(2), "{}", clean.stderr);
    assert!(clean.stderr.contains("the store is in use"), "{}", clean.stderr);
    let options = ["--runs", "1", "--keep-bytes", "0", "--fail-if", "exit = 99"];
    assert_eq!(scene.hunt(&options, &["./bank", "2"]).code, Some(0));
    assert_eq!(files_with(&scene.path(".unpick/runs/0001"), "events"), 1);
    fs::write(scene.path("go"), "").unwrap();
    assert!(hunt.wait().unwrap().success());
    assert_eq!(scene.runs().len(), 2);

    let planned = scene.unpick(&["clean", "--hunts", "1", "--dry-run"]);
    assert!(planned.stdout.starts_with("hunt 1: 1 run, "), "{}", planned.stdout);
    assert_eq!(scene.runs().len(), 2);
    let clean = scene.unpick(&["clean", "--hunts", "1"]);
    assert_eq!(clean.code, Some(0), "{}", clean.stderr);
    assert_eq!(scene.runs().len(), 1);
    let clean = scene.unpick(&["clean", "--older-than", "1h"]);
    assert_eq!(clean.stdout, "nothing has to go\n");
    assert_eq!(scene.unpick(&["clean"]).code, Some(2), "it must be told what to remove");
}

#[test]
fn a_hunt_drops_recordings_of_earlier_hunts_but_not_of_the_last() {
    let scene = Scene::new();
    let hunt = |keep: &str| {
        let options = ["--runs", "1", "--keep-bytes", keep, "--fail-if", "exit = 99"];
        let hunt = scene.hunt(&options, &["./bank", "1"]);
        assert_eq!(hunt.code, Some(0), "{}", hunt.stderr);
        hunt.stderr
    };
    hunt("1GiB");
    hunt("0");
    let told = hunt("0");
    assert!(told.contains("unpick: recordings of hunt 1: 1 run, "), "{told}");
    let recordings = |run: &str| files_with(&scene.path(".unpick/runs").join(run), "events");
    assert_eq!(["0001", "0002", "0003"].map(recordings), [0, 1, 1]);
    assert_eq!(files_with(&scene.path(".unpick/runs/0001"), "bin"), 2);
}

#[test]
fn an_interrupted_hunt_tells_what_it_has() {
    let scene = Scene::new();
    let arguments =
        ["hunt", "--json-lines", "--time", "1h", "--fail-if", "exit = 99", "--", "./bank", "1"];
    // Whoever started the tests in the background has made them ignore SIGINT.
    let mut command = Command::new("env");
    command.args(["--default-signal=INT", UNPICK]).args(arguments);
    scene.set_up(&mut command);
    let mut hunt = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(hunt.stdout.take().unwrap()).lines();
    let first: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    assert_eq!((&first["event"], &first["label"]), (&Value::from("run"), &Value::from("pass")));
    let interrupt = format!("kill -INT {}", hunt.id());
    assert!(Command::new("sh").args(["-c", &interrupt]).status().unwrap().success());
    let last = lines.map(|line| line.unwrap()).last().unwrap();
    let last: Value = serde_json::from_str(&last).unwrap();
    assert_eq!((&last["event"], &last["exit_code"]), (&Value::from("end"), &Value::from(130)));
    assert!(last["why"].as_str().unwrap().ends_with("interrupted"));
    assert_eq!(hunt.wait().unwrap().code(), Some(130));
}

#[test]
fn much_output_is_cut_in_the_middle() {
    let scene = Scene::new();
    let script = "head -c 50000000 /dev/zero; ./bank 1";
    let options = ["--runs", "1", "--fail-if", "stdout ~ /paid in: 2, /", "--quiet"];
    let hunt = scene.hunt(&options, &["sh", "-c", script]);
    // The line with the bank's words begins with more zeros than are looked through.
    assert_eq!(hunt.code, Some(0), "{}", hunt.stderr);
    let kept = fs::read(scene.path(".unpick/runs/0001/stdout")).unwrap();
    assert!(kept.len() < 3 << 20, "{}", kept.len());
    assert!(text(&kept[kept.len() - 100..]).contains("paid in: 2, in the account: "));
}

#[test]
fn jobs_at_once_can_have_folders_of_their_own() {
    let scene = Scene::new();
    let bank = scene.path("bank");
    let script = format!("mkdir only || exit 9; {} 1", bank.display());
    let options = ["--jobs", "2", "--own-folder", "--runs", "5", "--fail-if", "exit = 9"];
    let hunt = scene.hunt(&options, &["sh", "-c", &script]);
    assert_eq!(hunt.code, Some(0), "{}", hunt.stderr);
    let runs = scene.runs();
    assert_eq!(runs.len(), 5);
    assert!(runs.iter().all(|run| run["label"] == "pass" && run["hunt"] == 1), "{runs:?}");
    assert!(!scene.path("only").exists() && !scene.path(".unpick/runs/0001/work").exists());

    let hunt = scene.hunt(&["--own-folder", "--runs", "1", "--oracle", "false"], &["./bank", "1"]);
    assert_eq!(hunt.code, Some(67), "{}", hunt.stderr);
    assert!(scene.path(".unpick/runs/0006/work").is_dir());
}

#[test]
fn later_runs_delay_sites_at_which_earlier_runs_communicated() {
    let scene = Scene::new();
    let hunted = scene.hunt(&["--runs", "2", "--no-confirm"], &["./bank", "30"]);
    assert!([Some(0), Some(66), Some(67)].contains(&hunted.code), "{}", hunted.stderr);
    let runs = scene.runs();
    let targets = |run: &Value| run["options"]["delay_targets"].as_u64();
    assert_eq!(runs.iter().map(targets).collect::<Vec<_>>(), [Some(0), Some(3)]);
    let folder = scene.path(".unpick/runs/0002");
    assert!(folder.join("delay-plan").exists() && files_with(&folder, "outcome") == 1);
    let again = runs[1]["repeat"].as_str().unwrap();
    assert!(again.starts_with("UNPICK_SCHEDULE=") && again.contains("0002/delay-plan"), "{again}");
}
