//! Whether a hang leads, or an order of accesses.

use super::HangGroup;
use crate::confirmed::{Confirmation, Confirmed};
use crate::finding::Findings;

impl Findings {
    /// The hang that explains failures, at least half of them. Patterns of accesses that go with a hang do not: unless one was
    /// confirmed as the cause, they come after it.
    pub fn leading_hang(&self) -> Option<&HangGroup> {
        let is_cause = |confirmed: Option<Confirmed>| {
            confirmed.is_some_and(|confirmed| confirmed.verdict == Confirmation::Cause)
        };
        let is_refuted = |hang: &HangGroup| {
            hang.confirmed.is_some_and(|confirmed| confirmed.verdict == Confirmation::Refuted)
        };
        let has_cause = self.findings.first().is_some_and(|first| is_cause(first.confirmed));
        self.hangs.iter().find(|hang| {
            hang.is_explained()
                && 2 * hang.failed_runs >= self.runs.failed
                && !is_refuted(hang)
                && (is_cause(hang.confirmed) || !has_cause)
        })
    }

    /// Whether every failing run is a hang whose order is known: deadlocks and lost notifications.
    pub fn are_all_hangs_explained(&self) -> bool {
        let explained = self.hangs.iter().filter(|hang| hang.is_explained());
        let runs: u32 = explained.map(|hang| hang.failed_runs).sum();
        runs > 0 && runs >= self.runs.failed
    }

    /// Leaves out what merely correlates with hangs that explain all failures: a wait-for cycle and a lost wakeup are observed facts,
    /// and which accesses accompany them adds nothing.
    #[must_use]
    pub fn without_what_accompanies_hangs(mut self) -> Findings {
        if self.are_all_hangs_explained() {
            self.findings.clear();
            self.reconstructions.clear();
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Class, Finding, Runs};

    fn hang(failed_runs: u32, verdict: Option<Confirmation>) -> HangGroup {
        let confirmed = verdict.map(|verdict| Confirmed {
            forced_runs: 5,
            forced_hits: 5,
            forced_failures: 5,
            inverse_runs: 5,
            inverse_hits: 5,
            inverse_failures: 0,
            baseline_runs: 0,
            baseline_failures: 0,
            verdict,
            doubt: None,
        });
        HangGroup {
            sentence: String::new(),
            deadlock: false,
            lost_notification: true,
            failed_runs,
            example_run: failed_runs,
            ways: Vec::new(),
            confirmed,
        }
    }

    fn leading(hangs: Vec<HangGroup>) -> Option<u32> {
        let runs = Runs { total: 20, passed: 10, failed: 10, unusable: 0 };
        let findings = Findings::of_hangs(runs, "jaccard", hangs);
        findings.leading_hang().map(|hang| hang.example_run)
    }

    #[test]
    fn a_hang_leads_that_explains_at_least_half_of_the_failures() {
        assert_eq!(leading(vec![hang(4, None), hang(5, None)]), Some(5));
        assert_eq!(leading(vec![hang(4, Some(Confirmation::Cause))]), None);
    }

    fn finding() -> Finding {
        Finding::to_force(Class::Order, "P1".to_owned(), "early".to_owned(), Vec::new(), 1)
    }

    fn findings_left(hangs: Vec<HangGroup>) -> usize {
        let runs = Runs { total: 20, passed: 10, failed: 10, unusable: 0 };
        let found =
            Findings { findings: vec![finding()], ..Findings::of_hangs(runs, "jaccard", hangs) };
        found.without_what_accompanies_hangs().findings.len()
    }

    #[test]
    fn nothing_is_left_beside_hangs_that_explain_all_failures() {
        let deadlock = HangGroup { deadlock: true, lost_notification: false, ..hang(4, None) };
        assert_eq!(findings_left(vec![hang(10, None)]), 0);
        assert_eq!(findings_left(vec![deadlock, hang(6, None)]), 0);
    }

    #[test]
    fn findings_stay_where_a_failing_run_is_no_explained_hang() {
        let unknown = HangGroup { lost_notification: false, ..hang(1, None) };
        assert_eq!(findings_left(vec![hang(9, None)]), 1);
        assert_eq!(findings_left(vec![hang(9, None), unknown]), 1);
        assert_eq!(findings_left(Vec::new()), 1);
    }

    #[test]
    fn a_hang_that_is_not_explained_or_refuted_does_not_lead() {
        let unknown = HangGroup { lost_notification: false, ..hang(9, None) };
        assert_eq!(leading(vec![unknown]), None);
        assert_eq!(leading(vec![hang(9, Some(Confirmation::Refuted))]), None);
    }
}
