//! Which one is meant of all that was found: what `reproduce` and `pin` are told.
//!
//! Takes   a number in the list of `unpick show` or `unpick races`, or of a run.      Gives  what that is, and its program as it is run.

use std::fmt;
use std::path::Path;

use unpick_problem::Problem;
use unpick_recording::RunInfo;
use unpick_run_store::Store;

use crate::deadlocks;
use crate::forcing::{ForcedProgram, Forcing};
use crate::kept_findings;
use crate::race_orders;

/// Which one is meant.
#[derive(clap::Args)]
pub struct Choice {
    /// Number of a finding in the list of unpick show; 1 is the hang, if one explains most failures
    #[arg(value_name = "N", default_value_t = 1)]
    number: usize,
    /// A run that hung in a deadlock or for a lost notification, by its number
    #[arg(long, value_name = "RUN")]
    run: Option<u64>,
    /// A deadlock that can be, by its number in the list of unpick races
    #[arg(long, value_name = "N", conflicts_with_all = ["number", "run"])]
    deadlock: Option<usize>,
    /// A race, by its number in the list of unpick races: the order that was confirmed, else the one that the run did not have
    #[arg(long, value_name = "N", conflicts_with_all = ["number", "run", "deadlock"])]
    race: Option<usize>,
}

/// What that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    Finding(usize),
    /// By the number of the run.
    Hang(u64),
    Deadlock(usize),
    Race(usize),
}

impl Choice {
    /// What is meant in this hunt of a store, or in the one that is shown.
    pub fn chosen(&self, store: &Path, hunt: Option<u64>) -> Result<Chosen, Problem> {
        match (self.deadlock, self.race) {
            (Some(number), _) => Ok(Chosen::Deadlock(number)),
            (None, Some(number)) => Ok(Chosen::Race(number)),
            (None, None) => {
                let hang = self.leading_run(store, hunt)?.map(Chosen::Hang);
                Ok(hang.unwrap_or(Chosen::Finding(self.number)))
            }
        }
    }

    /// The run that hung, if it is a hang that is meant: that of this number, or number 1 where a hang leads.
    fn leading_run(&self, store: &Path, hunt: Option<u64>) -> Result<Option<u64>, Problem> {
        if self.run.is_some() || self.number != 1 {
            return Ok(self.run);
        }
        let findings = kept_findings::read(store, hunt)?;
        Ok(findings.leading_hang().map(|hang| u64::from(hang.example_run)))
    }

    /// The program as it was hunted, or as in the run that shows what `unpick races` lists.
    pub fn forcing(&self, program: &ForcedProgram) -> Result<Forcing, Problem> {
        let store = &program.store;
        let hunted = match (self.deadlock, self.race) {
            (Some(number), _) => deadlocks::run_of(store, &deadlocks::candidate(store, number)?)?,
            (None, Some(number)) => race_orders::run_of(store, &race_orders::race(store, number)?)?,
            (None, None) => return self.forcing_of_hunt(program),
        };
        program.forcing_as(&hunted)
    }

    /// A run that is named need not be of the hunt that is shown.
    fn forcing_of_hunt(&self, program: &ForcedProgram) -> Result<Forcing, Problem> {
        let Some(number) = self.run else { return program.forcing() };
        let folder = Store::at(&program.store).run(number)?;
        program.forcing_of(RunInfo::read(&folder)?.hunt)
    }
}

impl Chosen {
    /// As it is told on a command line.
    pub fn option(self) -> String {
        match self {
            Chosen::Deadlock(number) => format!("--deadlock {number}"),
            Chosen::Race(number) => format!("--race {number}"),
            Chosen::Hang(run) => format!("--run {run}"),
            Chosen::Finding(number) => number.to_string(),
        }
    }
}

impl fmt::Display for Chosen {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Chosen::Deadlock(number) => write!(to, "deadlock {number}"),
            Chosen::Race(number) => write!(to, "race {number}"),
            Chosen::Hang(run) => write!(to, "the hang of run {run}"),
            Chosen::Finding(number) => write!(to, "finding {number}"),
        }
    }
}
