//! Threads that come to the places of a plan at random, and a log of what they do.

mod choices;
mod recogniser;

use unpick_events::schedule::{Mode, Purpose};
use unpick_runtime::breakpoints::order::{Afterwards, Answer, Bytes, GiveUp, SETTLED, Who};
use unpick_runtime::breakpoints::plan::Entry;

use crate::schedule::Schedule;
use crate::stage::{Stage, WAITS, bytes_of};
pub use choices::{Move, has_place_of_its_own, moves, plans};

/// A thread of a simulation, which does what `hold` lets real ones do.
#[derive(Debug, Clone, Default)]
pub struct Actor {
    who: Who,
    pub waits: Option<Waiting>,
    /// The step before which it was let on.
    let_on: Option<u8>,
    pub is_over: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    step: u8,
    /// The place and the object; none: after a release.
    at: Option<(u64, u64)>,
}

#[derive(Debug, Clone, Copy)]
pub struct Logged {
    time: u64,
    who: Who,
    what: What,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum What {
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

pub struct Simulation {
    pub stage: Stage,
    pub actors: Vec<Actor>,
    pub log: Vec<Logged>,
    pub answers: Vec<Answer>,
    asks_twice: bool,
}

impl Simulation {
    pub fn new(schedule: &Schedule, asks_twice: bool) -> Simulation {
        let actors = (1..5).map(|who| Actor { who, ..Actor::default() }).collect();
        let stage = Stage::of(schedule);
        Simulation { stage, actors, log: Vec::new(), answers: Vec::new(), asks_twice }
    }

    fn note(&mut self, who: Who, what: What) {
        self.log.push(Logged { time: self.stage.now, who, what });
    }

    pub fn run(&mut self, moves: &[(usize, Move)]) {
        for (actor, step) in moves {
            let before = self.stage.hits();
            self.step(*actor, *step);
            if self.stage.hits() != before {
                self.check_hits();
            }
        }
    }

    pub fn step(&mut self, at: usize, step: Move) {
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

    pub fn end(&mut self, at: usize) {
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
        let comes_round = at_place().any(|entry| {
            let may_wait = plan.is_of_waits() || plan.tests_before_wait(entry.role);
            entry.purpose == Purpose::Gate && plan.is_entrance(entry) && may_wait
        });
        if comes_round {
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

    pub fn give_up(&mut self, at: usize, waiting: Waiting, why: GiveUp) {
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

    /// New threads come, one after the other, and do all there is to do in its order.
    pub fn hits_of_newcomers(&mut self) -> u64 {
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

pub fn simulate(schedule: &Schedule, moves: &[(usize, Move)]) -> Simulation {
    let mut simulation = Simulation::new(schedule, false);
    simulation.run(moves);
    simulation
}
