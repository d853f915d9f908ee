//! Findings that a store keeps: those of each hunt, and those that are shown if no hunt is named.
//!
//! Takes   a store, perhaps the number of a hunt; findings to keep.
//! Gives   `hunts/N/findings.json` for each hunt; `findings.json` for the latest in which a run failed.
//! Misses  hunts of earlier versions: only the latest of their findings were kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use unpick_findings::{Findings, SCHEMA, Unreadable};
use unpick_problem::Problem;
use unpick_run_store::Store;

use crate::output::findings::write_file;

/// In a store, and in the folder of a hunt.
pub const FINDINGS_FILE: &str = "findings.json";

/// The findings of a hunt; without a number, those of the latest hunt in which a run failed.
pub fn read(store: &Path, hunt: Option<u64>) -> Result<Findings, Problem> {
    let latest = store.join(FINDINGS_FILE);
    let Some(hunt) = hunt else { return read_file(&latest) };
    let own = Store::at(store).hunt_folder(hunt).join(FINDINGS_FILE);
    if own.exists() {
        return read_file(&own);
    }
    match read_file(&latest) {
        Ok(findings) if is_of(&findings, hunt, store) => Ok(findings),
        _ => Err(no_findings_of(hunt, store)),
    }
}

/// Findings that do not say it are of the latest hunt: that is how they were kept.
fn is_of(findings: &Findings, hunt: u64, store: &Path) -> bool {
    let latest = || Store::at(store).hunts().0.last().map(|latest| latest.number);
    findings.hunt.or_else(latest) == Some(hunt)
}

/// The hunt whose runs are meant: the one that is named, else that of the findings that are shown; none: the latest.
pub fn meant(store: &Path, hunt: Option<u64>) -> Option<u64> {
    hunt.or_else(|| read_file(&store.join(FINDINGS_FILE)).ok()?.hunt)
}

/// The findings in a file.
pub fn read_file(file: &Path) -> Result<Findings, Problem> {
    let text = fs::read(file).map_err(|error| cannot_open(file, &error))?;
    let text = String::from_utf8(text).map_err(|error| damaged(file, &error.to_string()))?;
    Findings::from_json(&text).map_err(|unreadable| match unreadable {
        Unreadable::OtherForm(form) => other_form(file, &form),
        Unreadable::Damaged(why) => damaged(file, &why),
    })
}

/// Keeps the findings of a hunt; they are shown from now on unless that would hide those of a later hunt, or of an earlier one in
/// which more happened.
pub fn keep(store: &Path, findings: &Findings) -> Result<(), Problem> {
    if let Some(hunt) = findings.hunt {
        let folder = Store::at(store).hunt_folder(hunt);
        fs::create_dir_all(&folder).map_err(|error| cannot_keep(&folder, &error))?;
        write_in_one_step(&folder.join(FINDINGS_FILE), findings)?;
    }
    let latest = store.join(FINDINGS_FILE);
    let shown = read_file(&latest).ok();
    if shown.is_none_or(|shown| takes_the_place_of(findings, &shown)) {
        write_in_one_step(&latest, findings)?;
    }
    Ok(())
}

fn takes_the_place_of(findings: &Findings, shown: &Findings) -> bool {
    let has_failure = |one: &Findings| one.runs.failed > 0 || one.explain_something();
    match (findings.hunt, shown.hunt) {
        (Some(new), Some(old)) if new < old => false,
        (Some(new), Some(old)) if new == old => true,
        _ => has_failure(findings) || !has_failure(shown),
    }
}

/// Another hunt of this store may end at the same time.
fn write_in_one_step(file: &Path, findings: &Findings) -> Result<(), Problem> {
    let unfinished = unfinished(file);
    write_file(&unfinished, &(findings.to_json() + "\n"))?;
    fs::rename(&unfinished, file).map_err(|error| cannot_keep(file, &error))
}

fn unfinished(file: &Path) -> PathBuf {
    file.with_file_name(format!("{FINDINGS_FILE}.unfinished-{}", std::process::id()))
}

fn no_findings_of(hunt: u64, store: &Path) -> Problem {
    match Store::at(store).runs_of_hunt(Some(hunt)) {
        Err(problem) => problem,
        Ok(_) => Problem::usage(format!("no findings of hunt {hunt} were kept"))
            .at("folder", store.display())
            .why(
                "no run of it failed, or it has not ended, or an earlier version of unpick made it",
            )
            .next(format!("rank its runs: unpick rank --hunt {hunt}; see all hunts: unpick hunts")),
    }
}

fn cannot_open(file: &Path, error: &io::Error) -> Problem {
    if error.kind() == io::ErrorKind::NotFound {
        return Problem::usage("there are no findings yet")
            .at("file", file.display())
            .why("no hunt in this store has ended with runs that failed")
            .next("hunt, or hunt on until a run fails: unpick hunt -- PROGRAM; see what came of each run: unpick runs; or name the store: --store DIR");
    }
    Problem::own_fault("the findings cannot be read")
        .at("file", file.display())
        .why(error)
        .next("name the store of a hunt: --store DIR")
}

fn other_form(file: &Path, form: &str) -> Problem {
    Problem::usage("the findings cannot be read: they are of another version")
        .at("file", file.display())
        .why(format!("their form is `{}`, this build reads `{SCHEMA}`", form.escape_debug()))
        .next("use the unpick that made them, or rank the runs again: unpick rank")
}

fn damaged(file: &Path, why: &str) -> Problem {
    Problem::usage("the findings cannot be read: the file is damaged")
        .at("file", file.display())
        .why(why.escape_debug())
        .next("rank the runs again: unpick rank")
}

fn cannot_keep(path: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("the findings cannot be kept")
        .at("file", path.display())
        .why(error)
        .next("free some space; then rank the runs again: unpick rank --json FILE")
}

#[cfg(test)]
mod tests {
    use unpick_findings::Runs;

    use super::*;

    fn findings(hunt: Option<u64>, failed: u32) -> Findings {
        let runs = Runs { total: 9, passed: 9 - failed, failed, unusable: 0 };
        Findings { hunt, ..Findings::of_hangs(runs, "jaccard", Vec::new()) }
    }

    fn shown(store: &Path) -> Option<u64> {
        read(store, None).unwrap().hunt
    }

    #[test]
    fn a_later_hunt_hides_an_earlier_one_only_if_a_run_of_it_failed() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path();
        assert!(read(store, None).is_err() && read(store, Some(1)).is_err());
        keep(store, &findings(Some(1), 0)).unwrap();
        keep(store, &findings(Some(4), 3)).unwrap();
        assert_eq!(shown(store), Some(4));
        keep(store, &findings(Some(7), 0)).unwrap();
        assert_eq!(shown(store), Some(4));
        keep(store, &findings(Some(9), 1)).unwrap();
        assert_eq!(shown(store), Some(9));
        keep(store, &findings(Some(4), 2)).unwrap();
        assert_eq!((shown(store), read(store, Some(4)).unwrap().runs.failed), (Some(9), 2));
        assert_eq!(read(store, Some(7)).unwrap().hunt, Some(7));
    }

    #[test]
    fn findings_of_an_earlier_version_are_those_of_the_latest_hunt_and_give_way() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path();
        keep(store, &findings(None, 3)).unwrap();
        assert_eq!(
            (shown(store), meant(store, None), meant(store, Some(2))),
            (None, None, Some(2))
        );
        assert!(read(store, Some(1)).is_err(), "there is no such hunt");
        keep(store, &findings(Some(3), 0)).unwrap();
        assert_eq!(shown(store), None);
        keep(store, &findings(Some(3), 1)).unwrap();
        assert_eq!(shown(store), Some(3));
    }
}
