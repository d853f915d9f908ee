//! Open-ended fuzzing of stored communication graphs:
//!
//! ```text
//! cd crates/analyses && cargo +nightly fuzz run graphs -- -max_len=16384
//! ```
//!
//! What is mutated is what follows the header: the checksum is put right, so that the fuzzer gets past it.
#![no_main]

#[path = "../../tests/graph_exercise/mod.rs"]
mod graph_exercise;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|rest: &[u8]| {
    graph_exercise::exercise(rest);
});
