//! `unpick clean`: removes old runs, or their recordings; and what a hunt removes by itself.
//!
//! Takes   a store and limits.      Gives  a store within them, and a line for all that went.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use unpick_problem::Problem;
use unpick_run_store::{Limits, Removal, Share, Store, plan};

use crate::output;
use crate::quantities::{bytes, bytes_in_words, counted, duration};
use crate::store_folder::store_folder;

pub const HELP: &str = "\
A hunt goes as a whole, the oldest first; a recording of its own (unpick record) counts as one. Where a store is too large, recordings go
before anything else: what was found in them stays, and can be ranked again in the same windows. findings.json stays.
Nothing goes while a hunt or a recording adds runs to the store.

Examples:
  unpick clean --older-than 7d
  unpick clean --larger-than 2GiB --dry-run
  unpick clean --hunts 3
  unpick clean --runs 0 --recordings-only";

/// What `unpick clean` can be told.
#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("limit").required(true).multiple(true))]
pub struct Clean {
    /// Remove hunts that ended longer ago
    #[arg(long, value_name = "TIME", value_parser = duration, group = "limit")]
    older_than: Option<Duration>,
    /// Drop recordings, then remove hunts, until the runs take no more than this
    #[arg(long, value_name = "SIZE", value_parser = bytes, group = "limit")]
    larger_than: Option<u64>,
    /// Keep at most this many runs, of the newest hunts
    #[arg(long, value_name = "N", group = "limit")]
    runs: Option<usize>,
    /// Keep the newest hunts, so many
    #[arg(long, value_name = "N", group = "limit")]
    hunts: Option<usize>,
    /// Drop recordings only; labels, settings and patterns stay
    #[arg(long)]
    recordings_only: bool,
    /// Remove nothing, only say what would go
    #[arg(long)]
    dry_run: bool,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
}

pub fn run(clean: Clean) -> Result<ExitCode, Problem> {
    let store = Store::at(&clean.store);
    let alone = store.alone()?;
    let removals = plan(store.batches(), &clean.limits(), now_ms());
    for removal in &removals {
        if !clean.dry_run {
            store.remove(removal, &alone)?;
        }
        let verb = if clean.dry_run { "would be removed" } else { "removed" };
        print(&format!("{} {verb}\n", in_words(removal)))?;
    }
    if removals.is_empty() {
        print("nothing has to go\n")?;
    }
    Ok(ExitCode::SUCCESS)
}

impl Clean {
    fn limits(&self) -> Limits {
        Limits {
            age: self.older_than,
            bytes: self.larger_than,
            runs: self.runs,
            hunts: self.hunts,
            recordings_only: self.recordings_only,
            spare_last_hunt: false,
        }
    }
}

/// Before a hunt: drops old recordings of a store that is larger than it should be. Not while somebody else uses it, and what
/// goes wrong with it is told, but keeps nobody from hunting.
pub fn make_room(store: &Store, most_bytes: u64) {
    let Ok(alone) = store.alone() else { return };
    let limits = Limits {
        bytes: Some(most_bytes),
        recordings_only: true,
        spare_last_hunt: true,
        ..Limits::default()
    };
    let most = bytes_in_words(most_bytes);
    for removal in plan(store.batches(), &limits, now_ms()) {
        match store.remove(&removal, &alone) {
            Ok(()) => {
                eprintln!("unpick: {} dropped: the store had more than {most}", in_words(&removal))
            }
            Err(problem) => eprintln!("{problem}"),
        }
    }
}

/// `hunt 3: 52 runs, 1.5 GiB`.
fn in_words(removal: &Removal) -> String {
    let batch = &removal.batch;
    let what = match (batch.is_hunt, removal.share) {
        (true, Share::All) => "hunt",
        (true, Share::Recordings) => "recordings of hunt",
        (false, Share::All) => "run",
        (false, Share::Recordings) => "recordings of run",
    };
    let runs = counted(batch.runs.len() as u64, "run");
    format!("{what} {}: {runs}, {}", batch.number, bytes_in_words(removal.bytes()))
}

fn now_ms() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

fn print(text: &str) -> Result<(), Problem> {
    output::print(text.as_bytes()).map_err(|error| {
        Problem::own_fault("what was removed cannot be told")
            .at("file", "standard output")
            .why(error)
    })
}
