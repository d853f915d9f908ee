//! Agents sell the seats of one flight. When the last seat goes, sales are closed.
//!
//! How many seats are sold is an atomic, and so is the sign that sales are closed. But an agent looks which seat is
//! the next, prints the ticket, and then counts it: two agents that look before either has counted sell one seat twice.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

struct Flight {
    seats: usize,
    sold: AtomicUsize,
    closed: AtomicBool,
    passengers: Mutex<Vec<Ticket>>,
    counter: Mutex<()>,
}

struct Ticket {
    agent: usize,
    seat: usize,
    code: u32,
}

impl Flight {
    fn new(seats: usize) -> Self {
        Self {
            seats,
            sold: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            passengers: Mutex::new(Vec::new()),
            counter: Mutex::new(()),
        }
    }

    /// The next seat to be sold.
    fn next_seat(&self) -> Option<usize> {
        let sold = self.sold.load(Ordering::SeqCst); /* BUG: 1 */
        (sold < self.seats).then_some(sold + 1)
    }

    fn count_sold(&self) {
        let sold = self.sold.fetch_add(1, Ordering::SeqCst) + 1; /* BUG: 2, 3 */
        if sold >= self.seats {
            self.closed.store(true, Ordering::SeqCst);
        }
    }

    /// Sells a seat, if there is one.
    fn sell(&self, agent: usize) -> bool {
        let _at_the_counter = cfg!(feature = "fixed").then(|| self.counter.lock().unwrap());
        let Some(seat) = self.next_seat() else { return false };
        let code = print_ticket(agent, seat, 10);
        self.count_sold();
        self.passengers.lock().unwrap().push(Ticket { agent, seat, code });
        true
    }

    fn seats_sold_twice(&self) -> usize {
        let mut seats: Vec<usize> =
            self.passengers.lock().unwrap().iter().map(|ticket| ticket.seat).collect();
        seats.sort_unstable();
        seats.windows(2).filter(|pair| pair[0] == pair[1]).count()
    }
}

fn print_ticket(agent: usize, seat: usize, rounds: u32) -> u32 {
    (0..rounds)
        .fold((agent * 100 + seat) as u32, |code, round| (code ^ round).wrapping_mul(0x0100_0193))
}

/// Customers take their time before they buy.
fn advise(customer: usize, rounds: u32) -> u32 {
    (0..rounds).fold(customer as u32, |choice, _| {
        choice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223)
    })
}

fn agent(flight: &Flight, number: usize, patience: u32) {
    let mut customer = number;
    while !flight.closed.load(Ordering::SeqCst) {
        customer += 1 + (std::hint::black_box(advise(customer, patience)) & 1) as usize;
        if !flight.sell(number) {
            break;
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let seats = arguments.next().unwrap_or(60);
    let patience = arguments.next().unwrap_or(2000) as u32;
    let flight = Flight::new(seats);
    thread::scope(|threads| {
        for number in 0..3 {
            let flight = &flight;
            threads.spawn(move || agent(flight, number, patience));
        }
    });
    let twice = flight.seats_sold_twice();
    let passengers = flight.passengers.lock().unwrap();
    let last = passengers.iter().max_by_key(|ticket| ticket.seat).expect("a passenger");
    println!(
        "{} seats, {} tickets; the last by agent {}: {:08x}",
        seats,
        passengers.len(),
        last.agent,
        last.code
    );
    if twice > 0 {
        eprintln!("FAILED: {twice} seats were sold twice");
        std::process::exit(1);
    }
}
