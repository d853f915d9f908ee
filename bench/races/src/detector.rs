//! What a detector says about a program over several runs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use unpick_problem::Problem;

use crate::programs::{Program, Verdict};

/// Somebody who says whether a program has a race.
pub trait Detector {
    /// Builds the program; gives what `look` needs.
    fn build(&self, program: &Program) -> Result<PathBuf, Problem>;

    /// Runs it once, and gives the reports. None: it could not be looked at.
    fn look(&self, program: &Program, built: &Path) -> Result<Option<Vec<Report>>, Problem>;
}

/// One race as it was reported.
#[derive(Debug, Clone)]
pub struct Report {
    /// All places it names: `name.c:12`.
    pub places: BTreeSet<String>,
    pub text: String,
    /// By the detector that is compared; else it is one more alarm that a user gets.
    pub is_compared: bool,
}

/// What was said in all runs.
#[derive(Debug, Clone, Default)]
pub struct Said {
    pub runs: u32,
    /// Runs with reports.
    pub reporting: u32,
    /// Runs with a report that names a line of the race.
    pub right_place: u32,
    /// Runs with any report at all, by whatever detectors there are.
    pub alarming: u32,
    /// The first report, for people.
    pub example: Option<String>,
}

impl Said {
    pub fn by(detector: &dyn Detector, program: &Program, runs: u32) -> Result<Said, Problem> {
        let built = detector.build(program)?;
        let lines = program.racing_lines();
        let mut said = Said::default();
        for _ in 0..runs {
            if let Some(reports) = detector.look(program, &built)? {
                said.add(&reports, &lines);
            }
        }
        Ok(said)
    }

    fn add(&mut self, reports: &[Report], lines: &BTreeSet<String>) {
        let is_right = |report: &&Report| !report.places.is_disjoint(lines);
        let compared = || reports.iter().filter(|report| report.is_compared);
        self.runs += 1;
        self.reporting += u32::from(compared().next().is_some());
        self.right_place += u32::from(compared().any(|report| is_right(&report)));
        self.alarming += u32::from(!reports.is_empty());
        if self.example.is_none() {
            self.example = compared().next().map(|report| report.text.clone());
        }
    }

    /// None: not the same in every run.
    pub fn verdict(&self) -> Option<Verdict> {
        match self.reporting {
            0 if self.runs > 0 => Some(Verdict::Clean),
            some if some == self.runs && self.runs > 0 => Some(Verdict::Racy),
            _ => None,
        }
    }

    /// In every run; and of a race, where it is.
    pub fn is_right(&self, truth: Verdict) -> bool {
        let is_there = truth == Verdict::Clean || self.right_place == self.runs;
        self.verdict() == Some(truth) && is_there
    }

    /// `racy`, or how often that was said, or that another place was named.
    pub fn words(&self, truth: Verdict) -> String {
        match self.verdict() {
            _ if self.runs == 0 => "did not run".to_owned(),
            None => format!("racy in {} of {}", self.reporting, self.runs),
            Some(Verdict::Racy) if truth == Verdict::Racy && !self.is_right(truth) => {
                "racy, elsewhere".to_owned()
            }
            Some(verdict) => verdict.name().to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(of_runs: &[&[&str]]) -> Said {
        let lines = BTreeSet::from(["a.c:3".to_owned()]);
        let mut said = Said::default();
        for run in of_runs {
            let report = |place: &&str| Report {
                places: BTreeSet::from([(*place).to_owned()]),
                text: String::new(),
                is_compared: true,
            };
            said.add(&run.iter().map(report).collect::<Vec<_>>(), &lines);
        }
        said
    }

    #[test]
    fn a_verdict_is_right_only_if_every_run_has_it() {
        assert!(said(&[&["a.c:3"], &["a.c:9", "a.c:3"]]).is_right(Verdict::Racy));
        assert!(said(&[&[], &[]]).is_right(Verdict::Clean));
        let mixed = said(&[&["a.c:3"], &[]]);
        assert!(!mixed.is_right(Verdict::Racy) && !mixed.is_right(Verdict::Clean));
        assert_eq!(mixed.words(Verdict::Racy), "racy in 1 of 2");
    }

    #[test]
    fn a_report_of_another_place_is_not_the_race() {
        let elsewhere = said(&[&["a.c:9"]]);
        assert!(!elsewhere.is_right(Verdict::Racy));
        assert_eq!(elsewhere.words(Verdict::Racy), "racy, elsewhere");
        assert_eq!(elsewhere.words(Verdict::Clean), "racy");
    }

    #[test]
    fn what_another_detector_reports_is_an_alarm_and_no_verdict() {
        let mut said = Said::default();
        let (places, text) = (BTreeSet::from(["a.c:3".to_owned()]), String::new());
        said.add(&[Report { places, text, is_compared: false }], &BTreeSet::new());
        assert!(said.is_right(Verdict::Clean));
        assert_eq!((said.alarming, said.example), (1, None));
    }

    #[test]
    fn who_did_not_run_said_nothing() {
        assert!(!Said::default().is_right(Verdict::Clean));
        assert_eq!(Said::default().words(Verdict::Clean), "did not run");
    }
}
