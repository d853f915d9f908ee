//! Whole functions kept apart, where keeping the accesses apart does not help: there may be more than one gap in a function.

use indicatif::ProgressBar;
use unpick_findings::{Confirmation, Confirmed, Finding};
use unpick_problem::Problem;
use unpick_reproduce::{Plan, Trials};

use super::{NEARLY, Tried, Trying};
use crate::reproduce::{Tally, repeat};

/// As many runs show whether whole functions can be kept apart at all.
const FIRST_RUNS: u32 = 2;

impl Trying<'_> {
    /// Where none is the cause by its accesses alone, or only what is clearly less suspicious: keeps whole functions apart, for the best
    /// of those that make the program fail. What is inverted along with the true order seems to be the cause; the rivals tell.
    pub(super) fn try_whole(
        &self,
        tried: &mut [Tried],
        findings: &mut [Finding],
    ) -> Result<(), Problem> {
        let score = |one: &Tried| one.finding.map_or(0.0, |at| findings[at].score);
        // A hang that is understood needs no other explanation.
        let enough_by = |one: &Tried| one.finding.map_or(f64::INFINITY, |_| score(one) + NEARLY);
        let causes = tried.iter().filter(|one| one.is_cause());
        let enough = causes.map(enough_by).fold(f64::MIN, f64::max);
        let able = |one: &Tried| {
            one.finding.is_some() && one.trials.could_be_cause() && score(one) > enough
        };
        let mut open: Vec<&mut Tried> = tried.iter_mut().filter(|one| able(one)).collect();
        open.sort_by(|one, other| score(other).total_cmp(&score(one)));
        for one in open {
            let Some((plans, at)) = one.plans.as_mut().zip(one.finding) else { continue };
            let Some((inverse, whole)) = self.invert_whole(&plans.forced)? else { continue };
            let kept_apart = one.trials.inverted(whole.usable(), whole.hits, whole.failed_hits);
            if kept_apart.verdict() == Confirmation::Cause {
                plans.inverse = inverse;
                one.remark = Some(whole_remark(&one.trials));
                one.confirmed = Confirmed { whole_function: true, ..kept_apart.confirmed() };
                one.trials = kept_apart;
                findings[at].confirmed = one.confirmed();
                break;
            }
        }
        Ok(())
    }

    /// Keeps the whole functions apart that make the accesses of a role. None: that cannot be done.
    fn invert_whole(&self, plan: &Plan) -> Result<Option<(Plan, Tally)>, Problem> {
        if !self.may_go_on() {
            return Ok(None);
        }
        let bar = &ProgressBar::hidden();
        let program = self.forcing.program().ok();
        let plan = self.plan.applied_to(Plan::forcing(plan.steps.clone()), self.forcing.usual_run);
        let Some(inverse) = program.and_then(|program| plan.whole_inverse(&program)) else {
            return Ok(None);
        };
        // What a thread never leaves, or is in when it waits for others, is a function that cannot be kept apart.
        let first = repeat(self.forcing, Some(&inverse), FIRST_RUNS, self.time_left(), bar)?;
        if first.hits == 0 || first.failed_hits > 0 {
            return Ok(None);
        }
        let tally = self.repeat(Some(&inverse), bar)?;
        Ok(Some((inverse, tally)))
    }
}

fn whole_remark(by_accesses: &Trials) -> String {
    let Trials { inverse_hits: hits, inverse_failures: failures, .. } = by_accesses;
    format!(
        "with nobody between its accesses {failures} of {hits} runs failed; with nobody in the function that makes them, none: \
         there is more than one gap in it"
    )
}
