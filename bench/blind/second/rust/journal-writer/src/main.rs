//! Journal: clients send records to a background writer that packs them into pages.
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::thread;

const CLIENTS: u32 = 3;
const RECORDS: u32 = 101;
const PAGE: usize = 16;
const JOURNALS: u32 = 2;

#[derive(Clone, Debug)]
struct Record {
    client: u32,
    serial: u32,
    payload: u64,
}

struct Page {
    records: Vec<Record>,
    checksum: u64,
}

#[derive(Default)]
struct Shared {
    pages: Mutex<Vec<Page>>,
    drained: AtomicBool,
}

struct PageBuilder {
    shared: Arc<Shared>,
    open: Vec<Record>,
}

impl PageBuilder {
    fn add(&mut self, record: Record) {
        self.open.push(record);
        if self.open.len() == PAGE {
            self.seal();
        }
    }

    fn seal(&mut self) {
        let records = std::mem::take(&mut self.open);
        let checksum = checksum(&records);
        self.shared.pages.lock().unwrap().push(Page { records, checksum }); // BUG: b
    }
}

impl Drop for PageBuilder {
    fn drop(&mut self) {
        if !self.open.is_empty() {
            self.seal(); // BUG: b
        }
    }
}

fn checksum(records: &[Record]) -> u64 {
    records.iter().fold(7, |sum, r| {
        (sum ^ r.payload).rotate_left(11).wrapping_add(u64::from(r.client << 16 | r.serial))
    })
}

enum Message {
    Append(Record),
    Close,
}

struct Journal {
    shared: Arc<Shared>,
    sender: Sender<Message>,
    #[cfg(feature = "fixed")]
    writer: thread::JoinHandle<()>,
}

impl Journal {
    fn open() -> Self {
        let shared = Arc::new(Shared::default());
        let (sender, receiver) = mpsc::channel();
        let mut builder = PageBuilder { shared: shared.clone(), open: Vec::new() };
        let _writer = thread::spawn(move || {
            while let Ok(Message::Append(record)) = receiver.recv() {
                builder.add(record);
            }
            builder.shared.drained.store(true, Ordering::Release); // BUG: a
            drop(builder); // BUG: b
        });
        Journal {
            shared,
            sender,
            #[cfg(feature = "fixed")]
            writer: _writer,
        }
    }

    fn close(self) -> Arc<Shared> {
        self.sender.send(Message::Close).unwrap();
        while !self.shared.drained.load(Ordering::Acquire) { // BUG: d
            thread::yield_now();
        }
        #[cfg(feature = "fixed")]
        self.writer.join().unwrap();
        self.shared
    }
}

fn next_payload(mut payload: u64) -> u64 {
    for _ in 0..60 {
        payload = payload.wrapping_mul(6364136223846793005).wrapping_add(1);
    }
    payload
}

fn client(id: u32, journal: Sender<Message>) {
    let mut payload = u64::from(id) + 1;
    for serial in 0..RECORDS {
        payload = next_payload(payload);
        journal.send(Message::Append(Record { client: id, serial, payload })).unwrap();
    }
}

fn run() -> usize {
    let journal = Journal::open();
    let clients: Vec<_> = (0..CLIENTS)
        .map(|id| {
            let sender = journal.sender.clone();
            thread::spawn(move || client(id, sender))
        })
        .collect();
    for c in clients {
        c.join().unwrap();
    }
    let shared = journal.close();
    let expected: Vec<Vec<u64>> = (0..CLIENTS)
        .map(|id| {
            let first = next_payload(u64::from(id) + 1);
            std::iter::successors(Some(first), |p| Some(next_payload(*p))).take(RECORDS as usize).collect()
        })
        .collect();

    let pages = shared.pages.lock().unwrap(); // BUG: c
    let mut next = [0; CLIENTS as usize];
    for page in pages.iter() {
        assert_eq!(page.checksum, checksum(&page.records), "damaged page");
        for r in &page.records {
            assert_eq!(r.serial, next[r.client as usize], "out of order: {r:?}");
            assert_eq!(r.payload, expected[r.client as usize][r.serial as usize], "wrong payload");
            next[r.client as usize] += 1;
        }
    }
    assert_eq!(next, [RECORDS; CLIENTS as usize], "journal truncated");
    pages.len()
}

fn main() {
    let pages: usize = (0..JOURNALS).map(|_| run()).sum();
    println!("{pages} pages");
}
