//! Work-stealing pool in miniature: an owner works depth first through jobs that spawn further
//! jobs, helpers take batches from the other end. Every job has to run exactly once.

use crossbeam_deque::{Steal, Stealer, Worker};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

const JOBS: usize = 6000;
const HELPERS: usize = 2;

struct Pool {
    runs: Vec<AtomicU32>,
    done: AtomicUsize,
    closed: AtomicBool,
}

impl Pool {
    fn run(&self, job: usize) -> u64 {
        self.runs[job].fetch_add(1, Ordering::Relaxed);
        self.done.fetch_add(1, Ordering::Relaxed);
        let mut h = job as u64 | 1;
        for _ in 0..job % 5 {
            h = h.wrapping_mul(6364136223846793005).rotate_left(17);
        }
        h
    }
}

fn helper(pool: &Pool, stealer: &Stealer<usize>) -> u64 {
    let local = Worker::new_lifo();
    let mut acc = 0u64;
    loop {
        match stealer.steal_batch(&local) {
            Steal::Success(()) => {
                while let Some(job) = local.pop() {
                    acc ^= pool.run(job);
                }
            }
            Steal::Retry => {}
            Steal::Empty => {
                if pool.closed.load(Ordering::Acquire) {
                    break;
                }
                thread::yield_now();
            }
        }
    }
    while let Some(job) = local.pop() {
        acc ^= pool.run(job);
    }
    acc
}

fn owner(pool: &Pool, deque: &Worker<usize>) -> u64 {
    let mut next = 0;
    let mut acc = 0u64;
    let mut wave = 0;
    while next < JOBS {
        // One wave of new jobs, of changing size, then almost all of it is worked off again.
        wave += 1;
        for _ in 0..70 + 13 * (wave % 3) {
            if next < JOBS {
                deque.push(next);
                next += 1;
            }
        }
        let keep = wave % 3;
        while deque.len() > keep {
            match deque.pop() {
                Some(job) => acc ^= pool.run(job),
                None => break,
            }
        }
    }
    while let Some(job) = deque.pop() {
        acc ^= pool.run(job);
    }
    acc
}

fn main() {
    let pool = Arc::new(Pool {
        runs: (0..JOBS).map(|_| AtomicU32::new(0)).collect(),
        done: AtomicUsize::new(0),
        closed: AtomicBool::new(false),
    });
    let deque = Worker::new_lifo();
    let helpers: Vec<_> = (0..HELPERS)
        .map(|_| {
            let (pool, stealer) = (pool.clone(), deque.stealer());
            thread::spawn(move || helper(&pool, &stealer))
        })
        .collect();

    let mut acc = owner(&pool, &deque);
    pool.closed.store(true, Ordering::Release);
    for h in helpers {
        acc ^= h.join().unwrap();
    }

    for (job, runs) in pool.runs.iter().enumerate() {
        let runs = runs.load(Ordering::Relaxed);
        assert_eq!(runs, 1, "job {job} ran {runs} times");
    }
    assert_eq!(pool.done.load(Ordering::Relaxed), JOBS, "number of jobs run");
    println!("{JOBS} jobs, checksum {acc:016x}");
}
