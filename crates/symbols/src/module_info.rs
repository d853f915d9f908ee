//! What a recording says about one loaded module.

use std::ops::Range;
use std::path::PathBuf;

/// One executable or shared library, as it was loaded into the recorded process.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ModuleInfo {
    pub path: PathBuf,
    /// In hex; empty if the module has none or the recorder could not see it.
    pub build_id: String,
    /// What was added to every address of the file: 0 for an executable that is not position-independent.
    pub bias: u64,
    /// Lowest address.
    pub start: u64,
    /// Bytes from the lowest to behind the highest address.
    pub length: u64,
}

impl ModuleInfo {
    pub fn addresses(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.length)
    }

    /// The last part of the path: what a report calls the module.
    pub fn name(&self) -> String {
        match self.path.file_name() {
            Some(name) => name.to_string_lossy().into_owned(),
            None => self.path.to_string_lossy().into_owned(),
        }
    }

    /// Modules the kernel makes, such as `linux-vdso.so.1` or `[vdso]`, are no files.
    pub fn is_a_file(&self) -> bool {
        self.path.components().count() > 1
    }
}
