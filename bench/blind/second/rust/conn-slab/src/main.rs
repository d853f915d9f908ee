//! Connection slab of a chat server: dispatchers answer peers, the acceptor replaces closed connections.
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const SLOTS: usize = 8;
const REPLIES: u64 = 150;
const TURNOVER: u64 = 24;

struct Reply {
    to: u64,
    text: String,
}

struct Conn {
    peer: u64,
    generation: u64,
    outbound: Vec<Reply>,
}

#[derive(Clone, Copy)]
struct Handle {
    slot: usize,
    generation: u64,
}

#[derive(Default)]
struct Slab {
    conns: Vec<Option<Conn>>,
    free: Vec<usize>,
    opened: u64,
}

impl Slab {
    fn open(&mut self, peer: u64) -> Handle {
        self.opened += 1;
        let conn = Conn { peer, generation: self.opened, outbound: Vec::new() };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.conns.push(None);
            self.conns.len() - 1
        });
        self.conns[slot] = Some(conn); // BUG: d
        Handle { slot, generation: self.opened }
    }

    fn close(&mut self, slot: usize) -> Option<Conn> {
        let conn = self.conns.get_mut(slot)?.take()?; // BUG: c
        self.free.push(slot); // BUG: c
        Some(conn)
    }

    fn find(&self, slot: usize) -> Option<(u64, Handle)> {
        let conn = self.conns.get(slot)?.as_ref()?; // BUG: a
        Some((conn.peer, Handle { slot, generation: conn.generation }))
    }

    fn send(&mut self, to: Handle, reply: Reply) -> bool {
        let Some(conn) = self.conns[to.slot].as_mut() else { // BUG: b
            return false;
        };
        if cfg!(feature = "fixed") && conn.generation != to.generation {
            return false;
        }
        conn.outbound.push(reply); // BUG: b
        true
    }
}

#[derive(Default)]
struct Server {
    slab: Mutex<Slab>,
    delivered: AtomicU64,
    dropped: AtomicU64,
    dispatchers: AtomicUsize,
}

fn check(conn: Conn) -> u64 {
    for reply in &conn.outbound {
        if reply.to != conn.peer {
            eprintln!("peer {} received mail of {}: {}", conn.peer, reply.to, reply.text);
            std::process::abort();
        }
    }
    conn.outbound.len() as u64
}

fn mix(mut x: u64, rounds: u32) -> u64 {
    for _ in 0..rounds {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        x ^= x >> 29;
    }
    x
}

fn dispatch(server: &Server, seed: u64) {
    let mut x = seed;
    for n in 0..REPLIES {
        x = mix(x, 900);
        let found = server.slab.lock().unwrap().find((x >> 20) as usize % SLOTS); // BUG: a
        let Some((peer, handle)) = found else {
            continue;
        };
        let reply = Reply { to: peer, text: format!("#{n} hello {peer}") };
        let sent = server.slab.lock().unwrap().send(handle, reply); // BUG: b
        let counter = if sent { &server.delivered } else { &server.dropped };
        counter.fetch_add(1, Ordering::Relaxed);
    }
    server.dispatchers.fetch_sub(1, Ordering::Release);
}

fn accept(server: &Server) -> u64 {
    let mut received = 0;
    let mut x = 42;
    for peer in 0..TURNOVER {
        x = mix(x, 6000);
        let mut slab = server.slab.lock().unwrap();
        let closed = slab.close((x >> 20) as usize % SLOTS); // BUG: c
        slab.open(1000 + peer); // BUG: d
        drop(slab);
        received += closed.map_or(0, check);
    }
    received
}

fn main() {
    let server = Arc::new(Server::default());
    server.dispatchers.store(3, Ordering::Relaxed);
    for peer in 0..SLOTS as u64 {
        server.slab.lock().unwrap().open(peer);
    }
    let dispatchers: Vec<_> = (1..=3u64)
        .map(|seed| {
            let server = server.clone();
            thread::spawn(move || dispatch(&server, seed * 7919))
        })
        .collect();
    let mut received = accept(&server);
    for d in dispatchers {
        d.join().unwrap();
    }
    assert_eq!(server.dispatchers.load(Ordering::Acquire), 0);
    let mut slab = server.slab.lock().unwrap();
    for slot in 0..slab.conns.len() {
        received += slab.close(slot).map_or(0, check);
    }
    assert_eq!(received, server.delivered.load(Ordering::Relaxed), "replies lost");
    println!("{received} received, {} dropped", server.dropped.load(Ordering::Relaxed));
}
