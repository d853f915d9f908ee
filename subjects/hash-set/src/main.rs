//! A set of words in a hash table, every method locked. Several readers go through the same book and put its words
//! into the set, unless they are there already.
//!
//! "Unless" is one call and "put" the next. Two readers who come to a word at the same time both find it missing,
//! and then the set holds it twice.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use unpick_breakpoint::{Breakpoint, step, trigger};

const BUCKETS: usize = 256;
/// In place of a node's number: the bucket ends here.
const END: usize = usize::MAX;

struct Node {
    word: u32,
    code: u32,
    next: usize,
}

struct Table {
    heads: [usize; BUCKETS],
    nodes: Vec<Node>,
    size: usize,
}

impl Table {
    /// Is the word in this node, or in one behind it?
    fn has_behind(&self, first: usize, word: u32) -> bool {
        let mut at = first;
        while at != END && self.nodes[at].word != word {
            at = self.nodes[at].next;
        }
        at != END
    }
}

struct HashSet {
    table: Mutex<Table>,
    lookups: AtomicUsize,
    whole: Mutex<()>,
}

impl HashSet {
    fn new() -> Self {
        let table = Table { heads: [END; BUCKETS], nodes: Vec::new(), size: 0 };
        Self { table: Mutex::new(table), lookups: AtomicUsize::new(0), whole: Mutex::new(()) }
    }

    fn contains(&self, word: u32) -> bool {
        self.lookups.fetch_add(1, Ordering::Relaxed);
        let table = self.table.lock().unwrap();
        let first = table.heads[bucket(word)]; /* BUG: 1 */
        table.has_behind(first, word)
    }

    fn put(&self, word: u32, code: u32) {
        let mut table = self.table.lock().unwrap();
        let first = table.heads[bucket(word)]; /* BUG: 3 */
        let node = table.nodes.len();
        table.nodes.push(Node { word, code, next: first });
        table.heads[bucket(word)] = node; /* BUG: 2 */
        table.size += 1;
    }

    fn add(&self, word: u32) -> bool {
        let _whole = cfg!(feature = "fixed").then(|| self.whole.lock().unwrap());
        // The reader who comes from the end is there well before the other one.
        let is_watched = word == 40;
        let step = step!(
            Breakpoint::atomicity("put-twice", self)
                .intruder()
                .when(|| is_watched)
                .pause(Duration::ZERO)
        );
        if self.contains(word) {
            return false;
        }
        let intrudes = step.is_hit();
        let is_met = || is_watched && !intrudes;
        trigger!(Breakpoint::atomicity("put-twice", self).gap().when(is_met).bound(1));
        self.put(word, spell(word, 1500));
        step.done();
        true
    }

    fn size(&self) -> usize {
        self.table.lock().unwrap().size
    }

    fn codes(&self) -> u32 {
        self.table.lock().unwrap().nodes.iter().fold(0, |codes, node| codes ^ node.code)
    }
}

fn bucket(word: u32) -> usize {
    word as usize % BUCKETS
}

fn spell(word: u32, rounds: u32) -> u32 {
    std::hint::black_box(
        (0..rounds).fold(word, |hash, round| (hash ^ round).wrapping_mul(0x0100_0193)),
    )
}

/// The first reader begins at the beginning of the book, the other at its end.
fn read(set: &HashSet, reader: u32, words: u32, rounds: u32) -> u32 {
    let mut new = 0;
    for step in 0..words {
        let word = if reader == 0 { step } else { words - 1 - step };
        if spell(word, rounds) != 0 {
            new += u32::from(set.add(word));
        }
    }
    new
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let words = arguments.next().unwrap_or(50).min(BUCKETS as u32);
    let rounds = arguments.next().unwrap_or(8000);
    let set = HashSet::new();
    let new: u32 = thread::scope(|threads| {
        let set = &set;
        let readers: Vec<_> =
            (0..2).map(|reader| threads.spawn(move || read(set, reader, words, rounds))).collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).sum()
    });
    println!(
        "{words} words, {new} put, codes {:08x}, {} lookups",
        set.codes(),
        set.lookups.load(Ordering::Relaxed)
    );
    if set.size() != words as usize {
        eprintln!("FAILED: the set says that it has {} words", set.size());
        std::process::exit(1);
    }
}
