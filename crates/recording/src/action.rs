//! What an event says, one variant per kind (`FORMAT.md` lists the words behind each).

use std::borrow::Cow;
use std::fmt;

use unpick_events::access::PAST_WORDS;
use unpick_events::kind::{access_flags, lock_flags};
use unpick_events::{Address, Kind, MemoryOrder, Past, Site, ThreadId};

/// What a thread did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action<'r> {
    Access {
        kind: AccessKind,
        address: Address,
        /// Bytes without a gap from `address` on; with `count` above 1, of each of the accesses.
        length: u64,
        /// How many bytes one access of the range touched.
        unit: u8,
        /// How many accesses in step this tells of: the first is at `address`, each further one `step` bytes on.
        count: u32,
        step: i32,
        flags: AccessFlags,
        pasts: Pasts<'r>,
    },
    ThreadStart {
        creator: ThreadId,
        time: u64,
    },
    ThreadEnd {
        time: u64,
    },
    ThreadCreate {
        thread: ThreadId,
    },
    ThreadJoin {
        thread: ThreadId,
    },
    ThreadDetach {
        thread: ThreadId,
    },
    FiberSwitch {
        to: ThreadId,
    },
    ThreadJoinWait {
        thread: ThreadId,
    },
    KernelThread {
        id: u32,
        /// Address of the pointer to the end of its call stack.
        calls: Address,
    },
    Acquire {
        lock: Address,
        flags: LockFlags,
    },
    Release {
        lock: Address,
        flags: LockFlags,
    },
    LockWait {
        lock: Address,
        flags: LockFlags,
    },
    ConditionWait {
        condition: Address,
        mutex: Address,
    },
    ConditionWake {
        condition: Address,
    },
    ConditionSignal {
        condition: Address,
    },
    ConditionBroadcast {
        condition: Address,
    },
    BarrierArrive {
        barrier: Address,
    },
    BarrierLeave {
        barrier: Address,
    },
    SemaphorePost {
        semaphore: Address,
    },
    SemaphoreWait {
        semaphore: Address,
    },
    OnceBegin {
        once: Address,
    },
    OnceDone {
        once: Address,
    },
    FutexWait {
        word: Address,
    },
    FutexWoken {
        word: Address,
    },
    FutexWake {
        word: Address,
    },
    HappensBefore {
        object: Address,
    },
    HappensAfter {
        object: Address,
    },
    Fence {
        order: MemoryOrder,
    },
    SemaphoreBlock {
        semaphore: Address,
    },
    OnceWait {
        once: Address,
    },
    ParkWait,
    Fork {
        child: u32,
    },
    Forked {
        parent: u32,
        parent_stamp: u64,
    },
    Exec,
    Exit {
        status: u64,
    },
    Block {
        address: Address,
        size: u64,
        /// Who allocated it.
        thread: ThreadId,
        /// Tells blocks apart that had the same place.
        serial: u32,
    },
    /// Functions were entered since the thread's last access.
    Calls {
        /// So many of the calls it was in then, from the outermost one, it has not left.
        kept: u64,
    },
    StackGone {
        lowest: Address,
        length: u64,
    },
    Module {
        bias: u64,
        lowest: u64,
        length: u64,
        build_id: Text<'r>,
        path: Text<'r>,
        /// Where its code begins, and how long that is.
        code: (u64, u64),
    },
    ModuleGone {
        bias: u64,
    },
    Stack {
        call_sites: CallSites<'r>,
    },
    Fact {
        name: Text<'r>,
        value: Text<'r>,
    },
    Delay {
        nanoseconds: u64,
    },
}

impl Action<'_> {
    pub fn kind(&self) -> Kind {
        match self {
            Action::Access { kind: AccessKind::Read, .. } => Kind::Read,
            Action::Access { kind: AccessKind::Write, .. } => Kind::Write,
            Action::Access { kind: AccessKind::ReadWrite, .. } => Kind::ReadWrite,
            Action::ThreadStart { .. } => Kind::ThreadStart,
            Action::ThreadEnd { .. } => Kind::ThreadEnd,
            Action::ThreadCreate { .. } => Kind::ThreadCreate,
            Action::ThreadJoin { .. } => Kind::ThreadJoin,
            Action::ThreadDetach { .. } => Kind::ThreadDetach,
            Action::FiberSwitch { .. } => Kind::FiberSwitch,
            Action::ThreadJoinWait { .. } => Kind::ThreadJoinWait,
            Action::KernelThread { .. } => Kind::KernelThread,
            Action::Acquire { .. } => Kind::Acquire,
            Action::Release { .. } => Kind::Release,
            Action::LockWait { .. } => Kind::LockWait,
            Action::ConditionWait { .. } => Kind::ConditionWait,
            Action::ConditionWake { .. } => Kind::ConditionWake,
            Action::ConditionSignal { .. } => Kind::ConditionSignal,
            Action::ConditionBroadcast { .. } => Kind::ConditionBroadcast,
            Action::BarrierArrive { .. } => Kind::BarrierArrive,
            Action::BarrierLeave { .. } => Kind::BarrierLeave,
            Action::SemaphorePost { .. } => Kind::SemaphorePost,
            Action::SemaphoreWait { .. } => Kind::SemaphoreWait,
            Action::OnceBegin { .. } => Kind::OnceBegin,
            Action::OnceDone { .. } => Kind::OnceDone,
            Action::FutexWait { .. } => Kind::FutexWait,
            Action::FutexWoken { .. } => Kind::FutexWoken,
            Action::FutexWake { .. } => Kind::FutexWake,
            Action::HappensBefore { .. } => Kind::HappensBefore,
            Action::HappensAfter { .. } => Kind::HappensAfter,
            Action::Fence { .. } => Kind::Fence,
            Action::SemaphoreBlock { .. } => Kind::SemaphoreBlock,
            Action::OnceWait { .. } => Kind::OnceWait,
            Action::ParkWait => Kind::ParkWait,
            Action::Fork { .. } => Kind::Fork,
            Action::Forked { .. } => Kind::Forked,
            Action::Exec => Kind::Exec,
            Action::Exit { .. } => Kind::Exit,
            Action::Block { .. } => Kind::Block,
            Action::Calls { .. } => Kind::Calls,
            Action::StackGone { .. } => Kind::StackGone,
            Action::Module { .. } => Kind::Module,
            Action::ModuleGone { .. } => Kind::ModuleGone,
            Action::Stack { .. } => Kind::Stack,
            Action::Fact { .. } => Kind::Fact,
            Action::Delay { .. } => Kind::Delay,
        }
    }
}

/// How an access touches its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    Read,
    Write,
    /// A read, then a write, with nothing in between.
    ReadWrite,
}

/// Flags of an access event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AccessFlags(pub u16);

impl AccessFlags {
    fn has(self, flag: u16) -> bool {
        self.0 & flag != 0
    }

    /// The memory order the program asked for; a number that names none counts as the strongest.
    pub fn memory_order(self) -> MemoryOrder {
        MemoryOrder::from_number((self.0 & access_flags::ORDER_MASK) as u8)
            .unwrap_or(MemoryOrder::SequentiallyConsistent)
    }

    pub fn is_atomic(self) -> bool {
        self.memory_order() != MemoryOrder::Plain
    }

    pub fn is_volatile(self) -> bool {
        self.has(access_flags::VOLATILE)
    }

    pub fn is_vptr(self) -> bool {
        self.has(access_flags::VPTR)
    }

    /// Made by a library call, at its call site.
    pub fn is_library(self) -> bool {
        self.has(access_flags::LIBRARY)
    }

    /// The write is the end of the block's life.
    pub fn is_free(self) -> bool {
        self.has(access_flags::FREE)
    }

    /// A further access by a thread the bytes already knew (full recordings only).
    pub fn is_repeated(self) -> bool {
        self.has(access_flags::REPEATED)
    }

    /// A word with the length follows the header.
    pub fn is_long(self) -> bool {
        self.has(access_flags::LONG)
    }

    /// The same dynamic access as the thread's event before.
    pub fn is_continued(self) -> bool {
        self.has(access_flags::CONTINUED)
    }

    /// A compare-exchange that did not exchange.
    pub fn is_failed_exchange(self) -> bool {
        self.has(access_flags::FAILED_EXCHANGE)
    }
}

/// What a lock is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LockKind {
    Mutex,
    ReadWriteLock,
    Spin,
    /// A lock of Rust's standard library.
    Rust,
    /// Said by an annotation of the program.
    Annotated,
    /// A number this build does not know.
    Other,
}

impl LockKind {
    pub fn name(self) -> &'static str {
        match self {
            LockKind::Mutex => "mutex",
            LockKind::ReadWriteLock => "rwlock",
            LockKind::Spin => "spin",
            LockKind::Rust => "rust",
            LockKind::Annotated => "annotated",
            LockKind::Other => "other",
        }
    }
}

/// Flags of a lock event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct LockFlags(pub u16);

impl LockFlags {
    fn has(self, flag: u16) -> bool {
        self.0 & flag != 0
    }

    pub fn what(self) -> LockKind {
        match self.0 & lock_flags::WHAT_MASK {
            lock_flags::IS_MUTEX => LockKind::Mutex,
            lock_flags::IS_RWLOCK => LockKind::ReadWriteLock,
            lock_flags::IS_SPIN => LockKind::Spin,
            lock_flags::IS_RUST => LockKind::Rust,
            lock_flags::IS_ANNOTATED => LockKind::Annotated,
            _ => LockKind::Other,
        }
    }

    /// Held together with other readers.
    pub fn is_shared(self) -> bool {
        self.has(lock_flags::SHARED)
    }

    pub fn is_try(self) -> bool {
        self.has(lock_flags::TRY)
    }

    pub fn is_timed(self) -> bool {
        self.has(lock_flags::TIMED)
    }

    /// Released or re-acquired on behalf of a condition wait.
    pub fn is_by_condition(self) -> bool {
        self.has(lock_flags::BY_CONDITION)
    }

    pub fn is_recursive(self) -> bool {
        self.has(lock_flags::RECURSIVE)
    }
}

/// The past accesses an event lists, in its order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Pasts<'r> {
    words: &'r [u64],
}

impl<'r> Pasts<'r> {
    /// `words`: pairs of words, each of which unpacks.
    pub(crate) fn new(words: &'r [u64]) -> Self {
        Self { words }
    }

    pub fn is_empty(self) -> bool {
        self.words.is_empty()
    }

    pub fn len(self) -> usize {
        self.words.len() / PAST_WORDS
    }

    pub fn iter(self) -> impl Iterator<Item = Past> + 'r {
        self.words.chunks_exact(PAST_WORDS).filter_map(|pair| Past::unpack([pair[0], pair[1]]))
    }
}

/// A text as it stands in the file: any bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Text<'r> {
    words: &'r [u64],
    length: usize,
}

impl<'r> Text<'r> {
    /// `words` hold at least `length` bytes.
    pub(crate) fn new(words: &'r [u64], length: usize) -> Self {
        Self { words, length }
    }

    pub fn bytes(self) -> impl Iterator<Item = u8> + 'r {
        self.words.iter().flat_map(|word| word.to_le_bytes()).take(self.length)
    }

    /// The text, with a replacement character for what is not UTF-8.
    pub fn to_text(self) -> String {
        let bytes: Vec<u8> = self.bytes().collect();
        match String::from_utf8_lossy(&bytes) {
            Cow::Owned(repaired) => repaired,
            Cow::Borrowed(text) => text.to_owned(),
        }
    }
}

/// The call sites of a stack, outermost first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CallSites<'r> {
    words: &'r [u64],
}

impl<'r> CallSites<'r> {
    pub(crate) fn new(words: &'r [u64]) -> Self {
        Self { words }
    }

    pub fn iter(self) -> impl Iterator<Item = Site> + 'r {
        self.words
            .iter()
            .flat_map(|&word| [word as u32, (word >> 32) as u32])
            .filter(|&site| site != 0)
            .map(Site)
    }
}

impl fmt::Debug for Pasts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_text().fmt(f)
    }
}

impl fmt::Debug for CallSites<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
