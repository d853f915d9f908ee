//! What an order has to do with the failure, from runs that were forced into it, runs that were kept out of it, and baseline runs.
//!
//! Takes   counts.      Gives  a `Confirmation`, by the rules of `unpick-forcing`.

use unpick_findings::{Confirmation, Confirmed, Doubt};
use unpick_forcing::{self as forcing, Evidence, Rate, Verdict, verdict};

/// Runs, and how they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trials {
    pub forced_runs: u32,
    /// Runs in which the order came about.
    pub forced_hits: u32,
    /// Of `forced_hits`.
    pub forced_failures: u32,
    pub inverse_runs: u32,
    /// Runs in which threads came by in the inverse order.
    pub inverse_hits: u32,
    /// Of `inverse_hits`.
    pub inverse_failures: u32,
    pub plain_runs: u32,
    pub plain_failures: u32,
}

impl Trials {
    /// As a finding keeps it.
    pub fn confirmed(&self) -> Confirmed {
        Confirmed {
            forced_runs: self.forced_runs,
            forced_hits: self.forced_hits,
            forced_failures: self.forced_failures,
            inverse_runs: self.inverse_runs,
            inverse_hits: self.inverse_hits,
            inverse_failures: self.inverse_failures,
            baseline_runs: self.plain_runs,
            baseline_failures: self.plain_failures,
            verdict: self.verdict(),
            doubt: None,
        }
    }

    /// The same, with other runs that were kept out of the order.
    #[must_use]
    pub fn inverted(self, runs: u32, hits: u32, failures: u32) -> Trials {
        Trials { inverse_runs: runs, inverse_hits: hits, inverse_failures: failures, ..self }
    }

    /// What the order has to do with the failure. It is that of a hang, or of a race: all runs that fail by it have it.
    pub fn verdict(&self) -> Confirmation {
        confirmation(verdict(&Evidence {
            forced: Rate::new(self.forced_failures, self.forced_hits),
            prevented: Rate::new(self.inverse_failures, self.inverse_hits),
            baseline: Rate::new(self.plain_failures, self.plain_runs),
            agreement: 1.0,
            ..Evidence::default()
        }))
    }
}

/// A doubt as findings keep it.
pub fn doubt(doubt: forcing::Doubt) -> Doubt {
    match doubt {
        forcing::Doubt::NotPrevented => Doubt::NotPrevented,
        forcing::Doubt::FailsWhenPrevented => Doubt::FailsWhenPrevented,
        forcing::Doubt::SeldomFails => Doubt::SeldomFails,
        forcing::Doubt::MissedFailures => Doubt::MissedFailures,
        forcing::Doubt::FailsByItself => Doubt::FailsByItself,
        forcing::Doubt::SpansOperations => Doubt::SpansOperations,
        forcing::Doubt::InPassingRuns => Doubt::InPassingRuns,
        forcing::Doubt::Confounded => Doubt::Confounded,
        forcing::Doubt::DependsOnPlace => Doubt::DependsOnPlace,
    }
}

/// A verdict as findings keep it.
pub fn confirmation(verdict: Verdict) -> Confirmation {
    match verdict {
        Verdict::Cause => Confirmation::Cause,
        Verdict::Likely => Confirmation::Likely,
        Verdict::Related => Confirmation::Related,
        Verdict::Refuted => Confirmation::Refuted,
        Verdict::NotReproduced => Confirmation::NotReproduced,
    }
}
