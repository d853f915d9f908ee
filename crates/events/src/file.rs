//! The file around the events: one file per process image, one stream per thread inside.
//!
//! ```text
//! offset 0         file header (4096 bytes)
//! offset 4096      chunk (header, then events of one thread), its size a multiple of 4096
//! …                more chunks; the chunks of one thread are numbered 0, 1, 2, …
//! ```
//!
//! The file is a shared mapping of the running process, so it is whole after any death. A stream ends
//! at a zero word or at the end of its last chunk.

/// First eight bytes of the file.
pub const FILE_MAGIC: [u8; 8] = *b"UNPICK\0\x1a";
/// Version of everything in this crate.
pub const FORMAT_VERSION: u32 = 3;
/// The oldest version that can be read: what it has is a part of this one.
pub const OLDEST_VERSION: u32 = 1;
/// Size of the file header; chunks begin here.
pub const FILE_HEADER_BYTES: u64 = 4096;
/// Chunks begin at multiples of this, so that a reader can find the next one after a damaged one.
pub const CHUNK_ALIGNMENT: u64 = 4096;
/// First four bytes of a chunk.
pub const CHUNK_MAGIC: u32 = u32::from_le_bytes(*b"CHNK");

/// Byte offsets of the fields of the file header. All little-endian.
pub mod file_field {
    pub const MAGIC: usize = 0;
    /// u32
    pub const VERSION: usize = 8;
    /// u32: size of this header.
    pub const HEADER_BYTES: usize = 12;
    /// u32
    pub const PROCESS: usize = 16;
    /// u32
    pub const PARENT_PROCESS: usize = 20;
    /// u64: nanoseconds since 1970 at the start.
    pub const STARTED: usize = 24;
    /// u64: the size limit for chunks, in bytes.
    pub const LIMIT: usize = 32;
    /// u64: seed of the perturbation.
    pub const SEED: usize = 40;
    /// u64: bit set of `mode`.
    pub const MODE: usize = 48;
    /// u64: FNV-1a of bytes 0..56; what is below changes while the program runs.
    pub const CHECKSUM: usize = 56;

    /// u64: end of the space given to chunks so far.
    pub const CHUNKS_END: usize = 64;
    /// u64: bit set of `lost`: why the recording is incomplete; 0 = complete so far.
    pub const LOST: usize = 72;
    /// u64: events that were not recorded.
    pub const DROPPED: usize = 80;
    /// u64: 1 once the process left by itself: `exit` and its kin, or returning from `main`.
    pub const ORDERLY_EXIT: usize = 88;
    /// u64: threads seen.
    pub const THREADS: usize = 96;
    /// u64: the highest stamp drawn so far (written at exit and whenever a chunk is begun).
    pub const STAMPS: usize = 104;
    /// u64: total nanoseconds of delays injected.
    pub const DELAYED: usize = 112;
    /// u64: the errno of the first failure to get more space; 0 = none.
    pub const ERROR: usize = 120;
}

/// Bytes covered by the checksum.
pub const CHECKED_BYTES: usize = file_field::CHECKSUM;

/// Bits of [`file_field::MODE`].
pub mod mode {
    /// Every access to shared bytes was recorded (`--full`).
    pub const FULL: u64 = 1;
    /// Delays were injected.
    pub const PERTURBED: u64 = 2;
}

/// Bits of [`file_field::LOST`]: why events are missing.
pub mod lost {
    /// The size limit was reached; later events were dropped.
    pub const LIMIT: u64 = 1;
    /// The disk was full, or the file could not grow; later events were dropped.
    pub const DISK: u64 = 2;
    /// More threads than there are ids: the later ones were not recorded.
    pub const THREADS: u64 = 4;
    /// A signal handler interrupted the recorder and touched shared bytes: those accesses are missing.
    pub const SIGNAL: u64 = 8;
    /// Memory for bookkeeping could not be had; later events were dropped.
    pub const MEMORY: u64 = 16;
    /// Two instrumented modules share the low 32 bits of some address: their sites are ambiguous.
    pub const AMBIGUOUS_SITES: u64 = 32;
    /// A thread was stopped for good in the middle of a hook: accesses to what it had locked are missing.
    pub const STUCK: u64 = 64;
}

/// Byte offsets of the fields of a chunk header. All little-endian.
pub mod chunk_field {
    /// u32
    pub const MAGIC: usize = 0;
    /// u32: whose events these are.
    pub const THREAD: usize = 4;
    /// u32: 0 for the first chunk of the thread.
    pub const SEQUENCE: usize = 8;
    /// u32: size of the chunk, this header included.
    pub const BYTES: usize = 12;
    /// u64: the offset of this chunk in the file, so that a copy of one in a hole is not taken for real.
    pub const OFFSET: usize = 16;
    /// u64: how many events the thread had recorded before this chunk.
    pub const FIRST_ORDINAL: usize = 24;
}

/// Size of a chunk header.
pub const CHUNK_HEADER_BYTES: u64 = 32;

/// FNV-1a, 64 bits.
pub const fn fnv1a(bytes: &[u8]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_matches_the_published_values_of_fnv1a() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
