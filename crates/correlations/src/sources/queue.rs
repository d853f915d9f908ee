//! Reads all C and C++ files that have changed, by several workers.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::cache::Cache;
use super::files::SourceFiles;
use super::flags::Flags;
use super::includes::Includes;
use super::shared_headers::Group;
use super::worker::{Failure, Worker};
use super::{Request, Sources};
use crate::access_sets::FileSets;
use crate::access_sets::c::{CJob, hash};

/// Files that have changed below which headers are parsed with them, and not precompiled.
const FEW: usize = 4;

/// One file to compile.
pub struct Unit {
    pub file: PathBuf,
    pub arguments: Vec<String>,
    /// Where its includes are looked for.
    pub folders: Vec<PathBuf>,
    /// Headers of the code base that it brings.
    pub closure: BTreeSet<PathBuf>,
    key: u64,
}

impl Unit {
    pub fn new(file: &Path, flags: &Flags, files: &SourceFiles, includes: &mut Includes) -> Self {
        let arguments = flags.of(file);
        let folders = include_folders(&arguments);
        let mut closure = includes.closure(file, &folders);
        closure.retain(|header| files.roots.iter().any(|root| header.starts_with(root)));
        let key = includes.hash_of(file, &closure) ^ hash(arguments.join("\0").as_bytes());
        Self { file: file.to_path_buf(), arguments, folders, closure, key }
    }

    pub fn extension(&self) -> String {
        self.file.extension().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn name(&self) -> String {
        self.file.display().to_string()
    }

    fn size(&self) -> u64 {
        std::fs::metadata(&self.file).map_or(0, |data| data.len())
    }
}

fn include_folders(arguments: &[String]) -> Vec<PathBuf> {
    const FLAGS: [&str; 3] = ["-I", "-iquote", "-isystem"];
    let base = arguments.iter().find_map(|word| word.strip_prefix("-working-directory="));
    let base = PathBuf::from(base.unwrap_or_default());
    let mut folders = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(rest) = FLAGS.iter().find_map(|flag| word.strip_prefix(flag)) else { continue };
        let folder = if rest.is_empty() { words.next().map(String::as_str) } else { Some(rest) };
        folders.extend(folder.map(|folder| base.join(folder)));
    }
    folders
}

/// Adds the access sets of all units to the sources.
pub fn read_all(
    request: &Request<'_>,
    roots: &[PathBuf],
    units: Vec<Unit>,
    cache: &Cache,
    includes: &mut Includes,
    sources: &mut Sources,
) {
    let mut sets: Vec<Option<FileSets>> =
        units.iter().map(|unit| cache.get(&unit.name(), unit.key)).collect();
    sources.files_unchanged = sets.iter().flatten().count();
    let mut open: Vec<usize> = (0..units.len()).filter(|&at| sets[at].is_none()).collect();
    // The largest first, so that none of them is left for the end.
    open.sort_by_key(|&at| (std::cmp::Reverse(units[at].size()), at));
    let run = Run { request, roots, units: &units, cache };
    let aside = tempfile::tempdir().ok();
    let (precompiled, headers) =
        run.shared_headers(&open, aside.as_ref().map(tempfile::TempDir::path), includes);
    for (at, answer) in run.read_open(&open, &precompiled) {
        match answer {
            Ok(read) => sets[at] = Some(read),
            Err(Failure::File(why)) => {
                sources.missing.push(format!("{}: not read: {why}", units[at].name()));
            }
            Err(Failure::All(why)) => {
                sources.missing.push(why);
                break;
            }
        }
    }
    for read in headers.into_iter().chain(sets.into_iter().flatten()) {
        sources.missing.extend(told_errors(&read));
        sources.sets.push(read);
    }
}

/// What a user is told of a file with errors.
fn told_errors(read: &FileSets) -> Option<String> {
    let first = read.errors.first()?;
    let rest = match read.error_count - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    Some(format!("{first}{rest}"))
}

struct Run<'a> {
    request: &'a Request<'a>,
    roots: &'a [PathBuf],
    units: &'a [Unit],
    cache: &'a Cache,
}

impl Run<'_> {
    /// Precompiled headers by the place of the unit they are for, and the functions that are in headers.
    fn shared_headers(
        &self,
        open: &[usize],
        aside: Option<&Path>,
        includes: &mut Includes,
    ) -> (HashMap<usize, PathBuf>, Vec<FileSets>) {
        let (mut precompiled, mut headers) = (HashMap::new(), Vec::new());
        let Some(aside) = aside else { return (precompiled, headers) };
        let all: Vec<usize> = (0..self.units.len()).collect();
        for (number, group) in Group::of(self.units, &all).iter().enumerate() {
            let text = group.header(self.units, includes);
            let key = hash(text.as_bytes())
                ^ hash(group.arguments.join("\0").as_bytes())
                ^ includes.hash_of(Path::new(""), &group.closure(self.units));
            let name = format!("headers of {} {}", group.extension, group.arguments.join(" "));
            let members: Vec<usize> =
                group.members.iter().copied().filter(|at| open.contains(at)).collect();
            let known = self.cache.get(&name, key);
            let goal = (members.len() >= FEW).then(|| aside.join(format!("{number}.pch")));
            if let (Some(known), None) = (&known, &goal) {
                headers.push(known.clone());
                continue;
            }
            let header = aside.join(format!("headers{number}.h"));
            let Some(read) = self.read_header(group, &header, &text, goal.clone()) else {
                continue;
            };
            self.cache.keep(&name, key, &read);
            headers.push(read);
            let goal = goal.filter(|goal| goal.is_file());
            precompiled.extend(goal.into_iter().flat_map(|goal| {
                members.iter().map(move |&at| (at, goal.clone())).collect::<Vec<_>>()
            }));
        }
        (precompiled, headers)
    }

    fn read_header(
        &self,
        group: &Group,
        header: &Path,
        text: &str,
        save: Option<PathBuf>,
    ) -> Option<FileSets> {
        std::fs::write(header, text).ok()?;
        let mut arguments = group.arguments.clone();
        arguments.extend(["-x".to_owned(), group.language().to_owned()]);
        let job = CJob {
            file: header.to_path_buf(),
            arguments,
            header_folders: self.roots.to_vec(),
            precompiled: None,
            save,
        };
        let read = Worker::new(&self.request.worker).read(&job);
        // Errors in it come again in the files, if they matter.
        read.ok().map(|read| FileSets { errors: Vec::new(), error_count: 0, ..read })
    }

    fn read_open(
        &self,
        open: &[usize],
        precompiled: &HashMap<usize, PathBuf>,
    ) -> Vec<(usize, Result<FileSets, Failure>)> {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let answers = Mutex::new(Vec::new());
        let work = || {
            let mut worker = Worker::new(&self.request.worker);
            while let Some(&at) = open.get(next.fetch_add(1, Relaxed)) {
                let answer = self.read_unit(&mut worker, at, precompiled.get(&at));
                let is_end = matches!(answer, Err(Failure::All(_)));
                answers.lock().expect("nobody panics with it").push((at, answer));
                (self.request.progress)(done.fetch_add(1, Relaxed) + 1, open.len());
                if is_end {
                    next.store(open.len(), Relaxed);
                }
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.request.jobs.clamp(1, open.len().max(1)) {
                scope.spawn(work);
            }
        });
        let mut answers = answers.into_inner().expect("nobody panics with it");
        answers.sort_by_key(|(at, _)| *at);
        answers
    }

    fn read_unit(
        &self,
        worker: &mut Worker<'_>,
        at: usize,
        precompiled: Option<&PathBuf>,
    ) -> Result<FileSets, Failure> {
        let unit = &self.units[at];
        let mut job = CJob {
            file: unit.file.clone(),
            arguments: unit.arguments.clone(),
            header_folders: self.roots.to_vec(),
            precompiled: precompiled.cloned(),
            save: None,
        };
        let mut read = worker.read(&job);
        let is_clean = read.as_ref().is_ok_and(|read| read.error_count == 0);
        if !is_clean && job.precompiled.take().is_some() {
            let errors = read.as_ref().map_or(usize::MAX, |read| read.error_count);
            match worker.read(&job) {
                Ok(again) if again.error_count < errors => read = Ok(again),
                _ => {}
            }
        }
        if let Ok(read) = &read {
            self.cache.keep(&unit.name(), unit.key, read);
        }
        read
    }
}
