//! Orders without turns: who comes to a step that another thread's should come before waits, whoever it is.

mod schedule;
mod stage;

use schedule::{Place, Schedule};
use stage::{A, B, C, PASSES, Stage, WAITS, X, Y, pair, sandwich};
use unpick_runtime::breakpoints::order::GiveUp;

#[test]
fn only_later_steps_of_a_thread_wait_every_time_and_on_any_bytes() {
    let mut stage = Stage::of(&Schedule { window: true, ..sandwich() });
    assert_eq!(stage.at(A, 10, X), PASSES);
    assert_eq!(stage.at(B, 20, X), PASSES);
    for object in [X, Y, X] {
        assert_eq!(stage.at(A, 12, object), WAITS(2));
        assert_eq!(stage.at(C, 12, object), WAITS(2), "whoever comes");
        stage.give_up(A, 2, GiveUp::TimedOut);
        stage.give_up(C, 2, GiveUp::TimedOut);
    }
    assert_eq!(stage.hits(), (0, 0), "the recording tells what came about");
}

#[test]
fn a_thread_waits_at_the_gate_of_its_step_if_there_is_one() {
    let mut places = sandwich().places;
    places.push(Place::gate(2, 0, 11));
    let mut stage = Stage::of(&Schedule { window: true, ..Schedule::force(places) });
    assert_eq!(stage.at(A, 11, X), WAITS(2));
    stage.give_up(A, 2, GiveUp::TimedOut);
    assert_eq!(stage.at(A, 12, X), PASSES, "it has the lock that others need");
    assert_eq!(stage.at(A, 11, X), WAITS(2), "the next time");
}

#[test]
fn of_two_steps_the_last_waits() {
    let mut stage = Stage::of(&Schedule { window: true, ..pair() });
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.at(A, 10, X), PASSES);
}
