//! A plan and its order for tests, and the plans that most of them are about.
#![allow(dead_code)]

use unpick_events::schedule::Purpose;
use unpick_runtime::breakpoints::order::{Afterwards, Answer, Arrival, Bytes, GiveUp, Order, Who};
use unpick_runtime::breakpoints::plan::{Entry, Plan};

use crate::schedule::{Place, Schedule};

/// A plan, its order, and a clock that moves when told to.
pub struct Stage {
    pub plan: Box<Plan>,
    pub order: Box<Order>,
    pub now: u64,
}

pub const X: u64 = 0x1000;
pub const Y: u64 = 0x2000;
pub const LOCK: u64 = 0x9000;
pub const A: Who = 1;
pub const B: Who = 2;
pub const C: Who = 3;
pub const MAKES: fn(u8) -> Answer = |step| Answer::Make { step };
pub const WAITS: fn(u8) -> Answer = |step| Answer::Wait { step };
pub const PASSES: Answer = Answer::Pass;

impl Stage {
    pub fn of(schedule: &Schedule) -> Stage {
        let mut plan = Box::new(Plan::NONE);
        assert!(plan.read(&schedule.words()));
        Stage { plan, order: Box::new(Order::new()), now: 1 }
    }

    /// A thread is at the places with this offset, with the address of `object` in its hand.
    pub fn at(&mut self, who: Who, offset: u64, object: u64) -> Answer {
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
    pub fn does(&mut self, who: Who, offset: u64, object: u64) -> Answer {
        let answer = self.at(who, offset, object);
        self.event(who);
        answer
    }

    pub fn event(&mut self, who: Who) {
        self.now += 1;
        self.order.event_of(&self.plan, who, self.now);
    }

    pub fn give_up(&mut self, who: Who, step: u8, why: GiveUp) -> Afterwards {
        self.order.give_up(&self.plan, who, step, why, self.now)
    }

    pub fn end(&mut self, who: Who) {
        self.order.end_of(&self.plan, who, self.now);
    }

    pub fn hits(&self) -> (u64, u64) {
        (self.order.counts.hits, self.order.counts.inverse_hits)
    }
}

pub fn bytes_of(entry: &Entry, object: u64) -> Bytes {
    match entry.variable {
        Some(variable) => {
            Bytes { start: object + u64::from(variable) * 0x100, length: entry.bytes }
        }
        None => Bytes::default(),
    }
}

/// P1 to P3: a step of each of two threads.
pub fn pair() -> Schedule {
    Schedule::force(vec![Place::step(0, 0, 10), Place::step(1, 1, 20)])
}

/// P7 and the like: one thread's step between two of another.
pub fn sandwich() -> Schedule {
    Schedule::force(vec![Place::step(0, 0, 10), Place::step(1, 1, 20), Place::step(2, 0, 12)])
}

/// P14: x by one, x by another, y by the other, y by the one.
pub fn two_variables() -> Schedule {
    Schedule::force(vec![
        Place::step(0, 0, 10),
        Place::step(1, 1, 20),
        Place::step(2, 1, 22).on(Some(1)),
        Place::step(3, 0, 12).on(Some(1)),
    ])
}

/// P16: as P14, but the one comes between the other's two.
pub fn crossed() -> Schedule {
    Schedule::force(vec![
        Place::step(0, 0, 10),
        Place::step(1, 1, 20),
        Place::step(2, 0, 12).on(Some(1)),
        Place::step(3, 1, 22).on(Some(1)),
    ])
}
