//! A plan: in which order which threads shall come to which places, as pure data.
//!
//! Takes   a finding, an order of a race, or a hang: a deadlock, or a lost notification.      Gives  a plan that forces it, its inverse, and the words for the runtime.
//! Misses  a gate where the lock is not known; calls where a stack is not known.
//!
//! A plan says nothing about addresses in memory: a place is a module and an offset in its file, so it holds for one build.

mod gates;
mod of_deadlock;
mod of_finding;
mod of_lost;
mod of_stale_test;
mod shown;
mod words;

use std::time::Duration;

pub(crate) use of_finding::{PatternStep, is_with_previous, pattern_called, steps_of};
pub use unpick_events::schedule::{Mode, Operand, Purpose};
use unpick_findings::CodePlace;

/// Long enough for a partner that has to come through some work first; short enough to try several times in a test.
pub const DEFAULT_PAUSE: Duration = Duration::from_secs(1);
/// A run that waits for nothing useful takes no longer by more than this.
pub const DEFAULT_BUDGET: Duration = Duration::from_secs(10);

/// In which order threads shall come to places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub mode: Mode,
    /// The longest that a thread is held at once. Zero: no thread is ever held, only counted.
    pub pause: Duration,
    /// The longest that all threads together are held.
    pub budget: Duration,
    /// After so many hits nothing is held any more; 0: no bound.
    pub bound: u64,
    /// So many arrivals at the first step pass first.
    pub ignored: u64,
    /// Of a meeting: who is missing begins a round, by taking its lock, when the others are there, and they go on when it has made so
    /// many without coming; 0: nobody waits for rounds.
    pub rounds: u64,
    /// Stop for a debugger when the last step is about to be made.
    pub stop: bool,
    /// So long the other threads go on before the last step is made.
    pub linger: Duration,
    /// The threads of the first two steps each wait until the other is at its step with the same bytes.
    pub meet: bool,
    /// No step waits until the thread of the step before is at its own next one: that may go on as another thread.
    pub eager: bool,
    /// While a thread waits to take a lock for its next step, and until the last one, no thread without a role takes that lock elsewhere.
    pub undisturbed: bool,
    /// There are no turns: every step that another thread's should come before waits for the pause, whoever comes to it, and the others go on.
    pub window: bool,
    /// A later step of a role does not count in the call of its first step made again: the order is one within calls.
    pub within_calls: bool,
    /// Steps that had no gate have one where the function begins that makes them.
    pub early: bool,
    /// Who comes in after the first step waits where its own code begins, until it is its turn.
    pub held_back: bool,
    /// In their order.
    pub steps: Vec<PlanStep>,
    /// Of a lost wakeup: the write of what the waiting thread has tested. Its inverse keeps it away between test and wait.
    pub written: Option<PlanStep>,
}

/// What one thread does in its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanStep {
    /// Which thread, from 1.
    pub role: u8,
    /// `Step` or `Meeting`; gates are told by `gates`.
    pub purpose: Purpose,
    /// Where the step is made: any of them counts.
    pub places: Vec<PlanPlace>,
    /// Where its thread can wait before it: where it takes a lock. At a meeting it brings the lock along: there it only waits in the
    /// inverse.
    pub gates: Vec<PlanPlace>,
    /// It counts only if its thread holds the lock that it took at one of the gates.
    pub must_hold: bool,
    /// Of the last step of a role that is kept apart from others: where it is done, if that is not after the step.
    pub exits: Vec<PlanPlace>,
    /// From 0. Steps with the same variable touch the same bytes.
    pub variable: Option<u8>,
    /// Which argument of the call is the address.
    pub operand: Operand,
    /// How many bytes are accessed; 0: not known.
    pub bytes: u64,
    /// Whether they are written, or freed.
    pub is_write: bool,
    /// All calls that led to it where it was seen, innermost first; empty: not known.
    pub calls: Vec<CallPlace>,
    /// For people: `write of x in put at bank.c:21`.
    pub shown: String,
}

/// A return address, and the calls that must have led to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PlanPlace {
    pub at: CallPlace,
    /// Innermost first; empty: whatever led there.
    pub calls: Vec<CallPlace>,
    /// Of a gate: how far behind the lock that is taken there the variable of the step is. None: not known.
    pub distance: Option<i64>,
}

/// A return address in the terms of a module's file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CallPlace {
    pub module: ModuleName,
    pub offset: u64,
}

/// By what a module is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ModuleName {
    /// In hex.
    BuildId(String),
    /// It has no build id.
    Path(String),
}

impl PlanStep {
    /// A step that is a call, and no access.
    pub(crate) fn of_call(role: u8, at: PlanPlace, shown: String) -> PlanStep {
        PlanStep {
            role,
            purpose: Purpose::Step,
            places: vec![at],
            gates: Vec::new(),
            must_hold: false,
            exits: Vec::new(),
            variable: None,
            operand: Operand::Unknown,
            bytes: 0,
            is_write: false,
            calls: Vec::new(),
            shown,
        }
    }

    /// Whether it is an access, and no call or meeting.
    pub fn is_access(&self) -> bool {
        self.purpose == Purpose::Step && self.variable.is_some()
    }
}

impl Plan {
    /// A plan that forces these steps, with the usual patience.
    pub fn forcing(steps: Vec<PlanStep>) -> Plan {
        Plan {
            mode: Mode::Force,
            pause: DEFAULT_PAUSE,
            budget: DEFAULT_BUDGET,
            bound: 0,
            ignored: 0,
            rounds: 0,
            stop: false,
            linger: Duration::ZERO,
            meet: false,
            eager: false,
            undisturbed: false,
            window: false,
            within_calls: false,
            early: false,
            held_back: false,
            steps,
            written: None,
        }
    }

    /// The plan under which the order cannot come about: of two steps, the other one first; of more, and of a deadlock, one thread at
    /// a time from its first step to its last. Where a thread waits, and another comes before the one that would wake it, that other one
    /// stays away while the first waits.
    #[must_use]
    pub fn inverse(&self) -> Plan {
        if let Some(plan) = self.without_lost_wakeup() {
            return plan;
        }
        if let Some((_, without_last)) = self.steps.split_last().filter(|_| self.is_overtaken()) {
            let steps = without_last.to_vec();
            return Plan { mode: Mode::Serialise, steps, stop: false, ..self.clone() };
        }
        let is_deadlock = self.steps.iter().any(|step| step.purpose == Purpose::Meeting);
        let is_pair = self.steps.len() == 2 && !is_deadlock;
        let mode = if is_pair { Mode::Reverse } else { Mode::Serialise };
        let steps = self.steps.iter().cloned();
        // A lock that the runtime follows: a thread of a deadlock is alone until it has given that back.
        let without_meeting = |step: PlanStep| PlanStep { purpose: Purpose::Step, ..step };
        let steps = steps.map(without_meeting).collect();
        Plan { mode, steps, stop: false, meet: false, window: false, ..self.clone() }
    }

    /// One thread at a time: from its test to its wait, or at its write of what is tested.
    fn without_lost_wakeup(&self) -> Option<Plan> {
        let written = self.written.clone()?;
        let of_waiting = self.steps.iter().filter(|step| step.role != written.role);
        let steps = of_waiting.chain([&written]).cloned().collect();
        let pause = self.pause.min(of_stale_test::PREVENTION_PAUSE);
        Some(Plan {
            mode: Mode::Serialise,
            pause,
            steps,
            stop: false,
            meet: false,
            window: false,
            ..self.clone()
        })
    }

    /// Whether one thread waits, a second comes before a third: each has but one step, which is no access.
    fn is_overtaken(&self) -> bool {
        let is_plain = |step: &PlanStep| step.purpose == Purpose::Step && step.variable.is_none();
        self.steps.len() > 2 && self.roles() == self.steps.len() && self.steps.iter().all(is_plain)
    }

    /// How many different threads it needs.
    pub fn roles(&self) -> usize {
        self.steps.iter().map(|step| usize::from(step.role)).max().unwrap_or(0)
    }

    /// The places as the runtime numbers them, each with its step: of every step first the places, then the gates, then the same gates
    /// as places where a lock is taken that counts, then the exits.
    pub fn numbered_places(&self) -> impl Iterator<Item = NumberedPlace<'_>> {
        self.steps.iter().enumerate().flat_map(|(number, step)| {
            let of = move |purpose| move |place| NumberedPlace { step: number, purpose, place };
            // At a meeting everybody brings its lock along: nobody may wait in front of it.
            let is_meeting = step.purpose == Purpose::Meeting;
            let gates = step.gates.iter().filter(move |_| !is_meeting);
            let held = step.gates.iter().filter(move |_| is_meeting || step.must_hold);
            let places = step.places.iter().map(of(step.purpose));
            let gates = gates.map(of(Purpose::Gate)).chain(held.map(of(Purpose::Holding)));
            places.chain(gates).chain(step.exits.iter().map(of(Purpose::Exit)))
        })
    }
}

/// A place and what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberedPlace<'p> {
    /// From 0.
    pub step: usize,
    pub purpose: Purpose,
    pub place: &'p PlanPlace,
}

impl CallPlace {
    /// None if the module is not known, or what is said of the place is no address.
    pub fn of(code: &CodePlace) -> Option<CallPlace> {
        let digits = code.offset.strip_prefix("0x")?;
        let offset = u64::from_str_radix(digits, 16).ok()?;
        let by_id = code.build_id.clone().map(ModuleName::BuildId);
        let module = by_id.or_else(|| code.module.clone().map(ModuleName::Path))?;
        Some(CallPlace { module, offset })
    }
}

impl ModuleName {
    pub fn text(&self) -> &str {
        match self {
            ModuleName::BuildId(text) | ModuleName::Path(text) => text,
        }
    }
}
