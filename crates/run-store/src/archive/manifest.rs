//! The first piece of an archive: what it is, and what must be in it.

use serde::{Deserialize, Serialize};

/// Name and version of the form.
pub const FORM: &str = "unpick-export/1";

/// What `manifest.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub form: String,
    pub unpick_version: String,
    /// The number of the hunt, which its runs keep.
    pub hunt: u64,
    /// How many runs there are: with fewer the file is not whole.
    pub runs: u64,
}

impl Manifest {
    pub fn new(hunt: u64, runs: u64) -> Manifest {
        let unpick_version = env!("CARGO_PKG_VERSION").to_owned();
        Manifest { form: FORM.to_owned(), unpick_version, hunt, runs }
    }
}
