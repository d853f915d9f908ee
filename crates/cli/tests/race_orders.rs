//! Races that are forced: which make the program fail, which are benign so far, which cannot be forced.
//!
//! Sleeps keep the threads apart, so that no run fails by itself; what fails does so because it is forced.

mod ran;
mod schemas;

use std::fs;
use std::path::PathBuf;

use ran::Ran;
use schemas::assert_valid;
use serde_json::{Value, json};
use tempfile::TempDir;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/races/orders.c");

/// A folder with the program, and the report of its races in one mode.
struct Scene {
    folder: TempDir,
    mode: &'static str,
}

impl Scene {
    fn of(mode: &'static str) -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap(), mode };
        fs::copy(SOURCE, scene.path("orders.c")).unwrap();
        let built = scene.unpick(&["cc", "-g", "-pthread", "orders.c", "-o", "orders"]);
        assert_eq!(built.code, Some(0), "{}", built.stderr);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn unpick(&self, arguments: &[&str]) -> Ran {
        ran::unpick(self.folder.path(), arguments)
    }

    fn races(&self, options: &[&str]) -> Ran {
        let ran = self.unpick(&[&["races"], options, &["--", "./orders", self.mode]].concat());
        assert_eq!(ran.code, Some(66), "{}{}", ran.stdout, ran.stderr);
        ran
    }

    /// Forces race 1. Who waits in vain does not wait for long.
    fn confirm(&self) -> Ran {
        self.unpick(&[
            "confirm", "--race", "1", "--runs", "5", "--pause", "50ms", "--bound", "1", "--quiet",
        ])
    }

    /// The races as they are kept.
    fn kept(&self) -> Value {
        let kept = fs::read_to_string(self.path(".unpick/races.json")).unwrap();
        let kept: Value = serde_json::from_str(&kept).unwrap();
        assert_valid(&kept, "races.schema.json");
        kept["races"].clone()
    }
}

#[test]
fn a_race_whose_other_order_fails_is_a_confirmed_finding() {
    let scene = Scene::of("late");
    let listed = scene.races(&[]);
    assert!(listed.stdout.ends_with("next: unpick confirm --race 1\n"), "{}", listed.stdout);
    let forced = scene.confirm();
    assert_eq!(forced.code, Some(66), "{}{}", forced.stdout, forced.stderr);
    assert!(forced.stdout.contains("makes it fail in 5 of 5 runs"), "{}", forced.stdout);
    assert!(forced.stdout.contains("unpick pin --race 1 > race.toml"), "{}", forced.stdout);
    let kept = scene.kept();
    assert_eq!(kept[0]["forced"]["mark"], json!("confirmed"));
    assert_eq!(kept[0]["forced"]["orders"][0]["pattern"], json!("P1"));
    assert_eq!(kept[0]["forced"]["orders"][0]["confirmed"]["verdict"], json!("cause"));

    let shown = scene.unpick(&["show"]);
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    assert!(shown.stdout.starts_with("Races that make it fail"), "{}", shown.stdout);
    let again = scene.unpick(&["reproduce", "--race", "1", "--runs", "2", "--quiet"]);
    assert_eq!(again.code, Some(66), "{}{}", again.stdout, again.stderr);
}

#[test]
fn a_confirmed_race_is_pinned_and_checked() {
    let scene = Scene::of("late");
    scene.races(&[]);
    let pinned = scene.unpick(&["pin", "--race", "1", "-o", "late.toml"]);
    assert_eq!(pinned.code, Some(0), "{}", pinned.stderr);
    let checked = scene.unpick(&["check", "late.toml"]);
    assert_eq!(checked.code, Some(66), "{}{}", checked.stdout, checked.stderr);
}

#[test]
fn all_races_of_a_report_are_forced_at_once() {
    let scene = Scene::of("late");
    let ran = scene.races(&["--confirm", "--quiet"]);
    assert!(ran.stdout.contains("confirmed: read of `settings`"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("next: unpick pin --race 1 > race.toml\n"), "{}", ran.stdout);
    assert_eq!(scene.kept()[0]["forced"]["mark"], json!("confirmed"));
    let json = scene.unpick(&["show", "--json", "-"]);
    assert_eq!(json.code, Some(2), "there are no findings of a hunt: {}", json.stdout);
}

#[test]
fn of_one_line_that_reads_and_writes_each_way_to_race_is_tried() {
    let scene = Scene::of("lost");
    scene.races(&[]);
    let forced = scene.confirm();
    assert_eq!(forced.code, Some(66), "{}{}", forced.stdout, forced.stderr);
    let kept = scene.kept();
    let failing = kept[0]["forced"]["orders"].as_array().unwrap().last().unwrap();
    assert_eq!(failing["pattern"], json!("P1"), "{failing:#}");
}

#[test]
fn a_race_that_never_makes_it_fail_is_benign_so_far_and_stays_so() {
    let scene = Scene::of("benign");
    scene.races(&[]);
    let forced = scene.confirm();
    assert_eq!(forced.code, Some(67), "{}{}", forced.stdout, forced.stderr);
    let mark = "benign so far: forced 5 times, none failed";
    assert!(forced.stdout.contains(mark), "{}", forced.stdout);

    assert_eq!(scene.unpick(&["races", "--", "./orders", "late"]).code, Some(66));
    let again = scene.races(&[]);
    assert!(again.stdout.contains(mark), "also after another report: {}", again.stdout);
    assert!(!again.stdout.contains("unpick confirm"), "{}", again.stdout);
    assert_eq!(scene.kept()[0]["forced"]["mark"], json!("benign-so-far"));

    let rebuilt = scene.unpick(&["cc", "-g", "-O2", "-pthread", "orders.c", "-o", "orders"]);
    assert_eq!(rebuilt.code, Some(0), "{}", rebuilt.stderr);
    let rebuilt = scene.races(&[]);
    assert!(!rebuilt.stdout.contains("benign"), "of another build: {}", rebuilt.stdout);
}

#[test]
fn an_order_that_the_program_forbids_is_told() {
    let scene = Scene::of("flagged");
    scene.races(&[]);
    let forced = scene.confirm();
    assert_eq!(forced.code, Some(67), "{}{}", forced.stdout, forced.stderr);
    for part in ["not forced: read of", "could not be forced in 5 runs", "--pause 5s"] {
        assert!(forced.stdout.contains(part), "{part}: {}", forced.stdout);
    }
    let orders = scene.kept()[0]["forced"]["orders"].clone();
    assert_eq!((&orders[0]["hits"], &orders[1]["hits"]), (&json!(0), &json!(5)), "{orders:#}");
    assert!(orders[0]["obstacle"].is_string() && orders[1]["obstacle"].is_null());
}

#[test]
fn variables_that_belong_together_are_torn_apart() {
    let scene = Scene::of("torn");
    let side = |variable: &str| json!({ "access": "any", "variable": variable });
    let rule = json!({ "left": side("totals::count"), "right": side("totals::sum") });
    fs::write(scene.path("rules.json"), json!({ "correlations": [rule] }).to_string()).unwrap();
    scene.races(&["--correlations", "rules.json"]);
    let forced = scene.confirm();
    assert_eq!(forced.code, Some(66), "{}{}", forced.stdout, forced.stderr);
    let orders = scene.kept()[0]["forced"]["orders"].as_array().unwrap().clone();
    let failing = orders.last().unwrap();
    assert_eq!(failing["pattern"], json!("P14"), "{orders:#?}");
    assert_eq!(failing["confirmed"]["verdict"], json!("cause"), "{orders:#?}");

    let pinned = scene.unpick(&["pin", "--race", "1", "-o", "torn.toml"]);
    assert_eq!(pinned.code, Some(0), "{}", pinned.stderr);
    let checked = scene.unpick(&["check", "torn.toml"]);
    assert_eq!(checked.code, Some(66), "{}{}", checked.stdout, checked.stderr);
}

#[test]
fn a_race_that_is_not_there_cannot_be_forced() {
    let scene = Scene::of("late");
    let none = scene.confirm();
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("no report of races yet"), "{}", none.stderr);
    scene.races(&[]);
    let other = scene.unpick(&["reproduce", "--race", "7"]);
    assert_eq!(other.code, Some(2));
    assert!(other.stderr.contains("there is no race 7"), "{}", other.stderr);
}
