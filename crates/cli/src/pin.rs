//! `unpick pin`: writes the order of a finding, or of a hang, as a reproducer file to keep with the tests.
//!
//! Takes   a finding of a store, or a run that hung in a deadlock or for a lost notification; the program, of the build it was found in.
//! Gives   TOML in the words of the source, with what counts as failing, and how long to hold threads so that it fails.
//! Cost    some forced runs, to find that out; `--no-try` leaves them out.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use unpick_problem::Problem;
use unpick_reproduce::{Plan, Program, Reproducer};

use crate::calibration::calibrated;
use crate::forcing::{ForcedProgram, Forcing};
use crate::hunt::{print, write_file};
use crate::record::quoted;
use crate::reproduce::leading_run;
use crate::show;

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
    /// Number of a finding in the list of unpick show; 1 is the hang, if one explains most failures
    #[arg(value_name = "N", default_value_t = 1)]
    number: usize,
    /// A run that hung in a deadlock or for a lost notification, by its number
    #[arg(long, value_name = "RUN")]
    run: Option<u64>,
    /// Write to this file, not to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run nothing: the usual pause, and no bound, unless they are given
    #[arg(long)]
    no_try: bool,
    #[command(flatten)]
    program: ForcedProgram,
}

pub fn run(pin: Pin) -> Result<ExitCode, Problem> {
    let forcing = pin.program.forcing()?;
    let (reproducer, program) = pin.reproducer(&forcing)?;
    let plan = pin.plan(&forcing, reproducer.matched(&program)?.plan)?;
    pin.tell(&reproducer.with_patience_of(&plan))?;
    Ok(ExitCode::SUCCESS)
}

impl Pin {
    fn reproducer(&self, forcing: &Forcing) -> Result<(Reproducer, Program), Problem> {
        let program = forcing.program()?;
        let subject = forcing.subject();
        match leading_run(&self.program.store, self.number, self.run)? {
            Some(run) => {
                let hang = show::hang(&self.program.store, run)?;
                let program = program.with_libraries_of_hang(&hang, &subject.folder);
                Ok((Reproducer::of_hang(&hang, &subject, &program)?, program))
            }
            None => {
                let finding = show::finding(&self.program.store, self.number)?;
                let program = program.with_libraries_of(&finding, &subject.folder);
                Ok((Reproducer::of_finding(&finding, &subject, &program)?, program))
            }
        }
    }

    /// With the pause and the bound under which it fails.
    fn plan(&self, forcing: &Forcing, plan: Plan) -> Result<Plan, Problem> {
        let plan = self.program.plan.applied_to(plan, forcing.usual_run);
        if self.no_try {
            return Ok(plan);
        }
        calibrated(forcing, plan, &self.program.plan, Some(MOST_TIME))
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
