//! What was found, where it was asked for: as text, JSON or SARIF, on standard output or in files.

use std::path::Path;
use std::{env, fs};

use unpick_correlations::CorrelationList;
use unpick_problem::Problem;

use super::{Correlate, sarif, text};
use crate::output::{self, STDOUT, is_stdout};
use crate::record::{quoted, store_option};

impl Correlate {
    pub(super) fn tell(&self, list: &CorrelationList) -> Result<(), Problem> {
        let here = env::current_dir().unwrap_or_default();
        if let Some(goal) = &self.json {
            write(goal, &(list.to_json() + "\n"))?;
        }
        if let Some(goal) = &self.sarif {
            let what = if self.broken {
                sarif::What::Breaks
            } else {
                sarif::What::Correlations { with_weak: self.weak }
            };
            write(goal, &format!("{:#}\n", sarif::log(list, what, &here)))?;
        }
        if [&self.json, &self.sarif].into_iter().flatten().any(|goal| is_stdout(goal)) {
            return Ok(());
        }
        let text = if self.broken {
            text::breaks(list, self.top, &here)
        } else {
            text::correlations(list, self.weak, self.top, &here)
        };
        write(Path::new(STDOUT), &format!("{text}next: {}\n", self.next_command(list)))
    }

    /// Who forgets one of the two; what is weak, if that is all there is; else whether threads come between.
    fn next_command(&self, list: &CorrelationList) -> String {
        if !self.broken && !list.breaks.is_empty() {
            self.again_with("--broken")
        } else if !self.broken && !self.weak && is_all_weak(list) {
            self.again_with("--weak")
        } else {
            "unpick races -- PROGRAM".to_owned()
        }
    }

    fn again_with(&self, option: &str) -> String {
        let paths = self.paths.iter().map(|path| quoted(&path.to_string_lossy()));
        let paths: Vec<String> = paths.collect();
        format!("unpick correlate{} {option} {}", store_option(&self.store), paths.join(" "))
            .trim_end()
            .to_owned()
    }
}

fn is_all_weak(list: &CorrelationList) -> bool {
    !list.correlations.is_empty() && list.told(false).next().is_none()
}

fn write(goal: &Path, text: &str) -> Result<(), Problem> {
    let written = match is_stdout(goal) {
        true => output::print(text.as_bytes()),
        false => fs::write(goal, text),
    };
    written.map_err(|error| {
        let name = if is_stdout(goal) { "standard output".into() } else { goal.to_string_lossy() };
        Problem::own_fault("the correlations cannot be written")
            .at("file", name)
            .why(error)
            .next("choose a file you can write to, or - for standard output: what was read need not be read again")
    })
}
