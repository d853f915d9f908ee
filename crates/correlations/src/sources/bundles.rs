//! Which files are read as one translation unit, and what is done if they do not get on.
//!
//! Takes   units that are compiled alike.      Gives  access sets per unit, as if each had been read alone.
//! Misses  what one file's declarations silently do to another: overloads, `using namespace`. Everything that is an error is seen.
//! Cost    the headers that the units share are read once per bundle, not once per unit.
//!
//! What comes behind an error of syntax may be swallowed by it, and is read again without it.
//! Units with an error in themselves or in a header they bring are read again, with the others of that kind, as long as at least a third
//! of them gets on; then alone. A bundle that ends its worker is divided.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::cache::Cache;
use super::claims::Claim;
use super::queue::Unit;
use super::seating::{Guest, seat};
use super::worker::{Failure, Worker};
use crate::access_sets::c::{CJob, Parsed};
use crate::access_sets::{FileSets, split};

/// Bytes of sources in a bundle of C; each takes about 15 bytes of memory.
const LARGEST: usize = 12 << 20;
/// The same for C++, which takes more, and whose files get on less well the more of them there are.
const LARGEST_OF_CPP: usize = 4 << 20;
/// Bytes below which a bundle is not divided to keep all cores busy.
const SMALLEST: usize = 2 << 20;
/// Parts of a bundle that cannot be read as a whole.
const PARTS: usize = 8;

/// Units that are read together again after errors, or apart from others for what they define, and not one by one.
pub const WORTH_IT: usize = 3;

/// Units that are read together.
pub struct Bundle {
    /// Places in the list of units.
    pub members: Vec<usize>,
    /// With which all of them are as with their own.
    pub arguments: Vec<String>,
    pub precompiled: Option<PathBuf>,
    /// The group whose headers come with it.
    pub group: Option<usize>,
}

/// Divides units into bundles.
pub fn cut(
    units: &[Unit],
    members: &[usize],
    jobs: usize,
    claims: &[Vec<Claim>],
) -> Vec<Vec<usize>> {
    let is_c = members.first().is_some_and(|&at| units[at].is_c());
    let largest = if is_c { LARGEST } else { LARGEST_OF_CPP };
    let total: usize = members.iter().map(|&at| units[at].bytes).sum();
    let parts = total.div_ceil(largest).max(jobs.min(total / SMALLEST)).max(1);
    // In C++ namespaces keep apart what has one name: of RocksDB's files none stands in another's way.
    let claimed = |at: usize| if is_c { claims[at].as_slice() } else { &[] };
    let guest = |&at: &usize| Guest { at, bytes: units[at].bytes, claims: claimed(at) };
    seat(members.iter().map(guest).collect(), parts)
}

/// What came of a bundle.
#[derive(Default)]
pub struct Outcome {
    pub units: Vec<(usize, Result<FileSets, Failure>)>,
    /// Functions of headers.
    pub headers: Vec<FileSets>,
}

/// Reads bundles with one worker.
pub struct Reading<'a> {
    pub units: &'a [Unit],
    pub roots: &'a [PathBuf],
    pub cache: &'a Cache,
    /// Headers that are read once, and do not see to it themselves.
    pub once: &'a HashSet<PathBuf>,
    /// Functions of headers that are known already, by key.
    pub known: &'a HashSet<u64>,
}

impl Reading<'_> {
    pub fn read(&self, worker: &mut Worker<'_>, bundle: &Bundle) -> Outcome {
        let mut outcome = Outcome::default();
        self.together(worker, bundle, &bundle.members, &mut outcome);
        outcome
    }

    fn together(
        &self,
        worker: &mut Worker<'_>,
        bundle: &Bundle,
        members: &[usize],
        outcome: &mut Outcome,
    ) {
        if let [one] = *members {
            outcome.units.push((one, self.alone(worker, one, bundle.precompiled.as_ref())));
            return;
        }
        let parsed = match worker.read(&self.job(members, bundle)) {
            Ok(parsed) if !parsed.faulty.iter().any(|file| is_unit(file)) => parsed,
            Err(Failure::All(why)) => {
                let all = members.iter().map(|&at| (at, Err(Failure::All(why.clone()))));
                outcome.units.extend(all);
                return;
            }
            Ok(_) | Err(Failure::File(_)) => {
                for part in members.chunks(members.len().div_ceil(PARTS)) {
                    self.together(worker, bundle, part, outcome);
                }
                return;
            }
        };
        let (members, behind) = match parsed.broken_at {
            Some(at) => members.split_at(at.saturating_sub(1)),
            None => (members, &[][..]),
        };
        self.behind_broken(worker, bundle, behind, outcome);
        let unclean = self.take_clean(members, parsed, bundle.group.is_some(), outcome);
        // Those that stood in each other's way are fewer each time; once hardly so, to go on would cost more than each of them alone.
        if 3 * unclean.len() <= 2 * members.len() && unclean.len() >= WORTH_IT {
            self.together(worker, bundle, &unclean, outcome);
        } else {
            for at in unclean {
                outcome.units.push((at, self.alone(worker, at, bundle.precompiled.as_ref())));
            }
        }
    }

    /// Files from the one before an error of syntax on: either of the two may be to blame, and the others were perhaps swallowed.
    fn behind_broken(
        &self,
        worker: &mut Worker<'_>,
        bundle: &Bundle,
        members: &[usize],
        outcome: &mut Outcome,
    ) {
        let (suspects, others) = members.split_at(members.len().min(2));
        for &at in suspects {
            outcome.units.push((at, self.alone(worker, at, bundle.precompiled.as_ref())));
        }
        if !others.is_empty() {
            self.together(worker, bundle, others, outcome);
        }
    }

    /// Keeps what is as if it had been read alone; gives the rest back.
    fn take_clean(
        &self,
        members: &[usize],
        parsed: Parsed,
        headers_are_wanted: bool,
        outcome: &mut Outcome,
    ) -> Vec<usize> {
        let faulty: HashSet<PathBuf> = parsed.faulty.into_iter().collect();
        let unknown =
            split::only(&parsed.headers, |function, _| !self.known.contains(&function.key));
        let mut unclean = Vec::new();
        for (&at, sets) in members.iter().zip(parsed.files) {
            let unit = &self.units[at];
            if sets.error_count > 0
                || unit.closure.iter().any(|header| faulty.contains(header.as_ref()))
            {
                unclean.push(at);
                continue;
            }
            let sets = if headers_are_wanted { sets } else { with_headers(unit, sets, &unknown) };
            self.cache.keep(&unit.name(), unit.key, &sets);
            outcome.units.push((at, Ok(sets)));
        }
        if headers_are_wanted {
            outcome.headers.push(unknown);
        }
        unclean
    }

    /// With a precompiled header, and without it if there are errors.
    fn alone(
        &self,
        worker: &mut Worker<'_>,
        at: usize,
        precompiled: Option<&PathBuf>,
    ) -> Result<FileSets, Failure> {
        let unit = &self.units[at];
        let mut read = only_one(worker.read(&self.job_alone(at, precompiled)));
        let is_clean = read.as_ref().is_ok_and(|read| read.error_count == 0);
        if !is_clean && precompiled.is_some() {
            let errors = read.as_ref().map_or(usize::MAX, |read| read.error_count);
            match only_one(worker.read(&self.job_alone(at, None))) {
                Ok(again) if again.error_count < errors => read = Ok(again),
                _ => {}
            }
        }
        if let Ok(read) = &read {
            self.cache.keep(&unit.name(), unit.key, read);
        }
        read
    }

    fn job(&self, members: &[usize], bundle: &Bundle) -> CJob {
        let once: BTreeSet<&Path> = members
            .iter()
            .filter(|_| bundle.precompiled.is_none())
            .flat_map(|&at| &self.units[at].closure)
            .map(AsRef::as_ref)
            .filter(|header| self.once.contains(*header))
            .collect();
        CJob {
            files: members.iter().map(|&at| self.units[at].file.clone()).collect(),
            once: once.into_iter().map(Path::to_path_buf).collect(),
            arguments: bundle.arguments.clone(),
            header_folders: self.roots.to_vec(),
            precompiled: bundle.precompiled.clone(),
            save: None,
        }
    }

    fn job_alone(&self, at: usize, precompiled: Option<&PathBuf>) -> CJob {
        let unit = &self.units[at];
        CJob {
            files: vec![unit.file.clone()],
            once: Vec::new(),
            arguments: unit.arguments.clone(),
            header_folders: self.roots.to_vec(),
            precompiled: precompiled.cloned(),
            save: None,
        }
    }
}

fn only_one(parsed: Result<Parsed, Failure>) -> Result<FileSets, Failure> {
    parsed.map(|mut parsed| parsed.files.pop().unwrap_or_default())
}

/// Whether it is neither source nor header: an open bracket is told at the end of everything.
fn is_unit(file: &Path) -> bool {
    !file.is_file()
}

fn with_headers(unit: &Unit, sets: FileSets, headers: &FileSets) -> FileSets {
    if headers.functions.is_empty() {
        return sets;
    }
    let brought = split::only(headers, |_, file| unit.closure.contains(Path::new(file)));
    if brought.functions.is_empty() { sets } else { split::joined([&sets, &brought]) }
}
