//! What full recordings of the store say about accesses: for Rust, whose types the sources seldom tell, and for programs without sources.
//!
//! Takes   a store, and numbers of runs in it or none.
//! Gives   accesses with the user's own functions on the way there, and the fields they are to by debug info.
//! Misses  code whose source has changed since the program was built: its lines would be other ones. That is told.
//! Cost    one walk over each recording; names are looked up once per site.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use unpick_analyses::interleaving_patterns::Touch;
use unpick_analyses::observed::{Observed, observe};
use unpick_analyses::ranking::{ExampleAccess, ExampleMemory};
use unpick_correlations::access_sets::kind;
use unpick_correlations::{ObservedAccess, ObservedBytes, ObservedFrame};
use unpick_findings::{Author, Names, Place};
use unpick_names::{Belonging, CodeNames, KnownRecording};
use unpick_problem::Problem;
use unpick_recording::{Recording, Run, RunInfo};
use unpick_run_store::Store;

use crate::conclude::NAMES;
use crate::quantities::counted;

/// Runs that are looked at where none is named: the last ones. More of them say the same again.
const MOST_RUNS: usize = 4;
/// Calls of the user's own that are kept of the way to an access.
const MOST_FRAMES: usize = 8;

/// What runs observed.
#[derive(Default)]
pub struct ObservedRuns {
    pub accesses: Vec<ObservedAccess>,
    pub runs: usize,
    /// What could not be used, in sentences.
    pub missing: Vec<String>,
}

/// The runs that are named, or the last full ones; none is no error where none is named.
pub fn observed_runs(store: &Path, named: &[u64]) -> Result<ObservedRuns, Problem> {
    let store = Store::at(store);
    let mut found = ObservedRuns::default();
    let (mut recordings, mut changed) = (0, BTreeSet::new());
    for folder in folders(&store, named)? {
        match observe_run(&folder, &mut recordings, &mut changed) {
            Ok(accesses) => {
                found.accesses.extend(accesses);
                found.runs += 1;
            }
            Err(problem) if named.is_empty() => found.missing.push(problem.to_string()),
            Err(problem) => return Err(problem),
        }
    }
    found.missing.extend(told_changed(&changed));
    Ok(found)
}

fn folders(store: &Store, named: &[u64]) -> Result<Vec<PathBuf>, Problem> {
    if named.is_empty() {
        let (runs, _) = store.runs();
        let full = runs.into_iter().rev().filter(|run| run.info.options.full);
        return Ok(full.take(MOST_RUNS).map(|run| run.folder).collect());
    }
    let mut folders = Vec::new();
    for &number in named {
        let folder = store.run(number)?;
        if !RunInfo::read(&folder)?.options.full {
            return Err(not_full(&folder));
        }
        folders.push(folder);
    }
    Ok(folders)
}

fn observe_run(
    folder: &Path,
    recordings: &mut u64,
    changed: &mut BTreeSet<String>,
) -> Result<Vec<ObservedAccess>, Problem> {
    let mut accesses = Vec::new();
    for recording in Run::open(folder)?.recordings() {
        *recordings += 1;
        accesses.extend(observe_recording(&recording?, *recordings, changed));
    }
    Ok(accesses)
}

/// What one recording, by its number, observed; files that have changed since are added to `changed`.
pub fn observe_recording(
    recording: &Recording,
    number: u64,
    changed: &mut BTreeSet<String>,
) -> Vec<ObservedAccess> {
    let observed = observe(recording, &KnownRecording::new(recording, &NAMES));
    let (recording, ways) = (number, HashMap::new());
    let mut words = Words { recording, names: &NAMES, observed: &observed, ways, changed };
    observed.accesses.iter().filter_map(|access| words.access(access)).collect()
}

/// Puts words to what one recording observed.
struct Words<'a> {
    /// Tells recordings apart.
    recording: u64,
    names: &'a CodeNames,
    observed: &'a Observed,
    /// The user's own functions at a site.
    ways: HashMap<u32, Vec<ObservedFrame>>,
    changed: &'a mut BTreeSet<String>,
}

impl Words<'_> {
    fn access(&mut self, access: &ExampleAccess) -> Option<ObservedAccess> {
        let belonging = self.names.belonging(access, &self.observed.code).unwrap_or_default();
        let bytes = self.bytes(access);
        if belonging == Belonging::default() && bytes.is_none() {
            return None;
        }
        let members = belonging.members.into_iter().map(|one| (one.owner, one.member)).collect();
        let way = self.way(access);
        let kind = if access.touch == Touch::Read { kind::READ } else { kind::WRITE };
        let global = belonging.global;
        (!way.is_empty()).then_some(ObservedAccess { way, kind, global, members, bytes })
    }

    fn bytes(&self, access: &ExampleAccess) -> Option<ObservedBytes> {
        let ExampleMemory::Heap { offset, .. } = access.memory else { return None };
        let object = self.recording << 32 | u64::from(access.index);
        Some(ObservedBytes { object, offset, length: access.length })
    }

    fn way(&mut self, access: &ExampleAccess) -> Vec<ObservedFrame> {
        let mut way = Vec::new();
        for &site in std::iter::once(&access.site).chain(access.stack.iter().rev()) {
            if !self.ways.contains_key(&site) {
                let frames = self.own_frames(site);
                self.ways.insert(site, frames);
            }
            way.extend(self.ways[&site].iter().cloned());
            if way.len() >= MOST_FRAMES {
                break;
            }
        }
        way
    }

    fn own_frames(&mut self, site: u32) -> Vec<ObservedFrame> {
        let code = &self.observed.code;
        let site = code.sites[site as usize];
        if self.names.author(site, code) != Author::User {
            return Vec::new();
        }
        let Place { frame, inlined_into } = self.names.place(site, code);
        if self.names.line_text(site, code).is_none() {
            self.changed.extend(frame.file);
            return Vec::new();
        }
        let all = std::iter::once(frame).chain(inlined_into);
        all.filter_map(|frame| {
            let file = fs::canonicalize(frame.file?).ok()?.to_string_lossy().into_owned();
            Some(ObservedFrame { function: frame.function?, file, line: frame.line? })
        })
        .collect()
    }
}

/// What a user is told of them; nothing if there are none.
pub fn told_changed(changed: &BTreeSet<String>) -> Option<String> {
    let first = changed.first()?;
    let count = counted(changed.len() as u64, "source");
    Some(format!(
        "{count} of the runs in the store changed or went since the program was built, such as {first}: what was observed there is not used; run it again: unpick races -- PROGRAM"
    ))
}

fn not_full(folder: &Path) -> Problem {
    Problem::usage("the run says nothing about variables: its recordings are not full")
        .at("folder", folder.display())
        .why("they have the accesses where threads met, not all accesses to what threads share")
        .next("record it in full: unpick record --full -- PROGRAM")
}
