//! How fast a store with very many runs is listed and ranked. See README.md for the question and the command.
//!
//! Takes   the number of runs (default 100000), and a folder to leave the store in (else it is removed).
//! Gives   seconds to make the runs' folders, to list all runs, to find those of the last hunt, and to rank them from disk; the most
//!         memory the process ever had. Seconds are those of the clock: reading many small files is mostly waiting.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::time::Instant;

use unpick_analyses::{Collector, Formula, LabelledRun, Options, conclude};
use unpick_events::{Kind, Label, ThreadId};
use unpick_recording::writer::{Draft, Writer};
use unpick_recording::{Outcome, Recording, RunInfo, RunOptions};
use unpick_run_store::{PATTERNS_FILE, Store, StoredRun, read_patterns};

/// Made-up programs differ from run to run in the order of so many accesses.
const ACCESSES: u64 = 60;
const VARIANTS: u64 = 50;
const ONE_IN: u64 = 20;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let runs: u64 = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(100_000);
    let kept = arguments.next().map(PathBuf::from);
    let own = tempfile::tempdir().expect("a folder for temporary files");
    let store = Store::at(kept.unwrap_or_else(|| own.path().to_owned()));
    println!("{runs} runs of one hunt");
    timed("make", || make(&store, runs));
    timed("list all", || assert_eq!(store.runs().0.len() as u64, runs));
    let hunt = timed("those of the last hunt", || store.runs_of_hunt(None).expect("labelled runs"));
    let patterns = timed("rank", || rank(&hunt));
    println!("{patterns} patterns, at most {} MB of memory", peak_megabytes());
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    println!("{:>8.2} s  {what}", started.elapsed().as_secs_f64());
    result
}

fn make(store: &Store, runs: u64) {
    let patterns: Vec<Vec<u8>> = (0..VARIANTS).map(patterns_of).collect();
    for run in 0..runs {
        let folder = store.new_run().expect("a folder that can be written to");
        let bytes = &patterns[(run % VARIANTS) as usize];
        std::fs::write(folder.join(PATTERNS_FILE), bytes).expect("room for patterns");
        info_of(run).write(&folder).expect("room for a description");
    }
}

/// What is stored of a small run.
fn patterns_of(variant: u64) -> Vec<u8> {
    let mut random = variant + 1;
    let mut writer = Writer::new();
    for _ in 0..ACCESSES {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (thread, site) = ((random >> 33) % 3, (random >> 40) % 12);
        let kind = if site % 3 == 0 { Kind::Write } else { Kind::Read };
        let access = Draft::access(kind, 0x10_0000 + site % 4 * 8, 8).site(0x1000 + site as u32);
        writer.write(ThreadId(thread as u16 + 1), access);
    }
    let recording =
        Recording::from_bytes(&writer.to_bytes(), "made up").expect("a whole recording");
    let mut collector = Collector::new(Options::default());
    collector.add(&recording, &recording);
    collector.finish().to_bytes()
}

fn info_of(run: u64) -> RunInfo {
    let fails = run.is_multiple_of(ONE_IN);
    RunInfo {
        written_as: None,
        stdin: None,
        judged_by: None,
        command: ["./bank", "--deposits", "100"].map(str::to_owned).to_vec(),
        working_folder: PathBuf::from("/home/somebody/projects/bank"),
        started_ms: 1_700_000_000_000 + run,
        duration_ms: 12,
        outcome: Outcome::Exit { code: i32::from(fails) },
        options: RunOptions::default(),
        seed: run,
        unpick_version: env!("CARGO_PKG_VERSION").to_owned(),
        format_version: 2,
        label: Some(if fails { Label::Fail } else { Label::Pass }),
        why: Some(format!("exit {}", i32::from(fails))),
        hunt: Some(1),
    }
}

/// From disk, as `unpick rank` does it; gives the number of patterns.
fn rank(runs: &[StoredRun]) -> usize {
    let labelled = runs.iter().map(|run| LabelledRun {
        number: run.number as u32,
        label: run.label(),
        patterns: read_patterns(&run.folder).expect("just written"),
    });
    conclude(labelled, Formula::Jaccard).expect("all runs were looked at alike").ranked.len()
}

/// The most memory this process has had.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a Linux kernel");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    kilobytes.expect("a number of kilobytes") / 1000
}
