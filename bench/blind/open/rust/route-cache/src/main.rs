//! Routing table with per-worker copies that are renewed when the table's generation changes.

use std::collections::BTreeMap;
use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

const FORWARDERS: u64 = 3;
const RELOADS: u64 = 16;
const PREFIXES: u32 = 24;

#[derive(Clone, Default)]
struct Routes {
    revision: u64,
    hops: BTreeMap<u32, u32>,
}

impl Routes {
    fn compute(revision: u64) -> Self {
        let mut hops = BTreeMap::new();
        for prefix in 0..PREFIXES {
            hops.insert(prefix, mix(u64::from(prefix) ^ revision << 8, 120) as u32);
        }
        Routes { revision, hops }
    }
}

struct RouteTable {
    routes: RwLock<Routes>,
    generation: AtomicU64,
    installed: AtomicU64,
    stopped: AtomicBool,
    history: Mutex<Vec<u64>>,
}

impl RouteTable {
    fn new() -> Self {
        RouteTable {
            routes: RwLock::new(Routes::compute(0)),
            generation: AtomicU64::new(1),
            installed: AtomicU64::new(0),
            stopped: AtomicBool::new(false),
            history: Mutex::new(vec![0]),
        }
    }

    fn install(&self, routes: Routes) {
        let revision = routes.revision;
        *self.routes.write().unwrap() = routes; // BUG: c
        self.generation.fetch_add(1, Ordering::SeqCst); // BUG: d
        self.history.lock().unwrap().push(revision);
        self.installed.store(revision, Ordering::SeqCst);
    }
}

#[derive(Default)]
struct LocalRoutes {
    generation: u64,
    routes: Routes,
    renewals: u64,
}

impl LocalRoutes {
    fn current(&mut self, table: &RouteTable) -> &Routes {
        if self.generation != table.generation.load(Ordering::SeqCst) {
            self.renew(table);
        }
        &self.routes
    }

    #[cfg(not(feature = "fixed"))]
    fn renew(&mut self, table: &RouteTable) {
        self.routes = table.routes.read().unwrap().clone(); // BUG: a
        self.generation = table.generation.load(Ordering::SeqCst); // BUG: b
        self.renewals += 1;
    }

    #[cfg(feature = "fixed")]
    fn renew(&mut self, table: &RouteTable) {
        self.generation = table.generation.load(Ordering::SeqCst);
        self.routes = table.routes.read().unwrap().clone();
        self.renewals += 1;
    }
}

fn mix(mut x: u64, rounds: u32) -> u64 {
    for _ in 0..rounds {
        x = (x ^ (x >> 31)).wrapping_mul(0x94d0_49bb_1331_11eb).wrapping_add(1);
    }
    x
}

fn forward(table: &RouteTable, worker: u64) -> u64 {
    let mut local = LocalRoutes::default();
    let mut packet = worker;
    let mut last_round = false;
    loop {
        packet = mix(packet, 1500);
        let installed = table.installed.load(Ordering::SeqCst);
        let routes = local.current(table);
        if routes.revision < installed {
            eprintln!(
                "worker {worker} uses stale routes: revision {} after {installed}",
                routes.revision
            );
            process::exit(1);
        }
        let prefix = packet as u32 % PREFIXES;
        packet ^= u64::from(routes.hops[&prefix]);
        if last_round {
            return local.renewals;
        }
        last_round = table.stopped.load(Ordering::SeqCst);
    }
}

fn main() {
    let table = Arc::new(RouteTable::new());
    let forwarders: Vec<_> = (0..FORWARDERS)
        .map(|w| {
            let table = Arc::clone(&table);
            thread::spawn(move || forward(&table, w + 1))
        })
        .collect();
    for revision in 1..=RELOADS {
        table.install(Routes::compute(revision));
    }
    table.stopped.store(true, Ordering::SeqCst);
    let renewals: u64 = forwarders.into_iter().map(|f| f.join().unwrap()).sum();
    let history = table.history.lock().unwrap();
    assert_eq!(history.len() as u64, RELOADS + 1);
    println!("{} revisions, {renewals} renewals", history.len());
}
