//! Orders the other way round: threads kept apart, or the last step before the first.

mod schedule;
mod stage;

use schedule::{Place, Schedule};
use stage::{A, B, C, MAKES, PASSES, Stage, WAITS, X, Y, pair, sandwich};
use unpick_events::schedule::Mode;
use unpick_runtime::breakpoints::order::{Answer, GiveUp, SETTLED, Who};

fn serialised() -> Schedule {
    Schedule { mode: Mode::Serialise, ..sandwich() }
}

/// `other` waits at `offset` for a second thread; that is A, which is inside then.
fn inside_before(other: Who, offset: u64) -> Stage {
    let mut stage = Stage::of(&serialised());
    assert!(matches!(stage.at(other, offset, X), Answer::Wait { .. }), "nobody else is there");
    assert_eq!(stage.does(A, 10, X), PASSES);
    assert!(matches!(stage.at(other, offset, X), Answer::Wait { .. }), "A is inside");
    stage
}

#[test]
fn only_one_thread_is_between_first_and_last() {
    let mut stage = inside_before(B, 20);
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.at(A, 12, X), MAKES(2));
    assert_eq!(stage.at(B, 20, X), WAITS(1), "A is still at its last step");
    stage.event(A);
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.hits(), (0, 1), "two threads came by, one after the other");
}

#[test]
fn who_was_inside_lets_another_go_first() {
    let mut stage = inside_before(B, 20);
    assert_eq!(stage.does(A, 12, X), MAKES(2));
    assert_eq!(stage.at(A, 10, X), WAITS(0), "B has waited");
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.at(A, 10, X), PASSES);
}

#[test]
fn who_waits_for_a_second_thread_in_vain_goes_on_and_soon_waits_no_more() {
    let mut stage = Stage::of(&serialised());
    for _ in 0..3 {
        assert_eq!(stage.at(A, 10, X), WAITS(0));
        stage.give_up(A, 0, GiveUp::TimedOut);
        assert_eq!(stage.does(A, 12, X), MAKES(2));
    }
    assert_eq!(stage.does(A, 10, X), PASSES);
    assert_eq!(stage.does(A, 12, X), MAKES(2));
    assert_eq!(stage.hits(), (0, 0), "there was nobody to be kept apart from");
}

#[test]
fn who_is_alone_waits_again_when_there_are_others() {
    let mut stage = Stage::of(&serialised());
    for _ in 0..10 {
        assert_eq!(stage.at(A, 10, X), WAITS(0));
        stage.give_up(A, 0, GiveUp::Alone);
        assert_eq!(stage.does(A, 12, X), MAKES(2));
    }
    assert_eq!(stage.at(A, 10, X), WAITS(0));
}

/// A thread of a deadlock may come to its wait several times with one lock in hand.
#[test]
fn who_comes_with_a_lock_that_is_followed_is_alone_until_it_gives_that_back() {
    let waits = |step, offset| Place { holds: true, ..Place::step(step, step, offset).on(None) };
    let gate = |step, offset| Place::gate(step, step, offset);
    let places = vec![gate(0, 9), waits(0, 10), gate(1, 19), waits(1, 20)];
    let mut stage = Stage::of(&Schedule::new(Mode::Serialise, places));
    assert_eq!(stage.at(A, 9, X), PASSES);
    for _ in 0..2 {
        assert_eq!(stage.does(A, 10, X), MAKES(0));
        assert_eq!(stage.at(B, 19, X), WAITS(1), "A has its lock");
    }
    assert!(!stage.order.gives_lock_back(&stage.plan, A, |_| true), "another lock");
    assert_eq!(stage.at(B, 19, X), WAITS(1));
    assert!(stage.order.gives_lock_back(&stage.plan, A, |_| false));
    assert_eq!(stage.at(B, 19, X), PASSES);
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert!(stage.order.gives_lock_back(&stage.plan, B, |_| false));
    assert_eq!(stage.hits(), (0, 1));
}

#[test]
fn who_takes_its_lock_again_has_left_the_region() {
    let waits = |step, offset| Place::step(step, step, offset).on(None);
    let gate = |step, offset| Place::gate(step, step, offset);
    let places = vec![gate(0, 9), waits(0, 10), gate(1, 19), waits(1, 20)];
    let mut stage = Stage::of(&Schedule::new(Mode::Serialise, places));
    assert_eq!(stage.at(A, 9, X), PASSES, "nobody waits for a second thread");
    assert_eq!(stage.at(B, 19, X), WAITS(1));
    assert_eq!(stage.at(A, 9, X), WAITS(0), "A was not at its step, and gives way");
    assert_eq!(stage.at(B, 19, X), PASSES);
}

#[test]
fn who_waited_long_enough_takes_the_region() {
    let mut stage = inside_before(C, 10);
    stage.give_up(C, 0, GiveUp::TimedOut);
    assert_eq!(stage.at(B, 20, X), WAITS(1), "C is inside now");
    assert_eq!(stage.does(C, 12, X), MAKES(2));
    assert_eq!(stage.hits(), (0, 0), "A may never come back");
    assert_eq!(stage.does(A, 12, X), PASSES);
    assert_eq!(stage.hits(), (1, 0), "C was inside between two steps of A");
    assert_eq!(stage.does(B, 20, X), MAKES(1));
}

#[test]
fn who_took_the_region_for_a_single_step_leaves_it_after_that() {
    let mut stage = inside_before(B, 20);
    stage.give_up(B, 1, GiveUp::TimedOut);
    assert_eq!(stage.at(C, 10, X), WAITS(0), "B makes its step");
    stage.event(B);
    assert_eq!(stage.at(C, 10, X), PASSES);
    assert_eq!(stage.does(A, 12, X), PASSES);
    assert_eq!(stage.hits().0, 1, "B came between two steps of A");
}

#[test]
fn who_was_robbed_and_begins_again_was_not_inside() {
    let mut stage = inside_before(C, 10);
    stage.give_up(C, 0, GiveUp::TimedOut);
    assert_eq!(stage.does(C, 12, X), MAKES(2));
    assert_eq!(stage.does(A, 10, X), PASSES);
    assert_eq!(stage.does(A, 12, X), MAKES(2));
    assert_eq!(stage.hits(), (0, 1));
}

#[test]
fn a_thread_that_ends_leaves_the_region() {
    let mut stage = inside_before(B, 20);
    stage.end(A);
    assert_eq!(stage.at(B, 20, X), MAKES(1));
}

#[test]
fn a_role_with_an_exit_is_inside_until_it_comes_there() {
    let whole = vec![
        Place::gate(0, 0, 5),
        Place::step(0, 0, 10),
        Place::step(1, 1, 20),
        Place::step(2, 0, 12),
        Place::exit(2, 0, 15),
    ];
    let mut stage = Stage::of(&Schedule { mode: Mode::Serialise, ..Schedule::force(whole) });
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.does(A, 5, X), PASSES);
    for _ in 0..3 {
        assert_eq!(stage.does(A, 10, X), PASSES);
        assert_eq!(stage.does(A, 12, X), PASSES);
        assert_eq!(stage.at(B, 20, X), WAITS(1), "A may come to its steps again");
    }
    assert_eq!(stage.at(A, 15, X), MAKES(2));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.hits(), (0, 1));
}

#[test]
fn a_step_of_another_in_a_role_with_an_exit_is_a_hit() {
    let whole = vec![
        Place::gate(0, 0, 5),
        Place::step(0, 0, 10),
        Place::step(1, 1, 20),
        Place::step(2, 0, 12),
        Place::exit(2, 0, 15),
    ];
    let mut stage = Stage::of(&Schedule { mode: Mode::Serialise, ..Schedule::force(whole) });
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.does(A, 5, X), PASSES);
    assert_eq!(stage.does(A, 10, X), PASSES);
    stage.give_up(B, 1, GiveUp::TimedOut);
    stage.event(B);
    assert_eq!(stage.does(A, 10, X), PASSES, "in a loop it is inside still");
    assert_eq!(stage.hits().0, 1);
}

#[test]
fn reversed_the_first_step_waits_for_the_last() {
    let mut stage = Stage::of(&Schedule { mode: Mode::Reverse, ..pair() });
    assert_eq!(stage.at(A, 10, X), WAITS(0));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.at(A, 10, X), WAITS(0), "the last may come again");
    stage.now += SETTLED;
    assert_eq!(stage.at(A, 10, X), MAKES(0));
    assert_eq!(stage.hits(), (0, 1));
}

#[test]
fn reversed_a_first_step_that_gave_up_is_a_hit_when_the_last_follows() {
    let mut stage = Stage::of(&Schedule { mode: Mode::Reverse, ..pair() });
    assert_eq!(stage.at(A, 10, X), WAITS(0));
    stage.give_up(A, 0, GiveUp::TimedOut);
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn reversed_a_first_step_that_gave_up_after_the_last_is_an_inverse_hit() {
    let mut stage = Stage::of(&Schedule { mode: Mode::Reverse, ..pair() });
    assert_eq!(stage.at(A, 10, X), WAITS(0));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.at(A, 10, X), WAITS(0));
    stage.give_up(A, 0, GiveUp::Alone);
    assert_eq!(stage.hits(), (0, 1));
}

#[test]
fn reversed_who_gives_up_does_so_with_its_own_bytes() {
    let mut stage = Stage::of(&Schedule { mode: Mode::Reverse, ..pair() });
    assert_eq!(stage.at(A, 10, X), WAITS(0));
    assert_eq!(stage.at(C, 10, Y), WAITS(0));
    stage.give_up(A, 0, GiveUp::TimedOut);
    assert_eq!(stage.does(B, 20, Y), MAKES(1));
    assert_eq!(stage.hits(), (0, 0));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.hits(), (1, 0));
}

/// A looks at x, and at y later; B writes between.
fn looking() -> Schedule {
    let mut places = sandwich().places;
    places[0].reads = true;
    Schedule::new(Mode::Serialise, places)
}

#[test]
fn who_looks_again_has_left_the_region() {
    let mut stage = Stage::of(&looking());
    assert_eq!(stage.at(B, 20, X), WAITS(1), "nobody else is there");
    assert_eq!(stage.does(A, 10, X), PASSES);
    assert_eq!(stage.at(B, 20, X), WAITS(1), "A has looked, and not done what it does then");
    assert_eq!(stage.at(A, 10, X), WAITS(0), "A looks again: B goes first");
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.does(A, 10, X), PASSES);
    assert_eq!(stage.does(A, 12, X), MAKES(2));
    assert_eq!(stage.hits(), (0, 1), "one after the other");
}

#[test]
fn who_looks_at_something_else_or_writes_stays_in_the_region() {
    let mut stage = Stage::of(&looking());
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.does(A, 10, X), PASSES);
    assert_eq!(stage.does(A, 10, Y), PASSES, "what it saw of x still counts");
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    let mut stage = inside_before(B, 20);
    assert_eq!(stage.does(A, 10, X), PASSES, "what it wrote before lasts");
    assert_eq!(stage.at(B, 20, X), WAITS(1));
}
