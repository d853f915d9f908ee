//! Tag sets of a metrics library, interned with reference counts: request handlers build the tag
//! set of a request, keep it while they serve the request, and drop it.

use internment::ArcIntern;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;

const HANDLERS: usize = 3;
const REQUESTS: usize = 300;
const ROUTES: u64 = 4;

/// Tags are small numbers: 1 is the version of the scheme, then service, host, route, status.
type Tags = Vec<u64>;

fn tags_of(route: u64) -> Tags {
    vec![1, 7, 40 + route % 2, route, 200]
}

fn intern(route: u64) -> ArcIntern<Tags> {
    ArcIntern::new(tags_of(route))
}

struct Counters {
    by_route: Vec<AtomicU64>,
    weight: AtomicU64,
}

fn handle(me: u64, counters: &Counters) {
    for n in 0..REQUESTS as u64 {
        // Requests come in runs of the same route, and all handlers see much the same runs.
        let route = (n / 6 + me * (n % 2)) % ROUTES;
        let tags = intern(route);
        let copy = tags.clone();
        assert_eq!(*copy, tags_of(route), "tags of route {route} changed");
        drop(tags);
        counters.by_route[copy[3] as usize].fetch_add(1, Ordering::Relaxed);
        counters.weight.fetch_add(copy.iter().sum(), Ordering::Relaxed);
    }
}

fn main() {
    let counters = Arc::new(Counters {
        by_route: (0..ROUTES).map(|_| AtomicU64::new(0)).collect(),
        weight: AtomicU64::new(0),
    });
    // The registry itself exists before the handlers start.
    let root = intern(ROUTES);
    let handlers: Vec<_> = (0..HANDLERS as u64)
        .map(|me| {
            let counters = counters.clone();
            thread::spawn(move || handle(me, &counters))
        })
        .collect();
    for h in handlers {
        h.join().expect("a handler failed");
    }
    let total: u64 = counters.by_route.iter().map(|c| c.load(Ordering::Relaxed)).sum();
    assert_eq!(total, (HANDLERS * REQUESTS) as u64, "requests counted");
    assert_eq!(*root, tags_of(ROUTES), "tags of the root changed");
    println!("{total} requests, weight {}", counters.weight.load(Ordering::Relaxed));
}
