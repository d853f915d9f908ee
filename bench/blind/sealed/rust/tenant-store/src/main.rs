//! Object store for several tenants: an index, a quota ledger and a change journal.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const TENANTS: u32 = 4;
const OBJECTS: u32 = 40;
const REVIEWS: u32 = 30;
const COMPACTIONS: u32 = 30;
const LIMIT: u64 = 100;

#[derive(Debug)]
enum Entry {
    Stored { key: u32 },
    OverLimit { tenant: u32, used: u64 },
}

#[derive(Default)]
struct Store {
    index: Mutex<HashMap<u32, Vec<u8>>>,
    quota: Mutex<BTreeMap<u32, u64>>,
    journal: Mutex<Vec<Entry>>,
    digest: AtomicU64,
}

impl Store {
    /// Stores an object; the index stays locked so that the charge and the entry appear together.
    fn put(&self, tenant: u32, key: u32, body: Vec<u8>) {
        let size = body.len() as u64;
        let mut index = self.index.lock().unwrap(); // BUG: a
        if index.insert(key, body).is_none() {
            self.charge(tenant, size);
        }
    }

    fn charge(&self, tenant: u32, size: u64) {
        let mut quota = self.quota.lock().unwrap(); // BUG: b
        *quota.entry(tenant).or_insert(0) += size;
    }

    /// Writes tenants over their limit into the journal.
    fn review(&self) {
        let quota = self.quota.lock().unwrap(); // BUG: c
        for (&tenant, &used) in quota.iter().filter(|(_, &used)| used > LIMIT) {
            self.record(Entry::OverLimit { tenant, used });
        }
    }

    fn record(&self, entry: Entry) {
        self.journal.lock().unwrap().push(entry); // BUG: d
    }

    fn is_stored(&self, key: u32) -> bool {
        self.index.lock().unwrap().contains_key(&key) // BUG: f
    }

    /// Drops journal entries that carry no news any more.
    #[cfg(not(feature = "fixed"))]
    fn compact(&self) -> usize {
        let mut journal = self.journal.lock().unwrap(); // BUG: e
        let before = journal.len();
        journal.retain(|entry| match entry {
            Entry::Stored { key } => !self.is_stored(*key),
            Entry::OverLimit { used, .. } => *used > 2 * LIMIT,
        });
        before - journal.len()
    }

    #[cfg(feature = "fixed")]
    fn compact(&self) -> usize {
        let entries = std::mem::take(&mut *self.journal.lock().unwrap());
        let before = entries.len();
        let kept: Vec<_> = entries
            .into_iter()
            .filter(|entry| match entry {
                Entry::Stored { key } => !self.is_stored(*key),
                Entry::OverLimit { used, .. } => *used > 2 * LIMIT,
            })
            .collect();
        let dropped = before - kept.len();
        self.journal.lock().unwrap().extend(kept);
        dropped
    }
}

fn body(key: u32) -> Vec<u8> {
    let mut h = key.wrapping_mul(0x85eb_ca6b) | 1;
    (0..60 + key % 20)
        .map(|_| {
            for _ in 0..25 {
                h = (h ^ (h >> 13)).wrapping_mul(0xc2b2_ae35);
            }
            h as u8
        })
        .collect()
}

fn checksum(seed: u32) -> u64 {
    let mut sum = u64::from(seed);
    for i in 0..2500u64 {
        sum = sum.rotate_left(7).wrapping_add(i ^ 0x5bd1_e995);
    }
    sum
}

fn main() {
    let store = Arc::new(Store::default());

    let s = Arc::clone(&store);
    let ingest = thread::spawn(move || {
        for key in 0..OBJECTS {
            s.put(key % TENANTS, key, body(key));
            s.record(Entry::Stored { key });
        }
    });
    let s = Arc::clone(&store);
    let reviewer = thread::spawn(move || {
        for round in 0..REVIEWS {
            s.digest.fetch_xor(checksum(round), Ordering::Relaxed);
            s.review();
        }
    });
    let s = Arc::clone(&store);
    let compactor = thread::spawn(move || {
        let mut dropped = 0;
        for round in 0..COMPACTIONS {
            s.digest.fetch_xor(checksum(round), Ordering::Relaxed);
            dropped += s.compact();
        }
        dropped
    });

    ingest.join().unwrap();
    reviewer.join().unwrap();
    let dropped = compactor.join().unwrap() + store.compact();

    let stored: usize = store.index.lock().unwrap().values().map(Vec::len).sum();
    let charged: u64 = store.quota.lock().unwrap().values().sum();
    assert_eq!(stored as u64, charged, "quota does not match the index");
    let mut over: Vec<u32> = Vec::new();
    for entry in store.journal.lock().unwrap().iter() {
        if let Entry::OverLimit { tenant, .. } = entry {
            over.push(*tenant);
        }
    }
    over.dedup();
    println!("over the limit: {over:?}");
    println!("{stored} bytes, {dropped} journal entries compacted");
}
