use std::sync::Mutex;
use std::thread;
use unpick_breakpoint::{Breakpoint, step, trigger};

static BALANCE: Mutex<u32> = Mutex::new(100);

fn deposit_ten() {
    let before = *BALANCE.lock().unwrap();
    trigger!(Breakpoint::atomicity("lost-deposit", &BALANCE).gap());
    *BALANCE.lock().unwrap() = before + 10;
}

fn deposit_five() {
    let step = step!(Breakpoint::atomicity("lost-deposit", &BALANCE).intruder());
    *BALANCE.lock().unwrap() += 5;
    step.done();
}

pub fn main() {
    thread::scope(|threads| {
        threads.spawn(deposit_ten);
        threads.spawn(deposit_five);
    });
    println!("100 + 10 + 5 = {}", BALANCE.lock().unwrap());
}
