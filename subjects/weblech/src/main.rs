//! A web spider: addresses come in one at a time, and idle spiders look whether there is one in the queue.
//!
//! The queue is locked by each of its methods. But a spider that has seen that the queue is not empty takes the
//! address in a second call; if another spider was faster, there is none.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;

struct Addresses {
    waiting: [u32; 8],
    size: usize,
}

struct DownloadQueue {
    addresses: Mutex<Addresses>,
    downloaded: Mutex<usize>,
    progress: Condvar,
    closed: AtomicBool,
    looks: AtomicUsize,
    log: Mutex<Vec<String>>,
    turn: Mutex<()>,
}

#[derive(Debug)]
struct Empty;

impl DownloadQueue {
    fn new() -> Self {
        Self {
            addresses: Mutex::new(Addresses { waiting: [0; 8], size: 0 }),
            downloaded: Mutex::new(0),
            progress: Condvar::new(),
            closed: AtomicBool::new(false),
            looks: AtomicUsize::new(0),
            log: Mutex::new(Vec::new()),
            turn: Mutex::new(()),
        }
    }

    fn enqueue(&self, address: u32) {
        let mut addresses = self.addresses.lock().unwrap();
        let size = addresses.size;
        addresses.waiting[size] = address;
        addresses.size = size + 1;
    }

    fn size(&self) -> usize {
        self.looks.fetch_add(1, Ordering::Relaxed);
        let addresses = self.addresses.lock().unwrap();
        addresses.size /* BUG: 1 */
    }

    fn dequeue(&self) -> Result<u32, Empty> {
        let mut addresses = self.addresses.lock().unwrap();
        let size = addresses.size; /* BUG: 3 */
        if size == 0 {
            return Err(Empty);
        }
        addresses.size = size - 1; /* BUG: 2 */
        Ok(addresses.waiting[size - 1])
    }

    fn count_download(&self) {
        *self.downloaded.lock().unwrap() += 1;
        self.progress.notify_all();
    }

    fn wait_for_downloads(&self, count: usize) {
        let mut downloaded = self.downloaded.lock().unwrap();
        while *downloaded < count && !self.closed.load(Ordering::SeqCst) {
            downloaded = self.progress.wait(downloaded).unwrap();
        }
    }

    fn close(&self) {
        let _downloaded = self.downloaded.lock().unwrap();
        self.closed.store(true, Ordering::SeqCst);
        self.progress.notify_all();
    }

    /// The next address, if there is one now.
    fn next_address(&self) -> Result<Option<u32>, Empty> {
        let _turn = cfg!(feature = "fixed").then(|| self.turn.lock().unwrap());
        let waiting = self.size();
        if waiting == 0 {
            return Ok(None);
        }
        let note = format!("{waiting} addresses are waiting");
        let address = self.dequeue()?;
        self.log.lock().unwrap().push(note);
        Ok(Some(address))
    }
}

fn hash(seed: u32, rounds: u32) -> u32 {
    std::hint::black_box(
        (0..rounds).fold(seed, |hash, round| (hash ^ round).wrapping_mul(0x0100_0193)),
    )
}

/// Downloads until the queue is closed; returns what it got, or that it once took from an empty queue.
fn spider(queue: &DownloadQueue, page: u32) -> Result<u32, Empty> {
    let mut pages = 0;
    let mut trouble = None;
    while !queue.closed.load(Ordering::SeqCst) {
        match queue.next_address() {
            Ok(Some(address)) => {
                pages ^= hash(address, page);
                queue.count_download();
            }
            Ok(None) => pages ^= hash(1, page / 16) & 1,
            Err(empty) => trouble = Some(empty),
        }
    }
    trouble.map_or(Ok(pages), Err)
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let addresses = arguments.next().unwrap_or(4);
    let page = arguments.next().unwrap_or(4000);
    let queue = DownloadQueue::new();
    let results: Vec<_> = thread::scope(|threads| {
        let spiders: Vec<_> = (0..2).map(|_| threads.spawn(|| spider(&queue, page))).collect();
        for address in 0..addresses {
            if queue.closed.load(Ordering::SeqCst) {
                break;
            }
            queue.enqueue(address);
            queue.wait_for_downloads(address as usize + 1);
        }
        queue.close();
        spiders.into_iter().map(|spider| spider.join().unwrap()).collect()
    });
    println!(
        "{} pages after {} looks",
        queue.downloaded.lock().unwrap(),
        queue.looks.load(Ordering::Relaxed)
    );
    if results.iter().any(Result::is_err) {
        eprintln!("FAILED: a spider took from an empty queue");
        std::process::exit(1);
    }
}
