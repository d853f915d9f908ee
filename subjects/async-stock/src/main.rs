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
    /// By article.
    stocks: Vec<Mutex<Stock>>,
    prices_asked: AtomicU64,
    orders: Mutex<Vec<Order>>,
    confirming: Mutex<()>,
}

struct Order {
    pieces: u64,
    price: u64,
}

impl BackEnd {
    async fn available(&self, article: usize) -> u64 {
        let stock = self.stocks[article].lock().await;
        stock.available /* BUG: 1 */
    }

    async fn set_available(&self, article: usize, available: u64) {
        let mut stock = self.stocks[article].lock().await;
        stock.available = available; /* BUG: 2, 3 */
        stock.reservations += 1;
    }

    async fn price(&self, customer: u64, effort: u64) -> u64 {
        self.prices_asked.fetch_add(1, Ordering::Relaxed);
        std::hint::black_box(negotiate(customer, effort)) % 90 + 10
    }

    async fn reserve(&self, article: usize, customer: u64, pieces: u64) {
        let _alone =
            if cfg!(feature = "fixed") { Some(self.confirming.lock().await) } else { None };
        let available = self.available(article).await;
        if available < pieces {
            return;
        }
        let price = self.price(customer, 1200).await;
        self.set_available(article, available - pieces).await;
        self.orders.lock().await.push(Order { pieces, price });
    }
}

fn negotiate(customer: u64, effort: u64) -> u64 {
    (0..effort).fold(customer, |offer, step| {
        (offer ^ step).wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(7)
    })
}

/// One request for each article. The second server goes through them from the end.
async fn serve(back_end: Arc<BackEnd>, server: u64, effort: u64) {
    let articles = back_end.stocks.len();
    for request in 0..articles {
        let article = if server == 0 { request } else { articles - 1 - request };
        let customer = negotiate(server * 1000 + request as u64, effort);
        back_end.reserve(article, customer, customer % 3 + 1).await;
        tokio::task::yield_now().await;
    }
}

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let articles = arguments.next().unwrap_or(30);
    let effort = arguments.next().unwrap_or(4000);
    let full = || Mutex::new(Stock { available: 100, reservations: 0 });
    let back_end = Arc::new(BackEnd {
        stocks: (0..articles).map(|_| full()).collect(),
        prices_asked: AtomicU64::new(0),
        orders: Mutex::new(Vec::new()),
        confirming: Mutex::new(()),
    });
    let servers: Vec<_> =
        (0..2).map(|server| tokio::spawn(serve(Arc::clone(&back_end), server, effort))).collect();
    for server in servers {
        server.await.expect("a server does not panic");
    }
    let mut left = 0;
    for article in 0..back_end.stocks.len() {
        left += back_end.available(article).await;
    }
    let orders = back_end.orders.lock().await;
    let ordered: u64 = orders.iter().map(|order| order.pieces).sum();
    let turnover: u64 = orders.iter().map(|order| order.pieces * order.price).sum();
    println!("{} orders for {turnover}, {left} pieces left", orders.len());
    if left + ordered != articles * 100 {
        eprintln!("FAILED: {ordered} pieces were ordered, but {left} are left");
        std::process::exit(1);
    }
}
