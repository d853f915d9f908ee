//! Results of earlier times: a file whose contents, headers and flags are the same has the same access sets.
//!
//! One file per source, named by a hash of its path and flags; inside, the key it was made for. What cannot be read, or was
//! made by another version, is as good as absent.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::access_sets::FileSets;
use crate::access_sets::c::hash;

/// Raised whenever the meaning of access sets changes.
const CACHE_VERSION: u32 = 1;

pub struct Cache {
    folder: Option<PathBuf>,
}

#[derive(Serialize, Deserialize)]
struct Kept<T> {
    version: u32,
    key: u64,
    sets: T,
}

impl Cache {
    /// In a folder, which is made when something is kept; nowhere without one.
    pub fn at(folder: Option<&Path>) -> Self {
        Self { folder: folder.map(Path::to_path_buf) }
    }

    pub fn get(&self, name: &str, key: u64) -> Option<FileSets> {
        let text = fs::read(self.path(name)?).ok()?;
        let kept: Kept<FileSets> = serde_json::from_slice(&text).ok()?;
        let is_it = kept.version == CACHE_VERSION && kept.key == key;
        (is_it && is_sound(&kept.sets)).then_some(kept.sets)
    }

    /// A cache that cannot be written only costs time.
    pub fn keep(&self, name: &str, key: u64, sets: &FileSets) {
        let Some(path) = self.path(name) else { return };
        let kept = Kept { version: CACHE_VERSION, key, sets };
        let Ok(text) = serde_json::to_vec(&kept) else { return };
        let aside = path.with_extension(format!("{}.new", std::process::id()));
        let folder = path.parent().unwrap_or(Path::new("."));
        let is_written = fs::create_dir_all(folder).is_ok() && fs::write(&aside, text).is_ok();
        if !is_written || fs::rename(&aside, &path).is_err() {
            let _ = fs::remove_file(&aside);
        }
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{:016x}.json", hash(name.as_bytes()))))
    }
}

/// Whether all numbers refer to something: a damaged file must not end the program later.
fn is_sound(sets: &FileSets) -> bool {
    let is_variable = |number: u32| (number as usize) < sets.variables.len();
    let is_condition = |number: &u32| (*number as usize) < sets.conditions.len();
    sets.conditions.iter().all(|condition| is_variable(condition.variable))
        && sets.functions.iter().all(|function| {
            (function.file as usize) < sets.files.len()
                && function.accesses.iter().all(|access| {
                    is_variable(access.variable) && access.under.iter().all(is_condition)
                })
                && function.statements.iter().all(|one| one.under.iter().all(is_condition))
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rules::test_support::sets;

    #[test]
    fn what_was_kept_is_found_for_the_same_key_only() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(Some(folder.path()));
        let kept = sets(&["w:x r:y", "w:x"]);
        cache.keep("a.c", 1, &kept);
        assert_eq!(cache.get("a.c", 1), Some(kept));
        assert_eq!(cache.get("a.c", 2), None);
        assert_eq!(cache.get("b.c", 1), None);
    }

    #[test]
    fn another_version_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(Some(folder.path()));
        cache.keep("a.c", 1, &sets(&["w:x"]));
        let path = cache.path("a.c").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen("\"version\":1", "\"version\":0", 1)).unwrap();
        assert_eq!(cache.get("a.c", 1), None);
    }

    proptest! {
        #[test]
        fn a_damaged_file_is_absent_or_sound(at in 0_usize..2000, byte: u8, length in 0_usize..2000) {
            let folder = tempfile::tempdir().unwrap();
            let cache = Cache::at(Some(folder.path()));
            cache.keep("a.c", 1, &sets(&["w:x r:y m1w:z", "w:x call:7"]));
            let path = cache.path("a.c").unwrap();
            let mut text = fs::read(&path).unwrap();
            text.truncate(length);
            let size = text.len().max(1);
            if let Some(damaged) = text.get_mut(at % size) {
                *damaged = byte;
            }
            fs::write(&path, text).unwrap();
            if let Some(sets) = cache.get("a.c", 1) {
                prop_assert!(is_sound(&sets));
                crate::conclude(vec![sets], &crate::Choices::default(), vec![]);
            }
        }
    }
}
