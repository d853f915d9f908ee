//! Hunts of a store: each keeps its findings; what failing runs said; single runs; stores that are damaged or not there.
//!
//! Whether a run fails is decided by its number, through an oracle or a file of the store: nothing depends on the machine's timing.

mod ran;
mod schemas;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use ran::Ran;
use schemas::assert_valid;
use serde_json::{Value, json};
use tempfile::TempDir;

const BANK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bank/bank.c");
const TURNS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/reproduce/bank.c");
/// Fails if its run has an odd number, which is the name of the folder the output is in.
const ODD_RUNS_FAIL: &str = r#"case "$UNPICK_STDOUT" in *[13579]/stdout) exit 1;; esac"#;

struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        scene.unpick(&["cc", "-g", "-pthread", "-DFIXED", BANK, "-o", "bank"], &[0]);
        scene
    }

    #[track_caller]
    fn unpick(&self, arguments: &[&str], codes: &[i32]) -> Ran {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
        command.args(arguments).current_dir(self.folder.path()).env_remove("UNPICK_CC");
        let ran = Ran::from(command.stdin(Stdio::null()).output().unwrap());
        let code = ran.code.unwrap();
        assert!(codes.contains(&code), "{arguments:?}: {code}\n{}{}", ran.stdout, ran.stderr);
        ran
    }

    /// Four runs of which two fail, for no reason of the program's: whether an order goes with failing is luck.
    #[track_caller]
    fn hunt_odd_runs(&self, program: &[&str]) -> Ran {
        let hunt = ["hunt", "--runs", "4", "--no-delays", "--no-confirm", "--quiet"];
        let judged = ["--oracle", ODD_RUNS_FAIL, "--"];
        self.unpick(&[&hunt[..], &judged, program].concat(), &[66, 67])
    }

    #[track_caller]
    fn hunt_that_passes(&self) -> Ran {
        let hunt = ["hunt", "--runs", "2", "--no-delays", "--no-active", "--quiet"];
        self.unpick(&[&hunt[..], &["--oracle", "true", "--", "./bank", "1"]].concat(), &[0])
    }

    fn findings(&self, arguments: &[&str]) -> Value {
        let shown = self.unpick(&[&["show", "--json", "-"], arguments].concat(), &[0]);
        let value = serde_json::from_str(&shown.stdout).unwrap();
        assert_valid(&value, "findings.schema.json");
        value
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_hunt_keeps_its_findings_and_a_passing_one_hides_none() {
    let scene = Scene::new();
    scene.hunt_odd_runs(&["./bank", "1"]);
    let first = scene.findings(&[]);
    assert_eq!((&first["hunt"], &first["runs"]["failed"]), (&json!(1), &json!(2)));
    scene.hunt_that_passes();
    assert_eq!(scene.findings(&[]), first);
    let shown = scene.unpick(&["show"], &[0]).stdout;
    assert!(shown.ends_with("1 later hunt: unpick hunts\n"), "{shown}");

    scene.hunt_odd_runs(&["./bank", "2"]);
    assert_eq!(scene.findings(&[])["hunt"], 7);
    assert_eq!(scene.findings(&["--hunt", "1"]), first);
    let shown = scene.unpick(&["show"], &[0]).stdout;
    assert!(shown.ends_with("2 earlier hunts: unpick hunts\n"), "{shown}");

    let listed = scene.unpick(&["hunts"], &[0]).stdout;
    assert!(
        listed.contains("hunt 1, just now: ./bank 1\n    4 runs: 2 failed, 2 passed; "),
        "{listed}"
    );
    assert!(
        listed.contains(
            "hunt 5, just now: ./bank 1\n    2 runs: 0 failed, 2 passed; nothing failed\n"
        ),
        "{listed}"
    );
    assert!(listed.contains("hunt 7, just now: ./bank 2\n"), "{listed}");
    let listed = lines(&scene.unpick(&["hunts", "--json"], &[0]).stdout);
    listed.iter().for_each(|hunt| assert_valid(hunt, "hunts.schema.json"));
    assert_eq!(listed.iter().map(|hunt| &hunt["hunt"]).collect::<Vec<_>>(), [1, 5, 7]);

    let none = scene.unpick(&["show", "--hunt", "5"], &[2]).stderr;
    assert!(none.contains("error: no findings of hunt 5 were kept"), "{none}");
    let none = scene.unpick(&["show", "--hunt", "3"], &[2]).stderr;
    assert!(none.contains("error: there is no hunt 3") && none.contains("1, 5, 7"), "{none}");

    scene.unpick(&["clean", "--hunts", "1"], &[0]);
    assert!(!scene.path(".unpick/hunts/1").exists() && scene.path(".unpick/hunts/7").exists());
}

/// Its runs take turns at failing and passing while `TURNS` is set.
fn hunt_turns(scene: &Scene) {
    let build = ["cc", "-g", "-O1", "-pthread", TURNS, "-o", "tellers"];
    scene.unpick(&build, &[0]);
    let hunt = ["hunt", "--no-delays", "--no-confirm", "--quiet", "--runs", "20"];
    let mut command = ran::command(scene.folder.path(), &hunt);
    command.args(["--failing", "3", "--passing", "3", "--", "./tellers"]).env("TURNS", "yes");
    let ran = Ran::from(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!(ran.code, Some(66), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn ranking_a_hunt_again_keeps_its_verdicts_and_their_order() {
    let scene = Scene::new();
    hunt_turns(&scene);
    let kept = scene.path(".unpick/hunts/1/findings.json");
    let mut findings: Value = serde_json::from_str(&fs::read_to_string(&kept).unwrap()).unwrap();
    let confirmed = json!({
        "forced_runs": 5, "forced_hits": 5, "forced_failures": 5, "inverse_runs": 5, "inverse_hits": 5,
        "inverse_failures": 0, "baseline_runs": 5, "baseline_failures": 0, "verdict": "likely"
    });
    let all = findings["findings"].as_array_mut().unwrap();
    all[0]["confirmed"] = confirmed.clone();
    let expected: Vec<Value> = all.iter().map(|finding| finding["accesses"].clone()).collect();
    fs::write(&kept, findings.to_string()).unwrap();
    scene.hunt_odd_runs(&["./bank", "1"]);
    let ranked = scene.unpick(&["rank", "--hunt", "1", "--json", "-"], &[66]).stdout;
    let ranked: Value = serde_json::from_str(&ranked).unwrap();
    let ranked = ranked["findings"].as_array().unwrap();
    assert_eq!(ranked[0]["confirmed"], confirmed);
    assert_eq!(
        ranked.iter().map(|finding| finding["accesses"].clone()).collect::<Vec<_>>(),
        expected
    );
    let listed = lines(&scene.unpick(&["hunts", "--json"], &[0]).stdout);
    assert_eq!(listed[0]["verdict"], "likely");
}

#[test]
fn an_earlier_hunt_is_reproduced_with_its_own_program() {
    let scene = Scene::new();
    hunt_turns(&scene);
    scene.hunt_odd_runs(&["./bank", "1"]);
    let forced = scene.unpick(&["reproduce", "--hunt", "1", "1", "--runs", "2", "--quiet"], &[66]);
    assert!(forced.stdout.contains("finding 1, its order forced"), "{}", forced.stdout);
    assert!(forced.stdout.contains("unpick pin --hunt 1 1"), "{}", forced.stdout);
    let pinned = scene.unpick(&["pin", "--hunt", "1", "1"], &[0]).stdout;
    assert!(pinned.contains("program = \"./tellers\"\n"), "{pinned}");
}

#[test]
fn a_store_of_an_earlier_version_is_understood() {
    let scene = Scene::new();
    scene.hunt_odd_runs(&["./bank", "1"]);
    let mut findings = scene.findings(&[]);
    findings.as_object_mut().unwrap().retain(|key, _| key != "hunt" && key != "failures");
    fs::write(scene.path(".unpick/findings.json"), findings.to_string()).unwrap();
    fs::remove_dir_all(scene.path(".unpick/hunts")).unwrap();
    assert_eq!(scene.findings(&[]), findings);
    assert_eq!(scene.findings(&["--hunt", "1"]), findings);
    scene.unpick(&["hunts"], &[0]);
}

/// A program that fails in every run, in three ways, by the number of its run.
const SCRIPT: &str = r#"#!/bin/sh
./bank 1 > /dev/null
run=$(ls .unpick/runs | sort | tail -n 1)
case $run in
    *3) kill -SEGV $$ ;;
    *) printf 'starting\n\033[31mlost job %s\033[0m \007of /tmp/%s/spool\n' "$run" "$run" >&2; exit 7 ;;
esac
"#;

fn write_script(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let file = folder.join("fails.sh");
    fs::write(&file, SCRIPT).unwrap();
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn failures_are_told_in_the_words_of_the_runs() {
    let scene = Scene::new();
    write_script(scene.folder.path());
    let hunt =
        ["hunt", "--runs", "5", "--no-delays", "--no-confirm", "--quiet", "--", "./fails.sh"];
    let hunted = scene.unpick(&hunt, &[67]);
    let kinds = "4 × \"lost job N \u{fffd}of spool\", exit code 7; 1 × SIGSEGV";
    assert!(hunted.stderr.contains(&format!("unpick: failures: {kinds}\n")), "{}", hunted.stderr);
    let words = [
        "run 1 (exit code 7) on standard error (unpick show --run 1):\n",
        "  | starting\n  | lost job 0001 \u{fffd}of /tmp/0001/spool\n",
    ];
    for text in [&hunted.stdout, &scene.unpick(&["show"], &[0]).stdout] {
        assert!(words.iter().all(|words| text.contains(words)), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{7}']), "{text:?}");
    }
    let failures = &scene.findings(&[])["failures"];
    assert_eq!(failures[0]["failed_runs"], 4);
    assert_eq!(failures[0]["output"][0], "starting");
    let segmentation_fault =
        json!({ "message": null, "ending": "SIGSEGV", "failed_runs": 1, "example_run": 3 });
    assert_eq!(failures[1], segmentation_fault);
}

#[test]
fn every_run_can_be_looked_at() {
    let scene = Scene::new();
    scene.hunt_odd_runs(&["./bank", "1"]);
    for (run, label) in [("1", "fail"), ("2", "pass")] {
        let shown = scene.unpick(&["show", "--run", run], &[0]).stdout;
        let head = format!("Run {run} of hunt 1: {label}, exit code 0\n");
        assert!(shown.starts_with(&head), "{shown}");
        let words = [
            "| paid in: 2, in the account: 2\n",
            "delays   none\n",
            "unpick record --seed ",
            "nothing on standard error",
        ];
        assert!(words.iter().all(|words| shown.contains(words)), "{shown}");
        let shown = scene.unpick(&["show", "--run", run, "--json", "-"], &[0]).stdout;
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_valid(&shown, "runs.schema.json");
        assert_eq!(shown["output"]["stdout"], json!(["paid in: 2, in the account: 2"]));
    }
    scene.unpick(&["record", "--quiet", "--", "./bank", "1"], &[0]);
    let recorded = scene.unpick(&["show", "--run", "5"], &[0]).stdout;
    assert!(recorded.starts_with("Run 5: not judged, exit code 0\n"), "{recorded}");
    assert!(recorded.contains("standard output was not kept"), "{recorded}");
    scene.unpick(&["show", "--run", "99"], &[2]);
}

#[test]
fn rates_without_and_with_delays_count_every_run() {
    let scene = Scene::new();
    let hunt = [
        "hunt",
        "--json-lines",
        "--runs",
        "20",
        "--failing",
        "3",
        "--passing",
        "30",
        "--no-confirm",
    ];
    let told = scene.unpick(
        &[&hunt[..], &["--oracle", ODD_RUNS_FAIL, "--", "./bank", "1"]].concat(),
        &[66, 67],
    );
    let end = lines(&told.stdout).pop().unwrap();
    let sum = |what: &str| {
        end["without_delays"][what].as_u64().unwrap() + end["with_delays"][what].as_u64().unwrap()
    };
    assert_eq!((sum("runs"), sum("failed")), (20, 10), "{end}");
}

#[test]
fn a_damaged_run_is_left_out_and_named() {
    let scene = Scene::new();
    scene.hunt_odd_runs(&["./bank", "1"]);
    fs::write(scene.path(".unpick/runs/0003/run.json"), "{").unwrap();
    for (verb, codes) in [("runs", &[0][..]), ("hunts", &[0]), ("rank", &[66, 67])] {
        let ran = scene.unpick(&[verb], codes);
        let words = "unpick: a run is left out: ";
        assert!(
            ran.stderr.contains(words) && ran.stderr.contains("0003/run.json"),
            "{}",
            ran.stderr
        );
    }
    let listed = lines(&scene.unpick(&["runs", "--json"], &[0]).stdout);
    assert_eq!(listed.iter().map(|run| &run["run"]).collect::<Vec<_>>(), [1, 2, 4]);
}

#[test]
fn a_store_is_marked_and_a_file_is_no_store() {
    let scene = Scene::new();
    scene.unpick(&["record", "--quiet", "--", "./bank", "1"], &[0]);
    assert_eq!(fs::read_to_string(scene.path(".unpick/.gitignore")).unwrap(), "*\n");
    assert!(scene.path(".unpick/CACHEDIR.TAG").exists());
    fs::write(scene.path("notes.txt"), "mine").unwrap();
    for verb in
        [&["hunt", "--store", "notes.txt", "--", "./bank"][..], &["show", "--store", "notes.txt"]]
    {
        let refused = scene.unpick(verb, &[2]);
        let words =
            "error: invalid value 'notes.txt' for '--store <DIR>': it is a file, not a directory\n";
        assert!(refused.stderr.starts_with(words), "{}", refused.stderr);
    }
    assert_eq!(fs::read_to_string(scene.path("notes.txt")).unwrap(), "mine");
}

#[test]
fn an_empty_store_is_told_alike_by_all() {
    let scene = Scene { folder: tempfile::tempdir().unwrap() };
    for verb in ["show", "reproduce", "confirm", "pin"] {
        let told = scene.unpick(&[verb], &[2]).stderr;
        assert!(told.contains("error: there are no findings yet\n"), "{verb}: {told}");
        assert!(told.contains("unpick hunt -- PROGRAM") && told.contains("--store DIR"), "{told}");
    }
    for verb in [&["rank"][..], &["export", "bank.unpick"], &["hunts"], &["reconstruct"]] {
        let told = scene.unpick(verb, &[2]).stderr;
        assert!(told.contains("error: there are no hunts yet\n"), "{verb:?}: {told}");
        assert!(told.contains("unpick hunt -- PROGRAM") && told.contains("--store DIR"), "{told}");
    }
    assert!(!scene.path("bank.unpick").exists());
}

#[test]
fn options_in_the_wrong_place_are_told() {
    let scene = Scene::new();
    let hunt = ["hunt", "--runs", "1", "--no-active", "--", "./bank", "1", "--time", "5s"];
    let told = scene.unpick(&hunt, &[0]).stderr;
    assert!(told.starts_with("unpick: --time 5s is passed to the program"), "{told}");
    let told = scene.unpick(&["hunt", "--cargo", "test", "transfer", "--time", "2m"], &[2]).stderr;
    assert!(told.contains("put --time before --cargo"), "{told}");
}
