//! Something about every byte of memory, kept once for bytes of which the same is to be said.
//!
//! Takes   stretches of bytes.      Gives  the values of their parts, exact to the byte; a part that is only half concerned is split.
//! Cost    one look-up per page that is entered, one step per eight bytes; memory for what was ever touched.

use rustc_hash::FxHashMap;

const GRANULE: u64 = 8;
const PAGE: u64 = 4096;
const GRANULES: usize = (PAGE / GRANULE) as usize;
/// Ends a chain of parts, and stands for a granule that nobody touched.
const NONE: u32 = u32::MAX;

/// Values of type `T` by byte.
#[derive(Debug)]
pub struct ByteMap<T> {
    pages: FxHashMap<u64, u32>,
    /// Where the parts of each granule begin, page after page.
    firsts: Vec<[u32; GRANULES]>,
    parts: Vec<Part<T>>,
    /// The page asked for last, and its number.
    last: (u64, u32),
}

/// Some bytes of a granule, a bit each. Without bytes it is free for others of its granule.
#[derive(Debug)]
struct Part<T> {
    bytes: u8,
    next: u32,
    value: T,
}

impl<T> Default for ByteMap<T> {
    fn default() -> Self {
        let (pages, firsts, parts) = Default::default();
        ByteMap { pages, firsts, parts, last: (u64::MAX, NONE) }
    }
}

impl<T: Clone + Default> ByteMap<T> {
    /// Calls `visit` for each part of the `length` bytes at `start`, with its lowest byte, how many bytes it has, and its value.
    pub fn visit(&mut self, start: u64, length: u64, mut visit: impl FnMut(u64, u32, &mut T)) {
        let end = start.saturating_add(length);
        let mut at = start;
        while at < end {
            let base = at & !(GRANULE - 1);
            let next = (base + GRANULE).min(end);
            self.visit_granule(base, mask(at - base, next - base), &mut visit);
            at = next;
        }
    }

    fn visit_granule(&mut self, base: u64, bytes: u8, visit: &mut impl FnMut(u64, u32, &mut T)) {
        let page = self.page_or_new(base / PAGE);
        let slot = (base % PAGE / GRANULE) as usize;
        let mut rest = bytes;
        let mut at = self.firsts[page as usize][slot];
        while at != NONE && rest != 0 {
            let (part_bytes, next) = (self.parts[at as usize].bytes, self.parts[at as usize].next);
            let common = part_bytes & rest;
            if common != 0 {
                if common != part_bytes {
                    self.split(page, slot, at, common);
                }
                visit(
                    first_byte(base, common),
                    common.count_ones(),
                    &mut self.parts[at as usize].value,
                );
                rest &= !common;
            }
            at = next;
        }
        if rest != 0 {
            let at = self.add_part(page, slot, rest, T::default());
            visit(first_byte(base, rest), rest.count_ones(), &mut self.parts[at as usize].value);
        }
    }

    /// Forgets what is known of some bytes.
    pub fn forget(&mut self, start: u64, length: u64) {
        let end = start.saturating_add(length);
        let (first_page, last_page) = (start / PAGE, end.saturating_sub(1) / PAGE);
        if last_page.saturating_sub(first_page) > self.pages.len() as u64 {
            let known: Vec<u64> = self.pages.keys().copied().collect();
            for page in known.into_iter().filter(|page| (first_page..=last_page).contains(page)) {
                self.forget_in_page(page, start, end);
            }
        } else {
            (first_page..=last_page).for_each(|page| self.forget_in_page(page, start, end));
        }
    }

    fn forget_in_page(&mut self, page: u64, start: u64, end: u64) {
        let Some(number) = self.page(page) else { return };
        let (from, to) = (start.max(page * PAGE), end.min((page + 1) * PAGE));
        let mut at = from;
        while at < to {
            let base = at & !(GRANULE - 1);
            let next = (base + GRANULE).min(to);
            let slot = (base % PAGE / GRANULE) as usize;
            let gone = mask(at - base, next - base);
            let mut index = self.firsts[number as usize][slot];
            while index != NONE {
                let part = &mut self.parts[index as usize];
                part.bytes &= !gone;
                if part.bytes == 0 {
                    part.value = T::default();
                }
                index = part.next;
            }
            at = next;
        }
    }

    /// Leaves a part its bytes in `common`; the others become a part of their own, of which the same is known.
    fn split(&mut self, page: u32, slot: usize, at: u32, common: u8) {
        let part = &mut self.parts[at as usize];
        let others = part.bytes & !common;
        part.bytes = common;
        let value = part.value.clone();
        self.add_part(page, slot, others, value);
    }

    /// A further part of a granule, in the place of one that has no bytes any more if there is one.
    fn add_part(&mut self, page: u32, slot: usize, bytes: u8, value: T) -> u32 {
        let first = self.firsts[page as usize][slot];
        let mut at = first;
        while at != NONE {
            let part = &mut self.parts[at as usize];
            if part.bytes == 0 {
                (part.bytes, part.value) = (bytes, value);
                return at;
            }
            at = part.next;
        }
        let new = self.parts.len() as u32;
        self.parts.push(Part { bytes, next: first, value });
        self.firsts[page as usize][slot] = new;
        new
    }

    fn page(&mut self, page: u64) -> Option<u32> {
        if self.last.0 != page {
            self.last = (page, *self.pages.get(&page)?);
        }
        Some(self.last.1)
    }

    fn page_or_new(&mut self, page: u64) -> u32 {
        if let Some(number) = self.page(page) {
            return number;
        }
        let number = self.firsts.len() as u32;
        self.firsts.push([NONE; GRANULES]);
        self.pages.insert(page, number);
        self.last = (page, number);
        number
    }
}

/// The bytes of a granule from `start` to `end`.
fn mask(start: u64, end: u64) -> u8 {
    ((1_u16 << end) - (1_u16 << start)) as u8
}

fn first_byte(base: u64, bytes: u8) -> u64 {
    base + u64::from(bytes.trailing_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts_of(map: &mut ByteMap<u32>, start: u64, length: u64) -> Vec<(u64, u32, u32)> {
        let mut parts = Vec::new();
        map.visit(start, length, |at, bytes, value| parts.push((at, bytes, *value)));
        parts.sort_unstable();
        parts
    }

    #[test]
    fn a_narrow_access_splits_what_a_wide_one_said() {
        let mut map = ByteMap::default();
        map.visit(0x1000, 8, |_, _, value| *value = 7);
        map.visit(0x1002, 2, |_, _, value| *value += 1);
        assert_eq!(parts_of(&mut map, 0x1002, 2), [(0x1002, 2, 8)]);
        assert_eq!(parts_of(&mut map, 0x1000, 2), [(0x1000, 2, 7)]);
        assert_eq!(parts_of(&mut map, 0x1004, 4), [(0x1004, 4, 7)]);
    }

    #[test]
    fn an_access_over_the_end_of_a_page_has_parts_on_both() {
        let mut map: ByteMap<u32> = ByteMap::default();
        map.visit(0x1ffe, 4, |_, _, value| *value = 3);
        assert_eq!(parts_of(&mut map, 0x1ffe, 4), [(0x1ffe, 2, 3), (0x2000, 2, 3)]);
    }

    #[test]
    fn what_is_forgotten_begins_anew_and_its_neighbours_stay() {
        let mut map = ByteMap::default();
        map.visit(0x1000, 16, |_, _, value| *value = 5);
        map.forget(0x1004, 6);
        assert_eq!(parts_of(&mut map, 0x1004, 4), [(0x1004, 4, 0)]);
        assert_eq!(parts_of(&mut map, 0x1000, 4), [(0x1000, 4, 5)]);
        assert_eq!(parts_of(&mut map, 0x100a, 6), [(0x100a, 6, 5)]);
    }

    #[test]
    fn a_range_of_far_more_pages_than_are_known_is_forgotten_too() {
        let mut map = ByteMap::default();
        map.visit(0x5000_0000, 8, |_, _, value| *value = 5);
        map.forget(0x1000, 1 << 40);
        assert_eq!(parts_of(&mut map, 0x5000_0000, 8), [(0x5000_0000, 8, 0)]);
    }
}
