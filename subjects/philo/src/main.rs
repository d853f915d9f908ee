//! Dining philosophers who take the lower fork first, so that they never wait for each other in a circle.
//!
//! It never fails. How many meals there were in all is read by each philosopher before and after its own meal, only
//! to say how busy the table was; that others eat in between is an unserializable pattern, and harmless.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

struct Fork {
    used: u64,
}

struct Table {
    forks: Vec<Mutex<Fork>>,
    meals: AtomicU64,
    one_at_a_time: Mutex<()>,
}

impl Table {
    fn for_philosophers(count: usize) -> Self {
        Self {
            forks: (0..count).map(|_| Mutex::new(Fork { used: 0 })).collect(),
            meals: AtomicU64::new(0),
            one_at_a_time: Mutex::new(()),
        }
    }

    /// One meal; returns how many others ate while it lasted.
    fn eat(&self, philosopher: usize, bites: u32) -> u64 {
        let _alone = cfg!(feature = "fixed").then(|| self.one_at_a_time.lock().unwrap());
        let before = self.meals.load(Ordering::SeqCst);
        let other = (philosopher + 1) % self.forks.len();
        let mut lower = self.forks[philosopher.min(other)].lock().unwrap();
        let mut upper = self.forks[philosopher.max(other)].lock().unwrap();
        lower.used += 1;
        upper.used += 1;
        think(philosopher, bites);
        let after = self.meals.fetch_add(1, Ordering::SeqCst);
        after - before
    }
}

fn think(about: usize, rounds: u32) -> u32 {
    std::hint::black_box(
        (0..rounds).fold(about as u32, |hash, round| (hash ^ round).wrapping_mul(0x0100_0193)),
    )
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let meals = arguments.next().unwrap_or(20);
    let rounds = arguments.next().unwrap_or(2000);
    let table = Table::for_philosophers(5);
    let company: u64 = thread::scope(|threads| {
        let table = &table;
        let dine = |philosopher: usize| {
            move || {
                let meal = |_| {
                    think(philosopher, rounds);
                    table.eat(philosopher, rounds / 4)
                };
                (0..meals).map(meal).sum::<u64>()
            }
        };
        let philosophers: Vec<_> =
            (0..5).map(|philosopher| threads.spawn(dine(philosopher))).collect();
        philosophers.into_iter().map(|philosopher| philosopher.join().unwrap()).sum()
    });
    let used: u64 = table.forks.iter().map(|fork| fork.lock().unwrap().used).sum();
    println!("{} meals, {company} times in company", table.meals.load(Ordering::SeqCst));
    assert_eq!(used, 2 * table.meals.load(Ordering::SeqCst), "every meal takes two forks");
    assert_eq!(
        table.meals.load(Ordering::SeqCst),
        5 * u64::from(meals),
        "everybody has had its meals"
    );
}
