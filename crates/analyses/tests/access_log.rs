//! Torn units, counted by the accesses of a run and not by windows of pairs.

mod traces;

use traces::{collect, names, record, steps};
use unpick_analyses::access_log::{AccessLog, LogCollector, LogStep};
use unpick_analyses::interleaving_patterns::CodeSite;
use unpick_analyses::{Options, PatternId};

fn log(trace: &str) -> AccessLog {
    let recording = record(&steps(trace));
    let mut collector = LogCollector::default();
    collector.add(&recording, &recording);
    collector.finish().unwrap()
}

/// Whether a run has a pattern at these sites, by its accesses.
fn has(trace: &str, pattern: PatternId, sites: [u64; 4]) -> bool {
    let steps = pattern.steps();
    let steps = std::array::from_fn(|at| LogStep {
        role: steps[at].role,
        variable: steps[at].variable as u8,
    });
    log(trace).has(&steps, |step, site: CodeSite, _| site.offset == sites[step])
}

/// `x` is linked at 10 and `y` counted at 20 by whoever puts; both are cleared at 30 and 40.
const TORN: &str = "1w x 10, 3w x 30, 3w y 40, 1w y 20";
const SERIAL: &str = "1w x 10, 1w y 20, 3w x 30, 3w y 40, 1w x 10, 1w y 20";
const SITES: [u64; 4] = [10, 30, 40, 20];

#[test]
fn a_unit_that_another_thread_comes_between_is_torn() {
    assert!(has(TORN, PatternId::P9, SITES));
    assert!(!has(TORN, PatternId::P9, [10, 30, 40, 21]), "other code");
}

#[test]
fn operations_one_after_the_other_are_no_torn_unit() {
    let pattern = "P9 10 30 40 20".to_owned();
    let by_window = names(&collect(SERIAL, Options::by_window_only()));
    assert!(by_window.contains(&pattern), "as the papers define it: {by_window:?}");
    let patterns = names(&collect(SERIAL, Options::default()));
    assert!(!patterns.contains(&pattern), "{patterns:?}");
    assert!(!has(SERIAL, PatternId::P9, SITES));
}

#[test]
fn what_a_window_hides_is_still_torn() {
    let others = "2w x 10, 2w y 20, ".repeat(12);
    let trace = format!("1w x 10, {others}3w x 30, 3w y 40, {others}1w y 20");
    assert!(has(&trace, PatternId::P9, SITES));
}

#[test]
fn both_threads_take_turns_in_their_roles() {
    let crossed = "1w x 10, 2w y 40, 1w y 20, 2w x 30";
    assert!(has(crossed, PatternId::P11, [10, 40, 20, 30]));
    assert!(!has(crossed, PatternId::P9, SITES), "the other unit is not inside of it");
}

#[test]
fn steps_of_one_variable_touch_the_same_bytes() {
    assert!(!has("1w x 10, 3w z 30, 3w y 40, 1w y 20", PatternId::P9, SITES));
}

#[test]
fn a_run_that_is_too_long_has_no_log() {
    let recording = record(&steps(&["1w x 1, 2w x 2"; 10_001].join(", ")));
    let mut collector = LogCollector::default();
    collector.add(&recording, &recording);
    assert!(collector.finish().is_none());
}
