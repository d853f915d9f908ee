//! Gaps that nobody came into: two accesses of a thread in a row, and an access of another thread that would have mattered there.
//!
//! Takes   the accesses of a life.      Gives  triples that did not happen: an access, one of another thread, the first one's next.
//! Misses  rows and partners beyond the first 32 of a life each; accesses that the recording does not know, in the middle of a row.
//! Invents gaps that locks or signals between the threads keep closed: locks are looked at later, signals never.
//!
//! A read-modify-write is a read and a write at one site with no gap between them.

use std::ops::Range;

use rustc_hash::FxHashMap;
use unpick_events::ThreadId;
use unpick_recording::{Access, Life};

use super::hidden::{SiteAccess, site_access};
use super::walk::{AccessId, AccessTable, LivedBytes, LocationId};
use super::window::rows;
use crate::thread_order::ThreadOrder;

/// Of a life. Their product is what has to be looked at.
const MOST_KINDS: usize = 32;
/// Examples of one kind: by different threads, or between different starts and joins of one.
const MOST_EXAMPLES: usize = 8;

/// A gap of the recording with what could have come into it.
#[derive(Debug, Clone)]
pub struct Untorn {
    /// In the order that did not happen.
    pub accesses: [AccessId; 3],
    pub location: LocationId,
    /// How often the gap was there.
    pub count: u64,
}

/// The gaps of a recording, each once.
#[derive(Debug)]
pub struct UntornRows {
    threads: ThreadOrder,
    pub accesses: AccessTable,
    pub locations: Vec<LivedBytes>,
    pub found: FxHashMap<[SiteAccess; 3], Untorn>,
}

impl UntornRows {
    pub fn new(threads: ThreadOrder) -> UntornRows {
        UntornRows {
            threads,
            accesses: AccessTable::default(),
            locations: Vec::new(),
            found: FxHashMap::default(),
        }
    }

    pub fn threads(&self) -> &ThreadOrder {
        &self.threads
    }

    pub fn take_in(&mut self, bytes: &Range<u64>, life: &Life) {
        let mut gaps = Kinds::default();
        let mut others = Kinds::default();
        for row in rows(&life.accesses) {
            row.iter().for_each(|access| others.note(site_access(access), *access, &self.threads));
            for gap in row.windows(2).flat_map(gaps_between) {
                gaps.note(gap.map(|access| site_access(&access)), Gap(gap), &self.threads);
            }
        }
        let location = LocationId::from_index(self.locations.len());
        let before = self.found.len();
        for (sites, gap) in &gaps.kinds {
            // Whoever comes to the first access may come to the next one.
            let begun = others.kinds.iter().find(|(site, _)| *site == sites[0]);
            let begun = begun.map_or(&[][..], |(_, kind)| &kind.examples);
            for (other_site, other) in &others.kinds {
                let triple = [sites[0], *other_site, sites[1]];
                self.note(triple, gap, begun, other, location);
            }
        }
        if self.found.len() > before {
            self.locations.push(LivedBytes { bytes: bytes.clone(), block: life.block });
        }
    }

    fn note(
        &mut self,
        triple: [SiteAccess; 3],
        gap: &Kind<Gap>,
        begun: &[Example<Access>],
        other: &Kind<Access>,
        location: LocationId,
    ) {
        if let Some(known) = self.found.get_mut(&triple) {
            known.count += gap.count;
            return;
        }
        let pairs = gap.examples.iter().flat_map(|(_, gap)| {
            other.examples.iter().map(|(_, other)| [gap.0[0], *other, gap.0[1]])
        });
        let mut possible = pairs.filter(|triple| self.is_possible(triple, begun));
        let Some(example) = possible.next() else { return };
        let accesses = example.map(|access| self.accesses.id_of(&access));
        self.found.insert(triple, Untorn { accesses, location, count: gap.count });
    }

    /// Whether it would matter, and starting and joining threads do not forbid it. Where one thread made all three, another must have
    /// begun the same: of two that see the same free seat, only one has taken it.
    fn is_possible(&self, triple: &[Access; 3], begun: &[Example<Access>]) -> bool {
        let [first, middle, last] = triple;
        let is_before = |one: &Access, other: &Access| self.threads.is_before(one, other);
        let may_begin = |first: &Access| first.thread != middle.thread && !is_before(middle, first);
        let matters =
            (first.is_write() || middle.is_write()) && (middle.is_write() || last.is_write());
        matters
            && match first.thread == middle.thread {
                true => begun.iter().any(|(_, other)| may_begin(other)),
                false => may_begin(first) && !is_before(last, middle),
            }
    }
}

/// Two accesses of a thread, the one after the other.
#[derive(Debug, Clone, Copy)]
struct Gap([Access; 2]);

/// The gap between two neighbours. Where the recording does not know which came first, either may have.
fn gaps_between(neighbours: &[Access]) -> impl Iterator<Item = [Access; 2]> + use<> {
    let (one, two) = (neighbours[0], neighbours[1]);
    let is_update = one.site == two.site && one.is_write() != two.is_write();
    let is_one_access = one.dynamic_access.is_some() && one.dynamic_access == two.dynamic_access;
    let is_gap = !is_update && !is_one_access;
    let turned = (is_gap && one.order == two.order && one.site != two.site).then_some([two, one]);
    is_gap.then_some([one, two]).into_iter().chain(turned)
}

/// What has a thread, and a place in the order that threads make.
trait Placed: Copy {
    fn access(&self) -> &Access;
}

impl Placed for Access {
    fn access(&self) -> &Access {
        self
    }
}

impl Placed for Gap {
    fn access(&self) -> &Access {
        &self.0[0]
    }
}

/// All occurrences of what has the same sites.
#[derive(Debug)]
struct Kind<T> {
    count: u64,
    /// By thread and by how many starts and joins it had seen.
    examples: Vec<Example<T>>,
}

/// With its thread, and how many starts and joins that had seen.
type Example<T> = ((ThreadId, usize), T);

/// In the order in which they came first.
#[derive(Debug)]
struct Kinds<K, T> {
    kinds: Vec<(K, Kind<T>)>,
}

impl<K, T> Default for Kinds<K, T> {
    fn default() -> Self {
        Kinds { kinds: Vec::new() }
    }
}

impl<K: Eq, T: Placed> Kinds<K, T> {
    fn note(&mut self, key: K, thing: T, threads: &ThreadOrder) {
        let place = match self.kinds.iter().position(|(known, _)| *known == key) {
            Some(place) => place,
            None if self.kinds.len() < MOST_KINDS => {
                self.kinds.push((key, Kind { count: 0, examples: Vec::new() }));
                self.kinds.len() - 1
            }
            None => return,
        };
        self.kinds[place].1.note(thing, threads);
    }
}

impl<T: Placed> Kind<T> {
    fn note(&mut self, thing: T, threads: &ThreadOrder) {
        self.count += 1;
        if self.examples.len() == MOST_EXAMPLES {
            return;
        }
        let by = (thing.access().thread, threads.stage_of(thing.access()));
        if self.examples.iter().all(|(known, _)| *known != by) {
            self.examples.push((by, thing));
        }
    }
}
