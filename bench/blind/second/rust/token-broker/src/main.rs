//! API client with an access token that is renewed by a single-use refresh key when it has expired.
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use tokio::sync::Mutex;

const CLIENTS: u64 = 3;
const CALLS: u64 = 60;
const LIFETIME: u64 = 100;

#[derive(Clone)]
struct Token {
    bearer: u64,
    refresh_key: u64,
    expires: u64,
}

#[derive(Default)]
struct Issuer {
    spent: Mutex<HashSet<u64>>,
    serial: AtomicU64,
}

impl Issuer {
    fn mint(&self, now: u64) -> Token {
        let serial = self.serial.fetch_add(1, Ordering::SeqCst) + 1;
        Token {
            bearer: digest(serial, 20),
            refresh_key: digest(serial ^ 0xabcd_ef01, 20),
            expires: now + LIFETIME,
        }
    }

    async fn exchange(&self, refresh_key: u64, now: u64) -> Result<Token, String> {
        if !self.spent.lock().await.insert(refresh_key) {
            return Err(format!("refresh key {refresh_key:x} already used"));
        }
        Ok(self.mint(now))
    }
}

struct Broker {
    issuer: Issuer,
    token: Mutex<Token>,
    clock: AtomicU64,
    renewals: AtomicU64,
}

impl Broker {
    fn new() -> Self {
        let issuer = Issuer::default();
        let token = Mutex::new(issuer.mint(0));
        Broker { issuer, token, clock: AtomicU64::new(0), renewals: AtomicU64::new(0) }
    }

    #[cfg(not(feature = "fixed"))]
    async fn bearer(&self) -> Result<u64, String> {
        let now = self.clock.fetch_add(1, Ordering::SeqCst);
        let current = self.token.lock().await.clone(); // BUG: a
        if now < current.expires {
            return Ok(current.bearer);
        }
        let renewed = self.issuer.exchange(current.refresh_key, now).await?; // BUG: c
        self.renewals.fetch_add(1, Ordering::Relaxed);
        let bearer = renewed.bearer;
        *self.token.lock().await = renewed; // BUG: b
        Ok(bearer)
    }

    #[cfg(feature = "fixed")]
    async fn bearer(&self) -> Result<u64, String> {
        let now = self.clock.fetch_add(1, Ordering::SeqCst);
        let mut current = self.token.lock().await;
        if now >= current.expires {
            *current = self.issuer.exchange(current.refresh_key, now).await?;
            self.renewals.fetch_add(1, Ordering::Relaxed);
        }
        Ok(current.bearer)
    }
}

fn digest(seed: u64, rounds: u32) -> u64 {
    let mut x = seed | 1 << 63;
    for _ in 0..rounds {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}

async fn client(broker: Arc<Broker>, id: u64) -> Result<u64, String> {
    let mut answer = digest(id + 1, 50);
    for call in 0..CALLS {
        let bearer = broker.bearer().await?;
        answer = digest(answer ^ bearer, 6000 + (answer >> 20) as u32 % 16000);
        if call % 8 == 7 {
            tokio::task::yield_now().await;
        }
    }
    Ok(answer)
}

async fn run() -> Result<(), String> {
    let broker = Arc::new(Broker::new());
    let clients: Vec<_> = (0..CLIENTS).map(|id| tokio::spawn(client(broker.clone(), id))).collect();
    for c in clients {
        std::hint::black_box(c.await.map_err(|e| e.to_string())??);
    }
    let renewals = broker.renewals.load(Ordering::Relaxed);
    let spent = broker.issuer.spent.lock().await.len() as u64;
    assert_eq!(broker.clock.load(Ordering::SeqCst), CLIENTS * CALLS);
    assert_eq!(renewals, spent);
    println!("{} calls, {renewals} renewals", CLIENTS * CALLS);
    Ok(())
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    if let Err(e) = runtime.block_on(run()) {
        eprintln!("request failed: {e}");
        std::process::exit(1);
    }
}
