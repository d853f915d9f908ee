//! Board of open work tickets. Workers book progress, a closer archives finished tickets.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{mpsc, Mutex};
use std::thread;

const WORKERS: u32 = 3;
const TICKETS: u32 = 5;
const STEPS: u64 = 6;

#[derive(Debug)]
struct Ticket {
    id: u32,
    goal: u64,
    booked: u64,
}

#[derive(Default)]
struct Board {
    open: Mutex<Vec<Ticket>>,
    archive: Mutex<Vec<Ticket>>,
    bookings: AtomicU64,
}

impl Board {
    fn file(&self, id: u32) {
        let goal = (0..STEPS).map(|step| weigh(id, step)).sum();
        let ticket = Ticket { id, goal, booked: 0 };
        self.open.lock().unwrap().push(ticket);
    }

    #[cfg(not(feature = "fixed"))]
    fn position(&self, id: u32) -> Option<usize> {
        let open = self.open.lock().unwrap(); // BUG: a
        open.iter().position(|t| t.id == id) // BUG: b
    }

    #[cfg(not(feature = "fixed"))]
    fn book(&self, id: u32, units: u64) {
        let Some(row) = self.position(id) else {
            return;
        };
        self.bookings.fetch_add(1, Ordering::Relaxed);
        let mut open = self.open.lock().unwrap(); // BUG: c
        if let Some(ticket) = open.get_mut(row) { // BUG: d
            ticket.booked += units; // BUG: e
        }
    }

    #[cfg(feature = "fixed")]
    fn book(&self, id: u32, units: u64) {
        let mut open = self.open.lock().unwrap();
        if let Some(ticket) = open.iter_mut().find(|t| t.id == id) {
            ticket.booked += units;
            self.bookings.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn close(&self, id: u32) {
        let mut open = self.open.lock().unwrap(); // BUG: f
        if let Some(row) = open.iter().position(|t| t.id == id) {
            let ticket = open.remove(row); // BUG: g
            drop(open);
            self.archive.lock().unwrap().push(ticket);
        }
    }
}

/// Effort of one step of a ticket.
fn weigh(id: u32, step: u64) -> u64 {
    let mut h = 0xcbf2_9ce4_8422_2325u64 ^ u64::from(id);
    for i in 0..2500 + step * 100 {
        h = (h ^ (i & 0x7f)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    1 + h % 90
}

fn work(board: &Board, worker: u32, finished: mpsc::Sender<u32>) {
    let first = worker * TICKETS;
    for step in 0..STEPS {
        for id in first..first + TICKETS {
            let units = weigh(id, step);
            board.book(id, units);
            if step + 1 == STEPS {
                finished.send(id).unwrap();
            }
        }
    }
}

fn main() {
    let board = Board::default();
    for id in 0..WORKERS * TICKETS {
        board.file(id);
    }

    thread::scope(|s| {
        let (tx, rx) = mpsc::channel();
        for worker in 0..WORKERS {
            let tx = tx.clone();
            let board = &board;
            s.spawn(move || work(board, worker, tx));
        }
        drop(tx);
        s.spawn(|| {
            for id in rx {
                board.close(id);
            }
        });
    });

    let open = board.open.into_inner().unwrap();
    assert!(open.is_empty(), "tickets never closed: {open:?}");
    let archive = board.archive.into_inner().unwrap();
    assert_eq!(archive.len() as u32, WORKERS * TICKETS);
    let off: Vec<_> = archive.iter().filter(|t| t.booked != t.goal).collect();
    if !off.is_empty() {
        eprintln!("ticket progress mismatch: {off:?}");
        process::exit(1);
    }
    let total: u64 = archive.iter().map(|t| t.booked).sum();
    let bookings = board.bookings.load(Ordering::Relaxed);
    println!("{total} units in {bookings} bookings");
}
