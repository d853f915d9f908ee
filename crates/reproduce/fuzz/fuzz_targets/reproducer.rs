//! Open-ended fuzzing of reproducer files:
//!
//! ```text
//! cd crates/reproduce && cargo +nightly fuzz run reproducer corpus -- -max_len=16384
//! ```
//!
//! What it finds goes into `corpus/`, where the ordinary tests read it.
#![no_main]

#[path = "../../tests/exercise/mod.rs"]
mod exercise;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    exercise::exercise(text);
});
