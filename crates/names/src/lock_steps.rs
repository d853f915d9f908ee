//! Whether an atomic access inside a function of a Rust lock is the step that the function is there for.
//!
//! The rule is in docs/design/0004-rust-locks.md: a lock is taken by a write that acquires, given up by one that releases.
//! Looking at the word, a failed exchange, a mark that somebody waits are weaker.

use unpick_analyses::locks_held::LockChange;
use unpick_events::{Address, MemoryOrder};
use unpick_recording::{AccessKind, Action, LockKind};
use unpick_symbols::LockStep;

/// Whether `action`, done in a function that has this step, is the step.
pub fn is_step(action: &Action<'_>, step: LockStep) -> bool {
    let Action::Access { kind, flags, .. } = *action else { return false };
    if !flags.is_atomic() {
        return false;
    }
    match step {
        LockStep::LookAtOnce => kind == AccessKind::Read,
        _ if kind == AccessKind::Read => false,
        LockStep::Lock | LockStep::LockShared | LockStep::Upgrade => acquires(flags.memory_order()),
        LockStep::Unlock | LockStep::UnlockShared | LockStep::Downgrade | LockStep::Unpark => {
            releases(flags.memory_order())
        }
    }
}

/// What a step does to the locks of its thread.
pub fn change_by(step: LockStep, lock: Address) -> Option<LockChange> {
    let taken = |shared| LockChange::Taken { lock, kind: LockKind::Rust, shared };
    match step {
        LockStep::Lock => Some(taken(false)),
        LockStep::LockShared => Some(taken(true)),
        LockStep::Unlock | LockStep::UnlockShared => Some(LockChange::Released { lock }),
        LockStep::Downgrade => Some(LockChange::Downgraded { lock }),
        LockStep::Upgrade => Some(LockChange::Upgraded { lock }),
        LockStep::LookAtOnce | LockStep::Unpark => None,
    }
}

fn acquires(order: MemoryOrder) -> bool {
    use MemoryOrder::{Acquire, AcquireRelease, Consume, SequentiallyConsistent};
    matches!(order, Acquire | Consume | AcquireRelease | SequentiallyConsistent)
}

fn releases(order: MemoryOrder) -> bool {
    use MemoryOrder::{AcquireRelease, Release, SequentiallyConsistent};
    matches!(order, Release | AcquireRelease | SequentiallyConsistent)
}
