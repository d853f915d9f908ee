//! A bounded fuzz test on stable Rust: seeded mutations of the files in `corpus/` and `golden/`.
//!
//! The open-ended one is in `fuzz/` (cargo-fuzz); what it finds goes into `corpus/`.

mod exercise;

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use exercise::exercise;
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng;
use unpick_events::file::{CHECKED_BYTES, file_field, fnv1a};

const ROUNDS: usize = 1500;
const MOST_MUTATIONS: usize = 6;
/// Where fields and events are; the rest of a small file is zeros.
const INTERESTING: Range<usize> = 4096..5500;

fn corpus() -> Vec<(PathBuf, Vec<u8>)> {
    let crate_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["corpus", "golden"].map(|name| crate_folder.join(name));
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_none_or(|extension| extension != "txt"));
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn every_file_of_the_corpus_is_read_without_harm() {
    for (path, bytes) in corpus() {
        eprintln!("{}", path.display());
        exercise(&bytes);
    }
}

#[test]
fn mutated_recordings_are_read_without_harm() {
    let mut chance = Chance(TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let corpus = corpus();
    let mut readable = 0;
    for _ in 0..ROUNDS {
        let (_, original) = &corpus[chance.below(corpus.len())];
        let mut bytes = original.clone();
        for _ in 0..=chance.below(MOST_MUTATIONS) {
            mutate(&mut bytes, &mut chance);
        }
        // Most mutants get past the checksum: what lies behind it is what can go wrong.
        if chance.below(8) > 0 && bytes.len() > 64 {
            let sum = fnv1a(&bytes[..CHECKED_BYTES]);
            bytes[file_field::CHECKSUM..][..8].copy_from_slice(&sum.to_le_bytes());
        }
        readable += usize::from(exercise(&bytes));
    }
    assert!(readable > ROUNDS / 4, "only {readable} mutants of {ROUNDS} reached the events");
}

struct Chance(TestRng);

impl Chance {
    fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }

    /// A value that sits at some border.
    fn border(&mut self) -> u64 {
        let borders =
            [0, 1, 2, 3, 7, 4095, 4096, 0xffff, u64::MAX >> 16, 1 << 47, u64::MAX >> 1, u64::MAX];
        borders[self.below(borders.len())]
    }

    /// A place in the file, mostly where something is.
    fn place(&mut self, length: usize) -> usize {
        match self.below(8) {
            0 => self.below(length),
            1 => self.below(128.min(length)),
            2 => (self.below(length) & !4095) + self.below(32),
            _ => INTERESTING.start + self.below(INTERESTING.len()),
        }
    }
}

fn mutate(bytes: &mut Vec<u8>, chance: &mut Chance) {
    if bytes.is_empty() {
        return bytes.push(chance.number() as u8);
    }
    let at = chance.place(bytes.len()).min(bytes.len() - 1);
    match chance.below(10) {
        0 => bytes[at] ^= 1 << chance.below(8),
        1 => bytes[at] = chance.number() as u8,
        2 => put(bytes, at & !7, chance.border()),
        3 => put(bytes, at & !7, chance.number()),
        4 => {
            let word = chance.number() as u32;
            put_u32(bytes, at & !3, word);
        }
        5 => bytes.truncate(at),
        6 => {
            let end = (at + chance.below(64)).min(bytes.len());
            bytes[at..end].fill(0);
        }
        7 => copy_within(bytes, at & !7, chance),
        8 => {
            let page = bytes[at & !4095..].iter().take(4096).copied().collect::<Vec<_>>();
            bytes.extend(page);
            let end = bytes.len() as u64;
            put(bytes, file_field::CHUNKS_END, end);
        }
        _ => swap_kind(bytes, at & !7, chance),
    }
}

fn put(bytes: &mut [u8], at: usize, word: u64) {
    bytes.iter_mut().skip(at).zip(word.to_le_bytes()).for_each(|(byte, new)| *byte = new);
}

fn put_u32(bytes: &mut [u8], at: usize, word: u32) {
    bytes.iter_mut().skip(at).zip(word.to_le_bytes()).for_each(|(byte, new)| *byte = new);
}

fn copy_within(bytes: &mut [u8], from: usize, chance: &mut Chance) {
    let length = (8 * (1 + chance.below(16))).min(bytes.len() - from);
    let to = chance.below(bytes.len() - length) & !7;
    bytes.copy_within(from..from + length, to);
}

/// Makes a word the first of an event of some kind.
fn swap_kind(bytes: &mut [u8], at: usize, chance: &mut Chance) {
    let kinds = unpick_events::Kind::ALL;
    let kind = kinds[chance.below(kinds.len())] as u8;
    bytes[at] = kind;
    if let Some(length) = bytes.get_mut(at + 1) {
        *length = 3 + chance.below(6) as u8;
    }
}
