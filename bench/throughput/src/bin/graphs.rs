//! How fast a recording becomes a communication graph. See README.md for the question and the command.
//!
//! Takes   the number of communications (default 10000000; a tenth and a hundredth of it are measured first); `--out FILE` replaces
//!         this benchmark's section there.
//! Gives   per size: seconds from an event file in memory to the stored graph, on the clock and on the processor (other work on the
//!         machine lengthens the former, and by what it takes of the caches the latter, too); nanoseconds of processor time per
//!         communication; nodes, edges, stored bytes; the most memory the process ever had, the made-up recording included.
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
use std::time::Instant;

use made_up::recording_of;
use peak_memory::peak_megabytes;
use processor_time::processor_seconds;
use telling::tell;
use unpick_analyses::communication::{Collector, GraphOptions, RunGraphs};
use unpick_bench_results::{Figure, command_line, figures_table, machine, setting, table, verdict};
use unpick_recording::Recording;

/// Of communications of a made-up recording so many are wanted by default.
const WANTED: u64 = 10_000_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let wanted = arguments.iter().find_map(|word| word.parse().ok()).unwrap_or(WANTED);
    let sizes = [wanted / 100, wanted / 10, wanted].map(measure);
    let section = section(&sizes);
    tell(&arguments, "bench/throughput graphs", &section)
}

/// What a recording of one size takes.
struct Size {
    communications: u64,
    nodes: usize,
    edges: usize,
    stored_bytes: usize,
    /// On the processor.
    seconds: f64,
    seconds_by_clock: f64,
    peak_megabytes: u64,
}

impl Size {
    fn nanoseconds(&self) -> f64 {
        self.seconds / self.communications as f64 * 1e9
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.communications.to_string(),
            self.nodes.to_string(),
            self.edges.to_string(),
            (self.stored_bytes / 1000).to_string(),
            format!("{:.2}", self.seconds_by_clock),
            format!("{:.2}", self.seconds),
            format!("{:.0}", self.nanoseconds()),
            self.peak_megabytes.to_string(),
        ]
    }
}

fn measure(wanted: u64) -> Size {
    let trial = graphs_of(&recording_of(1, 100_000)).communications;
    let bytes = recording_of(1, wanted * 100_000 / trial);
    let (started, clock) = (processor_seconds(), Instant::now());
    let graphs = graphs_of(&bytes);
    let stored_bytes = graphs.to_bytes().len();
    let (seconds, seconds_by_clock) =
        (processor_seconds() - started, clock.elapsed().as_secs_f64());
    Size {
        communications: graphs.communications,
        nodes: graphs.graphs.iter().map(|graph| graph.nodes.len()).sum(),
        edges: graphs.graphs.iter().map(|graph| graph.edges.len()).sum(),
        stored_bytes,
        seconds,
        seconds_by_clock,
        peak_megabytes: peak_megabytes(),
    }
}

fn graphs_of(bytes: &[u8]) -> RunGraphs {
    let recording = Recording::from_bytes(bytes, "made up").expect("a whole recording");
    let mut collector = Collector::new(GraphOptions::default());
    collector.add(&recording, &recording);
    collector.finish()
}

fn section(sizes: &[Size]) -> String {
    let command = command_line("unpick-bench-throughput --bin graphs", std::env::args());
    let further = [
        format!("load averages after the last run: {}", machine::load()),
        format!("command: `{command}`"),
        "one thread; figures by processor time".to_owned(),
    ];
    let head =
        ["communications", "nodes", "edges", "stored KB", "s by clock", "s", "ns each", "peak MB"];
    let rows = std::iter::once(head.map(str::to_owned).to_vec());
    let rows: Vec<_> = rows.chain(sizes.iter().map(Size::row)).collect();
    let parts = [
        "## Communication graphs".to_owned(),
        setting(&["rustc"], &further),
        figures_table(&figures(sizes)),
        table(&rows),
    ];
    parts.join("\n\n")
}

fn figures(sizes: &[Size]) -> Vec<Figure> {
    let largest = &sizes[sizes.len() - 1];
    let growth = largest.nanoseconds() / sizes[0].nanoseconds();
    vec![
        Figure {
            name: format!("graph building, {} communications", largest.communications),
            target: "under 10 s".to_owned(),
            measured: format!("{:.1} s", largest.seconds),
            verdict: verdict(largest.seconds < 10.0),
        },
        Figure {
            name: "work per communication with 100 times as many".to_owned(),
            target: "linear: at most 1.5 times".to_owned(),
            measured: format!("{growth:.2} times"),
            verdict: verdict(growth <= 1.5),
        },
    ]
}
