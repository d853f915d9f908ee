//! A lottery: the machine draws a number, and shows it until it draws the next one. A player who comes by writes the
//! number on the ticket, and the office enters it in its book.
//!
//! The machine is locked whenever it is used. But ticket and book both look at what the machine shows, one after the
//! other: if it draws in between, ticket and book differ.

use std::sync::Mutex;
use std::thread;

struct Machine {
    seed: u64,
    shown: u64,
    draws: u64,
}

struct Entry {
    player: usize,
    number: u64,
}

struct Office {
    machine: Mutex<Machine>,
    book: Mutex<Vec<Entry>>,
    queue: Mutex<()>,
}

struct Ticket {
    player: usize,
    number: u64,
    seal: u64,
}

impl Office {
    fn open() -> Self {
        Self {
            machine: Mutex::new(Machine { seed: 4711, shown: 0, draws: 0 }),
            book: Mutex::new(Vec::new()),
            queue: Mutex::new(()),
        }
    }

    fn draw(&self) {
        let _turn = cfg!(feature = "fixed").then(|| self.queue.lock().unwrap());
        let mut machine = self.machine.lock().unwrap();
        machine.seed = machine
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let number = machine.seed >> 20;
        machine.shown = number; /* BUG: 2 */
        machine.draws += 1;
    }

    fn write_ticket(&self, player: usize) -> Ticket {
        let number = {
            let machine = self.machine.lock().unwrap();
            machine.shown /* BUG: 1 */
        };
        Ticket { player, number, seal: seal(number, 1500) }
    }

    fn enter_in_book(&self, player: usize) {
        let number = {
            let machine = self.machine.lock().unwrap();
            machine.shown /* BUG: 3 */
        };
        self.book.lock().unwrap().push(Entry { player, number });
    }

    fn play(&self, player: usize) -> Ticket {
        let _turn = cfg!(feature = "fixed").then(|| self.queue.lock().unwrap());
        let ticket = self.write_ticket(player);
        self.enter_in_book(player);
        ticket
    }

    fn knows(&self, ticket: &Ticket) -> bool {
        let book = self.book.lock().unwrap();
        book.iter().any(|entry| entry.player == ticket.player && entry.number == ticket.number)
    }
}

fn seal(number: u64, rounds: u64) -> u64 {
    (0..rounds).fold(number, |seal, round| (seal ^ round).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Players fill in their names first; the machine mixes its balls.
fn fill_in(player: usize, rounds: u64) -> u64 {
    std::hint::black_box(seal(player as u64, rounds))
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let draws = arguments.next().unwrap_or(30);
    let patience = arguments.next().unwrap_or(6000);
    let office = Office::open();
    office.draw();
    let tickets: Vec<Ticket> = thread::scope(|threads| {
        let office = &office;
        threads.spawn(move || {
            for turn in 0..draws {
                fill_in(turn as usize, patience);
                office.draw();
            }
        });
        let play = |player: usize| {
            move || {
                fill_in(player, patience * draws / 3);
                office.play(player)
            }
        };
        let players: Vec<_> = (0..4).map(|player| threads.spawn(play(player))).collect();
        players.into_iter().map(|player| player.join().unwrap()).collect()
    });
    let seals = tickets.iter().fold(0, |all, ticket| all ^ ticket.seal);
    println!("{} tickets, seals {seals:016x}", tickets.len());
    if let Some(ticket) = tickets.iter().find(|ticket| !office.knows(ticket)) {
        eprintln!(
            "FAILED: player {} has number {}, the book says another",
            ticket.player, ticket.number
        );
        std::process::exit(1);
    }
}
