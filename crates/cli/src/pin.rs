//! `unpick pin`: writes the order of a finding, or of a hang, as a reproducer file to keep with the tests.
//!
//! Takes   a finding of a store, a run that hung in a deadlock or for a lost notification, a deadlock that can be, or a race; the program, of the build it was found in.
//! Gives   TOML in the words of the source, with what counts as failing, and how long to hold threads so that it fails; a warning if what
//!         was written makes no run fail.
//! Cost    some forced runs, to find that out, and some more by the file itself; `--no-try` leaves both out.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use unpick_findings::Hang;
use unpick_problem::Problem;
use unpick_reproduce::{Plan, Program, Reproducer, Subject};

use crate::calibration::calibrated;
use crate::check::as_checked;
use crate::chosen::{Choice, Chosen};
use crate::deadlocks;
use crate::forcing::{ForcedProgram, Forcing};
use crate::output::findings::{print, write_file};
use crate::race_orders;
use crate::record::quoted;
use crate::reproduce::{Tally, nothing_usable, repeat};
use crate::show;

pub const HELP: &str = "\
The file names the code by function and by the text of its lines, so it outlives changes around it. The program must be the build that was
hunted. unpick check tells what the file says about a later build. What was written is tried at once, by some forced runs of the file itself.

Exit codes: 0 the file is written, 68 it is written, but made no run fail, 2 there is no such finding or the program was built again, 70
Unpick's own fault.

Examples:
  unpick pin 1 > tests/races/lost-update.toml
  unpick pin --run 12 -o tests/races/deadlock.toml    a deadlock, by a run that hung in it
  unpick pin 1 --no-try > lost-update.toml            at once, where runs are long
  unpick pin --deadlock 1 -o tests/races/order.toml   one that can be, by the list of unpick races
  unpick pin --race 1 -o tests/races/late.toml        the order that unpick confirm --race 1 found to make it fail
  unpick check tests/races/*.toml";

/// Enough to find out how long to hold threads.
const MOST_TIME: Duration = Duration::from_secs(30);
/// Forced runs of what was written: enough to see that it works, or to doubt it.
const TRIED: u32 = 5;

/// What `unpick pin` can be told.
#[derive(clap::Args)]
pub struct Pin {
    #[command(flatten)]
    choice: Choice,
    /// Write to this file, not to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run nothing: the usual pause, and no bound, unless they are given; whether a run fails by the file is not tried
    #[arg(long)]
    no_try: bool,
    #[command(flatten)]
    program: ForcedProgram,
}

pub fn run(pin: Pin) -> Result<ExitCode, Problem> {
    let chosen = pin.choice.chosen(&pin.program.store, pin.program.hunt)?;
    let forcing = pin.choice.forcing(&pin.program)?;
    let (reproducer, program) = pin.reproducer(chosen, &forcing)?;
    let plan = pin.plan(&forcing, reproducer.matched(&program)?.plan)?;
    let text = reproducer.with_patience_of(&plan).to_toml();
    let file = pin.write(&text)?;
    if !pin.no_try {
        tell_trial(&try_out(&text, &program, &forcing)?, &file)?;
    }
    // Standard output may be the file itself.
    eprintln!("unpick: next: unpick check {file}");
    Ok(ExitCode::SUCCESS)
}

impl Pin {
    fn reproducer(
        &self,
        chosen: Chosen,
        forcing: &Forcing,
    ) -> Result<(Reproducer, Program), Problem> {
        let program = forcing.open_program()?;
        let subject = forcing.subject();
        let store = &self.program.store;
        match chosen {
            Chosen::Race(number) => {
                let order = race_orders::order_of(&race_orders::race(store, number)?)?;
                let program = program.with_libraries_of(&order.accesses, &subject.folder);
                Ok((Reproducer::of_order(&order, &subject, &program)?, program))
            }
            Chosen::Deadlock(number) => {
                of_hang(&deadlocks::candidate(store, number)?.hang, &subject, program)
            }
            Chosen::Hang(run) => of_hang(&show::hang(store, run)?, &subject, program),
            Chosen::Finding(number) => {
                let finding = show::finding(store, self.program.hunt, number)?;
                let program = program.with_libraries_of(&finding.accesses, &subject.folder);
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

    /// Gives the name of the file, for a command line.
    fn write(&self, text: &str) -> Result<String, Problem> {
        match &self.output {
            Some(file) => {
                write_file(file, text)?;
                Ok(quoted(&file.to_string_lossy()))
            }
            None => {
                print(text)?;
                Ok("FILE".to_owned())
            }
        }
    }
}

/// A hang that was seen, or one that can be.
fn of_hang(
    hang: &Hang,
    subject: &Subject,
    program: Program,
) -> Result<(Reproducer, Program), Problem> {
    let program = program.with_libraries_of_hang(hang, &subject.folder);
    Ok((Reproducer::of_hang(hang, subject, &program)?, program))
}

/// A plan, and what came of it.
struct Trial {
    plan: Plan,
    tally: Tally,
}

/// Some runs as `unpick check` makes them: by the text alone.
fn try_out(text: &str, program: &Program, forcing: &Forcing) -> Result<Trial, Problem> {
    let written = Reproducer::from_toml(text, "FILE")?;
    let plan = as_checked(written.matched(program)?.plan, forcing);
    let hidden = indicatif::ProgressBar::hidden();
    let tally = repeat(forcing, Some(&plan), TRIED, Some(MOST_TIME), &hidden)?;
    Ok(Trial { plan, tally })
}

fn tell_trial(trial: &Trial, file: &str) -> Result<(), Problem> {
    let Trial { plan, tally } = trial;
    let runs = tally.usable();
    match (runs, tally.failed) {
        (0, _) => Err(nothing_usable(tally)),
        (_, 0) => Err(too_weak(plan, tally, file)),
        (_, failed) => {
            eprintln!("unpick: tried: {failed} of {runs} runs forced by the file failed");
            Ok(())
        }
    }
}

fn too_weak(plan: &Plan, tally: &Tally, file: &str) -> Problem {
    let runs = tally.usable();
    let why = match tally.hits {
        0 => tally.obstacle(plan).reason().unwrap_or_default(),
        hits => format!(
            "the order came about in {hits} of {runs} runs, and none failed: more than this order is needed"
        ),
    };
    Problem::does_not_apply(format!(
        "the reproducer is written, but none of {runs} runs forced by it failed"
    ))
    .at("file", file)
    .why(why)
    .next("look at another finding: unpick show; or hold threads differently: unpick pin --pause TIME; unpick pin --help lists what can be said")
}
