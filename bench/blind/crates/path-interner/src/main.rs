//! Interned paths of a file index: crawlers report the files that they find, and look up
//! the directory of each; both directions of the interner are used all the time.

use lasso::{Spur, ThreadedRodeo};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;

const CRAWLERS: usize = 3;
const DIRS: usize = 12;
const FILES: usize = 20;

#[derive(Default)]
struct Totals {
    by_dir: BTreeMap<String, u64>,
    files: u64,
}

struct Index {
    paths: ThreadedRodeo,
    totals: Mutex<Totals>,
}

impl Index {
    fn record(&self, file: &str, size: u64) -> Spur {
        let dir = match file.rfind('/') {
            Some(at) => &file[..at],
            None => "/",
        };
        let dir_id = self.paths.get_or_intern(dir);
        let dir_name = self.paths.resolve(&dir_id);
        let file_id = self.paths.get_or_intern(file);
        assert_eq!(dir_name, dir, "directory of {file}");
        let mut totals = self.totals.lock().unwrap();
        *totals.by_dir.entry(dir_name.to_string()).or_insert(0) += size;
        totals.files += 1;
        file_id
    }
}

fn size_of(dir: usize, file: usize) -> u64 {
    (dir as u64 * 31 + file as u64 * 7) % 97 + 1
}

fn crawl(index: &Index, me: usize) -> Vec<(String, Spur)> {
    let mut found = Vec::new();
    for d in 0..DIRS {
        // Each crawler has its own files but the directories are common.
        for f in (me..FILES).step_by(CRAWLERS) {
            let name = format!("/srv/data/dir{:02}/part{:03}.bin", d, f);
            let id = index.record(&name, size_of(d, f));
            found.push((name, id));
        }
    }
    found
}

fn main() {
    let index = Arc::new(Index {
        paths: ThreadedRodeo::new(),
        totals: Mutex::new(Totals::default()),
    });
    let crawlers: Vec<_> = (0..CRAWLERS)
        .map(|me| {
            let index = index.clone();
            thread::spawn(move || crawl(&index, me))
        })
        .collect();
    let mut files = 0;
    for c in crawlers {
        for (name, id) in c.join().expect("a crawler failed") {
            assert_eq!(index.paths.resolve(&id), name);
            files += 1;
        }
    }
    let totals = index.totals.lock().unwrap();
    assert_eq!(totals.files, files, "files recorded");
    for d in 0..DIRS {
        let expected: u64 = (0..FILES).map(|f| size_of(d, f)).sum();
        let got = totals.by_dir[&format!("/srv/data/dir{d:02}")];
        assert_eq!(got, expected, "size of dir{d:02}");
    }
    println!("{files} files in {} directories", totals.by_dir.len());
}
