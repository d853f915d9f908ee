//! `unpick hunt --active` from the outside: programs that never fail by themselves, because sleeps keep the threads apart.
//!
//! What is found is found by forcing, whatever the machine's timing; what must not be found cannot happen.

mod ran;
mod schemas;

use std::fs;

use ran::Ran;
use schemas::assert_valid;
use serde_json::{Value, json};
use tempfile::TempDir;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/unseen-orders");
/// A few passing runs tell which orders there are. Time is no issue: the orders are soon tried.
const ACTIVE: [&str; 6] = ["--active", "--no-delays", "--passing", "3", "--time", "5m"];

/// A folder with one program.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn of(source: &str, options: &[&str]) -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        let source = format!("{SOURCES}/{source}");
        let built =
            scene.unpick(&[&["cc", "-g", "-pthread", &source, "-o", "program"], options].concat());
        assert_eq!(built.code, Some(0), "{}", built.stderr);
        scene
    }

    fn unpick(&self, arguments: &[&str]) -> Ran {
        ran::unpick(self.folder.path(), arguments)
    }

    fn hunt(&self, options: &[&str]) -> Ran {
        self.unpick(&[&["hunt"], &ACTIVE[..], options, &["--", "./program"]].concat())
    }

    fn findings(&self) -> Value {
        let file = self.folder.path().join(".unpick/findings.json");
        serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
    }
}

#[test]
fn a_reader_that_always_comes_late_is_made_to_come_first() {
    let scene = Scene::of("late_reader.c", &[]);
    let hunt = scene.hunt(&[]);
    assert_eq!(hunt.code, Some(66), "{}{}", hunt.stdout, hunt.stderr);
    assert!(hunt.stdout.contains("found by forcing it"), "{}", hunt.stdout);
    assert!(hunt.stdout.contains("Orders that no run had: "), "{}", hunt.stdout);
    assert!(hunt.stderr.contains("unpick reproduce 1"), "{}", hunt.stderr);

    let findings = scene.findings();
    assert_valid(&findings, "findings.schema.json");
    let first = &findings["findings"][0];
    assert_eq!(first["origin"], "forced");
    assert_eq!(first["pattern"], "P1");
    assert_eq!(first["accesses"][0]["variable"], "settings");
    assert_eq!(first["confirmed"]["verdict"], "cause");
    assert_eq!(findings["runs"]["failed"], 0);
    assert_eq!(findings["active"]["failed"], 1);

    let again = scene.unpick(&["reproduce", "1", "--runs", "3"]);
    assert_eq!(again.code, Some(66), "{}{}", again.stdout, again.stderr);
}

#[test]
fn a_thread_is_made_to_come_between_a_check_and_an_act_that_only_one_of_them_gets_to() {
    let scene = Scene::of("check_then_act.c", &[]);
    let hunt = scene.hunt(&["--json-lines"]);
    assert_eq!(hunt.code, Some(66), "{}{}", hunt.stdout, hunt.stderr);
    let lines: Vec<Value> =
        hunt.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    lines.iter().for_each(|line| assert_valid(line, "hunt-lines.schema.json"));
    assert!(lines.iter().any(|line| line["event"] == "order" && line["order"]["failed"] == 1));
    let end = lines.last().unwrap();
    assert_eq!(end["runs"]["failed"], 0);
    let first = &end["findings"]["findings"][0];
    assert_eq!((&first["pattern"], &first["origin"]), (&json!("P7"), &json!("forced")));
    assert_eq!(first["accesses"][0]["variable"], "seats");
}

#[test]
fn nothing_is_found_where_the_lock_is_kept() {
    let scene = Scene::of("check_then_act.c", &["-DFIXED"]);
    let hunt = scene.hunt(&[]);
    assert_eq!(hunt.code, Some(0), "{}{}", hunt.stdout, hunt.stderr);
    let findings = scene.findings();
    assert_eq!(findings["findings"], json!([]));
    assert_eq!(findings["active"]["failed"], 0);
    assert_eq!(findings["active"]["remaining"], 0);
}

#[test]
fn nothing_is_found_in_a_careful_program() {
    let scene = Scene::of("careful.c", &[]);
    let hunt = scene.hunt(&[]);
    assert_eq!(hunt.code, Some(0), "{}{}", hunt.stdout, hunt.stderr);
    assert_eq!(scene.findings()["findings"], json!([]));
    assert!(hunt.stderr.contains("no run failed"), "{}", hunt.stderr);
}

#[test]
fn a_hunt_that_is_resumed_tries_the_rest() {
    let scene = Scene::of("check_then_act.c", &["-DFIXED"]);
    // One run to look at, and one for the first order.
    let first = scene.hunt(&["--runs", "2"]);
    assert_eq!(first.code, Some(0), "{}{}", first.stdout, first.stderr);
    let begun = scene.findings()["active"].clone();
    assert!(begun["remaining"].as_u64().unwrap() > 0, "{begun:#}");
    assert!(first.stderr.contains("--resume --active -- ./program"), "{}", first.stderr);
    scene.hunt(&["--resume"]);
    let rest = scene.findings()["active"].clone();
    assert_eq!(rest["remaining"], 0, "{rest:#}");
    let orders = |active: &Value| active["orders"].as_array().unwrap().clone();
    assert!(orders(&rest).starts_with(&orders(&begun)));
    assert!(orders(&rest).len() > orders(&begun).len());
}

#[test]
fn who_wants_no_forced_orders_gets_none() {
    let scene = Scene::of("late_reader.c", &[]);
    let options = ["hunt", "--no-active", "--no-delays", "--time", "1s", "--", "./program"];
    let hunt = scene.unpick(&options);
    assert_eq!(hunt.code, Some(0), "{}{}", hunt.stdout, hunt.stderr);
    assert!(!scene.folder.path().join(".unpick/findings.json").exists());
}

#[test]
fn where_nothing_fails_the_second_half_of_the_time_is_for_orders_that_no_run_had() {
    let scene = Scene::of("late_reader.c", &[]);
    let options = ["hunt", "--no-delays", "--time", "3s", "--", "./program"];
    let hunt = scene.unpick(&options);
    assert_eq!(hunt.code, Some(66), "{}{}", hunt.stdout, hunt.stderr);
    assert_eq!(scene.findings()["findings"][0]["origin"], "forced");
}
