//! What belongs together by the sources of a program, found through the debug info of what was recorded.
//!
//! Takes   recordings, one after the other.      Gives  the correlations of all sources that the user wrote and their modules were made of.
//! Misses  programs without debug info, sources that are gone, and large programs: those are to be read on their own, once.
//! Cost    sources that have not changed are not read again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use unpick_analyses::interleaving_patterns::code_module;
use unpick_correlations::{Choices, Correlation, conclude};
use unpick_recording::Recording;

use super::CACHE;
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
    modules: BTreeSet<String>,
    files: BTreeSet<PathBuf>,
    pub correlations: Vec<Correlation>,
    /// Why there are fewer than there could be.
    pub remark: Option<String>,
}

impl OfProgram {
    pub fn new(store: &Path, quiet: bool) -> OfProgram {
        OfProgram {
            store: store.to_owned(),
            quiet,
            modules: BTreeSet::new(),
            files: BTreeSet::new(),
            correlations: Vec::new(),
            remark: None,
        }
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
        if is_new {
            self.read();
        }
        is_new
    }

    fn read(&mut self) {
        if self.files.len() > MOST_FILES {
            self.remark = Some(format!(
                "{} source files are too many to read by the way: unpick correlate --json correlations.json SOURCES, then --correlations correlations.json",
                self.files.len()
            ));
            return;
        }
        let paths = self.files.iter().cloned().collect();
        let effort = Effort { jobs: None, time_limit: TIME_LIMIT, quiet: self.quiet };
        let sources = reading::read(paths, Some(self.store.join(CACHE)), &effort);
        match sources {
            Ok(sources) => {
                self.remark = sources.missing.first().map(|what| not_all(what));
                let list = conclude(sources.sets, &Choices::default(), sources.missing);
                self.correlations = list.correlations;
            }
            Err(problem) => self.remark = Some(not_all(&problem.to_string())),
        }
    }
}

fn not_all(why: &str) -> String {
    let why = why.trim_start_matches("error: ").trim_end();
    format!("not all variables that belong together are known: {why}")
}
