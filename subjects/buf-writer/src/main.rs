//! A producer puts records into a buffer; a writer takes them out in blocks. A block has a header that says how
//! many records follow.
//!
//! The buffer is always locked. But the writer asks how many records there are, makes the header, and then takes all
//! of them: a record that came in between is in a block whose header does not count it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const ROOM: usize = 1024;

struct Buffer {
    records: [u64; ROOM],
    filled: usize,
}

struct Block {
    header: String,
    announced: usize,
    records: Vec<u64>,
}

struct BufWriter {
    buffer: Mutex<Buffer>,
    blocks: Mutex<Vec<Block>>,
    producers: AtomicUsize,
    /// Records that were ever put.
    accepted: AtomicUsize,
    one_step: Mutex<()>,
}

impl BufWriter {
    fn new(producers: usize) -> Self {
        Self {
            buffer: Mutex::new(Buffer { records: [0; ROOM], filled: 0 }),
            blocks: Mutex::new(Vec::new()),
            producers: AtomicUsize::new(producers),
            accepted: AtomicUsize::new(0),
            one_step: Mutex::new(()),
        }
    }

    fn put(&self, record: u64) {
        let _step = cfg!(feature = "fixed").then(|| self.one_step.lock().unwrap());
        let mut buffer = self.buffer.lock().unwrap();
        let at = buffer.filled;
        buffer.records[at] = record;
        buffer.filled = at + 1; /* BUG: 2 */
        self.accepted.fetch_add(1, Ordering::SeqCst);
    }

    fn waiting(&self) -> usize {
        let buffer = self.buffer.lock().unwrap();
        buffer.filled /* BUG: 1 */
    }

    fn take_all(&self) -> Vec<u64> {
        let mut buffer = self.buffer.lock().unwrap();
        let filled = buffer.filled; /* BUG: 3 */
        buffer.filled = 0;
        buffer.records[..filled].to_vec()
    }

    /// How many records it has.
    fn write_block(&self) -> usize {
        let _step = cfg!(feature = "fixed").then(|| self.one_step.lock().unwrap());
        let announced = self.waiting();
        let header = format!("block of {announced}");
        let records = self.take_all();
        let count = records.len();
        self.blocks.lock().unwrap().push(Block { header, announced, records });
        count
    }

    fn write_until_done(&self, pause: u64) {
        let mut written = 0;
        loop {
            let done = self.producers.load(Ordering::SeqCst) == 0;
            std::hint::black_box(measure(1, pause));
            if self.accepted.load(Ordering::SeqCst) > written {
                written += self.write_block();
            } else if done {
                return;
            }
        }
    }

    fn produce(&self, number: u64, count: u64, effort: u64) {
        for item in 0..count {
            self.put(measure(number * 1000 + item, effort));
        }
        self.producers.fetch_sub(1, Ordering::SeqCst);
    }
}

/// A reading of some instrument, which takes its time.
fn measure(seed: u64, effort: u64) -> u64 {
    (0..effort).fold(seed, |value, step| {
        (value ^ step).wrapping_mul(0x2545_f491_4f6c_dd1d).rotate_left(17)
    })
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let count = arguments.next().unwrap_or(40);
    let effort = arguments.next().unwrap_or(4000);
    let writer = BufWriter::new(1);
    thread::scope(|threads| {
        threads.spawn(|| writer.produce(1, count, effort));
        threads.spawn(|| writer.write_until_done(3 * effort));
    });
    let blocks = writer.blocks.lock().unwrap();
    let records: usize = blocks.iter().map(|block| block.records.len()).sum();
    println!("{} blocks, {records} records", blocks.len());
    if let Some(block) = blocks.iter().find(|block| block.announced != block.records.len()) {
        eprintln!("FAILED: {} holds {}", block.header, block.records.len());
        std::process::exit(1);
    }
}
