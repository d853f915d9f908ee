//! Understudies of findings that are not the cause: what fails together with them, tried in their place.

use unpick_findings::{Finding, Findings};
use unpick_problem::Problem;
use unpick_reproduce::Plan;

use super::{NEARLY, Tried, Trying};
use crate::calibration::fails_at_once;
use crate::reproduce::Tally;

/// Of one finding.
const MOST_UNDERSTUDIES: usize = 8;

impl Trying<'_> {
    /// Tries understudies of findings that are not the cause, the best first, until one is. What is clearly less suspicious than a
    /// cause needs none.
    pub(super) fn try_others_for(
        &self,
        tried: &mut [Tried],
        findings: &mut Findings,
        plain: &mut Option<Tally>,
    ) -> Result<(), Problem> {
        let score = |one: &Tried| one.finding.map_or(0.0, |at| findings.findings[at].score);
        let causes = tried.iter().filter(|one| one.is_cause());
        let enough = causes.map(|one| score(one) - NEARLY).fold(f64::MIN, f64::max);
        let mut open: Vec<usize> = (0..tried.len())
            .filter(|&at| !tried[at].is_cause() && score(&tried[at]) >= enough)
            .collect();
        open.sort_by(|&one, &other| score(&tried[other]).total_cmp(&score(&tried[one])));
        for at in open {
            let Some(finding) = tried[at].finding else { continue };
            let finding = &mut findings.findings[finding];
            if self.try_understudies(&mut tried[at], finding, plain)? {
                break;
            }
        }
        Ok(())
    }

    /// Tries those that can take the place of a finding, until one is the cause: that one does. Whether there is one.
    fn try_understudies(
        &self,
        tried: &mut Tried,
        finding: &mut Finding,
        plain: &mut Option<Tally>,
    ) -> Result<bool, Problem> {
        if !self.may_go_on() || self.runs == 0 {
            return Ok(false);
        }
        // Runs that are gone, or cannot be read any more, have none; the finding stays what it is.
        let understudies = (self.understudies)(finding).unwrap_or_default();
        for understudy in understudies.into_iter().take(MOST_UNDERSTUDIES) {
            let Ok(plan) = Plan::of_finding(&understudy) else { continue };
            if !self.may_go_on() {
                break;
            }
            // Most are effects: to see that takes a few runs only.
            let plan = self.completed(plan);
            if !fails_at_once(self.forcing, &plan, self.plan, self.time_left())? {
                continue;
            }
            let what = format!("{} for {}", tried.what, understudy.pattern);
            let one = self.try_one(what, Plan::of_finding(&understudy), plain)?;
            if one.is_cause() {
                let what = format!("{}, led by {}", tried.what, understudy.pattern);
                *finding = Finding { confirmed: one.confirmed(), ..understudy };
                *tried = Tried { what, finding: tried.finding, ..one };
                return Ok(true);
            }
        }
        Ok(false)
    }
}
