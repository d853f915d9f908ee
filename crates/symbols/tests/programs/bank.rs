use std::hint::black_box;
use std::sync::Arc;

#[allow(dead_code)]
#[repr(C)] // known offsets
struct Account {
    id: u64,
    balance: u32,
    limits: (u16, u64),
}

fn account() -> Account {
    black_box(Account { id: 1, balance: 2, limits: (3, 4) })
}

fn main() {
    let one = Box::new(account()); // boxed
    let shared = Arc::new(account()); // arc
    let mut many: Vec<Account> = Vec::with_capacity(3); // vec
    many.push(account());
    black_box((&one.balance, &shared.balance, &many));
    let kept: Vec<Box<Account>> = vec![Box::new(account())]; // in a list
    black_box(&kept);
}
