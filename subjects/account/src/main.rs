//! A bank: customers pay in and draw money, and transfer it between accounts. Each account has its lock.
//!
//! A deposit takes the lock twice: to look at the balance and to put the new one. What is paid in by another teller
//! in between is lost, and at the end of the day the books do not balance.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

/// What every account is opened with.
const OPENED_WITH: i64 = 500;
/// How much work a receipt is.
const RECEIPT: u32 = 400;

struct State {
    balance: i64,
    receipts: u64,
}

struct Account {
    state: Mutex<State>,
}

impl Account {
    fn new(balance: i64) -> Self {
        Self { state: Mutex::new(State { balance, receipts: 0 }) }
    }

    fn receipts(&self) -> u64 {
        self.state.lock().unwrap().receipts
    }

    fn balance(&self) -> i64 {
        let state = self.state.lock().unwrap();
        state.balance /* BUG: 1 */
    }

    #[cfg(not(feature = "fixed"))]
    fn set_balance(&self, balance: i64, receipt: u64) {
        let mut state = self.state.lock().unwrap();
        state.balance = balance; /* BUG: 2, 3 */
        state.receipts ^= receipt;
    }

    #[cfg(not(feature = "fixed"))]
    fn deposit(&self, amount: i64) {
        let balance = self.balance();
        let receipt = hash(amount as u64, RECEIPT);
        self.set_balance(balance + amount, receipt);
    }

    #[cfg(feature = "fixed")]
    fn deposit(&self, amount: i64) {
        let mut state = self.state.lock().unwrap();
        state.balance += amount;
        state.receipts ^= hash(amount as u64, RECEIPT);
    }
}

struct Bank {
    accounts: Vec<Account>,
    transfers: AtomicU64,
    opening: Barrier,
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

fn hash(seed: u64, rounds: u32) -> u64 {
    (0..rounds).fold(seed, |hash, round| {
        (hash ^ u64::from(round)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    })
}

/// One transfer for every customer, who has two accounts side by side. The second teller begins with the last one;
/// a customer's identity is checked first.
fn teller(bank: &Bank, number: u64, rounds: u32) {
    bank.opening.wait();
    let customers = bank.accounts.len() / 2;
    for turn in 0..customers {
        let customer = if number == 0 { turn } else { customers - 1 - turn };
        let identity = hash(customer as u64 + number, rounds);
        bank.transfer(2 * customer, 2 * customer + 1, (identity % 50) as i64 + 1);
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let customers = arguments.next().unwrap_or(60);
    let rounds = arguments.next().unwrap_or(2000);
    let accounts: Vec<_> = (0..2 * customers).map(|_| Account::new(OPENED_WITH)).collect();
    let bank = Bank { accounts, transfers: AtomicU64::new(0), opening: Barrier::new(2) };
    let before = bank.total();
    thread::scope(|threads| {
        for number in 0..2 {
            let bank = &bank;
            threads.spawn(move || teller(bank, number, rounds));
        }
    });
    let receipts = bank.accounts.iter().fold(0, |all, account| all ^ account.receipts());
    println!("{} transfers, receipts {receipts:016x}", bank.transfers.load(Ordering::Relaxed));
    let total = bank.total();
    if total != before {
        eprintln!("FAILED: the books do not balance, {total} instead of {before}");
        std::process::exit(1);
    }
}
