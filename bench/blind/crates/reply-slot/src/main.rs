//! Requests with a deadline: a client that gives up closes its reply slot and takes the reply
//! if there is one already; otherwise the server gets the reply back and puts it aside.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{mpsc, Arc};
use std::thread;
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::TryRecvError;

const CLIENTS: u64 = 2;
const REQUESTS: u64 = 200;

struct Request {
    id: u64,
    reply: oneshot::Sender<Vec<u64>>,
}

#[derive(Default)]
struct Totals {
    taken: AtomicU64,
    given_up: AtomicU64,
    put_aside: AtomicU64,
    backoff: AtomicU64,
    own_work: AtomicU64,
}

fn compute(id: u64) -> Vec<u64> {
    let mut x = id + 1;
    (0..8 + id % 5)
        .map(|_| {
            x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            x >> 20
        })
        .collect()
}

fn server(requests: mpsc::Receiver<Request>, accepted: &AtomicU64, totals: &Totals) -> u64 {
    let mut served = 0;
    for request in requests {
        accepted.store(request.id, Ordering::Release);
        let reply = compute(request.id);
        served += 1;
        if let Err(back) = request.reply.send(reply) {
            assert_eq!(back, compute(request.id), "another reply came back");
            totals.put_aside.fetch_add(1, Ordering::Relaxed);
        }
    }
    served
}

fn client(me: u64, requests: mpsc::Sender<Request>, accepted: &AtomicU64, totals: &Totals) {
    for n in 0..REQUESTS {
        let id = me * 1_000_000 + n + 1;
        let (reply, mut slot) = oneshot::channel();
        if requests.send(Request { id, reply }).is_err() {
            return;
        }
        // The deadline: from the moment the request is accepted (or not within some time) we have
        // a little work of our own, then we do not wait any longer.
        for _ in 0..200 {
            if accepted.load(Ordering::Acquire) == id {
                break;
            }
            thread::yield_now();
        }
        let own: u64 = (0..n % 3).map(|k| compute(id + k)[1] % 2).sum();
        totals.own_work.fetch_add(own, Ordering::Relaxed);
        slot.close();
        // How long to wait before the next request, in case this one was in vain.
        let backoff = compute(id).iter().fold(n, |a, b| a ^ b) % 64;
        totals.backoff.fetch_add(backoff, Ordering::Relaxed);
        match slot.try_recv() {
            Ok(reply) => {
                assert_eq!(reply, compute(id), "reply to another request");
                totals.taken.fetch_add(1, Ordering::Relaxed);
            }
            Err(TryRecvError::Closed) => {
                totals.given_up.fetch_add(1, Ordering::Relaxed);
            }
            Err(TryRecvError::Empty) => unreachable!("slot is closed"),
        }
    }
}

fn main() {
    let totals = Arc::new(Totals::default());
    let mut threads = Vec::new();
    let mut servers = Vec::new();
    for me in 0..CLIENTS {
        let (tx, rx) = mpsc::channel();
        let accepted = Arc::new(AtomicU64::new(0));
        let (t, a) = (totals.clone(), accepted.clone());
        servers.push(thread::spawn(move || server(rx, &a, &t)));
        let (t, a) = (totals.clone(), accepted);
        threads.push(thread::spawn(move || client(me, tx, &a, &t)));
    }
    for t in threads {
        t.join().expect("a client failed");
    }
    let served: u64 = servers.into_iter().map(|s| s.join().expect("a server failed")).sum();
    let taken = totals.taken.load(Ordering::Relaxed);
    let given_up = totals.given_up.load(Ordering::Relaxed);
    let put_aside = totals.put_aside.load(Ordering::Relaxed);
    assert_eq!(served, CLIENTS * REQUESTS, "requests served");
    assert_eq!(taken + given_up, served, "requests without an end");
    assert_eq!(put_aside, given_up, "replies lost or delivered twice");
    println!("{served} served, {taken} taken, {put_aside} put aside");
}
