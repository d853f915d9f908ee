//! A cache of computed objects with a cleaner thread. An index says in which slot an object lies; the cleaner takes
//! the oldest objects out of the index and empties their slots.
//!
//! Index and slots are locked. But a client that has found a slot in the index reads it a little later: meant is
//! that the cleaner comes after that, and nothing makes it wait.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use unpick_breakpoint::{Breakpoint, step, trigger};

/// The object that is cleaned just when it is read, where breakpoints are on: so many are cleaned before it, and all
/// behind it are read before.
const CONTESTED: u64 = 45;

struct Slot {
    object: Option<u64>,
    cleaned: bool,
}

struct Cache {
    index: Mutex<HashMap<u64, usize>>,
    slots: Vec<Mutex<Slot>>,
    hits: AtomicU64,
    evictions: AtomicU64,
    in_use: Mutex<()>,
}

impl Cache {
    fn filled_with(objects: u64) -> Self {
        Self {
            index: Mutex::new((0..objects).map(|key| (key, key as usize)).collect()),
            slots: (0..objects)
                .map(|key| Mutex::new(Slot { object: Some(compute(key, 20)), cleaned: false }))
                .collect(),
            hits: AtomicU64::new(0),
            evictions: AtomicU64::new(0),
            in_use: Mutex::new(()),
        }
    }

    fn find(&self, key: u64) -> Option<usize> {
        self.index.lock().unwrap().get(&key).copied()
    }

    fn read(&self, slot: usize) -> Option<u64> {
        let slot = self.slots[slot].lock().unwrap();
        let cleaned = slot.cleaned; /* BUG: 2 */
        if cleaned {
            return None;
        }
        self.hits.fetch_add(1, Ordering::Relaxed);
        slot.object
    }

    fn evict(&self, key: u64) {
        let _step = step!(
            Breakpoint::conflict("emptied-after-found", self)
                .first()
                .ignore_first(CONTESTED)
                .bound(1)
        );
        let _alone = cfg!(feature = "fixed").then(|| self.in_use.lock().unwrap());
        let Some(place) = self.index.lock().unwrap().remove(&key) else { return };
        let mut slot = self.slots[place].lock().unwrap();
        slot.cleaned = true; /* BUG: 1 */
        slot.object = None;
        self.evictions.fetch_add(1, Ordering::Relaxed);
    }

    /// The object of a key, computed again if it is not in the cache. None if the cache is not sound.
    fn get(&self, key: u64) -> Option<u64> {
        let _alone = cfg!(feature = "fixed").then(|| self.in_use.lock().unwrap());
        match self.find(key) {
            Some(slot) => {
                std::hint::black_box(compute(key, 2000));
                let before = self.slots.len() as u64 - 1 - CONTESTED;
                trigger!(
                    Breakpoint::conflict("emptied-after-found", self)
                        .second()
                        .ignore_first(before)
                        .bound(1)
                );
                self.read(slot)
            }
            None => Some(compute(key, 20)),
        }
    }
}

fn compute(key: u64, rounds: u64) -> u64 {
    (0..rounds).fold(key, |object, round| {
        (object ^ round).wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(11)
    })
}

/// Takes the oldest objects out, one after the other, and looks at the memory in between.
fn clean(cache: &Cache, objects: u64, pause: u64) {
    for key in 0..objects * 3 / 4 {
        std::hint::black_box(compute(key, pause));
        cache.evict(key);
    }
}

fn client(cache: &Cache, objects: u64, pause: u64) -> u64 {
    let mut missing = 0;
    for step in 0..objects {
        let key = objects - 1 - step;
        std::hint::black_box(compute(key, pause));
        missing += u64::from(cache.get(key).is_none());
    }
    missing
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let objects = arguments.next().unwrap_or(120);
    let pause = arguments.next().unwrap_or(10_000);
    let cache = Cache::filled_with(objects);
    let missing = thread::scope(|threads| {
        threads.spawn(|| clean(&cache, objects, pause));
        threads.spawn(|| client(&cache, objects, pause)).join().unwrap()
    });
    println!(
        "{} hits, {} evicted",
        cache.hits.load(Ordering::Relaxed),
        cache.evictions.load(Ordering::Relaxed)
    );
    if missing > 0 {
        eprintln!("FAILED: {missing} objects were in the index and not in their slot");
        std::process::exit(1);
    }
}
