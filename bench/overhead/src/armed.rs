//! What breakpoints cost that are armed and not reached.
//!
//! Takes   the workloads, recorded, each with a function that nobody calls.
//! Gives   the ratio of run times with a schedule whose places are in that function to run times without, same program.
//! Method  both take turns in every round; the median counts. A run before them shows that all places are
//!         armed and none is reached.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use unpick_bench_results::{
    Figure, command_line, figures_table, geometric_mean, machine, setting, table, verdict,
    write_section,
};
use unpick_events::schedule::Arming;
use unpick_problem::Problem;
use unpick_reproduce::{
    CallPlace, ModuleName, Operand, Outcome, PlaceOutcome, Plan, PlanPlace, PlanStep, Purpose,
};

use crate::compile::Builder;
use crate::folders::crate_folder;
use crate::launch::Launch;
use crate::measure::{builder, unknown_workload};
use crate::options::{Options, Scale};
use crate::statistics::{median, relative_spread};
use crate::variant::{Variant, VariantName};
use crate::workload::Workload;

const MOST: f64 = 1.05;
const PLACES: usize = 64;
const NEVER_CALLED: &str = "unpick_bench_never_called";

pub fn run(options: &Options) -> Result<ExitCode, Problem> {
    let load = machine::load();
    let workloads = options.workloads().map_err(unknown_workload)?;
    let builder = builder(options)?;
    let mut rows = Vec::new();
    for workload in workloads {
        let subject = Subject::build(&builder, workload)?;
        for &threads in &options.threads {
            let row = Row::measure(options, &builder, workload, threads, &subject)?;
            eprintln!("{} with {threads} threads: {:.3}", row.workload, row.ratio());
            rows.push(row);
        }
    }
    let section = section(options, &rows, &load);
    println!("{section}");
    if let Some(file) = &options.out {
        write_section(file, "bench/overhead --armed", &section)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// A program, and a schedule for places in it that are not reached.
struct Subject {
    program: PathBuf,
    schedule: PathBuf,
}

impl Subject {
    fn build(builder: &Builder, workload: &Workload) -> Result<Subject, Problem> {
        let variant = Variant::Named(VariantName::Unpick);
        let never_called = crate_folder().join("armed/never_called.c");
        let program = builder.program_with(workload, &variant, &[never_called])?;
        let schedule = program.with_extension("schedule");
        let bytes = plan_of(&program, &calls_in_never_called(&program)?).to_bytes()?;
        fs::write(&schedule, bytes).map_err(|error| cannot_use(&schedule, error))?;
        let subject = Subject { program, schedule };
        subject.check(workload, &builder.folders.runs)?;
        Ok(subject)
    }

    /// All places must be armed, and none reached.
    fn check(&self, workload: &Workload, runs: &Path) -> Result<(), Problem> {
        let folder = runs.join(format!("{}-check", std::process::id()));
        let outcomes = self.outcomes_of_run(workload, &folder);
        let _ = fs::remove_dir_all(&folder); // a leftover costs space only
        let outcomes = outcomes.map_err(|error| cannot_use(&self.program, error))?;
        let mut places = 0;
        for bytes in outcomes {
            let outcome = Outcome::from_bytes(&bytes, workload.name)?;
            let is_as_wanted =
                |place: &PlaceOutcome| place.arming == Arming::Armed && place.arrived == 0;
            places += outcome.places.iter().filter(|place| is_as_wanted(place)).count();
        }
        if places != PLACES {
            let why = format!("{places} of {PLACES} places are armed and not reached");
            return Err(cannot_use(&self.program, why));
        }
        Ok(())
    }

    fn outcomes_of_run(&self, workload: &Workload, folder: &Path) -> std::io::Result<Vec<Vec<u8>>> {
        fs::create_dir_all(folder)?;
        Command::new(&self.program)
            .args(["2".to_owned(), workload.size(Scale::Small).to_string()])
            .env("UNPICK_RUN_DIR", folder)
            .env("UNPICK_SCHEDULE", &self.schedule)
            .output()?;
        let files: Vec<PathBuf> =
            fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
        let is_outcome = |file: &&PathBuf| file.extension().is_some_and(|kind| kind == "outcome");
        files.iter().filter(is_outcome).map(fs::read).collect()
    }
}

fn cannot_use(file: &Path, why: impl std::fmt::Display) -> Problem {
    Problem::own_fault("breakpoints cannot be measured").at("file", file.display()).why(why)
}

/// The return addresses of the hooks in the function that nobody calls.
fn calls_in_never_called(program: &Path) -> Result<Vec<u64>, Problem> {
    let listing = Command::new("objdump")
        .args(["-d", "--no-show-raw-insn", &format!("--disassemble={NEVER_CALLED}")])
        .arg(program)
        .output()
        .map_err(|error| cannot_use(program, error))?;
    let calls = returns_of_hooks(&String::from_utf8_lossy(&listing.stdout));
    if calls.is_empty() {
        return Err(cannot_use(program, format!("no hook is called in {NEVER_CALLED}")));
    }
    Ok(calls)
}

/// Of every call of a hook that writes, the address of the instruction behind it.
fn returns_of_hooks(listing: &str) -> Vec<u64> {
    let instructions: Vec<(u64, &str)> = listing
        .lines()
        .filter_map(|line| line.trim_start().split_once(":\t"))
        .filter_map(|(address, text)| Some((u64::from_str_radix(address, 16).ok()?, text)))
        .collect();
    let pairs = instructions.windows(2);
    let hooks = pairs.filter(|pair| pair[0].1.starts_with("call") && pair[0].1.contains("write4"));
    hooks.map(|pair| pair[1].0).collect()
}

/// First one half of the calls, then the other.
fn plan_of(program: &Path, calls: &[u64]) -> Plan {
    let (first, second) = calls.split_at(calls.len() / 2);
    Plan::forcing(vec![step_at(program, 1, first), step_at(program, 2, second)])
}

fn step_at(program: &Path, role: u8, calls: &[u64]) -> PlanStep {
    // As the system names it when it is loaded.
    let path = fs::canonicalize(program).unwrap_or_else(|_| program.to_owned());
    let module = ModuleName::Path(path.display().to_string());
    let place = |offset: &u64| PlanPlace {
        at: CallPlace { module: module.clone(), offset: *offset },
        calls: Vec::new(),
        distance: None,
    };
    PlanStep {
        role,
        purpose: Purpose::Step,
        places: calls.iter().map(place).collect(),
        gates: Vec::new(),
        must_hold: false,
        exits: Vec::new(),
        variable: Some(0),
        operand: Operand::First,
        bytes: 4,
        is_write: true,
        calls: Vec::new(),
        shown: String::new(),
    }
}

/// Seconds of one workload and number of threads.
struct Row {
    workload: &'static str,
    threads: u32,
    without: Vec<f64>,
    armed: Vec<f64>,
}

impl Row {
    fn measure(
        options: &Options,
        builder: &Builder,
        workload: &'static Workload,
        threads: u32,
        subject: &Subject,
    ) -> Result<Row, Problem> {
        let once = |schedule| {
            let launch = Launch {
                launcher: &[],
                program: &subject.program,
                threads,
                size: workload.size(options.scale),
                limit_seconds: options.limit,
                schedule,
                folder: builder.folders.runs.join(std::process::id().to_string()),
            };
            launch.run().map_err(|why| cannot_use(&subject.program, why))
        };
        let mut row = Row { workload: workload.name, threads, without: vec![], armed: vec![] };
        for _ in 0..options.repeat {
            row.without.push(once(None)?.seconds);
            row.armed.push(once(Some(&subject.schedule))?.seconds);
        }
        Ok(row)
    }

    fn ratio(&self) -> f64 {
        let of = |seconds: &[f64]| median(seconds).unwrap_or(f64::NAN);
        of(&self.armed) / of(&self.without)
    }

    fn cells(&self) -> Vec<String> {
        let seconds = |values| median(values).unwrap_or(f64::NAN);
        vec![
            self.workload.to_owned(),
            self.threads.to_string(),
            format!("{:.3}", seconds(&self.without)),
            format!("{:.3}", seconds(&self.armed)),
            format!("{:.3}", self.ratio()),
        ]
    }
}

fn section(options: &Options, rows: &[Row], load: &str) -> String {
    let ratios: Vec<f64> = rows.iter().map(Row::ratio).collect();
    let mean = geometric_mean(&ratios).unwrap_or(f64::NAN);
    let figure = Figure {
        name: "armed and not reached, against none (geometric mean)".to_owned(),
        target: format!("below {MOST}"),
        measured: format!("{mean:.3}"),
        verdict: verdict(mean < MOST),
    };
    let spreads: Vec<f64> = rows.iter().filter_map(|row| relative_spread(&row.without)).collect();
    let further = [
        format!("load averages before the first run: {load}"),
        format!("command: `{}`", command_line("unpick-bench-overhead", std::env::args())),
        format!("{} rounds, with and without take turns in each; medians", options.repeat),
        format!(
            "spread of the times without, (max - min) / median: usually {:.0}%",
            median(&spreads).unwrap_or(f64::NAN) * 100.0
        ),
    ];
    let head = ["workload", "threads", "without, s", "armed, s", "ratio"].map(str::to_owned);
    let all: Vec<_> = [head.to_vec()].into_iter().chain(rows.iter().map(Row::cells)).collect();
    let parts = [
        "## Overhead of armed breakpoints".to_owned(),
        setting(&["gcc"], &further),
        figures_table(&[figure]),
        table(&all),
    ];
    parts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_return_address_is_where_the_next_instruction_is() {
        let listing = "0000 <f>:\n  10:\tlea    (%rip),%rdi\n  17:\tcall   99 <__tsan_write4>\n  \
                       1c:\tmovl   $0x0,(%rax)\n  22:\tcall   88 <__tsan_func_exit>\n  27:\tret\n";
        assert_eq!(returns_of_hooks(listing), [0x1c]);
    }
}
