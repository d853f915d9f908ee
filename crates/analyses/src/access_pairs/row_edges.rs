//! Pairs at the edge between two rows: the accesses by which two threads met there, which the window may not keep.
//!
//! Takes   two rows of one life, one after the other.      Returns  pairs that the window does not show.
//! Misses  pairs of rows with another one between them.
//! Cost    at most five pairs per edge.
//!
//! The access window keeps the last write of a row. A thread that takes a reference, drops it, and reuses the object for itself has one long row, of which the window keeps the end; but what met
//! the other thread is its beginning. And a thread that reads a slot and clears it has met the one that fills it later with its read.

use unpick_recording::Access;

use super::window::{is_pair, kept_of, rows, same};

/// Of all rows of a life.
pub fn edges(accesses: &[Access]) -> Vec<[&Access; 2]> {
    let rows: Vec<&[Access]> = rows(accesses).collect();
    rows.windows(2).flat_map(|two| edge(two[0], two[1])).collect()
}

/// The first read of what others left, the last write and the last access of the one; the first access and the first write of the other.
fn edge<'a>(before: &'a [Access], after: &'a [Access]) -> Vec<[&'a Access; 2]> {
    let shown = [before, after].map(kept_of);
    let first_read = before.first().filter(|access| !access.is_write());
    let first_write = after.iter().find(|access| access.is_write());
    let firsts = different([first_read, shown[0], before.last()]);
    let seconds = different([after.first(), first_write]);
    let pairs = firsts.iter().flat_map(|first| seconds.iter().map(move |second| [*first, *second]));
    let is_shown =
        |pair: &[&Access; 2]| pair.iter().zip(shown).all(|(one, kept)| same(Some(one), kept));
    pairs.filter(|pair| is_pair(pair[0], pair[1]) && !is_shown(pair)).collect()
}

fn different<const N: usize>(accesses: [Option<&Access>; N]) -> Vec<&Access> {
    let mut different: Vec<&Access> = Vec::new();
    for access in accesses.into_iter().flatten() {
        if !different.iter().any(|known| std::ptr::eq(*known, access)) {
            different.push(access);
        }
    }
    different
}
