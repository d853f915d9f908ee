//! A run that hung, as people read it.

use std::path::PathBuf;

use unpick_findings::{Confirmation, Confirmed, Findings, Hang, HangGroup, Runs};
use unpick_report::{Style, hang, terminal};

fn style() -> Style {
    Style {
        width: 80,
        colour: false,
        folder: PathBuf::new(),
        command_options: String::new(),
        kept_lines: Default::default(),
    }
}

/// Two threads in a deadlock, one that computes, one of which only the last event is known.
const HANG: &str = r#"{
  "schema": "unpick-hang/1",
  "sentence": "thread 2 waits for log.lock at log.c:9, held by thread 3, which waits for cache_lock at cache.c:22, held by thread 2: a deadlock",
  "deadlock": true,
  "processes": [{"process": 77, "deadlocks": [[2, 3]], "threads": [
    {"thread": 1, "activity": "sleeping", "function": "main", "file": "cache.c", "line": 30, "column": 5, "inlined_into": [], "stack": [],
     "is_now": true, "holds": [],
     "waits_for": {"what": "condition", "name": "done", "lock_kind": null, "shared": false, "limited": false, "mutex": "guard", "threads": []}},
    {"thread": 2, "activity": "sleeping", "function": "write_log", "file": "src/log.c", "line": 9, "column": 5, "inlined_into": [],
     "stack": [{"function": "update", "file": "src/cache.c", "line": 16, "column": 5}, {"function": null, "file": null, "line": null, "column": null}],
     "is_now": true,
     "holds": [{"name": "cache_lock", "kind": "mutex", "shared": false, "taken_at": {"function": "update", "file": "src/cache.c", "line": 14, "column": 5}}],
     "waits_for": {"what": "lock", "name": "log.lock (heap, allocated at log.c:3)", "lock_kind": "mutex", "shared": false, "limited": false, "mutex": null, "threads": [3]}},
    {"thread": 3, "activity": "running", "function": "spin", "file": "src/cache.c", "line": 40, "column": 9, "inlined_into": [], "stack": [],
     "is_now": true, "holds": [], "waits_for": null},
    {"thread": 4, "activity": "unknown", "function": null, "file": null, "line": null, "column": null, "inlined_into": [], "stack": [],
     "is_now": false, "holds": [], "waits_for": null}
  ]}]
}"#;

#[test]
fn a_hang_is_shown_thread_by_thread() {
    let text = hang(&Hang::from_json(HANG).unwrap(), 12, &style());
    insta::assert_snapshot!("hang_80", text);
    assert!(text.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn names_from_a_damaged_file_cannot_steer_the_terminal() {
    let damaged = HANG.replace("cache_lock", "\\u001b[31mlock").replace("spin", "\\u001b[2J");
    assert!(!hang(&Hang::from_json(&damaged).unwrap(), 12, &style()).contains('\x1b'));
}

#[test]
fn how_runs_hung_comes_before_the_findings() {
    let runs = Runs { total: 9, passed: 0, failed: 9, unusable: 0 };
    let group = HangGroup {
        sentence: "thread 1 waits for a at a.c:1, which it holds itself: a deadlock".to_owned(),
        lost_notification: false,
        deadlock: true,
        failed_runs: 8,
        example_run: 3,
        ways: Vec::new(),
        confirmed: Some(Confirmed {
            forced_runs: 5,
            forced_hits: 5,
            forced_failures: 5,
            inverse_runs: 5,
            inverse_hits: 4,
            inverse_failures: 0,
            baseline_runs: 0,
            baseline_failures: 0,
            verdict: Confirmation::Cause,
            doubt: None,
        }),
    };
    let text = terminal(&Findings::of_hangs(runs, "jaccard", vec![group]), &style());
    insta::assert_snapshot!("hung_runs", text);
}
