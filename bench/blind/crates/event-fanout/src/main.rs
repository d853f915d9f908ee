//! Fan-out of events to short-lived subscribers: every session opens a queue,
//! two publishers deliver their first events to it, and the subscriber hangs up.

use crossbeam_channel::{unbounded, Sender};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

const PUBLISHERS: usize = 2;
const SESSIONS: u64 = 150;

#[derive(Debug)]
struct Event {
    session: u64,
    publisher: usize,
    payload: u64,
}

struct Stats {
    delivered: AtomicU64,
    refused: AtomicU64,
    received: AtomicU64,
}

struct Hub {
    /// Sender of the session that is open at the moment, one per publisher.
    slots: [Mutex<Option<Sender<Event>>>; PUBLISHERS],
    open: Barrier,
    close: Barrier,
    stats: Stats,
}

impl Hub {
    fn new() -> Hub {
        Hub {
            slots: [Mutex::new(None), Mutex::new(None)],
            open: Barrier::new(PUBLISHERS + 1),
            close: Barrier::new(PUBLISHERS + 1),
            stats: Stats {
                delivered: AtomicU64::new(0),
                refused: AtomicU64::new(0),
                received: AtomicU64::new(0),
            },
        }
    }
}

fn checksum(session: u64, publisher: usize) -> u64 {
    let mut h = session.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ publisher as u64;
    h ^= h >> 29;
    h = h.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    h ^ (h >> 32)
}

fn publisher(hub: &Hub, me: usize) {
    for session in 0..SESSIONS {
        hub.open.wait();
        let tx = hub.slots[me].lock().unwrap().take().expect("no session open");
        let event = Event {
            session,
            publisher: me,
            payload: checksum(session, me),
        };
        match tx.send(event) {
            Ok(()) => hub.stats.delivered.fetch_add(1, Ordering::Relaxed),
            Err(_) => hub.stats.refused.fetch_add(1, Ordering::Relaxed),
        };
        drop(tx);
        hub.close.wait();
    }
}

fn main() {
    let hub = Arc::new(Hub::new());
    let workers: Vec<_> = (0..PUBLISHERS)
        .map(|me| {
            let hub = hub.clone();
            thread::spawn(move || publisher(&hub, me))
        })
        .collect();

    for session in 0..SESSIONS {
        let (tx, rx) = unbounded::<Event>();
        for slot in &hub.slots {
            *slot.lock().unwrap() = Some(tx.clone());
        }
        hub.open.wait();
        // Every fourth subscriber reads what is there already, the others hang up at once.
        if session % 4 == 0 {
            while let Ok(event) = rx.try_recv() {
                assert_eq!(event.session, session, "event of another session: {event:?}");
                assert_eq!(event.payload, checksum(session, event.publisher), "damaged event {event:?}");
                hub.stats.received.fetch_add(1, Ordering::Relaxed);
            }
        }
        drop(rx);
        hub.close.wait();
        drop(tx);
    }

    for w in workers {
        w.join().unwrap();
    }
    let delivered = hub.stats.delivered.load(Ordering::Relaxed);
    let refused = hub.stats.refused.load(Ordering::Relaxed);
    let received = hub.stats.received.load(Ordering::Relaxed);
    assert_eq!(delivered + refused, SESSIONS * PUBLISHERS as u64, "events unaccounted for");
    assert!(received <= delivered, "received more than was sent");
    println!("{delivered} delivered, {refused} refused, {received} received");
}
