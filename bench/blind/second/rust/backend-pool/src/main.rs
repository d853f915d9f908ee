//! Load balancer back ends: traffic threads report outcomes, a sweeper evicts those that keep failing.
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};
use std::thread;

const BACKENDS: u32 = 8;
const LIMIT: u32 = 3;
const REQUESTS: u64 = 400;

#[derive(Default)]
struct Backend {
    failures: u32,
    served: u64,
}

struct Eviction {
    id: u32,
    failures: u32,
    served: u64,
}

#[derive(Default)]
struct Pool {
    backends: RwLock<HashMap<u32, Backend>>,
    evicted: Mutex<Vec<Eviction>>,
    requests: AtomicU64,
    stopping: AtomicBool,
}

impl Pool {
    fn succeeded(&self, id: u32) {
        let mut backends = self.backends.write().unwrap(); // BUG: c
        let b = backends.entry(id).or_default();
        b.failures = 0; // BUG: c
        b.served += 1;
    }

    fn failed(&self, id: u32) {
        let mut backends = self.backends.write().unwrap();
        backends.entry(id).or_default().failures += 1;
    }

    fn failing(&self) -> Vec<u32> {
        let backends = self.backends.read().unwrap(); // BUG: a
        backends
            .iter()
            .filter(|(_, b)| b.failures >= LIMIT) // BUG: a
            .map(|(id, _)| *id)
            .collect()
    }

    fn evict(&self, id: u32) {
        let mut backends = self.backends.write().unwrap(); // BUG: b
        if cfg!(feature = "fixed") && backends.get(&id).is_some_and(|b| b.failures < LIMIT) {
            return;
        }
        if let Some(b) = backends.remove(&id) { // BUG: b
            drop(backends);
            let mut evicted = self.evicted.lock().unwrap();
            evicted.push(Eviction { id, failures: b.failures, served: b.served });
        }
    }

    fn sweep(&self) -> usize {
        let dead = self.failing();
        for id in &dead {
            self.evict(*id);
        }
        dead.len()
    }
}

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn handle(rng: &mut Rng, rounds: u64) -> u64 {
    (0..rounds).fold(0, |acc, _| acc ^ rng.next().rotate_left(9))
}

fn traffic(pool: &Pool, seed: u64) -> u64 {
    let mut rng = Rng(0x9e37_79b9_7f4a_7c15 ^ (seed << 20));
    let mut digest = 0;
    for _ in 0..REQUESTS {
        digest ^= handle(&mut rng, 150);
        pool.requests.fetch_add(1, Ordering::Relaxed);
        let id = (rng.next() >> 33) as u32 % BACKENDS;
        if (rng.next() >> 40) % 100 < 35 {
            pool.failed(id);
        } else {
            pool.succeeded(id);
        }
    }
    digest
}

fn sweeper(pool: &Pool) -> usize {
    let mut rng = Rng(77);
    let mut found = 0;
    while !pool.stopping.load(Ordering::Acquire) {
        found += pool.sweep();
        std::hint::black_box(handle(&mut rng, 400));
    }
    found
}

fn main() {
    let pool = Pool::default();
    let found = thread::scope(|s| {
        let sweeper = s.spawn(|| sweeper(&pool));
        let clients: Vec<_> = (1..=3).map(|seed| s.spawn({ let p = &pool; move || traffic(p, seed) })).collect();
        for c in clients {
            std::hint::black_box(c.join().unwrap());
        }
        pool.stopping.store(true, Ordering::Release);
        sweeper.join().unwrap()
    });

    assert_eq!(pool.requests.load(Ordering::Relaxed), 3 * REQUESTS);
    let evicted = pool.evicted.into_inner().unwrap();
    for e in &evicted {
        if e.failures < LIMIT {
            eprintln!("evicted healthy backend {} ({} failures, {} served)", e.id, e.failures, e.served);
            std::process::exit(1);
        }
    }
    println!("{} evictions of {found} found", evicted.len());
}
