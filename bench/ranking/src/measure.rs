//! Goes through the subjects: builds, stresses, hunts, ranks. What was measured is kept, for `--again`.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use unpick_names::CodeNames;
use unpick_problem::Problem;
use unpick_subjects::{Subject, Twin};

use crate::hunt::{Bound, Hunt};
use crate::options::Options;
use crate::stress::{Rate, stress};
use crate::study::{Study, study};
use crate::truth::Truth;
use crate::twins::{Tool, build};

/// A hung run is a failing one after this long.
const TIMEOUT: &str = "20s";

/// What takes running programs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Measured {
    pub bare: Rate,
    /// Instrumented, without delays and with them.
    pub without_delays: Rate,
    pub with_delays: Rate,
    pub hunt_seconds: f64,
    pub exit_code: u8,
    /// Hunt of the fixed twin.
    pub fixed: Rate,
    pub fixed_exit_code: u8,
}

pub struct Row {
    pub subject: Subject,
    pub measured: Measured,
    /// None for a subject that did not fail.
    pub study: Option<Study>,
}

/// All rows, by name of the subject.
pub fn measure(options: &Options) -> Result<Vec<Row>, Problem> {
    let names = CodeNames::new();
    let mut rows = Vec::new();
    for subject in options.subjects()? {
        let place = Place { options, subject: &subject };
        let measured = if options.again { place.read()? } else { place.run()? };
        let study = match Truth::of(&subject) {
            Some(truth) if measured.exit_code != 0 => {
                Some(study(&place.store("hunt"), &truth, &names, options.anew)?)
            }
            _ => None,
        };
        let row = Row { subject, measured, study };
        tell(&row, options.verbose);
        rows.push(row);
    }
    Ok(rows)
}

/// A line of progress.
fn tell(row: &Row, verbose: bool) {
    let name = &row.subject.name;
    let Some(Study { all, few, .. }) = &row.study else {
        eprintln!("{name}: no run failed");
        return;
    };
    let few_lead = few.iter().filter(|standing| standing.leads).count();
    let verdict = if all.leads { "leads" } else { "DOES NOT LEAD" };
    let rank = all.figures.as_ref().map(|figures| figures.rank);
    eprintln!(
        "{name}: {} failed, {} passed; true pattern {verdict}, rank {rank:?}, in {:?}; with few {few_lead} of {}; {:.0} s",
        all.failing,
        all.passing,
        all.seen,
        few.len(),
        row.measured.hunt_seconds
    );
    if verbose {
        all.first.iter().for_each(|finding| eprintln!("    {finding}"));
        let missed = few.iter().filter(|standing| !standing.leads);
        missed.for_each(|standing| eprintln!("    few: {}", standing.first.join("\n       : ")));
    }
}

/// A subject, and where things about it are.
struct Place<'a> {
    options: &'a Options,
    subject: &'a Subject,
}

impl Place<'_> {
    fn work(&self) -> PathBuf {
        // Programs are built and run elsewhere than here.
        std::path::absolute(&self.options.work).unwrap_or_else(|_| self.options.work.clone())
    }

    fn store(&self, of: &str) -> PathBuf {
        self.work().join(of).join(&self.subject.name)
    }

    fn file(&self) -> PathBuf {
        self.work().join("measured").join(format!("{}.json", self.subject.name))
    }

    fn run(&self) -> Result<Measured, Problem> {
        let unpick = self.options.unpick()?;
        let bare = build(self.subject, Twin::Buggy, Tool::AsItIs, &self.work())?;
        let bare = stress(&bare, self.subject, self.options.bare_runs);
        let buggy = build(self.subject, Twin::Buggy, Tool::Unpick(&unpick), &self.work())?;
        let hunted = self.hunt(&unpick, &buggy, "hunt", Bound::Time(&self.options.time))?;
        let fixed = build(self.subject, Twin::Fixed, Tool::Unpick(&unpick), &self.work())?;
        let spared = self.hunt(&unpick, &fixed, "fixed", Bound::Runs(self.options.fixed_runs))?;
        let measured = Measured {
            bare,
            without_delays: hunted.without_delays,
            with_delays: hunted.with_delays,
            hunt_seconds: hunted.duration_ms as f64 / 1000.0,
            exit_code: hunted.exit_code,
            fixed: Rate { failed: spared.runs.failed, runs: self.options.fixed_runs },
            fixed_exit_code: spared.exit_code,
        };
        self.write(&measured)?;
        Ok(measured)
    }

    fn hunt(
        &self,
        unpick: &Path,
        program: &Path,
        of: &str,
        bound: Bound<'_>,
    ) -> Result<crate::hunt::Ended, Problem> {
        let (subject, store) = (self.subject, self.store(of));
        Hunt { unpick, subject, program, store, bound, timeout: TIMEOUT }.run()
    }

    fn write(&self, measured: &Measured) -> Result<(), Problem> {
        let file = self.file();
        let text = serde_json::to_string_pretty(measured).unwrap_or_default();
        let folder = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&file, text))
            .map_err(|error| cannot_use(&file, &error.to_string()))
    }

    fn read(&self) -> Result<Measured, Problem> {
        let file = self.file();
        let text =
            fs::read_to_string(&file).map_err(|error| cannot_use(&file, &error.to_string()))?;
        serde_json::from_str(&text).map_err(|error| cannot_use(&file, &error.to_string()))
    }
}

fn cannot_use(file: &Path, why: &str) -> Problem {
    Problem::own_fault("what was measured cannot be written or read again")
        .at("file", file.display())
        .why(why)
        .next("run the benchmark without --again")
}
