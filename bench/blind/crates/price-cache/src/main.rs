//! Price cache in front of a slow source: readers fetch a missing price once and share it,
//! a feed pushes newer prices into the cache at the same time.

use quick_cache::sync::Cache;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

const READERS: usize = 3;
const SYMBOLS: u64 = 60;

#[derive(Clone, Debug, PartialEq)]
struct Price {
    symbol: u64,
    cents: u64,
    version: u32,
}

struct Desk {
    cache: Cache<u64, Price>,
    loads: AtomicU64,
    quotes: AtomicU64,
}

fn base_price(symbol: u64) -> u64 {
    let mut h = symbol.wrapping_add(0x9e37_79b9);
    for _ in 0..300 {
        h = h.wrapping_mul(0x5851_f42d_4c95_7f2d).rotate_right(23);
    }
    h % 10_000 + 1
}

impl Desk {
    fn quote(&self, symbol: u64) -> Price {
        self.quotes.fetch_add(1, Ordering::Relaxed);
        self.cache
            .get_or_insert_with(&symbol, || {
                self.loads.fetch_add(1, Ordering::Relaxed);
                Ok::<_, ()>(Price { symbol, cents: base_price(symbol), version: 1 })
            })
            .unwrap()
    }

    fn update(&self, symbol: u64) {
        let cents = base_price(symbol) + 5;
        self.cache.insert(symbol, Price { symbol, cents, version: 2 });
    }
}

fn check(price: &Price, symbol: u64) {
    assert_eq!(price.symbol, symbol, "price of another symbol");
    let expected = base_price(symbol) + if price.version == 2 { 5 } else { 0 };
    assert_eq!(price.cents, expected, "wrong price {price:?}");
}

fn main() {
    let desk = Arc::new(Desk {
        cache: Cache::new(4 * SYMBOLS as usize),
        loads: AtomicU64::new(0),
        quotes: AtomicU64::new(0),
    });
    // Symbols open for trading one after the other.
    let open = Arc::new(Barrier::new(READERS + 1));

    let readers: Vec<_> = (0..READERS)
        .map(|_| {
            let (desk, open) = (desk.clone(), open.clone());
            thread::spawn(move || {
                for symbol in 0..SYMBOLS {
                    open.wait();
                    check(&desk.quote(symbol), symbol);
                }
            })
        })
        .collect();
    let feed = {
        let (desk, open) = (desk.clone(), open.clone());
        thread::spawn(move || {
            for symbol in 0..SYMBOLS {
                open.wait();
                if symbol % 3 != 0 {
                    desk.update(symbol);
                }
            }
        })
    };

    for r in readers {
        r.join().expect("a reader failed");
    }
    feed.join().unwrap();
    let loads = desk.loads.load(Ordering::Relaxed);
    assert!(loads <= 2 * SYMBOLS, "loaded {loads} times");
    assert_eq!(desk.quotes.load(Ordering::Relaxed), SYMBOLS * READERS as u64);
    println!("{loads} loads for {SYMBOLS} symbols");
}
