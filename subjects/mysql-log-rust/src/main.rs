//! A database with a binary log. A session inserts rows, and each of them goes into the log as well, if logging is
//! on. Once the log is rotated: closed, its records moved into the archive, and opened again.
//!
//! Whether logging is on is asked for every statement, so its kind is an atomic that is read without the lock. While
//! the log is being rotated it says "closed", and what is inserted just then is never logged.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::thread;

const CLOSED: u8 = 0;
const BINARY: u8 = 2;

struct Record {
    row: u64,
    checksum: u64,
}

#[derive(Default)]
struct Files {
    current: Vec<Record>,
    archive: Vec<Record>,
    rotations: u64,
}

struct BinaryLog {
    kind: AtomicU8,
    files: Mutex<Files>,
}

impl BinaryLog {
    fn new() -> Self {
        Self { kind: AtomicU8::new(BINARY), files: Mutex::default() }
    }

    /// Closes the file of the log and opens the next one.
    fn rotate(&self) {
        let mut files = self.files.lock().unwrap();
        let kind = self.kind.load(Ordering::SeqCst);
        self.kind.store(CLOSED, Ordering::SeqCst); /* BUG: 1 */
        let Files { current, archive, rotations } = &mut *files;
        for record in current.drain(..) {
            if record.checksum == checksum(record.row, 20) {
                archive.push(record);
            }
        }
        *rotations += 1;
        self.kind.store(kind, Ordering::SeqCst); /* BUG: 3 */
    }

    fn is_open(&self) -> bool {
        let _rotated = cfg!(feature = "fixed").then(|| self.files.lock().unwrap());
        let kind = self.kind.load(Ordering::SeqCst); /* BUG: 2 */
        kind != CLOSED
    }

    fn append(&self, row: u64) {
        let record = Record { row, checksum: checksum(row, 20) };
        self.files.lock().unwrap().current.push(record);
    }

    /// How many records there are in all files.
    fn length(&self) -> u64 {
        let files = self.files.lock().unwrap();
        (files.current.len() + files.archive.len()) as u64
    }
}

struct Database {
    rows: AtomicU64,
    log: BinaryLog,
}

impl Database {
    fn insert(&self) {
        let row = self.rows.fetch_add(1, Ordering::Relaxed);
        if self.log.is_open() {
            self.log.append(row);
        }
    }
}

fn checksum(row: u64, rounds: u64) -> u64 {
    (0..rounds).fold(row, |sum, round| (sum ^ round).wrapping_mul(0x0000_0100_0000_01b3))
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let statements = arguments.next().unwrap_or(60);
    let effort = arguments.next().unwrap_or(4000);
    let database = Database { rows: AtomicU64::new(0), log: BinaryLog::new() };
    thread::scope(|threads| {
        threads.spawn(|| {
            for statement in 0..statements {
                std::hint::black_box(checksum(statement, effort));
                database.insert();
            }
        });
        threads.spawn(|| {
            std::hint::black_box(checksum(1, effort * statements / 2));
            database.log.rotate();
        });
    });
    let (rows, records) = (database.rows.load(Ordering::Relaxed), database.log.length());
    println!("{rows} rows, {records} records");
    if rows != records {
        eprintln!("FAILED: {} rows are not in the log", rows - records);
        std::process::exit(1);
    }
}
