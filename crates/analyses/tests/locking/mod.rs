//! Traces of locks in words: `1 lock a` is a lock by thread 1, `1 read a` one for reading; `1 try a`, `1 timed a`, `1 wait a` (in vain so far),
//! `1 unlock a`, `1 free a`, `1 create 2`, `1 join 2`. Steps are separated by semicolons; the first is at site 1, the next at 2.
#![allow(dead_code, reason = "each test file uses what it needs")]

use unpick_analyses::lock_order::{Cycle, LockOrder, lock_order};
use unpick_events::kind::{access_flags, lock_flags};
use unpick_events::{Kind, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Lock(char),
    Read(char),
    Try(char),
    Timed(char),
    Wait(char),
    Unlock(char),
    Free(char),
    Create(u16),
    Join(u16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub thread: u16,
    pub deed: Deed,
}

pub fn steps(text: &str) -> Vec<Step> {
    text.split(';').map(|step| parse(step.trim())).collect()
}

fn parse(step: &str) -> Step {
    let [thread, deed, what] = step.split(' ').collect::<Vec<_>>()[..] else { panic!("{step}") };
    let lock = what.chars().next().unwrap();
    let deed = match deed {
        "lock" => Deed::Lock(lock),
        "read" => Deed::Read(lock),
        "try" => Deed::Try(lock),
        "timed" => Deed::Timed(lock),
        "wait" => Deed::Wait(lock),
        "unlock" => Deed::Unlock(lock),
        "free" => Deed::Free(lock),
        "create" => Deed::Create(what.parse().unwrap()),
        "join" => Deed::Join(what.parse().unwrap()),
        other => panic!("no deed {other}"),
    };
    Step { thread: thread.parse().unwrap(), deed }
}

fn address_of(lock: char) -> u64 {
    0x5000 + 0x40 * (u64::from(lock) - u64::from('a'))
}

fn draft(deed: Deed) -> Draft {
    let event = |kind, lock| Draft::new(kind).object(address_of(lock));
    let shared = lock_flags::IS_RWLOCK | lock_flags::SHARED;
    match deed {
        Deed::Lock(lock) => event(Kind::Acquire, lock),
        Deed::Read(lock) => event(Kind::Acquire, lock).flags(shared),
        Deed::Try(lock) => event(Kind::Acquire, lock).flags(lock_flags::TRY),
        Deed::Timed(lock) => event(Kind::Acquire, lock).flags(lock_flags::TIMED),
        Deed::Wait(lock) => event(Kind::LockWait, lock),
        Deed::Unlock(lock) => event(Kind::Release, lock),
        Deed::Free(lock) => {
            Draft::access(Kind::Write, address_of(lock), 64).flags(access_flags::FREE)
        }
        Deed::Create(thread) => Draft::new(Kind::ThreadCreate).object(thread.into()),
        Deed::Join(thread) => Draft::new(Kind::ThreadJoin).object(thread.into()),
    }
}

pub fn record(steps: &[Step]) -> Recording {
    let mut writer = Writer::new();
    for (step, site) in steps.iter().zip(1..) {
        writer.write(ThreadId(step.thread), draft(step.deed).site(site));
    }
    Recording::from_bytes(&writer.to_bytes(), "locking").unwrap()
}

pub fn order_of(steps: &[Step]) -> LockOrder {
    let recording = record(steps);
    lock_order(&recording, &recording)
}

/// Per thread of a cycle: where it took the lock that the one before asks for, and where it asks; from the lowest on.
pub fn places(cycle: &Cycle) -> Vec<(u32, u32)> {
    let place = |at: usize| {
        let link = &cycle.links[at % cycle.links.len()];
        (link.contended_lock().site.0, link.wanted.site.0)
    };
    let rotation = |by| (by..by + cycle.links.len()).map(place).collect::<Vec<_>>();
    (0..cycle.links.len()).map(rotation).min().unwrap()
}
