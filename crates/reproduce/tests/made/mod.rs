//! Findings and hangs made by hand.
#![allow(dead_code, reason = "each test program uses some of it")]

use unpick_analyses::interleaving_patterns::{AccessKind as Kind, PatternId, Variable};
use unpick_findings::{
    AccessKind, Activity, Class, CodePlace, Finding, FindingAccess, Frame, HANG_SCHEMA, Hang,
    HangProcess, HangThread, HangWait, HeldLock, LostDeed, LostNotification, LostStep, Origin,
    Study, WaitedFor,
};

pub fn code(offset: u64) -> CodePlace {
    CodePlace {
        module: Some("bank".to_owned()),
        build_id: Some("c0ffee".to_owned()),
        offset: format!("{offset:#x}"),
    }
}

pub fn frame(function: &str, line: u32) -> Frame {
    Frame {
        function: Some(function.to_owned()),
        file: Some("bank.c".to_owned()),
        line: Some(line),
        column: Some(3),
    }
}

pub fn lock(name: &str, at: u64, acquisition: u64) -> HeldLock {
    HeldLock {
        name: Some(name.to_owned()),
        kind: "mutex".to_owned(),
        shared: false,
        taken_at: frame("work", at as u32),
        code: Some(code(at)),
        calls: Vec::new(),
        shown_call: None,
        acquisition: Some(acquisition),
        distance: None,
    }
}

/// Access number `at` is at line and offset 10, 20, 30, 40.
pub fn finding(pattern: PatternId) -> Finding {
    let accesses = pattern.steps().iter().zip(1..).map(|(step, at)| FindingAccess {
        role: step.role,
        kind: if step.kind == Kind::Read { AccessKind::Read } else { AccessKind::Write },
        variable: Some(if step.variable == Variable::X { "x" } else { "y" }.to_owned()),
        frame: frame("work", at * 10),
        text: Some(format!("text of line {}", at * 10)),
        inlined_into: Vec::new(),
        thread: u16::from(step.role) + 1,
        process: 0,
        atomic: false,
        order: at,
        stack: Vec::new(),
        locks: Vec::new(),
        code: code(u64::from(at) * 10),
        bytes: 4,
        library: false,
        calls: Vec::new(),
        shown_call: None,
    });
    Finding {
        rank: 1,
        score: 1.0,
        class: Class::Order,
        pattern: pattern.name(),
        sentence: "Thread 1 and thread 2 get into each other's way.".to_owned(),
        accesses: accesses.collect(),
        failed_runs: 25,
        passed_runs: 0,
        covered_runs: 0,
        missing_runs: 0,
        example_run: 6,
        cut_short: false,
        in_failing_code: false,
        in_experiments: Default::default(),
        supporters: Vec::new(),
        further_supporters: 0,
        study: Study {
            first_pair: None,
            second_pair: None,
            pattern_rank: 1,
            patterns_at_rank_1: 1,
            pairs: 10,
            patterns: 20,
            median_distance: None,
            longest_distance: None,
            access_window: None,
        },
        confirmed: None,
        origin: Origin::Correlated,
        invariants: Vec::new(),
        reconstruction: None,
        correlation: None,
    }
}

/// Thread `number` holds `held`, taken at offset 100 times its number, and waits one line further for `wanted`.
pub fn waiting(number: u16, held: &str, wanted: &str) -> HangThread {
    let at = u64::from(number) * 100;
    HangThread {
        thread: number,
        activity: Activity::Sleeping,
        waits_for: Some(HangWait {
            what: WaitedFor::Lock,
            name: Some(wanted.to_owned()),
            lock_kind: Some("mutex".to_owned()),
            shared: false,
            limited: false,
            mutex: None,
            threads: Vec::new(),
        }),
        frame: frame("work", at as u32 + 1),
        inlined_into: Vec::new(),
        stack: Vec::new(),
        is_now: true,
        holds: vec![lock("log", at - 1, 1), lock(held, at, 2)],
        code: Some(code(at + 1)),
        calls: Vec::new(),
        shown_call: None,
    }
}

pub fn hang(circle: &[u16], threads: Vec<HangThread>) -> Hang {
    Hang {
        schema: HANG_SCHEMA.to_owned(),
        sentence: "They wait for each other.".to_owned(),
        deadlock: !circle.is_empty(),
        processes: vec![HangProcess {
            process: 0,
            deadlocks: vec![circle.to_vec()],
            threads,
            lost: None,
        }],
    }
}

/// What a thread did at this line and offset.
pub fn deed(thread: u16, deed: LostDeed, at: u64) -> LostStep {
    LostStep {
        thread,
        deed,
        frame: frame("work", at as u32),
        code: Some(code(at)),
        calls: Vec::new(),
        shown_call: None,
        lock: None,
        variable: None,
    }
}

/// The first thread waits.
pub fn lost_notification(steps: Vec<LostStep>) -> Hang {
    let mut hang = hang(&[], vec![waiting(steps[0].thread, "log", "changed")]);
    hang.processes[0].deadlocks.clear();
    hang.processes[0].lost = Some(LostNotification { thread: steps[0].thread, steps });
    hang
}
