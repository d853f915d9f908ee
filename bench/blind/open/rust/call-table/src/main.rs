//! Table of outstanding remote calls. Callers wait for a while and then withdraw their call.

use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc;
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;

const CALLERS: u64 = 3;
const CALLS: u64 = 40;
const SLOTS: usize = 8;

struct Call {
    id: u64,
    answered: AtomicBool,
}

struct Entries {
    calls: Vec<Option<Arc<Call>>>,
    free: Vec<usize>,
}

struct CallTable {
    entries: Mutex<Entries>,
    next_id: AtomicU64,
    withdrawals: Mutex<Vec<u64>>,
}

impl CallTable {
    fn new() -> Self {
        CallTable {
            entries: Mutex::new(Entries {
                calls: vec![None; SLOTS],
                free: (0..SLOTS).collect(),
            }),
            next_id: AtomicU64::new(1),
            withdrawals: Mutex::new(Vec::new()),
        }
    }

    fn register(&self) -> (usize, Arc<Call>) {
        let call = Arc::new(Call {
            id: self.next_id.fetch_add(1, Ordering::Relaxed),
            answered: AtomicBool::new(false),
        });
        let mut entries = self.entries.lock();
        let slot = entries.free.pop().expect("a slot per caller"); // BUG: e
        entries.calls[slot] = Some(Arc::clone(&call)); // BUG: f
        (slot, call)
    }

    /// Delivers the answer, unless the call has been withdrawn.
    fn complete(&self, slot: usize, id: u64) -> bool {
        let mut entries = self.entries.lock();
        match &entries.calls[slot] {
            Some(call) if call.id == id => call.answered.store(true, Ordering::Release),
            _ => return false,
        }
        entries.calls[slot] = None; // BUG: c
        entries.free.push(slot); // BUG: d
        true
    }

    /// Takes back a call; false if it is not outstanding any more.
    fn withdraw(&self, slot: usize, call: &Call) -> bool {
        let mut entries = self.entries.lock();
        #[cfg(feature = "fixed")]
        if !matches!(&entries.calls[slot], Some(c) if c.id == call.id) {
            return false;
        }
        let withdrawn = entries.calls[slot].take(); // BUG: b
        if withdrawn.is_none() {
            return false;
        }
        entries.free.push(slot);
        drop(entries);
        self.withdrawals.lock().push(call.id);
        true
    }
}

/// Stands for marshalling or for other things a thread does meanwhile.
fn churn(seed: u64, rounds: u64) -> u64 {
    let mut x = seed | 1;
    for i in 0..rounds {
        x = x.rotate_left(11).wrapping_mul(0x2545_f491_4f6c_dd1d) ^ i;
    }
    x
}

fn caller(table: &CallTable, wire: mpsc::Sender<(usize, u64)>, id: u64) -> (u64, u64) {
    let (mut answered, mut withdrawn) = (0, 0);
    for n in 0..CALLS {
        let (slot, call) = table.register();
        wire.send((slot, call.id)).unwrap();
        let patience = 2000 + churn(id << 8 | n, 20) % 5000;
        churn(n, patience);
        if call.answered.load(Ordering::Acquire) { // BUG: a
            answered += 1;
            continue;
        }
        let taken = table.withdraw(slot, &call);
        let late = call.answered.load(Ordering::Acquire);
        if taken == late {
            eprintln!("call table inconsistent: call {} withdrawn {taken}, answered {late}", call.id);
            process::exit(1);
        }
        if taken {
            withdrawn += 1;
        } else {
            answered += 1;
        }
    }
    (answered, withdrawn)
}

fn responder(table: &CallTable, wire: mpsc::Receiver<(usize, u64)>) -> u64 {
    let mut delivered = 0;
    for (slot, id) in wire {
        churn(id, 600);
        if table.complete(slot, id) {
            delivered += 1;
        }
    }
    delivered
}

fn main() {
    let table = CallTable::new();
    let (tx, rx) = mpsc::channel();
    let (answered, withdrawn, delivered) = thread::scope(|s| {
        let table = &table;
        let responder = s.spawn(move || responder(table, rx));
        let callers: Vec<_> = (0..CALLERS)
            .map(|id| {
                let tx = tx.clone();
                s.spawn(move || caller(table, tx, id))
            })
            .collect();
        drop(tx);
        let (mut answered, mut withdrawn) = (0, 0);
        for c in callers {
            let (a, w) = c.join().unwrap();
            answered += a;
            withdrawn += w;
        }
        (answered, withdrawn, responder.join().unwrap())
    });
    assert_eq!(answered + withdrawn, CALLERS * CALLS);
    assert_eq!(answered, delivered);
    assert_eq!(table.withdrawals.lock().len() as u64, withdrawn);
    assert_eq!(table.entries.lock().free.len(), SLOTS);
    println!("{answered} answered, {withdrawn} withdrawn");
}
