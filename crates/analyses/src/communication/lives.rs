//! The lives of locations: between two reuses of its memory a location is another one.
//!
//! Takes   accesses, and when memory was reused.
//! Gives   each life under a number, by address and time, and whether its accesses are told: if more than one thread was there, and if
//!         it is not state of a library.
//! Cost    one step per access and location.

use rustc_hash::FxHashMap;
use unpick_events::access::PastKind;
use unpick_events::{Site, ThreadId};
use unpick_recording::history::HeapBlock;

use crate::access_pairs::LivedBytes;
use crate::knowledge::{Knowledge, State};

use super::entries::{Entries, Entry, Reuse};
use super::stretches::SharedLocations;

/// The lives of all locations that threads share.
#[derive(Debug)]
pub struct Lives {
    /// By location, then by time.
    lives: Vec<Life>,
    /// By location: where its lives begin. One more than there are locations.
    starts: Vec<u32>,
    pub bytes: SharedLocations,
}

#[derive(Debug, Clone)]
struct Life {
    location: u32,
    /// How often any memory had been reused when it began.
    since: u32,
    block: Option<HeapBlock>,
    first_thread: Option<ThreadId>,
    is_shared: bool,
    touched_by: Owners,
}

/// Whose code touched it.
#[derive(Debug, Clone, Copy, Default)]
struct Owners {
    library_atomically: bool,
    library: bool,
    others: bool,
}

impl Life {
    fn new(location: u32, since: u32, block: Option<HeapBlock>) -> Life {
        let (first_thread, is_shared) = (None, false);
        Life { location, since, block, first_thread, is_shared, touched_by: Owners::default() }
    }

    fn touch(&mut self, entry: &Entry, state: State) {
        self.is_shared |= *self.first_thread.get_or_insert(entry.thread) != entry.thread;
        // Who frees a block says nothing about whose it was.
        if entry.kind == PastKind::Free {
            return;
        }
        match state {
            State::OfLibrary if entry.is_atomic => self.touched_by.library_atomically = true,
            State::OfLibrary => self.touched_by.library = true,
            State::OfUser => self.touched_by.others = true,
            State::Unknown => {}
        }
    }

    /// State of a library is atomic and touched by it, or touched by nobody else.
    fn is_told(&self) -> bool {
        let Owners { library_atomically, library, others } = self.touched_by;
        self.is_shared && !library_atomically && (others || !library)
    }
}

impl Lives {
    pub fn of(entries: &Entries, knowledge: &dyn Knowledge) -> Lives {
        let bytes = entries.stretches.locations();
        let mut drafts = Drafts::at_first(&bytes, knowledge);
        let mut of_events = entries.of_events.chunk_by(|one, next| one.reuses == next.reuses);
        let mut of_pasts = entries.of_pasts.chunk_by(|one, next| one.reuses == next.reuses);
        let (mut events, mut pasts) = (of_events.next(), of_pasts.next());
        for (number, reuse) in (0..).zip(entries.reuses.iter().map(Some).chain([None])) {
            if let Some(now) = events.take_if(|events| events[0].reuses == number) {
                now.iter().for_each(|entry| drafts.touch(entry));
                events = of_events.next();
            }
            if let Some(now) = pasts.take_if(|pasts| pasts[0].reuses == number) {
                now.iter().for_each(|entry| drafts.touch(entry));
                pasts = of_pasts.next();
            }
            if let Some(reuse) = reuse {
                drafts.reuse(reuse, number + 1);
            }
        }
        let mut lives = drafts.lives;
        lives.sort_by_key(|life| (life.location, life.since));
        let first = |location| lives.partition_point(|life| life.location < location) as u32;
        let starts = (0..=bytes.bytes.len() as u32).map(first).collect();
        Lives { lives, starts, bytes }
    }

    /// The life of a location when memory had been reused so often; none if it is not told.
    pub fn told_at(&self, location: u32, reuses: u32) -> Option<u32> {
        let [start, end] = [0, 1].map(|next| self.starts[location as usize + next]);
        let of_location = &self.lives[start as usize..end as usize];
        let begun = match of_location {
            [_] => 1,
            several => several.partition_point(|life| life.since <= reuses) as u32,
        };
        let number = start + begun - 1;
        self.lives[number as usize].is_told().then_some(number)
    }

    pub fn count(&self) -> usize {
        self.lives.len()
    }

    pub fn lived_bytes(&self, number: u32) -> LivedBytes {
        let Life { location, block, .. } = self.lives[number as usize];
        LivedBytes { bytes: self.bytes.bytes[location as usize].clone(), block }
    }
}

/// Lives while they are found.
struct Drafts<'a> {
    bytes: &'a SharedLocations,
    knowledge: &'a dyn Knowledge,
    states: FxHashMap<Site, State>,
    lives: Vec<Life>,
    /// By location: its present life.
    present: Vec<u32>,
}

impl<'a> Drafts<'a> {
    fn at_first(bytes: &'a SharedLocations, knowledge: &'a dyn Knowledge) -> Drafts<'a> {
        let count = bytes.bytes.len() as u32;
        let lives = (0..count).map(|location| Life::new(location, 0, None)).collect();
        let present = (0..count).collect();
        Drafts { bytes, knowledge, states: FxHashMap::default(), lives, present }
    }

    fn touch(&mut self, entry: &Entry) {
        let locations = self.bytes.of(entry.stretch);
        if locations.is_empty() {
            return;
        }
        let knowledge = self.knowledge;
        let state =
            *self.states.entry(entry.site).or_insert_with(|| knowledge.state_of(entry.site));
        for &location in locations {
            let life = self.present[location as usize];
            self.lives[life as usize].touch(entry, state);
        }
    }

    /// Begins new lives; `since` says how often memory has been reused with this time. Where nothing happened, nobody lived.
    fn reuse(&mut self, reuse: &Reuse, since: u32) {
        for &location in self.bytes.of(reuse.stretch) {
            let present = self.present[location as usize];
            let life = &mut self.lives[present as usize];
            if is_same_block(life.block, reuse.block) {
                continue;
            }
            if life.first_thread.is_none() {
                life.block = reuse.block;
                continue;
            }
            self.present[location as usize] = self.lives.len() as u32;
            self.lives.push(Life::new(location, since, reuse.block));
        }
    }
}

/// The same block, perhaps resized.
fn is_same_block(one: Option<HeapBlock>, other: Option<HeapBlock>) -> bool {
    one.zip(other)
        .is_some_and(|(one, other)| (one.address, one.serial) == (other.address, other.serial))
}
