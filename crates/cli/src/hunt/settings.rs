//! What the options of a hunt mean: its budget, its runs, its delays, and the same options for a further one.

use std::time::Duration;

use unpick_problem::Problem;
use unpick_recording::RunOptions;
use unpick_run_store::{Keep, Store};
use unpick_runner::{Delays, Invocation, Judge, Perturbation, stop_on_signals};

use super::budget::{Active, Budget};
use super::course::Setup;
use super::keeping::Keeping;
use super::single::Common;
use super::{Hunt, Kept};
use crate::record::{fresh_seed, quoted, store_option};

const DEFAULT_TIME: Duration = Duration::from_secs(300);

impl Hunt {
    pub(super) fn check(&self) -> Result<(), Problem> {
        self.delays.check(
            "give both: unpick hunt --delay-sync 5% --delay-min 2ms --delay-max 5ms -- PROGRAM",
        )?;
        if self.json_lines && self.is_json_on_stdout() {
            return Err(Problem::usage("both --json-lines and --json - want standard output")
                .next("write the findings to a file: --json FILE"));
        }
        Ok(())
    }

    pub(super) fn budget(&self) -> Budget {
        let unbounded = self.time.is_none() && self.runs.is_none();
        let time = self.time.or(unbounded.then_some(DEFAULT_TIME));
        let active = match (self.active, self.no_active) {
            (true, _) => Active::Asked,
            (_, true) => Active::Never,
            _ => Active::IfNothingFails,
        };
        Budget {
            failing: self.failing,
            passing: self.passing,
            runs: self.runs,
            time,
            active,
            experiments: !self.no_confirm,
        }
    }

    pub(super) fn common<'a>(&self, store: &Store, invocation: &'a Invocation) -> Common<'a> {
        Common {
            invocation,
            store: store.clone(),
            judge: Judge { conditions: self.fail_if.clone(), oracle: self.oracle.clone() },
            timeout: self.timeout,
            options: RunOptions { limit: self.limit, ..RunOptions::default() },
            view: self.view.options(),
            own_folder: self.own_folder,
            stop: stop_on_signals(),
        }
    }

    pub(super) fn setup<'a>(&'a self, common: &'a Common<'a>) -> Setup<'a> {
        Setup {
            common,
            budget: self.budget(),
            perturbation: self.perturbation(),
            view: &self.view,
            keeping: Keeping::new(match self.keep {
                Kept::Failing => Keep::Failing,
                Kept::All => Keep::All,
                Kept::None => Keep::None,
            }),
            resume: self.resume,
            jobs: self.jobs.into(),
        }
    }

    fn perturbation(&self) -> Perturbation {
        let seed = self.seed.unwrap_or_else(fresh_seed);
        let fixed = Delays {
            access_ppm: self.delays.delay_access,
            sync_ppm: self.delays.delay_sync,
            start_ppm: self.delays.delay_start,
            targets: 0,
            shortest_ns: self.delays.delay_min,
            longest_ns: self.delays.delay_max,
        };
        match (self.no_delays, fixed.are_none()) {
            (true, _) => Perturbation::none(seed),
            (false, true) => Perturbation::new(seed),
            (false, false) => Perturbation::fixed(fixed, seed),
        }
    }

    /// The options that decide what a run is and where it goes, as a further hunt needs them.
    pub(super) fn options_again(&self) -> String {
        let mut text = store_option(&self.store);
        for condition in &self.fail_if {
            text += &format!(" --fail-if {}", quoted(&condition.to_string()));
        }
        if let Some(oracle) = &self.oracle {
            text += &format!(" --oracle {}", quoted(&oracle.to_string_lossy()));
        }
        text += &self.program.stdin_again();
        if let Some(timeout) = self.timeout {
            text += &format!(" --timeout {}ms", timeout.as_millis());
        }
        text
    }
}
