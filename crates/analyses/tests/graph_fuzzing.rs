//! A bounded fuzz test on stable Rust: seeded mutations of stored graphs. The open-ended one is in `fuzz/` (cargo-fuzz); what it
//! finds goes into `corpus/`.

mod graph_exercise;
mod traces;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use graph_exercise::exercise;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;
use traces::{record, steps};
use unpick_analyses::communication::{Collector, GraphOptions};

/// Magic and checksum.
const HEADER: usize = 16;

const TRACES: [&str; 3] = [
    "1w x 1, 2r x 2, 1w y 3, 2r y 4, 1w x 1, 2w x 2, 3r xy 5, 1u x 6, 2r x 7",
    "1w x 1, 2r x 2, 0g x 0, 2w x 3, 1r x 4",
    "1u x 1, 2u x 1, 1u x 1, 3u x 1, 2r xyz 2, 1w z 3, 3r z 4",
];

fn stored(trace: &str) -> Vec<u8> {
    let recording = record(&steps(trace));
    let mut collector = Collector::new(GraphOptions::default());
    collector.add(&recording, &recording);
    // A run of two processes.
    collector.add(&recording, &recording);
    collector.finish().to_bytes()[HEADER..].to_vec()
}

fn corpus() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// What is mutated.
static ORIGINALS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let made = TRACES.iter().map(|trace| stored(trace));
    made.chain(corpus().into_iter().map(|(_, bytes)| bytes)).collect()
});

#[test]
fn what_was_stored_is_accepted() {
    assert!(TRACES.iter().all(|trace| exercise(&stored(trace))));
    assert!(!exercise(&[]));
    for (path, bytes) in corpus() {
        let name = path.file_stem().unwrap().to_string_lossy();
        let is_good = !name.starts_with("found-by-fuzzing");
        assert_eq!(exercise(&bytes), is_good, "{name}");
    }
}

/// What a file can suffer, or somebody can do to it.
#[derive(Debug, Clone)]
enum Change {
    Byte(Index, u8),
    /// A number that is larger than any table.
    LargeNumber(Index, usize),
    Removed(Index, usize),
    /// Bytes that are somewhere else as well: a table twice, a node in another's place.
    Copied(Index, Index, usize),
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    prop_oneof![
        6 => (at(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        2 => (at(), 1..10usize).prop_map(|(at, bytes)| Change::LargeNumber(at, bytes)),
        2 => (at(), 1..9usize).prop_map(|(at, bytes)| Change::Removed(at, bytes)),
        2 => (at(), at(), 1..40usize).prop_map(|(from, to, bytes)| Change::Copied(from, to, bytes)),
        1 => at().prop_map(Change::Cut),
    ]
}

fn apply(change: &Change, bytes: &mut Vec<u8>) {
    let length = bytes.len();
    let place = |index: &Index| index.index(length.max(1)).min(length);
    match change {
        Change::Byte(at, value) => {
            if let Some(byte) = bytes.get_mut(place(at)) {
                *byte = *value;
            }
        }
        Change::LargeNumber(at, count) => {
            let large = vec![0xff; count - 1].into_iter().chain([0x01]);
            bytes.splice(place(at)..place(at), large);
        }
        Change::Removed(at, count) => {
            bytes.drain(place(at)..(place(at) + count).min(length));
        }
        Change::Copied(from, to, count) => {
            let copy = bytes[place(from)..].iter().take(*count).copied().collect::<Vec<u8>>();
            bytes.splice(place(to)..place(to), copy);
        }
        Change::Cut(at) => bytes.truncate(place(at)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        rng_seed: RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn mutated_graphs_are_read_without_harm(
        which in any::<Index>(),
        changes in prop::collection::vec(change(), 1..5),
    ) {
        let mut bytes = which.get(&ORIGINALS).clone();
        changes.iter().for_each(|change| apply(change, &mut bytes));
        exercise(&bytes);
    }
}
