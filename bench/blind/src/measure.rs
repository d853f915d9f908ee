//! Builds, hunts, judges and reproduces every program, one after the other.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use unpick_problem::Problem;

use crate::build::build;
use crate::hunt::{Hunt, Reproduced};
use crate::judge::{self, Leader};
use crate::options::{Options, Set};
use crate::program::Program;

/// What was seen of a program.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    pub name: String,
    pub class: String,
    /// It was not built, or its hunt gave no result: why.
    pub trouble: Option<String>,
    pub has_leader: bool,
    pub is_right: bool,
    /// Of the leader; none: no experiment was made.
    pub verdict: Option<String>,
    pub certainty: String,
    pub failed: u64,
    pub runs: u64,
    /// The number of the first failing run, from 1.
    pub first_failing: Option<usize>,
    pub duration: Duration,
    /// None: not tried.
    pub reproduced: Option<Reproduced>,
}

impl Outcome {
    pub fn is_cause(&self) -> bool {
        self.verdict.as_deref() == Some("cause")
    }

    pub fn is_wrong(&self) -> bool {
        self.has_leader && !self.is_right
    }
}

/// Where programs are built and hunted.
struct Scratch {
    root: PathBuf,
    /// Removes all at the end, unless it is kept.
    _temporary: Option<TempDir>,
}

impl Scratch {
    fn new(keep: Option<&Path>) -> std::io::Result<Scratch> {
        match keep {
            Some(folder) => {
                fs::create_dir_all(folder)?;
                Ok(Scratch { root: folder.canonicalize()?, _temporary: None })
            }
            None => {
                let temporary = tempfile::tempdir()?;
                Ok(Scratch { root: temporary.path().to_path_buf(), _temporary: Some(temporary) })
            }
        }
    }

    /// An empty folder for one program. Its name is not the program's unless it is kept: sealed ones would show in lists of processes.
    fn folder(&self, program: &Program, number: usize) -> std::io::Result<PathBuf> {
        let kept = || program.name.replace('/', "-");
        let temporary = || format!("program-{number}");
        let is_kept = self._temporary.is_none();
        let folder = self.root.join(if is_kept { kept() } else { temporary() });
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// Recordings are large: what is not kept goes as soon as it is judged.
    fn done_with(&self, folder: &Path) {
        if self._temporary.is_some() {
            let _ = fs::remove_dir_all(folder);
        }
    }
}

pub fn measure_all(programs: &[Program], options: &Options) -> Result<Vec<Outcome>, Problem> {
    let no_folder = |why| Problem::own_fault("the scratch folder cannot be used").why(why);
    let scratch = Scratch::new(options.keep.as_deref()).map_err(no_folder)?;
    let unpick = options.unpick()?;
    let mut outcomes = Vec::new();
    for (number, program) in programs.iter().enumerate() {
        let folder = scratch.folder(program, number).map_err(no_folder)?;
        let outcome = measure(program, &unpick, &folder, options);
        scratch.done_with(&folder);
        eprintln!("{}", progress(&outcome, number + 1, programs.len(), options.set));
        outcomes.push(outcome);
    }
    Ok(outcomes)
}

/// One line per program; of sealed ones only how many are done.
fn progress(outcome: &Outcome, number: usize, of: usize, set: Set) -> String {
    let count = format!("{} {number} of {of}", set.name());
    if set == Set::Sealed {
        return count;
    }
    let judgement = match &outcome.trouble {
        Some(trouble) => format!("no result: {trouble}"),
        None if !outcome.has_leader => "nothing found".to_owned(),
        None if outcome.is_right => "right".to_owned(),
        None => "wrong".to_owned(),
    };
    format!("{count}: {}: {judgement}, {:.1} s", outcome.name, outcome.duration.as_secs_f64())
}

fn measure(program: &Program, unpick: &Path, folder: &Path, options: &Options) -> Outcome {
    let mut outcome =
        Outcome { name: program.name.clone(), class: program.class.clone(), ..Outcome::default() };
    if let Err(trouble) = fill(&mut outcome, program, unpick, folder, options) {
        outcome.trouble = Some(trouble);
    }
    outcome
}

fn fill(
    outcome: &mut Outcome,
    program: &Program,
    unpick: &Path,
    folder: &Path,
    options: &Options,
) -> Result<(), String> {
    let built = build(&program.recipe, unpick, folder)?;
    let hunt = Hunt { unpick, folder, program: built, arguments: &program.arguments };
    let ended = hunt.run(&options.time, options.time_limit()).map_err(|why| why.to_string())?;
    outcome.duration = ended.duration;
    hunt.check(&ended)?;
    outcome.first_failing = judge::first_failing(&hunt.labels());
    let findings = hunt.findings();
    count_runs(outcome, &findings);
    let Some(leader) = judge::leader(&findings) else { return Ok(()) };
    let hung = judge_leader(outcome, program, &leader, &hunt);
    if outcome.is_right && outcome.verdict.is_some() && !options.no_reproduce {
        // What cannot be forced did not fail.
        let none = Reproduced { runs: 0, failed: 0 };
        outcome.reproduced = Some(hunt.reproduce(hung).unwrap_or(none));
    }
    Ok(())
}

fn count_runs(outcome: &mut Outcome, findings: &Value) {
    let count = |name: &str| findings["runs"][name].as_u64().unwrap_or_default();
    (outcome.failed, outcome.runs) = (count("failed"), count("total"));
    outcome.certainty = findings["certainty"].as_str().unwrap_or("unsure").to_owned();
}

/// Compares the leader with the truth; says which run hung, if it is a hang.
fn judge_leader(
    outcome: &mut Outcome,
    program: &Program,
    leader: &Leader<'_>,
    hunt: &Hunt<'_>,
) -> Option<u64> {
    let (places, hung) = match leader {
        Leader::Hang { run, .. } => (crate::places::all_in(&hunt.hang(*run)), Some(*run)),
        Leader::Finding(finding) => (judge::places_of(finding, program.with_stacks), None),
    };
    outcome.has_leader = true;
    outcome.is_right = judge::is_right(&program.must, &places);
    outcome.verdict = leader.verdict().map(str::to_owned);
    hung
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_says_nothing_about_a_sealed_program() {
        let outcome = Outcome {
            name: "c/job-queue".to_owned(),
            trouble: Some("error in main.c".to_owned()),
            ..Outcome::default()
        };
        assert_eq!(progress(&outcome, 3, 24, Set::Sealed), "sealed 3 of 24");
        let open = progress(&outcome, 3, 24, Set::Open);
        assert_eq!(open, "open 3 of 24: c/job-queue: no result: error in main.c, 0.0 s");
    }
}
