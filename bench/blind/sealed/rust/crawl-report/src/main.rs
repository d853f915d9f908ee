//! Crawls shards of a link graph with background workers and reports the totals.

use std::collections::HashSet;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const WORKERS: usize = 3;
const SHARDS: u64 = 12;
const PAGES_PER_SHARD: u64 = 20;

#[derive(Default, Debug, Clone, PartialEq)]
struct Totals {
    hosts: u64,
    pages: u64,
    links: u64,
}

/// Hosts seen by any worker, so that each is greeted once.
#[derive(Default)]
struct Hosts {
    known: Mutex<HashSet<u64>>,
}

impl Hosts {
    fn is_new(&self, host: u64) -> bool {
        self.known.lock().unwrap().insert(host)
    }
}

/// Counts the workers that are still busy.
struct Tracker {
    active: AtomicUsize,
}

struct Busy(Arc<Tracker>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::AcqRel); // BUG: a
    }
}

/// What one worker has counted; added to the totals when the worker lets go of it.
struct Tally {
    totals: Arc<Mutex<Totals>>,
    seen: Totals,
}

impl Tally {
    fn new(totals: Arc<Mutex<Totals>>) -> Self {
        Tally {
            totals,
            seen: Totals::default(),
        }
    }

    fn add(&mut self, links: u64) {
        self.seen.pages += 1;
        self.seen.links += links;
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        let mut totals = self.totals.lock().unwrap(); // BUG: c
        totals.hosts += self.seen.hosts; // BUG: d
        totals.pages += self.seen.pages; // BUG: e
        totals.links += self.seen.links; // BUG: f
    }
}

/// Number of links on a page.
fn parse(shard: u64, page: u64) -> u64 {
    let mut h = shard << 32 | page;
    for i in 0..600 {
        h = (h ^ (h >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(i);
    }
    h % 40
}

fn crawl(worker: u64, hosts: &Hosts, totals: Arc<Mutex<Totals>>, tracker: Arc<Tracker>) {
    let mut tally = Tally::new(totals);
    let _busy = Busy(tracker);
    for shard in (worker..SHARDS).step_by(WORKERS) {
        for page in 0..PAGES_PER_SHARD {
            let links = parse(shard, page);
            tally.seen.hosts += u64::from(hosts.is_new(links));
            tally.add(links);
        }
    }
    #[cfg(feature = "fixed")]
    drop(tally);
}

fn main() {
    let links: Vec<u64> = (0..SHARDS * PAGES_PER_SHARD)
        .map(|n| parse(n / PAGES_PER_SHARD, n % PAGES_PER_SHARD))
        .collect();
    let expected = Totals {
        hosts: links.iter().collect::<HashSet<_>>().len() as u64,
        pages: links.len() as u64,
        links: links.iter().sum(),
    };

    let hosts = Arc::new(Hosts::default());
    let totals = Arc::new(Mutex::new(Totals::default()));
    let tracker = Arc::new(Tracker {
        active: AtomicUsize::new(WORKERS),
    });
    let coordinator = thread::current();
    for worker in 0..WORKERS as u64 {
        let hosts = Arc::clone(&hosts);
        let totals = Arc::clone(&totals);
        let tracker = Arc::clone(&tracker);
        let coordinator = coordinator.clone();
        thread::spawn(move || {
            crawl(worker, &hosts, totals, tracker);
            coordinator.unpark();
        });
    }

    while tracker.active.load(Ordering::Acquire) > 0 { // BUG: b
        thread::park();
    }
    let report = totals.lock().unwrap().clone(); // BUG: g
    if report != expected {
        eprintln!("incomplete report: {report:?}, expected {expected:?}");
        process::exit(1);
    }
    println!("{report:?}");
}
