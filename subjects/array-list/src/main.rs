//! A list whose every method is locked. One thread adds up all its elements, another one takes the last one away.
//!
//! The sum goes from the first to the last element by their numbers, and how many there are is asked only once. If
//! an element goes in the meantime, the last number stands for nothing.

use std::sync::Mutex;
use std::thread;

use unpick_breakpoint::{Breakpoint, step, trigger};

struct Storage {
    elements: Vec<u64>,
    size: usize,
    changes: u64,
}

struct ArrayList {
    storage: Mutex<Storage>,
    whole: Mutex<()>,
}

#[derive(Debug)]
struct OutOfBounds {
    index: usize,
    size: usize,
}

impl ArrayList {
    fn of(elements: Vec<u64>) -> Self {
        let storage = Storage { size: elements.len(), elements, changes: 0 };
        Self { storage: Mutex::new(storage), whole: Mutex::new(()) }
    }

    fn size(&self) -> usize {
        self.storage.lock().unwrap().size
    }

    fn get(&self, index: usize) -> Result<u64, OutOfBounds> {
        let storage = self.storage.lock().unwrap();
        let size = storage.size; /* BUG: 1, 3 */
        if index >= size {
            return Err(OutOfBounds { index, size });
        }
        Ok(storage.elements[index])
    }

    fn remove_last(&self) -> u64 {
        let _step = step!(Breakpoint::atomicity("shortened-while-added", self).intruder());
        let _whole = cfg!(feature = "fixed").then(|| self.whole.lock().unwrap());
        let mut storage = self.storage.lock().unwrap();
        let size = storage.size - 1;
        storage.size = size; /* BUG: 2 */
        storage.changes += 1;
        storage.elements[size]
    }

    fn clear(&self) {
        self.storage.lock().unwrap().size = 0;
    }

    fn sum(&self) -> Result<u64, OutOfBounds> {
        let _whole = cfg!(feature = "fixed").then(|| self.whole.lock().unwrap());
        let mut sum = 0u64;
        for index in 0..self.size() {
            sum = sum.wrapping_add(self.get(index)?);
            // Somewhere in the middle of the list.
            trigger!(
                Breakpoint::atomicity("shortened-while-added", self)
                    .gap()
                    .when(|| index > 0)
                    .ignore_first(1000)
                    .bound(1)
            );
        }
        Ok(sum)
    }
}

fn squares_below(limit: u64) -> Vec<u64> {
    (0..limit).map(|n| n.wrapping_mul(n) ^ (n << 7)).collect()
}

/// What the threads do besides, for some time.
fn sieve(limit: usize) -> usize {
    let mut composite = vec![false; limit];
    for n in 2..limit {
        if !composite[n] {
            (n * n..limit).step_by(n).for_each(|multiple| composite[multiple] = true);
        }
    }
    composite.iter().skip(2).filter(|composite| !**composite).count()
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let length = arguments.next().unwrap_or(8000);
    let limit = arguments.next().unwrap_or(20_000) as usize;
    let list = ArrayList::of(squares_below(length));
    let (sum, removed) = thread::scope(|threads| {
        let adder = threads.spawn(|| {
            sieve(limit + limit / 16);
            list.sum()
        });
        let remover = threads.spawn(|| {
            sieve(limit);
            list.remove_last()
        });
        (adder.join().unwrap(), remover.join().unwrap())
    });
    println!("{} elements are left, {removed} is gone", list.size());
    list.clear();
    match sum {
        Ok(sum) => println!("sum {sum}"),
        Err(OutOfBounds { index, size }) => {
            eprintln!("FAILED: no element {index} in a list of {size}");
            std::process::exit(1);
        }
    }
}
