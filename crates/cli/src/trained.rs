//! Trained invariants on disk, and what a run checks: what `train`, `watch`, `invariants` and `hunt` share.
//!
//! Takes   a store or a file, the folder of a run.      Gives  `Invariants`, written in one step; `RunInvariants`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use unpick_analyses::invariants::{Collector, RunInvariants, Variant};
use unpick_invariants::{Invariants, Suppressions};
use unpick_names::KnownRecording;
use unpick_problem::Problem;
use unpick_recording::Run;

use crate::conclude::NAMES;

/// In the store, unless another file is named.
pub const INVARIANTS_FILE: &str = "invariants.toml";
pub const SUPPRESSIONS_FILE: &str = "suppressions";

/// Where the invariants of a store are.
pub fn file_of(store: &Path, named: Option<&Path>) -> PathBuf {
    named.map_or_else(|| store.join(INVARIANTS_FILE), Path::to_owned)
}

/// The invariants of a file; none if there is no such file.
pub fn read(file: &Path) -> Result<Option<Invariants>, Problem> {
    match fs::read_to_string(file) {
        Ok(text) => Invariants::from_toml(&text, &file.to_string_lossy()).map(Some),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Problem::usage("the invariants cannot be read")
            .at("file", file.display())
            .why(error)
            .next("name another file: --file FILE; it was left as it is")),
    }
}

/// The invariants of a file that has to be there.
pub fn read_trained(file: &Path) -> Result<Invariants, Problem> {
    read(file)?.ok_or_else(|| {
        Problem::usage("there are no invariants yet")
            .at("file", file.display())
            .next("train them with runs that pass: unpick train -- PROGRAM")
    })
}

/// Adds what was learned to what is in a file now: somebody else may have trained meanwhile. Gives what is there then.
pub fn add_to_file(
    file: &Path,
    learned: &Invariants,
    unchanged: u32,
) -> Result<Invariants, Problem> {
    let mut sum = match read(file)? {
        Some(mut before) => {
            before.absorb(learned)?;
            before
        }
        None => learned.clone(),
    };
    sum.unchanged = unchanged;
    write(file, &sum)?;
    Ok(sum)
}

/// Writes a file in one step: a reader finds the old one or the new one.
pub fn write(file: &Path, invariants: &Invariants) -> Result<(), Problem> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let unfinished = file.with_file_name(format!("{name}.unfinished-{}", std::process::id()));
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let written = folder
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&unfinished, invariants.to_toml()))
        .and_then(|()| fs::rename(&unfinished, file));
    written.map_err(|error| {
        // It may not be there, and helps nobody if it is.
        let _ = fs::remove_file(&unfinished);
        Problem::own_fault("the invariants cannot be written")
            .at("file", file.display())
            .why(error)
            .next("choose a file you can write to: --file FILE; what was there is as it was")
    })
}

/// The suppressions of a file; of the store's if none is named and it has some.
pub fn suppressions(store: &Path, named: Option<&Path>) -> Result<Suppressions, Problem> {
    let file = named.map_or_else(|| store.join(SUPPRESSIONS_FILE), Path::to_owned);
    match fs::read_to_string(&file) {
        Ok(text) => Suppressions::from_text(&text, &file.to_string_lossy()),
        Err(error) if error.kind() == ErrorKind::NotFound && named.is_none() => {
            Ok(Suppressions::default())
        }
        Err(error) => Err(Problem::usage("the suppressions cannot be read")
            .at("file", file.display())
            .why(error)),
    }
}

/// What was checked in a run.
pub struct Checked {
    pub run: RunInvariants,
    /// Nothing is missing in the recordings.
    pub is_complete: bool,
}

/// Looks at the recordings in the folder of a run.
pub fn check_run(folder: &Path, variant: Variant) -> Result<Checked, Problem> {
    let run = Run::open(folder)?;
    let mut collector = Collector::new(variant);
    let mut is_complete = true;
    for recording in run.recordings() {
        let recording = recording?;
        is_complete &= recording.is_complete() && recording.damage().is_empty();
        collector.add(&recording, &KnownRecording::new(&recording, &NAMES));
    }
    Ok(Checked { run: collector.finish(), is_complete })
}
