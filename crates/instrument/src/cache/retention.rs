//! Which files of the cache may go: those of versions nobody has called for a month.
//!
//! Every use marks a file as used, before its path is given to anybody. So what is in use by a build, or has just been
//! made, is never old enough; and who finds that a file is gone unpacks it again.

use std::fs::{self, DirEntry, File, FileTimes, Metadata};
use std::path::Path;
use std::time::{Duration, SystemTime};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Files that nobody asked for during this time go.
const KEPT: Duration = DAY.saturating_mul(30);

/// A file used a moment ago need not be marked again: a build asks for it many times a second.
const MARKED_EVERY: Duration = DAY;

/// Notes that the file is in use. Only the time of access changes: build systems look at the other.
pub(crate) fn mark_used(path: &Path) {
    let mark = || -> std::io::Result<()> {
        let file = File::open(path)?;
        if is_unused_for(MARKED_EVERY, &file.metadata()?) {
            file.set_times(FileTimes::new().set_accessed(SystemTime::now()))?;
        }
        Ok(())
    };
    // A file that is not there will be made; one that cannot be marked costs, at worst, unpacking it again.
    let _ = mark();
}

/// Removes what nobody has used for long. What cannot be removed stays: it only takes room.
pub(super) fn forget_unused(folder: &Path) {
    for entry in entries(folder).filter(is_of_ours) {
        let path = entry.path();
        let _ = match entry.file_type() {
            Ok(kind) if kind.is_file() && is_file_to_go(&entry) => fs::remove_file(path),
            Ok(kind) if kind.is_dir() && is_folder_to_go(&path) => fs::remove_dir_all(path),
            _ => Ok(()),
        };
    }
}

fn entries(folder: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

fn is_of_ours(entry: &DirEntry) -> bool {
    entry.file_name().to_str().is_some_and(is_name_of_ours)
}

fn is_file_to_go(entry: &DirEntry) -> bool {
    entry.metadata().is_ok_and(|facts| facts.is_file() && is_unused_for(KEPT, &facts))
}

/// A folder without files is one that somebody is about to fill. Links have no time that tells of their use.
fn is_folder_to_go(folder: &Path) -> bool {
    let mut files = entries(folder).filter(is_no_link).peekable();
    files.peek().is_some() && files.all(|file| is_file_to_go(&file))
}

fn is_no_link(entry: &DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| !kind.is_symlink())
}

fn is_unused_for(time: Duration, facts: &Metadata) -> bool {
    let uses = [facts.accessed(), facts.modified()];
    // A time in the future is no age: such a file stays.
    uses.into_iter().flatten().all(|use_| use_.elapsed().is_ok_and(|age| age > time))
}

/// `libunpick_runtime-0123456789abcdef.so`, the folder `cargo-0123456789abcdef`, and what a call that was killed has left behind.
fn is_name_of_ours(name: &str) -> bool {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let has_hash = stem.rsplit_once('-').is_some_and(|(_, hash)| {
        hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit())
    });
    has_hash || name.starts_with(".unfinished-") || name.starts_with(".probe-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::os::unix::fs::symlink;

    fn make(folder: &Path, name: &str, days_since_use: u32) {
        let file = File::create(folder.join(name)).unwrap();
        let then = SystemTime::now() - DAY * days_since_use;
        file.set_times(FileTimes::new().set_accessed(then).set_modified(then)).unwrap();
    }

    fn names(folder: &Path) -> BTreeSet<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn files_of_ours_go_a_month_after_their_last_use() {
        let folder = tempfile::tempdir().unwrap();
        let (old, of_late) = (31, 29);
        make(folder.path(), "runtime-0123456789abcdef.o", old);
        make(folder.path(), "compiler-0123456789abcdef.txt", old);
        make(folder.path(), ".unfinished-17-0", old);
        make(folder.path(), "runtime-fedcba9876543210.o", of_late);
        make(folder.path(), ".unfinished-18-0", 0);
        make(folder.path(), "notes of the user's.txt", old);
        for (wrappers, last_use) in
            [("cargo-0123456789abcdef", old), ("cargo-fedcba9876543210", of_late)]
        {
            fs::create_dir(folder.path().join(wrappers)).unwrap();
            make(&folder.path().join(wrappers), "used", last_use);
            make(&folder.path().join(wrappers), "other", old);
            symlink("/nowhere", folder.path().join(wrappers).join("unpick-cargo-cc")).unwrap();
        }
        forget_unused(folder.path());
        let kept = [
            ".unfinished-18-0",
            "cargo-fedcba9876543210",
            "notes of the user's.txt",
            "runtime-fedcba9876543210.o",
        ];
        assert_eq!(names(folder.path()), kept.map(str::to_owned).into());
    }

    #[test]
    fn a_file_in_use_is_marked_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let name = "runtime-0123456789abcdef.o";
        make(folder.path(), name, 40);
        let modified = || fs::metadata(folder.path().join(name)).unwrap().modified().unwrap();
        let before = modified();
        mark_used(&folder.path().join(name));
        forget_unused(folder.path());
        assert!(names(folder.path()).contains(name));
        assert_eq!(modified(), before, "build systems see no change");
    }

    #[test]
    fn a_time_in_the_future_is_not_old() {
        let folder = tempfile::tempdir().unwrap();
        let name = "runtime-0123456789abcdef.o";
        let file = File::create(folder.path().join(name)).unwrap();
        file.set_times(FileTimes::new().set_accessed(SystemTime::now() + DAY * 60)).unwrap();
        forget_unused(folder.path());
        assert!(names(folder.path()).contains(name));
    }
}
