//! A lottery: the machine draws a number, the player writes it on the ticket, and the office enters it in its book.
//!
//! The machine is locked whenever it is used. But ticket and book both look at what the machine shows, one after the
//! other: if it draws for another player in between, ticket and book differ.

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
        Ticket { player, number, seal: seal(number, 200) }
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
        self.draw();
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

/// Players fill in their names first.
fn fill_in(player: usize, rounds: u64) -> u64 {
    std::hint::black_box(seal(player as u64, rounds))
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let games = arguments.next().unwrap_or(25);
    let patience = arguments.next().unwrap_or(12_000);
    let office = Office::open();
    let tickets: Vec<Ticket> = thread::scope(|threads| {
        let play = |player: usize| {
            let office = &office;
            move || {
                let turns = (0..games).map(|_| {
                    fill_in(player, patience);
                    office.play(player)
                });
                turns.collect::<Vec<_>>()
            }
        };
        let players: Vec<_> = (0..3).map(|player| threads.spawn(play(player))).collect();
        players.into_iter().flat_map(|player| player.join().unwrap()).collect()
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
