//! How fast recordings are read. See README.md for the question, the floor and the command.
//!
//! Takes   the size of the recording in MB (default 256) and the number of threads (default 8).
//! Gives   one line per stage: seconds of processor time (so that other work on the machine does not count), MB/s,
//!         million events/s.
#![forbid(unsafe_code)]

mod processor_time;

use std::hint::black_box;

use processor_time::processor_seconds;
use unpick_events::access::PastKind;
use unpick_events::{Kind, Past, Site, ThreadId};
use unpick_recording::writer::{Draft, Writer};
use unpick_recording::{Action, Histories, Recording};

/// Locations the made-up threads share.
const LOCATIONS: u64 = 4096;

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
    let megabytes: usize = numbers.next().unwrap_or(256);
    let threads = numbers.next().unwrap_or(8).clamp(1, 1000) as u16;
    let bytes = recording_of(megabytes * 1_000_000, threads);
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), &bytes).expect("room for the recording");
    let size = bytes.len() as f64 / 1e6;

    let copied = timed("read the bytes (floor)", size, 0, || std::fs::read(file.path()));
    drop(copied);
    let recording =
        timed("open", size, 0, || Recording::open(file.path())).expect("a whole recording");
    let events = recording.event_count();
    timed("events of each thread", size, events, || {
        recording
            .streams()
            .map(|stream| stream.map(|event| weigh(&event.action)).sum::<u64>())
            .sum::<u64>()
    });
    timed("events in order", size, events, || {
        recording.events().map(|event| weigh(&event.action)).sum::<u64>()
    });
    let histories = timed("collect histories", size, events, || Histories::of(&recording));
    timed("walk histories", size, events, || {
        histories.locations().map(|location| location.lives.len() as u64).sum::<u64>()
    });
}

fn timed<T>(stage: &str, megabytes: f64, events: u64, work: impl FnOnce() -> T) -> T {
    let started = processor_seconds();
    let result = black_box(work());
    let seconds = processor_seconds() - started;
    let rate = megabytes / seconds;
    print!("{stage:<24} {seconds:>7.3} s {rate:>8.0} MB/s");
    if events > 0 {
        print!(" {:>8.1} million events/s", events as f64 / seconds / 1e6);
    }
    println!();
    result
}

/// Something that needs the whole event.
fn weigh(action: &Action<'_>) -> u64 {
    match action {
        Action::Access { address, length, pasts, .. } => {
            address.0 + length + pasts.iter().map(|past| u64::from(past.ordinal)).sum::<u64>()
        }
        _ => 1,
    }
}

/// Accesses of random threads to random locations, most of which list one past access.
fn recording_of(bytes: usize, threads: u16) -> Vec<u8> {
    let mut writer = Writer::new().with_chunks_of(256 * 1024);
    let mut state = 1_u64;
    let mut written = 0;
    while written < bytes {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let random = state >> 33;
        let thread = ThreadId(1 + (random % u64::from(threads)) as u16);
        let other = ThreadId(1 + (random / 7 % u64::from(threads)) as u16);
        let kind = if random & 64 == 0 { Kind::Write } else { Kind::Read };
        let draft = Draft::access(kind, 0x10_0000 + random / 128 % LOCATIONS * 8, 8)
            .site(random as u32 % 500);
        let past = Past {
            kind: PastKind::Read,
            thread: other,
            site: Site(9),
            ordinal: writer.events_of(other),
        };
        let with_past = random & 3 != 0;
        writer.write(thread, if with_past { draft.past(past) } else { draft });
        written += if with_past { 40 } else { 24 };
    }
    writer.to_bytes()
}
