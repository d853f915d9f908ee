//! How fast runs become ranked patterns. See README.md for the question and the command.
//!
//! Takes   the number of runs (default 100) and of pairs in each run (default 100000; a tenth and a hundredth of it
//!         are measured first); `--out FILE` replaces this benchmark's section there.
//! Gives   per size: seconds from event files in memory to stored results, and from those to the ranking and to groups;
//!         nanoseconds of work per pair; how large the results are; the most memory the process ever had. Seconds are
//!         processor time (other work on the machine does not count); collecting is divided by the workers, which share it evenly.
//!         Beside it the time on the wall, in which making the recordings up does count.
#![forbid(unsafe_code)]

#[path = "../made_up.rs"]
mod made_up;
#[path = "../peak_memory.rs"]
mod peak_memory;
#[path = "../processor_time.rs"]
mod processor_time;
#[path = "../telling.rs"]
mod telling;

use std::process::ExitCode;
use std::sync::Mutex;
use std::time::Instant;

use made_up::recording_of;
use peak_memory::peak_megabytes;
use processor_time::processor_seconds;
use telling::tell;
use unpick_analyses::{
    Collector, Conclusion, Formula, LabelledRun, Options, RunPatterns, conclude,
};
use unpick_bench_results::{Figure, command_line, figures_table, setting, table, verdict};
use unpick_events::Label;
use unpick_findings::{Standing, group};
use unpick_recording::Recording;

const WORKERS: usize = 2;
const MOST_FINDINGS: usize = 10;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut numbers = arguments.iter().filter_map(|argument| argument.parse().ok());
    let runs: u32 = numbers.next().unwrap_or(100);
    let pairs = u64::from(numbers.next().unwrap_or(100_000));
    let sizes = [pairs / 100, pairs / 10, pairs].map(|size| measure(runs, size));
    let section = section(runs, &sizes);
    tell(&arguments, "bench/throughput patterns", &section)
}

/// What runs of one size take.
struct Size {
    pairs: u64,
    patterns: usize,
    stored_bytes: usize,
    collecting: f64,
    concluding: f64,
    grouping: f64,
    wall: f64,
    nanoseconds_per_pair: f64,
    peak_megabytes: u64,
}

impl Size {
    fn seconds(&self) -> f64 {
        self.collecting + self.concluding + self.grouping
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.pairs.to_string(),
            self.patterns.to_string(),
            (self.stored_bytes / 1000).to_string(),
            format!("{:.2}", self.collecting),
            format!("{:.2}", self.concluding),
            format!("{:.2}", self.grouping),
            format!("{:.2}", self.seconds()),
            format!("{:.1}", self.wall),
            format!("{:.0}", self.nanoseconds_per_pair),
            self.peak_megabytes.to_string(),
        ]
    }
}

fn section(runs: u32, sizes: &[Size]) -> String {
    let further = [
        format!(
            "command: `{}`",
            command_line("unpick-bench-throughput --bin patterns", std::env::args())
        ),
        format!(
            "{runs} runs, {WORKERS} workers, default windows; processor time, but for the wall, which includes making the recordings up"
        ),
    ];
    let head = [
        "pairs/run",
        "patterns/run",
        "KB/run",
        "collect s",
        "conclude s",
        "group s",
        "sum s",
        "wall s",
        "ns/pair",
        "peak MB",
    ];
    let rows = std::iter::once(head.map(str::to_owned).to_vec());
    let rows: Vec<_> = rows.chain(sizes.iter().map(Size::row)).collect();
    let parts = [
        "## Analysis of patterns".to_owned(),
        setting(&["rustc"], &further),
        figures_table(&figures(runs, sizes)),
        table(&rows),
    ];
    parts.join("\n\n")
}

fn figures(runs: u32, sizes: &[Size]) -> Vec<Figure> {
    let largest = &sizes[sizes.len() - 1];
    let growth = largest.nanoseconds_per_pair / sizes[0].nanoseconds_per_pair;
    vec![
        Figure {
            name: format!("analysis of {runs} runs of {} pairs, {WORKERS} cores", largest.pairs),
            target: "under 20 s".to_owned(),
            measured: format!("{:.1} s", largest.seconds()),
            verdict: verdict(largest.seconds() < 20.0),
        },
        Figure {
            name: "its memory".to_owned(),
            target: "under 1 GiB".to_owned(),
            measured: format!("{} MB", largest.peak_megabytes),
            verdict: verdict(largest.peak_megabytes < 1073),
        },
        Figure {
            name: "work per pair with 100 times the pairs".to_owned(),
            target: "linear: at most 1.2 times".to_owned(),
            measured: format!("{growth:.2} times"),
            verdict: verdict(growth <= 1.2),
        },
    ]
}

fn measure(runs: u32, pairs: u64) -> Size {
    let begun = Instant::now();
    let accesses = accesses_for(pairs);
    let (stored, work) = collect_all(runs, accesses);
    let started = processor_seconds();
    let conclusion = conclude_all(&stored);
    let concluding = processor_seconds() - started;
    let started = processor_seconds();
    let groups = group(&conclusion, |site| site, |_| Standing::Own, MOST_FINDINGS);
    let grouping = processor_seconds() - started;
    assert!(groups.len() <= MOST_FINDINGS && !conclusion.ranked.is_empty(), "there are patterns");
    let wall = begun.elapsed().as_secs_f64();
    let first = RunPatterns::from_bytes(&stored[0], "the first run").expect("just written");
    let all_pairs = first.pairs as f64 * f64::from(runs);
    Size {
        pairs: first.pairs,
        patterns: first.patterns.len(),
        stored_bytes: stored[0].len(),
        collecting: work / WORKERS as f64,
        concluding,
        grouping,
        wall,
        nanoseconds_per_pair: (work + concluding + grouping) / all_pairs * 1e9,
        peak_megabytes: peak_megabytes(),
    }
}

/// How many accesses give about this many pairs.
fn accesses_for(pairs: u64) -> u64 {
    let trial = 2000;
    let found = collected(&recording_of(1, trial)).pairs.max(1);
    pairs * trial / found
}

/// The stored results of all runs, and the seconds of work it took; making the recordings up does not count.
fn collect_all(runs: u32, accesses: u64) -> (Vec<Vec<u8>>, f64) {
    let results = Mutex::new((vec![Vec::new(); runs as usize], 0.0));
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let results = &results;
            scope.spawn(move || {
                for run in (worker..runs as usize).step_by(WORKERS) {
                    let bytes = recording_of(run as u64, accesses);
                    let started = processor_seconds();
                    let stored = collected(&bytes).to_bytes();
                    let work = processor_seconds() - started;
                    let mut results = results.lock().expect("no worker panics");
                    results.0[run] = stored;
                    results.1 += work;
                }
            });
        }
    });
    results.into_inner().expect("no worker panics")
}

fn collected(bytes: &[u8]) -> RunPatterns {
    let recording = Recording::from_bytes(bytes, "made up").expect("a whole recording");
    let mut collector = Collector::new(Options::default());
    collector.add(&recording, &recording);
    collector.finish()
}

fn conclude_all(stored: &[Vec<u8>]) -> Conclusion {
    let runs = stored.iter().zip(0..).map(|(bytes, number)| LabelledRun {
        number,
        label: if number % 4 == 0 { Label::Fail } else { Label::Pass },
        patterns: RunPatterns::from_bytes(bytes, "made up").expect("just written"),
    });
    conclude(runs, Formula::Jaccard).expect("all runs were looked at alike")
}
