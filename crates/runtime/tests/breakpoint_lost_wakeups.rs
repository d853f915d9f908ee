//! Lost wakeups: a thread tests (10, before which it takes its lock at 9) and waits (12); another is kept in front of its write (19) until
//! then, and notifies (20).

mod schedule;
mod stage;

use schedule::{Place, Schedule};
use stage::{A, B, C, MAKES, PASSES, Stage, WAITS, X, Y};
use unpick_events::schedule::Mode;
use unpick_runtime::breakpoints::order::{Afterwards, GiveUp};

fn lost_wakeup() -> Schedule {
    Schedule::force(vec![
        Place::gate(0, 0, 9).on(None),
        Place::step(0, 0, 10),
        Place::gate(1, 1, 19),
        Place::step(1, 1, 20),
        Place::step(2, 0, 12).on(None),
    ])
}

/// A has waited until nobody else could go on, has tested, and is about to wait.
fn tested() -> Stage {
    let mut stage = Stage::of(&lost_wakeup());
    assert_eq!(stage.at(B, 19, X), WAITS(1));
    assert_eq!(stage.at(A, 9, X), WAITS(0), "others still go on");
    assert_eq!(stage.order.goes_last(A), Some(true), "B waits for it");
    assert_eq!(stage.give_up(A, 0, GiveUp::Blocked), Afterwards::AsksAgain);
    assert_eq!(stage.at(A, 9, X), PASSES);
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    stage
}

#[test]
fn the_write_comes_between_test_and_wait() {
    let mut stage = tested();
    assert_eq!(stage.at(B, 19, X), PASSES);
    assert_eq!(stage.at(C, 19, Y), PASSES, "another object");
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.at(A, 12, X), MAKES(2));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn any_of_several_that_write_may_be_the_one_that_notifies() {
    let mut stage = tested();
    assert_eq!(stage.at(B, 19, X), PASSES);
    assert_eq!(stage.at(C, 19, X), PASSES);
    assert_eq!(stage.does(C, 20, X), MAKES(1));
    assert_eq!(stage.at(A, 12, X), MAKES(2));
}

#[test]
fn nobody_waits_for_a_thread_that_goes_last_unless_it_is_about_to_write() {
    let mut stage = Stage::of(&lost_wakeup());
    assert_eq!(stage.at(A, 9, X), WAITS(0));
    assert_eq!(stage.order.goes_last(A), Some(false));
    assert_eq!(stage.order.goes_last(B), None);
}

#[test]
fn who_tests_again_has_seen_what_others_did_before() {
    let mut stage = tested();
    // Others need its lock: it goes on, and waits without having been seen to.
    stage.give_up(A, 2, GiveUp::InTheWay);
    assert_eq!(stage.at(B, 19, X), WAITS(1), "A is not about to wait any more");
    stage.give_up(B, 1, GiveUp::TimedOut);
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.does(A, 10, X), MAKES(0), "it was woken, and looks again");
    assert_eq!(stage.at(A, 12, X), WAITS(2), "the notification before does not count");
    assert_eq!(stage.hits(), (0, 0));
}

#[test]
fn who_tested_and_comes_to_write_has_not_waited() {
    let mut stage = tested();
    stage.give_up(A, 2, GiveUp::InTheWay);
    assert_eq!(stage.at(A, 19, Y), WAITS(1), "now it is the one to notify");
    assert_eq!(stage.at(C, 9, Y), WAITS(0));
    assert_eq!(stage.order.goes_last(C), Some(true));
}

/// The inverse: test and wait of one, or the write of the other.
fn kept_apart() -> Stage {
    let mut stage = Stage::of(&Schedule::new(
        Mode::Serialise,
        vec![
            Place::gate(0, 0, 9).on(None),
            Place::step(0, 0, 10),
            Place::step(1, 0, 12).on(None),
            Place::step(2, 1, 19),
        ],
    ));
    assert_eq!(stage.at(B, 19, X), WAITS(2), "it waits for a second one");
    assert_eq!(stage.at(A, 9, X), PASSES);
    assert_eq!(stage.at(A, 10, X), PASSES);
    assert_eq!(stage.at(B, 19, X), WAITS(2), "A has tested");
    stage
}

#[test]
fn prevented_the_write_comes_after_the_wait() {
    let mut stage = kept_apart();
    assert_eq!(stage.does(A, 12, X), MAKES(1));
    assert_eq!(stage.does(B, 19, X), MAKES(2));
    assert_eq!(stage.hits(), (0, 1));
}

#[test]
fn prevented_who_need_not_wait_gives_its_lock_back_and_is_out() {
    let mut stage = kept_apart();
    assert!(!stage.order.gives_lock_back(&stage.plan, B, |_| false), "it is not inside");
    assert!(stage.order.gives_lock_back(&stage.plan, A, |_| false));
    assert_eq!(stage.at(B, 19, X), MAKES(2));
}

#[test]
fn prevented_who_takes_its_lock_again_is_out_too() {
    let mut stage = kept_apart();
    assert_eq!(stage.at(A, 9, X), WAITS(0), "it lets B go first");
    assert_eq!(stage.at(B, 19, X), MAKES(2));
}
