//! What a reader of invariants does with any text: for tests and for the fuzzer.

use unpick_invariants::{Invariants, Suppressions, Violated};

/// Reads a text as invariants, and as suppressions; says whether it is the former. What was read can be written and read again.
pub fn exercise(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(suppressions) = Suppressions::from_text(&text, "fuzzed") {
        suppressions.cover(Violated { id: "1", files: &["a/b.c"], functions: &["f"] });
    }
    match Invariants::from_toml(&text, "fuzzed.toml") {
        Ok(invariants) => {
            let again = Invariants::from_toml(&invariants.to_toml(), "written.toml");
            assert_eq!(again.as_ref(), Ok(&invariants), "{}", invariants.to_toml());
            true
        }
        Err(problem) => {
            assert!(!problem.to_string().is_empty());
            false
        }
    }
}
