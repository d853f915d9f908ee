//! Races and forced orders for tests.

use serde_json::json;

use super::{ForcedOrder, ForcedRace, RaceFinding};
use crate::confirmed::{Confirmation, Confirmed};

/// An order that was forced in some runs; where it never came about, nobody came.
pub fn order(steps: &[&str], runs: u32, hits: u32, failures: u32) -> ForcedOrder {
    ForcedOrder {
        pattern: "P1".to_owned(),
        steps: steps.iter().map(|&step| step.to_owned()).collect(),
        runs,
        hits,
        failures,
        confirmed: None,
        obstacle: (hits == 0).then(|| "nobody came".to_owned()),
    }
}

/// The same with a verdict, which needs its inverse as well.
pub fn judged(order: ForcedOrder, inverse_hits: u32, verdict: Confirmation) -> ForcedOrder {
    let inverse_failures = if verdict == Confirmation::Refuted { inverse_hits } else { 0 };
    let confirmed = Confirmed {
        forced_runs: order.runs,
        forced_hits: order.hits,
        forced_failures: order.failures,
        inverse_runs: order.runs,
        inverse_hits,
        inverse_failures,
        baseline_runs: 0,
        baseline_failures: 0,
        verdict,
        doubt: None,
    };
    ForcedOrder { confirmed: Some(confirmed), ..order }
}

/// A race of two lines of a build.
pub fn race(lines: [u32; 2], build: &str, forced: Option<ForcedRace>) -> RaceFinding {
    let access = |role: u8, line: u32| {
        json!({
            "role": role, "kind": "write", "variable": "x", "function": "f", "file": "a.c",
            "line": line, "column": 1, "inlined_into": [], "thread": role, "process": 0,
            "atomic": false, "order": role, "stack": [], "locks": [],
            "code": { "module": "a", "build_id": build, "offset": format!("0x{line}") },
        })
    };
    let race = json!({
        "detectors": ["lockset"], "sentence": "", "why": "", "variable": "x",
        "allocated_at": null, "unordered": 0, "unlocked": 1, "runs": 1, "example_run": 1,
        "own_code": true, "accesses": [access(1, lines[0]), access(2, lines[1])], "steps": [],
    });
    RaceFinding { forced, ..serde_json::from_value(race).unwrap() }
}
