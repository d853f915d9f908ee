//! Bubble sort by several threads on one array: each thread goes through it again and again, and exchanges
//! neighbours that are in the wrong order, until a whole pass exchanges nothing.
//!
//! Every element is an atomic, and only one thread at a time exchanges. But the left one of a pair is read before: of two threads
//! at neighbouring pairs, one writes back a value that the other has moved, and elements are lost or doubled.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::thread;

struct Sorter {
    items: Vec<AtomicU32>,
    passes: AtomicUsize,
    exchange: Mutex<()>,
}

impl Sorter {
    fn new(length: u32) -> Self {
        let items = (0..length).map(|n| AtomicU32::new((n * 7919 + 13) % length)).collect();
        Self { items, passes: AtomicUsize::new(0), exchange: Mutex::new(()) }
    }

    /// Exchanges the item at `at` with the next one if they are in the wrong order.
    fn order_pair(&self, at: usize) -> bool {
        let early = cfg!(feature = "fixed").then(|| self.exchange.lock().unwrap());
        let left = self.items[at].load(Ordering::SeqCst); /* BUG: 1 */
        let _alone = early.unwrap_or_else(|| self.exchange.lock().unwrap());
        let right = self.items[at + 1].load(Ordering::SeqCst);
        if left <= right {
            return false;
        }
        self.put(at, right);
        self.put(at + 1, left);
        true
    }

    #[inline(never)]
    fn put(&self, at: usize, item: u32) {
        self.items[at].store(item, Ordering::SeqCst); /* BUG: 2, 3 */
    }

    fn pass(&self) -> bool {
        let mut exchanged = false;
        for at in 0..self.items.len() - 1 {
            exchanged |= self.order_pair(at);
        }
        self.passes.fetch_add(1, Ordering::Relaxed);
        exchanged
    }

    fn sort(&self) {
        let limit = 4 * self.items.len();
        for _ in 0..limit {
            if !self.pass() {
                break;
            }
        }
    }

    fn values(&self) -> Vec<u32> {
        self.items.iter().map(|item| item.load(Ordering::SeqCst)).collect()
    }
}

/// A worker joins in when it has done what it had to do before.
fn get_ready(rounds: u32) -> u32 {
    std::hint::black_box(
        (0..rounds).fold(1u32, |state, round| (state ^ round).wrapping_mul(0x0100_0193)),
    )
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let length = arguments.next().unwrap_or(40);
    let delay = arguments.next().unwrap_or(4000);
    let sorter = Sorter::new(length);
    thread::scope(|threads| {
        for worker in 0..2 {
            let sorter = &sorter;
            threads.spawn(move || {
                get_ready(worker * delay);
                sorter.sort();
            });
        }
    });
    println!("{} passes: {:?}", sorter.passes.load(Ordering::Relaxed), sorter.values());
    if sorter.values() != (0..length).collect::<Vec<_>>() {
        eprintln!("FAILED: that is not the array, sorted");
        std::process::exit(1);
    }
}
