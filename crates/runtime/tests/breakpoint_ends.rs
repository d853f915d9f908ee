//! Ends while an order is under way: who has no step left to make waits until others have made theirs, if they can.

mod schedule;
mod stage;

use schedule::{Place, Schedule};
use stage::{A, B, C, MAKES, Stage, WAITS, X, Y, pair, sandwich};
use unpick_events::schedule::Mode;
use unpick_runtime::breakpoints::order::{GiveUp, SETTLED, Who};

fn is_under_way_without(stage: &mut Stage, who: Who) -> bool {
    stage.now += 1;
    stage.order.is_under_way_without(&stage.plan, who, stage.now)
}

fn is_followed(stage: &mut Stage, who: Who) -> bool {
    stage.now += 1;
    stage.order.is_followed(&stage.plan, who, stage.now)
}

fn is_followed_at_once(stage: &mut Stage, who: Who) -> bool {
    stage.now += 1;
    stage.order.is_followed_at_once(&stage.plan, who, stage.now)
}

#[test]
fn an_exit_waits_from_the_first_step_until_the_last_is_made() {
    let mut stage = Stage::of(&pair());
    assert!(!is_under_way_without(&mut stage, C), "nothing has begun");
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert!(is_under_way_without(&mut stage, A), "it has made its only step");
    assert!(is_under_way_without(&mut stage, C));
    assert_eq!(stage.at(B, 20, X), MAKES(1));
    assert!(is_under_way_without(&mut stage, A), "the last step is not made yet");
    stage.event(B);
    assert!(!is_under_way_without(&mut stage, A));
}

#[test]
fn an_exit_waits_for_no_step_of_its_own() {
    let mut stage = Stage::of(&sandwich());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert!(!is_under_way_without(&mut stage, A), "its last step would be missing");
    assert!(is_under_way_without(&mut stage, C));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    stage.give_up(A, 2, GiveUp::TimedOut);
    assert!(!is_under_way_without(&mut stage, C), "it was given up");
}

#[test]
fn an_exit_waits_for_orders_that_are_forced_only() {
    for mode in [Mode::Serialise, Mode::Reverse] {
        let mut stage = Stage::of(&Schedule { mode, ..sandwich() });
        stage.does(A, 10, X);
        assert!(!is_under_way_without(&mut stage, C), "{mode:?}");
    }
}

#[test]
fn a_last_step_is_taken_as_made_after_a_while() {
    let mut stage = Stage::of(&pair());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(B, 20, X), MAKES(1));
    stage.now += SETTLED;
    assert!(!is_under_way_without(&mut stage, A));
}

#[test]
fn a_thread_with_no_step_left_is_followed_by_who_is_there() {
    let mut stage = Stage::of(&sandwich());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    assert_eq!(stage.at(B, 20, X), MAKES(1));
    assert!(is_followed(&mut stage, B));
    assert!(!is_followed(&mut stage, C), "it has no part in it");
    assert_eq!(stage.at(A, 12, X), MAKES(2));
    assert!(is_followed(&mut stage, B), "the last step is not made yet");
    assert!(!is_followed(&mut stage, C));
    stage.event(A);
    assert!(!is_followed(&mut stage, B));
}

#[test]
fn a_thread_is_not_followed_by_who_is_still_on_its_way_or_elsewhere() {
    let mut stage = Stage::of(&pair());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert!(!is_followed(&mut stage, A), "B may never come");
    assert_eq!(stage.at(B, 20, Y), WAITS(1));
    assert!(!is_followed(&mut stage, A), "B waits for the first step on other bytes");
}

#[test]
fn a_thread_goes_on_where_the_last_step_shall_be_made_later() {
    let mut stage = Stage::of(&Schedule { linger: SETTLED, ..sandwich() });
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    assert!(!is_followed(&mut stage, B));
}

#[test]
fn undisturbed_a_thread_does_nothing_more_unless_who_follows_needs_a_lock() {
    let until_second = |schedule: Schedule, at: u64| {
        let mut stage = Stage::of(&schedule);
        assert_eq!(stage.does(A, 10, X), MAKES(0));
        assert_eq!(stage.at(A, at, X), WAITS(2));
        assert_eq!(stage.does(B, 20, X), MAKES(1));
        stage
    };
    let undisturbed = Schedule { undisturbed: true, ..sandwich() };
    let mut with_gate = undisturbed.clone();
    with_gate.places.push(Place::gate(2, 0, 112));
    assert!(is_followed_at_once(&mut until_second(undisturbed, 12), B));
    assert!(!is_followed_at_once(&mut until_second(sandwich(), 12), B), "unless the plan says so");
    let mut at_gate = until_second(with_gate, 112);
    assert!(!is_followed_at_once(&mut at_gate, B), "it may have the lock that A needs");
    assert!(is_followed(&mut at_gate, B), "at its end it has none, or that is seen");
}
