//! `unpick races` as it is by default. Its happens-before detector is compared; what lockset adds is one more alarm.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde::Deserialize;
use unpick_problem::Problem;

use crate::command::{build, empty, output};
use crate::detector::{Detector, Report};
use crate::programs::Program;

pub struct Own {
    unpick: String,
    folder: PathBuf,
}

impl Own {
    pub fn new(unpick: &Path, work: &Path) -> Result<Own, Problem> {
        let folder = work.join("unpick");
        empty(&folder)?;
        Ok(Own { unpick: unpick.display().to_string(), folder })
    }
}

impl Detector for Own {
    fn build(&self, program: &Program) -> Result<PathBuf, Problem> {
        let built = self.folder.join(program.name());
        let (arguments, into) = (program.arguments(), built.display().to_string());
        let mut command = vec![self.unpick.as_str(), program.verb()];
        command.extend(arguments.iter().map(String::as_str));
        command.extend(["-o", &into]);
        build(&command, &self.folder)?;
        Ok(built)
    }

    fn look(&self, program: &Program, built: &Path) -> Result<Option<Vec<Report>>, Problem> {
        let store = self.folder.join(format!("{}.runs", program.name())).display().to_string();
        let built = built.display().to_string();
        let races = ["races", "--quiet", "--json", "-", "--store", &store, "--", &built];
        let command: Vec<&str> = std::iter::once(self.unpick.as_str()).chain(races).collect();
        let output = output(&command, &self.folder)?;
        let found = found_in(&output, &built)?;
        Ok(Some(found.races.iter().map(Race::report).collect()))
    }
}

/// What `unpick races --json -` has printed about a program.
pub fn found_in(output: &Output, program: &str) -> Result<Found, Problem> {
    serde_json::from_slice(&output.stdout).map_err(|error| {
        Problem::own_fault("what unpick races says cannot be read")
            .at("program", program)
            .why(format!("{error}; it printed: {}", String::from_utf8_lossy(&output.stderr)))
    })
}

/// As much of `races.json` as is asked for.
#[derive(Deserialize)]
pub struct Found {
    races: Vec<Race>,
    /// What lockset alone finds and something else orders.
    #[serde(default)]
    ordered: Vec<Race>,
}

impl Found {
    /// What is no alarm, because something else orders it, included.
    pub fn by<'f>(&'f self, detector: &'f str) -> impl Iterator<Item = &'f Race> {
        let is_by = move |race: &&Race| race.is_by(detector);
        self.races.iter().chain(&self.ordered).filter(is_by)
    }

    /// What is reported as a race, in words.
    pub fn alarms(&self) -> impl Iterator<Item = &str> {
        self.races.iter().map(|race| race.sentence.as_str())
    }

    /// Those of several variables that are alarms.
    pub fn torn_by<'f>(&'f self, detector: &'f str) -> impl Iterator<Item = &'f Race> {
        self.races.iter().filter(move |race| race.is_by(detector) && race.is_torn())
    }
}

#[derive(Deserialize)]
pub struct Race {
    detectors: Vec<String>,
    sentence: String,
    accesses: Vec<Access>,
    /// Of a race of several variables.
    #[serde(default)]
    correlated: Option<Correlated>,
}

#[derive(Deserialize)]
struct Correlated {
    access: Access,
}

#[derive(Deserialize)]
struct Access {
    #[serde(flatten)]
    frame: Frame,
    #[serde(default)]
    inlined_into: Vec<Frame>,
    #[serde(default)]
    stack: Vec<Frame>,
}

#[derive(Deserialize)]
struct Frame {
    file: Option<String>,
    line: Option<u32>,
}

impl Race {
    fn is_by(&self, detector: &str) -> bool {
        self.detectors.iter().any(|by| by == detector)
    }

    /// Only an extension reports it.
    pub fn is_torn(&self) -> bool {
        self.correlated.is_some()
    }

    /// Whether all its accesses are on some lines.
    pub fn is_within(&self, lines: &BTreeSet<String>) -> bool {
        let left_out = self.correlated.iter().map(|correlated| &correlated.access);
        let is_there = |access: &Access| access.frame.place().is_some_and(|at| lines.contains(&at));
        self.accesses.iter().chain(left_out).all(is_there)
    }

    fn report(&self) -> Report {
        let frames = self.accesses.iter().flat_map(Access::frames);
        let places = frames.filter_map(Frame::place).collect::<BTreeSet<String>>();
        let text = format!("{} {places:?}", self.sentence);
        Report { text, places, is_compared: self.is_by("happens-before") }
    }
}

impl Access {
    fn frames(&self) -> impl Iterator<Item = &Frame> {
        std::iter::once(&self.frame).chain(&self.inlined_into).chain(&self.stack)
    }
}

impl Frame {
    /// `name.c:12`.
    fn place(&self) -> Option<String> {
        let name = self.file.as_ref()?.rsplit('/').next()?;
        Some(format!("{name}:{}", self.line?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_races_of_the_detector_count_with_all_their_places() {
        let json = r#"{"schema": "unpick-races/1", "races": [
            {"detectors": ["happens-before", "lockset"], "sentence": "A race.", "accesses": [
                {"function": "f", "file": "racy/a.c", "line": 3, "stack": [{"file": "a.c", "line": 9}]},
                {"function": null, "file": null, "line": null}]},
            {"detectors": ["lockset"], "sentence": "Another.", "accesses": []}]}"#;
        let found: Found = serde_json::from_str(json).unwrap();
        let reports: Vec<Report> = found.by("happens-before").map(Race::report).collect();
        assert_eq!(reports.len(), 1);
        assert_eq!(reports[0].places, BTreeSet::from(["a.c:3".to_owned(), "a.c:9".to_owned()]));
        assert_eq!(found.by("lockset").count(), 2);
        assert!(found.by("lockset").all(|race| !race.is_torn()));
    }

    #[test]
    fn a_race_of_several_variables_is_true_if_all_its_accesses_are_on_marked_lines() {
        let json = r#"{"races": [{"detectors": ["lockset"], "sentence": "Torn.",
            "accesses": [{"file": "a.c", "line": 3}, {"file": "a.c", "line": 5}],
            "correlated": {"access": {"file": "a.c", "line": 9}}}]}"#;
        let found: Found = serde_json::from_str(json).unwrap();
        let race = found.torn_by("lockset").next().unwrap();
        let lines = |all: &[u32]| all.iter().map(|line| format!("a.c:{line}")).collect();
        assert!(race.is_torn() && race.is_within(&lines(&[3, 5, 9])));
        assert!(!race.is_within(&lines(&[3, 5])));
        let ordered = Found { races: Vec::new(), ordered: found.races };
        assert_eq!((ordered.by("lockset").count(), ordered.torn_by("lockset").count()), (1, 0));
    }
}
