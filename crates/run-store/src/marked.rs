//! A new store is marked as what it is: version control ignores it, and backups that know the tag leave it out.
//!
//! Takes   the directory of a store.      Gives  the directory, with `.gitignore` and `CACHEDIR.TAG` if it was created here.
//! Misses  directories that were there before: they may be the user's own, so nothing is put there unasked.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

const GITIGNORE: &str = "*\n";
const TAG_FILE: &str = "CACHEDIR.TAG";
/// The first line is fixed by the specification: <https://bford.info/cachedir/>.
const TAG: &str = "\
Signature: 8a477f597d28d172789f06886806bc55
# Runs and findings of unpick. The program can be run again; what is kept here need not be backed up.
";

/// Creates the directory of a store, unless it is there.
pub fn create_marked(folder: &Path) -> io::Result<()> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
    if let Some(parent) = parent {
        fs::create_dir_all(parent)?;
    }
    match fs::create_dir(folder) {
        // Inside a marked directory everything is ignored already.
        Ok(()) if parent.is_some_and(|parent| parent.join(TAG_FILE).exists()) => Ok(()),
        Ok(()) => {
            mark(folder);
            Ok(())
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) => Err(error),
    }
}

/// Marks a directory that is known to be a store's.
pub fn mark(folder: &Path) {
    write_new(&folder.join(".gitignore"), GITIGNORE);
    write_new(&folder.join(TAG_FILE), TAG);
}

/// A store without its marks is still a store: a full disk shows itself at the first run.
fn write_new(file: &Path, text: &str) {
    let _ = File::create_new(file).and_then(|mut file| file.write_all(text.as_bytes()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_store_is_ignored_by_version_control_and_backups() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("below/.unpick");
        create_marked(&store).unwrap();
        assert_eq!(fs::read_to_string(store.join(".gitignore")).unwrap(), "*\n");
        let tag = fs::read_to_string(store.join("CACHEDIR.TAG")).unwrap();
        assert!(tag.starts_with("Signature: 8a477f597d28d172789f06886806bc55\n"));
    }

    #[test]
    fn what_was_there_before_is_not_marked_and_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        create_marked(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        let store = folder.path().join(".unpick");
        create_marked(&store).unwrap();
        fs::write(store.join(".gitignore"), "mine").unwrap();
        fs::remove_file(store.join("CACHEDIR.TAG")).unwrap();
        create_marked(&store).unwrap();
        assert_eq!(fs::read_to_string(store.join(".gitignore")).unwrap(), "mine");
        assert!(!store.join("CACHEDIR.TAG").exists());
    }

    #[test]
    fn a_store_inside_a_store_needs_no_marks_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join(".unpick");
        create_marked(&store).unwrap();
        create_marked(&store.join("forced")).unwrap();
        assert_eq!(fs::read_dir(store.join("forced")).unwrap().count(), 0);
    }

    #[test]
    fn a_file_in_its_place_is_an_error() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(create_marked(file.path()).is_err());
    }
}
