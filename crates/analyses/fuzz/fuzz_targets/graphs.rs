//! Open-ended fuzzing of stored communication graphs:
//!
//! ```text
//! cd crates/analyses && RUSTC_BOOTSTRAP=1 cargo fuzz run -s none graphs corpus -- -max_len=16384
//! ```
//!
//! What is mutated is what follows the header: the checksum is put right, so that the fuzzer gets past it. What it
//! finds goes into `corpus/`, where the ordinary tests read it.
#![no_main]

#[path = "../../tests/graph_exercise/mod.rs"]
mod graph_exercise;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|rest: &[u8]| {
    graph_exercise::exercise(rest);
});
