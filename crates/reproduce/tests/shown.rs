//! A run that had the order of a plan shows it in its patterns.

mod made;
#[path = "../../analyses/tests/traces/mod.rs"]
mod traces;

use made::finding;
use traces::collect;
use unpick_analyses::interleaving_patterns::{CodeModule, PatternId};
use unpick_analyses::{Options, RunPatterns};
use unpick_reproduce::{ModuleName, Plan};

/// The patterns of a run in which all code is of one module; sites are their own addresses.
fn run(trace: &str) -> RunPatterns {
    let mut run = collect(trace, Options::default());
    let module = CodeModule {
        build_id: "b1d".to_owned(),
        path: "/home/me/bank".to_owned(),
        lowest: 0,
        length: 0x1000,
    };
    run.modules = vec![module];
    run.sites.iter_mut().for_each(|site| site.module = Some(0));
    run
}

/// Reads at 5, another writes at 10, reads at 20.
fn plan() -> Plan {
    let mut plan = Plan::of_finding(&finding(PatternId::P4)).unwrap();
    for (step, offset) in plan.steps.iter_mut().zip([5, 10, 20]) {
        step.places[0].at.offset = offset;
        step.places[0].at.module = ModuleName::BuildId("b1d".to_owned());
    }
    plan
}

#[test]
fn an_order_is_shown_by_the_runs_that_had_it() {
    assert!(plan().is_shown_by(&run("2r x 5, 1w x 10, 2r x 20")));
    assert!(!plan().is_shown_by(&run("2r x 5, 2r x 20, 1w x 10")));
    assert!(!plan().is_shown_by(&run("2r x 5, 1w x 10, 2w x 20")), "that is another pattern");
}

#[test]
fn any_copy_of_a_place_will_do_but_no_other_build() {
    let mut copied = plan();
    copied.steps[2].places[0].at.offset = 21;
    assert!(!copied.is_shown_by(&run("2r x 5, 1w x 10, 2r x 20")));
    let copy = plan().steps[2].places[0].clone();
    copied.steps[2].places.push(copy);
    assert!(copied.is_shown_by(&run("2r x 5, 1w x 10, 2r x 20")));
    let mut other = run("2r x 5, 1w x 10, 2r x 20");
    other.modules[0].build_id = "0ther".to_owned();
    assert!(!plan().is_shown_by(&other));
}

#[test]
fn a_log_shows_orders_of_two_variables_and_no_others() {
    let is_of_units =
        |pattern: PatternId| Plan::of_finding(&finding(pattern)).unwrap().is_of_units();
    assert!(PatternId::all().all(|pattern| is_of_units(pattern) == (pattern >= PatternId::P9)));
}
