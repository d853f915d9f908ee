//! The command line: one place per option, with name, default and help.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use unpick_bench_ranking::options::unpick_command;
use unpick_problem::Problem;

/// Hunts programs with a known bug and judges the leading finding by their truth files.
#[derive(Debug, Parser)]
#[command(name = "unpick-bench-blind")]
pub struct Options {
    /// Which programs
    #[arg(long, value_name = "SET")]
    pub set: Set,

    /// Only these programs (comma-separated or repeated): `route-cache`, or `c/route-cache` where two languages have one
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub only: Vec<String>,

    /// How long one hunt may take, as `unpick hunt --time` has it
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = with_unit)]
    pub time: String,

    /// Keep all cores busy with other work meanwhile
    #[arg(long)]
    pub busy: bool,

    /// Leave out the 50 forced runs where the leading finding is right
    #[arg(long)]
    pub no_reproduce: bool,

    /// Keep programs and runs in this folder
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,

    /// Where the programs of the set `cases` are
    #[arg(long, value_name = "DIR", default_value = "../shared/cases")]
    pub cases: PathBuf,

    /// The `unpick` command [default: the one beside this program]
    #[arg(long, value_name = "PATH")]
    unpick: Option<PathBuf>,

    /// Replace this benchmark's section of that set in that file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Set {
    /// The half of the blind programs that may be looked at
    Open,
    /// The other half: only totals are shown, and each run is logged
    Sealed,
    /// Blind programs that were written later: measured once before anybody looked at them
    Second,
    /// Documented bugs of old versions of published crates
    Crates,
    /// Programs of `--cases`
    Cases,
    /// Programs of `subjects/`
    Subjects,
}

impl Set {
    pub fn name(self) -> &'static str {
        match self {
            Set::Open => "open",
            Set::Sealed => "sealed",
            Set::Second => "second",
            Set::Crates => "crates",
            Set::Cases => "cases",
            Set::Subjects => "subjects",
        }
    }
}

impl Options {
    /// Refuses what would show more of the sealed programs than totals.
    pub fn checked(self) -> Result<Self, Problem> {
        let shows_more = !self.only.is_empty() || self.keep.is_some();
        if self.set == Set::Sealed && shows_more {
            return Err(Problem::usage("--only and --keep cannot be used with --set sealed").why(
                "they would show single programs of the sealed half; only its totals may be seen",
            ));
        }
        Ok(self)
    }

    pub fn has(&self, program: &str) -> bool {
        let last = program.rsplit('/').next();
        let is_named = |name: &String| name == program || Some(name.as_str()) == last;
        self.only.is_empty() || self.only.iter().any(is_named)
    }

    /// Whose section of the results it is.
    pub fn benchmark(&self) -> String {
        benchmark(self.set, self.busy)
    }

    pub fn time_limit(&self) -> Duration {
        duration(&self.time).unwrap_or_default()
    }

    /// The `unpick` command to measure.
    pub fn unpick(&self) -> Result<PathBuf, Problem> {
        unpick_command(self.unpick.as_deref())
    }
}

pub fn benchmark(set: Set, is_busy: bool) -> String {
    let load = if is_busy { ", cores busy" } else { "" };
    format!("bench/blind {}{load}", set.name())
}

fn with_unit(text: &str) -> Result<String, String> {
    let is_time = duration(text).is_some_and(|time| !time.is_zero());
    is_time.then(|| text.to_owned()).ok_or_else(|| "a time like 500ms, 60s or 5m".to_owned())
}

fn duration(text: &str) -> Option<Duration> {
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let count: u64 = text[..digits].parse().ok()?;
    match &text[digits..] {
        "ms" => Some(Duration::from_millis(count)),
        "s" => Some(Duration::from_secs(count)),
        "m" => Some(Duration::from_secs(60 * count)),
        _ => None,
    }
}

/// Options whose values are paths of one machine; they do not belong into published results.
const LOCAL: [&str; 3] = ["--unpick", "--keep", "--cases"];

/// The arguments of this program without those that only matter on this machine.
pub fn published(arguments: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut skips_value = false;
    for argument in arguments {
        let is_value = std::mem::take(&mut skips_value);
        let name = argument.split('=').next().unwrap_or_default();
        let is_local = LOCAL.contains(&name);
        skips_value = !is_value && is_local && !argument.contains('=');
        if !is_value && !is_local {
            kept.push(argument);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(arguments: &[&str]) -> Result<Options, Problem> {
        Options::parse_from(["blind"].iter().chain(arguments)).checked()
    }

    #[test]
    fn single_sealed_programs_cannot_be_chosen_or_kept() {
        assert!(options(&["--set", "sealed"]).is_ok());
        assert!(options(&["--set", "sealed", "--only", "x"]).is_err());
        assert!(options(&["--set", "sealed", "--keep", "x"]).is_err());
        assert!(options(&["--set", "open", "--keep", "x", "--only", "x"]).is_ok());
    }

    #[test]
    fn a_program_is_chosen_by_its_name_with_or_without_language() {
        let chosen = options(&["--set", "open", "--only", "c/a,b"]).unwrap();
        let has: Vec<_> =
            ["c/a", "cpp/a", "c/b", "rust/b", "c/ab"].map(|name| chosen.has(name)).into();
        assert_eq!(has, [true, false, true, true, false]);
    }

    #[test]
    fn times_have_a_unit() {
        assert_eq!(duration("60s"), Some(Duration::from_secs(60)));
        assert_eq!(duration("5m"), Some(Duration::from_secs(300)));
        assert_eq!(duration("500ms"), Some(Duration::from_millis(500)));
        assert!(["60", "s", "", "60x"].iter().all(|text| with_unit(text).is_err()));
        assert!(with_unit("0s").is_err());
    }

    #[test]
    fn paths_of_this_machine_are_not_published() {
        let given = ["blind", "--set", "open", "--unpick", "/a", "--keep=/b", "--busy"];
        let kept = published(given.map(str::to_owned).into_iter());
        assert_eq!(kept, ["blind", "--set", "open", "--busy"]);
    }
}
