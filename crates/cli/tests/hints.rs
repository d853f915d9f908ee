//! Variables that belong together, as hints for a hunt: the program's orders come in turn, so that all is the same in every hunt.

mod ran;
mod schemas;

use std::fs;

use ran::Ran;
use schemas::assert_valid;
use serde_json::{Value, json};
use tempfile::TempDir;

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/hints/pair.c");
const TOGETHER: &str = "`line.length` and `line.text` belong together: 5 of 6 functions that access the first access the second.";

/// A folder with the program, and a list of correlations.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        let built = scene.unpick(&["cc", "-g", "-pthread", SOURCE, "-o", "pair"]);
        assert_eq!(built.code, Some(0), "{}", built.stderr);
        let side = |variable: &str| json!({ "access": "any", "variable": variable });
        let rule = json!({
            "left": side("line::length"), "right": side("line::text"), "support": 5,
            "left_functions": 6,
        });
        let list = json!({ "correlations": [rule] });
        fs::write(scene.folder.path().join("rules.json"), list.to_string()).unwrap();
        scene
    }

    fn unpick(&self, arguments: &[&str]) -> Ran {
        ran::unpick(self.folder.path(), arguments)
    }

    /// Six runs, two of which fail.
    fn hunt(&self, options: &[&str]) -> Ran {
        let hunt = ["hunt", "--no-delays", "--runs", "6", "--no-confirm", "--quiet"];
        self.unpick(&[&hunt, options, &["--", "./pair"]].concat())
    }

    fn findings(&self) -> Value {
        let file = self.folder.path().join(".unpick/findings.json");
        let findings: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        assert_valid(&findings, "findings.schema.json");
        findings
    }
}

#[test]
fn a_finding_says_that_its_variables_belong_together() {
    let scene = Scene::new();
    let plain = scene.hunt(&[]);
    assert_eq!(plain.code, Some(66), "{}{}", plain.stdout, plain.stderr);
    assert!(scene.findings()["findings"][0].get("correlation").is_none());

    let hinted = scene.unpick(&["rank", "--correlations", "rules.json", "--json", "-"]);
    let ranked: Value = serde_json::from_str(&hinted.stdout).unwrap();
    let first = &ranked["findings"][0];
    assert_eq!((&first["class"], &first["rank"]), (&json!("multi-variable"), &json!(1)));
    assert_eq!(first["correlation"]["sentence"], json!(TOGETHER));

    let again = scene.hunt(&[]);
    let told = again.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains(TOGETHER), "the list is kept: {}", again.stdout);
    assert_eq!(scene.findings()["findings"][0]["correlation"]["sentence"], json!(TOGETHER));
}

#[test]
fn a_list_that_cannot_be_used_is_told_before_anything_is_run() {
    let scene = Scene::new();
    fs::write(scene.folder.path().join("rules.json"), "[1]").unwrap();
    let broken = scene.hunt(&["--correlations", "rules.json"]);
    assert_eq!(broken.code, Some(2));
    assert!(broken.stderr.contains("the correlations cannot be used"), "{}", broken.stderr);
    assert!(!scene.folder.path().join("turn").exists(), "nothing was run");
}

#[test]
fn variables_that_belong_together_are_torn_apart_by_an_active_hunt() {
    let scene = Scene::new();
    let active = ["hunt", "--active", "--no-delays", "--passing", "2", "--time", "5m", "--quiet"];
    let end = ["--correlations", "rules.json", "--", "./pair", "late"];
    let hunt = scene.unpick(&[&active[..], &end].concat());
    assert_eq!(hunt.code, Some(66), "{}{}", hunt.stdout, hunt.stderr);
    let findings = scene.findings();
    assert_eq!(findings["runs"]["failed"], json!(0), "no run fails by itself");
    let first = &findings["findings"][0];
    assert_eq!(
        (&first["pattern"], &first["origin"]),
        (&json!("P12"), &json!("forced")),
        "{findings:#}"
    );
    assert_eq!(first["confirmed"]["verdict"], json!("cause"));
    assert_eq!(findings["active"]["orders"][0]["pattern"], json!("P12"));
    let again = scene.unpick(&["reproduce", "1", "--runs", "2", "--quiet"]);
    assert_eq!(again.code, Some(66), "{}{}", again.stdout, again.stderr);
}

#[test]
fn what_recordings_show_to_belong_together_is_kept_for_hunts() {
    let scene = Scene::new();
    let totals = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/races/totals.c");
    assert_eq!(scene.unpick(&["cc", "-g", "-pthread", totals, "-o", "totals"]).code, Some(0));
    let mined = scene.unpick(&["races", "--mine", "--quiet", "--", "./totals", "torn"]);
    assert_eq!(mined.code, Some(66), "{}{}", mined.stdout, mined.stderr);
    let kept = fs::read(scene.folder.path().join(".unpick/mined-correlations.json")).unwrap();
    let kept: Value = serde_json::from_slice(&kept).unwrap();
    let of_totals = |rule: &&Value| {
        let mut names: Vec<_> = rule["variables"].as_array().unwrap().iter().collect();
        names.sort_by_key(|name| name.as_str());
        names == [&json!("totals.count"), &json!("totals.sum")]
    };
    let rule = kept.as_array().unwrap().iter().find(of_totals);
    let because = rule.unwrap_or_else(|| panic!("{kept:#}"))["because"].as_str().unwrap();
    assert!(because.starts_with("in one critical section "), "{because}");
}
