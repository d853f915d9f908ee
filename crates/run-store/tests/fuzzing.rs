//! A bounded fuzz test on stable Rust: seeded mutations of the archives in `corpus/`.
//!
//! The open-ended one is in `fuzz/` (cargo-fuzz); what it finds goes into `corpus/`.

mod exercise;
mod packed;

use std::fs;
use std::path::{Path, PathBuf};

use exercise::exercise;
use packed::packed;
use proptest::test_runner::{RngAlgorithm, TestRng};
use rand_core::Rng;

const ROUNDS: usize = 400;
const MOST_MUTATIONS: usize = 4;
const BLOCK: usize = 512;
/// Where the header of tar has its checksum.
const SUM: std::ops::Range<usize> = 148..156;

fn corpus() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn every_archive_of_the_corpus_is_read_without_harm() {
    for (path, bytes) in corpus() {
        eprintln!("{}", path.display());
        let name = path.file_stem().unwrap().to_string_lossy();
        assert_eq!(exercise(&packed(&bytes)), name == "two-runs");
    }
}

#[test]
fn mutated_archives_are_read_without_harm() {
    let mut chance = Chance(TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let corpus = corpus();
    let mut accepted = 0;
    for _ in 0..ROUNDS {
        let (_, original) = &corpus[chance.below(corpus.len())];
        let mut bytes = original.clone();
        for _ in 0..chance.below(MOST_MUTATIONS) {
            mutate(&mut bytes, &mut chance);
        }
        // Most mutants get past the checksums of tar: what lies behind them is what can go wrong.
        if chance.below(8) > 0 {
            put_sums_right(&mut bytes);
        }
        let mut bytes = packed(&bytes);
        if chance.below(8) == 0 {
            mutate(&mut bytes, &mut chance);
        }
        accepted += usize::from(exercise(&bytes));
    }
    assert!(accepted > 0 && accepted < ROUNDS, "{accepted} mutants of {ROUNDS} were accepted");
}

struct Chance(TestRng);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() % end.max(1) as u64) as usize
    }
}

fn mutate(bytes: &mut Vec<u8>, chance: &mut Chance) {
    if bytes.is_empty() {
        return bytes.push(0);
    }
    let at = chance.below(bytes.len());
    match chance.below(6) {
        0 => bytes[at] ^= 1 << chance.below(8),
        1 => bytes[at] = chance.below(256) as u8,
        2 => bytes.truncate(at),
        3 => {
            let end = (at + chance.below(64)).min(bytes.len());
            bytes[at..end].fill(0);
        }
        4 => {
            let from = chance.below(bytes.len()) & !(BLOCK - 1);
            let block: Vec<u8> = bytes[from..].iter().take(BLOCK).copied().collect();
            let to = at & !(BLOCK - 1);
            bytes.splice(to..to, block);
        }
        // The kind of an entry, if it is a header.
        _ => {
            let header = at & !(BLOCK - 1);
            if let Some(kind) = bytes.get_mut(header + 156) {
                *kind = b"0125LKxgS"[chance.below(9)];
            }
        }
    }
}

/// Every block that looks like a header gets the checksum it should have.
fn put_sums_right(bytes: &mut [u8]) {
    for block in bytes.chunks_exact_mut(BLOCK) {
        if &block[257..262] == b"ustar" {
            block[SUM].fill(b' ');
            let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
            block[SUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        }
    }
}
