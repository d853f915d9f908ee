//! Feature flags: a shared store and a private view per worker, refreshed only when the version moved.
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

const WORKERS: usize = 3;
const ROUNDS: u32 = 20;
const FLAGS: [&str; 6] = ["search", "checkout", "avatars", "export", "digest", "beta"];

#[derive(Default)]
struct Store {
    version: AtomicU64,
    flags: Mutex<BTreeMap<&'static str, u32>>,
    evaluations: AtomicU64,
}

impl Store {
    fn set(&self, name: &'static str, percent: u32) {
        let mut flags = self.flags.lock().unwrap();
        flags.insert(name, percent); // BUG: c
        self.version.fetch_add(1, Ordering::SeqCst); // BUG: d
    }

    #[cfg(not(feature = "fixed"))]
    fn snapshot(&self) -> BTreeMap<&'static str, u32> {
        self.flags.lock().unwrap().clone() // BUG: a
    }

    #[cfg(feature = "fixed")]
    fn versioned_snapshot(&self) -> (u64, BTreeMap<&'static str, u32>) {
        let flags = self.flags.lock().unwrap();
        (self.version.load(Ordering::SeqCst), flags.clone())
    }
}

struct View {
    store: Arc<Store>,
    seen: u64,
    local: BTreeMap<&'static str, u32>,
}

impl View {
    fn new(store: Arc<Store>) -> Self {
        View { store, seen: 0, local: BTreeMap::new() }
    }

    #[cfg(not(feature = "fixed"))]
    fn refresh(&mut self) {
        if self.store.version.load(Ordering::SeqCst) == self.seen {
            return;
        }
        self.local = self.store.snapshot(); // BUG: a
        self.seen = self.store.version.load(Ordering::SeqCst); // BUG: b
    }

    #[cfg(feature = "fixed")]
    fn refresh(&mut self) {
        if self.store.version.load(Ordering::SeqCst) == self.seen {
            return;
        }
        (self.seen, self.local) = self.store.versioned_snapshot();
    }

    fn enabled(&mut self, name: &str, user: u64) -> bool {
        self.refresh();
        self.store.evaluations.fetch_add(1, Ordering::Relaxed);
        let bucket = bucket_of(name, user);
        self.local.get(name).is_some_and(|p| bucket < *p)
    }
}

fn bucket_of(name: &str, user: u64) -> u32 {
    let mut h = 0xcbf2_9ce4_8422_2325u64 ^ user;
    for _ in 0..40 {
        for b in name.bytes() {
            h = (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    (h % 100) as u32
}

fn admin(store: &Store, phase: &Barrier) {
    for round in 1..=ROUNDS {
        phase.wait();
        let mut mix = u64::from(round);
        for name in FLAGS.iter().take(2) {
            for i in 0..4 {
                mix = mix.wrapping_add(u64::from(bucket_of(name, mix + i)));
            }
            store.set(name, (mix % 100) as u32);
        }
        store.set("beta", round);
        phase.wait();
        phase.wait();
    }
}

fn worker(id: u64, mut view: View, phase: &Barrier) -> u64 {
    let mut hits = 0;
    for round in 1..=ROUNDS {
        phase.wait();
        for user in 0..8 {
            for name in FLAGS.iter().take(3) {
                hits += u64::from(view.enabled(name, user * 31 + id));
            }
        }
        phase.wait();
        view.refresh();
        let beta = view.local.get("beta").copied().unwrap_or(0);
        if beta != round {
            eprintln!("worker {id}: stale flag beta={beta}, expected {round}");
            std::process::exit(1);
        }
        phase.wait();
    }
    hits
}

fn main() {
    let store = Arc::new(Store::default());
    let phase = Arc::new(Barrier::new(WORKERS + 1));
    let workers: Vec<_> = (0..WORKERS as u64)
        .map(|id| {
            let (view, phase) = (View::new(store.clone()), phase.clone());
            thread::spawn(move || worker(id, view, &phase))
        })
        .collect();
    admin(&store, &phase);
    let hits: u64 = workers.into_iter().map(|w| w.join().unwrap()).sum();
    let evaluations = store.evaluations.load(Ordering::Relaxed);
    assert_eq!(evaluations, WORKERS as u64 * u64::from(ROUNDS) * 24);
    println!("{evaluations} evaluations, {hits} on");
}
