//! Rows that another thread tore apart, by the accesses at the very place where it happened.
//!
//! Takes   the accesses of a life.      Gives  triples: the last access of a thread before others came, one of theirs, its next one.
//! Misses  accesses that the recording does not know, in the middle of a row.
//!
//! The access window keeps one access of a row, and a write before a read. So it shows a lost update (read, write by the other,
//! write) as three writes if the thread had written before it read: an order that every run has. Here the last access before the
//! others and the first one after them count, as AVIO has it. Only triples that the window does not show are given.

use rustc_hash::FxHashMap;
use unpick_recording::{Access, Order};

use super::hidden::{SiteAccess, site_access};
use super::walk::{AccessId, AccessTable, LocationId};
use super::window::{SMALLEST_WINDOW, is_pair, kept_of, rows, same};
use crate::thread_order::ThreadOrder;

/// All occurrences of a triple.
#[derive(Debug, Clone)]
pub struct Torn {
    /// Of the one that was complete first.
    pub accesses: [AccessId; 3],
    pub location: LocationId,
    complete: Order,
    pub count: u64,
    /// Rows from the first access to the last, both included.
    pub window: u32,
}

/// The triples of a recording, each once.
#[derive(Debug)]
pub struct TornRows {
    /// Of accesses: what it shows is not given.
    window: usize,
    pub found: FxHashMap<[SiteAccess; 3], Torn>,
}

/// Rows between two of one thread: AVIO sets no bound, and where many threads read a variable, the one that tore a unit is many rows before its
/// last access. This is one on time only.
const MAX_ROWS: usize = 64;

impl TornRows {
    pub fn new(window: usize) -> TornRows {
        TornRows { window: window.max(SMALLEST_WINDOW), found: FxHashMap::default() }
    }

    /// Says whether anything was found. What `threads` puts in this order in every run is not torn; `is_unit` says whether two
    /// accesses of a thread can be of one piece of work.
    pub fn take_in(
        &mut self,
        life: &[Access],
        location: LocationId,
        accesses: &mut AccessTable,
        threads: Option<&ThreadOrder>,
        is_unit: impl Fn(&Access, &Access) -> bool,
    ) -> bool {
        let is_fixed = |one, other| threads.is_some_and(|threads| threads.is_before(one, other));
        let rows: Vec<&[Access]> = rows(life).collect();
        let mut found = false;
        for at in 0..rows.len() {
            let Some(next) = self.next_row(&rows, at) else { continue };
            let window = (next - at) as u32 + 1;
            let between = rows[at + 1..next].iter();
            let is_in_window = next - at < self.window;
            let triples =
                between.flat_map(|between| triples(rows[at], between, rows[next], is_in_window));
            let triples = triples.filter(|[a, b, c]| !is_fixed(a, b) && !is_fixed(b, c));
            for triple in triples.filter(|[first, _, last]| is_unit(first, last)) {
                self.note(triple, window, location, accesses);
                found = true;
            }
        }
        found
    }

    /// The next row of the same thread, if it is near enough.
    fn next_row(&self, rows: &[&[Access]], at: usize) -> Option<usize> {
        let last = rows.len().min(at + self.window.max(MAX_ROWS));
        (at + 1..last).find(|&later| rows[later][0].thread == rows[at][0].thread)
    }

    fn note(
        &mut self,
        triple: [&Access; 3],
        window: u32,
        location: LocationId,
        accesses: &mut AccessTable,
    ) {
        let complete = triple[2].order;
        let mut told = |count| Torn {
            accesses: triple.map(|access| accesses.id_of(access)),
            location,
            complete,
            count,
            window,
        };
        match self.found.get_mut(&triple.map(site_access)) {
            Some(known) => {
                let smallest = known.window.min(window);
                if complete < known.complete {
                    *known = told(known.count);
                }
                known.window = smallest;
                known.count += 1;
            }
            None => {
                self.found.insert(triple.map(site_access), told(1));
            }
        }
    }
}

/// What a row and the next one of the same thread make with a row between them, but for what the window shows.
fn triples<'a>(
    row: &'a [Access],
    between: &'a [Access],
    after: &'a [Access],
    is_in_window: bool,
) -> impl Iterator<Item = [&'a Access; 3]> {
    let shown = [row, between, after].map(kept_of);
    let [first, kept] = [between.first(), kept_of(between)];
    let kept = kept.filter(|_| !same(first, kept));
    first.into_iter().chain(kept).filter_map(move |middle| {
        let triple = [row.last()?, middle, after.first()?];
        let is_shown = triple.iter().zip(shown).all(|(access, kept)| same(Some(access), kept));
        (!(is_shown && is_in_window) && is_torn(triple)).then_some(triple)
    })
}

/// Whether it matters that the middle access came between: P4 to P8.
fn is_torn([first, middle, last]: [&Access; 3]) -> bool {
    is_pair(first, middle) && is_pair(middle, last)
}
