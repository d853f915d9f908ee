//! A bank: customers pay in and draw money, and transfer it between accounts. Each account has its lock.
//!
//! A deposit takes the lock twice: to look at the balance and to put the new one. What is paid in by another teller
//! in between is lost, and at the end of the day the books do not balance.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

struct State {
    balance: i64,
    entries: u64,
}

struct Account {
    name: &'static str,
    state: Mutex<State>,
}

impl Account {
    fn new(name: &'static str, balance: i64) -> Self {
        Self { name, state: Mutex::new(State { balance, entries: 0 }) }
    }

    fn balance(&self) -> i64 {
        let state = self.state.lock().unwrap();
        state.balance /* BUG: 1 */
    }

    fn set_balance(&self, balance: i64) {
        let mut state = self.state.lock().unwrap();
        state.balance = balance; /* BUG: 2, 3 */
        state.entries += 1;
    }

    #[cfg(not(feature = "fixed"))]
    fn deposit(&self, amount: i64) {
        let balance = self.balance();
        self.set_balance(balance + amount);
    }

    #[cfg(feature = "fixed")]
    fn deposit(&self, amount: i64) {
        let mut state = self.state.lock().unwrap();
        state.balance += amount;
        state.entries += 1;
    }
}

struct Bank {
    accounts: [Account; 3],
    transfers: AtomicU64,
}

impl Bank {
    fn transfer(&self, from: usize, to: usize, amount: i64) {
        self.accounts[from].deposit(-amount);
        self.accounts[to].deposit(amount);
        self.transfers.fetch_add(1, Ordering::Relaxed);
    }

    fn total(&self) -> i64 {
        self.accounts.iter().map(Account::balance).sum()
    }
}

/// A customer's identity is checked before each transfer.
fn check_identity(customer: u64, rounds: u32) -> u64 {
    (0..rounds).fold(customer, |hash, round| {
        (hash ^ u64::from(round)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    })
}

fn teller(bank: &Bank, number: usize, customers: u64, rounds: u32) {
    for customer in 0..customers {
        let identity = check_identity(customer + number as u64, rounds);
        let from = (identity % 3) as usize;
        bank.transfer(from, (from + 1) % 3, (identity % 50) as i64);
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let customers = arguments.next().unwrap_or(150);
    let rounds = arguments.next().unwrap_or(1_500) as u32;
    let bank = Bank {
        accounts: [
            Account::new("rent", 500),
            Account::new("food", 500),
            Account::new("books", 500),
        ],
        transfers: AtomicU64::new(0),
    };
    thread::scope(|threads| {
        for number in 0..2 {
            let bank = &bank;
            threads.spawn(move || teller(bank, number, customers, rounds));
        }
    });
    for account in &bank.accounts {
        println!("{}: {}", account.name, account.balance());
    }
    println!("{} transfers", bank.transfers.load(Ordering::Relaxed));
    // Nothing pays into the bank as a whole; one more deposit of nothing shows that the books are open.
    bank.accounts[0].set_balance(bank.accounts[0].balance());
    if bank.total() != 1500 {
        eprintln!("FAILED: the books do not balance, {} instead of 1500", bank.total());
        std::process::exit(1);
    }
}
