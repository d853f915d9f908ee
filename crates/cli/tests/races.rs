//! `unpick races` from the outside, with a program that races or not as it is told.

mod races_scene;
mod ran;
mod schemas;

use std::fs;

use races_scene::{Scene, ran};
use schemas::assert_valid;
use serde_json::{Value, json};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/races/account.c");
const TOTALS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/races/totals.c");

const DAEMON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/races/daemon.c");

fn account() -> Scene {
    Scene::with(SOURCE)
}

fn line_of_the_race() -> usize {
    let source = fs::read_to_string(SOURCE).unwrap();
    source.lines().position(|line| line.contains("the line of the race")).unwrap() + 1
}

#[test]
fn a_forgotten_lock_is_found_by_both_detectors_and_explained() {
    let scene = account();
    let (code, report) = scene.races(&[], "racy");
    assert_eq!(code, Some(66));
    let race = &report["races"][0];
    assert_eq!(race["detectors"], json!(["happens-before", "lockset"]));
    let lines: Vec<_> =
        race["accesses"].as_array().unwrap().iter().map(|one| &one["line"]).collect();
    assert!(lines.contains(&&json!(line_of_the_race())), "{lines:?}");
    let locks: Vec<usize> = race["accesses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|access| access["locks"].as_array().unwrap().len())
        .collect();
    assert!(locks == [0, 1] || locks == [1, 0], "one of them held the lock: {locks:?}");
    assert!(race["allocated_at"]["line"].is_number());

    let told = scene.unpick(&["races", "--explain", "1"]);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    for part in ["nothing orders the two", "Locks held", "Why nothing orders them", "account.lock"]
    {
        assert!(told.stdout.contains(part), "{part}: {}", told.stdout);
    }
}

#[test]
fn what_locks_or_joins_order_is_no_race() {
    let scene = account();
    for mode in ["locked", "joined"] {
        let (code, report) = scene.races(&["--runs", "2"], mode);
        assert_eq!((code, &report["races"]), (Some(0), &json!([])), "{mode}");
        assert_eq!(report["runs"], json!(2));
    }
}

#[test]
fn the_last_full_run_is_looked_at_where_no_program_is_named() {
    let scene = account();
    let empty = scene.unpick(&["races"]);
    assert_eq!(empty.code, Some(2));
    assert!(empty.stderr.contains("no full run"), "{}", empty.stderr);

    assert_eq!(scene.unpick(&["record", "--", "./account", "locked"]).code, Some(0));
    let light = scene.unpick(&["races", "--run", "1"]);
    assert_eq!(light.code, Some(2));
    assert!(light.stderr.contains("not full"), "{}", light.stderr);

    scene.unpick(&["record", "--full", "--", "./account", "racy"]);
    let full = scene.unpick(&["races"]);
    assert_eq!(full.code, Some(66), "{}{}", full.stdout, full.stderr);
    assert!(full.stdout.contains("next: unpick confirm --race 1"), "{}", full.stdout);
    let none = scene.unpick(&["races", "--explain", "9"]);
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("no race 9"), "{}", none.stderr);
}

#[test]
fn suppressions_of_thread_sanitizer_are_honoured_and_counted() {
    let scene = account();
    fs::write(scene.path("quiet.txt"), "# known\nrace:^deposit$\nrace:never\n").unwrap();
    let (code, report) = scene.races(&["--suppressions", "quiet.txt"], "racy");
    assert_eq!(code, Some(0));
    assert_eq!(report["races"], json!([]));
    assert_eq!(report["suppressed"], json!([{ "rule": "race:^deposit$", "races": 1 }]));

    let mut command = scene.command(&["races", "--", "./account", "racy"]);
    let told = ran(command.env("TSAN_OPTIONS", "verbosity=0:suppressions=quiet.txt"));
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert!(told.stdout.contains("suppressed: 1 by race:^deposit$"), "{}", told.stdout);

    fs::write(scene.path("broken.txt"), "race deposit\n").unwrap();
    let broken = scene.unpick(&["races", "--suppressions", "broken.txt", "--", "./account"]);
    assert_eq!(broken.code, Some(2));
    assert!(broken.stderr.contains("line 1"), "{}", broken.stderr);
}

#[test]
fn a_program_that_is_not_built_with_unpick_is_told() {
    let scene = account();
    let told = scene.unpick(&["races", "--", "true"]);
    assert_eq!(told.code, Some(2));
    assert!(told.stderr.contains("not built with Unpick"), "{}", told.stderr);
}

#[test]
fn a_process_that_outlives_the_program_is_told() {
    let scene = Scene::with(DAEMON);
    let told = scene.unpick(&["races", "--json", "races.json", "--", "./account"]);
    fs::write(scene.path("stop"), "").unwrap();
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert!(told.stdout.contains(" went on when the program had ended"), "{}", told.stdout);
    assert!(!told.stdout.contains("nothing could race"), "{}", told.stdout);
    let report = fs::read_to_string(scene.path("races.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["complete"], json!(false));
}

#[test]
fn a_recording_that_cannot_be_read_does_not_keep_the_others_from_being_looked_at() {
    let scene = account();
    assert_eq!(scene.races(&[], "racy").0, Some(66));
    let run = scene.path(".unpick/runs/0001");
    fs::write(run.join("77-0.events"), [1; 64]).unwrap();
    let told = scene.unpick(&["races", "--run", "1"]);
    assert_eq!(told.code, Some(66), "{}", told.stderr);
    assert!(told.stdout.contains("77-0.events"), "{}", told.stdout);
    for recording in fs::read_dir(&run).unwrap().map(|entry| entry.unwrap().path()) {
        if recording.extension().is_some_and(|extension| extension == "events") {
            fs::write(recording, [1; 64]).unwrap();
        }
    }
    assert_eq!(scene.unpick(&["races", "--run", "1"]).code, Some(2));
}

#[test]
fn one_detector_can_be_asked_alone() {
    let scene = account();
    for detector in ["happens-before", "lockset"] {
        let (code, report) = scene.races(&["--detector", detector], "racy");
        assert_eq!(code, Some(66));
        let detectors = report["races"][0]["detectors"].as_array().unwrap();
        assert!(detectors.contains(&json!(detector)), "{detectors:?}");
    }
}

/// A program that takes two locks in two orders, one thread after the other has let go.
fn crossed() -> Scene {
    Scene::with(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/races/crossed.c"))
}

fn deadlocks(scene: &Scene, mode: &str) -> (Option<i32>, Value) {
    let (code, races) = scene.races(&[], mode);
    (code, races["deadlocks"].clone())
}

#[test]
fn locks_in_two_orders_are_a_deadlock_that_can_be_and_forcing_it_decides() {
    let scene = crossed();
    let (code, found) = deadlocks(&scene, "crossed");
    assert_eq!((code, found.as_array().unwrap().len()), (Some(66), 1), "{found:#}");
    let sentence = found[0]["sentence"].as_str().unwrap();
    for part in ["holds first and asks for second", "holds second and asks for first"] {
        assert!(sentence.contains(part), "{sentence}");
    }
    let confirmed = scene.unpick(&["confirm", "--deadlock", "1", "--runs", "5", "--quiet"]);
    assert_eq!(confirmed.code, Some(66), "{}{}", confirmed.stdout, confirmed.stderr);
    assert!(confirmed.stdout.contains("cause"), "{}", confirmed.stdout);
    let kept = fs::read_to_string(scene.path(".unpick/races.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert_valid(&kept, "races.schema.json");
    assert_eq!(kept["deadlocks"][0]["confirmed"]["verdict"], json!("cause"));

    let forced = ["reproduce", "--deadlock", "1", "--runs", "1", "--quiet"];
    let forced = scene.unpick(&forced);
    assert_eq!(forced.code, Some(66), "{}{}", forced.stdout, forced.stderr);
    let none = scene.unpick(&["reproduce", "--deadlock", "2"]);
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("there is no deadlock 2"), "{}", none.stderr);
}

#[test]
fn a_deadlock_that_can_be_is_pinned_and_checked() {
    let scene = crossed();
    deadlocks(&scene, "crossed");
    let pinned = scene.unpick(&["pin", "--deadlock", "1", "-o", "deadlock.toml"]);
    assert_eq!(pinned.code, Some(0), "{}", pinned.stderr);
    let checked = scene.unpick(&["check", "deadlock.toml"]);
    assert_eq!(checked.code, Some(66), "{}{}", checked.stdout, checked.stderr);
}

#[test]
fn a_common_lock_or_the_same_order_is_no_deadlock() {
    let scene = crossed();
    for mode in ["guarded", "same", "joined"] {
        let (code, found) = deadlocks(&scene, mode);
        assert_eq!((code, found), (Some(0), json!([])), "{mode}");
    }
}

/// Whether C can be read here. In CI it must be.
fn has_libclang(scene: &Scene) -> bool {
    let read = scene.unpick(&["correlate", "account.c"]);
    let has = read.code == Some(0);
    assert!(has || std::env::var_os("CI").is_none(), "no libclang: {}", read.stderr);
    has
}

#[test]
fn what_belongs_together_is_known_by_the_sources_of_the_program() {
    let scene = Scene::with(TOTALS);
    if has_libclang(&scene) {
        let (code, torn) = scene.races(&[], "torn");
        assert_eq!(code, Some(66));
        let correlation = torn["races"][0]["correlated"]["correlation"].as_str().unwrap();
        assert!(correlation.contains("totals::count"), "{correlation}");
        let (code, whole) = scene.races(&[], "whole");
        assert_eq!((code, &whole["races"]), (Some(0), &json!([])));
    }
}

#[test]
fn without_libclang_single_variables_are_looked_at_and_the_rest_is_told() {
    let scene = Scene::with(TOTALS);
    let mut command = scene.command(&["races", "--", "./account", "torn"]);
    let ran = ran(command.env("LIBCLANG_PATH", scene.folder.path()));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(
        ran.stdout.contains("not all variables that belong together are known"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("libclang"), "{}", ran.stdout);
}

#[test]
fn variables_that_belong_together_must_not_be_torn_apart() {
    let scene = Scene::with(TOTALS);
    let side = |variable: &str| json!({ "access": "any", "variable": variable });
    let rule = json!({ "left": side("totals::count"), "right": side("totals::sum") });
    fs::write(scene.path("rules.json"), json!({ "correlations": [rule] }).to_string()).unwrap();

    let (code, plain) = scene.races(&["--plain"], "torn");
    assert_eq!((code, &plain["races"]), (Some(0), &json!([])), "each variable has its lock");
    for (options, correlation) in [
        (&["--correlations", "rules.json"][..], "any(totals::count) => any(totals::sum)"),
        (&["--mine"][..], "totals.count and totals.sum"),
    ] {
        let (code, torn) = scene.races(options, "torn");
        assert_eq!(code, Some(66), "{options:?}");
        let races = torn["races"].as_array().unwrap();
        let told: Vec<_> = races.iter().map(|race| &race["correlated"]["correlation"]).collect();
        let is_told = |told: &&Value| told.as_str().is_some_and(|text| text.contains(correlation));
        assert!(told.iter().any(is_told), "{told:?}");
        let told = scene.unpick(&["races", "--explain", "1"]);
        assert!(told.stdout.contains("can come between"), "{}", told.stdout);

        let (code, whole) = scene.races(options, "whole");
        assert_eq!((code, &whole["races"]), (Some(0), &json!([])), "{options:?}");
    }

    fs::write(scene.path("rules.json"), "[1]").unwrap();
    let broken = scene.unpick(&["races", "--correlations", "rules.json", "--", "./account"]);
    assert_eq!(broken.code, Some(2));
    assert!(broken.stderr.contains("the correlations cannot be used"), "{}", broken.stderr);
}

/// MUVI's Fig. 2, with the correlations that `unpick correlate` finds in its source.
#[test]
fn what_correlate_says_of_a_source_is_torn_in_its_program_and_not_in_the_fixed_twin() {
    const SUBJECT: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../subjects/property-cache/property_cache.c");
    let scene = Scene::with(SUBJECT);
    let found = scene.unpick(&["correlate", "--json", "rules.json", "account.c"]);
    if found.stderr.contains("libclang") && std::env::var_os("CI").is_none() {
        eprintln!("skipped: libclang is not installed");
        return;
    }
    assert_eq!(found.code, Some(0), "{}{}", found.stdout, found.stderr);
    let options = ["--correlations", "rules.json"];
    let end = ["--json", "-", "--", "./account"];
    let look = || {
        let ran = scene.unpick(&[&["races"][..], &options, &end].concat());
        (ran.code, serde_json::from_str::<Value>(&ran.stdout).unwrap())
    };
    let (code, report) = look();
    assert_valid(&report, "races.schema.json");
    assert_eq!((code, report["races"].as_array().unwrap().len()), (Some(66), 1), "{report:#}");
    let race = &report["races"][0];
    assert!(race["detectors"].as_array().unwrap().contains(&json!("lockset")));
    let correlation = race["correlated"]["correlation"].as_str().unwrap();
    assert!(correlation.contains("empty") && correlation.contains("table"), "{correlation}");

    let fixed = ["cc", "-g", "-pthread", "-DFIXED", "account.c", "-o", "account"];
    assert_eq!(scene.unpick(&fixed).code, Some(0));
    let (code, report) = look();
    assert_eq!((code, &report["races"]), (Some(0), &json!([])));
}
