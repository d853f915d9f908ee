//! What of a store goes when there is too much of it.
//!
//! Takes   what is in a store, and limits.      Gives  what has to go, the oldest first; removes it.
//! Must not know  who asks, and what is told about it.
//!
//! Recordings go first: patterns are all that rankings in the same windows need, and much smaller. Hunts go as a whole: a ranking over
//! some of the runs would be another one.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use unpick_problem::Problem;
use unpick_recording::{RunInfo, is_event_file};

use crate::in_use::{Alone, hold_alone, remove_at_once, remove_doomed};
use crate::kept::drop_recordings;
use crate::store::Store;

/// How much may stay.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    pub age: Option<Duration>,
    pub bytes: Option<u64>,
    pub runs: Option<usize>,
    pub hunts: Option<usize>,
    /// Nothing else goes.
    pub recordings_only: bool,
    /// The hunt that began last stays as it is.
    pub spare_last_hunt: bool,
}

/// Runs that go together: those of a hunt, or a single one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The number of the hunt, or of the run.
    pub number: u64,
    pub is_hunt: bool,
    pub runs: Vec<PathBuf>,
    /// When the last of them ended, in milliseconds since 1970.
    pub ended_ms: u64,
    pub recording_bytes: u64,
    pub other_bytes: u64,
}

/// What goes of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Share {
    Recordings,
    All,
}

/// Something that has to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    pub batch: Batch,
    pub share: Share,
}

impl Batch {
    fn add(&mut self, run: PathBuf) {
        for path in entries_of(&run) {
            let bytes = bytes_below(&path);
            if is_event_file(&path) {
                self.recording_bytes += bytes;
            } else {
                self.other_bytes += bytes;
            }
        }
        self.runs.push(run);
    }

    fn bytes_of(&self, share: Share) -> u64 {
        match share {
            Share::Recordings => self.recording_bytes,
            Share::All => self.recording_bytes + self.other_bytes,
        }
    }
}

impl Removal {
    /// What is free afterwards.
    pub fn bytes(&self) -> u64 {
        self.batch.bytes_of(self.share)
    }
}

/// What has to go so that the rest is within the limits; the oldest first.
pub fn plan(mut batches: Vec<Batch>, limits: &Limits, now_ms: u64) -> Vec<Removal> {
    batches.sort_by_key(|batch| (batch.ended_ms, batch.number));
    let mut plan = Plan { doomed: vec![None; batches.len()], batches, limits };
    plan.by_age(now_ms);
    plan.by_hunts();
    plan.by_runs();
    plan.by_bytes();
    let doomed = plan.batches.into_iter().zip(plan.doomed);
    let removals = doomed.filter_map(|(batch, share)| Some(Removal { batch, share: share? }));
    removals.filter(|removal| removal.share == Share::All || removal.bytes() > 0).collect()
}

struct Plan<'l> {
    /// Oldest first.
    batches: Vec<Batch>,
    doomed: Vec<Option<Share>>,
    limits: &'l Limits,
}

impl Plan<'_> {
    fn by_age(&mut self, now_ms: u64) {
        let Some(age) = self.limits.age else { return };
        for at in self.removable() {
            let ago = Duration::from_millis(now_ms.saturating_sub(self.batches[at].ended_ms));
            if ago > age {
                self.doom(at, Share::All);
            }
        }
    }

    fn by_hunts(&mut self) {
        let Some(most) = self.limits.hunts else { return };
        let stays = |plan: &Self, at: usize| plan.batches[at].is_hunt && plan.stays(at);
        let mut left = (0..self.batches.len()).filter(|&at| stays(self, at)).count();
        for at in self.removable() {
            if left > most && stays(self, at) {
                self.doom(at, Share::All);
                left -= 1;
            }
        }
    }

    fn by_runs(&mut self) {
        let Some(most) = self.limits.runs else { return };
        let runs = |plan: &Self, at: usize| {
            if plan.stays(at) { plan.batches[at].runs.len() } else { 0 }
        };
        let mut left: usize = (0..self.batches.len()).map(|at| runs(self, at)).sum();
        for at in self.removable() {
            let here = runs(self, at);
            if left > most && here > 0 {
                self.doom(at, Share::All);
                left -= here;
            }
        }
    }

    fn by_bytes(&mut self) {
        let Some(most) = self.limits.bytes else { return };
        let mut left: u64 = (0..self.batches.len()).map(|at| self.bytes_left(at)).sum();
        for share in [Share::Recordings, Share::All] {
            for at in self.removable() {
                if left > most {
                    left -= self.bytes_left(at);
                    self.doom(at, share);
                    left += self.bytes_left(at);
                }
            }
        }
    }

    fn doom(&mut self, at: usize, share: Share) {
        let share = if self.limits.recordings_only { Share::Recordings } else { share };
        self.doomed[at] = self.doomed[at].max(Some(share));
    }

    /// Places of batches that may go, oldest first.
    fn removable(&self) -> Vec<usize> {
        let hunts = self.batches.iter().filter(|batch| batch.is_hunt);
        let last = hunts.map(|batch| batch.number).max();
        let is_spared = |batch: &Batch| {
            self.limits.spare_last_hunt && batch.is_hunt && Some(batch.number) == last
        };
        (0..self.batches.len()).filter(|&at| !is_spared(&self.batches[at])).collect()
    }

    /// Whether its runs stay; if only recordings go, those that lose theirs count as gone.
    fn stays(&self, at: usize) -> bool {
        match self.doomed[at] {
            None => true,
            Some(share) => share == Share::Recordings && !self.limits.recordings_only,
        }
    }

    fn bytes_left(&self, at: usize) -> u64 {
        let batch = &self.batches[at];
        batch.bytes_of(Share::All) - self.doomed[at].map_or(0, |share| batch.bytes_of(share))
    }
}

impl Store {
    /// Holds the store so that nobody adds runs; a problem if somebody does.
    pub fn alone(&self) -> Result<Alone, Problem> {
        let runs = self.runs_folder();
        let alone = hold_alone(&runs)?;
        remove_doomed(&runs).map_err(|error| cannot_remove(&runs, &error))?;
        Ok(alone)
    }

    /// What is in it, with sizes.
    pub fn batches(&self) -> Vec<Batch> {
        let mut batches: BTreeMap<(u64, bool), Batch> = BTreeMap::new();
        for (number, folder) in self.numbered() {
            // What cannot be read is a run of its own, as old as can be.
            let info = RunInfo::read(&folder).ok();
            let hunt = info.as_ref().and_then(|info| info.hunt);
            let key = (hunt.unwrap_or(number), hunt.is_some());
            let batch = batches.entry(key).or_insert_with(|| Batch {
                number: key.0,
                is_hunt: key.1,
                runs: Vec::new(),
                ended_ms: 0,
                recording_bytes: 0,
                other_bytes: 0,
            });
            let ended = info.map_or(0, |info| info.started_ms.saturating_add(info.duration_ms));
            batch.ended_ms = batch.ended_ms.max(ended);
            batch.add(folder);
        }
        batches.into_values().collect()
    }

    /// Removes what was planned; nobody may add runs meanwhile.
    pub fn remove(&self, removal: &Removal, _alone: &Alone) -> Result<(), Problem> {
        let runs = self.runs_folder();
        for folder in &removal.batch.runs {
            match removal.share {
                Share::Recordings => drop_recordings(folder)?,
                Share::All => {
                    remove_at_once(&runs, folder).map_err(|error| cannot_remove(folder, &error))?
                }
            }
        }
        if removal.share == Share::All && removal.batch.is_hunt {
            let folder = self.hunt_folder(removal.batch.number);
            let removed = fs::remove_dir_all(&folder);
            let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
            removed
                .or_else(|error| if is_gone(&error) { Ok(()) } else { Err(error) })
                .map_err(|error| cannot_remove(&folder, &error))?;
        }
        Ok(())
    }
}

/// What a file, or all files of a folder, have in bytes. What cannot be looked at counts as nothing.
fn bytes_below(path: &Path) -> u64 {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_dir() => entries_of(path).map(|entry| bytes_below(&entry)).sum(),
        Ok(about) => about.len(),
        Err(_) => 0,
    }
}

fn entries_of(folder: &Path) -> impl Iterator<Item = PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn cannot_remove(path: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("a run cannot be removed")
        .at("folder", path.display())
        .why(error)
        .next("check that you may write to the store; what was removed before stays removed")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_000_000;

    /// Hunts 1, 5 and 8 and the single run 4, the oldest first; 100 bytes of recordings and 10 of the rest each.
    fn batches() -> Vec<Batch> {
        let batch = |number, is_hunt, runs, ended_ms| Batch {
            number,
            is_hunt,
            runs: vec![PathBuf::new(); runs],
            ended_ms,
            recording_bytes: 100,
            other_bytes: 10,
        };
        vec![
            batch(8, true, 2, 900_000),
            batch(1, true, 3, 100_000),
            batch(5, true, 3, 500_000),
            batch(4, false, 1, 300_000),
        ]
    }

    fn planned(limits: Limits) -> Vec<(u64, Share)> {
        let plan = plan(batches(), &limits, NOW);
        plan.into_iter().map(|removal| (removal.batch.number, removal.share)).collect()
    }

    #[test]
    fn without_limits_everything_stays() {
        assert_eq!(planned(Limits::default()), []);
    }

    #[test]
    fn what_is_too_old_goes_as_a_whole() {
        let limits = Limits { age: Some(Duration::from_secs(600)), ..Limits::default() };
        assert_eq!(planned(limits), [(1, Share::All), (4, Share::All)]);
    }

    #[test]
    fn the_newest_hunts_and_runs_stay() {
        let limits = Limits { hunts: Some(1), ..Limits::default() };
        assert_eq!(planned(limits), [(1, Share::All), (5, Share::All)]);
        let limits = Limits { runs: Some(5), ..Limits::default() };
        assert_eq!(planned(limits), [(1, Share::All), (4, Share::All)]);
        let limits = Limits { runs: Some(9), ..Limits::default() };
        assert_eq!(planned(limits), []);
    }

    #[test]
    fn of_a_large_store_recordings_go_first_and_hunts_only_if_that_is_not_enough() {
        let limits = |bytes| Limits { bytes: Some(bytes), ..Limits::default() };
        assert_eq!(planned(limits(440)), []);
        assert_eq!(planned(limits(300)), [(1, Share::Recordings), (4, Share::Recordings)]);
        let all_but_last = [1, 4, 5].map(|number| (number, Share::All));
        assert_eq!(planned(limits(10)), [&all_but_last[..], &[(8, Share::Recordings)]].concat());
    }

    #[test]
    fn recordings_only_means_that_nothing_else_goes() {
        let limits =
            Limits { bytes: Some(0), hunts: Some(0), recordings_only: true, ..Limits::default() };
        assert_eq!(planned(limits), [1, 4, 5, 8].map(|number| (number, Share::Recordings)));
        let limits = Limits { runs: Some(5), recordings_only: true, ..Limits::default() };
        assert_eq!(planned(limits), [(1, Share::Recordings), (4, Share::Recordings)]);
    }

    #[test]
    fn the_last_hunt_can_be_spared() {
        let limits = Limits { bytes: Some(0), spare_last_hunt: true, ..Limits::default() };
        assert_eq!(planned(limits), [1, 4, 5].map(|number| (number, Share::All)));
    }

    #[test]
    fn what_has_no_recordings_is_not_named_for_them() {
        let mut batches = batches();
        batches[1].recording_bytes = 0;
        let limits = Limits { bytes: Some(0), recordings_only: true, ..Limits::default() };
        let plan = plan(batches, &limits, NOW);
        assert!(plan.iter().all(|removal| removal.batch.number != 1));
    }

    #[test]
    fn nobody_removes_runs_while_somebody_adds_some() {
        let folder = tempfile::tempdir().unwrap();
        let adding = Store::at(folder.path());
        let removing = Store::at(folder.path());
        assert!(removing.alone().unwrap_err().to_string().contains("no runs to remove"));
        let run = adding.new_run().unwrap();
        let problem = removing.alone().unwrap_err().to_string();
        assert!(problem.contains("the store is in use"), "{problem}");
        drop(adding);
        fs::create_dir(run.parent().unwrap().join("removing-0009")).unwrap();
        let alone = removing.alone().unwrap();
        fs::write(run.join("1-0.events"), [0; 10]).unwrap();
        let batch = removing.batches().pop().unwrap();
        assert_eq!((batch.number, batch.is_hunt, batch.recording_bytes), (1, false, 10));
        let recordings = Removal { batch: batch.clone(), share: Share::Recordings };
        removing.remove(&recordings, &alone).unwrap();
        assert!(run.exists() && !run.join("1-0.events").exists());
        removing.remove(&Removal { batch, share: Share::All }, &alone).unwrap();
        assert_eq!(fs::read_dir(run.parent().unwrap()).unwrap().count(), 0);
    }
}
