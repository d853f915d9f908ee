//! Standard output, and whoever has stopped reading it.

pub mod findings;

use std::io::{self, Write};

/// Prints to standard output. Whoever closed it has seen enough: that is no error.
pub fn print(text: &[u8]) -> io::Result<()> {
    match io::stdout().write_all(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        answer => answer,
    }
}
