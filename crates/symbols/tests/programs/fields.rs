//! Accesses of all shapes in Rust. `note!` says where an expression is, so that a wrong name is noticed.
use std::cell::UnsafeCell;
use std::hint::black_box;
use std::sync::{Arc, Mutex};

unsafe extern "C" {
    fn note(expression: *const u8, address: *const u8);
}
macro_rules! note {
    ($place:expr) => {
        unsafe { note(concat!(stringify!($place), "\0").as_ptr(), (&raw const $place).cast()) }
    };
}

pub struct Item {
    pub count: u32,
    pub name: String,
}
pub struct Store {
    items: Vec<Item>,
    len: usize,
    table: [u64; 4],
    inner: Box<Inner>,
    pair: (u32, u64),
    small: u32,
}
pub struct Inner {
    depth: i64,
    level: i16,
}
pub struct Shared(UnsafeCell<Store>);
unsafe impl Sync for Shared {}
static mut COUNTER: u64 = 0;
static LOCKED: Mutex<(u32, u32)> = Mutex::new((0, 0));

impl Store {
    #[inline(never)]
    fn grow(&mut self, i: usize) {
        note!(self.len);
        note!(self.items[i].count);
        note!(self.table[i]);
        note!(self.inner);
        note!(self.inner.depth);
        note!(self.inner.level);
        note!(self.pair.1);
        note!(self.small);
        self.len += 1;
        self.len = i;
        self.items[i].count += 1;
        self.items[i].count = 4;
        self.table[i] = 3;
        self.table[i] += 3;
        self.inner.depth -= 1;
        self.inner.depth = 9;
        self.inner.level += 1;
        self.pair.1 = 3;
        self.small = self.small.wrapping_mul(3);
    }

    #[inline(never)]
    fn sum(&self, i: usize) -> u64 {
        note!(self.len);
        note!(self.items[i].count);
        note!(self.table[i]);
        note!(self.inner.depth);
        note!(self.inner);
        note!(self.pair.1);
        note!(self.small);
        let x = self.len as u64;
        let y = self.items[i].count as u64;
        let z = self.table[i] + self.inner.depth as u64 + self.pair.1;
        if self.small > 3 && self.len == 1 { 1 } else { x + y + z }
    }
}

#[inline(never)]
fn bump(p: &mut u32, q: *mut u64) {
    note!(*p);
    note!(*q);
    *p += 1;
    unsafe {
        *q = 3;
        *q += u64::from(*p);
    }
}

#[inline(never)]
fn total(v: &[Item]) -> u32 {
    let mut sum = 0;
    for it in v {
        note!(it.count);
        sum += it.count;
    }
    sum
}

fn main() {
    let inner = Box::new(Inner { depth: 1, level: 0 });
    let store = Store { items: vec![], len: 0, table: [0; 4], inner, pair: (1, 2), small: 0 };
    let shared = Arc::new(Shared(UnsafeCell::new(store)));
    let store = unsafe { &mut *shared.0.get() };
    store.items.push(Item { count: 0, name: String::new() });
    store.grow(0);
    black_box(store.sum(0));
    black_box(total(&store.items));
    let mut q = Box::new(3);
    bump(&mut store.items[0].count, &mut *q);
    unsafe {
        note!(COUNTER);
        COUNTER += 1;
        COUNTER = COUNTER + 2;
    }
    let mut guard = LOCKED.lock().unwrap();
    note!(guard.0);
    note!(guard.1);
    guard.1 += 1;
    guard.0 = 3;
    black_box(guard.0);
    note!(store.items[0].name);
    black_box(&store.items[0].name);
}
