//! Document ids handed out from blocks that are leased from a central sequence.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const WRITERS: u64 = 4;
const DOCUMENTS: u64 = 60;
const BLOCK: u64 = 4;

/// The central sequence; leases are consecutive blocks.
struct Sequence {
    next: u64,
    leases: u64,
}

impl Sequence {
    fn lease(&mut self) -> (u64, u64) {
        let first = self.next;
        self.next += BLOCK;
        self.leases += 1;
        (first, self.next)
    }
}

struct IdSource {
    cursor: AtomicU64,
    limit: AtomicU64,
    sequence: Mutex<Sequence>,
}

impl IdSource {
    fn new() -> Self {
        IdSource {
            cursor: AtomicU64::new(0),
            limit: AtomicU64::new(0),
            sequence: Mutex::new(Sequence { next: 0, leases: 0 }),
        }
    }

    #[cfg(not(feature = "fixed"))]
    fn next_id(&self) -> u64 {
        loop {
            let id = self.cursor.fetch_add(1, Ordering::AcqRel); // BUG: a
            if id < self.limit.load(Ordering::Acquire) { // BUG: b
                return id;
            }
            self.refill();
        }
    }

    #[cfg(feature = "fixed")]
    fn next_id(&self) -> u64 {
        let mut sequence = self.sequence.lock().unwrap();
        let id = self.cursor.load(Ordering::Acquire);
        if id < self.limit.load(Ordering::Acquire) {
            self.cursor.store(id + 1, Ordering::Release);
            return id;
        }
        let (first, limit) = sequence.lease();
        self.cursor.store(first + 1, Ordering::Release);
        self.limit.store(limit, Ordering::Release);
        first
    }

    #[cfg(not(feature = "fixed"))]
    fn refill(&self) {
        let mut sequence = self.sequence.lock().unwrap();
        let used_up = self.limit.load(Ordering::Acquire);
        if self.cursor.load(Ordering::Acquire) >= used_up {
            let (first, limit) = sequence.lease();
            self.cursor.store(first, Ordering::Release); // BUG: c
            self.limit.store(limit, Ordering::Release); // BUG: d
        }
    }
}

struct Archive {
    stored: AtomicU64,
    bytes: AtomicU64,
}

/// Compresses a document and returns its size.
fn compress(writer: u64, n: u64) -> u64 {
    let mut state = writer << 16 | n;
    let mut size = 0;
    for i in 0..1200 {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(i);
        if state >> 60 < 9 {
            size += 1;
        }
    }
    size
}

fn write(ids: &IdSource, archive: &Archive, writer: u64) -> Vec<u64> {
    let mut written = Vec::with_capacity(DOCUMENTS as usize);
    for n in 0..DOCUMENTS {
        let size = compress(writer, n);
        written.push(ids.next_id());
        archive.stored.fetch_add(1, Ordering::Relaxed);
        archive.bytes.fetch_add(size, Ordering::Relaxed);
    }
    written
}

fn main() {
    let ids = Arc::new(IdSource::new());
    let archive = Arc::new(Archive {
        stored: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    });
    let writers: Vec<_> = (1..=WRITERS)
        .map(|w| {
            let ids = Arc::clone(&ids);
            let archive = Arc::clone(&archive);
            thread::spawn(move || write(&ids, &archive, w))
        })
        .collect();

    let mut seen = HashSet::new();
    for writer in writers {
        for id in writer.join().unwrap() {
            assert!(seen.insert(id), "duplicate id {id}");
        }
    }
    assert_eq!(archive.stored.load(Ordering::Relaxed), WRITERS * DOCUMENTS);
    let bytes = archive.bytes.load(Ordering::Relaxed);
    let leases = ids.sequence.lock().unwrap().leases;
    println!("{} documents, {bytes} bytes, {leases} leases", seen.len());
}
