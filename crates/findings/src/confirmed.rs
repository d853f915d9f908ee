//! What experiments have shown of a finding: runs with its order forced, prevented, and neither.

use serde::{Deserialize, Serialize};
use unpick_analyses::PatternId;

use crate::finding::{AccessKind, Finding, FindingAccess, Findings};
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
    /// Runs in which nothing was forced.
    #[serde(default)]
    pub baseline_runs: u32,
    #[serde(default)]
    pub baseline_failures: u32,
    pub verdict: Confirmation,
    /// Of what is likely to be the cause: what is not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<Doubt>,
}

impl Confirmed {
    /// Of a hang: what its threads waited for was observed. A forced order that did no harm was another instance of it, and refutes
    /// nothing.
    #[must_use]
    pub fn of_observed(self) -> Confirmed {
        let verdict = match self.verdict {
            Confirmation::Refuted => Confirmation::NotReproduced,
            verdict => verdict,
        };
        Confirmed { verdict, ..self }
    }
}

/// What an order has to do with the failure, by experiments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confirmation {
    /// Forced, nearly every run fails; prevented, none does; and the failing runs had it.
    Cause,
    /// It makes the program fail, but one of the three is not shown.
    Likely,
    /// It seems to change how often the program fails.
    Related,
    /// The program fails as often without it.
    Refuted,
    /// Too few runs had the order to say anything.
    NotReproduced,
}

impl Confirmation {
    /// In lists: what is known to be the cause comes first, what is known to be none comes last.
    pub fn place(self) -> u8 {
        match self {
            Confirmation::Cause => 0,
            Confirmation::Likely => 1,
            Confirmation::Related | Confirmation::NotReproduced => 2,
            Confirmation::Refuted => 3,
        }
    }
}

/// What keeps an order that makes the program fail from being the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Doubt {
    /// Too few runs in which it was prevented.
    NotPrevented,
    /// Runs fail although it is prevented.
    FailsWhenPrevented,
    /// Too few runs fail when it is forced.
    SeldomFails,
    /// Failing runs of the hunt lack it.
    MissedFailures,
    /// The program fails nearly as often by itself.
    FailsByItself,
    /// A whole round of a thread's work is between its accesses.
    SpansOperations,
    /// Passing runs have it.
    InPassingRuns,
    /// Another order cannot be told from it.
    Confounded,
    /// It does harm only where threads are held at certain places.
    DependsOnPlace,
}

impl Confirmation {
    /// As in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Confirmation::Cause => "cause",
            Confirmation::Likely => "likely",
            Confirmation::Related => "related",
            Confirmation::Refuted => "refuted",
            Confirmation::NotReproduced => "not-reproduced",
        }
    }
}

impl Findings {
    /// What was confirmed as cause comes first, what was refuted last; all else stays as it is. Ranks, which are about scores, stay with
    /// their findings.
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
            let examples = hang.examples();
            let is_same = |before: &&HangGroup| {
                before.deadlock == hang.deadlock && examples.contains(&before.example_run)
            };
            if let Some(before) = earlier.hangs.iter().find(is_same) {
                hang.confirmed = before.confirmed;
                // The way that was confirmed is the one that is shown.
                hang.example_run = before.example_run;
                hang.sentence.clone_from(&before.sentence);
            }
        }
        self.order_by_confirmation();
    }

    /// Where nothing else was found than before, it comes in the order it came before: experiments may have decided it.
    pub fn take_over_order(&mut self, earlier: &Findings) {
        let place =
            |finding: &Finding| earlier.findings.iter().position(|before| is_same(before, finding));
        let is_known = self.findings.iter().all(|finding| place(finding).is_some());
        if is_known && self.formula == earlier.formula {
            self.findings.sort_by_key(place);
        }
    }
}

impl Finding {
    /// Whether two findings, of two rankings, are one.
    pub fn is_same(&self, other: &Finding) -> bool {
        is_same(self, other)
    }
}

impl Finding {
    /// The access by which the harm is done; none: the order is none of the patterns.
    pub fn harmful_access(&self) -> Option<&FindingAccess> {
        let pattern = PatternId::from_name(&self.pattern)?;
        self.accesses.get(pattern.harmful_step())
    }

    /// Whether two findings are about the same order of the same code, whatever run shows it.
    pub fn is_same_order(&self, other: &Finding) -> bool {
        self.pattern == other.pattern && code_of(self) == code_of(other)
    }

    /// Whether it can hardly be the cause: only failing runs execute some of its code, or it is the normal end of a life, something used and then
    /// freed. A bug is the free that comes first.
    pub fn is_consequence(&self) -> bool {
        let kinds: Vec<AccessKind> = self.accesses.iter().map(|access| access.kind).collect();
        let ends_life = matches!(kinds[..], [first, AccessKind::Free] if first != AccessKind::Free);
        self.in_failing_code || ends_life
    }
}

/// Of the same run, with the same accesses. Names may be others: they are told apart by code.
pub(crate) fn is_same(one: &Finding, other: &Finding) -> bool {
    one.example_run == other.example_run && one.is_same_order(other)
}

fn code_of(finding: &Finding) -> Vec<(u8, AccessKind, &str)> {
    let accesses = finding.accesses.iter();
    accesses.map(|access| (access.role, access.kind, access.code.offset.as_str())).collect()
}

fn place_of(confirmed: Option<Confirmed>) -> u8 {
    confirmed.map_or(Confirmation::NotReproduced, |confirmed| confirmed.verdict).place()
}
