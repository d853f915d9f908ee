//! The one shape of an error a user sees: what went wrong, where, why, and what to do next.
//!
//! Every crate that can fail in front of a user returns a [`Problem`]; only `cli` prints it and
//! turns it into an exit code.
#![forbid(unsafe_code)]

use std::fmt;

/// Exit codes Unpick itself uses; anything else is the exit code of the program that was run.
pub mod exit {
    /// The command line was wrong, or what it names cannot be used.
    pub const USAGE: u8 = 2;
    /// Failing runs were seen, and there are findings.
    pub const FINDINGS: u8 = 66;
    /// Failing runs were seen, but nothing goes with them.
    pub const NO_CORRELATION: u8 = 67;
    /// A reproducer says nothing about the program as it is now: its code is not there, or was never reached; or none was made, because
    /// it would make no run fail.
    pub const DOES_NOT_APPLY: u8 = 68;
    /// A reproducer that was never seen to fail made no run fail: that shows nothing.
    pub const NOT_CHECKED: u8 = 69;
    /// Unpick itself failed; the program under test is not to blame.
    pub const OWN_FAULT: u8 = 70;
    /// The user interrupted a hunt before any run failed; as a shell gives it for Ctrl-C.
    pub const INTERRUPTED: u8 = 130;
}

/// A failure, told so that the reader knows what to do next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    what: String,
    place: Option<(&'static str, String)>,
    why: Option<String>,
    next: Option<String>,
    exit_code: u8,
}

impl Problem {
    /// The caller asked for something that cannot be done as asked (exit code 2).
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(what, exit::USAGE)
    }

    /// Unpick, the machine or the disk failed (exit code 70).
    pub fn own_fault(what: impl Into<String>) -> Self {
        Self::new(what, exit::OWN_FAULT)
    }

    /// A reproducer says nothing about the program (exit code 68).
    pub fn does_not_apply(what: impl Into<String>) -> Self {
        Self::new(what, exit::DOES_NOT_APPLY)
    }

    fn new(what: impl Into<String>, exit_code: u8) -> Self {
        Self { what: what.into(), place: None, why: None, next: None, exit_code }
    }

    /// Where it happened; `label` names the kind of place (`file`, `folder`, `command`).
    #[must_use]
    pub fn at(mut self, label: &'static str, place: impl fmt::Display) -> Self {
        self.place = Some((label, place.to_string()));
        self
    }

    #[must_use]
    pub fn why(mut self, why: impl fmt::Display) -> Self {
        self.why = Some(why.to_string());
        self
    }

    #[must_use]
    pub fn next(mut self, next: impl fmt::Display) -> Self {
        self.next = Some(next.to_string());
        self
    }

    /// What went wrong and why, where there is room for one line only.
    pub fn in_one_line(&self) -> String {
        [Some(self.what.clone()), self.reason()]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(": ")
    }

    /// Where and why, in one line: `step 2: no thread ever came there`.
    pub fn reason(&self) -> Option<String> {
        let place = self.place.as_ref().map(|(label, place)| format!("{label} {place}"));
        let parts: Vec<_> = [place, self.why.clone()].into_iter().flatten().collect();
        let text = parts.join(": ");
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!line.is_empty()).then_some(line)
    }

    pub fn exit_code(&self) -> u8 {
        self.exit_code
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        let place = self.place.as_ref().map(|(label, place)| (*label, place.as_str()));
        let why = self.why.as_deref().map(|why| ("why", why));
        let next = self.next.as_deref().map(|next| ("next", next));
        let parts: Vec<_> = [place, why, next].into_iter().flatten().collect();
        let width = parts.iter().map(|(label, _)| label.len() + 1).max().unwrap_or(0);
        for (label, text) in parts {
            write!(f, "\n  {:<width$} {text}", format!("{label}:"))?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_is_printed_as_what_where_why_next() {
        let problem = Problem::usage("run 42 cannot be read")
            .at("file", "runs/42/events")
            .why("it is truncated")
            .next("record it again");
        assert_eq!(
            problem.to_string(),
            "error: run 42 cannot be read\n  file: runs/42/events\n  why:  it is truncated\n  next: record it again"
        );
        assert_eq!(problem.exit_code(), 2);
    }

    #[test]
    fn one_line_has_what_where_and_why() {
        let problem =
            Problem::usage("run 42 cannot be read").at("file", "42").why("it is\n  short");
        assert_eq!(problem.in_one_line(), "run 42 cannot be read: file 42: it is short");
        assert_eq!(Problem::usage("no").reason(), None);
    }

    #[test]
    fn parts_are_aligned_below_a_long_label() {
        let problem = Problem::usage("it does not run").at("compiler", "gcc").why("it is a folder");
        assert_eq!(
            problem.to_string(),
            "error: it does not run\n  compiler: gcc\n  why:      it is a folder"
        );
    }

    #[test]
    fn parts_that_are_not_known_are_left_out() {
        assert_eq!(Problem::own_fault("disk is gone").to_string(), "error: disk is gone");
    }
}
