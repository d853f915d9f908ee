//! Log records of several services, shipped in batches by a background thread.

use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crossbeam::queue::SegQueue;
use crossbeam::utils::Backoff;

const SERVICES: u64 = 3;
const RECORDS: u64 = 50;
const BATCH: usize = 16;

struct Record {
    service: u64,
    line: u64,
}

struct Shipper {
    pending: SegQueue<Record>,
    services: AtomicUsize,
    closed: AtomicBool,
    emitted: AtomicU64,
    shipped: Mutex<Vec<(usize, u64)>>,
}

impl Shipper {
    fn new(services: usize) -> Self {
        Shipper {
            pending: SegQueue::new(),
            services: AtomicUsize::new(services),
            closed: AtomicBool::new(false),
            emitted: AtomicU64::new(0),
            shipped: Mutex::new(Vec::new()),
        }
    }

    fn emit(&self, record: Record) {
        self.emitted.fetch_add(1, Ordering::Relaxed);
        self.pending.push(record); // BUG: c
    }

    /// Called by each service at its end; the last one closes the log.
    fn sign_off(&self) {
        if self.services.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.closed.store(true, Ordering::Release); // BUG: d
        }
    }

    #[cfg(not(feature = "fixed"))]
    fn next(&self) -> Option<Record> {
        let backoff = Backoff::new();
        loop {
            if let Some(record) = self.pending.pop() { // BUG: a
                return Some(record);
            }
            if self.closed.load(Ordering::Acquire) { // BUG: b
                return None;
            }
            backoff.snooze();
        }
    }

    #[cfg(feature = "fixed")]
    fn next(&self) -> Option<Record> {
        let backoff = Backoff::new();
        loop {
            let closed = self.closed.load(Ordering::Acquire);
            if let Some(record) = self.pending.pop() {
                return Some(record);
            }
            if closed {
                return None;
            }
            backoff.snooze();
        }
    }

    fn flush(&self, batch: &mut Vec<Record>) {
        if batch.is_empty() {
            return;
        }
        let sum = batch.iter().fold(0, |h, r| encode(h, r.service << 32 | r.line, 20));
        self.shipped.lock().unwrap().push((batch.len(), sum));
        batch.clear();
    }

    fn ship(&self) {
        let mut batch = Vec::with_capacity(BATCH);
        while let Some(record) = self.next() {
            batch.push(record);
            if batch.len() == BATCH {
                self.flush(&mut batch);
            }
        }
        self.flush(&mut batch);
    }
}

fn encode(seed: u64, value: u64, rounds: u32) -> u64 {
    let mut h = seed ^ value;
    for _ in 0..rounds {
        h = (h ^ (h >> 32)).wrapping_mul(0x9fb2_1c65_1e98_df25).wrapping_add(1);
    }
    h
}

fn service(shipper: &Shipper, id: u64) {
    for n in 0..RECORDS {
        let line = encode(id, n, 1800) & 0xffff_ffff;
        shipper.emit(Record { service: id, line });
    }
    shipper.sign_off();
}

fn main() {
    let shipper = Arc::new(Shipper::new(SERVICES as usize));
    let background = {
        let shipper = Arc::clone(&shipper);
        thread::spawn(move || shipper.ship())
    };
    let services: Vec<_> = (0..SERVICES)
        .map(|id| {
            let shipper = Arc::clone(&shipper);
            thread::spawn(move || service(&shipper, id))
        })
        .collect();
    for s in services {
        s.join().unwrap();
    }
    background.join().unwrap();

    let emitted = shipper.emitted.load(Ordering::Relaxed);
    let shipped = shipper.shipped.lock().unwrap();
    let total: usize = shipped.iter().map(|(len, _)| len).sum();
    if total as u64 != emitted {
        eprintln!("log records lost: {total} of {emitted} shipped");
        process::exit(1);
    }
    println!("{total} records in {} batches", shipped.len());
}
