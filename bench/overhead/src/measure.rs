//! Runs everything: for each workload and thread count, rounds in which all variants take turns.

use std::path::PathBuf;
use std::sync::OnceLock;

use unpick_problem::Problem;

use crate::compile::Builder;
use crate::folders::Folders;
use crate::launch::Launch;
use crate::options::{Options, Scale};
use crate::results::{Cell, Quantity, Results, Sample};
use crate::variant::{Variant, VariantName};
use crate::workload::Workload;

/// One variant of one workload, ready to run.
struct Lane {
    variant: Variant,
    scale: Scale,
    program: PathBuf,
}

pub fn measure(options: &Options) -> Result<Results, Problem> {
    let workloads = options.workloads().map_err(unknown_workload)?;
    let builder = builder(options)?;
    let mut results = Results::default();
    for workload in workloads {
        eprintln!("{}: building", workload.name);
        let lanes = lanes(options, &builder, workload)?;
        for &threads in &options.threads {
            let race = Race { options, workload, threads, folders: &builder.folders };
            race.run_rounds(&lanes, &mut results);
            race.tell(&lanes, &results);
        }
    }
    Ok(results)
}

pub fn unknown_workload(name: String) -> Problem {
    let known: Vec<_> = crate::workload::WORKLOADS.iter().map(|workload| workload.name).collect();
    Problem::usage(format!("there is no workload `{name}`"))
        .next(format!("choose from {}", known.join(", ")))
}

pub fn builder(options: &Options) -> Result<Builder, Problem> {
    Ok(Builder {
        folders: Folders::create()?,
        optimisation: options.optimise,
        unpick: options.unpick.clone().unwrap_or_else(unpick_beside_this_program),
        jobs: options.jobs,
        third_party: OnceLock::new(),
    })
}

fn unpick_beside_this_program() -> PathBuf {
    std::env::current_exe().unwrap_or_default().with_file_name("unpick")
}

/// All variants, and native at the scale of those that do not run at the scale asked for.
fn lanes(options: &Options, builder: &Builder, workload: &Workload) -> Result<Vec<Lane>, Problem> {
    let variants = options.variants();
    let mut wanted: Vec<_> =
        variants.iter().map(|variant| (variant.clone(), variant.scale(options.scale))).collect();
    if wanted.iter().any(|(_, scale)| *scale != options.scale) {
        wanted.insert(0, (Variant::Named(VariantName::Native), Scale::Small));
    }
    let lane = |(variant, scale): (Variant, Scale)| {
        let program = builder.program(workload, &variant)?;
        Ok(Lane { variant, scale, program })
    };
    wanted.into_iter().map(lane).collect()
}

/// Repeating what takes a hundred times longer than native costs much and tells little.
const HEAVY_ROUNDS: usize = 2;

struct Race<'a> {
    options: &'a Options,
    workload: &'static Workload,
    threads: u32,
    folders: &'a Folders,
}

impl Race<'_> {
    fn run_rounds(&self, lanes: &[Lane], results: &mut Results) {
        for round in 0..self.options.repeat {
            for lane in lanes {
                let cell = self.cell(lane);
                let is_done = lane.variant.is_heavy() && round >= HEAVY_ROUNDS;
                if !is_done && !results.has_failed(&cell) {
                    self.run_once(lane, cell, results);
                }
            }
        }
    }

    fn run_once(&self, lane: &Lane, cell: Cell, results: &mut Results) {
        let sample = self.launch(lane).run();
        let expected = results.checksum_of(self.workload.name, lane.scale);
        match sample.and_then(|sample| same_checksum(sample, expected)) {
            Ok(sample) => results.add(cell, sample),
            Err(why) => results.add_failure(cell, why),
        }
    }

    fn launch<'a>(&self, lane: &'a Lane) -> Launch<'a> {
        Launch {
            launcher: lane.variant.launcher(),
            program: &lane.program,
            threads: self.threads,
            size: self.workload.size(lane.scale),
            limit_seconds: self.options.limit,
            schedule: None,
            folder: self.folders.runs.join(std::process::id().to_string()),
        }
    }

    fn cell(&self, lane: &Lane) -> Cell {
        let variant = lane.variant.label();
        Cell { workload: self.workload.name, threads: self.threads, variant, scale: lane.scale }
    }

    /// One line of progress: the slowdowns so far.
    fn tell(&self, lanes: &[Lane], results: &Results) {
        let told = lanes.iter().map(|lane| {
            let cell = self.cell(lane);
            let seconds = results.median_of(&cell, Quantity::Seconds).unwrap_or(f64::NAN);
            let slowdown = results.ratio(&cell, "native", Quantity::Seconds).unwrap_or(f64::NAN);
            format!("{} {seconds:.2}s ({slowdown:.1}x)", cell.variant)
        });
        eprintln!("  {} threads: {}", self.threads, told.collect::<Vec<_>>().join(", "));
    }
}

/// Every variant must compute the same: one that does not has no time worth telling.
fn same_checksum(sample: Sample, expected: Option<&str>) -> Result<Sample, String> {
    match expected {
        Some(expected) if expected != sample.checksum => {
            Err(format!("it printed `{}`, others printed `{expected}`", sample.checksum))
        }
        _ => Ok(sample),
    }
}
