//! `unpick pin`: writes the order of a finding, or a deadlock, as a reproducer file to keep with the tests.
//!
//! Takes   a finding of a store, or a run that hung in a deadlock; the program, of the build it was found in.
//! Gives   TOML in the words of the source, with what counts as failing, and how long to hold threads so that it fails.
//! Cost    some forced runs, to find that out; `--no-try` leaves them out.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use unpick_findings::{Findings, Hang};
use unpick_problem::Problem;
use unpick_reproduce::{Plan, Program, Reproducer};
use unpick_run_store::Store;

use crate::calibration::calibrated;
use crate::forcing::{Forcing, Hunted, JudgeOptions, PlanOptions};
use crate::hang::read_hang;
use crate::hunt::{print, write_file};
use crate::record::quoted;
use crate::show::{self, FINDINGS_FILE};

pub const HELP: &str = "\
The file names the code by function and by the text of its lines, so it outlives changes around it. The program must be the build that was
hunted. unpick check tells what the file says about a later build.

Exit codes: 0 the file is written, 2 there is no such finding or the program was built again, 70 Unpick's own fault.

Examples:
  unpick pin 1 > tests/races/lost-update.toml
  unpick pin --run 12 -o tests/races/deadlock.toml    a deadlock, by a run that hung in it
  unpick check tests/races/*.toml";

/// Enough to find out how long to hold threads.
const MOST_TIME: Duration = Duration::from_secs(30);

/// What `unpick pin` can be told.
#[derive(clap::Args)]
pub struct Pin {
    /// Number of a finding in the list of unpick show
    #[arg(value_name = "N", default_value_t = 1)]
    number: usize,
    /// A run that hung in a deadlock, by its number
    #[arg(long, value_name = "RUN")]
    run: Option<u64>,
    /// Write to this file, not to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run nothing: the usual pause, and no bound, unless they are given
    #[arg(long)]
    no_try: bool,
    #[command(flatten)]
    plan: PlanOptions,
    #[command(flatten)]
    judge: JudgeOptions,
    /// Folder that holds the runs of the hunt
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder())]
    store: PathBuf,
    /// Another program and its arguments than the hunt's; it must be the same build
    #[arg(last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

pub fn run(pin: Pin) -> Result<ExitCode, Problem> {
    let hunted = Hunted::of_store(&Store::at(&pin.store))?;
    let forcing = Forcing::new(&pin.store, &hunted, &pin.judge, &pin.command)?;
    let (reproducer, program) = pin.reproducer(&forcing)?;
    let plan = pin.plan(&forcing, reproducer.matched(&program)?.plan)?;
    pin.tell(&reproducer.with_patience_of(&plan))?;
    Ok(ExitCode::SUCCESS)
}

impl Pin {
    fn reproducer(&self, forcing: &Forcing) -> Result<(Reproducer, Program), Problem> {
        let program = forcing.program()?;
        let subject = forcing.subject();
        match self.run {
            Some(run) => {
                let hang = self.hang(run)?;
                let program = program.with_libraries_of_hang(&hang, &subject.folder);
                Ok((Reproducer::of_deadlock(&hang, &subject, &program)?, program))
            }
            None => {
                let findings = self.findings()?;
                let finding = &findings.findings[self.number - 1];
                let program = program.with_libraries_of(finding, &subject.folder);
                Ok((Reproducer::of_finding(finding, &subject, &program)?, program))
            }
        }
    }

    /// All of them; there is one with the number that is asked for.
    fn findings(&self) -> Result<Findings, Problem> {
        let file = self.store.join(FINDINGS_FILE);
        let findings = show::read(&file)?;
        show::check_number(self.number, &findings, &file)?;
        Ok(findings)
    }

    fn hang(&self, run: u64) -> Result<Hang, Problem> {
        let folder = Store::at(&self.store).run(run)?;
        read_hang(&folder)?.ok_or_else(|| show::did_not_hang(run, &folder))
    }

    /// With the pause and the bound under which it fails.
    fn plan(&self, forcing: &Forcing, plan: Plan) -> Result<Plan, Problem> {
        let plan = self.plan.applied_to(plan, forcing.usual_run);
        if self.no_try {
            return Ok(plan);
        }
        calibrated(forcing, plan, &self.plan, Some(MOST_TIME))
    }

    fn tell(&self, reproducer: &Reproducer) -> Result<(), Problem> {
        let text = reproducer.to_toml();
        let shown = match &self.output {
            Some(file) => {
                write_file(file, &text)?;
                quoted(&file.to_string_lossy())
            }
            None => {
                print(&text)?;
                "FILE".to_owned()
            }
        };
        // Standard output may be the file itself.
        eprintln!("unpick: next: unpick check {shown}");
        Ok(())
    }
}
