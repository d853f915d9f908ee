//! What an event says. The number is part of the file format: never reuse one, only add.

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal,)*) => {
        /// The kind of an event, one byte of its header word.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Kind { $($(#[$doc])* $name = $number,)* }

        impl Kind {
            /// Every kind there is, in the order of their numbers.
            pub const ALL: &'static [Kind] = &[$(Kind::$name,)*];

            /// The kind with this number, if this version of the format knows it.
            #[inline]
            pub const fn from_number(number: u8) -> Option<Kind> {
                match number { $($number => Some(Kind::$name),)* _ => None }
            }

            /// The name used in dumps and in JSON.
            pub const fn name(self) -> &'static str {
                match self { $(Kind::$name => stringify!($name),)* }
            }
        }
    };
}

kinds! {
    /// A read that made its thread a reader of bytes it was not reading before.
    Read = 1,
    /// A write to bytes that another thread had read or written.
    Write = 2,
    /// An atomic read-modify-write: a read, then a write, at one site with nothing in between.
    ReadWrite = 3,

    /// First event of a thread: `object` = its creator's thread id, then one word: time in ns.
    ThreadStart = 16,
    /// Last event of a thread, then one word: time in ns.
    ThreadEnd = 17,
    /// `object` = the id of the thread that was created. Stamped before the new thread starts.
    ThreadCreate = 18,
    /// `object` = the id of the thread that was joined. Stamped after it ended.
    ThreadJoin = 19,
    /// `object` = the id of the thread that was detached.
    ThreadDetach = 20,
    /// The thread went on as another fiber: `object` = the id under which its next events are recorded.
    FiberSwitch = 21,
    /// The thread is about to wait, without a time limit, for the end of another: `object` = its id.
    ThreadJoinWait = 22,
    /// Which thread of the kernel this is: `object` = its id there; then one word: the address in the process of the pointer
    /// to the end of its call stack (see [`crate::live`]).
    KernelThread = 23,

    /// A lock was acquired; `object` = its address; see the `lock` flags.
    Acquire = 24,
    /// A lock is about to be released.
    Release = 25,
    /// A lock was taken by somebody else: the thread is about to wait for it.
    LockWait = 26,
    /// A condition variable is about to be waited on (its mutex is released by a `Release` before);
    /// then one word: the address of the mutex.
    ConditionWait = 28,
    /// The wait is over (an `Acquire` of the mutex follows).
    ConditionWake = 29,
    ConditionSignal = 30,
    ConditionBroadcast = 31,
    BarrierArrive = 32,
    BarrierLeave = 33,
    SemaphorePost = 34,
    SemaphoreWait = 35,
    /// The thread runs the initialiser of a once, or may be about to (Rust's `Once` does not say); `object` = its address.
    OnceBegin = 36,
    /// The initialiser has run (`done` by this thread) or was found done by an earlier one.
    OnceDone = 37,
    FutexWait = 38,
    FutexWoken = 39,
    FutexWake = 40,
    /// `__tsan_release` and the like: what comes before is visible to a later `HappensAfter` on `object`. At the end of a
    /// thread of Rust's `thread::scope`, `object` = its `ScopeData`.
    HappensBefore = 41,
    /// `object` = 0: after all of Rust's `unpark`s so far, which are atomic accesses (a thread returned from `park`).
    HappensAfter = 42,
    /// An atomic thread fence; its memory order is in the flags.
    Fence = 43,
    /// The count of a semaphore was 0: the thread is about to wait for a post.
    SemaphoreBlock = 44,
    /// Another thread runs the initialiser of a once: the thread is about to wait until it is done.
    OnceWait = 45,
    /// The thread is about to wait for an `unpark` of Rust.
    ParkWait = 46,

    /// The process forked; `object` = the child's process id.
    Fork = 48,
    /// First event of a forked child; `object` = the parent's process id, then one word: the
    /// parent's stamp at the fork.
    Forked = 49,
    /// The process is about to execute another program.
    Exec = 50,
    /// The process leaves in an orderly way; `object` = exit status.
    Exit = 51,

    /// A heap block some of whose bytes have just become shared. `object` = its address, site and
    /// context = where it was allocated; then two words: its size, and the allocating thread
    /// in the low 32 bits with the serial number of the allocation in the high ones.
    Block = 56,
    /// In full recordings, before an access: functions were entered since the thread's last one. `object` = how many of the calls
    /// that it was in then, counted from the outermost one, it has not left.
    Calls = 57,
    /// Memory whose life is over (stack of frames that are gone, or a mapping): `object` = lowest address, then one word:
    /// its length. Site: where a function was left although a thread that was given a part of its frame had not ended, else 0.
    StackGone = 58,
    /// A loaded module: `object` = load bias; then its lowest address, its length, two texts (build id in hex, path),
    /// and the lowest address and the length of its code, which older recordings do not have.
    Module = 59,
    /// A module was unloaded; `object` = its load bias.
    ModuleGone = 60,
    /// A call stack: `context` names it; then the call sites, outermost first, two to a word.
    Stack = 61,
    /// A named fact about the process: two texts (name, value).
    Fact = 62,
    /// The thread was delayed on purpose; `object` = nanoseconds (0 = it only yielded).
    Delay = 63,
}

/// Flags of `Read`, `Write` and `ReadWrite`. The lowest three bits are a [`crate::MemoryOrder`].
pub mod access_flags {
    pub const ORDER_MASK: u16 = 0b111;
    pub const VOLATILE: u16 = 1 << 3;
    pub const VPTR: u16 = 1 << 4;
    /// Made by a library call (`memcpy`, `read`, …) at its call site, not by compiled code.
    pub const LIBRARY: u16 = 1 << 5;
    /// The write is the end of the block's life: `free`, `delete`, drop.
    pub const FREE: u16 = 1 << 6;
    /// A further access by a thread the bytes already knew: in full recordings, and where it may be a step of a lock.
    pub const REPEATED: u16 = 1 << 7;
    /// Several accesses in step, told once: one more word follows the site word. Its high half is the step from
    /// one to the next, in bytes and signed, and its low half how many there are; or, if the high half is 0, they
    /// follow without a gap and the low half is their length in bytes.
    pub const LONG: u16 = 1 << 8;
    /// The same dynamic access as the thread's event before: other bytes of it, or more of its past.
    pub const CONTINUED: u16 = 1 << 9;
    /// A compare-exchange that did not exchange (a `Read`).
    pub const FAILED_EXCHANGE: u16 = 1 << 10;
}

/// Flags of `Acquire`, `Release` and `LockWait`.
pub mod lock_flags {
    /// What the lock is: one of the `IS_…` values.
    pub const WHAT_MASK: u16 = 0b111;
    pub const IS_MUTEX: u16 = 0;
    pub const IS_RWLOCK: u16 = 1;
    pub const IS_SPIN: u16 = 2;
    /// A lock of Rust's standard library.
    pub const IS_RUST: u16 = 3;
    /// Said by an annotation (`__tsan_mutex_…`).
    pub const IS_ANNOTATED: u16 = 4;
    /// Held together with other readers.
    pub const SHARED: u16 = 1 << 3;
    /// Got by a `try` call.
    pub const TRY: u16 = 1 << 4;
    /// Got by a timed call.
    pub const TIMED: u16 = 1 << 5;
    /// Released or re-acquired on behalf of a condition wait.
    pub const BY_CONDITION: u16 = 1 << 6;
    /// The mutex is recursive.
    pub const RECURSIVE: u16 = 1 << 7;
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn numbers_and_kinds_agree_both_ways() {
        for &kind in Kind::ALL {
            assert_eq!(Kind::from_number(kind as u8), Some(kind));
        }
        assert_eq!(Kind::from_number(0), None, "0 marks the end of a stream");
    }
}
