//! Trained invariants as users keep them.
//!
//! Takes   what was checked in runs (`analyses::invariants`), and the program's files, to put it in the words of the source.
//! Gives   `Invariants`: a file of sites by function and line of source, which outlives the build, can be merged and edited; which
//!         violations of a run are of trained invariants; `Suppressions`.
//! Misses  sites whose line was rewritten: they are new ones, and have to be trained.
//! Cost    takes apart each function that was executed once per process.
//!
//! Why so: `docs/design/0015-invariants.md`.
#![forbid(unsafe_code)]

mod file;
mod hardware;
mod invariants;
mod site;
mod suppressions;

pub use file::INVARIANTS_VERSION;
pub use hardware::Hardware;
pub use invariants::{Broken, Invariants, Labels};
pub use site::{SiteKey, SiteWords, Sites};
pub use suppressions::{Suppressions, Violated};
