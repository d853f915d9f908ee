//! Scoring tables per language, each built when the first scorer asks for it.

use std::process;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const LANGUAGES: usize = 6;
const SCORERS: u64 = 3;
const TEXTS: u64 = 40;
const CLASSES: usize = 16;

struct Weights {
    language: usize,
    by_class: [u32; CLASSES],
}

impl Weights {
    fn blank(language: usize) -> Self {
        Weights {
            language,
            by_class: [0; CLASSES],
        }
    }

    fn fill(&mut self) {
        let mut seed = self.language as u32 * 77 + 5;
        for weight in self.by_class.iter_mut() {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *weight = 1 + (seed >> 24); // BUG: c
        }
    }
}

struct Tables {
    slots: [AtomicPtr<Weights>; LANGUAGES],
    building: Mutex<u32>,
}

impl Tables {
    fn new() -> Self {
        Tables {
            slots: std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())),
            building: Mutex::new(0),
        }
    }

    fn get(&self, language: usize) -> &Weights {
        let slot = &self.slots[language];
        let mut table = slot.load(Ordering::Acquire); // BUG: d
        if table.is_null() {
            let mut built = self.building.lock().unwrap();
            table = slot.load(Ordering::Acquire);
            if table.is_null() {
                table = self.build(slot, language);
                *built += 1;
            }
        }
        unsafe { &*table }
    }

    #[cfg(not(feature = "fixed"))]
    fn build(&self, slot: &AtomicPtr<Weights>, language: usize) -> *mut Weights {
        let table = Box::into_raw(Box::new(Weights::blank(language)));
        slot.store(table, Ordering::Release); // BUG: a
        unsafe { (*table).fill() }; // BUG: b
        table
    }

    #[cfg(feature = "fixed")]
    fn build(&self, slot: &AtomicPtr<Weights>, language: usize) -> *mut Weights {
        let mut weights = Box::new(Weights::blank(language));
        weights.fill();
        let table = Box::into_raw(weights);
        slot.store(table, Ordering::Release);
        table
    }
}

impl Drop for Tables {
    fn drop(&mut self) {
        for slot in &mut self.slots {
            let table = *slot.get_mut();
            if !table.is_null() {
                drop(unsafe { Box::from_raw(table) });
            }
        }
    }
}

/// Splits a text into words and returns one class per word.
fn classify(text: u64) -> Vec<usize> {
    let mut state = text.wrapping_mul(0xd134_2543_de82_ef95) | 1;
    let mut classes = Vec::with_capacity(12);
    for word in 0..12 {
        for _ in 0..120 {
            state = (state ^ (state >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd) | 1;
        }
        classes.push(((state >> 9) as usize + word) % CLASSES);
    }
    classes
}

fn score(tables: &Tables, total: &AtomicU64, scorer: u64) {
    for n in 0..TEXTS {
        let text = scorer * TEXTS + n;
        let classes = classify(text);
        let language = (n as usize / 3 + scorer as usize) % LANGUAGES;
        let weights = tables.get(language);
        let mut sum = 0u64;
        for class in classes {
            let weight = weights.by_class[class]; // BUG: e
            if weight == 0 {
                eprintln!("language {} has no weight for class {class}", weights.language);
                process::exit(1);
            }
            sum += u64::from(weight);
        }
        total.fetch_add(sum, Ordering::Relaxed);
    }
}

fn main() {
    let tables = Arc::new(Tables::new());
    let total = Arc::new(AtomicU64::new(0));
    let scorers: Vec<_> = (0..SCORERS)
        .map(|id| {
            let tables = Arc::clone(&tables);
            let total = Arc::clone(&total);
            thread::spawn(move || score(&tables, &total, id))
        })
        .collect();
    for s in scorers {
        s.join().unwrap();
    }
    let built = *tables.building.lock().unwrap();
    assert_eq!(built as usize, LANGUAGES);
    println!("total {}", total.load(Ordering::Relaxed));
}
