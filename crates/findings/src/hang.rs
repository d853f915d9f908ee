//! A run that hung, in words: what each thread waits for, where, and what it holds. As JSON: `docs/schema/hang.schema.json`.
//!
//! Takes   a `HungRun`, and somebody who knows names.      Gives  a `Hang`; of several runs, which of them hung the same way.

mod impasse;
mod leading;
mod lost;
mod sentence;

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use unpick_analyses::hang::{HungProcess, HungRun, HungThread, Wait};
use unpick_analyses::ranking::{ExampleLock, ExampleMemory};

use crate::confirmed::Confirmed;
use crate::finding::{CodePlace, Findings, HeldLock, Runs, SCHEMA, Unreadable, parse};
use crate::names::{Frame, Names, Place};
use crate::places::Places;
pub use impasse::impasse_in_words;
pub use lost::{LostDeed, LostNotification, LostStep};
pub(crate) use sentence::{place, without_origin};

/// Name and version of the form.
pub const HANG_SCHEMA: &str = "unpick-hang/1";

/// A run that did not end in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hang {
    pub schema: String,
    /// Who waits for whom.
    pub sentence: String,
    /// Threads wait for each other in a circle: that is sure.
    pub deadlock: bool,
    pub processes: Vec<HangProcess>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HangProcess {
    pub process: u32,
    /// Threads that wait for each other: each for the next, the last for the first.
    pub deadlocks: Vec<Vec<u16>>,
    pub threads: Vec<HangThread>,
    /// The order in which a notification was lost, if that is known and there is no deadlock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<LostNotification>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HangThread {
    pub thread: u16,
    pub activity: Activity,
    /// None: it does not wait for another thread, as far as that is known.
    pub waits_for: Option<HangWait>,
    #[serde(flatten)]
    pub frame: Frame,
    /// Functions the first one was inlined into.
    pub inlined_into: Vec<Frame>,
    /// The calls that led there, innermost first.
    pub stack: Vec<Frame>,
    /// It was there when its time was over; else that is where it was last seen.
    pub is_now: bool,
    pub holds: Vec<HeldLock>,
    /// Where it is, for those who look for it without names; none: not known.
    #[serde(default)]
    pub code: Option<CodePlace>,
    /// The calls that led there, innermost first, at most `MOST_CALLS`.
    #[serde(default)]
    pub calls: Vec<CodePlace>,
    /// Which of `calls` is shown, because `code` is inside a library of the language; none: `code` itself.
    #[serde(default)]
    pub shown_call: Option<usize>,
}

/// Whether the kernel had a thread running.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activity {
    Running,
    Sleeping,
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HangWait {
    pub what: WaitedFor,
    /// What the program calls it.
    pub name: Option<String>,
    /// Of a lock: `mutex`, `rwlock`, …
    pub lock_kind: Option<String>,
    /// Of a lock: to read only.
    pub shared: bool,
    /// Of a lock: the wait ends by itself.
    pub limited: bool,
    /// Of a condition: its mutex.
    pub mutex: Option<String>,
    /// Of a lock: the threads that hold it. Of the end of a thread: that thread.
    pub threads: Vec<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitedFor {
    Lock,
    Condition,
    /// The end of a thread.
    End,
    Barrier,
    Semaphore,
    Once,
    /// An `unpark` of Rust.
    Unpark,
    Futex,
}

/// Failing runs that hung in the same places for the same reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HangGroup {
    /// As in the example run.
    pub sentence: String,
    pub deadlock: bool,
    /// The order in which a notification was lost is known.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lost_notification: bool,
    pub failed_runs: u32,
    pub example_run: u32,
    /// What forcing it has shown; none: nobody tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<Confirmed>,
}

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
fn object(memory: &ExampleMemory, kind: &str) -> ExampleLock {
    let memory = memory.clone();
    let (kind, stack) = (kind.to_owned(), Vec::new());
    ExampleLock { memory, kind, shared: false, site: 0, stack, acquisition: None }
}

impl HangWait {
    fn new(what: WaitedFor) -> HangWait {
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

/// What makes two hangs the same: what is waited for, and where; not which thread does.
pub(crate) type Signature = Vec<(Option<WaitedFor>, Option<String>, Frame)>;
/// What was done where, on the way to a lost notification.
type StepPlace = (LostDeed, Frame);

impl Hang {
    /// From JSON of this version.
    pub fn from_json(text: &str) -> Result<Hang, Unreadable> {
        parse(text, HANG_SCHEMA)
    }

    /// As JSON, for people too.
    ///
    /// # Panics
    /// Never: there is nothing in it that JSON cannot say.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("keys are texts")
    }

    /// The order in which a notification was lost, of the first process of which it is known.
    pub fn lost_notification(&self) -> Option<&LostNotification> {
        self.processes.iter().find_map(|process| process.lost.as_ref())
    }

    /// Of a deadlock only those in the circle count, of a lost notification only those who lost it: how far the others had come is
    /// chance.
    pub(crate) fn signature(&self) -> Signature {
        let mut signature: Signature = self
            .processes
            .iter()
            .flat_map(|process| {
                process.threads.iter().filter(|thread| self.counts(process, thread))
            })
            .map(|thread| {
                let wait = thread.waits_for.as_ref();
                let name = wait.and_then(|wait| wait.name.clone());
                (wait.map(|wait| wait.what), name, thread.frame.clone())
            })
            .collect();
        signature.sort();
        signature.dedup();
        signature
    }

    fn lost_in(&self) -> Vec<StepPlace> {
        let steps = self.lost_notification().map_or(&[][..], |lost| &lost.steps);
        steps.iter().map(|step| (step.deed, step.frame.clone())).collect()
    }

    fn counts(&self, process: &HangProcess, thread: &HangThread) -> bool {
        if let Some(lost) = self.lost_notification() {
            return thread.thread == lost.thread;
        }
        !self.deadlock || process.deadlocks.iter().flatten().any(|&member| member == thread.thread)
    }
}

/// The hangs of failing runs, by number of run: the sure ones first, then those that are most frequent.
pub fn group_hangs(hangs: &[(u32, Hang)]) -> Vec<HangGroup> {
    let mut groups: BTreeMap<(bool, Vec<StepPlace>, Signature), HangGroup> = BTreeMap::new();
    for (run, hang) in hangs {
        let key = (hang.deadlock, hang.lost_in(), hang.signature());
        let group = groups.entry(key).or_insert_with(|| HangGroup {
            sentence: hang.sentence.clone(),
            deadlock: hang.deadlock,
            lost_notification: hang.lost_notification().is_some(),
            failed_runs: 0,
            example_run: *run,
            confirmed: None,
        });
        group.failed_runs += 1;
    }
    let mut groups: Vec<HangGroup> = groups.into_values().collect();
    groups.sort_by_key(|group| {
        let sureness = (!group.deadlock, !group.lost_notification);
        (sureness, u32::MAX - group.failed_runs, group.example_run)
    });
    groups
}

fn is_false(is: &bool) -> bool {
    !is
}

impl HangGroup {
    /// The order in which threads came to hang is known, so it can be forced.
    pub fn is_explained(&self) -> bool {
        self.deadlock || self.lost_notification
    }
}

impl Findings {
    /// Of runs that cannot be compared, only how they hung is known.
    pub fn of_hangs(runs: Runs, formula: &str, hangs: Vec<HangGroup>) -> Findings {
        let formula = formula.to_owned();
        Findings {
            schema: SCHEMA.to_owned(),
            runs,
            formula,
            findings: Vec::new(),
            hangs,
            active: None,
            reconstructions: Vec::new(),
        }
    }

    /// Whether there is anything that explains a failure.
    pub fn explain_something(&self) -> bool {
        !self.findings.is_empty() || self.hangs.iter().any(HangGroup::is_explained)
    }
}

#[cfg(test)]
impl HangThread {
    /// One that sleeps in a place, as far as is known.
    fn sleeping_at(frame: Frame, thread: u16, waits_for: Option<HangWait>) -> HangThread {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(number: u16, line: u32) -> HangThread {
        let frame = Frame { file: Some("a.c".into()), line: Some(line), ..Frame::default() };
        HangThread::sleeping_at(frame, number, Some(HangWait::new(WaitedFor::Lock)))
    }

    fn hang(deadlock: &[u16], threads: Vec<HangThread>) -> Hang {
        let circles = if deadlock.is_empty() { Vec::new() } else { vec![deadlock.to_vec()] };
        Hang {
            schema: HANG_SCHEMA.to_owned(),
            sentence: format!("{deadlock:?}"),
            deadlock: !deadlock.is_empty(),
            processes: vec![HangProcess { process: 7, deadlocks: circles, threads, lost: None }],
        }
    }

    #[test]
    fn runs_that_hung_in_the_same_places_are_one_entry_and_deadlocks_come_first() {
        let hangs = [
            (1, hang(&[], vec![thread(2, 10), thread(3, 20)])),
            (2, hang(&[], vec![thread(2, 20), thread(3, 10), thread(4, 10)])),
            (5, hang(&[2, 3], vec![thread(1, 4), thread(2, 10), thread(3, 20)])),
            (6, hang(&[], vec![thread(2, 30)])),
        ];
        let groups = group_hangs(&hangs);
        let told: Vec<_> =
            groups.iter().map(|group| (group.example_run, group.failed_runs)).collect();
        assert_eq!(told, [(5, 1), (1, 2), (6, 1)]);
    }

    #[test]
    fn of_a_deadlock_only_the_circle_counts() {
        let one = hang(&[2, 3], vec![thread(1, 4), thread(2, 10), thread(3, 20)]);
        let other = hang(&[5, 6], vec![thread(1, 9), thread(5, 20), thread(6, 10)]);
        assert_eq!(group_hangs(&[(1, one), (2, other)]).len(), 1);
    }

    #[test]
    fn a_hang_survives_json_and_other_forms_are_refused() {
        let hang = hang(&[2, 3], vec![thread(2, 10), thread(3, 20)]);
        let text = hang.to_json();
        assert_eq!(Hang::from_json(&text), Ok(hang));
        let newer = text.replace(HANG_SCHEMA, "unpick-hang/9");
        assert_eq!(Hang::from_json(&newer), Err(Unreadable::OtherForm("unpick-hang/9".to_owned())));
    }
}
