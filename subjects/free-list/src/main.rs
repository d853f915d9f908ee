//! A pool of blocks without any lock: the free ones form a list, and its head is an atomic that is exchanged only if
//! it is still what it was. One thread takes two blocks at a time, joins them and gives one back; another one takes
//! a block for its report.
//!
//! Who takes a block looks at the first of the list and at the one behind it, and makes that one the head. When the
//! first has been taken and given back meanwhile, the exchange succeeds although the one behind it is another by
//! now: a block becomes the head of the free ones that is in use (known as ABA).

use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize};
use std::thread;

/// In place of a block's number: there is none.
const NONE: u32 = u32::MAX;
const WORDS: usize = 2048;

struct Block {
    next: AtomicU32,
    in_use: AtomicU32,
    words: Vec<AtomicU32>,
}

impl Block {
    fn blank() -> Self {
        let words = (0..WORDS).map(|_| AtomicU32::new(0)).collect();
        Self { next: AtomicU32::new(NONE), in_use: AtomicU32::new(0), words }
    }

    /// Are the first words still as blank as those of a free block are? By their checksum.
    fn is_blank(&self, words: usize) -> bool {
        let words = self.words[..words].iter().map(|word| word.load(Relaxed));
        words.fold(0, |sum: u32, word| (sum ^ word).wrapping_mul(0x0100_0193)) == 0
    }

    fn fill(&self, text: u32, words: usize) {
        for (place, word) in self.words[..words].iter().zip(text..) {
            place.store(word | 1, Relaxed);
        }
    }

    fn wipe(&self, words: usize) {
        self.words[..words].iter().for_each(|word| word.store(0, Relaxed));
    }
}

/// Rounds of waiting after an exchange that failed.
const BACK_OFF: u32 = 20_000;

struct Pool {
    blocks: Vec<Block>,
    /// The number of the first free block; above it, in the fixed twin, how often the head has changed.
    head: AtomicU64,
    not_blank: AtomicUsize,
    taken_twice: AtomicU32,
}

impl Pool {
    fn new(blocks: u32) -> Self {
        let pool = Self {
            blocks: (0..blocks).map(|_| Block::blank()).collect(),
            head: AtomicU64::new(u64::from(NONE)),
            not_blank: AtomicUsize::new(0),
            taken_twice: AtomicU32::new(0),
        };
        (0..blocks).rev().for_each(|block| pool.give_back(block));
        pool
    }

    fn block(&self, number: u32) -> &Block {
        &self.blocks[number as usize]
    }

    /// A free block that is blank, as far as it is wanted.
    fn take(&self, words: usize) -> Option<u32> {
        loop {
            let head = self.head.load(Acquire);
            let first = number_in(head);
            if first == NONE {
                return None;
            }
            let block = self.block(first);
            let next = block.next.load(Relaxed);
            // What was read belongs together only if this is the first block still.
            if self.head.load(Acquire) /* BUG: 1 */ != head {
                continue;
            }
            let blank = block.is_blank(words);
            let new = head_after(head, next);
            let exchanged = self.head.compare_exchange(head, new, AcqRel, Relaxed); /* BUG: 3 */
            if exchanged.is_ok() {
                self.taken_twice.fetch_add(block.in_use.swap(1, Relaxed), Relaxed);
                self.not_blank.fetch_add(usize::from(!blank), Relaxed);
                return Some(first);
            }
            // Somebody is at the list: let it go on for a while.
            std::hint::black_box(compute(first, BACK_OFF));
        }
    }

    fn give_back(&self, number: u32) {
        let block = self.block(number);
        block.in_use.store(0, Relaxed);
        loop {
            let head = self.head.load(Relaxed);
            block.next.store(number_in(head), Relaxed);
            let new = head_after(head, number);
            let exchanged = self.head.compare_exchange(head, new, AcqRel, Relaxed); /* BUG: 2 */
            if exchanged.is_ok() {
                return;
            }
        }
    }

    /// Is a block among the free ones although somebody has it?
    fn has_one_free_and_in_use(&self) -> bool {
        let mut at = number_in(self.head.load(Acquire));
        while at != NONE {
            if self.block(at).in_use.load(Relaxed) == 1 {
                return true;
            }
            at = self.block(at).next.load(Relaxed);
        }
        false
    }
}

fn number_in(head: u64) -> u32 {
    head as u32
}

#[cfg(not(feature = "fixed"))]
fn head_after(_before: u64, number: u32) -> u64 {
    u64::from(number)
}

#[cfg(feature = "fixed")]
fn head_after(before: u64, number: u32) -> u64 {
    ((before >> 32) + 1) << 32 | u64::from(number)
}

fn compute(seed: u32, rounds: u32) -> u32 {
    (0..rounds).fold(seed, |value, round| (value ^ round).wrapping_mul(0x0100_0193))
}

/// Two small messages become one, the block of the first is free again; so many times.
fn join_messages(pool: &Pool, times: u32, rounds: u32) -> Option<u32> {
    let mut sum = 0;
    for time in 0..times {
        let first = pool.take(8)?;
        let second = pool.take(8)?;
        pool.block(first).fill(time, 8);
        pool.block(second).fill(time, 8);
        pool.block(first).wipe(8);
        pool.give_back(first);
        sum ^= compute(time, rounds);
    }
    Some(sum)
}

/// The report needs a whole block.
fn report(pool: &Pool, rounds: u32) -> Option<u32> {
    let text = compute(7, rounds);
    let block = pool.take(WORDS)?;
    pool.block(block).fill(text, WORDS);
    Some(block)
}

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let times = numbers.next().unwrap_or(80);
    let rounds = numbers.next().unwrap_or(6_000);
    let pool = Pool::new(times + 3);
    let (joined, report) = thread::scope(|threads| {
        let joining = threads.spawn(|| join_messages(&pool, times, rounds));
        let reporting = threads.spawn(|| report(&pool, times / 2 * rounds));
        (joining.join().unwrap(), reporting.join().unwrap())
    });
    let not_blank = pool.not_blank.load(Relaxed);
    println!("messages {joined:?}, report {report:?}; {not_blank} blocks were not blank");
    if pool.taken_twice.load(Relaxed) > 0 || pool.has_one_free_and_in_use() {
        eprintln!("FAILED: a block is free and in use");
        std::process::exit(1);
    }
}
