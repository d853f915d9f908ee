use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

unsafe extern "C" {
    fn note(expression: *const u8, address: *const u8);
}
macro_rules! note {
    ($place:expr) => {
        unsafe { note(concat!(stringify!($place), "\0").as_ptr(), (&raw const $place).cast()) }
    };
}

struct Point<T> {
    x: T,
    y: (u8, T),
}
#[allow(dead_code)]
enum Shape {
    Empty,
    Circle { radius: u64 },
    Square(u32, u32),
}
static mut TABLE: [Point<u32>; 3] = [const { Point { x: 1, y: (2, 3) } }; 3];
static mut SHAPE: Shape = Shape::Circle { radius: 4 };
static HITS: AtomicU64 = AtomicU64::new(0);
static DONE: AtomicBool = AtomicBool::new(false);
static LOCKED: Mutex<Point<u64>> = Mutex::new(Point { x: 1, y: (2, 3) });
mod inner {
    pub static mut DEEP: (u16, u32) = (1, 2);
}

fn next() -> u32 {
    static mut CALLS: u32 = 0;
    note!(CALLS);
    unsafe {
        CALLS += 1;
        CALLS
    }
}

fn main() {
    note!(TABLE[1].y.1);
    note!(TABLE[2].x);
    note!(HITS);
    note!(DONE);
    note!(inner::DEEP.1);
    unsafe { note("SHAPE\0".as_ptr(), (&raw const SHAPE).cast()) };
    let guard = LOCKED.lock().unwrap();
    unsafe { note("LOCKED.data.y.1\0".as_ptr(), (&raw const guard.y.1).cast()) };
    HITS.fetch_add(u64::from(next()), Ordering::Relaxed);
    unsafe { TABLE[0].x += 1 };
    if DONE.load(Ordering::Relaxed) {
        unsafe { inner::DEEP.1 += 1 };
        unsafe { SHAPE = Shape::Square(1, 2) };
    }
}
