//! Six parallel kernels without a bug: what is reported about them is false.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use unpick_findings::Frame;
use unpick_problem::Problem;

use crate::command::{Delays, Program, fresh_folder, text};
use crate::hardware::Hardware;
use crate::options::Options;
use crate::software::{Trained, places};

/// A workload of bench/overhead, called as `program THREADS SIZE`.
pub struct Kernel {
    pub name: &'static str,
    source: &'static str,
    /// Of training and of the runs after it; small, because recordings are full.
    sizes: [u32; 2],
    /// AVIO-H's false positives in the paper, where it has the kernel.
    pub paper: Option<u32>,
}

const THREADS: &str = "4";

pub const KERNELS: [Kernel; 6] = [
    Kernel { name: "lu", source: "lu.c", sizes: [2, 3], paper: Some(0) },
    Kernel { name: "fft", source: "fft.c", sizes: [4, 5], paper: Some(1) },
    Kernel { name: "radix", source: "radix.c", sizes: [3000, 4000], paper: Some(0) },
    Kernel { name: "n-body", source: "barnes.c", sizes: [60, 80], paper: None },
    Kernel { name: "pipeline", source: "pipeline.c", sizes: [300, 400], paper: None },
    Kernel { name: "stencil", source: "stencil.c", sizes: [40, 50], paper: None },
];

/// Different violations, by places, of all runs after training.
pub struct Row {
    pub kernel: &'static Kernel,
    pub software: usize,
    pub software_invariants: u64,
    pub hardware: usize,
    pub hardware_invariants: u64,
}

pub fn measure(options: &Options) -> Result<Vec<Row>, Problem> {
    KERNELS
        .iter()
        .filter(|kernel| options.takes(kernel.name))
        .map(|one| row(one, options))
        .collect()
}

fn row(kernel: &'static Kernel, options: &Options) -> Result<Row, Problem> {
    let (unpick, work) = (options.unpick()?, options.work());
    let arguments = |size: u32| vec![THREADS.to_owned(), size.to_string()];
    let program = Program {
        path: built(kernel, &unpick, &work)?,
        training: arguments(kernel.sizes[0]),
        detection: arguments(kernel.sizes[1]),
    };
    let folder = |of: &str| work.join(of).join(kernel.name);
    let trained = Trained::by_runs(&unpick, &program, folder("software"), options.training)?;
    let mut by_software = BTreeSet::new();
    for _ in 0..options.kernel_runs {
        let watched = trained.watch(Delays::None)?;
        let violations = watched.violations.iter().filter_map(places);
        by_software.extend(violations.map(|(this, remote)| [this, remote[0]].map(Frame::clone)));
    }
    for places in &by_software {
        eprintln!("{}: reported: {places:?}", kernel.name);
    }
    let hardware = Hardware::trained(
        &unpick,
        &program,
        folder("hardware"),
        options.cache_shape()?,
        options.training,
    )?;
    let mut by_hardware = BTreeSet::new();
    for _ in 0..options.kernel_runs {
        by_hardware.extend(hardware.watch(Delays::None)?.violations);
    }
    let row = Row {
        kernel,
        software: by_software.len(),
        software_invariants: trained.invariants,
        hardware: by_hardware.len(),
        hardware_invariants: hardware.invariants() as u64,
    };
    eprintln!("{}: software {}, hardware {}", kernel.name, row.software, row.hardware);
    Ok(row)
}

fn built(kernel: &Kernel, unpick: &Path, work: &Path) -> Result<PathBuf, Problem> {
    let folder = fresh_folder(work.join("kernels").join(kernel.name))?;
    let program = folder.join(kernel.name);
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../overhead/workloads");
    let failed = |why: String| {
        Problem::own_fault(format!("the kernel {} cannot be built", kernel.name)).why(why)
    };
    let output = Command::new(unpick)
        .args(["cc", "-std=gnu11", "-g", "-O1", "-pthread"])
        .arg(sources.join(kernel.source))
        .args(["-lm", "-o"])
        .arg(&program)
        .output()
        .map_err(|error| failed(error.to_string()))?;
    if output.status.success() { Ok(program) } else { Err(failed(text(&output.stderr))) }
}
