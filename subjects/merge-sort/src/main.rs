//! Merge sort by a worker per section, which hands half of it over to a helper thread, as long as there are helpers. A supervisor keeps
//! an eye on how many of them are at work.
//!
//! To reserve a helper the count of free ones goes down, and up again if there was none. Each step is locked, but
//! the supervisor can look in between and see fewer than none.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;

const HELPERS: i64 = 2;

struct Helpers {
    free: Mutex<i64>,
    hired: AtomicI64,
    refused: AtomicI64,
}

impl Helpers {
    #[cfg(not(feature = "fixed"))]
    fn reserve(&self) -> bool {
        let left = {
            let mut free = self.free.lock().unwrap();
            *free -= 1; /* BUG: 1 */
            *free
        };
        if left >= 0 {
            self.hired.fetch_add(1, Ordering::Relaxed);
            return true;
        }
        self.refused.fetch_add(1, Ordering::Relaxed);
        *self.free.lock().unwrap() += 1; /* BUG: 3 */
        false
    }

    #[cfg(feature = "fixed")]
    fn reserve(&self) -> bool {
        let mut free = self.free.lock().unwrap();
        if *free == 0 {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return false;
        }
        *free -= 1;
        self.hired.fetch_add(1, Ordering::Relaxed);
        true
    }

    fn release(&self) {
        *self.free.lock().unwrap() += 1;
    }

    fn free(&self) -> i64 {
        let free = self.free.lock().unwrap();
        *free /* BUG: 2 */
    }
}

fn merge(left: &[u32], right: &[u32], into: &mut Vec<u32>) {
    let (mut l, mut r) = (0, 0);
    while l < left.len() && r < right.len() {
        if left[l] <= right[r] {
            into.push(left[l]);
            l += 1;
        } else {
            into.push(right[r]);
            r += 1;
        }
    }
    into.extend_from_slice(&left[l..]);
    into.extend_from_slice(&right[r..]);
}

fn sorted(items: &[u32]) -> Vec<u32> {
    if items.len() < 2 {
        return items.to_vec();
    }
    let (left, right) = items.split_at(items.len() / 2);
    let mut into = Vec::with_capacity(items.len());
    merge(&sorted(left), &sorted(right), &mut into);
    into
}

/// A worker's part: half of it goes to a helper, if there is one.
fn sort_section(items: &[u32], helpers: &Helpers) -> Vec<u32> {
    if !helpers.reserve() {
        return sorted(items);
    }
    let (left, right) = items.split_at(items.len() / 2);
    let (left, right) = thread::scope(|threads| {
        let helper = threads.spawn(|| sorted(left));
        let right = sorted(right);
        (helper.join().unwrap(), right)
    });
    helpers.release();
    let mut into = Vec::with_capacity(items.len());
    merge(&left, &right, &mut into);
    into
}

fn sort(items: &[u32], helpers: &Helpers, sections: usize) -> Vec<u32> {
    let parts: Vec<Vec<u32>> = thread::scope(|threads| {
        let parts = items.chunks(items.len().div_ceil(sections));
        let workers: Vec<_> =
            parts.map(|part| threads.spawn(|| sort_section(part, helpers))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    parts.iter().fold(Vec::new(), |sum, part| {
        let mut into = Vec::with_capacity(sum.len() + part.len());
        merge(&sum, part, &mut into);
        into
    })
}

/// The most helpers that were ever seen at work.
fn supervise(helpers: &Helpers, done: &AtomicBool) -> i64 {
    let mut most = 0;
    let mut patience = 1u32;
    while !done.load(Ordering::SeqCst) {
        for step in 0..100 {
            patience = std::hint::black_box((patience ^ step).wrapping_mul(0x0100_0193));
        }
        most = most.max(HELPERS - helpers.free());
    }
    most
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let length = arguments.next().unwrap_or(4_000);
    let sections = arguments.next().unwrap_or(8);
    let items: Vec<u32> = (0..length as u32).map(|n| n.wrapping_mul(2_654_435_761) >> 8).collect();
    let helpers =
        Helpers { free: Mutex::new(HELPERS), hired: AtomicI64::new(0), refused: AtomicI64::new(0) };
    let done = AtomicBool::new(false);
    let (sorted, most) = thread::scope(|threads| {
        let supervisor = threads.spawn(|| supervise(&helpers, &done));
        let sorted = sort(&items, &helpers, sections);
        done.store(true, Ordering::SeqCst);
        (sorted, supervisor.join().unwrap())
    });
    let hired = helpers.hired.load(Ordering::Relaxed);
    let refused = helpers.refused.load(Ordering::Relaxed);
    println!("{} items, {hired} helpers hired, {refused} refused", sorted.len());
    assert!(sorted.is_sorted(), "the items are not sorted");
    if most > HELPERS {
        eprintln!("FAILED: {most} helpers seen at work, there are only {HELPERS}");
        std::process::exit(1);
    }
}
