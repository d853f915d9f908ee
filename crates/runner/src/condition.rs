//! A condition that makes a run fail, as the command line has it.

use std::fmt;
use std::str::FromStr;

use regex::bytes::Regex;
use unpick_recording::Outcome;

/// Something that makes a run fail.
#[derive(Debug, Clone)]
pub enum Condition {
    Stdout(Regex),
    Stderr(Regex),
    /// Of the shell's exit status: 128 + n if signal n killed it.
    ExitIs(u8),
    ExitIsNot(u8),
}

impl FromStr for Condition {
    type Err = String;

    /// `stdout ~ /RE/`, `stderr ~ /RE/`, `exit = N`, `exit != N`.
    fn from_str(text: &str) -> Result<Condition, String> {
        let text = text.trim();
        let after = |word: &str, sign: &str| {
            text.strip_prefix(word)?.trim_start().strip_prefix(sign).map(str::trim)
        };
        if let Some(pattern) = after("stdout", "~") {
            return regex(pattern).map(Condition::Stdout);
        }
        if let Some(pattern) = after("stderr", "~") {
            return regex(pattern).map(Condition::Stderr);
        }
        if let Some(code) = after("exit", "!=") {
            return exit_code(code).map(Condition::ExitIsNot);
        }
        if let Some(code) = after("exit", "=") {
            return exit_code(code).map(Condition::ExitIs);
        }
        Err("expected 'stdout ~ /RE/', 'stderr ~ /RE/', 'exit = N' or 'exit != N'".to_owned())
    }
}

impl fmt::Display for Condition {
    /// As it is read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Stdout(pattern) => write!(f, "stdout ~ /{pattern}/"),
            Condition::Stderr(pattern) => write!(f, "stderr ~ /{pattern}/"),
            Condition::ExitIs(code) => write!(f, "exit = {code}"),
            Condition::ExitIsNot(code) => write!(f, "exit != {code}"),
        }
    }
}

fn regex(text: &str) -> Result<Regex, String> {
    let inside = text.strip_prefix('/').and_then(|text| text.strip_suffix('/'));
    let pattern = inside.filter(|pattern| !pattern.is_empty());
    let pattern = pattern.ok_or("expected a pattern between slashes: stdout ~ /LOST/")?;
    Regex::new(pattern).map_err(|error| error.to_string())
}

fn exit_code(text: &str) -> Result<u8, String> {
    text.parse().map_err(|_| "expected an exit code from 0 to 255".to_owned())
}

impl Condition {
    pub(crate) fn in_words(&self, outcome: Outcome) -> String {
        match self {
            Condition::Stdout(pattern) => format!("standard output has /{pattern}/"),
            Condition::Stderr(pattern) => format!("standard error has /{pattern}/"),
            Condition::ExitIs(_) | Condition::ExitIsNot(_) => outcome.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_that_cannot_be_understood_are_refused() {
        for text in ["stdout ~ LOST", "stdout = /a/", "exit = many", "exit", "stdout ~ /(/", "a"] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_condition_is_told_as_it_is_read() {
        for text in ["stdout ~ /a b/", "stderr ~ /^x$/", "exit = 4", "exit != 0"] {
            assert_eq!(text.parse::<Condition>().unwrap().to_string(), text);
        }
    }
}
