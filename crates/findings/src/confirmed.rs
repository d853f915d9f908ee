//! What forcing the order of a finding, and its inverse, has shown.

use serde::{Deserialize, Serialize};

use crate::finding::{Finding, Findings};
use crate::hang::HangGroup;

/// Runs under a schedule, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confirmed {
    /// Runs in which the order was asked for.
    pub forced_runs: u32,
    /// Those of them in which it came about.
    pub forced_hits: u32,
    /// Those of `forced_hits` that failed.
    pub forced_failures: u32,
    /// Runs in which the inverse order was asked for.
    pub inverse_runs: u32,
    pub inverse_hits: u32,
    /// Those of `inverse_hits` that failed.
    pub inverse_failures: u32,
    /// In the inverse runs the whole function that makes the accesses was kept apart: there is more than one gap in it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub whole_function: bool,
    /// Runs that passed although the order came about, while the cause was kept from coming about: it is not enough.
    #[serde(default, skip_serializing_if = "is_none")]
    pub harmless_runs: u32,
    /// Runs that failed although the order did not come about, while the cause was forced: it is not needed.
    #[serde(default, skip_serializing_if = "is_none")]
    pub needless_runs: u32,
    pub verdict: Confirmation,
}

fn is_false(is: &bool) -> bool {
    !is
}

fn is_none(runs: &u32) -> bool {
    *runs == 0
}

/// What an order has to do with the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confirmation {
    /// With it the program fails, without it not.
    Cause,
    /// With it the program fails more often; something else is needed too, or does it as well.
    Contributes,
    /// The program fails as often without it: it goes with the failure, and does not make it.
    Symptom,
    /// It came about too seldom to say.
    NotReached,
}

impl Confirmation {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Confirmation::Cause => "cause",
            Confirmation::Contributes => "contributes",
            Confirmation::Symptom => "symptom",
            Confirmation::NotReached => "not-reached",
        }
    }
}

impl Findings {
    /// What was confirmed as cause comes first, what is only a symptom last; all else stays as it is. Ranks, which are about scores,
    /// stay with their findings.
    pub fn order_by_confirmation(&mut self) {
        self.findings.sort_by_key(|finding: &Finding| place_of(finding.confirmed));
        let order =
            |hang: &HangGroup| (!hang.deadlock, !hang.lost_notification, place_of(hang.confirmed));
        self.hangs.sort_by_key(order);
    }
}

impl Findings {
    /// Takes over what was confirmed of the same findings when they were ranked before.
    pub fn take_over_confirmations(&mut self, earlier: &Findings) {
        for finding in &mut self.findings {
            let before = earlier.findings.iter().find(|before| is_same(before, finding));
            finding.confirmed = before.and_then(|before| before.confirmed);
        }
        for hang in &mut self.hangs {
            let is_same = |before: &&HangGroup| {
                (before.deadlock, before.example_run) == (hang.deadlock, hang.example_run)
            };
            hang.confirmed = earlier.hangs.iter().find(is_same).and_then(|before| before.confirmed);
        }
        self.order_by_confirmation();
    }
}

impl Finding {
    /// Whether two findings, of two rankings, are one.
    pub fn is_same(&self, other: &Finding) -> bool {
        is_same(self, other)
    }
}

/// Of the same run, with the same accesses. Names may be others: they are told apart by code.
pub(crate) fn is_same(one: &Finding, other: &Finding) -> bool {
    let code = |finding: &Finding| {
        let accesses = finding.accesses.iter();
        let code = accesses.map(|access| (access.role, access.kind, access.code.offset.clone()));
        code.collect::<Vec<_>>()
    };
    (one.example_run, &one.pattern) == (other.example_run, &other.pattern)
        && code(one) == code(other)
}

fn place_of(confirmed: Option<Confirmed>) -> u8 {
    match confirmed.map(|confirmed| confirmed.verdict) {
        Some(Confirmation::Cause) => 0,
        Some(Confirmation::Contributes | Confirmation::NotReached) | None => 1,
        Some(Confirmation::Symptom) => 2,
    }
}
