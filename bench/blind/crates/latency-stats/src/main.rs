//! Latency statistics of a service: workers observe the latency of their requests in a histogram,
//! a scraper takes snapshots of it now and then and checks that they make sense.

use prometheus::core::{Collector, Metric};
use prometheus::{Histogram, HistogramOpts, IntCounter, Registry};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;

const WORKERS: u64 = 2;
const REQUESTS: u64 = 250;
const SCRAPES: usize = 25;

struct Service {
    latency: Histogram,
    requests: IntCounter,
    stopping: AtomicBool,
}

/// The work for one request; the result decides about the latency class.
fn serve(worker: u64, n: u64) -> f64 {
    let mut x = worker * 7919 + n + 1;
    for _ in 0..600 {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    // Latencies are multiples of 1/4 s, so that their sum is exact.
    (x % 8) as f64 * 0.25
}

fn snapshot(service: &Service, last: u64) -> u64 {
    let metric = service.latency.metric();
    let histogram = metric.get_histogram();
    let count = histogram.get_sample_count();
    let slowest = histogram.get_bucket().iter().last().expect("no buckets");
    assert!(count >= last, "count went backwards: {last}, then {count}");
    // No latency is above the last bucket's bound.
    assert_eq!(
        slowest.get_cumulative_count(),
        count,
        "buckets and count of one snapshot disagree"
    );
    count
}

fn main() {
    let opts = HistogramOpts::new("latency_seconds", "latency of requests").buckets(vec![0.25, 0.5, 1.0, 2.0]);
    let service = Arc::new(Service {
        latency: Histogram::with_opts(opts).unwrap(),
        requests: IntCounter::new("requests_total", "requests served").unwrap(),
        stopping: AtomicBool::new(false),
    });
    let registry = Registry::new();
    registry.register(Box::new(service.latency.clone())).unwrap();
    registry.register(Box::new(service.requests.clone())).unwrap();

    let workers: Vec<_> = (0..WORKERS)
        .map(|worker| {
            let service = service.clone();
            thread::spawn(move || {
                let mut sum = 0.0;
                for n in 0..REQUESTS {
                    let latency = serve(worker, n);
                    service.latency.observe(latency);
                    service.requests.inc();
                    sum += latency;
                }
                sum
            })
        })
        .collect();
    let scraper = {
        let service = service.clone();
        thread::spawn(move || {
            let mut last = 0;
            for n in 0..SCRAPES as u64 {
                if service.stopping.load(Ordering::Acquire) {
                    break;
                }
                last = snapshot(&service, last);
                let pause: f64 = (0..2).map(|k| serve(100 + k, n)).sum();
                assert!(pause >= 0.0);
            }
            last
        })
    };

    let sum: f64 = workers.into_iter().map(|w| w.join().unwrap()).sum();
    service.stopping.store(true, Ordering::Release);
    let last = scraper.join().expect("a scrape failed");
    assert!(last <= WORKERS * REQUESTS);
    assert_eq!(snapshot(&service, last), WORKERS * REQUESTS, "observations lost");
    assert_eq!(service.requests.get() as u64, WORKERS * REQUESTS);
    assert_eq!(service.latency.get_sample_sum(), sum, "sum of the latencies");
    assert_eq!(registry.gather().len(), service.latency.desc().len() + 1);
    println!("{} requests, {sum} s", WORKERS * REQUESTS);
}
