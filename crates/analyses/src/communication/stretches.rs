//! Which bytes more than one thread touched, exact to the byte.
//!
//! Takes   stretches of bytes, each with the threads that touched it.
//! Gives   locations: stretches of bytes all of which the same accesses touched, by address; and for every stretch its locations.
//! Misses  locations that one thread alone touched: they have no number.
//! Cost    one look-up per access; then one walk over the different stretches, however often they were touched.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use rustc_hash::FxHashMap;
use unpick_events::{Address, ThreadId};

/// `count` times the bytes from `start` to `end`, `step` bytes apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Stretch {
    start: u64,
    end: u64,
    count: u32,
    step: u32,
}

impl Stretch {
    pub fn new(start: u64, length: u64) -> Stretch {
        Stretch { start, end: start.saturating_add(length), count: 1, step: 0 }
    }

    /// Accesses in step; a negative step goes downwards.
    pub fn in_step(address: Address, length: u64, count: u32, step: i32) -> Stretch {
        let way = i64::from(count.saturating_sub(1)) * i64::from(step.min(0));
        let first = Stretch::new(address.0.saturating_add_signed(way), length);
        match step {
            0 => Stretch { count: count.min(1), ..first },
            _ => Stretch { count, step: step.unsigned_abs(), ..first },
        }
    }

    fn is_empty(&self) -> bool {
        self.start == self.end || self.count == 0
    }
}

/// Who touched a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Nobody,
    One(ThreadId),
    Many,
}

impl By {
    fn and(self, other: By) -> By {
        match (self, other) {
            (By::Nobody, by) | (by, By::Nobody) => by,
            _ if self == other => self,
            _ => By::Many,
        }
    }
}

/// Different stretches, by number.
#[derive(Debug, Default)]
pub struct Stretches {
    numbers: FxHashMap<Stretch, u32>,
    stretches: Vec<(Stretch, By)>,
}

impl Stretches {
    /// The number of a stretch; none if there are no bytes in it.
    pub fn number_of(&mut self, stretch: Stretch) -> Option<u32> {
        if stretch.is_empty() {
            return None;
        }
        let next = self.stretches.len() as u32;
        let number = *self.numbers.entry(stretch).or_insert(next);
        if number == next {
            self.stretches.push((stretch, By::Nobody));
        }
        Some(number)
    }

    pub fn touch(&mut self, number: u32, thread: ThreadId) {
        let by = &mut self.stretches[number as usize].1;
        *by = by.and(By::One(thread));
    }

    pub fn locations(&self) -> SharedLocations {
        let mut sweep = Sweep::over(&self.stretches);
        let (mut bytes, mut parts) = (Vec::new(), Vec::new());
        while let Some(stretch) = sweep.advance() {
            let touched = sweep.active.iter().map(|part| self.stretches[part.stretch as usize].1);
            if touched.fold(By::Nobody, By::and) == By::Many {
                let location = bytes.len() as u32;
                bytes.push(stretch);
                parts.extend(sweep.active.iter().map(|part| (part.stretch, location)));
            }
        }
        parts.sort_unstable();
        // Accesses in step can overlap.
        parts.dedup();
        let first = |stretch| parts.partition_point(|&(part, _)| part < stretch);
        let starts = (0..=self.stretches.len() as u32).map(first).collect();
        let locations = parts.iter().map(|&(_, location)| location).collect();
        SharedLocations { bytes, starts, locations }
    }
}

/// The locations that more than one thread touched.
#[derive(Debug)]
pub struct SharedLocations {
    pub bytes: Vec<Range<u64>>,
    /// By stretch: where its locations begin. One more than there are stretches.
    starts: Vec<usize>,
    locations: Vec<u32>,
}

impl SharedLocations {
    /// The locations of a stretch, by address.
    pub fn of(&self, stretch: u32) -> &[u32] {
        let stretch = stretch as usize;
        &self.locations[self.starts[stretch]..self.starts[stretch + 1]]
    }
}

/// A walk over all bytes of the stretches, from border to border.
struct Sweep<'s> {
    stretches: &'s [(Stretch, By)],
    /// Where each stretch begins, the last first.
    waiting: Vec<(u64, u32)>,
    /// Of accesses in step the next: where it begins, its stretch and its number.
    further: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// What reaches over the position.
    active: Vec<Part>,
    position: u64,
}

struct Part {
    stretch: u32,
    end: u64,
}

impl<'s> Sweep<'s> {
    fn over(stretches: &'s [(Stretch, By)]) -> Sweep<'s> {
        let mut waiting: Vec<_> =
            stretches.iter().map(|(stretch, _)| stretch.start).zip(0..).collect();
        waiting.sort_unstable_by_key(|&start| Reverse(start));
        let (further, active) = (BinaryHeap::new(), Vec::new());
        Sweep { stretches, waiting, further, active, position: 0 }
    }

    /// Goes to the next bytes between two borders that something reaches over.
    fn advance(&mut self) -> Option<Range<u64>> {
        self.active.retain(|part| part.end > self.position);
        if self.active.is_empty() {
            self.position = self.next_start()?;
        }
        self.take_in_what_begins_here();
        let first_end = self.active.iter().map(|part| part.end).min()?;
        let end = first_end.min(self.next_start().unwrap_or(u64::MAX));
        let start = std::mem::replace(&mut self.position, end);
        Some(start..end)
    }

    fn next_start(&self) -> Option<u64> {
        let first = self.waiting.last().map(|(start, _)| *start);
        let further = self.further.peek().map(|Reverse((start, ..))| *start);
        first.into_iter().chain(further).min()
    }

    fn take_in_what_begins_here(&mut self) {
        while let Some((_, stretch)) = self.waiting.pop_if(|(start, _)| *start <= self.position) {
            self.take_in(stretch, 0);
        }
        while let Some(&Reverse((start, stretch, number))) = self.further.peek()
            && start <= self.position
        {
            self.further.pop();
            self.take_in(stretch, number);
        }
    }

    fn take_in(&mut self, stretch: u32, number: u32) {
        let Stretch { start, end, count, step } = self.stretches[stretch as usize].0;
        let way = u64::from(step) * u64::from(number);
        self.active.push(Part { stretch, end: end.saturating_add(way) });
        if number + 1 < count {
            let next = start.saturating_add(way).saturating_add(step.into());
            self.further.push(Reverse((next, stretch, number + 1)));
        }
    }
}
