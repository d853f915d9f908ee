//! The access window of one location: which accesses are kept, and which stand in it together.
//!
//! An access by the thread that made the last one kept replaces it, except that a read never replaces a
//! write; an access by another thread is appended. When the window is full the oldest access leaves.
//!
//! What is kept does not depend on the size: only the last access can be replaced, and it is in any window. And
//! when an access leaves, the window holds those that were appended after it, none of which changes
//! any more, since it is the next append that drives it out. So the whole list is made first, and the
//! window of each access is a slice of it.

use unpick_recording::Access;

/// The smallest window that can hold a pair.
pub const SMALLEST_WINDOW: usize = 2;

/// Puts the accesses of one life that the window keeps into `kept`.
pub fn keep(accesses: &[Access], kept: &mut Vec<Access>) {
    kept.clear();
    kept.extend(rows(accesses).filter_map(kept_of));
}

/// The access of a row that the window keeps.
pub fn kept_of(row: &[Access]) -> Option<&Access> {
    row.iter().rfind(|access| access.is_write()).or(row.last())
}

/// The accesses that one thread makes in a row: the window keeps one of each.
pub fn rows(accesses: &[Access]) -> impl Iterator<Item = &[Access]> {
    accesses.chunk_by(|one, next| one.thread == next.thread)
}

/// For every access kept, oldest first: the window when it leaves, itself in front.
pub fn windows(kept: &[Access], size: usize) -> impl Iterator<Item = &[Access]> {
    let size = size.max(SMALLEST_WINDOW);
    (0..kept.len()).map(move |oldest| &kept[oldest..kept.len().min(oldest + size)])
}

/// Whether two are the same entry of a life.
pub(super) fn same(one: Option<&Access>, other: Option<&Access>) -> bool {
    matches!((one, other), (Some(one), Some(other)) if std::ptr::eq(one, other))
}

/// Accesses to one location that stand together.
pub enum Together<'a> {
    /// The window of an access, itself in front.
    Window(&'a [Access]),
    /// Two at the edge between two rows, which the window does not show together.
    Edge([&'a Access; 2]),
}

/// Whether two accesses to one location are a pair.
pub fn is_pair(first: &Access, second: &Access) -> bool {
    first.thread != second.thread && (first.is_write() || second.is_write())
}
