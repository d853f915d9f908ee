//! The caches that were simulated in training: AVIO's hardware variant.
//!
//! What caches see is about lines, not variables, so it does not mix with other invariants, and a file says which caches they were.

use serde::{Deserialize, Serialize};
use unpick_analyses::invariants::CacheShape;
use unpick_problem::Problem;

/// A private cache of each thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Hardware {
    /// In bytes.
    pub line_size: u64,
    /// Of each thread, in bytes.
    pub cache_size: u64,
}

impl Hardware {
    /// What makes a cache.
    pub const RULE: &str =
        "a line has a power of two of bytes, 4 or more, and a cache holds at least four lines";

    /// None: there is no such cache.
    pub fn shape(self) -> Option<CacheShape> {
        CacheShape::new(self.line_size, self.cache_size)
    }

    /// Options of `unpick train` that choose it.
    fn options(self) -> String {
        let Hardware { line_size, cache_size } = self;
        format!("--simulate-hardware --line-size {line_size} --cache-size {cache_size}")
    }

    pub(crate) fn is_simulated(self) -> Problem {
        Problem::usage("the invariants were trained through simulated caches")
            .why(format!(
                "they are about lines of caches (`{}`); a hunt looks for orders of accesses to variables",
                self.options()
            ))
            .next("train without --simulate-hardware into another file: --file OTHER.toml")
    }
}

pub(crate) fn other_hardware(trained: Option<Hardware>, other: Option<Hardware>) -> Problem {
    let in_words = |hardware: Option<Hardware>| match hardware {
        Some(hardware) => format!("`{}`", hardware.options()),
        None => "no simulated hardware".to_owned(),
    };
    Problem::usage("the invariants were trained with other hardware")
        .why(format!(
            "they say {}, now it is {}: caches see other things than variables",
            in_words(trained),
            in_words(other)
        ))
        .next("use the same options, or train another file: --file OTHER.toml")
}
