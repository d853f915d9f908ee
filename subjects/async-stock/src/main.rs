//! A shop's back end on tokio: requests reserve pieces of an article; the price service is asked before each
//! reservation is confirmed.
//!
//! The stock is behind an asynchronous mutex. But it is read, the price is awaited without the lock, and what is
//! left is written afterwards: a reservation that another request made in the meantime is forgotten.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

struct Stock {
    available: u64,
    reservations: u64,
}

struct BackEnd {
    stock: Mutex<Stock>,
    prices_asked: AtomicU64,
    orders: Mutex<Vec<Order>>,
    confirming: Mutex<()>,
}

struct Order {
    pieces: u64,
    price: u64,
}

impl BackEnd {
    async fn available(&self) -> u64 {
        let stock = self.stock.lock().await;
        stock.available /* BUG: 1 */
    }

    async fn set_available(&self, available: u64) {
        let mut stock = self.stock.lock().await;
        stock.available = available; /* BUG: 2, 3 */
        stock.reservations += 1;
    }

    async fn price(&self, customer: u64, effort: u64) -> u64 {
        self.prices_asked.fetch_add(1, Ordering::Relaxed);
        std::hint::black_box(negotiate(customer, effort)) % 90 + 10
    }

    async fn reserve(&self, customer: u64, pieces: u64) {
        let _alone =
            if cfg!(feature = "fixed") { Some(self.confirming.lock().await) } else { None };
        let available = self.available().await;
        if available < pieces {
            return;
        }
        let price = self.price(customer, 100).await;
        self.set_available(available - pieces).await;
        self.orders.lock().await.push(Order { pieces, price });
    }
}

fn negotiate(customer: u64, effort: u64) -> u64 {
    (0..effort).fold(customer, |offer, step| {
        (offer ^ step).wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(7)
    })
}

async fn serve(back_end: Arc<BackEnd>, first: u64, requests: u64, effort: u64) {
    for request in 0..requests {
        let customer = negotiate(first + request, effort);
        back_end.reserve(customer, customer % 3 + 1).await;
        tokio::task::yield_now().await;
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let requests = arguments.next().unwrap_or(20);
    let effort = arguments.next().unwrap_or(4000);
    let back_end = Arc::new(BackEnd {
        stock: Mutex::new(Stock { available: 10_000, reservations: 0 }),
        prices_asked: AtomicU64::new(0),
        orders: Mutex::new(Vec::new()),
        confirming: Mutex::new(()),
    });
    let servers: Vec<_> = (0..3)
        .map(|n| tokio::spawn(serve(Arc::clone(&back_end), n * 1000, requests, effort)))
        .collect();
    for server in servers {
        server.await.expect("a server does not panic");
    }
    let left = back_end.available().await;
    let orders = back_end.orders.lock().await;
    let ordered: u64 = orders.iter().map(|order| order.pieces).sum();
    let turnover: u64 = orders.iter().map(|order| order.pieces * order.price).sum();
    println!("{} orders for {turnover}, {left} pieces left", orders.len());
    if left + ordered != 10_000 {
        eprintln!("FAILED: {ordered} pieces were ordered, but {left} of 10000 are left");
        std::process::exit(1);
    }
}
