//! Races that are not to be told: suppression files that are named, and the one that ThreadSanitizer would use.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use unpick_findings::{RaceFinding, TsanSuppressions};
use unpick_problem::Problem;

/// The rules of all files, and what they have covered.
pub struct Suppressed {
    rules: TsanSuppressions,
}

impl Suppressed {
    pub fn read(named: &[PathBuf]) -> Result<Suppressed, Problem> {
        let mut rules = TsanSuppressions::default();
        for file in named.iter().cloned().chain(of_environment()) {
            let text = fs::read_to_string(&file).map_err(|error| cannot_read(&file, &error))?;
            rules.extend(TsanSuppressions::from_text(&text, &file.to_string_lossy())?);
        }
        Ok(Suppressed { rules })
    }

    pub fn cover(&mut self, race: &RaceFinding) -> bool {
        self.rules.cover_race(race)
    }

    pub fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.rules.counts()
    }

    /// One line for each rule that covered something.
    pub fn told(&self) -> String {
        let used = self.counts().filter(|(_, count)| *count > 0);
        used.map(|(rule, count)| format!("suppressed: {count} by {rule}\n")).collect()
    }
}

/// The file in `TSAN_OPTIONS`, whose options are separated by colons or blanks; a value may be quoted.
fn of_environment() -> Option<PathBuf> {
    let options = env::var("TSAN_OPTIONS").ok()?;
    let value = options
        .split([':', ' ', ',', '\n', '\t'])
        .find_map(|option| option.trim().strip_prefix("suppressions="))?;
    let value = value.trim_matches(['"', '\'']);
    (!value.is_empty()).then(|| PathBuf::from(value))
}

fn cannot_read(file: &Path, error: &std::io::Error) -> Problem {
    Problem::usage("the suppressions cannot be read")
        .at("file", file.display())
        .why(error)
        .next("name a file that is there: --suppressions FILE, or look at TSAN_OPTIONS")
}
