//! Recognises locks of Rust libraries by the functions an atomic access was inlined into.
//!
//! Takes   the place of an atomic access.      Gives  which lock it may be a step of, and which step.
//! Misses  at opt-level 0 all of them: nothing is inlined there; and a parking_lot lock handed over by a fair unlock,
//!         which is no access to the lock at all.
//! Invents nothing, if its second rule is heeded: a lock is taken by an access that writes and acquires, and given up by
//!         one that writes and releases. What else these functions do (look, mark that somebody waits) is weaker.
//!
//! The functions and their meaning: docs/design/0004-rust-locks.md.

use crate::place::{Frame, Place};

/// What an access inside a function of a lock does to that lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LockStep {
    Lock,
    LockShared,
    Unlock,
    UnlockShared,
    /// From exclusive to shared.
    Downgrade,
    /// From shared to exclusive.
    Upgrade,
    /// Looks whether a once is complete.
    LookAtOnce,
    /// Lets a parked thread go on.
    Unpark,
}

impl LockStep {
    pub fn name(self) -> &'static str {
        match self {
            LockStep::Lock => "lock",
            LockStep::LockShared => "lock-shared",
            LockStep::Unlock => "unlock",
            LockStep::UnlockShared => "unlock-shared",
            LockStep::Downgrade => "downgrade",
            LockStep::Upgrade => "upgrade",
            LockStep::LookAtOnce => "look-at-once",
            LockStep::Unpark => "unpark",
        }
    }
}

/// A step of a lock that a place may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RustLock {
    /// What users call the type: `std::sync::Mutex`.
    pub what: &'static str,
    pub step: LockStep,
}

/// A type that implements a lock.
struct LockType {
    /// Its path, or that of the trait it implements, as it stands in names of functions.
    path: &'static str,
    what: &'static str,
    step_of: fn(&str) -> Option<LockStep>,
}

const LOCK_TYPES: [LockType; 10] = [
    LockType {
        path: "std::sys::sync::mutex::futex::Mutex",
        what: "std::sync::Mutex",
        step_of: of_mutex,
    },
    LockType {
        path: "std::sys::sync::rwlock::futex::RwLock",
        what: "std::sync::RwLock",
        step_of: of_rwlock,
    },
    LockType {
        path: "std::sys::sync::once::futex::Once",
        what: "std::sync::Once",
        step_of: of_once,
    },
    LockType {
        path: "std::sys::sync::thread_parking::futex::Parker",
        what: "std::thread::Thread",
        step_of: of_parker,
    },
    LockType {
        path: "parking_lot::raw_mutex::RawMutex",
        what: "parking_lot::Mutex",
        step_of: of_mutex,
    },
    LockType {
        path: "parking_lot::raw_rwlock::RawRwLock",
        what: "parking_lot::RwLock",
        step_of: of_rwlock,
    },
    LockType {
        path: " as lock_api::mutex::RawMutex",
        what: "lock_api::RawMutex",
        step_of: of_mutex,
    },
    LockType {
        path: " as lock_api::rwlock::RawRwLock",
        what: "lock_api::RawRwLock",
        step_of: of_rwlock,
    },
    // Functions of such types that are not of the trait, such as those for when somebody has to wait: `RawRwLock::lock_exclusive_slow`.
    LockType { path: "::RawMutex", what: "lock_api::RawMutex", step_of: of_mutex },
    LockType { path: "::RawRwLock", what: "lock_api::RawRwLock", step_of: of_rwlock },
];

/// The step of a lock that an atomic access at `place` may be: see the rule above.
pub fn rust_lock(place: &Place) -> Option<RustLock> {
    let mut frames =
        place.frames.iter().filter_map(function_of).skip_while(|name| is_of_core(name));
    // Functions of the same type call each other; what others do (wait in line, wake) is not a step of the lock.
    frames.by_ref().map_while(lock_and_method).find_map(|(lock, method)| {
        Some(RustLock { what: lock.what, step: (lock.step_of)(method)? })
    })
}

fn function_of(frame: &Frame) -> Option<&str> {
    frame.function.as_deref()
}

fn is_of_core(function: &str) -> bool {
    function.trim_start_matches('<').starts_with("core::")
}

/// `<a::Lock>::method`, `<a::Lock as b::RawLock>::method::<T>`, `a::Lock::method::{closure#0}`.
fn lock_and_method(function: &str) -> Option<(&'static LockType, &str)> {
    let lock = LOCK_TYPES.iter().find(|lock| function.contains(lock.path))?;
    let rest = function.split_once(lock.path)?.1;
    let method = match rest.strip_prefix("::") {
        Some(method) => method,
        None => rest.split_once(">::")?.1,
    };
    let end = method.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(method.len());
    Some((lock, &method[..end]))
}

fn of_mutex(method: &str) -> Option<LockStep> {
    match method {
        _ if method.starts_with("unlock") => Some(LockStep::Unlock),
        _ if method.starts_with("lock") || method.starts_with("try_lock") => Some(LockStep::Lock),
        _ => None,
    }
}

fn of_rwlock(method: &str) -> Option<LockStep> {
    let is = |starts: &[&str]| starts.iter().any(|start| method.starts_with(start));
    // Who may upgrade is a reader until then: others read beside it.
    if is(&["unlock_shared", "unlock_upgradable", "read_unlock"]) {
        Some(LockStep::UnlockShared)
    } else if is(&["unlock_exclusive", "write_unlock"]) {
        Some(LockStep::Unlock)
    } else if is(&["downgrade"]) && !is(&["downgrade_upgradable"]) {
        Some(LockStep::Downgrade)
    } else if is(&["upgrade", "try_upgrade"]) {
        Some(LockStep::Upgrade)
    } else if is(&["lock_shared", "try_lock_shared", "read", "try_read"])
        || is(&["lock_upgradable", "try_lock_upgradable"])
    {
        Some(LockStep::LockShared)
    } else if is(&["lock_exclusive", "try_lock_exclusive", "write", "try_write"]) {
        Some(LockStep::Lock)
    } else {
        None
    }
}

fn of_once(method: &str) -> Option<LockStep> {
    (method == "is_completed").then_some(LockStep::LookAtOnce)
}

fn of_parker(method: &str) -> Option<LockStep> {
    (method == "unpark").then_some(LockStep::Unpark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_lock_does_when_somebody_has_to_wait_is_a_step_too() {
        let slow = "<dashmap::lock::RawRwLock>::lock_exclusive_slow";
        assert_eq!(step(&[slow]), Some(("lock_api::RawRwLock", "lock")));
        assert_eq!(
            step(&["dashmap::lock::RawRwLock::unlock_shared_slow"]),
            Some(("lock_api::RawRwLock", "unlock-shared"))
        );
    }

    fn step(functions: &[&str]) -> Option<(&'static str, &'static str)> {
        let frame = |name: &&str| Frame { function: Some((*name).to_owned()), ..Frame::default() };
        let place = Place { frames: functions.iter().map(frame).collect(), ..Place::default() };
        rust_lock(&place).map(|lock| (lock.what, lock.step.name()))
    }

    const EXCHANGE: &str = "core::sync::atomic::atomic_compare_exchange::<u32>";

    #[test]
    fn a_lock_is_known_by_the_first_function_that_is_not_of_core() {
        let lock = [
            EXCHANGE,
            "<core::sync::atomic::AtomicU32>::compare_exchange",
            "<std::sys::sync::mutex::futex::Mutex>::lock",
            "<std::sync::poison::mutex::Mutex<u64>>::lock",
        ];
        assert_eq!(step(&lock), Some(("std::sync::Mutex", "lock")));
        assert_eq!(
            step(&["std::sys::sync::rwlock::futex::RwLock::read_unlock"]),
            Some(("std::sync::RwLock", "unlock-shared")),
            "in the mangling of old"
        );
        assert_eq!(
            step(&["<parking_lot::raw_mutex::RawMutex as lock_api::mutex::RawMutex>::unlock"]),
            Some(("parking_lot::Mutex", "unlock"))
        );
        assert_eq!(
            step(&["<spin::mutex::SpinMutex<()> as lock_api::mutex::RawMutex>::try_lock"]),
            Some(("lock_api::RawMutex", "lock"))
        );
    }

    #[test]
    fn who_may_upgrade_is_a_reader_until_it_does() {
        let of = |method: &str| {
            let function = format!(
                "<parking_lot::raw_rwlock::RawRwLock as lock_api::rwlock::RawRwLockUpgrade>::{method}"
            );
            step(&[EXCHANGE, &function]).map(|(_, step)| step)
        };
        assert_eq!(of("lock_upgradable"), Some("lock-shared"));
        assert_eq!(of("upgrade"), Some("upgrade"));
        assert_eq!(of("unlock_upgradable"), Some("unlock-shared"));
        assert_eq!(of("downgrade_to_upgradable"), Some("downgrade"));
        assert_eq!(of("downgrade_upgradable"), None, "it stays a reader");
        let of_others = "<spin::rwlock::RwLock<()> as lock_api::rwlock::RawRwLockUpgrade>::upgrade";
        assert_eq!(step(&[of_others]), Some(("lock_api::RawRwLock", "upgrade")));
    }

    #[test]
    fn helpers_of_a_lock_are_its_own_but_the_waiting_line_is_not() {
        let helper = [
            EXCHANGE,
            "<parking_lot::raw_rwlock::RawRwLock>::lock_common::<F>",
            "<parking_lot::raw_rwlock::RawRwLock>::lock_exclusive_slow",
        ];
        assert_eq!(step(&helper), Some(("parking_lot::RwLock", "lock")));
        let wakes = [
            "parking_lot_core::parking_lot::unpark_one",
            "<parking_lot::raw_mutex::RawMutex>::unlock_slow",
        ];
        assert_eq!(step(&wakes), None);
        assert_eq!(step(&[EXCHANGE, "bank::spin_until_free"]), None);
        assert_eq!(step(&[]), None);
    }
}
