//! Ranking: which patterns go with failing.
//!
//! Takes   the `RunPatterns` of all labelled runs, in any order, as often as it likes (twice).
//! Gives   a `Conclusion`: every pattern with its score and rank; for the best ones the failing runs that have them,
//!         when in these runs they did harm, and an example.
//!         Also reads that came too early, where failing runs ended before the write (`missing`).
//! Misses  causes that show as no pattern; bugs so rare that few failing runs have them.
//! Invents high scores for what merely accompanies a failure. `unpick-findings` groups these with their cause.
//! Cost    one hash look-up per pattern and run; memory per distinct pattern, not per run.
//!
//! Method: Jaccard by default (Falcon, UNICORN); Tarantula, Ochiai. Patterns with the same score share a rank:
//! one more than the number of patterns with a higher score.

mod callers;
mod code_book;
mod conclusion;
mod evidence;
mod formula;
mod missing;
mod reading;
mod run_set;
mod study;
mod tally;

pub use code_book::CodeBook;
pub(crate) use code_book::Translation;
pub use conclusion::{Conclusion, LabelledRun, Ranked, RunCounts, conclude, conclude_with};
pub(crate) use evidence::example_of;
pub use evidence::{
    Evidence, Example, ExampleAccess, ExampleBlock, ExampleLock, ExampleMemory, accesses_of,
    locks_of,
};
pub use formula::{Counts, Formula};
pub use missing::Missing;
pub(crate) use reading::CodeReading;
pub use run_set::RunSet;
pub use study::StudyFigures;
pub use tally::{InExperiments, PatternKey};
