//! Symbol table of a small compiler front end: several units are scanned in parallel
//! and share one interner; equal names must get equal symbols.

use lasso::{Spur, ThreadedRodeo};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const UNITS: usize = 3;

struct Shared {
    interner: ThreadedRodeo,
    tokens: AtomicUsize,
    uses: Mutex<HashMap<Spur, usize>>,
}

/// The names one unit mentions, in the order in which they appear there.
fn source_of(unit: usize) -> Vec<String> {
    let keywords = ["let", "fn", "while", "return", "if", "else"];
    let mut out = Vec::new();
    for i in 0..60usize {
        out.push(keywords[(i + unit) % keywords.len()].to_string());
        out.push(format!("u{unit}_local{i}"));
        if i % 20 == 7 + 3 * unit {
            // Names of the shared module, each unit starts with another one.
            for k in 0..3 {
                out.push(format!("module::item{}", (k + unit) % 3 + 3 * (i / 20)));
            }
        }
    }
    out
}

fn scan(shared: &Shared, unit: usize) -> Vec<(String, Spur)> {
    let mut symbols = Vec::new();
    let mut local: HashMap<Spur, usize> = HashMap::new();
    for name in source_of(unit) {
        let symbol = shared.interner.get_or_intern(&name);
        shared.tokens.fetch_add(1, Ordering::Relaxed);
        *local.entry(symbol).or_insert(0) += 1;
        symbols.push((name, symbol));
    }
    let mut uses = shared.uses.lock().unwrap();
    for (symbol, n) in local {
        *uses.entry(symbol).or_insert(0) += n;
    }
    symbols
}

fn main() {
    let shared = Arc::new(Shared {
        interner: ThreadedRodeo::new(),
        tokens: AtomicUsize::new(0),
        uses: Mutex::new(HashMap::new()),
    });
    for keyword in ["let", "fn", "while", "return", "if", "else"] {
        shared.interner.get_or_intern(keyword);
    }

    let units: Vec<_> = (0..UNITS)
        .map(|unit| {
            let shared = shared.clone();
            thread::spawn(move || scan(&shared, unit))
        })
        .collect();

    let mut table: HashMap<String, Spur> = HashMap::new();
    for unit in units {
        for (name, symbol) in unit.join().unwrap() {
            assert_eq!(shared.interner.resolve(&symbol), name, "symbol resolves to another name");
            let first = *table.entry(name.clone()).or_insert(symbol);
            assert!(first == symbol, "two symbols for the name {name}: {first:?} and {symbol:?}");
        }
    }
    let total: usize = shared.uses.lock().unwrap().values().sum();
    assert_eq!(total, shared.tokens.load(Ordering::Relaxed), "uses lost");
    assert_eq!(table.len(), shared.interner.len(), "number of symbols");
    println!("{} names, {} tokens", table.len(), total);
}
