//! What the environment says, read once. Whatever is wrong there gives one line and the default.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::complaint;

/// No pause is longer, whatever a program or its environment says: a test must end.
pub const LONGEST_PAUSE: Duration = Duration::from_secs(600);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Settings {
    pub choice: Choice,
    /// In place of every pause in the program.
    pub pause: Option<Duration>,
    pub report: Option<PathBuf>,
}

/// `UNPICK_BREAKPOINTS`: which breakpoints are on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Choice {
    #[default]
    All,
    None,
    Only(BTreeSet<String>),
}

impl Choice {
    pub fn has(&self, name: &str) -> bool {
        match self {
            Choice::All => true,
            Choice::None => false,
            Choice::Only(names) => names.contains(name),
        }
    }
}

impl Settings {
    /// From the variables, with what there is to complain about.
    pub fn read(variable: impl Fn(&str) -> Option<String>) -> (Self, Vec<String>) {
        let mut complaints = Vec::new();
        let choice = variable("UNPICK_BREAKPOINTS").map_or(Ok(Choice::All), |text| choice(&text));
        let pause = variable("UNPICK_BREAKPOINT_PAUSE_MS").map_or(Ok(None), |text| pause(&text));
        let report = variable("UNPICK_BREAKPOINT_REPORT").filter(|text| !text.is_empty());
        let settings = Self {
            choice: choice.unwrap_or_else(|complaint| {
                complaints.push(complaint);
                Choice::All
            }),
            pause: pause.unwrap_or_else(|complaint| {
                complaints.push(complaint);
                None
            }),
            report: report.map(PathBuf::from),
        };
        (settings, complaints)
    }
}

fn choice(text: &str) -> Result<Choice, String> {
    match text.trim() {
        "" | "on" => Ok(Choice::All),
        "off" => Ok(Choice::None),
        list => {
            let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
            let names: BTreeSet<String> = names.map(str::to_owned).collect();
            if names.is_empty() { Err(complaint::no_names(text)) } else { Ok(Choice::Only(names)) }
        }
    }
}

fn pause(text: &str) -> Result<Option<Duration>, String> {
    let complaint = || complaint::bad_pause(text, LONGEST_PAUSE.as_millis());
    match text.trim() {
        "" => Ok(None),
        number if !number.bytes().all(|byte| byte.is_ascii_digit()) => Err(complaint()),
        number => {
            let pause = number.parse().map(Duration::from_millis).map_err(|_| complaint())?;
            if pause <= LONGEST_PAUSE { Ok(Some(pause)) } else { Err(complaint()) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, text: &str) -> (Settings, Vec<String>) {
        Settings::read(|asked| (asked == name).then(|| text.to_owned()))
    }

    #[test]
    fn the_environment_chooses_by_name() {
        let only = |names: &[&str]| Choice::Only(names.iter().map(|&name| name.into()).collect());
        for (text, choice) in [
            ("", Choice::All),
            ("on", Choice::All),
            ("off", Choice::None),
            ("one", only(&["one"])),
            (" one , two,", only(&["one", "two"])),
        ] {
            let (settings, complaints) = read("UNPICK_BREAKPOINTS", text);
            assert_eq!((settings.choice, complaints.len()), (choice, 0), "{text}");
        }
        let (settings, complaints) = read("UNPICK_BREAKPOINTS", " ,,");
        assert_eq!(settings.choice, Choice::All);
        assert_eq!(complaints.len(), 1);
    }

    #[test]
    fn a_pause_that_is_no_number_gives_one_line_and_is_not_used() {
        let (settings, complaints) = read("UNPICK_BREAKPOINT_PAUSE_MS", "250");
        assert_eq!((settings.pause, complaints.len()), (Some(Duration::from_millis(250)), 0));
        for text in ["-1", "+5", "1.5", "fast", "99999999999999999999", "600001"] {
            let (settings, complaints) = read("UNPICK_BREAKPOINT_PAUSE_MS", text);
            assert_eq!((settings.pause, complaints.len()), (None, 1), "{text}");
            assert!(!complaints[0].contains('\n'));
        }
    }
}
