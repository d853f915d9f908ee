//! What `unpick hunt --json-lines` and `unpick runs --json` print is as `docs/schema` says.
//!
//! What must fail fails by an oracle, or by delays at half of all synchronisation, whatever the machine's timing.

mod schemas;

use std::process::Command;

use schemas::Schema;
use serde_json::{Value, json};
use tempfile::TempDir;

const UNPICK: &str = env!("CARGO_BIN_EXE_unpick");
const BANK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bank/bank.c");
/// With these the bank loses a coin in practically every run of 30 deposits; every fifth run of a hunt is without.
const STRONG: [&str; 6] = ["--delay-sync", "50%", "--delay-min", "50us", "--delay-max", "500us"];
/// Fails if its run has an odd number, which is the name of the folder the output is in.
const ODD_RUNS_FAIL: &str = r#"case "$UNPICK_STDOUT" in *[13579]/stdout) exit 1;; esac"#;

struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        scene.unpick(&["cc", "-g", "-pthread", BANK, "-o", "bank"], 0);
        scene
    }

    #[track_caller]
    fn unpick(&self, arguments: &[&str], code: i32) -> String {
        self.unpick_ends_with(arguments, &[code])
    }

    #[track_caller]
    fn unpick_ends_with(&self, arguments: &[&str], codes: &[i32]) -> String {
        let mut command = Command::new(UNPICK);
        command.args(arguments).current_dir(self.folder.path()).env_remove("UNPICK_CC");
        command.env("XDG_CACHE_HOME", self.folder.path().join("cache"));
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(codes.contains(&output.status.code().unwrap()), "{arguments:?}: {told}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn hunt(&self, options: &[&str], code: i32) -> String {
        self.unpick(&[&["hunt", "--json-lines"], options, &["--", "./bank", "30"]].concat(), code)
    }

    /// Runs that fail for no reason of the program's: whether an order goes with failing is luck.
    #[track_caller]
    fn hunt_odd_runs(&self, runs: &str) {
        let options = ["hunt", "--runs", runs, "--oracle", ODD_RUNS_FAIL, "--", "./bank", "1"];
        self.unpick_ends_with(&options, &[66, 67]);
    }
}

/// The lines, each of which must be as the schema says.
#[track_caller]
fn check(schema: &Schema, text: &str) -> Vec<Value> {
    let values = text.lines().map(|line| {
        let value = serde_json::from_str(line).unwrap();
        schema.assert_valid(&value);
        value
    });
    values.collect()
}

/// The value with one part of it changed.
fn with(mut value: Value, part: &str, other: Value) -> Value {
    value[part] = other;
    value
}

#[test]
fn lines_of_a_hunt_are_as_the_schema_says_however_it_ends() {
    let scene = Scene::new();
    let schema = Schema::named("hunt-lines.schema.json");
    let enough = ["--failing", "3", "--passing", "3", "--runs", "60"];
    let found = check(&schema, &scene.hunt(&[&enough[..], &STRONG].concat(), 66));
    let [first, .., end] = found.as_slice() else { panic!("a run and an end") };
    assert_eq!((&first["event"], &end["event"]), (&json!("run"), &json!("end")));
    assert!(end["findings"]["findings"][0].is_object());
    let none_failed = check(&schema, &scene.hunt(&["--runs", "2", "--oracle", "true"], 0));
    assert_eq!(none_failed.last().unwrap()["findings"], Value::Null);
    check(&schema, &scene.hunt(&["--runs", "2", "--oracle", "false"], 67));
    check(&schema, &scene.hunt(&["--oracle", "./no-such-oracle"], 70));

    for strange in [
        with(first.clone(), "label", json!("flaky")),
        with(first.clone(), "unheard_of", json!(1)),
        with(end.clone(), "exit_code", json!(1)),
        with(end.clone(), "findings", json!({ "schema": "unpick-findings/1" })),
    ] {
        assert!(!schema.accepts(&strange), "{strange}");
    }
}

#[test]
fn runs_are_as_the_schema_says_judged_or_not() {
    let scene = Scene::new();
    scene.unpick(&["record", "--quiet", "--", "./bank", "1"], 0);
    scene.hunt_odd_runs("2");
    scene.unpick(&["record", "--quiet", "--", "sh", "-c", "./bank 1; kill -9 $$"], 128 + 9);
    let schema = Schema::named("runs.schema.json");
    let runs = check(&schema, &scene.unpick(&["runs", "--json"], 0));
    let labels: Vec<_> = runs.iter().map(|run| run["label"].as_str()).collect();
    assert_eq!(labels, [None, Some("pass"), Some("fail"), None]);
    assert_eq!(runs[3]["outcome"], json!({ "signal": { "number": 9 } }));
    assert!(!schema.accepts(&with(runs[0].clone(), "hunt", json!(0))));

    let dump = Schema::named("dump.schema.json");
    check(&dump, &scene.unpick(&["dump", "--json", "2"], 0));
}
