//! The log of how often the sealed half was run: one line per run, written when it begins, so that an interrupted run is there too.

use std::fs;
use std::path::{Path, PathBuf};

use unpick_bench_results::machine::first_line_of;
use unpick_bench_results::write_whole;
use unpick_problem::Problem;

use crate::options::Options;
use crate::report::command;

const HEAD: &str = "# Runs of the sealed half

Written by the benchmark: every run of `--set sealed`, what was measured, and the totals. Nothing else is known of these programs.

| date | commit | command | totals |
|------|--------|---------|--------|
";

const UNFINISHED: &str = "not finished";

/// The line of a run that has begun.
pub struct SealedLog {
    file: PathBuf,
    run: String,
}

impl SealedLog {
    pub fn begin(options: &Options) -> Result<SealedLog, Problem> {
        // A run that cannot begin is not one.
        options.unpick()?;
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("SEALED.md");
        let date = first_line_of("date", &["-u", "+%F %R"]);
        let run = format!("| {date} | {} | `{}` | ", commit(), command());
        let log = SealedLog { file, run };
        log.write(|text| with_run(text, &log.run))?;
        Ok(log)
    }

    pub fn finish(&self, totals: &str) -> Result<(), Problem> {
        self.write(|text| with_totals(text, &self.run, totals))
    }

    fn write(&self, change: impl Fn(&str) -> String) -> Result<(), Problem> {
        let text = fs::read_to_string(&self.file).unwrap_or_else(|_| HEAD.to_owned());
        write_whole(&self.file, &change(&text))
    }
}

fn commit() -> String {
    let git = |words: &[&str]| {
        let folder = ["-C", env!("CARGO_MANIFEST_DIR")];
        first_line_of("git", &[&folder, words].concat())
    };
    let changed = git(&["status", "--porcelain", "--", ":/crates"]);
    let is_clean = changed.is_empty() || changed == "not found";
    format!(
        "{}{}",
        git(&["rev-parse", "--short", "HEAD"]),
        if is_clean { "" } else { " with changes" }
    )
}

fn with_run(text: &str, run: &str) -> String {
    format!("{}\n{run}{UNFINISHED} |\n", text.trim_end())
}

/// The totals in place of what says that this run, the last that began so, is not finished.
fn with_totals(text: &str, run: &str, totals: &str) -> String {
    let unfinished = format!("{run}{UNFINISHED} |");
    match text.rfind(&unfinished) {
        Some(at) => {
            let (before, after) = (&text[..at], &text[at + unfinished.len()..]);
            format!("{before}{run}{totals} |{after}")
        }
        None => format!("{}\n{run}{totals} |\n", text.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_logged_when_it_begins_and_gets_its_totals_when_it_ends() {
        let begun = with_run(HEAD, "| day | abc | `x` | ");
        assert_eq!(begun, format!("{HEAD}| day | abc | `x` | not finished |\n"));
        let ended = with_totals(&begun, "| day | abc | `x` | ", "3 of 4");
        assert_eq!(ended, format!("{HEAD}| day | abc | `x` | 3 of 4 |\n"));
    }

    #[test]
    fn an_interrupted_run_stays() {
        let run = "| day | abc | `x` | ";
        let twice = with_run(&with_run(HEAD, run), run);
        let ended = with_totals(&twice, run, "3 of 4");
        assert_eq!(ended, format!("{HEAD}{run}not finished |\n{run}3 of 4 |\n"));
    }
}
