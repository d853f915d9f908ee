//! Results of earlier times: a file whose contents, headers and flags are the same has the same access sets.
//!
//! One file per source or group of headers, named by a hash of its name; its first line says what it was made for, by
//! which version, by which rules of reading, and what the rest adds up to. What does not fit to that is as good as absent.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::access_sets::FileSets;
use crate::access_sets::c::hash;

/// The rules by which this was read, as a number of the sources that decide it: `build.rs`.
const READING_RULES: &str = env!("UNPICK_READING_RULES");

/// What can be kept.
pub trait Kept: DeserializeOwned {
    /// Whether all numbers in it refer to something: what somebody else wrote must not end the program later.
    fn is_sound(&self) -> bool;
}

pub struct Cache {
    folder: Option<PathBuf>,
}

impl Cache {
    /// In a folder, which is made when something is kept; nowhere without one.
    pub fn at(folder: Option<&Path>) -> Self {
        Self { folder: folder.map(Path::to_path_buf) }
    }

    pub fn get<T: Kept>(&self, name: &str, key: u64) -> Option<T> {
        let bytes = fs::read(self.path(name)?).ok()?;
        let end = bytes.iter().position(|&byte| byte == b'\n')?;
        let (heading, text) = (&bytes[..end], &bytes[end + 1..]);
        if heading != heading_of(key, text).as_bytes() {
            return None;
        }
        serde_json::from_slice(text).ok().filter(T::is_sound)
    }

    /// A cache that cannot be written only costs time. Nothing is written aside and renamed, which takes ten times as long: what is
    /// torn, because somebody ended in between or two wrote at the same time, does not add up to what its first line says.
    pub fn keep(&self, name: &str, key: u64, what: &impl Serialize) {
        let (Some(folder), Some(path)) = (&self.folder, self.path(name)) else { return };
        let Ok(text) = serde_json::to_vec(what) else { return };
        let bytes = [heading_of(key, &text).as_bytes(), b"\n", &text].concat();
        if fs::write(&path, &bytes).is_err() {
            // The first time there is no folder.
            let _ = fs::create_dir_all(folder).and_then(|()| fs::write(&path, &bytes));
        }
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{:016x}.kept", hash(name.as_bytes()))))
    }
}

fn heading_of(key: u64, text: &[u8]) -> String {
    let (version, sum) = (env!("CARGO_PKG_VERSION"), hash(text));
    format!("unpick {version}, rules {READING_RULES}, key {key:016x}, sum {sum:016x}")
}

impl Kept for FileSets {
    fn is_sound(&self) -> bool {
        let is_variable = |number: u32| (number as usize) < self.variables.len();
        let is_condition = |number: &u32| (*number as usize) < self.conditions.len();
        self.errors.len() <= self.error_count
            && self.conditions.iter().all(|condition| is_variable(condition.variable))
            && self.functions.iter().all(|function| {
                (function.file as usize) < self.files.len()
                    && function.accesses.iter().all(|access| {
                        is_variable(access.variable) && access.under.iter().all(is_condition)
                    })
                    && function.statements.iter().all(|one| one.under.iter().all(is_condition))
            })
    }
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
        assert_eq!(cache.get::<FileSets>("a.c", 2), None);
        assert_eq!(cache.get::<FileSets>("b.c", 1), None);
    }

    #[test]
    fn what_another_version_or_other_rules_kept_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(Some(folder.path()));
        let path = cache.path("a.c").unwrap();
        for (ours, theirs) in
            [(READING_RULES, "0000000000000000"), (env!("CARGO_PKG_VERSION"), "0.0.0")]
        {
            cache.keep("a.c", 1, &sets(&["w:x"]));
            let text = fs::read_to_string(&path).unwrap();
            assert!(text.contains(ours) && cache.get::<FileSets>("a.c", 1).is_some());
            fs::write(&path, text.replacen(ours, theirs, 1)).unwrap();
            assert_eq!(cache.get::<FileSets>("a.c", 1), None);
        }
    }

    /// Changes one byte and cuts off the end.
    fn damage(bytes: &mut Vec<u8>, (at, byte, length): (usize, u8, usize)) {
        bytes.truncate(length);
        let size = bytes.len().max(1);
        if let Some(damaged) = bytes.get_mut(at % size) {
            *damaged = byte;
        }
    }

    fn damages() -> impl Strategy<Value = (usize, u8, usize)> {
        (0_usize..2000, any::<u8>(), prop_oneof![0_usize..2000, Just(2000)])
    }

    #[test]
    fn two_who_write_at_the_same_time_leave_what_fits_or_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::at(Some(folder.path()));
        let kept = [sets(&["w:x r:y", "w:x"]), sets(&["w:x r:y m1w:z", "w:x call:7", "r:y"])];
        std::thread::scope(|scope| {
            for (key, sets) in (0..).zip(&kept) {
                let cache = &cache;
                scope.spawn(move || (0..200).for_each(|_| cache.keep("a.c", key, sets)));
            }
            for key in (0..2).cycle().take(400) {
                let found = cache.get::<FileSets>("a.c", key);
                assert!(found.is_none_or(|sets| sets == kept[key as usize]));
            }
        });
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().flatten().collect();
        assert_eq!(names.len(), 1);
    }

    proptest! {
        #[test]
        fn a_mixture_of_what_two_wrote_is_absent(at in 0_usize..400, is_longer_first in any::<bool>()) {
            let folder = tempfile::tempdir().unwrap();
            let cache = Cache::at(Some(folder.path()));
            let path = cache.path("a.c").unwrap();
            let written = |kept: &FileSets| {
                cache.keep("a.c", 1, kept);
                fs::read(&path).unwrap()
            };
            let mut both = [written(&sets(&["w:x r:y"])), written(&sets(&["w:x r:y", "w:z"]))];
            both.rotate_left(usize::from(is_longer_first));
            let at = at.min(both[0].len()).min(both[1].len());
            let mixture = [&both[0][..at], &both[1][at..]].concat();
            fs::write(&path, &mixture).unwrap();
            prop_assert_eq!(cache.get::<FileSets>("a.c", 1).is_some(), both.contains(&mixture));
        }

        #[test]
        fn a_damaged_file_is_absent_and_replaced(damages in damages()) {
            let folder = tempfile::tempdir().unwrap();
            let cache = Cache::at(Some(folder.path()));
            let kept = sets(&["w:x r:y m1w:z", "w:x call:7"]);
            cache.keep("a.c", 1, &kept);
            let path = cache.path("a.c").unwrap();
            let before = fs::read(&path).unwrap();
            let mut bytes = before.clone();
            damage(&mut bytes, damages);
            fs::write(&path, &bytes).unwrap();
            prop_assert_eq!(cache.get::<FileSets>("a.c", 1).is_some(), bytes == before);
            cache.keep("a.c", 1, &kept);
            prop_assert_eq!(cache.get("a.c", 1), Some(kept));
        }

        #[test]
        fn what_another_program_kept_is_absent_or_sound(damages in damages()) {
            let folder = tempfile::tempdir().unwrap();
            let cache = Cache::at(Some(folder.path()));
            let mut text = serde_json::to_vec(&sets(&["w:x r:y m1w:z", "w:x call:7"])).unwrap();
            damage(&mut text, damages);
            let bytes = [heading_of(1, &text).as_bytes(), b"\n", &text].concat();
            fs::write(cache.path("a.c").unwrap(), bytes).unwrap();
            if let Some(sets) = cache.get::<FileSets>("a.c", 1) {
                prop_assert!(sets.is_sound());
                crate::conclude(vec![sets], &crate::Choices::default(), vec![]);
            }
        }
    }
}
