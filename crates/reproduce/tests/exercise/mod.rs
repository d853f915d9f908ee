//! What a reader of reproducers does with any text: for tests and for the fuzzer.

use unpick_reproduce::Reproducer;

/// Reads a text as a reproducer; says whether it is one. What was read can be written and read again.
pub fn exercise(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    match Reproducer::from_toml(&text, "fuzzed.toml") {
        Ok(reproducer) => {
            let again = Reproducer::from_toml(&reproducer.to_toml(), "written.toml");
            assert_eq!(again.as_ref(), Ok(&reproducer), "{}", reproducer.to_toml());
            true
        }
        Err(problem) => {
            assert!(!problem.to_string().is_empty());
            false
        }
    }
}
