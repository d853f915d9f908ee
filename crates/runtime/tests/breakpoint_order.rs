//! The order of steps as a state machine: scenarios, and random interleavings against a naive recogniser.

mod schedule;

use proptest::prelude::*;
use schedule::{Place, Schedule};
use unpick_events::schedule::{Mode, Purpose};
use unpick_runtime::breakpoints::order::{
    Afterwards, Answer, Arrival, Bytes, GiveUp, Order, SETTLED, Who,
};
use unpick_runtime::breakpoints::plan::{Entry, Plan};

/// A plan, its order, and a clock that moves when told to.
struct Stage {
    plan: Box<Plan>,
    order: Box<Order>,
    now: u64,
}

const X: u64 = 0x1000;
const Y: u64 = 0x2000;
const LOCK: u64 = 0x9000;
const A: Who = 1;
const B: Who = 2;
const C: Who = 3;
const MAKES: fn(u8) -> Answer = |step| Answer::Make { step };
const WAITS: fn(u8) -> Answer = |step| Answer::Wait { step };
use Answer::Pass as PASSES;

impl Stage {
    fn of(schedule: &Schedule) -> Stage {
        let mut plan = Box::new(Plan::NONE);
        assert!(plan.read(&schedule.words()));
        Stage { plan, order: Box::new(Order::new()), now: 1 }
    }

    /// A thread is at the places with this offset, with the address of `object` in its hand.
    fn at(&mut self, who: Who, offset: u64, object: u64) -> Answer {
        self.now += 1;
        let entries = self.plan.entries().iter().filter(|entry| entry.offset == offset);
        if !self.order.is_waiting(who) {
            for entry in entries.clone() {
                if entry.purpose == Purpose::Holding {
                    self.order.comes_round(&self.plan, who, entry);
                } else {
                    self.order.came_to(entry.step);
                }
            }
        }
        let plan = &self.plan;
        let entries = entries.filter(|entry| plan.may_hold_at(entry));
        let arrivals = entries.map(|entry| Arrival { entry, bytes: bytes_of(entry, object) });
        self.order.arrive(&self.plan, who, arrivals, self.now)
    }

    /// As `at`, and the step is made at once.
    fn does(&mut self, who: Who, offset: u64, object: u64) -> Answer {
        let answer = self.at(who, offset, object);
        self.event(who);
        answer
    }

    fn event(&mut self, who: Who) {
        self.now += 1;
        self.order.event_of(&self.plan, who, self.now);
    }

    fn give_up(&mut self, who: Who, step: u8, why: GiveUp) -> Afterwards {
        self.order.give_up(&self.plan, who, step, why, self.now)
    }

    fn end(&mut self, who: Who) {
        self.order.end_of(&self.plan, who, self.now);
    }

    fn hits(&self) -> (u64, u64) {
        (self.order.counts.hits, self.order.counts.inverse_hits)
    }
}

fn bytes_of(entry: &Entry, object: u64) -> Bytes {
    match entry.variable {
        Some(variable) => {
            Bytes { start: object + u64::from(variable) * 0x100, length: entry.bytes }
        }
        None => Bytes::default(),
    }
}

/// P1 to P3: a step of each of two threads.
fn pair() -> Schedule {
    Schedule::force(vec![Place::step(0, 0, 10), Place::step(1, 1, 20)])
}

/// P7 and the like: one thread's step between two of another.
fn sandwich() -> Schedule {
    Schedule::force(vec![Place::step(0, 0, 10), Place::step(1, 1, 20), Place::step(2, 0, 12)])
}

/// P14: x by one, x by another, y by the other, y by the one.
fn two_variables() -> Schedule {
    Schedule::force(vec![
        Place::step(0, 0, 10),
        Place::step(1, 1, 20),
        Place::step(2, 1, 22).on(Some(1)),
        Place::step(3, 0, 12).on(Some(1)),
    ])
}

/// P16: as P14, but the one comes between the other's two.
fn crossed() -> Schedule {
    Schedule::force(vec![
        Place::step(0, 0, 10),
        Place::step(1, 1, 20),
        Place::step(2, 0, 12).on(Some(1)),
        Place::step(3, 1, 22).on(Some(1)),
    ])
}

// Scenarios: force

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

// Scenarios: serialise, reverse

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

// Random interleavings

/// What the simulated threads do next.
#[derive(Debug, Clone, Copy)]
enum Move {
    /// Comes to one of the places, or asks again if it waits.
    Arrive {
        place: usize,
        object: u64,
    },
    Event,
    GiveUp(GiveUp),
    /// Gives back a lock.
    Release,
    End,
    Time(u64),
}

fn moves() -> impl Strategy<Value = Vec<(usize, Move)>> {
    let give_up = prop_oneof![
        Just(GiveUp::TimedOut),
        Just(GiveUp::Alone),
        Just(GiveUp::Blocked),
        Just(GiveUp::InTheWay),
    ];
    let one = prop_oneof![
        12 => (0..16_usize, 0..3_u64).prop_map(|(place, object)| Move::Arrive { place, object: X + object * 0x1000 }),
        8 => Just(Move::Event),
        2 => give_up.prop_map(Move::GiveUp),
        1 => Just(Move::Release),
        1 => Just(Move::End),
        1 => prop_oneof![Just(1_u64), Just(2_000_000), Just(SETTLED)].prop_map(Move::Time),
    ];
    prop::collection::vec((0..4_usize, one), 1..120)
}

fn plans() -> impl Strategy<Value = Schedule> {
    let shape = prop_oneof![
        Just(vec![0, 1]),
        Just(vec![0, 1, 0]),
        Just(vec![0, 1, 1, 0]),
        Just(vec![0, 1, 0, 1]),
        Just(vec![0, 0, 1]),
        Just(vec![0, 1, 2]),
        Just(vec![0, 1, 2, 0]),
    ];
    let step = (0..3_u64, any::<bool>());
    let patience = (0..2_u64, 0..2_u64, any::<bool>(), any::<bool>());
    (shape, prop::collection::vec(step, 4), 0..3_u64, patience).prop_map(
        |(shape, details, shared, (ignored, linger, meet, eager))| {
            let mut places = Vec::new();
            for (step, (role, (variable, has_gate))) in shape.iter().zip(details).enumerate() {
                let step = step as u64;
                // Some plans have one place for several steps.
                let offset = 10 + [0, *role, step][shared as usize];
                if has_gate {
                    places.push(Place::gate(step, *role, 100 + offset));
                }
                places
                    .push(Place::step(step, *role, offset).on((variable < 2).then_some(variable)));
            }
            Schedule { ignored, linger: linger * 50, meet, eager, ..Schedule::force(places) }
        },
    )
}

/// A thread of a simulation, which does what `hold` lets real ones do.
#[derive(Debug, Clone, Default)]
struct Actor {
    who: Who,
    waits: Option<Waiting>,
    /// The step before which it was let on.
    let_on: Option<u8>,
    is_over: bool,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    step: u8,
    /// The place and the object; none: after a release.
    at: Option<(u64, u64)>,
}

#[derive(Debug, Clone, Copy)]
struct Logged {
    time: u64,
    who: Who,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    Made {
        step: u8,
        bytes: Bytes,
    },
    /// Came to the first step and passed: nobody is told when it is made.
    PassedFirst {
        bytes: Bytes,
    },
    /// Is inside now.
    Entered,
    /// Has come to where it takes its lock again.
    CameRound,
    Moved,
    Ended,
    Robbed,
}

impl What {
    fn step(self) -> Option<(u8, Bytes)> {
        match self {
            What::Made { step, bytes } => Some((step, bytes)),
            What::PassedFirst { bytes } => Some((0, bytes)),
            _ => None,
        }
    }
}

struct Simulation {
    stage: Stage,
    actors: Vec<Actor>,
    log: Vec<Logged>,
    answers: Vec<Answer>,
    asks_twice: bool,
}

impl Simulation {
    fn new(schedule: &Schedule, asks_twice: bool) -> Simulation {
        let actors = (1..5).map(|who| Actor { who, ..Actor::default() }).collect();
        let stage = Stage::of(schedule);
        Simulation { stage, actors, log: Vec::new(), answers: Vec::new(), asks_twice }
    }

    fn note(&mut self, who: Who, what: What) {
        self.log.push(Logged { time: self.stage.now, who, what });
    }

    fn run(&mut self, moves: &[(usize, Move)]) {
        for (actor, step) in moves {
            let before = self.stage.hits();
            self.step(*actor, *step);
            if self.stage.hits() != before {
                self.check_hits();
            }
        }
    }

    fn step(&mut self, at: usize, step: Move) {
        let Actor { who, waits, is_over, .. } = self.actors[at];
        match (step, waits) {
            (Move::Time(time), _) => self.stage.now += time,
            _ if is_over => {}
            (Move::GiveUp(why), Some(waiting)) => self.give_up(at, waiting, why),
            (_, Some(Waiting { at: Some((offset, object)), .. })) => {
                self.arrive(at, offset, object)
            }
            (_, Some(Waiting { step, at: None })) => self.wait_for_turn(at, step),
            (Move::Arrive { place, object }, None) => {
                let entries = self.stage.plan.entries();
                let offset = entries[place % entries.len()].offset;
                self.arrive(at, offset, object);
            }
            (Move::Event, None) => {
                self.stage.event(who);
                self.note(who, What::Moved);
            }
            (Move::Release, None) => {
                if let Some(step) = self.actors[at].let_on.take() {
                    self.wait_for_turn(at, step);
                }
            }
            (Move::End, None) => self.end(at),
            (Move::GiveUp(_), None) => {}
        }
    }

    fn end(&mut self, at: usize) {
        let who = self.actors[at].who;
        self.stage.end(who);
        self.note(who, What::Ended);
        self.actors[at].is_over = true;
    }

    fn arrive(&mut self, at: usize, offset: u64, object: u64) {
        let who = self.actors[at].who;
        if let Some(step) = self.actors[at].let_on.take()
            && self.is_step(offset, step)
        {
            let Stage { plan, order, now } = &mut self.stage;
            order.abandon(plan, who, *now);
            return;
        }
        self.note(who, What::Moved);
        let answer = self.ask(who, offset, object);
        self.actors[at].waits = match answer {
            Answer::Wait { step } => Some(Waiting { step, at: Some((offset, object)) }),
            _ => None,
        };
        self.note_answer(who, offset, object, answer);
    }

    fn ask(&mut self, who: Who, offset: u64, object: u64) -> Answer {
        let mut answer = self.stage.at(who, offset, object);
        self.answers.push(answer);
        if self.asks_twice && matches!(answer, Answer::Wait { .. }) {
            self.stage.now -= 1;
            answer = self.stage.at(who, offset, object);
            assert_eq!(Some(&answer), self.answers.last());
        }
        answer
    }

    fn note_answer(&mut self, who: Who, offset: u64, object: u64, answer: Answer) {
        let plan = &self.stage.plan;
        let at_place = || plan.entries().iter().filter(|entry| entry.offset == offset);
        let is_entrance = at_place().any(|entry| plan.is_entrance(entry));
        let made = match answer {
            Answer::Make { step } => at_place()
                .find(|entry| entry.step == step && entry.purpose != Purpose::Gate)
                .map(|entry| What::Made { step, bytes: bytes_of(entry, object) }),
            // A first step counts even if it was not asked for.
            Answer::Pass if plan.mode == Mode::Force => at_place()
                .find(|entry| entry.step == 0 && entry.purpose != Purpose::Gate)
                .map(|entry| What::PassedFirst { bytes: bytes_of(entry, object) }),
            _ => None,
        };
        let is_gate = at_place().any(|entry| entry.purpose == Purpose::Gate);
        if is_entrance && is_gate && plan.is_of_waits() {
            self.log.push(Logged { time: self.stage.now, who, what: What::CameRound });
        }
        if is_entrance && !matches!(answer, Answer::Wait { .. }) {
            self.note(who, What::Entered);
        }
        if let Some(made) = made {
            self.note(who, made);
        }
    }

    fn is_step(&self, offset: u64, step: u8) -> bool {
        let mut entries = self.stage.plan.entries().iter();
        entries.any(|entry| {
            entry.offset == offset && entry.step == step && entry.purpose != Purpose::Gate
        })
    }

    fn give_up(&mut self, at: usize, waiting: Waiting, why: GiveUp) {
        let who = self.actors[at].who;
        let afterwards = self.stage.give_up(who, waiting.step, why);
        assert!(!self.stage.order.is_waiting(who));
        if let (Afterwards::AsksAgain, Some((offset, object))) = (afterwards, waiting.at) {
            return self.arrive(at, offset, object);
        }
        self.note(who, What::Robbed);
        let is_let_on = why == GiveUp::InTheWay && self.stage.order.has_role(who);
        self.actors[at].let_on = is_let_on.then_some(waiting.step);
        self.actors[at].waits = None;
    }

    fn wait_for_turn(&mut self, at: usize, step: u8) {
        let who = self.actors[at].who;
        let Stage { plan, order, now } = &mut self.stage;
        let must = order.must_wait_for(plan, who, step, *now);
        self.note(who, What::Moved);
        self.actors[at].waits = must.then_some(Waiting { step, at: None });
    }

    /// Every hit so far ends a row of steps in the log.
    fn check_hits(&self) {
        let last = self.stage.plan.steps - 1;
        let ends = self.log.iter().enumerate().filter(|(at, logged)| {
            matches!(logged.what, What::Made { step, .. } if step == last)
                && self.is_row(&mut vec![*at], last)
        });
        let rows = ends.count() as u64;
        let hits = self.stage.hits().0;
        assert!(hits <= rows, "{hits} hits, but only {rows} are in the log: {:#?}", self.log);
    }

    /// Whether steps before `step` stand in front of `row`, which is what was found, last step first.
    fn is_row(&self, row: &mut Vec<usize>, step: u8) -> bool {
        let Some(wanted) = step.checked_sub(1) else { return true };
        let next = *row.last().expect("the last step");
        (0..next).rev().any(|at| {
            let fits = self.log[at].what.step().is_some_and(|(step, _)| step == wanted)
                && self.is_settled(at, next)
                && row.iter().all(|later| self.fit_together(at, *later));
            if !fits {
                return false;
            }
            row.push(at);
            let is_row = self.is_row(row, wanted);
            row.pop();
            is_row
        })
    }

    /// Whether the step at `at` was made before that at `next` began.
    fn is_settled(&self, at: usize, next: usize) -> bool {
        let Logged { time, who, .. } = self.log[at];
        matches!(self.log[at].what, What::PassedFirst { .. })
            || self.log[next].time - time >= SETTLED
            || self.log[at + 1..=next].iter().any(|logged| logged.who == who)
    }

    fn fit_together(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.log[one], self.log[other]);
        let (Some((s, b)), Some((t, c))) = (one.what.step(), other.what.step()) else {
            return false;
        };
        let entry = |step| {
            let mut entries = self.stage.plan.entries().iter();
            entries.find(|entry| entry.step == step && entry.purpose != Purpose::Gate).unwrap()
        };
        let (s, t) = (entry(s), entry(t));
        let same_variable = s.variable.is_some() && s.variable == t.variable;
        (s.role == t.role) == (one.who == other.who) && (!same_variable || b == c)
    }

    /// Serialise: threads that are inside at the same time although nobody took the region from another.
    fn most_inside(&self) -> usize {
        let plan = &self.stage.plan;
        let is_last =
            |step| (0..16).filter_map(|role| plan.role(role)).any(|role| role.last == step);
        let (mut inside, mut leaving) = (Vec::<Who>::new(), None::<(Who, u64)>);
        let mut most = 0;
        for logged in &self.log {
            let has_left =
                leaving.filter(|(who, since)| *who == logged.who || logged.time - since >= SETTLED);
            if let Some((who, _)) = has_left {
                inside.retain(|other| *other != who);
                leaving = None;
            }
            match logged.what {
                What::Entered if !inside.contains(&logged.who) => inside.push(logged.who),
                What::Made { step, .. } if is_last(step) => {
                    leaving = Some((logged.who, logged.time));
                }
                What::Ended | What::CameRound => inside.retain(|other| *other != logged.who),
                _ => {}
            }
            most = most.max(inside.len());
        }
        most
    }

    /// New threads come, one after the other, and do all there is to do in its order.
    fn hits_of_newcomers(&mut self) -> u64 {
        let steps: Vec<Entry> = self.stage.plan.entries().to_vec();
        let before = self.stage.hits().0;
        self.stage.now += 2 * SETTLED;
        for entry in steps.iter().filter(|entry| entry.purpose == Purpose::Step) {
            let who = 100 + Who::from(entry.role);
            if self.stage.at(who, entry.offset, 0x9000) == WAITS(entry.step) {
                self.stage.give_up(who, entry.step, GiveUp::Blocked);
                self.stage.at(who, entry.offset, 0x9000);
            }
            self.stage.event(who);
        }
        self.stage.hits().0 - before
    }
}

fn simulate(schedule: &Schedule, moves: &[(usize, Move)]) -> Simulation {
    let mut simulation = Simulation::new(schedule, false);
    simulation.run(moves);
    simulation
}

fn has_place_of_its_own(schedule: &Schedule) -> bool {
    let steps = schedule.places.iter().filter(|place| place.purpose == Purpose::Step);
    let mut offsets: Vec<u64> = steps.map(|place| place.offset).collect();
    let all = offsets.len();
    offsets.sort_unstable();
    offsets.dedup();
    offsets.len() == all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_hit_is_a_row_of_steps_in_order(schedule in plans(), moves in moves()) {
        simulate(&schedule, &moves);
    }

    #[test]
    fn who_asks_twice_hears_the_same(
        schedule in plans(),
        mode in prop_oneof![Just(Mode::Force), Just(Mode::Serialise), Just(Mode::Reverse)],
        moves in moves(),
    ) {
        let schedule = Schedule { mode, ..schedule };
        let mut runs = [false, true].map(|asks_twice| Simulation::new(&schedule, asks_twice));
        for run in &mut runs {
            for (actor, step) in &moves {
                run.step(*actor, *step);
            }
        }
        prop_assert_eq!(&runs[0].answers, &runs[1].answers);
        prop_assert_eq!(runs[0].stage.hits(), runs[1].stage.hits());
    }

    #[test]
    fn whatever_was_before_newcomers_are_not_kept_out(schedule in plans(), moves in moves()) {
        let schedule = Schedule { ignored: 0, meet: false, ..schedule };
        if !has_place_of_its_own(&schedule) {
            return Ok(());
        }
        let mut simulation = simulate(&schedule, &moves);
        for at in 0..simulation.actors.len() {
            if let Some(waiting) = simulation.actors[at].waits {
                simulation.give_up(at, waiting, GiveUp::TimedOut);
            }
            if !simulation.actors[at].is_over {
                simulation.end(at);
            }
        }
        prop_assert_eq!(simulation.hits_of_newcomers(), 1);
    }

    #[test]
    fn serialised_threads_are_alone(schedule in plans(), moves in moves()) {
        let schedule = Schedule { mode: Mode::Serialise, ..schedule };
        let mut simulation = Simulation::new(&schedule, false);
        for (actor, step) in &moves {
            if !matches!(step, Move::GiveUp(_)) {
                simulation.step(*actor, *step);
            }
        }
        prop_assert!(simulation.most_inside() <= 1, "{:#?}", simulation.log);
        prop_assert_eq!(simulation.stage.hits().0, 0);
    }

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

    #[test]
    fn any_words_can_be_read(words in prop::collection::vec(any::<u64>(), 0..200)) {
        Plan::NONE.clone().read(&words);
    }

    #[test]
    fn damaged_schedules_can_be_read_and_used(
        schedule in plans(),
        damage in prop::collection::vec((0..200_usize, prop_oneof![0..20_u64, any::<u64>()]), 0..6),
        length in 0..400_usize,
        moves in moves(),
    ) {
        let mut words = schedule.words();
        for (at, word) in damage {
            // The text of the module does not matter.
            let at = if at < 18 { at } else { at + schedule::TEXT_WORDS };
            if let Some(damaged) = words.get_mut(at) {
                *damaged = word;
            }
        }
        if length < 200 {
            words.truncate(length);
        }
        let mut plan = Box::new(Plan::NONE);
        if plan.read(&words) && !plan.entries().is_empty() {
            let mut simulation = Simulation::new(&schedule, true);
            simulation.stage.plan = plan;
            for (actor, step) in &moves {
                simulation.step(*actor, *step);
            }
        }
    }
}
