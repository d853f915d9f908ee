//! A list of elements that threads share, every method of it atomic. A reader copies it into a list of its own,
//! while its owner empties it.
//!
//! The copy is made room for by the list's count, and filled from its elements afterwards: two atomic calls. If the
//! list is emptied between them, the copy has places for elements that are gone.

use std::sync::Mutex;
use std::thread;

use unpick_breakpoint::{Breakpoint, step};

/// What stands in a place that has no element.
const NOTHING: u64 = u64::MAX;

struct Elements {
    count: usize,
    data: Box<[u64]>,
    changes: u64,
}

struct Vector {
    elements: Mutex<Elements>,
}

impl Vector {
    fn with(values: impl Iterator<Item = u64>) -> Self {
        let data: Box<[u64]> = values.collect();
        Self { elements: Mutex::new(Elements { count: data.len(), data, changes: 0 }) }
    }

    fn size(&self) -> usize {
        let elements = self.elements.lock().unwrap();
        elements.count /* BUG: 1 */
    }

    fn copy_into(&self, places: &mut [u64]) -> usize {
        let elements = self.elements.lock().unwrap();
        let data: &[u64] = &elements.data; /* BUG: 4 */
        let mut copied = 0;
        for (place, element) in places.iter_mut().zip(data.iter()) {
            *place = *element;
            copied += 1;
        }
        copied
    }

    fn remove_all_elements(&self) {
        let _step = step!(Breakpoint::atomicity("emptied-while-copied", self).intruder());
        let mut elements = self.elements.lock().unwrap();
        elements.count = 0; /* BUG: 2 */
        elements.data = Box::default(); /* BUG: 3 */
        elements.changes += 1;
    }

    /// All elements of this list, and how many places the copy has.
    #[cfg(not(feature = "fixed"))]
    fn to_copy(&self) -> (Vec<u64>, usize) {
        let mut places = vec![NOTHING; self.size()];
        unpick_breakpoint::trigger!(Breakpoint::atomicity("emptied-while-copied", self).gap());
        let copied = self.copy_into(&mut places);
        (places, copied)
    }

    #[cfg(feature = "fixed")]
    fn to_copy(&self) -> (Vec<u64>, usize) {
        let elements = self.elements.lock().unwrap();
        let places: Vec<u64> =
            elements.data.iter().copied().filter(|value| *value != NOTHING).collect();
        let copied = places.len();
        (places, copied)
    }
}

/// A few prime numbers, the slow way.
fn count_primes(below: u64) -> usize {
    (2..below).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).count()
}

fn main() {
    let below = std::env::args().nth(1).map_or(3000, |text| text.parse().expect("a number"));
    let list = Vector::with((0..40_000).map(|n| n * n + 1));
    let (primes, (copy, copied)) = thread::scope(|threads| {
        let owner = threads.spawn(|| {
            let primes = count_primes(below);
            list.remove_all_elements();
            primes
        });
        let reader = threads.spawn(|| {
            count_primes(below);
            list.to_copy()
        });
        (owner.join().unwrap(), reader.join().unwrap())
    });
    println!(
        "{primes} primes; copied {copied} of {} elements; {} are left",
        copy.len(),
        list.size()
    );
    if copied != copy.len() || list.copy_into(&mut [0; 4]) != 0 {
        eprintln!("FAILED: the copy has places without elements");
        std::process::exit(1);
    }
}
