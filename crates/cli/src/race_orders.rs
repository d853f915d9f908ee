//! Races of the last report of `unpick races`, by number: `confirm`, `reproduce` and `pin` force their orders.
//!
//! Takes   the last report; the run that shows a race.      Gives  the race, the order of it that is meant, how its program is run; keeps what
//!         forcing it has shown, in the report.

use std::path::Path;

use unpick_findings::{AccessOrder, ForcedRace, RaceFinding};
use unpick_problem::Problem;
use unpick_recording::RunInfo;
use unpick_run_store::Store;

use crate::forcing::Hunted;
use crate::races::{Report, no_such_race};

/// A race of the last report, by its number in the list.
pub fn race(store: &Path, number: usize) -> Result<RaceFinding, Problem> {
    let mut report = Report::read(store)?;
    let count = report.races.len();
    if !(1..=count).contains(&number) {
        return Err(no_such_race(number, count, store));
    }
    Ok(report.races.swap_remove(number - 1))
}

/// The order that makes the program fail; where none is known, the one that the run did not have.
pub fn order_of(race: &RaceFinding) -> Result<AccessOrder, Problem> {
    let failing = race.forced.as_ref().and_then(ForcedRace::failing_order).unwrap_or(0);
    race.orders().into_iter().nth(failing).ok_or_else(|| {
        Problem::usage("the last report of races has a race without an order")
            .next("look again: unpick races -- PROGRAM")
    })
}

/// How the program is run and judged: as by the last hunt, if that was of the same command, else as in the run that shows the race.
pub fn run_of(store: &Path, race: &RaceFinding) -> Result<Hunted, Problem> {
    let store = Store::at(store);
    let info = RunInfo::read(&store.run(race.example_run)?)?;
    let hunted = Hunted::of_store(&store).ok();
    if let Some(hunted) = hunted.filter(|hunted| hunted.info.command == info.command) {
        return Ok(hunted);
    }
    Ok(Hunted::of_run(info))
}

/// Keeps what forcing a race has shown. Its place in the list stays, so that its number does.
pub fn keep(store: &Path, number: usize, forced: ForcedRace) -> Result<Report, Problem> {
    let mut report = Report::read(store)?;
    if let Some(race) = number.checked_sub(1).and_then(|at| report.races.get_mut(at)) {
        race.forced = Some(forced);
    }
    report.write(store)?;
    Ok(report)
}
