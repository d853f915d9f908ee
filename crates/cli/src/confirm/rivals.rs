//! Findings that all seem to be the cause: which of them is.
//!
//! Takes   findings that are causes by their own runs.      Gives  those that are not enough, or not needed, another verdict, and says why.
//! Misses  which is the cause, where each of them comes about without the others, or none does.
//! Cost    as many more runs for each as it was tried by, and their patterns; nothing where there is one cause or none.
//!
//! An order that encloses the true one is inverted together with it, and forced it leaves room for it: by its own runs it cannot be
//! told from the cause. But it comes about, and does no harm, while the true one is kept from coming about; or the program fails
//! without it, and whenever it fails with it the true one has come about too. It never is the other way round.

use std::path::Path;

use unpick_analyses::Options;
use unpick_events::Label;
use unpick_findings::{Confirmation, Finding};
use unpick_problem::Problem;
use unpick_reproduce::{FEWEST_HITS, Mode, Plan};

use super::trying::{Plans, Tried, Trying};
use crate::conclude::condense;
use crate::forcing::ForcedRun;

/// In which runs of one rival another one came about: `[one][other]`.
#[derive(Default)]
struct Rivalry {
    scores: Vec<f64>,
    /// Runs that passed although `one` came about, while `other` was kept from coming about.
    harmless: Vec<Vec<u32>>,
    /// Runs that failed because `other` was forced, with `one` in it.
    beside: Vec<Vec<u32>>,
}

/// Why a rival is not the cause.
#[derive(Debug, PartialEq, Eq)]
enum Refuted {
    /// It came about in so many runs that passed, without the other.
    NotEnough { by: usize, runs: u32 },
    /// So many runs failed by the other, without it.
    NotNeeded { by: usize, runs: u32 },
}

/// Causes that are refuted by another one only contribute.
pub fn settle(
    trying: &Trying<'_>,
    findings: &mut [Finding],
    tried: &mut [Tried],
) -> Result<(), Problem> {
    let is_rival = |one: &Tried| one.is_cause() && one.finding.is_some() && one.plans.is_some();
    let rivals: Vec<usize> = (0..tried.len()).filter(|at| is_rival(&tried[*at])).collect();
    if rivals.len() < 2 {
        return Ok(());
    }
    let found: Vec<usize> = rivals.iter().filter_map(|at| tried[*at].finding).collect();
    let rivalry = Rivalry::seen(trying, findings, tried, &rivals)?;
    for (number, &at) in rivals.iter().enumerate() {
        let Some(refuted) = rivalry.refuted(number) else { continue };
        let one = &mut tried[at];
        one.remark = Some(remark(&refuted, &found));
        one.confirmed.verdict = Confirmation::Contributes;
        match refuted {
            Refuted::NotEnough { runs, .. } => one.confirmed.harmless_runs = runs,
            Refuted::NotNeeded { runs, .. } => one.confirmed.needless_runs = runs,
        }
        findings[found[number]].confirmed = Some(one.confirmed);
    }
    Ok(())
}

fn remark(refuted: &Refuted, found: &[usize]) -> String {
    match refuted {
        Refuted::NotEnough { by, runs } => format!(
            "it is not enough: {runs} runs passed with it, while finding {} was kept from coming about",
            found[*by] + 1
        ),
        Refuted::NotNeeded { by, runs } => format!(
            "it is not needed: {runs} runs failed without it by finding {}, which came about whenever a run failed with it",
            found[*by] + 1
        ),
    }
}

impl Rivalry {
    fn seen(
        trying: &Trying<'_>,
        findings: &[Finding],
        tried: &[Tried],
        rivals: &[usize],
    ) -> Result<Rivalry, Problem> {
        let score = |&at: &usize| tried[at].finding.map_or(0.0, |at| findings[at].score);
        let all: Vec<&Plans> = rivals.iter().filter_map(|&at| tried[at].plans.as_ref()).collect();
        let mut rivalry = Rivalry::of(rivals.iter().map(score).collect());
        for (number, plans) in all.iter().enumerate() {
            for plan in [&plans.inverse, &plans.forced] {
                for _ in 0..trying.runs {
                    let Some((label, there)) = look(trying, plan, &all)? else { break };
                    rivalry.add(number, plan.mode, label, &there);
                }
            }
        }
        Ok(rivalry)
    }

    fn of(scores: Vec<f64>) -> Rivalry {
        let none = vec![vec![0; scores.len()]; scores.len()];
        Rivalry { scores, harmless: none.clone(), beside: none }
    }

    /// A run of one of them, and which came about in it.
    fn add(&mut self, of: usize, mode: Mode, label: Label, there: &[bool]) {
        let counts = match (mode, label) {
            (Mode::Force, Label::Fail) if there[of] => &mut self.beside,
            (Mode::Serialise | Mode::Reverse, Label::Pass) => &mut self.harmless,
            _ => return,
        };
        for (one, is_there) in there.iter().enumerate() {
            counts[one][of] += u32::from(*is_there);
        }
    }

    fn refuted(&self, one: usize) -> Option<Refuted> {
        let others = || (0..self.scores.len()).filter(move |other| *other != one);
        let not_enough = others().find(|&other| self.is_harmless_without(one, other));
        if let Some(by) = not_enough {
            return Some(Refuted::NotEnough { by, runs: self.harmless[one][by] });
        }
        let by = others().find(|&other| self.is_needless_beside(one, other))?;
        Some(Refuted::NotNeeded { by, runs: self.beside[by][by] - self.beside[one][by] })
    }

    fn is_harmless_without(&self, one: usize, other: usize) -> bool {
        let comes_without = |one: usize, other: usize| self.harmless[one][other] >= FEWEST_HITS;
        comes_without(one, other) && !comes_without(other, one)
    }

    /// Whether the program fails by `other` without `one`, and not the other way round. Windows can miss what came about: so what is
    /// less suspicious refutes nothing.
    fn is_needless_beside(&self, one: usize, other: usize) -> bool {
        let missing =
            |one: usize, other: usize| self.beside[other][other] - self.beside[one][other];
        self.scores[other] >= self.scores[one]
            && missing(one, other) >= FEWEST_HITS
            && self.beside[one][one] >= FEWEST_HITS
            && missing(other, one) == 0
    }
}

/// Runs the program under a plan; how it ended and which findings came about in it. None: no more runs.
fn look(
    trying: &Trying<'_>,
    plan: &Plan,
    rivals: &[&Plans],
) -> Result<Option<(Label, Vec<bool>)>, Problem> {
    if !trying.may_go_on() {
        return Ok(None);
    }
    let patterns = |_: &ForcedRun, folder: &Path| condense(folder, Options::default());
    let Some((run, condensed)) = trying.forcing.run_and(Some(plan), patterns)? else {
        return Ok(None);
    };
    let there = rivals.iter().map(|one| one.forced.is_shown_by(&condensed.patterns)).collect();
    let is_kept_out = run.outcome.inverse_hits > 0 && run.outcome.hits == 0;
    let counts = plan.mode == Mode::Force || is_kept_out;
    Ok(Some((if counts { run.label } else { Label::Unusable }, there)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Label::{Fail, Pass};

    fn runs(scores: &[f64], of: &[(usize, Mode, Label, &[bool], usize)]) -> Rivalry {
        let mut rivalry = Rivalry::of(scores.to_vec());
        for (of, mode, label, there, times) in of {
            (0..*times).for_each(|_| rivalry.add(*of, *mode, *label, there));
        }
        rivalry
    }

    #[test]
    fn what_passes_while_another_is_kept_out_is_not_enough() {
        let kept_out = (1, Mode::Serialise, Pass, &[true, false][..], 4);
        let rivalry = runs(&[1.0, 1.0], &[kept_out]);
        assert_eq!(rivalry.refuted(0), Some(Refuted::NotEnough { by: 1, runs: 4 }));
        assert_eq!(rivalry.refuted(1), None);
        let both = runs(&[1.0, 1.0], &[kept_out, (0, Mode::Serialise, Pass, &[false, true], 5)]);
        assert_eq!(both.refuted(0), None, "nor is the other");
        let few = runs(&[1.0, 1.0], &[(1, Mode::Serialise, Pass, &[true, false], 2)]);
        assert_eq!(few.refuted(0), None, "too few runs to say");
        let failed = runs(&[1.0, 1.0], &[(1, Mode::Serialise, Fail, &[true, false], 4)]);
        assert_eq!(failed.refuted(0), None, "it did harm");
    }

    #[test]
    fn what_is_missing_when_another_makes_it_fail_is_not_needed() {
        let without = (1, Mode::Force, Fail, &[false, true][..], 3);
        let with_both = (0, Mode::Force, Fail, &[true, true][..], 5);
        let rivalry = runs(&[0.5, 0.9], &[without, with_both]);
        assert_eq!(rivalry.refuted(0), Some(Refuted::NotNeeded { by: 1, runs: 3 }));
        assert_eq!(rivalry.refuted(1), None);
        let suspicious = runs(&[0.9, 0.5], &[without, with_both]);
        assert_eq!(suspicious.refuted(0), None, "windows may have missed it");
        let alone = (0, Mode::Force, Fail, &[true, false][..], 1);
        assert_eq!(runs(&[0.5, 0.9], &[without, with_both, alone]).refuted(0), None);
    }
}
