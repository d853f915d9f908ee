//! Threads that wait for each other at the same bytes, or at a meeting, and for how long.

mod schedule;
mod stage;

use proptest::prelude::*;
use schedule::{Place, Schedule};
use stage::{A, B, C, MAKES, PASSES, Stage, WAITS, X, Y, pair, sandwich};
use unpick_runtime::breakpoints::order::{Answer, GiveUp, Who};

fn appointment() -> Schedule {
    Schedule { meet: true, ..pair() }
}

#[test]
fn two_that_shall_meet_wait_for_each_other() {
    let mut stage = Stage::of(&appointment());
    assert_eq!(stage.at(A, 10, X), WAITS(0));
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.hits(), (1, 0));
}

/// Goes through objects in this order, stopped where the plan wants it.
struct Walker {
    who: Who,
    offset: u64,
    objects: Vec<u64>,
}

impl Walker {
    /// Goes on until it waits, or is through.
    fn walk(&mut self, stage: &mut Stage) {
        while let Some(object) = self.objects.last() {
            if matches!(stage.does(self.who, self.offset, X + object * 8), Answer::Wait { .. }) {
                break;
            }
            self.objects.pop();
        }
    }
}

#[test]
fn two_that_go_through_an_array_from_its_two_ends_meet() {
    for count in [2, 5, 8, 9, 120] {
        let mut stage = Stage::of(&appointment());
        let up = Walker { who: A, offset: 10, objects: (0..count).rev().collect() };
        let down = Walker { who: B, offset: 20, objects: (0..count).collect() };
        let mut walkers = [up, down];
        for turn in 0..8 * count {
            walkers[turn as usize % 2].walk(&mut stage);
        }
        assert_eq!(stage.hits().0, 1, "{count} objects");
    }
}

#[test]
fn the_first_two_of_more_steps_can_meet() {
    let mut stage = Stage::of(&Schedule { meet: true, ..sandwich() });
    assert_eq!(stage.at(A, 10, X), WAITS(0));
    assert_eq!(stage.at(B, 20, Y), WAITS(1));
    assert_eq!(stage.at(A, 10, X), PASSES);
    assert_eq!(stage.at(A, 10, Y), MAKES(0));
    assert_eq!(stage.at(A, 12, Y), WAITS(2));
    assert_eq!(stage.does(B, 20, Y), MAKES(1));
    assert_eq!(stage.does(A, 12, Y), MAKES(2));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn who_is_about_to_come_to_where_its_partner_waits_goes_on() {
    let mut stage = Stage::of(&appointment());
    assert_eq!(stage.at(B, 20, X + 16), WAITS(1));
    assert_eq!(stage.at(A, 10, X), WAITS(0));
    assert_eq!(stage.at(B, 20, X + 16), PASSES, "A has come to other bytes");
    assert_eq!(stage.at(B, 20, X + 16), WAITS(1), "and it has come again");
    assert_eq!(stage.at(A, 10, X), PASSES);
    assert_eq!(stage.at(A, 10, X + 8), PASSES, "its next is where B is");
    assert_eq!(stage.at(A, 10, X + 16), MAKES(0));
}

fn meeting() -> Schedule {
    Schedule::force(vec![Place::meeting(0, 0, 10), Place::meeting(1, 1, 20)])
}

#[test]
fn all_stay_at_a_meeting_until_the_last_is_there() {
    let mut stage = Stage::of(&meeting());
    assert_eq!(stage.at(A, 10, X), WAITS(0));
    assert_eq!(stage.at(A, 10, X), WAITS(0));
    assert_eq!(stage.at(B, 20, X), MAKES(1));
    assert_eq!(stage.at(A, 10, X), MAKES(0));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn a_meeting_that_was_left_is_over() {
    let mut stage = Stage::of(&meeting());
    assert_eq!(stage.at(A, 10, X), WAITS(0));
    stage.give_up(A, 0, GiveUp::TimedOut);
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.at(C, 10, X), WAITS(0));
    assert_eq!(stage.at(B, 20, X), MAKES(1));
    assert_eq!(stage.at(C, 10, X), MAKES(0));
    assert_eq!(stage.hits(), (1, 0), "C was there when B was");
}

/// The second thread takes its lock at 19 and does not always go on to the meeting.
fn meeting_by_rounds(rounds: u64) -> Schedule {
    let places = vec![Place::meeting(0, 0, 10), Place::meeting(1, 1, 20), Place::holding(1, 1, 19)];
    Schedule { rounds, ..Schedule::force(places) }
}

#[test]
fn a_round_begins_when_the_others_are_at_the_meeting() {
    let mut stage = Stage::of(&meeting_by_rounds(1));
    assert_eq!(stage.at(B, 19, 0), WAITS(1));
    assert_eq!(stage.at(A, 10, 0), WAITS(0));
    assert_eq!(stage.at(B, 19, 0), PASSES);
    assert_eq!(stage.at(B, 20, 0), MAKES(1));
    assert_eq!(stage.at(A, 10, 0), MAKES(0));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn who_waits_at_a_meeting_goes_on_after_a_round_in_vain() {
    let mut stage = Stage::of(&meeting_by_rounds(1));
    assert_eq!(stage.at(A, 10, 0), WAITS(0));
    assert_eq!(stage.at(B, 19, 0), WAITS(1), "it came back: the round was in vain");
    assert_eq!(stage.at(A, 10, 0), PASSES);
    assert_eq!(stage.at(B, 19, 0), WAITS(1), "nobody is there");
    assert_eq!(stage.at(A, 10, 0), WAITS(0));
    assert_eq!(stage.at(B, 19, 0), PASSES);
    assert_eq!(stage.at(B, 20, 0), MAKES(1));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn several_rounds_in_vain_can_be_waited_for() {
    let mut stage = Stage::of(&meeting_by_rounds(2));
    assert_eq!(stage.at(A, 10, 0), WAITS(0));
    assert_eq!(stage.at(B, 19, 0), PASSES);
    assert_eq!(stage.at(A, 10, 0), WAITS(0));
    assert_eq!(stage.at(B, 19, 0), WAITS(1));
    assert_eq!(stage.at(A, 10, 0), PASSES);
}

#[test]
fn without_rounds_nobody_waits_where_it_takes_its_lock() {
    let mut stage = Stage::of(&meeting_by_rounds(0));
    assert_eq!(stage.at(B, 19, 0), PASSES);
    assert_eq!(stage.at(A, 10, 0), WAITS(0));
    for _ in 0..5 {
        assert_eq!(stage.at(B, 19, 0), PASSES);
        assert_eq!(stage.at(A, 10, 0), WAITS(0));
    }
    assert_eq!(stage.at(B, 20, 0), MAKES(1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_meeting_is_waited_for_as_many_rounds_as_were_asked_for(
        rounds in 1..4_u64,
        moves in prop::collection::vec(0..3_usize, 1..80),
    ) {
        let mut stage = Stage::of(&meeting_by_rounds(rounds));
        // Where each of the two stands if it waits, and how many rounds B has begun since A came.
        let mut waits: [Option<u64>; 2] = [None, None];
        let (mut begun, mut made) = (0, 0);
        for choice in moves {
            let (who, offset) = [(A, 10), (B, 19), (B, 20)][choice];
            let at = usize::from(who == B);
            let offset = waits[at].unwrap_or(offset);
            let is_new = waits[at].is_none();
            let answer = stage.at(who, offset, 0);
            waits[at] = matches!(answer, Answer::Wait { .. }).then_some(offset);
            begun = match (who, waits[0]) {
                (A, _) if is_new => 0,
                (B, Some(_)) if offset == 19 && is_new => begun + 1,
                _ => begun,
            };
            if answer == MAKES(1) {
                made += 1;
                prop_assert_eq!(stage.at(A, 10, 0), MAKES(0));
                waits[0] = None;
            }
            if begun >= rounds && waits[0].is_some() {
                prop_assert_eq!(stage.at(A, 10, 0), PASSES, "{} rounds were in vain", begun);
                waits[0] = None;
            }
        }
        prop_assert_eq!(stage.hits().0, made);
    }
}
