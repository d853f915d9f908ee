//! Open-ended fuzzing of reproducer files:
//!
//! ```text
//! cd crates/reproduce && RUSTC_BOOTSTRAP=1 cargo fuzz run -s none reproducer corpus -- -max_len=16384
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
