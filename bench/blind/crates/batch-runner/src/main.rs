//! Batches on a thread pool: submit the parts of a batch, wait for the pool to become idle,
//! check the result, go on with the next batch.

use rusty_pool::ThreadPool;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const BATCHES: u64 = 60;
const PARTS: u64 = 3;

#[derive(Default)]
struct Batch {
    finished: AtomicU64,
    sums: Mutex<Vec<(u64, u64)>>,
}

fn part_sum(batch: u64, part: u64) -> u64 {
    let mut x = batch * 1000 + part + 1;
    let mut sum = 0u64;
    for _ in 0..400 + 150 * part {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        sum = sum.wrapping_add(x);
    }
    sum
}

fn main() {
    let pool = ThreadPool::new(2, 2, Duration::from_secs(60));
    let mut total = 0u64;
    for number in 0..BATCHES {
        let batch = Arc::new(Batch::default());
        for part in 0..PARTS {
            let batch = batch.clone();
            pool.execute(move || {
                let sum = part_sum(number, part);
                batch.sums.lock().unwrap().push((part, sum));
                batch.finished.fetch_add(1, Ordering::SeqCst);
            });
        }
        let own = part_sum(number, PARTS);
        pool.join();
        let mut sums = batch.sums.lock().unwrap();
        sums.sort_unstable();
        for &(part, sum) in sums.iter() {
            assert_eq!(sum, part_sum(number, part), "part {part} of batch {number}");
            total = total.wrapping_add(sum);
        }
        total = total.wrapping_add(own);
    }
    println!("{BATCHES} batches, total {total:016x}");
}
