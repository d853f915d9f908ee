//! `unpick pin`: writes the order of a finding, or of a hang, as a reproducer file to keep with the tests.
//!
//! Takes   a finding of a store, a run that hung in a deadlock or for a lost notification, a deadlock that can be, or a race; the program, of the build it was found in.
//! Gives   TOML in the words of the source, with what counts as failing, how long to hold threads so that it fails, and how often it did;
//!         nothing if no run fails by it, unless that is asked for.
//! Cost    some forced runs, to find that out, and some more by the file itself; `--no-try` leaves both out.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use unpick_findings::Hang;
use unpick_problem::Problem;
use unpick_reproduce::{Plan, Program, Reproducer, Subject, Tried};

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
hunted. unpick check says what the file shows about a later build. The file is tried before it is written, by some runs that it forces itself; it
records how many of them failed. If none does, nothing is written: unpick check never answers \"passes\" by such a file.

Exit codes: 0 the file is written, 68 it is not, because no run failed by it, 2 there is no such finding or the program was built again, 70
Unpick's own fault.

Examples:
  unpick pin 1 > tests/races/lost-update.toml
  unpick pin --run 12 -o tests/races/deadlock.toml    a deadlock, by a run that hung in it
  unpick pin 1 --no-try > lost-update.toml            at once, where runs are long; it cannot show that the bug is fixed
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
    /// Run nothing: the usual pause, and no bound, unless they are given; unpick check then never answers "passes" by the file
    #[arg(long)]
    no_try: bool,
    /// Write the file even if no run fails by it; unpick check never answers "passes" by such a file
    #[arg(long, conflicts_with = "no_try")]
    unproven: bool,
    #[command(flatten)]
    program: ForcedProgram,
}

pub fn run(pin: Pin) -> Result<ExitCode, Problem> {
    let chosen = pin.choice.chosen(&pin.program.store, pin.program.hunt)?;
    let forcing = pin.choice.forcing(&pin.program)?;
    let (reproducer, program) = pin.reproducer(chosen, &forcing)?;
    let plan = pin.plan(&forcing, reproducer.matched(&program)?.plan)?;
    let reproducer = reproducer.with_patience_of(&plan);
    let reproducer = match pin.no_try {
        true => reproducer,
        false => pin.tried(reproducer, &program, &forcing)?,
    };
    let file = pin.write(&reproducer.to_toml())?;
    pin.say_tried(&reproducer);
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

    /// Makes some runs by what is about to be written; a problem if none fails.
    fn tried(
        &self,
        reproducer: Reproducer,
        program: &Program,
        forcing: &Forcing,
    ) -> Result<Reproducer, Problem> {
        let within = tried_within_calls(&reproducer, program, forcing)?;
        if let Some(within) = within.clone().filter(|within| within.1.failed == within.1.runs) {
            return Ok(with_trial(within));
        }
        let Trial { plan, tally } = try_out(&reproducer.to_toml(), program, forcing)?;
        let (runs, failed) = (tally.usable(), tally.failed);
        if let Some(within) = within.filter(|within| within.1.failed >= failed) {
            return Ok(with_trial(within));
        }
        if runs == 0 {
            return Err(nothing_usable(&tally));
        }
        if failed == 0 && !self.unproven {
            return Err(too_weak(&plan, &tally));
        }
        Ok(with_trial((reproducer, Tried { runs, failed })))
    }

    fn say_tried(&self, reproducer: &Reproducer) {
        if let Some(Tried { runs, failed }) = reproducer.tried {
            eprintln!("unpick: tried: {failed} of {runs} runs forced by the file failed");
        }
        if !reproducer.was_seen_to_fail() {
            eprintln!(
                "unpick: this file was never seen to fail: unpick check cannot show with it that the bug is fixed"
            );
        }
    }

    /// Returns the name of the file, for a command line.
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

/// The same order within calls, if it may be one and runs fail by it: a fix that makes it impossible there must not be taken for
/// none because the order comes about across calls.
fn tried_within_calls(
    reproducer: &Reproducer,
    program: &Program,
    forcing: &Forcing,
) -> Result<Option<(Reproducer, Tried)>, Problem> {
    let Some(within) = reproducer.within_calls() else { return Ok(None) };
    let tally = try_out(&within.to_toml(), program, forcing)?.tally;
    let tried = Tried { runs: tally.usable(), failed: tally.failed };
    Ok((tried.failed > 0).then_some((within, tried)))
}

fn with_trial((mut reproducer, tried): (Reproducer, Tried)) -> Reproducer {
    reproducer.tried = Some(tried);
    reproducer
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

fn too_weak(plan: &Plan, tally: &Tally) -> Problem {
    let runs = tally.usable();
    let why = match tally.hits {
        0 => tally.obstacle(plan).reason().unwrap_or_default(),
        hits => format!(
            "the order was forced in {hits} of {runs} runs, and none failed: more than this order is needed"
        ),
    };
    Problem::does_not_apply(format!(
        "no reproducer is written: none of {runs} runs forced by it failed"
    ))
    .why(why)
    .next("look at another finding: unpick show; or hold threads differently: unpick pin --pause TIME; or write it all the same: unpick pin --unproven")
}
