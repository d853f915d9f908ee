//! The folder of one run: `run.json`, and one event file per process image.
//!
//! Takes   a folder.      Gives  what was run, how it ended, and its recordings.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use unpick_events::Label;
use unpick_problem::Problem;

use crate::cancellation::Cancellation;
use crate::file_header::{FIELD_BYTES, FileHeader};
use crate::recording::Recording;

/// Name of the file that describes a run.
pub const RUN_FILE: &str = "run.json";
const EVENT_FILE_EXTENSION: &str = "events";

/// What `run.json` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInfo {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Where it ran.
    pub working_folder: PathBuf,
    /// Milliseconds since 1970.
    pub started_ms: u64,
    pub duration_ms: u64,
    pub outcome: Outcome,
    pub options: RunOptions,
    /// Seed of the delays.
    pub seed: u64,
    pub unpick_version: String,
    pub format_version: u32,
    /// The verdict on the run; none from `unpick record`, which judges nothing, and while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "label_by_name")]
    pub label: Option<Label>,
    /// What the verdict rests on, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The hunt it belongs to: the number of that hunt's first run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunt: Option<u64>,
    /// The words that named the command to Unpick, where they are not the command: `--cargo test bank::transfer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written_as: Option<Vec<String>>,
    /// The file it read as its standard input, by its whole path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<PathBuf>,
    /// What counted as failing; none from `unpick record`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_by: Option<JudgedBy>,
}

/// What counts as failing, in the words of the command line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct JudgedBy {
    /// Conditions as `--fail-if` takes them.
    pub fail_if: Vec<String>,
    /// A shell command, as `--oracle` takes it.
    pub oracle: Option<String>,
    /// A run that takes longer hangs.
    pub timeout_ms: u64,
    /// Each run had a working folder of its own.
    #[serde(default)]
    pub own_folder: bool,
}

/// A label as its name: `pass`, `fail`, `unusable`.
mod label_by_name {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
    use unpick_events::Label;

    pub fn serialize<S: Serializer>(label: &Option<Label>, to: S) -> Result<S::Ok, S::Error> {
        label.map(Label::name).serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Label>, D::Error> {
        let Some(name) = Option::<String>::deserialize(from)? else { return Ok(None) };
        let label = Label::from_name(&name);
        label.map(Some).ok_or_else(|| D::Error::custom(format!("there is no label `{name}`")))
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Exit {
        code: i32,
    },
    Signal {
        number: i32,
    },
    /// It is still running, or `unpick record` was killed before it ended.
    Unknown,
}

impl Outcome {
    /// The exit status a shell would give: 128 + n for signal n.
    pub fn exit_status(self) -> u8 {
        match self {
            Outcome::Exit { code } => code as u8,
            Outcome::Signal { number } => 128_u8.wrapping_add(number as u8),
            Outcome::Unknown => unpick_problem::exit::OWN_FAULT,
        }
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Outcome::Exit { code } => write!(f, "exit {code}"),
            Outcome::Signal { number } => write!(f, "killed by signal {number}"),
            Outcome::Unknown => f.write_str("unknown: still running, or its recorder was killed"),
        }
    }
}

/// What the runtime was asked to do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunOptions {
    /// Record every access to shared bytes.
    pub full: bool,
    /// Bytes of events per process.
    pub limit: u64,
    /// Probability of a delay at an access to shared bytes, in parts per million.
    pub delay_access_ppm: u32,
    /// The same at synchronisation.
    pub delay_sync_ppm: u32,
    /// The same at the start of a thread.
    pub delay_start_ppm: u32,
    /// Length of a delay, in nanoseconds; 0 = the thread only yields.
    pub delay_shortest_ns: u64,
    pub delay_longest_ns: u64,
    /// How many arrivals at most are delayed at chosen sites; the delay plan in the run folder says which.
    #[serde(default)]
    pub delay_targets: u32,
    /// The longest that all delays of a process take together, in nanoseconds; 0 = no bound.
    #[serde(default)]
    pub delay_budget_ns: u64,
}

impl RunOptions {
    pub fn has_no_delays(&self) -> bool {
        let places = [self.delay_access_ppm, self.delay_sync_ppm, self.delay_start_ppm];
        places == [0; 3] && self.delay_targets == 0
    }
}

/// A run on disk.
#[derive(Debug, Clone)]
pub struct Run {
    folder: PathBuf,
    info: RunInfo,
    event_files: Vec<PathBuf>,
}

impl Run {
    pub fn open(folder: impl AsRef<Path>) -> Result<Run, Problem> {
        let folder = folder.as_ref().to_owned();
        let info = RunInfo::read(&folder)?;
        let event_files = event_files(&folder).map_err(|error| cannot_list(&folder, &error))?;
        Ok(Run { folder, info, event_files: begun(event_files) })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn info(&self) -> &RunInfo {
        &self.info
    }

    /// The event files, one per process image that came to record anything, by name.
    pub fn event_files(&self) -> &[PathBuf] {
        &self.event_files
    }

    /// Opens the recordings one after the other.
    pub fn recordings(&self) -> impl Iterator<Item = Result<Recording, Problem>> {
        self.event_files.iter().map(Recording::open)
    }

    /// The same; see [`Recording::open_cancellable`].
    pub fn recordings_cancellable(
        &self,
        cancellation: &Cancellation,
    ) -> impl Iterator<Item = Result<Recording, Problem>> {
        self.event_files.iter().map(|path| Recording::open_cancellable(path, cancellation))
    }
}

impl RunInfo {
    pub fn read(folder: &Path) -> Result<RunInfo, Problem> {
        let path = folder.join(RUN_FILE);
        let text = fs::read_to_string(&path).map_err(|error| no_run(&path, &error))?;
        serde_json::from_str(&text).map_err(|error| match maker(&text) {
            Some(version) if version != env!("CARGO_PKG_VERSION") => other_version(&path, &version),
            _ => damaged_run(&path, &error),
        })
    }

    /// Writes `run.json` in one step: a reader sees the old one or the new one. Where the disk has no room
    /// for two, the new one is written over the old one, whose space is enough.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        let path = folder.join(RUN_FILE);
        match replace(&path, &text) {
            Err(error) if error.kind() == io::ErrorKind::StorageFull => overwrite(&path, &text),
            answer => answer,
        }
    }
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = path.with_extension("json.unfinished");
    let answer = fs::write(&unfinished, text).and_then(|()| fs::rename(&unfinished, path));
    if answer.is_err() {
        // It may not be there, and helps nobody if it is.
        let _ = fs::remove_file(unfinished);
    }
    answer
}

/// Not `fs::write`, which would give up the space first, for somebody else to take.
fn overwrite(path: &Path, text: &str) -> io::Result<()> {
    let mut file = fs::OpenOptions::new().write(true).open(path)?;
    io::Write::write_all(&mut file, text.as_bytes())?;
    file.set_len(text.len() as u64)
}

/// The event files in a folder, by process and image number.
pub fn event_files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if is_event_file(&path) {
            files.push(path);
        }
    }
    files.sort_by_cached_key(|path| (numbers_in_name(path), path.clone()));
    Ok(files)
}

/// Without those of processes that were ended while their recorder was starting, as happens to what a daemon leaves behind: they say nothing
/// about the others. If there are no others, reading them says why.
fn begun(files: Vec<PathBuf>) -> Vec<PathBuf> {
    let begun: Vec<PathBuf> = files.iter().filter(|file| !is_unwritten(file)).cloned().collect();
    if begun.is_empty() { files } else { begun }
}

fn is_unwritten(file: &Path) -> bool {
    let mut first = Vec::new();
    let opened = fs::File::open(file);
    let read = opened.and_then(|file| file.take(FIELD_BYTES as u64).read_to_end(&mut first));
    read.is_ok() && FileHeader::is_unwritten(&first)
}

/// Whether a file of a run's folder is a recording, by its name.
pub fn is_event_file(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == EVENT_FILE_EXTENSION)
}

/// `120-3.events` is 120, 3.
fn numbers_in_name(path: &Path) -> Option<(u64, u64)> {
    let (process, image) = path.file_stem()?.to_str()?.split_once('-')?;
    Some((process.parse().ok()?, image.parse().ok()?))
}

fn no_run(path: &Path, error: &io::Error) -> Problem {
    Problem::usage("this is not the folder of a run")
        .at("file", path.display())
        .why(error)
        .next("name a folder of .unpick/runs, or an event file: unpick dump FILE.events")
}

/// The version of unpick that wrote a description, whatever else is in it.
fn maker(text: &str) -> Option<String> {
    let description: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(description.get("unpick_version")?.as_str()?.to_owned())
}

fn other_version(path: &Path, version: &str) -> Problem {
    let (version, own) = (version.escape_debug(), env!("CARGO_PKG_VERSION"));
    Problem::usage("the description of the run cannot be read: it is of another version")
        .at("file", path.display())
        .why(format!("unpick {version} has written it, this is unpick {own}"))
        .next("use that version, or a store of its own for this one: --store DIR")
}

fn damaged_run(path: &Path, error: &serde_json::Error) -> Problem {
    Problem::usage("the description of the run cannot be read")
        .at("file", path.display())
        .why(error)
        .next("dump its recordings one by one: unpick dump FILE.events")
}

fn cannot_list(folder: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("the folder of the run cannot be listed")
        .at("folder", folder.display())
        .why(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_that_was_never_begun_is_left_out_unless_it_is_the_only_one() {
        let folder = tempfile::tempdir().unwrap();
        let unwritten = folder.path().join("7-0.events");
        let written = folder.path().join("8-0.events");
        fs::write(&unwritten, [0; 9000]).unwrap();
        fs::write(&written, crate::writer::Writer::new().to_bytes()).unwrap();
        let files = vec![unwritten.clone(), written.clone()];
        assert_eq!(begun(files), [written]);
        assert_eq!(begun(vec![unwritten.clone()]), [unwritten]);
    }

    #[test]
    fn without_room_for_two_the_new_text_takes_the_place_of_the_old() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(RUN_FILE);
        replace(&path, "a long description").unwrap();
        overwrite(&path, "short").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "short");
        overwrite(&path, "a description that is longer than the first").unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, "a description that is longer than the first");
    }

    #[test]
    fn a_label_is_stored_by_its_name_and_old_runs_have_none() {
        let old = r#"{"command": ["./bank"], "working_folder": "/", "started_ms": 1, "duration_ms": 2,
            "outcome": {"exit": {"code": 0}}, "options": {"full": false, "limit": 1, "delay_access_ppm": 0,
            "delay_sync_ppm": 0, "delay_start_ppm": 0, "delay_shortest_ns": 0, "delay_longest_ns": 0},
            "seed": 7, "unpick_version": "0.1.0", "format_version": 2}"#;
        let mut info: RunInfo = serde_json::from_str(old).unwrap();
        assert_eq!((info.label, info.hunt), (None, None));
        info.label = Some(Label::Fail);
        let text = serde_json::to_string(&info).unwrap();
        assert!(text.contains(r#""label":"fail""#));
        assert_eq!(serde_json::from_str::<RunInfo>(&text).unwrap(), info);
        assert!(serde_json::from_str::<RunInfo>(&text.replace("fail", "failed")).is_err());
    }

    #[test]
    fn a_run_of_another_version_is_told_apart_from_a_damaged_one() {
        let folder = tempfile::tempdir().unwrap();
        let told = |text: &str| {
            fs::write(folder.path().join(RUN_FILE), text).unwrap();
            RunInfo::read(folder.path()).unwrap_err().to_string()
        };
        let newer = told(r#"{"unpick_version": "9.0.0", "commands": []}"#);
        assert!(newer.contains("unpick 9.0.0 has written it"), "{newer}");
        let own = format!(r#"{{"unpick_version": "{}"}}"#, env!("CARGO_PKG_VERSION"));
        assert!(!told(&own).contains("another version") && !told("{").contains("another version"));
    }

    #[test]
    fn what_could_not_be_written_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(RUN_FILE);
        fs::create_dir(&path).unwrap();
        assert!(replace(&path, "text").is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
