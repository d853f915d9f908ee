//! What the processes of a run made of a plan, by the files that they leave in its folder.

use std::fs;
use std::path::{Path, PathBuf};

use unpick_problem::Problem;
use unpick_reproduce::{Outcome, Prevention};

use crate::conclude::names_of_files;
use crate::impasse::prevention;

/// What all processes of a run made of the plan.
pub fn outcome_in(folder: &Path) -> Result<Outcome, Problem> {
    let outcomes = outcomes_in(folder)?;
    Outcome::sum(outcomes.iter().map(|(_, outcome)| outcome))
}

/// What each process made of it, with the file that says so.
fn outcomes_in(folder: &Path) -> Result<Vec<(PathBuf, Outcome)>, Problem> {
    let mut outcomes = Vec::new();
    let entries = fs::read_dir(folder).map_err(|error| cannot_read(folder, &error))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_some_and(|extension| extension == "outcome") {
            let bytes = fs::read(&path).map_err(|error| cannot_read(&path, &error))?;
            if Outcome::has_begun(&bytes) {
                let outcome = Outcome::from_bytes(&bytes, &path.display().to_string())?;
                outcomes.push((path, outcome));
            }
        }
    }
    Ok(outcomes)
}

/// What kept the order from coming about, by the process that tells the most. Its recording has the name of its outcome.
pub fn prevention_in(folder: &Path) -> Option<Prevention> {
    let outcomes = outcomes_in(folder).ok()?;
    let impasses = outcomes.iter().filter_map(|(path, of)| Some((path, of.impasse.as_ref()?)));
    let (path, impasse) = impasses.max_by_key(|(_, impasse)| impasse.why)?;
    prevention(&path.with_extension("events"), impasse, names_of_files())
}

fn cannot_read(path: &Path, error: &std::io::Error) -> Problem {
    Problem::own_fault("what came of a forced run cannot be read")
        .at("file", path.display())
        .why(error)
        .next("run it again")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_was_killed_before_it_began_made_nothing() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("1-0.outcome"), []).unwrap();
        fs::write(folder.path().join("2-0.outcome"), [0; 4096]).unwrap();
        assert!(outcomes_in(folder.path()).unwrap().is_empty());
        fs::write(folder.path().join("3-0.outcome"), [7; 4096]).unwrap();
        assert!(outcomes_in(folder.path()).is_err(), "this one is damaged");
    }
}
