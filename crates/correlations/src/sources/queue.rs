//! Reads all C and C++ files that have changed, by several workers.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rustc_hash::FxHashSet;

use super::bundles::{self, Bundle, Outcome, Reading};
use super::cache::Cache;
use super::claims::{self, Claim};
use super::files::SourceFiles;
use super::flags::Flags;
use super::includes::{Alike, Closure, Includes, Open};
use super::shared_headers::Group;
use super::worker::{Failure, Worker};
use super::{Request, Sources};
use crate::access_sets::c::{CJob, hash};
use crate::access_sets::{FileSets, split};

/// Files of C++ that have changed below which headers are parsed with them, and not precompiled.
const FEW: usize = 4;

/// How much longer than a file the headers of all files may take: without them each file takes longer.
const HEADERS_TAKE: u32 = 4;

/// One file to compile.
pub struct Unit {
    pub file: PathBuf,
    pub arguments: Vec<String>,
    /// Where its includes are looked for.
    pub folders: Vec<PathBuf>,
    /// Headers of the code base that it brings.
    pub closure: Closure,
    pub key: u64,
    pub bytes: usize,
}

impl Unit {
    pub fn new(file: &Path, flags: &Flags, files: &SourceFiles, includes: &mut Includes) -> Self {
        let arguments = flags.of(file);
        let folders = include_folders(&arguments);
        let closure = within(includes.closure(file, &folders), &files.roots);
        let key = includes.hash_of(file, &closure) ^ hash(arguments.join("\0").as_bytes());
        let bytes = includes.text(file).bytes;
        Self { file: file.to_path_buf(), arguments, folders, closure, key, bytes }
    }

    /// The file and the headers that it brings.
    pub fn all_files(&self) -> impl Iterator<Item = &Path> {
        self.closure.iter().map(AsRef::as_ref).chain(std::iter::once(self.file.as_path()))
    }

    /// Whether it brings the same headers if these folders are searched.
    pub fn is_same_with(
        &self,
        folders: &[PathBuf],
        alike: &mut Alike,
        includes: &mut Includes,
    ) -> bool {
        includes.are_alike(&self.file, &self.folders, folders, alike)
    }

    pub fn extension(&self) -> String {
        self.file.extension().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub fn is_c(&self) -> bool {
        self.extension() == "c"
    }

    pub fn name(&self) -> String {
        self.file.display().to_string()
    }
}

/// Those of the headers that belong to the code base.
fn within(mut headers: Closure, roots: &[PathBuf]) -> Closure {
    headers.retain(|header| roots.iter().any(|root| header.starts_with(root)));
    headers
}

pub fn include_folders(arguments: &[String]) -> Vec<PathBuf> {
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
    let is_open: Vec<bool> = sets.iter().map(Option::is_none).collect();
    let files: FxHashSet<&Path> = units.iter().flat_map(Unit::all_files).collect();
    let open = includes.open(&files);
    let claims = claims::contested(&units, &files, &open, includes);
    let run = Run { request, roots, units: &units, cache, open: &open, claims: &claims };
    let aside = tempfile::tempdir().ok();
    let mut plan = run.plan(&is_open, aside.as_ref().map(tempfile::TempDir::path), includes);
    // The largest first, so that none of them is left for the end.
    let bytes = |bundle: &Bundle| bundle.members.iter().map(|&at| units[at].bytes).sum::<usize>();
    plan.bundles.sort_by_key(|bundle| std::cmp::Reverse(bytes(bundle)));
    let outcome = run.read(&plan);
    for (at, answer) in outcome.units {
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
    let headers = plan.headers.into_iter().chain(outcome.headers);
    for read in headers.chain(sets.into_iter().flatten()) {
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
    open: &'a Open,
    /// Of each unit.
    claims: &'a [Vec<Claim>],
}

/// What is to be read, and what is known of headers before.
#[derive(Default)]
struct Plan {
    bundles: Vec<Bundle>,
    headers: Vec<FileSets>,
    /// Where headers are kept that come with a group's bundles: name and key.
    groups: Vec<(String, u64)>,
}

impl Run<'_> {
    fn plan(&self, is_open: &[bool], aside: Option<&Path>, includes: &mut Includes) -> Plan {
        let mut plan = Plan::default();
        let all: Vec<usize> = (0..self.units.len()).collect();
        let mut is_alone = is_open.to_vec();
        let groups = Group::of(self.units, includes);
        for (number, group) in groups.iter().enumerate() {
            for &at in &group.members {
                is_alone[at] = false;
            }
            self.plan_group(group, number, is_open, aside, includes, &mut plan);
        }
        let alone = all.into_iter().filter(|&at| is_alone[at]);
        let alone = alone.map(|at| Bundle {
            members: vec![at],
            arguments: self.units[at].arguments.clone(),
            precompiled: None,
            group: None,
        });
        plan.bundles.extend(alone);
        plan
    }

    /// Headers are precompiled if several files of C++ need them, come with the bundles if those have all of them, and else are
    /// read by themselves unless they are known.
    fn plan_group(
        &self,
        group: &Group,
        number: usize,
        is_open: &[bool],
        aside: Option<&Path>,
        includes: &mut Includes,
        plan: &mut Plan,
    ) {
        let members: Vec<usize> = group.members.iter().copied().filter(|&at| is_open[at]).collect();
        let bundles = bundles::cut(self.units, &members, self.request.jobs, self.claims);
        let text = group.header(self.units, includes);
        let key = hash(text.as_bytes())
            ^ hash(group.arguments.join("\0").as_bytes())
            ^ includes.hash_of(Path::new(""), &group.closure(self.units));
        let name = format!("headers of {} {}", group.extension, group.arguments.join(" "));
        let is_pch = bundles.len() >= FEW && !self.units[members[0]].is_c();
        let goal = aside.filter(|_| is_pch).map(|aside| aside.join(format!("{number}.pch")));
        let known: Option<FileSets> = self.cache.get(&name, key);
        let is_whole = members.len() == group.members.len();
        let comes_along = known.is_none() && goal.is_none() && is_whole;
        if let (None, Some(known)) = (&goal, &known) {
            plan.headers.push(known.clone());
        } else if !comes_along && let Some(aside) = aside {
            let header = aside.join(format!("headers{number}.h"));
            let read = self.read_header(group, &header, &text, goal.clone());
            if let Some(read) = &read {
                self.cache.keep(&name, key, read);
            }
            plan.headers.extend(read.or(known));
        }
        let precompiled = goal.filter(|goal| goal.is_file());
        let place = comes_along.then(|| {
            plan.groups.push((name, key));
            plan.groups.len() - 1
        });
        plan.bundles.extend(bundles.into_iter().map(|members| Bundle {
            members,
            arguments: group.arguments.clone(),
            precompiled: precompiled.clone(),
            group: place,
        }));
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
            files: vec![header.to_path_buf()],
            once: Vec::new(),
            arguments,
            header_folders: self.roots.to_vec(),
            precompiled: None,
            save,
        };
        let limit = self.request.time_limit * HEADERS_TAKE;
        let read = Worker::new(&self.request.worker, limit).read(&job).ok()?.files.pop()?;
        // Errors in it come again in the files, if they matter.
        Some(FileSets { errors: Vec::new(), error_count: 0, ..read })
    }

    fn worker(&self) -> Worker<'_> {
        Worker::new(&self.request.worker, self.request.time_limit)
    }

    /// All bundles, by several workers; what they bring of headers is kept.
    fn read(&self, plan: &Plan) -> Outcome {
        let known: HashSet<u64> = plan
            .headers
            .iter()
            .flat_map(|sets| sets.functions.iter().map(|function| function.key))
            .collect();
        let (units, roots, cache, once) = (self.units, self.roots, self.cache, &self.open.once);
        let reading = Reading { units, roots, cache, once, known: &known };
        let outcomes = self.read_bundles(&reading, &plan.bundles);
        let mut all = Outcome::default();
        let mut headers: Vec<Vec<FileSets>> = plan.groups.iter().map(|_| Vec::new()).collect();
        for (bundle, outcome) in outcomes {
            all.units.extend(outcome.units);
            if let Some(group) = plan.bundles[bundle].group {
                headers[group].extend(outcome.headers);
            }
        }
        all.units.sort_by_key(|(at, _)| *at);
        for ((name, key), sets) in plan.groups.iter().zip(headers) {
            let sets = split::joined(&sets);
            self.cache.keep(name, *key, &sets);
            all.headers.push(sets);
        }
        all
    }

    /// In the order of the bundles.
    fn read_bundles(&self, reading: &Reading<'_>, bundles: &[Bundle]) -> Vec<(usize, Outcome)> {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let files: usize = bundles.iter().map(|bundle| bundle.members.len()).sum();
        let outcomes = Mutex::new(Vec::new());
        let work = || {
            let mut worker = self.worker();
            loop {
                let place = next.fetch_add(1, Relaxed);
                let Some(bundle) = bundles.get(place) else { break };
                let outcome = reading.read(&mut worker, bundle);
                let is_end = |answer: &(usize, Result<FileSets, Failure>)| {
                    matches!(answer.1, Err(Failure::All(_)))
                };
                if outcome.units.iter().any(is_end) {
                    next.store(bundles.len(), Relaxed);
                }
                outcomes.lock().expect("nobody panics with it").push((place, outcome));
                let members = bundle.members.len();
                (self.request.progress)(done.fetch_add(members, Relaxed) + members, files);
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..self.request.jobs.clamp(1, bundles.len().max(1)) {
                scope.spawn(work);
            }
        });
        let mut outcomes = outcomes.into_inner().expect("nobody panics with it");
        outcomes.sort_by_key(|(place, _)| *place);
        outcomes
    }
}
