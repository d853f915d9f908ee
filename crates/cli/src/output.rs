//! Standard output, the name that stands for it, and whoever has stopped reading it.

pub mod findings;

use std::io::{self, Write};
use std::path::Path;

/// A file's name that stands for standard output.
pub const STDOUT: &str = "-";

/// Prints to standard output. Whoever closed it has seen enough: that is no error.
pub fn print(text: &[u8]) -> io::Result<()> {
    match io::stdout().write_all(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        answer => answer,
    }
}

pub fn is_stdout(file: &Path) -> bool {
    file == Path::new(STDOUT)
}
