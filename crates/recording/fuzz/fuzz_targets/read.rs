//! Open-ended fuzzing of the reader:
//!
//! ```text
//! cd crates/recording && RUSTC_BOOTSTRAP=1 cargo fuzz run -s none read -- -max_len=16384
//! ```
//!
//! The checksum of the header is put right first, so that the fuzzer gets past it. What it finds goes into
//! `corpus/`, where the ordinary tests read it.
#![no_main]

#[path = "../../tests/exercise/mod.rs"]
mod exercise;

use libfuzzer_sys::fuzz_target;
use unpick_events::file::{CHECKED_BYTES, FILE_MAGIC, FORMAT_VERSION, file_field, fnv1a};

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    if bytes.len() >= 128 {
        bytes[..8].copy_from_slice(&FILE_MAGIC);
        bytes[file_field::VERSION..][..4].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        let sum = fnv1a(&bytes[..CHECKED_BYTES]);
        bytes[file_field::CHECKSUM..][..8].copy_from_slice(&sum.to_le_bytes());
    }
    exercise::exercise(&bytes);
});
