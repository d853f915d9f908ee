//! Undisturbed orders: who has no role stays away from the locks and bytes of those that have one.

mod schedule;
mod stage;

use schedule::{Place, Schedule};
use stage::{A, B, C, LOCK, MAKES, PASSES, Stage, WAITS, X, Y, bytes_of, sandwich};
use unpick_runtime::breakpoints::order::{Arrival, GiveUp, Who};

/// A thread that is about to take a lock, by a way that leads to no step.
fn stands_aside(stage: &mut Stage, who: Who, lock: u64) -> bool {
    stage.now += 1;
    stage.order.stands_aside(&stage.plan, who, lock, stage.now)
}

#[test]
fn undisturbed_others_stand_aside_from_the_lock_that_a_role_waits_for() {
    let mut stage = Stage::of(&Schedule { undisturbed: true, ..sandwich() });
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert!(!stands_aside(&mut stage, C, LOCK), "A may never come to its next step");
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    stage.order.guard(A, LOCK);
    assert!(stands_aside(&mut stage, C, LOCK));
    assert!(!stands_aside(&mut stage, C, LOCK + 8), "another lock");
    assert!(!stands_aside(&mut stage, A, LOCK), "its own");
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert!(stands_aside(&mut stage, C, LOCK), "until the last step");
    assert!(!stands_aside(&mut stage, B, LOCK), "B has a role by now");
    assert_eq!(stage.does(A, 12, X), MAKES(2));
    assert!(!stands_aside(&mut stage, C, LOCK), "it is over");
}

/// A thread that is at a step, not in its turn.
fn keeps_away(stage: &Stage, who: Who, offset: u64, object: u64) -> bool {
    let mut entries = stage.plan.entries().iter().filter(|entry| entry.offset == offset);
    entries.any(|entry| {
        let arrival = Arrival { entry, bytes: bytes_of(entry, object) };
        stage.order.keeps_away(&stage.plan, who, &arrival)
    })
}

#[test]
fn undisturbed_nobody_comes_between_the_last_two_steps() {
    let mut stage = Stage::of(&Schedule { undisturbed: true, ..sandwich() });
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    assert!(!keeps_away(&stage, B, 10, X), "B may be on its way to the second step");
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.at(B, 10, X), PASSES);
    assert!(keeps_away(&stage, B, 10, X), "B has made its step, the last one is missing");
    assert!(keeps_away(&stage, C, 20, X));
    assert!(!keeps_away(&stage, C, 20, Y), "other bytes");
    assert!(!keeps_away(&stage, A, 12, X), "its own");
    assert_eq!(stage.does(A, 12, X), MAKES(2));
    assert!(!keeps_away(&stage, B, 10, X), "it is over");
}

#[test]
fn nobody_keeps_away_behind_a_gate_of_the_last_step() {
    let mut places = sandwich().places;
    places.push(Place::gate(2, 0, 112));
    let mut stage = Stage::of(&Schedule { undisturbed: true, ..Schedule::force(places) });
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 112, X), WAITS(2));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert!(!keeps_away(&stage, B, 10, X), "it may have the lock that A needs");
}

#[test]
fn nobody_stands_aside_for_who_has_no_role_or_has_given_up() {
    let mut stage = Stage::of(&Schedule { undisturbed: true, ..sandwich() });
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    stage.order.guard(B, LOCK);
    assert!(!stands_aside(&mut stage, C, LOCK), "B waits for a first step");
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    stage.order.guard(A, LOCK);
    assert!(stands_aside(&mut stage, C, LOCK));
    stage.give_up(A, 2, GiveUp::TimedOut);
    assert!(!stands_aside(&mut stage, C, LOCK));
    let mut disturbed = Stage::of(&sandwich());
    assert_eq!(disturbed.does(A, 10, X), MAKES(0));
    assert_eq!(disturbed.at(A, 12, X), WAITS(2));
    disturbed.order.guard(A, LOCK);
    assert!(!stands_aside(&mut disturbed, C, LOCK), "unless the plan says so");
}
