//! Hangs for tests.

use super::{Activity, HANG_SCHEMA, Hang, HangProcess, HangThread, HangWait, WaitedFor};
use crate::names::Frame;

impl HangThread {
    /// One that sleeps in a place, as far as is known.
    pub(super) fn sleeping_at(
        frame: Frame,
        thread: u16,
        waits_for: Option<HangWait>,
    ) -> HangThread {
        HangThread {
            thread,
            activity: Activity::Sleeping,
            waits_for,
            frame,
            inlined_into: Vec::new(),
            stack: Vec::new(),
            is_now: true,
            holds: Vec::new(),
            code: None,
            calls: Vec::new(),
            shown_call: None,
        }
    }
}

pub fn thread(number: u16, line: u32) -> HangThread {
    let frame = Frame { file: Some("a.c".into()), line: Some(line), ..Frame::default() };
    HangThread::sleeping_at(frame, number, Some(HangWait::new(WaitedFor::Lock)))
}

pub fn hang(deadlock: &[u16], threads: Vec<HangThread>) -> Hang {
    let circles = if deadlock.is_empty() { Vec::new() } else { vec![deadlock.to_vec()] };
    Hang {
        schema: HANG_SCHEMA.to_owned(),
        sentence: format!("{deadlock:?}"),
        deadlock: !deadlock.is_empty(),
        processes: vec![HangProcess { process: 7, deadlocks: circles, threads, lost: None }],
    }
}
