//! Telemetry samples of several probes, collected in one preallocated log and read by a collector.

use std::cell::UnsafeCell;
use std::process;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

const PROBES: u64 = 2;
const SAMPLES: u64 = 60;
const CAPACITY: usize = 128;

#[derive(Clone, Copy, Default)]
struct Sample {
    probe: u64,
    value: u64,
    seal: u64,
}

impl Sample {
    fn new(probe: u64, value: u64) -> Self {
        Sample {
            probe,
            value,
            seal: seal(probe, value),
        }
    }
}

fn seal(probe: u64, value: u64) -> u64 {
    (probe ^ value.rotate_left(21)).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1
}

struct SampleLog {
    slots: Vec<UnsafeCell<Sample>>,
    head: AtomicUsize,
    #[cfg(feature = "fixed")]
    committed: AtomicUsize,
}

// Slots are written once, by the probe that reserved them.
unsafe impl Sync for SampleLog {}

impl SampleLog {
    fn new() -> Self {
        SampleLog {
            slots: (0..CAPACITY).map(|_| UnsafeCell::default()).collect(),
            head: AtomicUsize::new(0),
            #[cfg(feature = "fixed")]
            committed: AtomicUsize::new(0),
        }
    }

    fn push(&self, sample: Sample) -> bool {
        let slot = self.head.fetch_add(1, Ordering::AcqRel); // BUG: a
        if slot >= CAPACITY {
            return false;
        }
        unsafe {
            *self.slots[slot].get() = sample; // BUG: b
        }
        #[cfg(feature = "fixed")]
        while self
            .committed
            .compare_exchange(slot, slot + 1, Ordering::AcqRel, Ordering::Relaxed)
            .is_err()
        {
            thread::yield_now();
        }
        true
    }

    #[cfg(not(feature = "fixed"))]
    fn len(&self) -> usize {
        self.head.load(Ordering::Acquire).min(CAPACITY) // BUG: c
    }

    #[cfg(feature = "fixed")]
    fn len(&self) -> usize {
        self.committed.load(Ordering::Acquire)
    }

    fn get(&self, slot: usize) -> Sample {
        unsafe { *self.slots[slot].get() } // BUG: d
    }
}

struct Shared {
    log: SampleLog,
    rejected: AtomicU64,
    sums: Mutex<[u64; PROBES as usize]>,
}

/// Reads the sensor of a probe.
fn measure(probe: u64, n: u64) -> u64 {
    let mut v = probe << 40 | n;
    for _ in 0..4000 {
        v = (v ^ (v >> 27)).wrapping_mul(0x3c79_ac49_2ba7_b653);
    }
    v
}

fn probe(shared: &Shared, id: u64) {
    let mut sum = 0u64;
    for n in 0..SAMPLES {
        let value = measure(id, n);
        sum = sum.wrapping_add(value);
        if !shared.log.push(Sample::new(id, value)) {
            shared.rejected.fetch_add(1, Ordering::Relaxed);
        }
    }
    shared.sums.lock().unwrap()[id as usize] = sum;
}

fn collect(shared: &Shared) -> [u64; PROBES as usize] {
    let mut sums = [0u64; PROBES as usize];
    let mut read = 0;
    let mut idle = 0u64;
    while read < (PROBES * SAMPLES) as usize {
        let available = shared.log.len();
        for slot in read..available {
            let sample = shared.log.get(slot);
            if sample.seal != seal(sample.probe, sample.value) {
                eprintln!("unsealed sample in slot {slot}");
                process::abort();
            }
            let sum = &mut sums[sample.probe as usize];
            *sum = sum.wrapping_add(sample.value);
        }
        read = available;
        idle = measure(idle, 1);
    }
    sums
}

fn main() {
    let shared = Arc::new(Shared {
        log: SampleLog::new(),
        rejected: AtomicU64::new(0),
        sums: Mutex::new([0; PROBES as usize]),
    });
    let collector = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || collect(&shared))
    };
    let probes: Vec<_> = (0..PROBES)
        .map(|id| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || probe(&shared, id))
        })
        .collect();
    for p in probes {
        p.join().unwrap();
    }
    let collected = collector.join().unwrap();
    assert_eq!(shared.rejected.load(Ordering::Relaxed), 0);
    assert_eq!(collected, *shared.sums.lock().unwrap());
    println!("sums {collected:x?}");
}
