//! Trace buffer: producers append packed events without locks, a collector drains what is new.
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

const PRODUCERS: u64 = 2;
const EVENTS: u64 = 250;

struct Slot {
    event: UnsafeCell<u64>,
    #[cfg(feature = "fixed")]
    ready: AtomicBool,
}

// SAFETY: every slot is written once, by the producer that claimed it, and only read afterwards.
unsafe impl Sync for Slot {}

struct Trace {
    slots: Vec<Slot>,
    next: AtomicUsize,
    live: AtomicUsize,
    sealed: AtomicBool,
}

fn pack(producer: u64, serial: u64, code: u64) -> u64 {
    (producer + 1) << 56 | serial << 32 | code & 0xffff_ffff
}

fn unpack(event: u64) -> Option<(u64, u64, u64)> {
    let producer = (event >> 56).checked_sub(1)?;
    Some((producer, event >> 32 & 0xff_ffff, event & 0xffff_ffff))
}

impl Trace {
    fn new(capacity: usize) -> Self {
        let slots = (0..capacity)
            .map(|_| Slot {
                event: UnsafeCell::new(0),
                #[cfg(feature = "fixed")]
                ready: AtomicBool::new(false),
            })
            .collect();
        Trace {
            slots,
            next: AtomicUsize::new(0),
            live: AtomicUsize::new(PRODUCERS as usize),
            sealed: AtomicBool::new(false),
        }
    }

    fn append(&self, event: u64) {
        let at = self.next.fetch_add(1, Ordering::AcqRel); // BUG: a
        let slot = &self.slots[at];
        unsafe { *slot.event.get() = event }; // BUG: b
        #[cfg(feature = "fixed")]
        slot.ready.store(true, Ordering::Release);
    }

    fn finish(&self) {
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.sealed.store(true, Ordering::Release);
        }
    }

    fn drain(&self, from: usize, out: &mut Vec<u64>) -> usize {
        let end = self.next.load(Ordering::Acquire); // BUG: c
        for (i, slot) in self.slots[from..end].iter().enumerate() {
            #[cfg(feature = "fixed")]
            if !slot.ready.load(Ordering::Acquire) {
                return from + i;
            }
            let _ = i;
            out.push(unsafe { *slot.event.get() }); // BUG: d
        }
        end
    }
}

fn step(mut x: u64, rounds: u32) -> u64 {
    for _ in 0..rounds {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
    }
    x
}

fn produce(trace: &Trace, id: u64) {
    let mut x = 0x5851_f42d_4c95_7f2d ^ id;
    for serial in 0..EVENTS {
        x = step(x, 200 + (x % 300) as u32);
        trace.append(pack(id, serial, x));
    }
    trace.finish();
}

fn collect(trace: &Trace) -> u64 {
    let mut expected = [0u64; PRODUCERS as usize];
    let (mut at, mut digest) = (0, 1u64);
    loop {
        let last = trace.sealed.load(Ordering::Acquire);
        let mut batch = Vec::new();
        let start = at;
        at = trace.drain(at, &mut batch);
        for (i, event) in batch.iter().enumerate() {
            let Some((producer, serial, code)) = unpack(*event) else {
                eprintln!("blank event at {}", start + i);
                std::process::abort();
            };
            let want = &mut expected[producer as usize];
            assert_eq!(serial, *want, "producer {producer} out of order");
            *want += 1;
            digest = step(digest ^ code, 10) | 1;
        }
        if last {
            break;
        }
        digest = step(digest, 3000) | 1;
    }
    assert_eq!(expected, [EVENTS; PRODUCERS as usize], "events missing");
    digest
}

fn main() {
    let trace = Trace::new((PRODUCERS * EVENTS) as usize);
    let digest = thread::scope(|s| {
        for id in 0..PRODUCERS {
            let trace = &trace;
            s.spawn(move || produce(trace, id));
        }
        collect(&trace)
    });
    println!("{} events, digest {digest:x}", trace.next.load(Ordering::Relaxed));
}
