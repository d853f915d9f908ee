//! Outgoing mail: clients submit and wait for their receipt, one deliverer sleeps while nothing is pending.
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

const CLIENTS: u64 = 2;
const MAILS: u64 = 60;

struct Mail {
    from: u64,
    body: String,
    receipt: Sender<u64>,
}

enum Item {
    Deliver(Mail),
    Stop,
}

#[derive(Default)]
struct Outbox {
    queue: Mutex<VecDeque<Item>>,
    pending: AtomicUsize,
    idle: Mutex<u64>,
    bell: Condvar,
}

impl Outbox {
    fn submit(&self, item: Item) {
        {
            let mut queue = self.queue.lock().unwrap();
            queue.push_back(item);
            self.pending.fetch_add(1, Ordering::SeqCst); // BUG: c
        }
        #[cfg(feature = "fixed")]
        let _idle = self.idle.lock().unwrap();
        self.bell.notify_one(); // BUG: d
    }

    fn take(&self) -> Option<Item> {
        let mut queue = self.queue.lock().unwrap();
        let item = queue.pop_front()?;
        self.pending.fetch_sub(1, Ordering::SeqCst);
        Some(item)
    }

    #[cfg(not(feature = "fixed"))]
    fn wait_for_mail(&self) {
        if self.pending.load(Ordering::SeqCst) > 0 { // BUG: a
            return;
        }
        let mut idle = self.idle.lock().unwrap();
        *idle += 1;
        drop(self.bell.wait(idle).unwrap()); // BUG: b
    }

    #[cfg(feature = "fixed")]
    fn wait_for_mail(&self) {
        let mut idle = self.idle.lock().unwrap();
        while self.pending.load(Ordering::SeqCst) == 0 {
            *idle += 1;
            idle = self.bell.wait(idle).unwrap();
        }
    }
}

fn sign(body: &str, from: u64) -> u64 {
    let mut h = from.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for _ in 0..4 {
        for b in body.bytes() {
            h = h.rotate_left(5) ^ u64::from(b);
            h = h.wrapping_mul(0x0100_0000_01b3);
        }
    }
    h
}

fn deliverer(outbox: &Outbox) -> u64 {
    let mut delivered = 0;
    loop {
        outbox.wait_for_mail();
        while let Some(item) = outbox.take() {
            match item {
                Item::Deliver(mail) => {
                    let signature = sign(&mail.body, mail.from);
                    delivered += 1;
                    mail.receipt.send(signature).unwrap();
                }
                Item::Stop => return delivered,
            }
        }
    }
}

fn client(outbox: &Outbox, from: u64) -> u64 {
    let (receipt, receipts) = mpsc::channel();
    let mut confirmed = 0;
    for n in 0..MAILS {
        let body = format!("mail {n} of client {from}: {}", "lorem ipsum ".repeat(1 + (n % 5) as usize));
        let expected = sign(&body, from);
        outbox.submit(Item::Deliver(Mail { from, body, receipt: receipt.clone() }));
        let signature = receipts.recv().unwrap();
        assert_eq!(signature, expected, "wrong receipt");
        confirmed += 1;
    }
    confirmed
}

fn main() {
    let outbox = Arc::new(Outbox::default());
    let pump = {
        let outbox = outbox.clone();
        thread::spawn(move || deliverer(&outbox))
    };
    let clients: Vec<_> = (0..CLIENTS)
        .map(|from| {
            let outbox = outbox.clone();
            thread::spawn(move || client(&outbox, from))
        })
        .collect();
    let confirmed: u64 = clients.into_iter().map(|c| c.join().unwrap()).sum();
    outbox.submit(Item::Stop);
    let delivered = pump.join().unwrap();
    assert_eq!(delivered, confirmed);
    println!("{delivered} delivered, {} naps", outbox.idle.lock().unwrap());
}
