//! Goes on with the last hunt of a store.

use std::time::Duration;

use unpick_events::Label;
use unpick_problem::Problem;
use unpick_run_store::StoredRun;

use super::Course;
use crate::conclude::stored_patterns;
use crate::hunt::communicating_sites::communicating_sites;

impl Course<'_> {
    /// Counts the runs of the last hunt.
    pub(super) fn take_up(&mut self) -> Result<(), Problem> {
        let runs = self.setup.common.store.runs_of_hunt(None)?;
        let invocation = self.setup.common.invocation;
        let command = invocation.words();
        let is_other =
            |run: &&StoredRun| run.info.command != command || run.info.stdin != invocation.stdin;
        if let Some(other) = runs.iter().find(is_other) {
            return Err(another_command(&other.info.command.join(" ")));
        }
        for run in &runs {
            if run.label() != Label::Unusable {
                let patterns = stored_patterns(run, self.setup.view.options())?;
                self.builds.add(run.number, &patterns)?;
                self.setup.perturbation.observe_sites(&communicating_sites(&patterns, &[]));
            }
            let duration = Duration::from_millis(run.info.duration_ms);
            self.setup.perturbation.recall(&run.info.options, run.label(), duration);
            self.limits.observe(run.label(), duration);
            self.counts.add(run.label());
            self.number = run.info.hunt;
        }
        Ok(())
    }
}

fn another_command(command: &str) -> Problem {
    Problem::usage("the last hunt cannot be resumed: it ran another command")
        .at("command", command)
        .why("runs of different commands do not compare")
        .next("begin a new hunt, without --resume")
}
