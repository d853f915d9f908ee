//! Usage billing: requests are metered into the open window, the biller closes windows and writes invoices.
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::Arc;
use std::thread;

const WINDOWS: usize = 10;
const METERED: u64 = 400;

#[derive(Default)]
struct Window {
    units: BTreeMap<u32, u64>,
    closed: bool,
}

struct Invoice {
    window: usize,
    customer: u32,
    amount: u64,
}

struct Meter {
    windows: Vec<Mutex<Window>>,
    open: AtomicUsize,
    total: AtomicU64,
    tariffs: RwLock<Vec<u64>>,
    invoices: Mutex<Vec<Invoice>>,
}

impl Meter {
    fn new() -> Self {
        Meter {
            windows: (0..=WINDOWS).map(|_| Mutex::default()).collect(),
            open: AtomicUsize::new(0),
            total: AtomicU64::new(0),
            tariffs: RwLock::new(vec![1, 1, 2, 3]),
            invoices: Mutex::default(),
        }
    }

    fn tariff(&self, customer: u32) -> u64 {
        let tariffs = self.tariffs.read();
        tariffs[customer as usize % tariffs.len()]
    }

    fn record(&self, customer: u32, size: u64) {
        let units = size * self.tariff(customer);
        self.total.fetch_add(units, Ordering::Relaxed);
        loop {
            let at = self.open.load(Ordering::SeqCst); // BUG: a
            let mut window = self.windows[at].lock(); // BUG: b
            if cfg!(feature = "fixed") && window.closed {
                continue;
            }
            *window.units.entry(customer).or_default() += units; // BUG: b
            return;
        }
    }

    fn rotate(&self) {
        let at = self.open.fetch_add(1, Ordering::SeqCst); // BUG: c
        let units = {
            let mut window = self.windows[at].lock(); // BUG: d
            window.closed = true;
            std::mem::take(&mut window.units) // BUG: d
        };
        let mut invoices = self.invoices.lock();
        for (customer, amount) in units {
            invoices.push(Invoice { window: at, customer, amount });
        }
    }
}

fn work(mut x: u64, rounds: u64) -> u64 {
    for _ in 0..rounds {
        x = x.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ (x >> 31);
    }
    x
}

fn serve(meter: &Meter, id: u64) {
    let mut x = 0x1234_5678_9abc_def1 ^ (id << 40);
    for _ in 0..METERED {
        x = work(x, 700 + (x >> 50) % 500) | 1;
        meter.record((x >> 12) as u32 % 16, (x >> 24) % 90 + 10);
    }
}

fn bill(meter: &Meter) {
    let mut x = 99;
    for _ in 0..WINDOWS {
        x = work(x, 20000) | 1;
        meter.rotate();
    }
}

fn main() {
    let meter = Arc::new(Meter::new());
    let servers: Vec<_> = (0..3)
        .map(|id| {
            let meter = meter.clone();
            thread::spawn(move || serve(&meter, id))
        })
        .collect();
    bill(&meter);
    for s in servers {
        s.join().unwrap();
    }
    meter.rotate();

    let invoices = meter.invoices.lock();
    assert!(invoices.windows(2).all(|p| (p[0].window, p[0].customer) < (p[1].window, p[1].customer)));
    let billed: u64 = invoices.iter().map(|i| i.amount).sum();
    let total = meter.total.load(Ordering::Relaxed);
    if billed != total {
        eprintln!("billed {billed} units of {total}: usage not invoiced");
        std::process::exit(1);
    }
    println!("{} invoices, {billed} units", invoices.len());
}
