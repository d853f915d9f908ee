//! The order of steps as a state machine: who waits for whom, and who has which role.

mod schedule;
mod stage;

use schedule::{Place, Schedule};
use stage::{A, B, C, MAKES, PASSES, Stage, WAITS, X, Y, crossed, pair, sandwich, two_variables};
use unpick_runtime::breakpoints::order::{Afterwards, GiveUp, SETTLED};

#[test]
fn the_second_step_waits_for_the_first() {
    let mut stage = Stage::of(&pair());
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.at(A, 10, X), MAKES(0));
    assert_eq!(
        stage.at(B, 20, X),
        WAITS(1),
        "the first is not made before its thread's next event"
    );
    stage.event(A);
    assert_eq!(stage.at(B, 20, X), MAKES(1));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn a_step_is_taken_as_made_after_a_while() {
    let mut stage = Stage::of(&pair());
    assert_eq!(stage.at(A, 10, X), MAKES(0));
    stage.now += SETTLED;
    assert_eq!(stage.at(B, 20, X), MAKES(1));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn one_thread_cannot_play_two_roles() {
    let mut stage = Stage::of(&pair());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.does(A, 20, X), PASSES);
    assert_eq!(stage.hits(), (0, 0));
}

#[test]
fn a_step_between_two_others() {
    let mut stage = Stage::of(&sandwich());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.does(A, 12, X), MAKES(2));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn the_last_step_belongs_to_the_thread_of_the_first() {
    let mut stage = Stage::of(&sandwich());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.does(C, 12, X), PASSES);
    assert_eq!(stage.does(A, 12, X), MAKES(2));
}

#[test]
fn the_second_step_waits_until_the_first_thread_is_at_its_next() {
    let mut stage = Stage::of(&sandwich());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.does(C, 10, X), MAKES(0), "A may never come to its next");
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.at(C, 12, X), WAITS(2));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.does(C, 12, X), MAKES(2));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn an_eager_plan_does_not_wait_for_the_first_thread() {
    let mut stage = Stage::of(&Schedule { eager: true, ..sandwich() });
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.does(A, 12, X), MAKES(2));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn who_waited_in_vain_for_the_first_thread_makes_its_step() {
    let mut stage = Stage::of(&sandwich());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.give_up(B, 1, GiveUp::Blocked), Afterwards::AsksAgain);
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.does(A, 12, X), MAKES(2));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn who_comes_to_a_gate_of_unknown_bytes_finds_its_first_step_again() {
    let places = vec![
        Place::step(0, 0, 10),
        Place::step(1, 1, 20),
        Place::gate(2, 0, 11),
        Place::step(2, 0, 12),
    ];
    let mut stage = Stage::of(&Schedule::force(places));
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.does(C, 10, Y), MAKES(0), "as long as A waits nowhere");
    assert_eq!(stage.at(A, 11, X), WAITS(2));
    assert_eq!(stage.does(B, 20, Y), PASSES);
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.at(A, 11, X), PASSES);
    assert_eq!(stage.does(A, 12, X), MAKES(2));
}

#[test]
fn four_steps_on_two_variables() {
    let mut stage = Stage::of(&two_variables());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(3));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.does(B, 22, X), MAKES(2));
    assert_eq!(stage.does(A, 12, X), MAKES(3));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn four_crossed_steps_on_two_variables() {
    let mut stage = Stage::of(&crossed());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.at(A, 12, X), WAITS(2), "B is not at its next yet");
    assert_eq!(stage.at(B, 22, X), WAITS(3));
    assert_eq!(stage.does(A, 12, X), MAKES(2));
    assert_eq!(stage.does(B, 22, X), MAKES(3));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn it_begins_anew_after_a_hit() {
    let mut stage = Stage::of(&pair());
    for object in [X, Y, X + Y] {
        assert_eq!(stage.at(B, 20, object), WAITS(1));
        assert_eq!(stage.does(A, 10, object), MAKES(0));
        assert_eq!(stage.does(B, 20, object), MAKES(1));
    }
    assert_eq!(stage.hits().0, 3);
}

#[test]
fn a_gate_waits_in_place_of_its_step() {
    let schedule = Schedule::force(vec![
        Place::gate(0, 0, 9),
        Place::step(0, 0, 10),
        Place::gate(1, 1, 19),
        Place::step(1, 1, 20),
    ]);
    let mut stage = Stage::of(&schedule);
    assert_eq!(stage.at(A, 9, X), PASSES);
    assert_eq!(stage.at(B, 19, X), WAITS(1));
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(B, 19, X), PASSES, "a gate makes nothing");
    assert_eq!(stage.hits(), (0, 0));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn who_gave_up_at_a_gate_is_not_stopped_at_its_step() {
    let places = vec![Place::step(0, 0, 10), Place::gate(1, 1, 19), Place::step(1, 1, 20)];
    let mut stage = Stage::of(&Schedule::force(places));
    assert_eq!(stage.at(B, 19, X), WAITS(1));
    stage.give_up(B, 1, GiveUp::TimedOut);
    assert_eq!(stage.at(B, 20, X), PASSES);
    assert_eq!(stage.at(B, 20, X), WAITS(1), "an excuse is good once");
}

#[test]
fn steps_on_other_bytes_do_not_count() {
    let mut stage = Stage::of(&sandwich());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    assert_eq!(stage.does(B, 20, Y), PASSES);
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.does(A, 12, X), MAKES(2));
}

#[test]
fn a_first_step_on_one_of_many_objects_is_found_again() {
    let mut stage = Stage::of(&pair());
    for object in 0..100 {
        assert_eq!(stage.does(A, 10, X + object * 8), MAKES(0));
    }
    assert_eq!(stage.does(B, 20, X + 42 * 8), MAKES(1));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn a_first_step_that_nobody_followed_gives_way_to_another_threads() {
    let mut stage = Stage::of(&sandwich());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.does(B, 10, Y), MAKES(0));
    assert_eq!(stage.at(B, 12, Y), WAITS(2));
    assert_eq!(stage.does(C, 20, Y), MAKES(1));
    assert_eq!(stage.does(B, 12, Y), MAKES(2));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn a_first_step_whose_thread_waits_is_not_taken_over() {
    let mut stage = Stage::of(&sandwich());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    assert_eq!(stage.does(C, 10, X), PASSES);
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.does(A, 12, X), MAKES(2));
}

#[test]
fn others_go_on_a_little_before_the_last_step() {
    let mut stage = Stage::of(&Schedule { linger: 1000, ..sandwich() });
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    assert_eq!(stage.does(B, 20, X), MAKES(1), "only the last step is late");
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    stage.now += 1000;
    assert_eq!(stage.does(A, 12, X), MAKES(2));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn who_lingers_does_so_no_longer_than_its_pause() {
    let mut stage = Stage::of(&Schedule { linger: 1000, ..pair() });
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.give_up(B, 1, GiveUp::TimedOut), Afterwards::AsksAgain);
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert_eq!(stage.hits(), (1, 0));
}

#[test]
fn the_first_arrivals_can_be_ignored() {
    let mut stage = Stage::of(&Schedule { ignored: 2, ..pair() });
    assert_eq!(stage.at(A, 10, X), PASSES);
    assert_eq!(stage.at(A, 10, X), PASSES);
    assert_eq!(stage.at(A, 10, X), MAKES(0));
}

#[test]
fn arrivals_of_every_role_are_ignored_and_to_ask_again_is_none() {
    let mut stage = Stage::of(&Schedule { ignored: 1, ..pair() });
    assert_eq!(stage.at(B, 20, X), PASSES);
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.does(A, 10, X), PASSES);
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(B, 20, X), MAKES(1));
}

#[test]
fn who_is_in_the_way_goes_on_to_its_release_and_keeps_its_role() {
    let mut stage = Stage::of(&sandwich());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    stage.give_up(A, 2, GiveUp::InTheWay);
    assert!(stage.order.has_role(A));
    assert!(stage.order.must_wait_for(&stage.plan, A, 2, stage.now));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert!(!stage.order.must_wait_for(&stage.plan, A, 2, stage.now));
    assert_eq!(stage.does(A, 12, X), MAKES(2));
}

#[test]
fn who_comes_to_its_step_before_its_release_abandons_it() {
    let mut stage = Stage::of(&sandwich());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    stage.give_up(A, 2, GiveUp::InTheWay);
    stage.order.abandon(&stage.plan, A, stage.now);
    assert!(!stage.order.has_role(A));
    assert_eq!(stage.at(B, 20, X), WAITS(1));
}

#[test]
fn who_gives_up_between_its_steps_ends_what_is_under_way() {
    let mut stage = Stage::of(&sandwich());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert_eq!(stage.at(A, 12, X), WAITS(2));
    stage.give_up(A, 2, GiveUp::TimedOut);
    assert_eq!(stage.at(B, 20, X), WAITS(1));
    assert_eq!(stage.does(C, 10, X), MAKES(0));
    assert_eq!(stage.at(C, 12, X), WAITS(2));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
}

#[test]
fn a_thread_that_ends_takes_its_role_along() {
    let mut stage = Stage::of(&sandwich());
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    stage.end(A);
    assert!(!stage.order.has_role(A));
    assert_eq!(stage.at(B, 20, X), WAITS(1));
}

#[test]
fn a_thread_is_needed_until_it_has_made_the_last_step_of_its_role() {
    let mut stage = Stage::of(&two_variables());
    let needs = |stage: &Stage, who, role| stage.order.needs(&stage.plan, who, role);
    assert!(!needs(&stage, A, 0), "nothing is under way");
    assert_eq!(stage.does(A, 10, X), MAKES(0));
    assert!(needs(&stage, A, 0));
    assert!(!needs(&stage, A, 1), "a role of others");
    assert_eq!(stage.at(A, 12, X), WAITS(3));
    assert_eq!(stage.does(B, 20, X), MAKES(1));
    assert!(needs(&stage, B, 1));
    assert_eq!(stage.does(B, 22, X), MAKES(2));
    assert!(!needs(&stage, B, 1));
    assert!(needs(&stage, A, 0));
}
