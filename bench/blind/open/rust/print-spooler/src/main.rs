//! Print spooler: a bounded set of printers takes jobs from one queue until it is closed.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const PRINTERS: usize = 3;
const SHIFTS: u64 = 6;
const JOBS_PER_SHIFT: u64 = 8;

struct Job {
    number: u64,
    pages: u32,
}

#[derive(Default)]
struct Spooler {
    queue: Mutex<VecDeque<Job>>,
    available: Condvar,
    closed: AtomicBool,
    printed: AtomicU64,
}

impl Spooler {
    fn submit(&self, job: Job) {
        self.queue.lock().unwrap().push_back(job);
        self.available.notify_one();
    }

    fn next(&self) -> Option<Job> {
        let mut queue = self.queue.lock().unwrap();
        loop {
            if let Some(job) = queue.pop_front() {
                return Some(job);
            }
            if self.closed.load(Ordering::SeqCst) { // BUG: a
                return None;
            }
            queue = self.available.wait(queue).unwrap(); // BUG: b
        }
    }

    fn close(&self) {
        #[cfg(feature = "fixed")]
        let _queue = self.queue.lock().unwrap();
        self.closed.store(true, Ordering::SeqCst); // BUG: c
        self.available.notify_all(); // BUG: d
    }
}

/// Rasterises a job; the result stands for what goes to the device.
fn rasterise(job: &Job) -> u64 {
    let mut acc = job.number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for page in 0..job.pages {
        for line in 0..66 {
            acc = acc.rotate_left(5) ^ u64::from(page * 66 + line);
            acc = acc.wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    acc
}

fn printer(spooler: &Spooler, ledger: &Mutex<Vec<(u64, u64)>>) {
    while let Some(job) = spooler.next() {
        let image = rasterise(&job);
        ledger.lock().unwrap().push((job.number, image));
        spooler.printed.fetch_add(u64::from(job.pages), Ordering::Relaxed);
    }
}

fn run_shift(shift: u64) -> (u64, Vec<(u64, u64)>) {
    let spooler = Arc::new(Spooler::default());
    let ledger = Arc::new(Mutex::new(Vec::new()));
    let printers: Vec<_> = (0..PRINTERS)
        .map(|_| {
            let spooler = Arc::clone(&spooler);
            let ledger = Arc::clone(&ledger);
            thread::spawn(move || printer(&spooler, &ledger))
        })
        .collect();

    for n in 0..JOBS_PER_SHIFT {
        let number = shift * JOBS_PER_SHIFT + n;
        let job = Job {
            number,
            pages: 3 + (number % 5) as u32,
        };
        spooler.submit(job);
    }
    spooler.close();
    for p in printers {
        p.join().unwrap();
    }

    let ledger = std::mem::take(&mut *ledger.lock().unwrap());
    (spooler.printed.load(Ordering::Relaxed), ledger)
}

fn main() {
    let mut pages = 0;
    let mut jobs = Vec::new();
    for shift in 0..SHIFTS {
        let (printed, ledger) = run_shift(shift);
        pages += printed;
        jobs.extend(ledger.into_iter().map(|(number, _)| number));
    }
    jobs.sort_unstable();
    let expected: Vec<u64> = (0..SHIFTS * JOBS_PER_SHIFT).collect();
    assert_eq!(jobs, expected, "jobs missing or printed twice");
    println!("{} jobs, {pages} pages", jobs.len());
}
