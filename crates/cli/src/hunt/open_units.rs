//! Units of two variables that nothing keeps together, as the race detectors see them in one run: the experiments of a hunt try those that its runs tore.
//!
//! Takes   how the program is run; which variables belong together, by the store or by the sources.      Returns  units, for `findings::alternatives`.
//! Misses  what this one run did not execute; programs whose sources are not here, or take too long to read; runs in folders of their own.
//! Cost    one run, recorded in full, and looking at it: at most a share of the time for experiments.

use std::time::Duration;

use indicatif::ProgressBar;
use unpick_findings::{OpenUnit, describe_races};
use unpick_names::ProgramNames;
use unpick_problem::Problem;
use unpick_run_store::Store;

use crate::conclude::{NAMES, choices};
use crate::forcing::Forcing;
use crate::hints;
use crate::import::names_in;
use crate::races::{Budget, Correlated, FullRun, look_at_within, record_in_full};

/// Of the time for experiments.
const SHARE: u32 = 6;
const MAX_TIME: Duration = Duration::from_secs(5);
/// A run that is recorded in full takes longer than others.
const FULL_RUN: u32 = 4;

/// Units that one run shows to be open. `usual_run` says how long a run takes that is not recorded in full, `time` how long all experiments may take.
pub fn open_units(
    store: &Store,
    forcing: &Forcing,
    usual_run: Duration,
    time: Duration,
) -> Result<Vec<OpenUnit>, Problem> {
    let time = (time / SHARE).min(MAX_TIME);
    let budget = Budget::new(Some(time));
    if FULL_RUN * usual_run > budget.of_run(forcing.timeout()) {
        return Ok(Vec::new());
    }
    let run = FullRun {
        store: store.clone(),
        timeout: budget.of_run(forcing.timeout()),
        limit: budget.of_file(FullRun::default().limit),
        draw: None,
    };
    let judged = record_in_full(&run, forcing.invocation())?;
    let mut correlated = correlated(store, time);
    let looked =
        look_at_within(&judged.run.folder, &mut correlated, &budget, &ProgressBar::hidden());
    // Nothing refers to this run: what is tried is in the runs of the hunt.
    judged.run.discard();
    let looked = looked?;
    let imported = names_in(store.folder())?;
    let names = ProgramNames::new(imported.as_ref(), &NAMES);
    let races = describe_races(&[(looked.number, &looked.races)], &names, &choices());
    let open = races.iter().filter(|race| !race.is_ordered());
    Ok(open.flat_map(|race| race.open_units()).collect())
}

/// What the store knows; without that, the sources of the program.
fn correlated(store: &Store, time: Duration) -> Correlated {
    let rules = hints::rules(store.folder());
    match rules.is_empty() {
        true => Correlated::by_sources_within(store.folder(), time),
        false => Correlated::Rules(rules),
    }
}
