//! Races and deadlocks that can be as SARIF has them.

use std::path::Path;

use serde_json::{Value, json};
use unpick_findings::{CandidateDeadlock, RaceFinding};
use unpick_report::races_sarif;

fn access(role: u8, file: Option<&str>, line: u32) -> Value {
    json!({
        "role": role, "kind": "write", "variable": "total", "function": "add", "file": file,
        "line": line, "column": 1, "text": null, "inlined_into": [], "thread": role,
        "process": 0, "atomic": false, "order": role, "stack": [], "locks": [],
        "code": { "module": "a", "build_id": "b1", "offset": "0x10" },
    })
}

fn race(variable: &str, accesses: [Value; 2]) -> RaceFinding {
    serde_json::from_value(json!({
        "detectors": ["happens-before"], "sentence": "Nothing orders the two.", "why": "Nothing.",
        "variable": variable, "allocated_at": null, "unordered": 1, "unlocked": 0, "runs": 1,
        "example_run": 1, "own_code": true, "steps": [], "accesses": accesses,
    }))
    .unwrap()
}

fn race_at(variable: &str, line: u32) -> RaceFinding {
    race(variable, [access(1, Some("/p/a.c"), line), access(2, Some("/p/a.c"), line + 1)])
}

fn deadlock() -> CandidateDeadlock {
    let thread = |number: u16, lock: &str, line: u32| {
        json!({
            "thread": number, "activity": "unknown", "function": "take", "file": "/p/a.c", "line": line,
            "column": 5, "inlined_into": [], "stack": [], "is_now": true, "holds": [],
            "waits_for": {
                "what": "lock", "name": lock, "lock_kind": "mutex", "shared": false,
                "limited": false, "mutex": null, "threads": [5 - number],
            },
        })
    };
    let threads = [thread(2, "one", 9), thread(3, "two", 20)];
    let processes = json!([{ "process": 7, "deadlocks": [[2, 3]], "threads": threads }]);
    let hang = json!({
        "schema": "unpick-hang/1", "sentence": "", "deadlock": true, "processes": processes,
    });
    let sentence = "thread 2 holds two and asks for one, thread 3 holds one and asks for two";
    serde_json::from_value(json!({
        "sentence": sentence, "runs": 1, "example_run": 1, "ways": 1, "hang": hang,
    }))
    .unwrap()
}

fn results(races: &[RaceFinding], deadlocks: &[CandidateDeadlock]) -> Vec<Value> {
    let log = races_sarif(races, deadlocks, Path::new("/p"), &[]);
    log["runs"][0]["results"].as_array().unwrap().clone()
}

fn line_of(result: &Value) -> &Value {
    &result["locations"][0]["physicalLocation"]["region"]["startLine"]
}

/// Code hosts take results with one fingerprint for one result.
#[test]
fn two_variables_of_the_same_functions_are_two_results_wherever_their_lines_go() {
    let fingerprints = |races: &[RaceFinding]| -> Vec<Value> {
        results(races, &[]).iter().map(|one| one["partialFingerprints"].clone()).collect()
    };
    let before = fingerprints(&[race_at("total", 4), race_at("count", 6)]);
    assert_ne!(before[0], before[1]);
    let moved = [race_at("total (heap, allocated at a.c:9)", 40), race_at("count[3]", 60)];
    assert_eq!(fingerprints(&moved), before);
}

#[test]
fn a_race_is_told_at_the_access_that_has_a_source() {
    let half = race("total", [access(1, None, 0), access(2, Some("/p/a.c"), 8)]);
    let found = results(&[half], &[]);
    assert_eq!(found.len(), 1);
    assert_eq!(line_of(&found[0]), &json!(8));
    let none = race("total", [access(1, None, 0), access(2, None, 0)]);
    assert!(results(&[none], &[]).is_empty());
}

#[test]
fn a_deadlock_that_can_be_is_a_result_with_all_its_threads() {
    let found = results(&[], &[deadlock()]);
    assert_eq!(found[0]["ruleId"], "lock-order");
    assert_eq!(found[0]["ruleIndex"], 3);
    assert_eq!(line_of(&found[0]), &json!(9));
    assert_eq!(found[0]["relatedLocations"].as_array().unwrap().len(), 1);
}

#[test]
fn what_the_recordings_lack_is_in_the_log() {
    let log = races_sarif(&[], &[], Path::new("/p"), &["the disk was full".to_owned()]);
    let told = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"];
    assert_eq!(told["text"], "the disk was full");
}
