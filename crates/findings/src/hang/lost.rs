//! A lost notification in words: the steps that lost it, each with its place.

use serde::{Deserialize, Serialize};
use unpick_analyses::hang as analysed;

use super::described::object;
use super::sentence::place;
use super::{HangProcess, HangThread};
use crate::finding::{CodePlace, HeldLock};
use crate::names::Frame;
use crate::places::Places;

/// A thread waits at a condition, and the notification for it is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostNotification {
    /// Who waits.
    pub thread: u16,
    /// What was done, in this order.
    pub steps: Vec<LostStep>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostStep {
    pub thread: u16,
    pub deed: LostDeed,
    #[serde(flatten)]
    pub frame: Frame,
    pub code: Option<CodePlace>,
    /// The calls that led there, innermost first, at most `MOST_CALLS`.
    pub calls: Vec<CodePlace>,
    /// Which of `calls` is shown, because `code` is inside a library of the language; none: `code` itself.
    pub shown_call: Option<usize>,
    /// The condition's mutex, where the thread took it before; none: that is the step itself, or is not known. Of a test, a write and the
    /// wait that follows: the outermost lock by which the thread came there.
    pub lock: Option<HeldLock>,
    /// Of a test and a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variable: Option<LostVariable>,
}

/// What a thread tested before it waited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostVariable {
    /// What the program calls it.
    pub name: Option<String>,
    pub bytes: u64,
    /// How many bytes behind the condition it is, if both are parts of one object.
    pub behind_condition: Option<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostDeed {
    /// It began to wait at the condition.
    Waits,
    /// It took the condition's mutex.
    Locks,
    /// It notified those who wait, all or one.
    Notifies,
    /// It read a variable, to find out whether to wait.
    Tests,
    /// It wrote that variable.
    Writes,
}

pub fn lost(lost: &analysed::LostNotification, places: &Places<'_>) -> LostNotification {
    let steps = lost.steps.iter().map(|step| of_step(step, places)).collect();
    LostNotification { thread: lost.thread, steps }
}

fn of_step(step: &analysed::LostStep, places: &Places<'_>) -> LostStep {
    let at = &step.place;
    let own = at.site.map(|site| places.own_site(site, &at.stack).0);
    LostStep {
        thread: step.thread,
        deed: match step.deed {
            analysed::Deed::Waits => LostDeed::Waits,
            analysed::Deed::Locks => LostDeed::Locks,
            analysed::Deed::Notifies => LostDeed::Notifies,
            analysed::Deed::Tests => LostDeed::Tests,
            analysed::Deed::Writes => LostDeed::Writes,
        },
        frame: own.map(|site| places.place(site).frame).unwrap_or_default(),
        code: at.site.map(|site| places.code_place(site)),
        calls: places.calls(&at.stack),
        shown_call: at.site.and_then(|site| places.shown_call(site, &at.stack)),
        lock: step.lock.as_ref().map(|lock| places.lock(lock)),
        variable: step.variable.as_ref().map(|variable| LostVariable {
            name: places.names.lock(&object(&variable.memory, "variable"), places.code),
            bytes: variable.bytes,
            behind_condition: variable.behind_condition,
        }),
    }
}

/// `thread 3 waits for condition changed at log.c:9; thread 1 took its mutex at log.c:5, before thread 2 came at log.c:7, which then notified
/// nobody: a lost notification`.
pub fn sentence(process: &HangProcess) -> Option<String> {
    let lost = process.lost.as_ref()?;
    let waiting = process.threads.iter().find(|thread| thread.thread == lost.thread)?;
    if let [test, write, ..] = &lost.steps[..]
        && test.deed == LostDeed::Tests
    {
        return Some(of_stale_test(waiting, test, write, lost.notification()));
    }
    let how = match &lost.steps[..] {
        [_, other, notifier] if notifier.deed == LostDeed::Locks => {
            let mutex = mutex_of(waiting);
            format!(
                "; thread {} took {mutex}{}, before thread {} did{}, which then notified nobody",
                other.thread,
                at(other),
                notifier.thread,
                at(notifier)
            )
        }
        steps => {
            let notified = steps.iter().find(|step| step.deed == LostDeed::Notifies)?;
            format!(", which thread {} had notified before{}", notified.thread, at(notified))
        }
    };
    let waits = super::sentence::does(waiting);
    Some(format!("thread {} {waits}{how}: a lost notification", lost.thread))
}

/// `thread 1 tested pending at pool.c:92; thread 4 wrote it at pool.c:55 and notified at pool.c:56, before thread 1 waits for condition idle at
/// pool.c:93: a lost notification`.
fn of_stale_test(
    waiting: &HangThread,
    test: &LostStep,
    write: &LostStep,
    notified: Option<&LostStep>,
) -> String {
    let name = test.variable.as_ref().and_then(|variable| variable.name.as_deref());
    let variable = name.map_or("a variable", super::sentence::without_origin);
    let (tested, wrote, waits) = (at(test), at(write), super::sentence::does(waiting));
    let notified = match notified {
        Some(notify) => format!(" and notified{}", at(notify)),
        None => String::new(),
    };
    format!(
        "thread {} {waits}; it had tested {variable}{tested}, then thread {} wrote it{wrote}{notified}, before it waited: a lost notification",
        test.thread, write.thread
    )
}

impl LostNotification {
    /// What was lost, if anybody notified.
    pub fn notification(&self) -> Option<&LostStep> {
        self.step(LostDeed::Notifies)
    }

    /// The first step of this kind.
    pub fn step(&self, deed: LostDeed) -> Option<&LostStep> {
        self.steps.iter().find(|step| step.deed == deed)
    }

    /// The steps that are forced: a write that a notification follows is not one by itself.
    pub fn forced_steps(&self) -> impl Iterator<Item = &LostStep> {
        let is_notified = self.notification().is_some();
        let is_forced = move |step: &&LostStep| step.deed != LostDeed::Writes || !is_notified;
        self.steps.iter().filter(is_forced)
    }
}

fn mutex_of(waiting: &HangThread) -> String {
    let name = waiting.waits_for.as_ref().and_then(|wait| wait.mutex.as_deref());
    name.map_or_else(
        || "its mutex".to_owned(),
        |name| super::sentence::without_origin(name).to_owned(),
    )
}

fn at(step: &LostStep) -> String {
    place(&step.frame).map(|place| format!(" at {place}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::{HangWait, WaitedFor};
    use super::*;

    fn frame(line: u32) -> Frame {
        Frame { file: Some("src/log.c".into()), line: Some(line), ..Frame::default() }
    }

    fn step(thread: u16, deed: LostDeed, line: u32) -> LostStep {
        let (code, calls, shown_call, lock) = (None, Vec::new(), None, None);
        LostStep { thread, deed, frame: frame(line), code, calls, shown_call, lock, variable: None }
    }

    fn told(steps: Vec<LostStep>) -> Option<String> {
        let (name, mutex) = (Some("changed".to_owned()), Some("lock".to_owned()));
        let wait = HangWait { name, mutex, ..HangWait::new(WaitedFor::Condition) };
        let waiting = HangThread::sleeping_at(frame(9), 3, Some(wait));
        let lost = Some(LostNotification { thread: 3, steps });
        sentence(&HangProcess { process: 1, deadlocks: Vec::new(), threads: vec![waiting], lost })
    }

    #[test]
    fn who_was_overtaken_by_whom_is_told() {
        let steps = vec![
            step(3, LostDeed::Waits, 9),
            step(1, LostDeed::Locks, 5),
            step(2, LostDeed::Locks, 7),
        ];
        assert_eq!(
            told(steps).unwrap(),
            "thread 3 waits for condition changed at log.c:9; thread 1 took lock at log.c:5, before thread 2 did at log.c:7, \
             which then notified nobody: a lost notification"
        );
    }

    #[test]
    fn a_test_that_was_out_of_date_is_told_with_what_made_it_so() {
        let variable = LostVariable {
            name: Some("log.full (static in main)".to_owned()),
            bytes: 4,
            behind_condition: None,
        };
        let test = LostStep { variable: Some(variable), ..step(3, LostDeed::Tests, 8) };
        let write = step(2, LostDeed::Writes, 4);
        let wait = step(3, LostDeed::Waits, 9);
        let notify = step(2, LostDeed::Notifies, 5);
        assert_eq!(
            told(vec![test.clone(), write.clone(), notify, wait.clone()]).unwrap(),
            "thread 3 waits for condition changed at log.c:9; it had tested log.full at log.c:8, then thread 2 wrote it at log.c:4 \
             and notified at log.c:5, before it waited: a lost notification"
        );
        assert_eq!(
            told(vec![test, write, wait]).unwrap(),
            "thread 3 waits for condition changed at log.c:9; it had tested log.full at log.c:8, then thread 2 wrote it at log.c:4, \
             before it waited: a lost notification"
        );
    }

    #[test]
    fn who_notified_too_early_is_told() {
        let steps = vec![
            step(3, LostDeed::Locks, 8),
            step(2, LostDeed::Notifies, 4),
            step(3, LostDeed::Waits, 9),
        ];
        assert_eq!(
            told(steps).unwrap(),
            "thread 3 waits for condition changed at log.c:9, which thread 2 had notified before at log.c:4: a lost notification"
        );
    }
}
