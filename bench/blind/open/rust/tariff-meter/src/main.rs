//! Prepaid meter: appliances draw from a credit that the cashier tops up.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const APPLIANCES: u64 = 3;
const READINGS: u64 = 60;
const PAYMENTS: u64 = 25;
const OPENING: i64 = 1_000_000;

#[derive(Default)]
struct Usage {
    readings: u64,
    units: i64,
}

#[derive(Default)]
struct Receipts {
    payments: Vec<i64>,
    paid: i64,
}

/// The credit can be read at any time without a lock, e.g. by the display.
struct Meter {
    credit: AtomicI64,
    usage: Mutex<Usage>,
    receipts: Mutex<Receipts>,
}

impl Meter {
    fn new(opening: i64) -> Self {
        Meter {
            credit: AtomicI64::new(opening),
            usage: Mutex::new(Usage::default()),
            receipts: Mutex::new(Receipts::default()),
        }
    }

    fn draw(&self, units: i64) {
        let mut usage = self.usage.lock().unwrap();
        let credit = self.credit.load(Ordering::SeqCst); // BUG: a
        let price = tariff(usage.units) * units;
        self.credit.store(credit - price, Ordering::SeqCst); // BUG: b
        usage.readings += 1;
        usage.units += price;
    }

    fn top_up(&self, amount: i64) {
        #[cfg(feature = "fixed")]
        let _usage = self.usage.lock().unwrap();
        let mut receipts = self.receipts.lock().unwrap();
        let credit = self.credit.load(Ordering::SeqCst); // BUG: c
        self.credit.store(credit + amount, Ordering::SeqCst); // BUG: d
        receipts.payments.push(amount);
        receipts.paid += amount;
    }

    fn display(&self) -> i64 {
        self.credit.load(Ordering::SeqCst)
    }
}

fn tariff(used: i64) -> i64 {
    match used {
        0..=999 => 2,
        1000..=4999 => 3,
        _ => 4,
    }
}

/// Simulates sampling of a sensor; returns consumed units.
fn sample(source: u64, n: u64) -> i64 {
    let mut v = source << 20 | n;
    for _ in 0..2500 {
        v ^= v << 7;
        v ^= v >> 9;
        v = v.wrapping_add(0x9e37_79b9);
    }
    (v % 17) as i64 + 1
}

fn appliance(meter: &Meter, id: u64) {
    for n in 0..READINGS {
        meter.draw(sample(id, n));
    }
}

fn cashier(meter: &Meter) -> i64 {
    let mut lowest = meter.display();
    for n in 0..PAYMENTS {
        let amount: i64 = (0..3).map(|part| sample(99 + part, n)).sum();
        meter.top_up(amount * 10);
        lowest = lowest.min(meter.display());
    }
    lowest
}

fn main() {
    let meter = Arc::new(Meter::new(OPENING));
    let appliances: Vec<_> = (1..=APPLIANCES)
        .map(|id| {
            let meter = Arc::clone(&meter);
            thread::spawn(move || appliance(&meter, id))
        })
        .collect();
    let lowest = {
        let meter = Arc::clone(&meter);
        thread::spawn(move || cashier(&meter))
    };
    for a in appliances {
        a.join().unwrap();
    }
    let lowest = lowest.join().unwrap();

    let usage = meter.usage.lock().unwrap();
    let receipts = meter.receipts.lock().unwrap();
    assert_eq!(usage.readings, APPLIANCES * READINGS);
    assert_eq!(receipts.payments.len() as u64, PAYMENTS);
    let expected = OPENING + receipts.paid - usage.units;
    let credit = meter.display();
    assert_eq!(credit, expected, "credit is off");
    println!("credit {credit}, lowest {lowest}");
}
