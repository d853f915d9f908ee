//! Tables of a run as bytes, and back without trust: how `RunPatterns` and `RunGraphs` are stored.
//!
//! ```text
//! 8 bytes  magic          8 bytes  FNV-1a of the rest
//! 1 byte   version        the tables, as postcard writes them: numbers take as many bytes as they need
//! ```

use unpick_events::file::fnv1a;

use crate::interleaving_patterns::{Block, CodeModule, Memory};

pub(crate) type Magic = [u8; 8];

const HEADER: usize = 17;

/// The bytes to store.
pub(crate) fn framed(magic: Magic, version: u8, tables: &[u8]) -> Vec<u8> {
    let rest = [&[version], tables].concat();
    [&magic[..], &fnv1a(&rest).to_le_bytes(), &rest].concat()
}

/// The version and the tables, of which nothing is known yet; or what is wrong.
pub(crate) fn unframed(magic: Magic, bytes: &[u8]) -> Result<(u8, &[u8]), &'static str> {
    if bytes.len() < HEADER || bytes[..8] != magic {
        return Err("it does not begin as one");
    }
    let (sum, rest) = bytes[8..].split_at(8);
    if sum != fnv1a(rest).to_le_bytes() {
        return Err("its checksum is wrong");
    }
    Ok((rest[0], &rest[1..]))
}

/// Whether a table has something of this number.
pub(crate) fn is_in<T>(number: u32, table: &[T]) -> bool {
    (number as usize) < table.len()
}

/// Whether the tables have what bytes are part of.
pub(crate) fn have_memory(modules: &[CodeModule], blocks: &[Block], memory: Memory) -> bool {
    match memory {
        Memory::Static { module, .. } => is_in(module, modules),
        Memory::Heap { block, .. } => is_in(block, blocks),
        Memory::Other { .. } => true,
    }
}
