//! `unpick invariants`: what training has learned; merges what several machines have.
//!
//! Takes   invariants files.      Gives  a table of places, how often each was checked and challenged; or one file of several.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};
use unpick_analyses::invariants::Trained;
use unpick_invariants::{Invariants, SiteWords};
use unpick_problem::Problem;
use unpick_run_store::Store;

use crate::dump::printable;
use crate::output::findings::{print, write_json};
use crate::output::is_stdout;
use crate::quantities::counted;
use crate::record::{quoted, store_option};
use crate::simulation;
use crate::store_folder::store_folder;
use crate::trained::{file_of, read_trained, write};

pub const HELP: &str = "\
Places that no other thread ever came between (challenged 0) come first: nobody knows yet what would happen there, and unpick hunt
--active tries them first. Places that passing runs have violated hold no invariant. Those in code of libraries, and calls of locks, are
only counted. --all lists them too, after the others.

Examples:
  unpick invariants
  unpick invariants --json -
  unpick invariants --merge laptop.toml server.toml --file all.toml";

/// So many places are listed unless all are asked for.
const USUALLY_LISTED: usize = 40;

/// What `unpick invariants` can be told.
#[derive(clap::Args)]
pub struct ShowInvariants {
    /// What was learned [default: invariants.toml in the store]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Put these files together, and write the sum to --file
    #[arg(long, value_name = "FILE", num_args = 2..)]
    merge: Vec<PathBuf>,
    /// List every place: those without an invariant, and those in library code, too
    #[arg(long)]
    all: bool,
    /// Write them as JSON to this file; - for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
}

pub fn run(show: ShowInvariants) -> Result<ExitCode, Problem> {
    let file = file_of(&show.store, show.file.as_deref());
    let invariants = if show.merge.is_empty() {
        read_trained(&file)?
    } else {
        let sum = merged(&show.merge, &file)?;
        write(&file, &sum)?;
        sum
    };
    if let Some(to) = &show.json {
        write_json(to, &as_json(&invariants, &file))?;
        if is_stdout(to) {
            return Ok(ExitCode::SUCCESS);
        }
    }
    print(&show.text(&invariants, &file))?;
    Ok(ExitCode::SUCCESS)
}

/// The sum of some files. What is in the file that is written must be among them, or it would be lost.
fn merged(files: &[PathBuf], into: &Path) -> Result<Invariants, Problem> {
    let is_one_of_them = |file: &Path| {
        let real = |path: &Path| path.canonicalize().ok();
        files.iter().any(|one| real(one).is_some() && real(one) == real(file))
    };
    if into.exists() && !is_one_of_them(into) {
        return Err(Problem::usage("merging would replace a file that is not among those merged")
            .at("file", into.display())
            .next("merge it too, or write to another file: --file NEW.toml; nothing was changed"));
    }
    let mut texts: Vec<(String, &PathBuf)> = Vec::new();
    let mut sum: Option<Invariants> = None;
    for file in files {
        let read = read_trained(file)?;
        let text = fs::read_to_string(file).unwrap_or_default();
        if let Some((_, first)) = texts.iter().find(|(known, _)| *known == text) {
            return Err(twice(first, file));
        }
        texts.push((text, file));
        match &mut sum {
            Some(sum) => sum.absorb(&read)?,
            None => sum = Some(read),
        }
    }
    sum.ok_or_else(|| Problem::usage("no files to merge"))
}

fn twice(first: &Path, second: &Path) -> Problem {
    Problem::usage("two of the files to merge are the same")
        .at("files", format!("{}, {}", first.display(), second.display()))
        .why("their runs would count twice")
        .next("name each once; nothing was changed")
}

impl ShowInvariants {
    fn text(&self, invariants: &Invariants, file: &Path) -> String {
        let Invariants { program, runs, leaves_after, .. } = invariants;
        let mut text = format!(
            "{program}: {} of {} hold an invariant, after {} that passed\n",
            invariants.count(),
            counted(invariants.sites.len() as u64, "place"),
            counted((*runs).into(), "run")
        );
        text += &match invariants.unchanged {
            0 => "the last run changed the set, or sets were merged: train on\n".to_owned(),
            unchanged => format!("the last {} changed nothing\n", counted(unchanged.into(), "run")),
        };
        text += &simulation::in_words(invariants.hardware);
        if *leaves_after > 1 {
            text += &format!("a place stays until {leaves_after} passing runs have violated it\n");
        }
        let listed = listed(invariants, self.all);
        text += &table(&listed.shown, invariants);
        text += &self.what_is_not_listed(&listed, file);
        let command = invariants.command.clone().unwrap_or_else(|| format!("-- {program}"));
        text + &format!("next: unpick watch{} {}\n", self.options(file), printable(&command))
    }

    fn what_is_not_listed(&self, listed: &Listed<'_>, file: &Path) -> String {
        let more = match listed.more {
            0 => None,
            more => Some(format!("{more} more")),
        };
        let of_library = match listed.of_library {
            0 => None,
            count => Some(format!("{count} in library code or at locks")),
        };
        let both: Vec<String> = more.into_iter().chain(of_library).collect();
        if both.is_empty() {
            return String::new();
        }
        format!("and {}: unpick invariants --all{}\n", both.join(", "), self.options(file))
    }

    fn options(&self, file: &Path) -> String {
        let named = self.file.is_some().then(|| quoted(&file.to_string_lossy()));
        let named = named.map_or_else(String::new, |file| format!(" --file {file}"));
        format!("{}{named}", store_option(&self.store))
    }
}

/// A place and how it fared.
type Site = (SiteWords, Trained);

/// What is listed, and how many are not.
struct Listed<'i> {
    shown: Vec<&'i Site>,
    more: usize,
    of_library: usize,
}

/// The places to list: the user's own first, those never challenged before those that were, and those without an invariant last.
fn listed(invariants: &Invariants, all: bool) -> Listed<'_> {
    let rules = invariants.rules();
    let sites = invariants.sites.values();
    let mut shown: Vec<&Site> =
        sites.filter(|(_, trained)| all || trained.is_invariant(rules)).collect();
    shown.sort_by_cached_key(|(words, trained)| {
        let is_broken = !trained.is_invariant(rules);
        let place = (words.file.clone(), words.line);
        (words.is_of_library(), is_broken, trained.checks.challenged, place)
    });
    if all {
        return Listed { shown, more: 0, of_library: 0 };
    }
    let own = shown.partition_point(|(words, _)| !words.is_of_library());
    let of_library = shown.len() - own;
    shown.truncate(own.min(USUALLY_LISTED));
    Listed { more: own - shown.len(), shown, of_library }
}

fn table(sites: &[&Site], invariants: &Invariants) -> String {
    let deeds = sites.iter().map(|(words, _)| deed_of(words).chars().count());
    let width = deeds.max().unwrap_or(0);
    let mut text = format!(
        "{:>8}  {:>10}  {:>8}  {:<width$}  {}\n",
        "checked", "challenged", "runs", "", "place"
    );
    for (words, trained) in sites {
        let source = words.text.as_deref().map(|text| format!(": {}", text.trim()));
        let broken = if trained.is_invariant(invariants.rules()) {
            String::new()
        } else {
            format!(" (violated in {})", counted(trained.violated_runs.into(), "run"))
        };
        let line = format!(
            "{:>8}  {:>10}  {:>8}  {:<width$}  {}{}{broken}",
            trained.checks.checked,
            trained.checks.challenged,
            trained.runs,
            deed_of(words),
            words.shown(),
            source.unwrap_or_default()
        );
        text += &printable(&line);
        text.push('\n');
    }
    text
}

/// What is done there, without what the compiler puts before the names of functions.
fn deed_of(words: &SiteWords) -> &str {
    let deed = words.deed.as_deref().unwrap_or("?");
    deed.strip_prefix("__tsan_").unwrap_or(deed)
}

fn as_json(invariants: &Invariants, file: &Path) -> Value {
    let rules = invariants.rules();
    let sites: Vec<Value> = invariants
        .sites
        .values()
        .map(|(words, trained)| {
            json!({
                "module": words.module,
                "function": words.function,
                "file": words.file,
                "line": words.line,
                "text": words.text,
                "deed": words.deed,
                "occurrence": words.occurrence,
                "library": words.is_of_library(),
                "invariant": trained.is_invariant(rules),
                "runs": trained.runs,
                "violated_runs": trained.violated_runs,
                "checked": trained.checks.checked,
                "challenged": trained.checks.challenged,
                "violated": trained.checks.violated,
            })
        })
        .collect();
    json!({
        "schema": "unpick-invariants/1",
        "file": file.to_string_lossy(),
        "program": invariants.program,
        "hardware": simulation::as_json(invariants.hardware),
        "command": invariants.command,
        "runs": invariants.runs,
        "unchanged": invariants.unchanged,
        "leaves_after": invariants.leaves_after,
        "labels": { "fail_if": invariants.labels.fail_if, "oracle": invariants.labels.oracle },
        "builds": invariants.builds,
        "sites": sites,
    })
}
