//! What threads synchronised by, in words.

use std::fmt;

use serde::{Deserialize, Serialize};
use unpick_analyses::races::{Deed, RaceStep, StepsAround};
use unpick_analyses::ranking::ExampleLock;

use crate::describe::AccessWords;
use crate::names::Frame;

/// What a thread synchronised by around an access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadSteps {
    /// The last step by which it came after others.
    pub before: Option<StepWords>,
    /// The next by which others could come after it.
    pub after: Option<StepWords>,
}

/// A step of synchronisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepWords {
    pub deed: Deed,
    /// What the program calls the lock, barrier, semaphore or atomic.
    pub object: Option<String>,
    /// The other thread, of a creation, join or switch.
    pub other_thread: Option<u16>,
    #[serde(flatten)]
    pub frame: Frame,
}

impl ThreadSteps {
    pub(super) fn of(
        around: &StepsAround,
        objects: &[ExampleLock],
        words: &AccessWords<'_>,
    ) -> ThreadSteps {
        let step = |step: RaceStep| StepWords::of(&step, objects, words);
        ThreadSteps { before: around.before.map(step), after: around.after.map(step) }
    }
}

impl StepWords {
    pub(super) fn of(
        step: &RaceStep,
        objects: &[ExampleLock],
        words: &AccessWords<'_>,
    ) -> StepWords {
        let object = &objects[step.object as usize];
        let places = &words.places;
        let name = step.has_object.then(|| places.names.lock(object, places.code)).flatten();
        let (site, _) = places.own_site(object.site, &object.stack);
        StepWords {
            deed: step.deed,
            object: name,
            other_thread: step.other,
            frame: places.place(site).frame,
        }
    }
}

/// `unlock of `bank.lock` (bank.c:31)`.
impl fmt::Display for StepWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", words_of(self.deed))?;
        match &self.object {
            Some(object) if self.deed == Deed::HandOver => write!(f, " `{object}`")?,
            Some(object) => write!(f, " of `{object}`")?,
            None => {}
        }
        if let Some(thread) = self.other_thread.filter(|_| tells_thread(self.deed)) {
            write!(f, " of thread number {thread}")?;
        }
        let file = self.frame.file.as_deref().map(|file| file.rsplit('/').next().unwrap_or(file));
        match (file, self.frame.line) {
            (Some(file), Some(line)) => write!(f, " ({file}:{line})"),
            _ => Ok(()),
        }
    }
}

fn tells_thread(deed: Deed) -> bool {
    matches!(deed, Deed::Create | Deed::Join)
}

fn words_of(deed: Deed) -> &'static str {
    match deed {
        Deed::Start => "its own start",
        Deed::End => "its own end",
        Deed::Create => "creation",
        Deed::Join => "join",
        Deed::Lock => "lock",
        Deed::Unlock => "unlock",
        Deed::Arrive => "arrival at a barrier",
        Deed::Leave => "leaving a barrier",
        Deed::Post => "post of a semaphore",
        Deed::Wait => "wait for a semaphore",
        Deed::OnceDone => "a once that is done",
        Deed::AnnotatedBefore => "annotated release",
        Deed::AnnotatedAfter => "annotated acquire",
        Deed::AtomicRead => "atomic read",
        Deed::AtomicWrite => "atomic write",
        Deed::Fence => "fence",
        Deed::FiberSwitch => "switch of fibers",
        Deed::HandOver => "what was handed over under the lock",
    }
}
