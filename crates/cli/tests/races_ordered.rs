//! `unpick races` about accesses without a lock in common: what something else orders is no race, what only an accident orders is one.

mod races_scene;
mod ran;
mod schemas;

use std::fs;

use races_scene::Scene;
use serde_json::{Value, json};

fn scene() -> Scene {
    Scene::with(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/races/ordered.c"))
}

fn count(list: &Value) -> usize {
    list.as_array().unwrap().len()
}

#[test]
fn what_is_posted_or_handed_over_is_told_apart_from_races_with_what_orders_it() {
    let scene = scene();
    for (mode, deed, object) in [("posted", "wait", "written"), ("handed", "hand-over", "lock")] {
        let (code, report) = scene.races(&[], mode);
        assert_eq!((code, count(&report["races"])), (Some(0), 0), "{mode}: {report:#}");
        let ordered = &report["ordered"][0];
        assert_eq!(
            (ordered["detectors"].clone(), &ordered["loose"]),
            (json!(["lockset"]), &json!(0))
        );
        assert_eq!(ordered["ordered_by"]["deed"], json!(deed), "{mode}");
        assert_eq!(ordered["ordered_by"]["object"], json!(object), "{mode}");

        let told = scene.unpick(&["races", "--", "./account", mode]);
        assert_eq!(told.code, Some(0));
        assert!(
            told.stdout.contains("1 pair synchronized without a common lock"),
            "{}",
            told.stdout
        );
        assert!(!told.stdout.contains("1. "), "{}", told.stdout);
        let told = scene.unpick(&["races", "--all", "--", "./account", mode]);
        for part in ["no race in 1 run", "Synchronized without a common lock", "1. "] {
            assert!(told.stdout.contains(part), "{part}: {}", told.stdout);
        }
        let explained = scene.unpick(&["races", "--explain", "1"]);
        assert!(explained.stdout.contains("it is no race"), "{}", explained.stdout);
    }
}

#[test]
fn who_asks_for_lockset_alone_gets_all_that_eraser_says() {
    let (code, report) = scene().races(&["--detector", "lockset"], "posted");
    assert_eq!((code, count(&report["races"]), count(&report["ordered"])), (Some(66), 1, 0));
}

#[test]
fn who_came_to_a_lock_first_orders_nothing() {
    let (code, report) = scene().races(&[], "accident");
    assert_eq!((code, count(&report["ordered"])), (Some(66), 0), "{report:#}");
    let race = &report["races"][0];
    assert_eq!(race["detectors"], json!(["lockset"]));
    assert!(race["loose"].as_u64().unwrap() > 0);
}

#[test]
fn what_a_signal_handler_does_before_its_thread_runs_comes_after_the_creation() {
    let scene =
        Scene::with(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/races/early_signal.c"));
    let (code, report) = scene.races(&[], "");
    assert_eq!((code, count(&report["races"])), (Some(0), 0), "{report:#}");
}

#[test]
fn a_run_that_dies_is_looked_at_up_to_its_death() {
    let (code, report) = scene().races(&[], "crash");
    assert_eq!((code, count(&report["races"])), (Some(66), 1), "{report:#}");
}

fn blocks() -> Scene {
    let scene = Scene::with(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/races/blocks.c"));
    let side = |variable: &str| json!({ "access": "any", "variable": variable });
    let rule = json!({ "left": side("block::length"), "right": side("block::packed_length") });
    fs::write(scene.path("rules.json"), json!({ "correlations": [rule] }).to_string()).unwrap();
    scene
}

/// The one of several variables in a list, and its place there.
fn torn(list: &Value) -> Option<(usize, &Value)> {
    let all = list.as_array().unwrap().iter().enumerate();
    let mut torn = all.filter(|(_, race)| !race["correlated"].is_null());
    let found = torn.next();
    assert!(torn.next().is_none(), "{list:#}");
    found
}

#[test]
fn what_belongs_together_and_changes_hands_as_a_whole_is_no_race_either() {
    let scene = blocks();
    let (code, report) = scene.races(&["--correlations", "rules.json"], "handed");
    assert_eq!((code, count(&report["races"])), (Some(0), 0), "{report:#}");
    let (place, ordered) = torn(&report["ordered"]).expect("told as ordered");
    assert_eq!((ordered["detectors"].clone(), &ordered["loose"]), (json!(["lockset"]), &json!(0)));
    assert_eq!(ordered["ordered_by"]["deed"], json!("hand-over"));
    assert_eq!(ordered["ordered_by"]["object"], json!("lock"));

    let explained = scene.unpick(&["races", "--explain", &(place + 1).to_string()]).stdout;
    let explained = explained.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["ordered: ", "something else does", "Why no lock keeps", "it is no race"] {
        assert!(explained.contains(part), "{part}: {explained}");
    }
}

#[test]
fn what_only_an_accident_kept_whole_is_a_race() {
    let (code, report) = blocks().races(&["--correlations", "rules.json"], "accident");
    assert_eq!(code, Some(66));
    assert!(torn(&report["ordered"]).is_none(), "{report:#}");
    let (_, race) = torn(&report["races"]).expect("told as a race");
    assert_eq!(race["detectors"], json!(["lockset"]));
    assert!(race["loose"].as_u64().unwrap() > 0);
}

#[test]
fn of_several_variables_too_who_asks_for_lockset_alone_gets_all_that_it_says() {
    let options = ["--detector", "lockset", "--correlations", "rules.json"];
    let (code, report) = blocks().races(&options, "handed");
    assert_eq!((code, count(&report["ordered"])), (Some(66), 0));
    assert!(torn(&report["races"]).is_some(), "{report:#}");
}

#[test]
fn a_time_limit_that_nothing_fits_into_is_no_clean_bill() {
    let told = scene().unpick(&["races", "--time", "1ms", "--", "./account", "accident"]);
    assert_eq!(told.code, Some(2), "{}", told.stdout);
    assert!(!told.stdout.contains("no race"), "{}", told.stdout);
}

#[test]
fn more_runs_than_there_is_time_for_are_left_out_and_told() {
    let scene = scene();
    let told =
        scene.unpick(&["races", "--time", "2s", "--runs", "100000", "--", "./account", "posted"]);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert!(told.stdout.contains("time limit reached after"), "{}", told.stdout);
}
