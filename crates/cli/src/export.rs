//! `unpick export`: the runs of a hunt as one file, for machines that have neither the program nor its source.
//!
//! Takes   the labelled runs of a hunt, while the program's files are here.
//! Gives   a file with what they were, their patterns, findings, all names and the lines of source around them; the same file each time.
//! Misses  what the program printed, and recordings unless they are asked for: names in those are not made private.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;
use unpick_analyses::communication::RunGraphs;
use unpick_analyses::{Formula, LabelledRun, RunPatterns, conclude};
use unpick_events::Label;
use unpick_findings::{Choices, Findings, Hang, HangGroup, Packages, describe};
use unpick_names::{CodeNames, NameTable, ProgramNames, StoredNames, TableBuilder};
use unpick_problem::Problem;
use unpick_recording::{JudgedBy, RunInfo, event_files};
use unpick_report::LINES_AROUND;
use unpick_run_store::{Manifest, Packer, Piece, PrivatePaths, Store, StoredRun, read_patterns};

use crate::communication::{add_to, stored_graphs};
use crate::conclude::{MOST_FINDINGS, MOST_SUPPORTERS, counts_of, names_of_files};
use crate::hang::{hangs_of, read_hang};
use crate::import::names_in;
use crate::kept_findings;
use crate::quantities::{bytes_in_words, counted};
use crate::store_folder::store_folder;

pub const HELP: &str = "\
Export where the program and its source still are: names and lines of source are looked up now.
Files below the working folder are named as seen from it, those below the home folder with ~, others by the end of
their path; so are arguments of the command. The file has the lines of source around every access, but nothing the program printed.
Recordings (--with-recordings) hold paths, command line and working folder as they are.

Examples:
  unpick export bank.unpick
  unpick export --hunt 53 --with-recordings bank.unpick
  unpick import --store bank bank.unpick        on the other machine
  unpick show --store bank";

/// What `unpick export` can be told.
#[derive(clap::Args)]
pub struct Export {
    /// The hunt, by the number of its first run (see unpick hunts); without it, the latest in which a run failed
    #[arg(long, value_name = "N")]
    hunt: Option<u64>,
    /// Add the recordings, which `unpick dump` shows
    #[arg(long)]
    with_recordings: bool,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
    /// The file to write
    file: PathBuf,
}

pub fn run(export: Export) -> Result<ExitCode, Problem> {
    let store = Store::at(&export.store);
    let runs = store.runs_of_hunt(export.hunt.or_else(|| store.latest_failing_hunt()))?;
    let paths = private_paths(&runs, &export.store);
    let hunt = Portable { runs: &runs, paths: &paths };
    let names = hunt.names(&export.store)?;
    let json = names.to_json();
    let number = runs.first().and_then(|run| run.info.hunt).unwrap_or(0);
    let earlier = kept_findings::read(&export.store, Some(number)).ok();
    let packages = earlier.as_ref().map(|earlier| earlier.packages.clone()).unwrap_or_default();
    let formula = formula_of(earlier.as_ref());
    let mut findings = hunt.findings(&StoredNames::new(names), formula, &packages)?;
    if let (Some(findings), Some(earlier)) = (&mut findings, &earlier) {
        findings.take_over_confirmations(earlier);
        findings.take_over_order(earlier);
    }
    let mut packer = Packer::begin(&export.file, &Manifest::new(number, runs.len() as u64))?;
    packer.add(Piece::Names, json.as_bytes())?;
    if let Some(findings) = findings {
        packer.add(Piece::Findings, (findings.to_json() + "\n").as_bytes())?;
    }
    for run in &runs {
        hunt.pack(run, export.with_recordings, &mut packer)?;
    }
    packer.finish()?;
    export.tell(number, runs.len() as u64);
    Ok(ExitCode::SUCCESS)
}

impl Export {
    fn tell(&self, hunt: u64, runs: u64) {
        let size = fs::metadata(&self.file).map_or(0, |about| about.len());
        let file = self.file.display();
        let (runs, size) = (counted(runs, "run"), bytes_in_words(size));
        eprintln!("unpick: hunt {hunt}: {runs}, {size}: {file}");
        if self.with_recordings {
            eprintln!("unpick: its recordings name files and folders of this machine");
        }
        eprintln!("unpick: next, on another machine: unpick import {file}");
    }
}

/// The folders of the runs are private; those that Unpick made for single runs are below the store.
fn private_paths(runs: &[StoredRun], store: &Path) -> PrivatePaths {
    let store = store.canonicalize().unwrap_or_else(|_| store.to_owned());
    let folders: BTreeSet<&Path> =
        runs.iter().map(|run| run.info.working_folder.as_path()).collect();
    let outside = folders.into_iter().filter(|folder| !folder.starts_with(&store));
    PrivatePaths::here(outside.chain(store.parent()))
}

/// The formula of the findings there are.
fn formula_of(findings: Option<&Findings>) -> Formula {
    findings.and_then(|found| Formula::from_name(&found.formula)).unwrap_or(Formula::Jaccard)
}

/// The runs of a hunt as other machines may know them.
struct Portable<'a> {
    runs: &'a [StoredRun],
    paths: &'a PrivatePaths,
}

impl Portable<'_> {
    fn usable(&self) -> impl Iterator<Item = &StoredRun> + Clone {
        self.runs.iter().filter(|run| run.label() != Label::Unusable)
    }

    /// Names of all there is in the runs.
    fn names(&self, store: &Path) -> Result<NameTable, Problem> {
        let imported = names_in(store)?;
        let names = ProgramNames::new(imported.as_ref(), names_of_files());
        let mut builder = TableBuilder::new(&names, LINES_AROUND);
        for run in self.usable() {
            builder.add(&read_patterns(&run.folder)?);
            if let Some(graphs) = stored_graphs(run)? {
                builder.add_graphs(&graphs);
            }
        }
        let mut table = builder.finish();
        table.rewrite(&|path| self.paths.path(path), &|text| self.paths.text(text));
        Ok(table)
    }

    /// Ranked anew: the findings of the store may be of another hunt, and name private files.
    fn findings(
        &self,
        names: &StoredNames,
        formula: Formula,
        packages: &Packages,
    ) -> Result<Option<Findings>, Problem> {
        let has = |label| self.runs.iter().any(|run| run.label() == label);
        let hangs = self.hangs()?;
        if !has(Label::Pass) && !hangs.is_empty() {
            return Ok(Some(Findings::of_hangs(counts_of(self.runs), formula.name(), hangs)));
        }
        if !has(Label::Fail) || !has(Label::Pass) {
            return Ok(None);
        }
        // All of them were read a moment ago, for their names.
        let labelled = self.usable().filter_map(|run| {
            let number = u32::try_from(run.number).unwrap_or(u32::MAX);
            Some(LabelledRun { number, label: run.label(), patterns: self.patterns(run).ok()? })
        });
        let conclusion = conclude(labelled, formula)?;
        let choices = Choices {
            working_folder: PathBuf::new(),
            most_findings: MOST_FINDINGS,
            most_supporters: MOST_SUPPORTERS,
            correlations: Vec::new(),
            packages: self.packages(packages),
        };
        let no_files = CodeNames::new();
        let names = ProgramNames::new(Some(names), &no_files);
        let described = Findings { hangs, ..describe(&conclusion, &names, &choices) };
        Ok(Some(add_to(described, self.runs, &|run| self.graphs(run), &names, &choices)))
    }

    /// Directories that are named from the root are private.
    fn packages(&self, packages: &Packages) -> Packages {
        let name = |name: &String| match name.starts_with('/') {
            true => self.paths.path(name) + "/",
            false => name.clone(),
        };
        let portable = |names: &[String]| names.iter().map(name).collect();
        let (own, ignored) = (portable(&packages.own), portable(&packages.ignored));
        Packages { own, ignored, left_out: 0 }
    }

    fn patterns(&self, run: &StoredRun) -> Result<RunPatterns, Problem> {
        let mut patterns = read_patterns(&run.folder)?;
        patterns.modules.iter_mut().for_each(|module| module.path = self.paths.path(&module.path));
        Ok(patterns)
    }

    /// None of runs that cannot be used, and of those whose graphs cannot be made any more.
    fn graphs(&self, run: &StoredRun) -> Result<Option<RunGraphs>, Problem> {
        if run.label() == Label::Unusable {
            return Ok(None);
        }
        let mut graphs = stored_graphs(run)?;
        let modules = graphs.iter_mut().flat_map(|graphs| &mut graphs.modules);
        modules.for_each(|module| module.path = self.paths.path(&module.path));
        Ok(graphs)
    }

    /// How runs hung, in sentences that name no private files.
    fn hangs(&self) -> Result<Vec<HangGroup>, Problem> {
        let mut hangs = hangs_of(self.runs)?;
        hangs.iter_mut().for_each(|hang| hang.sentence = self.paths.text(&hang.sentence));
        Ok(hangs)
    }

    fn hang(&self, hang: &Hang) -> Vec<u8> {
        let mut value = serde_json::to_value(hang).expect("plain fields can always be written");
        self.rewrite(&mut value, "");
        (format!("{value:#}\n")).into_bytes()
    }

    /// Makes every text of a JSON value portable; `key` is the name it has.
    fn rewrite(&self, value: &mut Value, key: &str) {
        match value {
            Value::String(text) if key == "file" => *text = self.paths.path(text),
            Value::String(text) => *text = self.paths.text(text),
            Value::Array(values) => {
                values.iter_mut().for_each(|value| self.rewrite(value, key));
            }
            Value::Object(fields) => {
                fields.iter_mut().for_each(|(key, value)| self.rewrite(value, key));
            }
            _ => {}
        }
    }

    fn info(&self, info: &RunInfo) -> RunInfo {
        RunInfo {
            command: self.command(&info.command),
            working_folder: self.paths.path(&info.working_folder.to_string_lossy()).into(),
            why: info.why.as_deref().map(|why| self.paths.text(why)),
            written_as: info.written_as.as_deref().map(|words| self.command(words)),
            judged_by: info.judged_by.as_ref().map(|judged| JudgedBy {
                oracle: judged.oracle.as_deref().map(|oracle| self.paths.text(oracle)),
                ..judged.clone()
            }),
            ..info.clone()
        }
    }

    fn command(&self, words: &[String]) -> Vec<String> {
        let mut portable: Vec<_> = words.iter().map(|word| self.paths.word(word)).collect();
        // A program that had a folder keeps one, or a shell would look for it elsewhere.
        if words.first().is_some_and(|program| program.contains('/')) && !portable[0].contains('/')
        {
            portable[0].insert_str(0, "./");
        }
        portable
    }

    fn pack(&self, run: &StoredRun, recordings: bool, to: &mut Packer) -> Result<(), Problem> {
        let number = run.number;
        let info = serde_json::to_vec_pretty(&self.info(&run.info));
        let info = info.expect("plain fields can always be written");
        to.add(Piece::RunInfo { run: number }, &info)?;
        if run.label() != Label::Unusable {
            to.add(Piece::Patterns { run: number }, &self.patterns(run)?.to_bytes())?;
        }
        if let Some(graphs) = self.graphs(run)? {
            to.add(Piece::Graphs { run: number }, &graphs.to_bytes())?;
        }
        if let Some(hang) = read_hang(&run.folder)? {
            to.add(Piece::Hang { run: number }, &self.hang(&hang))?;
        }
        if !recordings {
            return Ok(());
        }
        for file in event_files(&run.folder).unwrap_or_default() {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            // Other files than recordings have no place there.
            if let Some(piece) = Piece::called(&format!("runs/{number:04}/{name}")) {
                to.add_file(piece, &file)?;
            }
        }
        Ok(())
    }
}
