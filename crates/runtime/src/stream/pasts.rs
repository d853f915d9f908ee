//! What an event says of the accesses before it.

use unpick_events::access::PastKind;
use unpick_events::{Past, Site, ThreadId};

use crate::thread::full_time;

/// Accesses with more past than this are told one by one, in full.
pub(super) const MOST_PAST: usize = 2;
/// The last access of another thread, as the shadow knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastAccess {
    pub kind: PastKind,
    pub thread: u16,
    pub time: u16,
    pub site: u32,
}

/// At most two past accesses, packed as `Story` has them.
#[derive(Clone, Copy)]
pub struct Pasts {
    /// Sites of those that are listed; 0 in place of one that is not.
    pub(super) sites: u64,
    /// Their threads (16 bits each) and kinds (two bits each, the highest).
    pub(super) who: u64,
    /// Their times.
    pub(super) times: u32,
    /// Site, thread and time of one that is not listed, because it is recorded.
    pub(super) recorded: u64,
}

impl Pasts {
    pub const NONE: Pasts = Pasts { sites: 0, who: 0, times: 0, recorded: 0 };

    /// One that is listed.
    #[inline(always)]
    pub fn one(kind: PastKind, thread: u16, site: u32, time: u16) -> Pasts {
        Pasts {
            sites: site as u64,
            who: thread as u64 | (kind as u64) << KINDS_SHIFT,
            times: time as u32,
            recorded: 0,
        }
    }

    /// Two that are listed, of one thread: a write, then a read.
    #[inline(always)]
    pub fn write_and_read(thread: u16, sites: u64, times: (u16, u16)) -> Pasts {
        let kinds = PastKind::Write as u64 | (PastKind::Read as u64) << 2;
        Pasts {
            sites,
            who: thread as u64 | (thread as u64) << 16 | kinds << KINDS_SHIFT,
            times: times.0 as u32 | (times.1 as u32) << 16,
            recorded: 0,
        }
    }

    /// One that is recorded.
    #[inline(always)]
    pub fn recorded(thread: u16, site: u32, time: u16) -> Pasts {
        let recorded = site as u64 | (thread as u64) << 32 | (time as u64) << 48;
        Pasts { recorded, ..Pasts::NONE }
    }

    pub(super) fn of(list: &[LastAccess]) -> Pasts {
        let mut pasts = Pasts::NONE;
        for past in list {
            pasts.add(past);
        }
        pasts
    }

    fn add(&mut self, past: &LastAccess) {
        let place = self.count() as u32;
        self.sites |= (past.site as u64) << (32 * place);
        self.who |=
            (past.thread as u64) << (16 * place) | (past.kind as u64) << (KINDS_SHIFT + 2 * place);
        self.times |= (past.time as u32) << (16 * place);
    }

    /// How many are listed.
    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        (self.who >> KINDS_SHIFT & 0b11 != 0) as usize
            + (self.who >> (KINDS_SHIFT + 2) != 0) as usize
    }

    /// The ordinal of the first or second.
    #[inline(always)]
    pub(super) fn ordinal(&self, index: usize) -> u32 {
        full_time((self.who >> (16 * index)) as u16, (self.times >> (16 * index)) as u16)
    }

    pub(super) fn get(&self, index: usize) -> LastAccess {
        LastAccess {
            kind: match self.who >> (KINDS_SHIFT + 2 * index as u32) & 0b11 {
                1 => PastKind::Read,
                2 => PastKind::Write,
                _ => PastKind::Free,
            },
            thread: (self.who >> (16 * index)) as u16,
            time: (self.times >> (16 * index)) as u16,
            site: (self.sites >> (32 * index)) as u32,
        }
    }
}

const KINDS_SHIFT: u32 = 60;

pub(super) fn past_of(access: &LastAccess) -> Past {
    Past {
        kind: access.kind,
        thread: ThreadId(access.thread),
        site: Site(access.site),
        ordinal: full_time(access.thread, access.time),
    }
}
