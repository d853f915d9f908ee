//! Table of user sessions, created on first use and shared by all request workers.

use std::collections::HashMap;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;

const WORKERS: u32 = 4;
const USERS: u32 = 8;
const REQUESTS: u32 = 50;

struct Session {
    id: u64,
    user: u32,
    hits: AtomicU64,
    bytes: AtomicU64,
}

impl Session {
    fn new(id: u64, user: u32) -> Self {
        Session {
            id,
            user,
            hits: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
        }
    }

    fn record(&self, bytes: u64) {
        self.hits.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct SessionTable {
    by_user: RwLock<HashMap<u32, Arc<Session>>>,
    next_id: AtomicU64,
    access_log: Mutex<Vec<(u64, u32)>>,
}

impl SessionTable {
    fn acquire(&self, user: u32) -> Arc<Session> {
        if let Some(session) = self.by_user.read().unwrap().get(&user) { // BUG: a
            return Arc::clone(session);
        }
        let id = self.next_id.fetch_add(1, Ordering::Relaxed) + 1;
        let session = Arc::new(Session::new(id, user));
        let mut by_user = self.by_user.write().unwrap(); // BUG: b
        #[cfg(feature = "fixed")]
        if let Some(existing) = by_user.get(&user) {
            return Arc::clone(existing);
        }
        by_user.insert(user, Arc::clone(&session)); // BUG: c
        session
    }

    fn log(&self, session: &Session) {
        let mut log = self.access_log.lock().unwrap();
        log.push((session.id, session.user));
    }

    fn total_hits(&self) -> u64 {
        let by_user = self.by_user.read().unwrap();
        by_user
            .values()
            .map(|s| s.hits.load(Ordering::Relaxed))
            .sum()
    }
}

/// Produces the page for one request and returns its size.
fn render(user: u32, request: u32) -> u64 {
    let mut h = 0x811c_9dc5u32 ^ user;
    for i in 0..1500 + (request % 7) * 150 {
        h = (h ^ (i & 0xff)).wrapping_mul(0x0100_0193);
    }
    u64::from(h % 4096)
}

fn serve(table: &SessionTable, worker: u32) -> u64 {
    let mut pick = worker.wrapping_mul(2_654_435_761) | 1;
    let mut sent = 0;
    for request in 0..REQUESTS {
        pick ^= pick << 13;
        pick ^= pick >> 17;
        pick ^= pick << 5;
        let user = pick % USERS;
        let bytes = render(user, request);
        let session = table.acquire(user);
        session.record(bytes);
        table.log(&session);
        sent += bytes;
    }
    sent
}

fn main() {
    let table = Arc::new(SessionTable::default());
    let workers: Vec<_> = (1..=WORKERS)
        .map(|w| {
            let table = Arc::clone(&table);
            thread::spawn(move || serve(&table, w))
        })
        .collect();
    let sent: u64 = workers.into_iter().map(|w| w.join().unwrap()).sum();

    let expected = u64::from(WORKERS * REQUESTS);
    let logged = table.access_log.lock().unwrap().len() as u64;
    assert_eq!(logged, expected);
    let hits = table.total_hits();
    if hits != expected {
        eprintln!("session hits lost: {hits} of {expected} ({sent} bytes sent)");
        process::exit(1);
    }
    println!("{hits} hits, {sent} bytes");
}
