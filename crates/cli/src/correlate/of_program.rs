//! What belongs together by the sources of a program, found through the debug info of what was recorded.
//!
//! Takes   recordings, one after the other.      Gives  the correlations of all sources that the user wrote and their modules were made of;
//!         those of Rust joined with what the recordings that show a new module observed.
//! Misses  programs without debug info, sources that are gone, and large programs: those are to be read on their own, once.
//! Cost    sources that have not changed are not read again; a walk over a recording with new sources of Rust.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::time::Duration;

use unpick_analyses::interleaving_patterns::code_module;
use unpick_correlations::access_sets::rust;
use unpick_correlations::{Choices, Correlation, ObservedAccess, conclude, join_observed};
use unpick_recording::Recording;

use super::CACHE;
use super::observed::{observe_recording, told_changed};
use super::reading::{self, Effort};
use crate::conclude::NAMES;

/// So many files are read by the way, at the most.
const MOST_FILES: usize = 200;
/// A file that takes longer is one to look at on its own.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The sources met so far, and what belongs together in them.
pub struct OfProgram {
    store: PathBuf,
    quiet: bool,
    /// For all files together; none: each has its own time.
    time: Option<Duration>,
    modules: BTreeSet<String>,
    files: BTreeSet<PathBuf>,
    /// What recordings of Rust show, whose sources do not tell every type.
    observed: Vec<ObservedAccess>,
    /// Recordings that were asked for that.
    recordings: u64,
    /// Sources that are not as they were when the program was built.
    changed: BTreeSet<String>,
    pub correlations: Vec<Correlation>,
    /// Why there are fewer than there could be.
    pub remark: Option<String>,
}

impl OfProgram {
    pub fn new(store: &Path, quiet: bool) -> OfProgram {
        OfProgram {
            store: store.to_owned(),
            quiet,
            time: None,
            modules: BTreeSet::new(),
            files: BTreeSet::new(),
            observed: Vec::new(),
            recordings: 0,
            changed: BTreeSet::new(),
            correlations: Vec::new(),
            remark: None,
        }
    }

    /// Reads sources for about this long, and quietly; files that take too long are left out.
    pub fn within(store: &Path, time: Duration) -> OfProgram {
        OfProgram { time: Some(time), ..OfProgram::new(store, true) }
    }

    /// For one file.
    fn time_limit(&self) -> Duration {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        let turns = self.files.len().div_ceil(cores).max(1) as u32;
        self.time.map_or(TIME_LIMIT, |time| time / turns)
    }

    /// Reads the sources of modules that are new; true if there were some.
    pub fn meet(&mut self, recording: &Recording) -> bool {
        let known = self.files.len();
        for module in recording.modules() {
            if self.modules.insert(module.path.clone()) {
                self.files.extend(NAMES.own_sources(&code_module(module)));
            }
        }
        let is_new = self.files.len() > known;
        if is_new && self.files.len() > MOST_FILES {
            self.remark = Some(too_many(self.files.len()));
        } else if is_new {
            self.observe(recording);
            self.read();
        }
        is_new
    }

    fn observe(&mut self, recording: &Recording) {
        if self.files.iter().any(|file| rust::is_source(file)) {
            self.recordings += 1;
            let observed = observe_recording(recording, self.recordings, &mut self.changed);
            self.observed.extend(observed);
        }
    }

    fn read(&mut self) {
        let paths = self.files.iter().cloned().collect();
        let effort = Effort { jobs: None, time_limit: self.time_limit(), quiet: self.quiet };
        let sources = reading::read(paths, Some(self.store.join(CACHE)), &effort);
        match sources {
            Ok(mut sources) => {
                join_observed(&mut sources.sets, &self.observed);
                sources.missing.extend(told_changed(&self.changed));
                self.remark = sources.missing.first().map(|what| not_all(what));
                let list = conclude(sources.sets, &Choices::default(), sources.missing);
                self.correlations = list.correlations;
            }
            Err(problem) => self.remark = Some(not_all(&problem.to_string())),
        }
    }
}

fn too_many(files: usize) -> String {
    format!(
        "{files} source files are too many to read by the way: unpick correlate --json correlations.json SOURCES, then --correlations correlations.json"
    )
}

fn not_all(why: &str) -> String {
    let why = why.trim_start_matches("error: ").trim_end();
    format!("not all variables that belong together are known: {why}")
}
