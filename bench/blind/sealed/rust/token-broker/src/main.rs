//! Access tokens fetched from an authority on demand and shared until they are revoked.

use std::process;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use tokio::runtime::Builder;
use tokio::sync::Mutex as AsyncMutex;
use tokio::task;

const CLIENTS: u64 = 2;
const REVOCATIONS: u64 = 6;

#[derive(Clone, Copy)]
struct Token {
    epoch: u64,
    secret: u64,
}

/// Issues tokens; those of an older epoch are void.
#[derive(Default)]
struct Authority {
    epoch: AtomicU64,
    issued: AtomicU64,
    signing_key: AsyncMutex<u64>,
}

impl Authority {
    async fn issue(&self) -> Token {
        let epoch = self.epoch.load(Ordering::SeqCst); // BUG: b
        let serial = self.issued.fetch_add(1, Ordering::Relaxed);
        let mut key = self.signing_key.lock().await;
        *key = stir(*key ^ serial, 20);
        Token {
            epoch,
            secret: *key,
        }
    }
}

#[derive(Default)]
struct Broker {
    authority: Authority,
    cached: Mutex<Option<Token>>,
    void_before: AtomicU64,
    stopped: AtomicBool,
    audit: Mutex<Vec<u64>>,
}

impl Broker {
    async fn token(&self) -> Token {
        if let Some(token) = *self.cached.lock().unwrap() { // BUG: a
            return token;
        }
        let token = self.authority.issue().await;
        self.keep(token);
        token
    }

    #[cfg(not(feature = "fixed"))]
    fn keep(&self, token: Token) {
        *self.cached.lock().unwrap() = Some(token); // BUG: c
    }

    #[cfg(feature = "fixed")]
    fn keep(&self, token: Token) {
        let mut cached = self.cached.lock().unwrap();
        if token.epoch == self.authority.epoch.load(Ordering::SeqCst) {
            *cached = Some(token);
        }
    }

    fn revoke(&self) {
        let mut cached = self.cached.lock().unwrap(); // BUG: d
        let epoch = self.authority.epoch.fetch_add(1, Ordering::SeqCst) + 1; // BUG: e
        *cached = None; // BUG: f
        drop(cached);
        self.audit.lock().unwrap().push(epoch);
        self.void_before.store(epoch, Ordering::SeqCst);
    }
}

fn stir(mut x: u64, rounds: u32) -> u64 {
    for _ in 0..rounds {
        x = (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93).wrapping_add(3);
    }
    x
}

async fn client(broker: Arc<Broker>, id: u64) -> u64 {
    let mut calls = 0;
    let mut request = id + 1;
    while !broker.stopped.load(Ordering::SeqCst) {
        request = stir(request, 2500);
        let void_before = broker.void_before.load(Ordering::SeqCst);
        let token = broker.token().await;
        if token.epoch < void_before {
            eprintln!(
                "client {id} got revoked token: epoch {}, void before {void_before}",
                token.epoch
            );
            process::exit(1);
        }
        request ^= token.secret;
        calls += 1;
        task::yield_now().await;
    }
    calls
}

fn administer(broker: &Broker) {
    let mut load = 1;
    for _ in 0..REVOCATIONS {
        load = stir(load, 60_000);
        broker.revoke();
    }
    stir(load, 20_000);
    broker.stopped.store(true, Ordering::SeqCst);
}

fn main() {
    let broker = Arc::new(Broker::default());
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .build()
        .unwrap();
    let admin = {
        let broker = Arc::clone(&broker);
        thread::spawn(move || administer(&broker))
    };
    let calls = runtime.block_on(async {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|id| task::spawn(client(Arc::clone(&broker), id)))
            .collect();
        let mut calls = 0;
        for c in clients {
            calls += c.await.unwrap();
        }
        calls
    });
    admin.join().unwrap();
    assert_eq!(broker.audit.lock().unwrap().len() as u64, REVOCATIONS);
    let issued = broker.authority.issued.load(Ordering::Relaxed);
    println!("{calls} calls, {issued} tokens issued");
}
