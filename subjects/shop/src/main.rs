//! A shop: goods lie on a shelf, the newest in front. A customer looks at the one in front, decides, and takes it.
//!
//! Looking and taking are each under the shelf's lock. A second customer in between takes the goods the first one
//! has decided for, and the first goes home with something else.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Good {
    number: u32,
    price: u64,
}

struct Shelf {
    goods: Vec<Good>,
    count: usize,
}

struct Shop {
    shelf: Mutex<Shelf>,
    takings: AtomicU64,
    till: Mutex<u64>,
    door: Mutex<()>,
}

impl Shop {
    fn stocked_with(count: u32) -> Self {
        let goods: Vec<Good> =
            (0..count).map(|number| Good { number, price: 3 + u64::from(number) % 17 }).collect();
        Self {
            shelf: Mutex::new(Shelf { count: goods.len(), goods }),
            takings: AtomicU64::new(0),
            till: Mutex::new(0),
            door: Mutex::new(()),
        }
    }

    fn look(&self) -> Option<Good> {
        let shelf = self.shelf.lock().unwrap();
        let count = shelf.count; /* BUG: 1 */
        if count == 0 {
            return None;
        }
        Some(shelf.goods[count - 1])
    }

    fn take(&self) -> Option<Good> {
        let mut shelf = self.shelf.lock().unwrap();
        let count = shelf.count; /* BUG: 3 */
        if count == 0 {
            return None;
        }
        shelf.count = count - 1; /* BUG: 2 */
        Some(shelf.goods[count - 1])
    }

    fn pay(&self, price: u64) {
        *self.till.lock().unwrap() += price;
        self.takings.fetch_add(price, Ordering::Relaxed);
    }

    /// What the customer wanted and what it got.
    fn buy(&self, thought: u32) -> Option<(Good, Option<Good>)> {
        let _alone = cfg!(feature = "fixed").then(|| self.door.lock().unwrap());
        let wanted = self.look()?;
        let budget = think(wanted.number, thought);
        let got = self.take();
        if budget > 0 {
            self.pay(got.map_or(0, |good| good.price));
        }
        Some((wanted, got))
    }
}

fn think(about: u32, rounds: u32) -> u32 {
    let thought =
        (0..rounds).fold(about, |thought, round| (thought ^ round).wrapping_mul(0x0100_0193));
    std::hint::black_box(thought | 1)
}

/// Returns how many times the customer went home with something else.
fn customer(shop: &Shop, way: u32) -> u32 {
    let mut disappointed = 0;
    loop {
        think(7, way);
        match shop.buy(40) {
            None => return disappointed,
            Some((wanted, got)) => disappointed += u32::from(got != Some(wanted)),
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let goods = arguments.next().unwrap_or(60);
    let way = arguments.next().unwrap_or(8_000);
    let shop = Shop::stocked_with(goods);
    let disappointed: u32 = thread::scope(|threads| {
        let customers: Vec<_> = (0..3).map(|_| threads.spawn(|| customer(&shop, way))).collect();
        customers.into_iter().map(|customer| customer.join().unwrap()).sum()
    });
    println!("{goods} goods sold for {}", shop.takings.load(Ordering::Relaxed));
    assert_eq!(*shop.till.lock().unwrap(), shop.takings.load(Ordering::Relaxed));
    if disappointed > 0 {
        eprintln!("FAILED: {disappointed} customers got something else than they wanted");
        std::process::exit(1);
    }
}
