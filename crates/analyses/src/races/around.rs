//! What a thread synchronised by just before an access, and just after it: why nothing orders the access of another.
//!
//! Takes   the streams of a recording, and moments.      Gives  for each moment the last step by which its thread came after others, and the
//!         next by which others could come after it.
//! Cost    one walk over the streams of the threads that are asked for.

use serde::{Deserialize, Serialize};
use unpick_events::{Address, Context, MemoryOrder, Site, ThreadId};
use unpick_recording::{AccessKind, Action, Event, Recording};

use crate::knowledge::Knowledge;
use crate::locks_held::{LockChange, Moment};

/// What a step of synchronisation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    Start,
    End,
    Create,
    Join,
    Lock,
    Unlock,
    Arrive,
    Leave,
    Post,
    Wait,
    OnceDone,
    AnnotatedBefore,
    AnnotatedAfter,
    AtomicRead,
    AtomicWrite,
    Fence,
    FiberSwitch,
    /// Under a lock, what another thread did under it was met.
    HandOver,
}

/// By what a thread takes or gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncStep {
    pub deed: Deed,
    /// The lock, barrier, semaphore, atomic; none: it has none.
    pub object: Option<Address>,
    /// The other thread, of a creation, join or switch.
    pub other: Option<ThreadId>,
    pub site: Site,
    pub context: Context,
}

/// The steps around an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Around {
    pub before: Option<SyncStep>,
    pub after: Option<SyncStep>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Takes,
    Gives,
}

/// The steps around each of `moments`, which must be sorted.
pub fn around(recording: &Recording, knowledge: &dyn Knowledge, moments: &[Moment]) -> Vec<Around> {
    debug_assert!(moments.is_sorted());
    let mut answers = vec![Around::default(); moments.len()];
    let mut done = 0;
    for of_thread in moments.chunk_by(|a, b| a.thread == b.thread) {
        let mut last = None;
        let mut begun = 0;
        let mut answered = 0;
        for event in recording.stream(of_thread[0].thread) {
            while begun < of_thread.len() && of_thread[begun].ordinal <= event.ordinal {
                answers[done + begun].before = last;
                begun += 1;
            }
            let Some((way, step)) = way_and_step_of(&event, knowledge) else { continue };
            match way {
                Way::Takes => last = Some(step),
                // The access at the moment may be this very event, which then is no step that follows it.
                Way::Gives => {
                    while answered < begun && of_thread[answered].ordinal < event.ordinal {
                        answers[done + answered].after = Some(step);
                        answered += 1;
                    }
                }
            }
            if answered == of_thread.len() {
                break;
            }
        }
        (begun..of_thread.len()).for_each(|at| answers[done + at].before = last);
        done += of_thread.len();
    }
    answers
}

/// The step of synchronisation that an event is.
pub fn step_of(event: &Event<'_>, knowledge: &dyn Knowledge) -> Option<SyncStep> {
    way_and_step_of(event, knowledge).map(|(_, step)| step)
}

fn way_and_step_of(event: &Event<'_>, knowledge: &dyn Knowledge) -> Option<(Way, SyncStep)> {
    use Way::{Gives, Takes};
    let lock_change = match event.action {
        Action::Access { .. } => knowledge.lock_change(event),
        _ => None,
    };
    let at = |deed, object: Address| (deed, Some(object), None);
    let with = |deed, other: ThreadId| (deed, None, Some(other));
    let (way, (deed, object, other)) = match event.action {
        Action::ThreadStart { creator, .. } => (Takes, with(Deed::Start, creator)),
        Action::ThreadEnd { .. } => (Gives, (Deed::End, None, None)),
        Action::ThreadCreate { thread } => (Gives, with(Deed::Create, thread)),
        Action::ThreadJoin { thread } => (Takes, with(Deed::Join, thread)),
        Action::FiberSwitch { to } => (Gives, with(Deed::FiberSwitch, to)),
        Action::Acquire { lock, .. } => (Takes, at(Deed::Lock, lock)),
        Action::Release { lock, .. } => (Gives, at(Deed::Unlock, lock)),
        Action::BarrierArrive { barrier } => (Gives, at(Deed::Arrive, barrier)),
        Action::BarrierLeave { barrier } => (Takes, at(Deed::Leave, barrier)),
        Action::SemaphorePost { semaphore } => (Gives, at(Deed::Post, semaphore)),
        Action::SemaphoreWait { semaphore } => (Takes, at(Deed::Wait, semaphore)),
        Action::OnceDone { once } => (Takes, at(Deed::OnceDone, once)),
        Action::HappensBefore { object } => (Gives, at(Deed::AnnotatedBefore, object)),
        Action::HappensAfter { object } => (Takes, at(Deed::AnnotatedAfter, object)),
        Action::Fence { order: MemoryOrder::Release } => (Gives, (Deed::Fence, None, None)),
        Action::Fence { .. } => (Takes, (Deed::Fence, None, None)),
        Action::Access { kind, address, flags, .. } if flags.is_atomic() => match lock_change {
            Some(LockChange::Taken { lock, .. }) => (Takes, at(Deed::Lock, lock)),
            Some(_) => (Gives, at(Deed::Unlock, address)),
            None if flags.memory_order() == MemoryOrder::Relaxed => return None,
            None if kind == AccessKind::Read => (Takes, at(Deed::AtomicRead, address)),
            None => (Gives, at(Deed::AtomicWrite, address)),
        },
        _ => return None,
    };
    Some((way, SyncStep { deed, object, other, site: event.site, context: event.context }))
}
