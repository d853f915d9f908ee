//! What an access is made of, and what is remembered of the accesses before it.

/// A thread, numbered from 1 in the order of creation; 0 is nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ThreadId(pub u16);

/// The low 32 bits of the return address of a hook. With the module map of the process they name one
/// place in the code: instrumented modules that overlap in these bits are reported by the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Site(pub u32);

/// A call stack, as a hash that a `Stack` event of the same process spells out; 0 is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Context(pub u32);

/// A user-space address (48 bits).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(pub u64);

/// The memory order of an atomic access, as the program asked for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum MemoryOrder {
    /// Not an atomic access.
    Plain = 0,
    Relaxed = 1,
    Consume = 2,
    Acquire = 3,
    Release = 4,
    AcquireRelease = 5,
    SequentiallyConsistent = 6,
}

impl MemoryOrder {
    pub const fn from_number(number: u8) -> Option<MemoryOrder> {
        Some(match number {
            0 => MemoryOrder::Plain,
            1 => MemoryOrder::Relaxed,
            2 => MemoryOrder::Consume,
            3 => MemoryOrder::Acquire,
            4 => MemoryOrder::Release,
            5 => MemoryOrder::AcquireRelease,
            6 => MemoryOrder::SequentiallyConsistent,
            _ => return None,
        })
    }
}

/// How a past access touched the bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum PastKind {
    Read = 1,
    Write = 2,
    /// The bytes were freed.
    Free = 3,
}

/// The last read or the last write that one thread made to the bytes before the event that lists it.
///
/// Usually such an access had no event of its own, because nobody else was concerned at that time. A write that
/// has one and was the thread's last access is not listed again.
///
/// ```text
/// word 0   63     56 55     48 47           32 31                0
///         +---------+---------+---------------+------------------+
///         |    0    |  kind   |    thread     |       site       |
///         +---------+---------+---------------+------------------+
/// word 1   63                              32 31                 0
///         +----------------------------------+-------------------+
///         |                0                 |      ordinal      |
///         +----------------------------------+-------------------+
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Past {
    pub kind: PastKind,
    pub thread: ThreadId,
    pub site: Site,
    /// How many events `thread` had recorded when it made the access. It places the access: after
    /// that event of `thread` and before the next.
    pub ordinal: u32,
}

/// Words of one [`Past`].
pub const PAST_WORDS: usize = 2;

impl Past {
    pub const fn pack(&self) -> [u64; PAST_WORDS] {
        [
            self.site.0 as u64 | (self.thread.0 as u64) << 32 | (self.kind as u64) << 48,
            self.ordinal as u64,
        ]
    }

    #[inline]
    pub const fn unpack(words: [u64; PAST_WORDS]) -> Option<Past> {
        let kind = match words[0] >> 48 {
            1 => PastKind::Read,
            2 => PastKind::Write,
            3 => PastKind::Free,
            _ => return None,
        };
        if words[1] >> 32 != 0 {
            return None;
        }
        Some(Past {
            kind,
            thread: ThreadId((words[0] >> 32) as u16),
            site: Site(words[0] as u32),
            ordinal: words[1] as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_past_access_survives_packing() {
        let past = Past {
            kind: PastKind::Free,
            thread: ThreadId(0xfffe),
            site: Site(0x1234_5678),
            ordinal: 0xffff_0001,
        };
        assert_eq!(Past::unpack(past.pack()), Some(past));
    }
}
