//! AVIO-H: what the hardware variant would see, by simulating private caches over a full recording.
//!
//! Takes   the events of a recording in order.      Gives  for every access to a line that its thread's cache holds: whether others came
//!         between, and the unserializable case that the line's bits tell.
//! Misses  what a cache has displaced; private memory, which also displaces, but is not in a recording.
//! Invents violations between different variables of one line (false sharing), and between two lives of memory.
//! Cost    one step per line of an access and per thread that holds it.
//!
//! Every thread has a cache of its own, as if on a core of its own; sets of `WAYS` lines, the least recently used one goes. A line
//! keeps the bits of the paper: PI (the preceding local access was a read), DG (downgraded: somebody has read what it wrote), INV
//! (invalidated: somebody has written since). All are about the line, not the variable.

use rustc_hash::FxHashMap;
use unpick_events::ThreadId;
use unpick_events::access::PastKind;
use unpick_recording::{Access, AccessFlags, AccessKind, Action, Event};

use super::serializability::{Between, Case};

const WAYS: usize = 4;

/// The shape of a private cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheShape {
    line_bytes: u64,
    sets: u64,
}

impl CacheShape {
    /// A line is a power of two from 4; the cache holds at least one set of lines.
    pub fn new(line_bytes: u64, capacity_bytes: u64) -> Option<CacheShape> {
        let sets = capacity_bytes.checked_div(line_bytes)? / WAYS as u64;
        let makes_sense = line_bytes.is_power_of_two() && line_bytes >= 4 && sets > 0;
        makes_sense.then_some(CacheShape { line_bytes, sets })
    }
}

/// 32 KiB in lines of 64 bytes.
impl Default for CacheShape {
    fn default() -> Self {
        CacheShape { line_bytes: 64, sets: 128 }
    }
}

/// A line in the cache of a thread.
#[derive(Debug, Clone, Copy)]
struct Line {
    number: u64,
    /// The preceding local access; PI is its kind.
    previous: Access,
    /// DG, and by whom.
    downgraded_by: Option<Access>,
    /// INV, and by whom.
    invalidated_by: Option<Access>,
}

/// The lines of one thread; each set has the most recently used first.
#[derive(Debug, Default)]
struct Cache {
    sets: FxHashMap<u64, Vec<Line>>,
}

/// The caches of a process.
#[derive(Debug)]
pub struct Caches {
    shape: CacheShape,
    of_threads: Vec<(ThreadId, Cache)>,
}

/// A local access to a line that was there.
#[derive(Debug)]
pub struct Suspicion {
    pub this: Access,
    pub challenged: bool,
    /// With the preceding local access and the remote one.
    pub case: Option<(Case, Access, Access)>,
}

impl Caches {
    pub fn new(shape: CacheShape) -> Caches {
        Caches { shape, of_threads: Vec::new() }
    }

    /// Takes in an event; what its accesses show goes to `seen`.
    pub fn take_in(&mut self, event: &Event<'_>, seen: &mut Vec<Suspicion>) {
        let Action::Access { kind, address, length, count, step, flags, pasts, .. } = event.action
        else {
            return;
        };
        let whole = access_of(event, flags);
        for number in 0..u64::from(count.max(1)) {
            let way = (number as i64).saturating_mul(step.into());
            let part = Access {
                address: unpick_events::Address(address.0.saturating_add_signed(way)),
                length,
                ..whole
            };
            let lines = self.shape.lines_of(part.address.0, length);
            for line in lines {
                // A full recording lists the past of bytes only when they come to be shared.
                for past in pasts.iter() {
                    let (thread, site, kind) = (past.thread, past.site, past.kind);
                    let past = Access { thread, site, kind, dynamic_access: None, ..part };
                    self.enter_if_absent(line, past);
                }
                if kind != AccessKind::Write {
                    seen.extend(self.touch(line, Access { kind: PastKind::Read, ..part }));
                }
                if kind != AccessKind::Read {
                    let write = Access { kind: write_kind(flags), ..part };
                    let suspicion = self.touch(line, write);
                    // The read of the same access was checked already.
                    seen.extend(suspicion.filter(|_| kind == AccessKind::Write));
                }
            }
        }
    }

    fn cache(&mut self, thread: ThreadId) -> &mut Cache {
        let at = self.of_threads.iter().position(|(known, _)| *known == thread);
        let at = at.unwrap_or_else(|| {
            self.of_threads.push((thread, Cache::default()));
            self.of_threads.len() - 1
        });
        &mut self.of_threads[at].1
    }

    fn enter_if_absent(&mut self, number: u64, access: Access) {
        let set = number % self.shape.sets;
        if self.cache(access.thread).find(set, number).is_none() {
            self.touch(number, access);
        }
    }

    /// The thread's own cache tells what it knows, then all caches take note.
    fn touch(&mut self, number: u64, access: Access) -> Option<Suspicion> {
        let set = number % self.shape.sets;
        let known = self.cache(access.thread).take(set, number);
        let others = self.of_threads.iter_mut().filter(|(thread, _)| *thread != access.thread);
        for line in others.filter_map(|(_, cache)| cache.find(set, number)) {
            line.hear_of(&access);
        }
        let line = Line { number, previous: access, downgraded_by: None, invalidated_by: None };
        self.cache(access.thread).put(set, line);
        known.map(|known| known.suspicion(access))
    }
}

impl CacheShape {
    fn lines_of(&self, address: u64, length: u64) -> std::ops::RangeInclusive<u64> {
        let last = address.saturating_add(length.max(1) - 1);
        address / self.line_bytes..=last / self.line_bytes
    }
}

impl Cache {
    fn find(&mut self, set: u64, number: u64) -> Option<&mut Line> {
        self.sets.get_mut(&set)?.iter_mut().find(|line| line.number == number)
    }

    fn take(&mut self, set: u64, number: u64) -> Option<Line> {
        let lines = self.sets.get_mut(&set)?;
        let at = lines.iter().position(|line| line.number == number)?;
        Some(lines.remove(at))
    }

    fn put(&mut self, set: u64, line: Line) {
        let lines = self.sets.entry(set).or_default();
        lines.insert(0, line);
        lines.truncate(WAYS);
    }
}

impl Line {
    /// What the coherence protocol tells a cache of an access elsewhere. A line that is invalid hears of nothing any more.
    fn hear_of(&mut self, access: &Access) {
        if self.invalidated_by.is_some() {
            return;
        }
        if access.is_write() {
            self.invalidated_by = Some(*access);
        } else if self.previous.is_write() && self.downgraded_by.is_none() {
            self.downgraded_by = Some(*access);
        }
    }

    fn suspicion(&self, this: Access) -> Suspicion {
        let between = Between {
            first_is_write: self.downgraded_by.is_none(),
            any_is_write: self.invalidated_by.is_some(),
        };
        let challenged = self.downgraded_by.or(self.invalidated_by).is_some();
        let case = Case::of(self.previous.is_write(), between, this.is_write());
        let case = case.filter(|_| challenged).and_then(|case| {
            let by = if case.needs_write() { self.invalidated_by } else { self.downgraded_by };
            Some((case, self.previous, by?))
        });
        Suspicion { this, challenged, case }
    }
}

fn access_of(event: &Event<'_>, flags: AccessFlags) -> Access {
    Access {
        thread: event.thread,
        site: event.site,
        context: event.context,
        kind: PastKind::Read,
        order: event.order,
        dynamic_access: Some(event.ordinal),
        address: unpick_events::Address(0),
        length: 0,
        stamped: event.stamp != 0,
        flags,
    }
}

fn write_kind(flags: AccessFlags) -> PastKind {
    if flags.is_free() { PastKind::Free } else { PastKind::Write }
}
