//! Puts names to a run that hung: its threads, what they wait for, and what they hold.

use std::path::Path;

use unpick_analyses::hang::{HungProcess, HungRun, HungThread, Wait};
use unpick_analyses::ranking::{ExampleLock, ExampleMemory};

use super::{
    Activity, HANG_SCHEMA, Hang, HangProcess, HangThread, HangWait, WaitedFor, lost, sentence,
};
use crate::names::{Names, Place};
use crate::places::Places;

/// Puts names to a run that hung.
pub fn describe_hang(run: &HungRun, names: &dyn Names, working_folder: &Path) -> Hang {
    let places = Places::new(&run.code, names, working_folder);
    let processes: Vec<_> =
        run.processes.iter().map(|process| of_process(process, &places)).collect();
    Hang {
        schema: HANG_SCHEMA.to_owned(),
        sentence: sentence::sentence(&processes),
        deadlock: processes.iter().any(|process| !process.deadlocks.is_empty()),
        processes,
    }
}

fn of_process(process: &HungProcess, places: &Places<'_>) -> HangProcess {
    HangProcess {
        process: process.process,
        deadlocks: process.circles.clone(),
        threads: process.threads.iter().map(|thread| of_thread(thread, places)).collect(),
        lost: process.lost.as_ref().map(|lost| lost::lost(lost, places)),
    }
}

fn of_thread(thread: &HungThread, places: &Places<'_>) -> HangThread {
    let at = &thread.place;
    let own = at.site.map(|site| places.own_site(site, &at.stack));
    let Place { frame, inlined_into } = own.map(|(site, _)| places.place(site)).unwrap_or_default();
    HangThread {
        thread: thread.thread,
        activity: match thread.running {
            Some(true) => Activity::Running,
            Some(false) => Activity::Sleeping,
            None => Activity::Unknown,
        },
        waits_for: thread.wait.as_ref().map(|wait| of_wait(wait, places)),
        frame,
        inlined_into,
        stack: places.stack(own.map_or(&at.stack[..], |(_, calls)| calls)),
        is_now: at.is_now,
        holds: thread.locks.iter().map(|lock| places.lock(lock)).collect(),
        code: at.site.map(|site| places.code_place(site)),
        calls: places.calls(&at.stack),
        shown_call: at.site.and_then(|site| places.shown_call(site, &at.stack)),
    }
}

fn of_wait(wait: &Wait, places: &Places<'_>) -> HangWait {
    let named = |what, memory: &ExampleMemory, kind| HangWait {
        name: places.names.lock(&object(memory, kind), places.code),
        ..HangWait::new(what)
    };
    match wait {
        Wait::Lock { lock, limited, held_by } => HangWait {
            name: places.names.lock(lock, places.code),
            lock_kind: Some(lock.kind.clone()),
            shared: lock.shared,
            limited: *limited,
            threads: held_by.clone(),
            ..HangWait::new(WaitedFor::Lock)
        },
        Wait::Condition { condition, mutex } => HangWait {
            mutex: places.names.lock(mutex, places.code),
            ..named(WaitedFor::Condition, condition, "condition")
        },
        Wait::End { thread } => {
            HangWait { threads: vec![*thread], ..HangWait::new(WaitedFor::End) }
        }
        Wait::Barrier(memory) => named(WaitedFor::Barrier, memory, "barrier"),
        Wait::Semaphore(memory) => named(WaitedFor::Semaphore, memory, "semaphore"),
        Wait::Once(memory) => named(WaitedFor::Once, memory, "once"),
        Wait::Unpark => HangWait::new(WaitedFor::Unpark),
        Wait::Futex(memory) => named(WaitedFor::Futex, memory, "futex"),
    }
}

/// Objects that are waited for are named as locks are.
pub(super) fn object(memory: &ExampleMemory, kind: &str) -> ExampleLock {
    let memory = memory.clone();
    let (kind, stack) = (kind.to_owned(), Vec::new());
    ExampleLock { memory, kind, shared: false, site: 0, stack, acquisition: None }
}

impl HangWait {
    pub(super) fn new(what: WaitedFor) -> HangWait {
        HangWait {
            what,
            name: None,
            lock_kind: None,
            shared: false,
            limited: false,
            mutex: None,
            threads: Vec::new(),
        }
    }
}
