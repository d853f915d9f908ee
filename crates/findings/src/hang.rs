//! A run that hung, in words: what each thread waits for, where, and what it holds. As JSON: `docs/schema/hang.schema.json`.
//!
//! Takes   a `HungRun`, and somebody who knows names.      Gives  a `Hang`; of several runs, which of them hung the same way.

mod described;
mod groups;
mod impasse;
mod leading;
mod lost;
mod sentence;
#[cfg(test)]
mod test_support;
use serde::{Deserialize, Serialize};

use crate::finding::{CodePlace, HeldLock, Unreadable, parse};
use crate::names::Frame;
pub use described::describe_hang;
pub(crate) use groups::Signature;
pub use groups::{HangGroup, group_hangs};
pub use impasse::impasse_in_words;
pub use lost::{LostDeed, LostNotification, LostStep, LostVariable};
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
}

#[cfg(test)]
mod tests {
    use super::test_support::{hang, thread};
    use super::*;

    #[test]
    fn a_hang_survives_json_and_other_forms_are_refused() {
        let hang = hang(&[2, 3], vec![thread(2, 10), thread(3, 20)]);
        let text = hang.to_json();
        assert_eq!(Hang::from_json(&text), Ok(hang));
        let newer = text.replace(HANG_SCHEMA, "unpick-hang/9");
        assert_eq!(Hang::from_json(&newer), Err(Unreadable::OtherForm("unpick-hang/9".to_owned())));
    }
}
