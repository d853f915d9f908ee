//! How fast a full recording is looked at for races. See README.md for the question and the command.
//!
//! Takes   the number of events (default 10000000; a tenth and a hundredth of it are measured first); `--out FILE` replaces
//!         this benchmark's section there.
//! Gives   per size: seconds of processor time for reading the events alone, from an event file in memory to the races of either
//!         detector, and for what orders the pairs of lockset alone; nanoseconds per event; seconds by the clock for all that `unpick races` does with a recording but deadlocks and
//!         correlations; racing pairs; the most memory the process ever had, the made-up recording included.
#![forbid(unsafe_code)]

#[path = "../peak_memory.rs"]
mod peak_memory;
#[path = "../processor_time.rs"]
mod processor_time;
#[path = "../random.rs"]
mod random;
#[path = "../telling.rs"]
mod telling;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Instant;

use peak_memory::peak_megabytes;
use processor_time::processor_seconds;
use random::Random;
use telling::tell;
use unpick_analyses::races::{Collector, RacingPair};
use unpick_analyses::races_lockset::firmness;
use unpick_analyses::{races_happens_before, races_lockset};
use unpick_bench_results::{Figure, command_line, figures_table, setting, table, verdict};
use unpick_events::{Kind, MemoryOrder, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

const WANTED: u64 = 10_000_000;
const THREADS: u64 = 8;
/// Each lock protects so many variables, and a section has so many accesses.
const ACCESSES: u64 = 8;
const LOCKS: u64 = 64;
/// Memory that all read and nobody writes any more.
const TABLE: u64 = 0x7000_0000;
const TABLE_WORDS: u64 = 1 << 16;
const CHUNK_BYTES: u64 = 1 << 18;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = arguments.iter().find_map(|word| word.parse().ok()).unwrap_or(WANTED);
    let sizes = [wanted / 100, wanted / 10, wanted].map(measure);
    tell(&arguments, "bench/throughput races", &section(&sizes))
}

/// What a recording of one size takes.
struct Size {
    events: u64,
    reading: f64,
    happens_before: f64,
    lockset: f64,
    /// What firmly orders the pairs of lockset alone.
    firm: f64,
    /// By the clock: both, and what firmly orders the pairs of lockset alone.
    together: f64,
    races: usize,
    peak_megabytes: u64,
}

impl Size {
    fn row(&self) -> Vec<String> {
        vec![
            self.events.to_string(),
            format!("{:.2}", self.reading),
            format!("{:.2}", self.happens_before),
            format!("{:.0}", self.happens_before / self.events as f64 * 1e9),
            format!("{:.2}", self.lockset),
            format!("{:.0}", self.lockset / self.events as f64 * 1e9),
            format!("{:.2}", self.firm),
            format!("{:.0}", self.firm / self.events as f64 * 1e9),
            format!("{:.2}", self.together),
            self.races.to_string(),
            self.peak_megabytes.to_string(),
        ]
    }
}

fn measure(wanted: u64) -> Size {
    let bytes = full_recording(wanted);
    let mut events = 0;
    let reading = seconds(|| events = opened(&bytes).events().count() as u64);
    let mut unordered = Vec::new();
    let happens_before = seconds(|| {
        let recording = opened(&bytes);
        unordered = races_happens_before::races(&recording, &recording).into_pairs();
    });
    let mut unlocked = Vec::new();
    let lockset = seconds(|| {
        let recording = opened(&bytes);
        unlocked = races_lockset::races(&recording, &recording).into_pairs();
    });
    let firm = seconds_firm(&bytes, &unordered, &unlocked);
    let together = seconds_together(&bytes);
    let races = unordered.len();
    let peak_megabytes = peak_megabytes();
    Size { events, reading, happens_before, lockset, firm, together, races, peak_megabytes }
}

/// Of the pairs of lockset that happens-before does not find.
fn seconds_firm(bytes: &[u8], unordered: &[RacingPair], unlocked: &[RacingPair]) -> f64 {
    let sites = |pair: &RacingPair| {
        let sites = [pair.first.site, pair.second.site];
        [sites[0].min(sites[1]), sites[0].max(sites[1])]
    };
    let found_twice: BTreeSet<_> = unordered.iter().map(sites).collect();
    let is_alone = |pair: &&RacingPair| !found_twice.contains(&sites(pair));
    let alone: Vec<&RacingPair> = unlocked.iter().filter(is_alone).collect();
    seconds(|| {
        let recording = opened(bytes);
        firmness(&recording, &recording, &alone);
    })
}

fn seconds_together(bytes: &[u8]) -> f64 {
    let knowledge = opened(bytes);
    let started = Instant::now();
    let recording = opened(bytes);
    let mut collector = Collector::default();
    collector.add(&recording, &recording, knowledge, None);
    collector.finish();
    started.elapsed().as_secs_f64()
}

fn opened(bytes: &[u8]) -> Recording {
    Recording::from_bytes(bytes, "made up").expect("a whole recording")
}

fn seconds(work: impl FnOnce()) -> f64 {
    let started = processor_seconds();
    work();
    processor_seconds() - started
}

/// Threads that take turns at random: a section under a lock with eight accesses to what it protects, which once in a thousand times
/// somebody forgets to take; reads of what all read; an atomic.
fn full_recording(wanted: u64) -> Vec<u8> {
    let mut writer = Writer::new().with_chunks_of(CHUNK_BYTES);
    let mut random = Random(1);
    let mut written = 0;
    while written < wanted {
        let thread = ThreadId(1 + random.below(THREADS) as u16);
        written += match random.below(4) {
            0 | 1 => section_under_lock(&mut writer, thread, &mut random),
            2 => reads_of_table(&mut writer, thread, &mut random),
            _ => atomic(&mut writer, thread, &mut random),
        };
    }
    writer.to_bytes()
}

fn section_under_lock(writer: &mut Writer, thread: ThreadId, random: &mut Random) -> u64 {
    let number = random.below(LOCKS);
    let lock = 0x6000_0000 + 0x40 * number;
    let forgets = random.below(1000) == 0;
    if !forgets {
        writer.write(thread, Draft::new(Kind::Acquire).object(lock).site(0x100));
    }
    for _ in 0..ACCESSES {
        let variable = number * ACCESSES + random.below(ACCESSES);
        let kind = if random.below(3) == 0 { Kind::Write } else { Kind::Read };
        let site = 0x1000 + 4 * random.below(64) as u32;
        let draft = Draft::access(kind, 0x5000_0000 + 8 * variable, 8).site(site);
        writer.write(thread, draft.context(7));
    }
    if !forgets {
        writer.write(thread, Draft::new(Kind::Release).object(lock).site(0x104));
    }
    ACCESSES + if forgets { 0 } else { 2 }
}

fn reads_of_table(writer: &mut Writer, thread: ThreadId, random: &mut Random) -> u64 {
    for _ in 0..ACCESSES {
        let address = TABLE + 8 * random.below(TABLE_WORDS);
        writer.write(thread, Draft::access(Kind::Read, address, 8).site(0x2000).unstamped());
    }
    ACCESSES
}

fn atomic(writer: &mut Writer, thread: ThreadId, random: &mut Random) -> u64 {
    let address = 0x5800_0000 + 8 * random.below(16);
    let order = MemoryOrder::AcquireRelease as u16;
    writer.write(thread, Draft::access(Kind::ReadWrite, address, 8).flags(order).site(0x3000));
    1
}

fn section(sizes: &[Size]) -> String {
    let command = command_line("unpick-bench-throughput --bin races", std::env::args());
    let further = [format!("command: `{command}`"), "one process; processor time of one core, but for \"together\": by the clock, with a thread for each detector".into()];
    let head = [
        "events",
        "reading s",
        "happens-before s",
        "ns each",
        "lockset s",
        "ns each",
        "firm order s",
        "ns each",
        "together s",
        "pairs",
        "peak MB",
    ];
    let rows = std::iter::once(head.map(str::to_owned).to_vec());
    let rows: Vec<_> = rows.chain(sizes.iter().map(Size::row)).collect();
    let parts = [
        "## Race detectors".to_owned(),
        setting(&["rustc"], &further),
        figures_table(&figures(sizes)),
        table(&rows),
    ];
    parts.join("\n\n")
}

fn figures(sizes: &[Size]) -> Vec<Figure> {
    let largest = &sizes[sizes.len() - 1];
    let figure = |name: &str, seconds: f64| Figure {
        name: format!("{name}, {} events", largest.events),
        target: "under 5 s".to_owned(),
        measured: format!("{seconds:.1} s"),
        verdict: verdict(seconds < 5.0),
    };
    vec![
        figure("happens-before", largest.happens_before),
        figure("lockset", largest.lockset),
        Figure {
            name: format!(
                "both and what orders their pairs, by the clock, {} events",
                largest.events
            ),
            target: "-".to_owned(),
            measured: format!("{:.1} s", largest.together),
            verdict: "-",
        },
    ]
}
