//! However little room there is for syntax trees, nobody can tell by the result.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::WorkerCommand;

/// Types that ask for each other, functions at all places where functions are, and files that are lost or broken in part.
const FILES: [&str; 6] = [
    "struct Queue { items: Vec<Job>, open: bool }
    impl Queue {
        const LIMIT: usize = 1;
        /// Adds a job.
        fn push(&mut self, job: Job) { self.items.push(job); self.open = job.done; }
    }
    impl Clone for Queue {}",
    "#[derive(Debug)] pub struct Job { done: bool, queue: Queue }
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    mod inner { mod deeper { fn reset(job: &mut Job) { job.done = false; COUNT.load(Relaxed); } } }
    mod elsewhere;",
    "trait Runs { type Of; fn run(&self); fn stop(&self, queue: &mut Queue) { queue.open = false; } }
    #[test] fn helper() { #[cfg(a)] struct Local { x: u8 } #[b] fn inside(l: &mut Local) { l.x = 1; } }",
    "fn user(queue: &mut Queue) {\n    if queue.open { queue.items[0].queue.open = true; helper(); }\n}\nfn broken( {\n",
    "fn lost( {",
    "",
];

fn sources() -> (TempDir, Vec<PathBuf>) {
    let folder = tempfile::tempdir().unwrap();
    let path = |at: usize| folder.path().join(format!("{at}.rs"));
    let files: Vec<PathBuf> = (0..FILES.len()).map(path).collect();
    files.iter().zip(FILES).for_each(|(path, text)| fs::write(path, text).unwrap());
    (folder, files)
}

fn request(jobs: usize, progress: &(dyn Fn(usize, usize) + Sync)) -> Request<'_> {
    let worker = WorkerCommand { program: "/nowhere".into(), arguments: vec![] };
    let time_limit = Duration::from_secs(60);
    let (paths, cache, seen_flags) = (vec![], None, &|_: &Path| None);
    Request { paths, cache, worker, jobs, time_limit, seen_flags, progress }
}

/// All that comes of reading: what was read, what is kept of it for another time, and the files that were told to be done.
fn read(files: &[PathBuf], room: usize, jobs: usize) -> (String, BTreeMap<String, Vec<u8>>, usize) {
    let (folder, done) = (tempfile::tempdir().unwrap(), AtomicUsize::new(0));
    let progress = |now, _| {
        done.fetch_max(now, Relaxed);
    };
    let (cache, mut sources) = (Cache::at(Some(folder.path())), Sources::default());
    read_all_with(room, &request(jobs, &progress), files, &cache, &mut sources);
    let kept = fs::read_dir(folder.path()).unwrap().flatten().map(|file| {
        (file.file_name().to_string_lossy().into_owned(), fs::read(file.path()).unwrap())
    });
    (format!("{sources:?}"), kept.collect(), done.into_inner())
}

#[test]
fn trees_are_kept_only_while_there_is_room_for_them() {
    let (_folder, files) = sources();
    let (cache, request) = (Cache::at(None), request(1, &|_, _| {}));
    let room = Room::of(FILES[0].len() + FILES[2].len());
    let (next, steps) = Default::default();
    let reading = Reading { request: &request, files: &files, cache: &cache, room, next, steps };
    let mut thread = Thread::new(&reading);
    let looks: Vec<Look> =
        files.iter().enumerate().map(|(at, path)| thread.look_at(at, path)).collect();
    let kept: Vec<usize> = thread.parsed.iter().map(|(at, _)| *at).collect();
    assert_eq!(kept, [0, 2, 5], "the second is larger than what is left");
    let again: Vec<bool> = looks.iter().map(|look| look.bytes.is_some()).collect();
    assert_eq!(again, [false, true, false, true, false, false]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn the_same_comes_of_any_room(room in prop_oneof![Just(0), 0_usize..1_500], jobs in 1_usize..4) {
        let (_folder, files) = sources();
        let all = read(&files, usize::MAX, 1);
        prop_assert!(all.0.contains("Local::x") && all.0.contains("Queue::open"));
        prop_assert_eq!((all.1.len(), all.2), (FILES.len(), FILES.len()));
        prop_assert_eq!(read(&files, room, jobs), all);
    }
}
