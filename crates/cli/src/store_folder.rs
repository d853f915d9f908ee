//! The value of `--store`: refused at once, as a wrong command line, if it cannot be a directory.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};

/// Reads a directory that need not be there yet.
pub fn store_folder() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|folder| match obstacle(&folder) {
        Some(obstacle) => Err(obstacle),
        None => Ok(folder),
    })
}

/// Why there cannot be a directory.
fn obstacle(folder: &Path) -> Option<&'static str> {
    match fs::metadata(folder) {
        Ok(about) if !about.is_dir() => Some("it is a file, not a directory"),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            Some("a part of this path is a file, not a directory")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_in_its_place_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes.txt");
        fs::write(&file, "").unwrap();
        assert_eq!(obstacle(folder.path()), None);
        assert_eq!(obstacle(&folder.path().join("new/one")), None);
        assert_eq!(obstacle(&file), Some("it is a file, not a directory"));
        assert!(obstacle(&file.join("below")).is_some_and(|why| why.contains("a part")));
    }
}
