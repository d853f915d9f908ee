//! Agents sell the seats of small planes, one flight a day. When the last seat of a flight goes, its sales are closed.
//!
//! How many seats are sold is an atomic, and so is the sign that sales are closed. But an agent looks which seat is
//! the next, prints the ticket, and then counts it: two agents that look before either has counted sell one seat twice.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

const AGENTS: usize = 3;

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
        let code = print_ticket(agent, seat, 150);
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

/// An agent has one customer for each of the flights, whose sales open for all agents at once.
fn agent(flights: &[Flight], open: &Barrier, number: usize, patience: u32) {
    let mut customer = number;
    for flight in flights {
        open.wait();
        customer += 1 + (std::hint::black_box(advise(customer, patience)) & 1) as usize;
        if !flight.closed.load(Ordering::SeqCst) {
            flight.sell(number);
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let days = arguments.next().unwrap_or(12);
    let patience = arguments.next().unwrap_or(2000) as u32;
    let flights: Vec<Flight> = (0..days).map(|_| Flight::new(AGENTS)).collect();
    let open = Barrier::new(AGENTS);
    thread::scope(|threads| {
        for number in 0..AGENTS {
            let (flights, open) = (&flights, &open);
            threads.spawn(move || agent(flights, open, number, patience));
        }
    });
    let twice: usize = flights.iter().map(Flight::seats_sold_twice).sum();
    let passengers = flights[0].passengers.lock().unwrap();
    let last = passengers.iter().max_by_key(|ticket| ticket.seat).expect("a passenger");
    println!(
        "{} flights, {} tickets for the first; its last by agent {}: {:08x}",
        flights.len(),
        passengers.len(),
        last.agent,
        last.code
    );
    if twice > 0 {
        eprintln!("FAILED: {twice} seats were sold twice");
        std::process::exit(1);
    }
}
