//! How deadlocks that can be are listed.

use unpick_findings::{CandidateDeadlock, Hang};
use unpick_report::{Style, deadlocks};

const HANG: &str = r#"{
  "schema": "unpick-hang/1",
  "sentence": "thread 2 waits for log.lock at log.c:9, held by thread 3, which waits for cache_lock at cache.c:22, held by thread 2: a deadlock",
  "deadlock": true,
  "processes": [{"process": 77, "deadlocks": [[2, 3]], "threads": [
    {"thread": 2, "activity": "unknown", "function": "write_log", "file": "src/log.c", "line": 9, "column": 5, "inlined_into": [], "stack": [],
     "is_now": true,
     "holds": [{"name": "cache_lock", "kind": "mutex", "shared": false, "taken_at": {"function": "update", "file": "src/cache.c", "line": 14, "column": 5}}],
     "waits_for": {"what": "lock", "name": "log.lock (heap, allocated at log.c:3)", "lock_kind": "mutex", "shared": false, "limited": false, "mutex": null, "threads": [3]}},
    {"thread": 3, "activity": "unknown", "function": "flush", "file": "src/cache.c", "line": 22, "column": 9, "inlined_into": [], "stack": [],
     "is_now": true,
     "holds": [{"name": null, "kind": "rwlock", "shared": true, "taken_at": {"function": null, "file": null, "line": null, "column": null}}],
     "waits_for": {"what": "lock", "name": "cache_lock", "lock_kind": "mutex", "shared": false, "limited": false, "mutex": null, "threads": [2]}}
  ]}]
}"#;

fn candidate(hang: &str) -> CandidateDeadlock {
    CandidateDeadlock {
        sentence: String::new(),
        runs: 1,
        example_run: 1,
        ways: 1,
        hang: Hang::from_json(hang).unwrap(),
        confirmed: None,
    }
}

fn shown(all: &[CandidateDeadlock]) -> String {
    let (folder, kept_lines, command_options) = Default::default();
    deadlocks(all, &Style { width: 80, colour: false, folder, kept_lines, command_options })
}

#[test]
fn each_thread_says_what_it_holds_and_asks_for() {
    let text = shown(&[candidate(HANG)]);
    for line in [
        "1. 2 threads, locks in different orders",
        "   thread 2 holds cache_lock (taken at cache.c:14), asks for log.lock at",
        "   can it be? unpick confirm --deadlock 1",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn of_many_only_the_first_are_listed() {
    let text = shown(&vec![candidate(HANG); 30]);
    assert!(text.contains("20. ") && !text.contains("21. "), "{text}");
    assert!(text.contains("and 10 more: see --json"), "{text}");
}

#[test]
fn names_from_a_damaged_file_cannot_steer_the_terminal() {
    let damaged = HANG.replace("cache_lock", "\\u001b[31mlock");
    assert!(!shown(&[candidate(&damaged)]).contains('\x1b'));
}
