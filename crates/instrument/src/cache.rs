//! The folder of files this program unpacks for compilers and linkers to read.
//!
//! Names carry a hash of the content, so two versions of Unpick share the folder, and a parallel build may unpack
//! the same file many times at once: each writes its own copy and renames it into place. When a file is unpacked, those
//! that have not been used for a month go.

mod retention;

use crate::embed::Embedded;
use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};
use unpick_problem::Problem;

pub(crate) use retention::mark_used;

#[derive(Debug, Clone)]
pub(crate) struct Cache {
    folder: PathBuf,
}

impl Cache {
    /// `$XDG_CACHE_HOME/unpick`, else `~/.cache/unpick`, else a folder of this user's in the temporary folder.
    pub fn open() -> Result<Self, Problem> {
        let mut refused = Vec::new();
        for folder in candidate_folders() {
            match make_writable(&folder) {
                Ok(()) => return Ok(Self { folder }),
                Err(error) => refused.push(format!("{}: {error}", folder.display())),
            }
        }
        Err(Problem::own_fault("the runtime cannot be unpacked: no cache folder can be written")
            .at("folder", refused.join("; "))
            .why("compilers and linkers read the runtime from a file")
            .next("set XDG_CACHE_HOME to a folder you can write to"))
    }

    #[cfg(test)]
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The path of the file, after making sure that it holds exactly the embedded bytes.
    pub fn keep(&self, file: &Embedded) -> Result<PathBuf, Problem> {
        let path = self.folder.join(file.name);
        mark_used(&path);
        if !holds(&path, file.bytes) {
            self.replace(&path, file.bytes).map_err(|error| cannot_write(&path, &error))?;
            retention::forget_unused(&self.folder);
        }
        Ok(path)
    }

    /// Text that may be lost at any time: the caller can always find it out again.
    pub fn recall(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name)).ok()
    }

    /// Fails silently: forgetting costs only time.
    pub fn remember(&self, name: &str, text: &str) {
        let _ = self.replace(&self.folder.join(name), text.as_bytes());
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.folder.join(format!(".unfinished-{}-{number}", process::id()));
        let result = fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, path));
        if result.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        result
    }
}

/// Comparing with the bytes in memory is cheaper than a hash, and certain.
fn holds(path: &Path, bytes: &[u8]) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.len() == bytes.len() as u64)
        && fs::read(path).is_ok_and(|found| found == bytes)
}

fn candidate_folders() -> impl Iterator<Item = PathBuf> {
    let absolute =
        |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let xdg = absolute("XDG_CACHE_HOME").map(|folder| folder.join("unpick"));
    let home = absolute("HOME").map(|folder| folder.join(".cache/unpick"));
    let temporary = own_user_id().map(|user| env::temp_dir().join(format!("unpick-{user}")));
    [xdg, home, temporary].into_iter().flatten()
}

fn own_user_id() -> Option<u32> {
    fs::metadata("/proc/self").ok().map(|facts| facts.uid())
}

/// Creates the folder for this user alone, and proves by a file that it can be written.
fn make_writable(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let facts = fs::metadata(folder)?;
    if Some(facts.uid()) != own_user_id() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it belongs to another user"));
    }
    let probe = folder.join(format!(".probe-{}", process::id()));
    fs::write(&probe, b"")?;
    fs::remove_file(&probe)
}

fn cannot_write(path: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("the runtime cannot be unpacked")
        .at("file", path.display())
        .why(error)
        .next("free space there, or set XDG_CACHE_HOME to a folder you can write to")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    const FILE: Embedded = Embedded { name: "file-0123.o", bytes: b"the content" };

    fn cache() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(folder.path().to_path_buf());
        (folder, cache)
    }

    #[test]
    fn a_file_is_unpacked_once() {
        let (_folder, cache) = cache();
        let path = cache.keep(&FILE).unwrap();
        let first = fs::metadata(&path).unwrap().ino();
        assert_eq!(fs::read(&path).unwrap(), FILE.bytes);
        assert_eq!(fs::metadata(cache.keep(&FILE).unwrap()).unwrap().ino(), first);
    }

    #[test]
    fn a_damaged_file_is_replaced() {
        let (_folder, cache) = cache();
        for damage in [&b"the c0ntent"[..], b"the", b""] {
            let path = cache.keep(&FILE).unwrap();
            fs::write(&path, damage).unwrap();
            assert_eq!(fs::read(cache.keep(&FILE).unwrap()).unwrap(), FILE.bytes);
        }
    }

    #[test]
    fn many_may_unpack_at_once_and_leave_nothing_else_behind() {
        let (folder, cache) = cache();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let path = cache.keep(&FILE).unwrap();
                        // Another thread may just have removed it, but nobody sees half of it.
                        assert!(fs::read(&path).map_or(true, |found| found == FILE.bytes));
                        let _ = fs::remove_file(&path);
                    }
                });
            }
        });
        cache.keep(&FILE).unwrap();
        let names: Vec<_> =
            fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, [FILE.name]);
    }

    #[test]
    fn unpacking_a_file_makes_room_and_using_one_keeps_it() {
        let (folder, cache) = cache();
        let version = |name| Embedded { name, bytes: b"a version" };
        let (used, unused) =
            (version("runtime-0123456789abcdef.o"), version("runtime-fedcba9876543210.o"));
        let long_ago = SystemTime::now() - Duration::from_secs(40 * 24 * 60 * 60);
        let times = fs::FileTimes::new().set_accessed(long_ago).set_modified(long_ago);
        let paths = [&used, &unused].map(|file| folder.path().join(file.name));
        for path in &paths {
            fs::write(path, used.bytes).unwrap();
            fs::File::open(path).unwrap().set_times(times).unwrap();
        }
        cache.keep(&used).unwrap();
        assert!(paths[1].exists(), "nothing was unpacked yet");
        cache.keep(&FILE).unwrap();
        assert_eq!(paths.map(|path| path.exists()), [true, false]);
    }

    #[test]
    fn a_folder_that_is_a_file_is_a_problem_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let problem = Cache::at(file).keep(&FILE).unwrap_err();
        assert!(problem.to_string().contains("file-0123.o"), "{problem}");
        assert_eq!(problem.exit_code(), 70);
    }
}
