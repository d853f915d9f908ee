//! Registry of blobs that are loaded on first open and released on last close.

use std::collections::HashMap;
use std::process;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

const READERS: u64 = 4;
const ROUNDS: u64 = 40;
const BLOBS: u64 = 7;

struct Blob {
    name: u64,
    users: AtomicUsize,
    bytes: Mutex<Option<Vec<u8>>>,
}

impl Blob {
    fn load(name: u64) -> Self {
        let mut x = name.wrapping_mul(0x9e37_79b9) + 1;
        let bytes = (0..48)
            .map(|_| {
                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                x as u8
            })
            .collect();
        Blob {
            name,
            users: AtomicUsize::new(0),
            bytes: Mutex::new(Some(bytes)),
        }
    }
}

#[derive(Default)]
struct Registry {
    blobs: Mutex<HashMap<u64, Arc<Blob>>>,
    loads: AtomicU64,
}

impl Registry {
    fn global() -> &'static Registry {
        static REGISTRY: OnceLock<Registry> = OnceLock::new();
        REGISTRY.get_or_init(Registry::default)
    }

    fn open(&self, name: u64) -> Handle<'_> {
        let mut blobs = self.blobs.lock().unwrap();
        let blob = blobs.entry(name).or_insert_with(|| {
            self.loads.fetch_add(1, Ordering::Relaxed);
            Arc::new(Blob::load(name))
        });
        blob.users.fetch_add(1, Ordering::AcqRel); // BUG: b
        Handle {
            registry: self,
            blob: Arc::clone(blob),
        }
    }

    #[cfg(not(feature = "fixed"))]
    fn close(&self, blob: &Blob) {
        if blob.users.fetch_sub(1, Ordering::AcqRel) == 1 { // BUG: a
            self.blobs.lock().unwrap().remove(&blob.name); // BUG: c
            blob.bytes.lock().unwrap().take(); // BUG: d
        }
    }

    #[cfg(feature = "fixed")]
    fn close(&self, blob: &Blob) {
        let mut blobs = self.blobs.lock().unwrap();
        if blob.users.fetch_sub(1, Ordering::AcqRel) == 1 {
            blobs.remove(&blob.name);
            blob.bytes.lock().unwrap().take();
        }
    }
}

struct Handle<'a> {
    registry: &'a Registry,
    blob: Arc<Blob>,
}

impl Handle<'_> {
    fn checksum(&self) -> Option<u64> {
        let bytes = self.blob.bytes.lock().unwrap(); // BUG: e
        let bytes = bytes.as_ref()?;
        Some(bytes.iter().fold(7, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x100_0193)))
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        self.registry.close(&self.blob);
    }
}

/// Looks something up in a catalogue; returns the blob to read next.
fn consult(mut state: u64) -> u64 {
    for i in 0..2000 {
        state = (state ^ (state >> 31)).wrapping_mul(0x7fb5_d329_728e_a185).wrapping_add(i);
    }
    state
}

fn read(registry: &Registry, reader: u64) -> u64 {
    let mut state = reader + 1;
    let mut digest = 0;
    for _ in 0..ROUNDS {
        state = consult(state);
        let handle = registry.open(state % BLOBS);
        state = consult(state);
        let Some(sum) = handle.checksum() else {
            eprintln!("blob {} released while open", handle.blob.name);
            process::abort();
        };
        digest ^= sum.wrapping_mul(state | 1);
    }
    digest
}

fn main() {
    let registry = Registry::global();
    let readers: Vec<_> = (0..READERS)
        .map(|id| thread::spawn(move || read(registry, id)))
        .collect();
    let mut digest = 0;
    for r in readers {
        digest ^= r.join().unwrap();
    }
    assert!(registry.blobs.lock().unwrap().is_empty(), "blobs leaked");
    let loads = registry.loads.load(Ordering::Relaxed);
    println!("digest {digest:016x}, {loads} loads");
}
