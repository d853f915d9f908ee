//! Diffusion on a ring of cells, computed by bands in lockstep with two buffers.

use std::process;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;

const BANDS: usize = 3;
const CELLS: usize = 90;
const STEPS: usize = 12;

/// Spinning barrier; tells the last thread to arrive that it leads.
#[derive(Default)]
struct Gate {
    arrived: AtomicUsize,
    phase: AtomicUsize,
}

impl Gate {
    fn wait(&self) -> bool {
        let phase = self.phase.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == BANDS {
            self.arrived.store(0, Ordering::Relaxed);
            self.phase.fetch_add(1, Ordering::Release);
            return true;
        }
        while self.phase.load(Ordering::Acquire) == phase {
            thread::yield_now();
        }
        false
    }
}

struct Grid {
    buffers: [Vec<AtomicI64>; 2],
    step_done: Gate,
    moved: AtomicI64,
    history: Mutex<Vec<i64>>,
    updates: AtomicU64,
}

impl Grid {
    fn new() -> Self {
        let blank = || (0..CELLS).map(|_| AtomicI64::new(0)).collect();
        let grid = Grid {
            buffers: [blank(), blank()],
            step_done: Gate::default(),
            moved: AtomicI64::new(0),
            history: Mutex::new(Vec::new()),
            updates: AtomicU64::new(0),
        };
        for (cell, value) in grid.buffers[0].iter().zip(initial()) {
            cell.store(value, Ordering::Relaxed);
        }
        grid
    }

    fn advance(&self, band: usize, step: usize) {
        let source = step % 2;
        let (from, to) = (&self.buffers[source], &self.buffers[1 - source]);
        let width = CELLS / BANDS;
        let mut moved = 0;
        for i in band * width..(band + 1) * width {
            let left = from[(i + CELLS - 1) % CELLS].load(Ordering::Acquire);
            let here = from[i].load(Ordering::Acquire);
            let right = from[(i + 1) % CELLS].load(Ordering::Acquire);
            let value = relax(left, here, right);
            to[i].store(value, Ordering::Release);
            moved += (value - here).abs();
        }
        self.updates.fetch_add(width as u64, Ordering::Relaxed);
        self.moved.fetch_add(moved, Ordering::AcqRel); // BUG: b
    }

    fn run(&self, band: usize) {
        for step in 0..STEPS {
            self.advance(band, step);
            if self.step_done.wait() { // BUG: c
                let moved = self.moved.swap(0, Ordering::AcqRel); // BUG: a
                self.history.lock().unwrap().push(moved);
            }
            #[cfg(feature = "fixed")]
            self.step_done.wait();
        }
    }
}

fn initial() -> impl Iterator<Item = i64> {
    (0..CELLS as i64).map(|i| (i * i * 7919) % 100_003)
}

/// One cell's next value, by a few damped iterations.
fn relax(left: i64, here: i64, right: i64) -> i64 {
    let mut value = here;
    for k in 0..40 {
        let pull = left + right - 2 * value;
        value += pull / (4 + k % 3);
    }
    value
}

/// The same computation without threads.
fn reference() -> (Vec<i64>, Vec<i64>) {
    let mut cells: Vec<i64> = initial().collect();
    let mut history = Vec::new();
    for _ in 0..STEPS {
        let next: Vec<i64> = (0..CELLS)
            .map(|i| relax(cells[(i + CELLS - 1) % CELLS], cells[i], cells[(i + 1) % CELLS]))
            .collect();
        history.push(next.iter().zip(&cells).map(|(a, b)| (a - b).abs()).sum());
        cells = next;
    }
    (cells, history)
}

fn main() {
    let grid = Grid::new();
    thread::scope(|s| {
        for band in 0..BANDS {
            let grid = &grid;
            s.spawn(move || grid.run(band));
        }
    });

    assert_eq!(grid.updates.load(Ordering::Relaxed), (STEPS * CELLS) as u64);
    let result: Vec<i64> = grid.buffers[STEPS % 2]
        .iter()
        .map(|c| c.load(Ordering::Acquire))
        .collect();
    let (cells, steps) = reference();
    assert_eq!(result, cells);
    let history = grid.history.into_inner().unwrap();
    if history != steps {
        eprintln!("step totals off: {history:?}, expected {steps:?}");
        process::exit(1);
    }
    println!("sum {}", result.iter().sum::<i64>());
}
