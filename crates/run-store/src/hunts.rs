//! Hunts of a store. A hunt has the number of its first run; what belongs to it as a whole is in `hunts/N`.
//!
//! Takes   a store.      Gives  its hunts with their runs, the oldest first; which of them is meant if none is named; their folders.
//! Misses  runs that cannot be read: they are named beside.

use std::collections::BTreeMap;
use std::path::PathBuf;

use unpick_events::Label;
use unpick_problem::Problem;
use unpick_recording::RunInfo;

use crate::store::Store;
use crate::stored_run::StoredRun;

const HUNTS: &str = "hunts";

/// A hunt, with its runs by number; some may still run.
#[derive(Debug, Clone)]
pub struct StoredHunt {
    pub number: u64,
    pub runs: Vec<StoredRun>,
}

impl StoredHunt {
    /// How many of its runs have this label.
    pub fn count(&self, label: Label) -> usize {
        self.runs.iter().filter(|run| run.info.label == Some(label)).count()
    }
}

impl Store {
    /// The folder for what belongs to a hunt as a whole; it need not be there.
    pub fn hunt_folder(&self, hunt: u64) -> PathBuf {
        self.folder().join(HUNTS).join(hunt.to_string())
    }

    /// All hunts, the oldest first, and which runs of the store cannot be read.
    pub fn hunts(&self) -> (Vec<StoredHunt>, Vec<Problem>) {
        let (runs, problems) = self.runs();
        let mut hunts: BTreeMap<u64, StoredHunt> = BTreeMap::new();
        for run in runs {
            if let Some(number) = run.info.hunt {
                let new = || StoredHunt { number, runs: Vec::new() };
                hunts.entry(number).or_insert_with(new).runs.push(run);
            }
        }
        (hunts.into_values().collect(), problems)
    }

    /// The hunt to look at if none is named: the latest in which a run failed; none: no run has failed.
    pub fn latest_failing_hunt(&self) -> Option<u64> {
        let infos = self.numbered().into_iter().rev();
        let mut infos = infos.filter_map(|(_, folder)| RunInfo::read(&folder).ok());
        infos.find(|info| info.hunt.is_some() && info.label == Some(Label::Fail))?.hunt
    }

    pub(crate) fn no_hunt(&self, hunt: Option<u64>) -> Problem {
        let numbers: Vec<_> = self.hunts().0.iter().map(|hunt| hunt.number.to_string()).collect();
        let Some(hunt) = hunt.filter(|_| !numbers.is_empty()) else { return self.no_hunts() };
        Problem::usage(format!("there is no hunt {hunt}"))
            .at("folder", self.folder().display())
            .why(format!(
                "a hunt has the number of its first run; there are: {}",
                numbers.join(", ")
            ))
            .next("see them: unpick hunts")
    }

    fn no_hunts(&self) -> Problem {
        Problem::usage("there are no hunts yet")
            .at("folder", self.folder().display())
            .why("no hunt in this store has a run that has ended; unpick record does not judge runs")
            .next("hunt: unpick hunt -- PROGRAM; see which runs there are: unpick runs; or name the store: --store DIR")
    }
}
