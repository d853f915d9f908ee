//! Rust files that have not changed are not parsed again, and nobody can tell by the result.

mod rust_support;

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use proptest::prelude::*;
use rust_support::read_folder;
use tempfile::TempDir;
use unpick_correlations::{Request, Sources, WorkerCommand, read_sources};

const QUEUE: &str = "
    pub struct Queue { items: Vec<Job>, open: bool, next: usize }
    impl Queue {
        fn push(&mut self, job: Job) { self.items.push(job); self.next += 1; }
        fn run(&mut self) { if self.open { self.items[0].done = true; } }
    }";
const JOB: &str = "
    pub struct Job { done: bool, state: State }
    pub type State = Phase;
    enum Phase { Idle, Busy { since: u64 } }
    fn reset(job: &mut Job) { job.done = false; helper(); }
    fn helper() { COUNT.fetch_add(1, Relaxed); }
    static COUNT: AtomicUsize = AtomicUsize::new(0);";
const USER: &str = "
    fn user(queue: &mut Queue, job: &Job) {
        queue.open = job.done;
        if let Phase::Busy { since } = &job.state { queue.next = *since as usize; }
        helper();
    }
    fn helper() {}";

/// Sources, and a cache beside them.
struct Scene {
    sources: TempDir,
    cache: TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene =
            Self { sources: tempfile::tempdir().unwrap(), cache: tempfile::tempdir().unwrap() };
        scene.write("job.rs", JOB);
        scene.write("queue.rs", QUEUE);
        scene.write("user.rs", USER);
        scene
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.sources.path().join(name), text).unwrap();
    }

    fn remove(&self, name: &str) {
        fs::remove_file(self.sources.path().join(name)).unwrap();
    }

    fn read(&self) -> Sources {
        read_folder(self.sources.path(), Some(self.cache.path()), 3)
    }

    /// Reads with the cache, and by one thread without: how many files were as before.
    #[track_caller]
    fn unchanged(&self) -> usize {
        let with = self.read();
        assert_same(&with, &read_folder(self.sources.path(), None, 1));
        with.files_unchanged
    }
}

#[track_caller]
fn assert_same(one: &Sources, other: &Sources) {
    assert_eq!(one.sets, other.sets);
    assert_eq!(one.missing, other.missing);
    assert_eq!((one.files, one.lines), (other.files, other.lines));
}

#[test]
fn the_second_time_nothing_is_parsed() {
    let scene = Scene::new();
    assert_eq!(scene.unchanged(), 0);
    assert_eq!(scene.unchanged(), 3);
}

#[test]
fn who_edits_a_body_has_one_file_parsed() {
    let scene = Scene::new();
    scene.read();
    scene.write("queue.rs", QUEUE.replace("self.next += 1", "self.open = true;\n self.next = 2"));
    assert_eq!(scene.unchanged(), 2);
    assert_eq!(scene.unchanged(), 3);
}

#[test]
fn who_edits_a_declaration_has_those_files_parsed_that_ask_for_it() {
    for (before, after, others) in [
        ("done: bool", "finished: bool", 0),
        ("done: bool", "done: Vec<bool>", 0),
        // The queue asks for no job's state.
        ("State = Phase", "State = Job", 1),
        ("Busy { since: u64 }", "Busy { until: u64 }", 1),
        // The queue has a function of its own by that name.
        ("static COUNT", "fn push() {} static COUNT", 2),
        ("static COUNT", "static items: u8 = 0; static COUNT", 2),
        ("static COUNT", "struct Other { open: bool, next: u8 } static COUNT", 2),
        ("static COUNT", "static job: u8 = 0; static COUNT", 2),
        ("fn helper()", "fn helper() -> Queue", 2),
    ] {
        let scene = Scene::new();
        scene.read();
        let edited = JOB.replace(before, after);
        assert_ne!(edited, JOB);
        scene.write("job.rs", edited);
        assert_eq!(scene.unchanged(), others, "{after}");
        assert_eq!(scene.unchanged(), 3, "{after}");
    }
}

/// The file that stays, the other before, and what is added to the other.
const ADDED: [(&str, &str, &str); 9] = [
    ("fn u(v: V) { let P { x } = v; }", "", "struct P { x: u8 }"),
    ("fn u(v: V) { let Short { x } = v; }", "struct P { x: u8 }", "type Short = P;"),
    ("fn u(v: V) { if let Circle { r } = v {} }", "", "enum Shape { Circle { r: u8 } }"),
    ("fn u(p: P) { p.x = 1; }", "struct P { y: u8 }", "struct P { x: u8 }"),
    ("fn u() { some().x = 1; }", "struct P { x: u8 }", "struct Q { x: u8 }"),
    ("fn u() { GONE.store(1, Relaxed); }", "", "static GONE: AtomicUsize = AtomicUsize::new(0);"),
    ("fn u() { make().x = 1; }", "struct P { x: u8 } struct Q { x: u8 }", "fn make() -> P {}"),
    ("fn u(p: P) { p.x.poke(); }", "struct P { x: Q }", "impl Q { fn poke(&mut self) {} }"),
    ("fn u(p: P) { p.x.y = 1; }", "struct P { x: Q } struct R { y: u8 }", "type Q = R;"),
];

#[test]
fn what_was_asked_for_in_vain_counts_when_it_is_declared() {
    for (stays, before, added) in ADDED {
        let scene = Scene::new();
        scene.write("asks.rs", stays);
        scene.write("declares.rs", before);
        let sets_of_asking = |sources: Sources| {
            sources.sets.into_iter().find(|sets| sets.files[0].ends_with("asks.rs")).unwrap()
        };
        let first = sets_of_asking(scene.read());
        scene.write("declares.rs", format!("{before}\n{added}"));
        assert_eq!(scene.unchanged(), 3, "{added}");
        let second = sets_of_asking(scene.read());
        assert_ne!(first.functions, second.functions, "{added}");
    }
}

#[test]
fn a_change_of_types_shows_in_files_that_did_not_change() {
    let scene = Scene::new();
    let variables = |sources: &Sources| {
        let user = sources.sets.iter().find(|sets| sets.files[0].ends_with("user.rs")).unwrap();
        user.variables.clone()
    };
    assert!(variables(&scene.read()).contains(&"Job::done".to_owned()));
    scene.write("job.rs", JOB.replace("done: bool", "finished: bool"));
    assert!(!variables(&scene.read()).contains(&"Job::done".to_owned()));
}

#[test]
fn files_come_and_go_and_functions_by_one_name_are_told_apart() {
    let scene = Scene::new();
    scene.read();
    scene.write("another.rs", "fn helper() { COUNT.load(Relaxed); }\nfn call() { helper(); }");
    assert_eq!(scene.unchanged(), 3);
    assert_eq!(scene.unchanged(), 4);
    scene.remove("another.rs");
    assert_eq!(scene.unchanged(), 3);
    scene.write("another.rs", "struct Other { done: bool }");
    assert_eq!(scene.unchanged(), 3, "all that ask for it know of whose type");
    scene.remove("job.rs");
    assert_eq!(scene.unchanged(), 1);
}

#[test]
fn files_that_do_not_parse_are_told_each_time_and_tried_once() {
    let scene = Scene::new();
    scene.write("lost.rs", "fn f( {");
    scene.write("latin.rs", b"fn f() { let x = \"\xff\"; }");
    scene.write("partly.rs", "fn f(q: &mut Queue) { q.open = true; }\nfn g( {\n");
    scene.write("empty.rs", "");
    let first = scene.read();
    assert_eq!(first.missing.len(), 3, "{:?}", first.missing);
    assert_eq!(scene.unchanged(), 7);
    scene.write("partly.rs", "fn f(q: &mut Queue) { q.open = false; }\nfn g( {\n\n");
    assert_eq!(scene.unchanged(), 6);
    scene.write("lost.rs", "fn f() {}");
    assert_eq!(scene.unchanged(), 6);
}

#[test]
fn what_is_kept_and_damaged_is_ignored_and_replaced() {
    let scene = Scene::new();
    scene.read();
    let kept: Vec<_> = fs::read_dir(scene.cache.path()).unwrap().flatten().collect();
    assert_eq!(kept.len(), 3);
    type Damage = fn(&mut Vec<u8>);
    let damages: [Damage; 4] = [
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| *bytes.last_mut().unwrap() = b' ',
        |bytes| {
            let at = bytes.windows(5).position(|word| word == b"false").unwrap();
            bytes[at..at + 5].copy_from_slice(b"true ");
        },
        |bytes| bytes.clear(),
    ];
    for damage in damages {
        let path = kept[1].path();
        let mut bytes = fs::read(&path).unwrap();
        damage(&mut bytes);
        fs::write(&path, bytes).unwrap();
        assert_eq!(scene.unchanged(), 2);
        assert_eq!(scene.unchanged(), 3);
    }
}

#[test]
fn without_a_folder_to_write_to_all_is_read_each_time() {
    let scene = Scene::new();
    let file = scene.cache.path().join("file");
    fs::write(&file, "").unwrap();
    for _ in 0..2 {
        let sources = read_folder(scene.sources.path(), Some(&file), 2);
        assert_same(&sources, &read_folder(scene.sources.path(), None, 1));
        assert_eq!(sources.files_unchanged, 0);
    }
}

/// The last word about progress.
fn last_told(folder: &Path, cache: &Path) -> (usize, usize) {
    let last = Mutex::new((0, 0));
    read_sources(&Request {
        paths: vec![folder.to_path_buf()],
        cache: Some(cache.to_path_buf()),
        worker: WorkerCommand { program: "/nowhere".into(), arguments: vec![] },
        jobs: 2,
        time_limit: Duration::from_secs(60),
        seen_flags: &|_| None,
        progress: &|done, all| {
            let mut last = last.lock().unwrap();
            *last = (last.0.max(done), all);
        },
    })
    .unwrap();
    last.into_inner().unwrap()
}

#[test]
fn progress_ends_with_all_files() {
    let scene = Scene::new();
    let last = || last_told(scene.sources.path(), scene.cache.path());
    scene.write("lost.rs", "fn f( {");
    assert_eq!(last(), (4, 4));
    scene.write("user.rs", USER.replace("helper();", ""));
    assert_eq!(last(), (4, 4), "one is parsed");
    scene.write("job.rs", JOB.replace("done: bool", "finished: bool"));
    assert_eq!(last(), (4, 4), "all are parsed");
}

/// Parts of files: types that fit to each other or not, and bodies that ask for them.
const PARTS: [&str; 12] = [
    "struct A { x: u32, y: B }\n",
    "struct A { x: Vec<B>, z: u32 }\n",
    "struct B { x: u32, w: A }\n",
    "type B = A;\n",
    "enum E { V { x: u32 }, W(A) }\n",
    "static N: Mutex<A> = Mutex::new(A);\n",
    "impl A { fn get(&mut self) -> &mut B { self.x = 1; &mut self.y } }\n",
    "impl A { fn get(&self) -> u32 { self.z } }\n",
    "fn f(a: &mut A) { a.get().w.x = 1; a.y.x += 2; g(); }\n",
    "fn g() { let n = N.lock().unwrap(); n.x = n.z; unknown().w = 1; }\n",
    "fn f(e: E) { if let E::V { x } = e { N.lock().unwrap().z = x; } }\n",
    "fn broken( {\n",
];

fn file() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PARTS[..]), 0..4).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_edited_the_cache_does_not_show(
        edits in prop::collection::vec((0_usize..4, prop::option::weighted(0.8, file())), 1..10),
    ) {
        let scene = Scene::new();
        for (number, text) in edits {
            let name = format!("{number}.rs");
            match text {
                Some(text) => scene.write(&name, text),
                None => drop(fs::remove_file(scene.sources.path().join(name))),
            }
            scene.unchanged();
        }
    }
}
