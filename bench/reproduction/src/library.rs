//! Breakpoints in the sources of the subjects: how often they are hit, and what follows.
//!
//! Method  each subject is built twice, as it is and with breakpoints, and both are run again and again, at the pause
//!         that is in the source (100 ms). log4j is run once for each of the eight orders of the paper.

mod build;
mod paper;
mod report;
mod watch;

use std::path::Path;

use unpick_bench_results::machine;
use unpick_problem::Problem;
use unpick_subjects::{Order, Subject, subjects};

use crate::library::build::Form;
use crate::library::paper::Case;
use crate::library::watch::Run;
use crate::options::Options;

/// What runs of one program came to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Tally {
    pub runs: u32,
    pub hits: u32,
    pub failed: u32,
    pub hung: u32,
    /// Of the runs that ended.
    pub seconds: f64,
}

impl Tally {
    fn add(mut self, run: Run) -> Self {
        self.runs += 1;
        self.hits += u32::from(run.is_hit);
        self.failed += u32::from(run.has_failed);
        match run.seconds {
            Some(seconds) => self.seconds += seconds,
            None => self.hung += 1,
        }
        self
    }

    /// Mean time of a run that ended. None if all hung.
    pub fn mean_seconds(&self) -> Option<f64> {
        let ended = self.runs - self.hung;
        (ended > 0).then(|| self.seconds / f64::from(ended))
    }

    pub fn share(&self, count: u32) -> f64 {
        f64::from(count) / f64::from(self.runs.max(1))
    }
}

/// A subject with and without breakpoints.
pub struct Row {
    pub case: Case,
    pub without: Tally,
    pub with: Tally,
}

/// One order of log4j.
pub struct OrderRow {
    pub order: Order,
    pub tally: Tally,
}

/// The section of the results.
pub fn section(options: &Options) -> Result<String, Problem> {
    let load_before = machine::load();
    let all = subjects();
    let mut rows = Vec::new();
    let mut orders = Vec::new();
    for case in paper::CASES.into_iter().filter(|case| options.has(case.subject)) {
        let subject = named(&all, case.subject)?;
        eprintln!("{}", subject.name);
        let with = build::build(subject, Form::WithBreakpoints, &options.work)?;
        let without = build::build(subject, Form::AsItIs, &options.work)?;
        rows.push(Row {
            case,
            without: runs(&without, subject, None, options.runs),
            with: runs(&with, subject, case.only, options.runs),
        });
        for &order in &subject.orders {
            let name = format!("{}-{}", order.first, order.then);
            eprintln!("  {name}");
            orders.push(OrderRow { order, tally: runs(&with, subject, Some(&name), options.runs) });
        }
    }
    Ok(report::section(&rows, &orders, &load_before))
}

fn named<'a>(all: &'a [Subject], name: &str) -> Result<&'a Subject, Problem> {
    all.iter().find(|subject| subject.name == name).ok_or_else(|| {
        Problem::own_fault(format!("there is no subject {name}"))
            .next("see the folders of subjects/")
    })
}

fn runs(program: &Path, subject: &Subject, only: Option<&str>, count: u32) -> Tally {
    let run = |_| watch::run(program, &subject.arguments, only);
    (0..count).map(run).fold(Tally::default(), Tally::add)
}
