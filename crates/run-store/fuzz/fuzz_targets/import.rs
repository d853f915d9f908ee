//! Open-ended fuzzing of the importer:
//!
//! ```text
//! cd crates/run-store && RUSTC_BOOTSTRAP=1 cargo fuzz run -s none import corpus -- -max_len=16384
//! ```
//!
//! What is mutated is the tar archive: it is packed first, so that the fuzzer gets past gzip. What it finds goes into `corpus/`,
//! where the ordinary tests read it.
#![no_main]

#[path = "../../tests/exercise/mod.rs"]
mod exercise;
#[path = "../../tests/packed/mod.rs"]
mod packed;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|tar: &[u8]| {
    exercise::exercise(&packed::packed(tar));
});
