//! Walks over the access windows of a recording, and numbers the accesses and locations that matter there.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};
use unpick_events::access::PastKind;
use unpick_events::{Site, ThreadId};
use unpick_recording::history::HeapBlock;
use unpick_recording::{Access, Histories, Life, Order};

use crate::iterations::Iterations;
use crate::knowledge::{Knowledge, State};
use crate::thread_order::ThreadOrder;

use super::hidden::HiddenPairs;
use super::row_edges::edges;
use super::torn_rows::TornRows;
use super::untorn_rows::UntornRows;
use super::window::{Together, keep, rows, windows};

/// An access that is part of something found, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccessId(u32);

/// A location in one life, by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LocationId(u32);

impl AccessId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LocationId {
    pub(super) fn from_index(index: usize) -> LocationId {
        LocationId(index as u32)
    }

    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The bytes of a location, and the heap block they were part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LivedBytes {
    pub bytes: Range<u64>,
    pub block: Option<HeapBlock>,
}

/// The accesses that were met, each once, though it may touch many locations.
#[derive(Debug, Default)]
pub struct AccessTable {
    accesses: Vec<Access>,
    ids: FxHashMap<Identity, AccessId>,
}

/// What makes two accesses the same. Accesses without an event share their place in the order with others of
/// their thread; site and kind tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Identity {
    order: Order,
    site: Site,
    kind: PastKind,
}

/// Where the access stands, the same for all parts of it.
pub(crate) fn place_of(access: &Access) -> Order {
    let Some(first_part) = access.dynamic_access else { return access.order };
    let read = Order::of_event(access.order.stamp, access.thread, first_part);
    if access.is_write() { read.just_after() } else { read }
}

impl AccessTable {
    pub fn id_of(&mut self, access: &Access) -> AccessId {
        let identity = Identity { order: place_of(access), site: access.site, kind: access.kind };
        let next = AccessId(self.accesses.len() as u32);
        *self.ids.entry(identity).or_insert_with(|| {
            self.accesses.push(Access { order: identity.order, ..*access });
            next
        })
    }

    pub fn get(&self, id: AccessId) -> &Access {
        &self.accesses[id.index()]
    }

    pub fn all(&self) -> &[Access] {
        &self.accesses
    }

    /// The place of each access among all: 0, 1, 2, … Accesses of which the recording does not know
    /// which came first have the same.
    pub fn ranks(&self) -> Vec<u32> {
        let order_of = |&id: &u32| self.accesses[id as usize].order;
        let mut by_order: Vec<u32> = (0..self.accesses.len() as u32).collect();
        by_order.sort_unstable_by_key(order_of);
        let mut ranks = vec![0; by_order.len()];
        let mut rank = 0;
        for (at, id) in by_order.iter().enumerate() {
            let is_later = at > 0 && order_of(&by_order[at - 1]) < order_of(id);
            rank += u32::from(is_later);
            ranks[*id as usize] = rank;
        }
        ranks
    }
}

/// Shows the window of every access to somebody, life by life.
#[derive(Debug)]
pub struct WindowWalk {
    window: usize,
    pub accesses: AccessTable,
    /// The locations where something was found.
    pub locations: Vec<LivedBytes>,
    /// Where shared memory was accessed at all, in a pair or not.
    pub sites: FxHashSet<Site>,
    pub hidden: HiddenPairs,
    /// Only where rows are asked for.
    pub torn: Option<TornRows>,
    /// Edges of rows are asked for.
    pub has_edges: bool,
    /// Only where gaps are asked for.
    pub untorn: Option<UntornRows>,
    /// Only where patterns are asked for that are of one piece of work.
    pub iterations: Option<Iterations>,
    /// For each thread, when it touched shared memory for the last time.
    pub last_touches: FxHashMap<ThreadId, Order>,
    /// Writes to a heap block by the thread that allocated it, before anybody else touched it.
    pub first_writes: FxHashSet<AccessId>,
    kept: Vec<Access>,
}

impl WindowWalk {
    pub fn new(window: usize) -> WindowWalk {
        WindowWalk {
            window,
            accesses: AccessTable::default(),
            locations: Vec::new(),
            sites: FxHashSet::default(),
            hidden: HiddenPairs::new(window),
            torn: None,
            has_edges: false,
            untorn: None,
            iterations: None,
            last_touches: FxHashMap::default(),
            first_writes: FxHashSet::default(),
            kept: Vec::new(),
        }
    }

    /// Looks for torn rows as well.
    pub fn with_torn_rows(self) -> WindowWalk {
        WindowWalk { torn: Some(TornRows::new(self.window)), ..self }
    }

    /// Looks at the edges of rows as well.
    pub fn with_edges(self) -> WindowWalk {
        WindowWalk { has_edges: true, ..self }
    }

    /// Looks for gaps that nobody came into as well.
    pub fn with_untorn_rows(self, threads: ThreadOrder) -> WindowWalk {
        WindowWalk { untorn: Some(UntornRows::new(threads)), ..self }
    }

    /// Leaves out torn rows whose accesses are of two iterations of a loop.
    pub fn with_iterations(self, iterations: Iterations) -> WindowWalk {
        WindowWalk { iterations: Some(iterations), ..self }
    }

    /// `look` is shown the window of each access as it leaves, and the edges of rows where these are asked for; it says whether it found something there.
    pub fn walk(
        &mut self,
        histories: &Histories,
        knowledge: &dyn Knowledge,
        mut look: impl FnMut(Together<'_>, LocationId, &mut AccessTable) -> bool,
    ) {
        for location in histories.locations() {
            for life in location.lives.iter().filter(|life| !is_of_library(life, knowledge)) {
                self.walk_life(&location.bytes, life, knowledge, &mut look);
            }
        }
    }

    fn walk_life(
        &mut self,
        bytes: &Range<u64>,
        life: &Life,
        knowledge: &dyn Knowledge,
        look: &mut impl FnMut(Together<'_>, LocationId, &mut AccessTable) -> bool,
    ) {
        keep(&life.accesses, &mut self.kept);
        self.sites.extend(life.accesses.iter().map(|access| access.site));
        self.note_last_touches(life);
        // There are several rows, and one of them has more than the window keeps.
        let has_hidden = (2..life.accesses.len()).contains(&self.kept.len());
        if has_hidden {
            self.hidden.take_in(&life.accesses);
            if let Some(untorn) = &mut self.untorn {
                untorn.take_in(bytes, life);
            }
        }
        let number = LocationId::from_index(self.locations.len());
        let torn = self.torn.as_mut().filter(|_| self.kept.len() > 2);
        let threads = self.untorn.as_ref().map(UntornRows::threads);
        let iterations = self.iterations.as_ref();
        let is_unit = |first: &Access, last: &Access| {
            !iterations
                .is_some_and(|iterations| iterations.are_two_at_variable(first, last, knowledge))
        };
        let mut found = torn.is_some_and(|torn| {
            torn.take_in(&life.accesses, number, &mut self.accesses, threads, is_unit)
        });
        for window in windows(&self.kept, self.window) {
            found |= look(Together::Window(window), number, &mut self.accesses);
        }
        if self.has_edges && has_hidden {
            for edge in edges(&life.accesses) {
                found |= look(Together::Edge(edge), number, &mut self.accesses);
            }
        }
        if found {
            self.locations.push(LivedBytes { bytes: bytes.clone(), block: life.block });
            self.note_first_writes(life);
        }
    }

    fn note_last_touches(&mut self, life: &Life) {
        for access in &life.accesses {
            let last = self.last_touches.entry(access.thread).or_insert(access.order);
            *last = access.order.max(*last);
        }
    }

    /// What has no event of its own was made when the bytes were still its thread's alone.
    fn note_first_writes(&mut self, life: &Life) {
        let allocated_by = life.block.map(|block| block.allocated_by);
        let first_row = rows(&life.accesses).next().unwrap_or(&[]);
        let first_row = first_row.iter().filter(|access| Some(access.thread) == allocated_by);
        let writes = first_row.filter(|one| one.is_write() && one.dynamic_access.is_none());
        self.first_writes.extend(writes.map(|access| self.accesses.id_of(access)));
    }
}

/// Whether the bytes were state of a library: atomic, and touched by it; or touched by nobody else, while they lived. Who frees a block says
/// nothing about whose it was; and runs that fail do not live to free it, so that they would show what passing runs leave out.
pub(crate) fn is_of_library(life: &Life, knowledge: &dyn Knowledge) -> bool {
    let mut touched = false;
    let mut by_others = false;
    for access in life.accesses.iter().filter(|access| access.kind != PastKind::Free) {
        match knowledge.state_of(access.site) {
            State::OfLibrary if access.flags.is_atomic() => return true,
            State::OfLibrary => touched = true,
            State::OfUser => by_others = true,
            State::Unknown => {}
        }
    }
    touched && !by_others
}
