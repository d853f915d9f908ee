//! `unpick doctor`: what works on this machine, what does not, and what to do about it.
//!
//! Compilers are not asked for their version but tried: a threaded program is compiled, linked with
//! the runtime, run, and its debug information read back.

mod compilers;
mod machine;
mod trial;

use std::fmt;
use std::io::Write;
use std::process::ExitCode;
use unpick_instrument::runtime_files;
use unpick_problem::{Problem, exit};

/// Succeeds if C programs can be instrumented here; everything else is advice.
pub fn run() -> Result<ExitCode, Problem> {
    let runtime = runtime_files()?;
    let compilers = compilers::examine(&runtime);
    let report = section("Compilers", &compilers.checks)
        + &section("Machine", &machine::examine(&runtime))
        + &format!("\n{}\n", verdict(compilers.c_works));
    // Nobody reads the rest of a closed pipe, e.g. `unpick doctor | head`.
    let _ = std::io::stdout().write_all(report.as_bytes());
    Ok(if compilers.c_works { ExitCode::SUCCESS } else { ExitCode::from(exit::OWN_FAULT) })
}

fn verdict(c_works: bool) -> &'static str {
    if c_works {
        "Ready. Try: unpick demo"
    } else {
        "Not ready: no C compiler works here. Follow the advice, then run this again."
    }
}

/// One line of the report.
struct Check {
    state: State,
    subject: String,
    detail: String,
    next: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Good,
    /// Not needed, or needed only sometimes.
    Absent,
    Bad,
}

impl Check {
    fn good(subject: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { state: State::Good, subject: subject.into(), detail: detail.into(), next: None }
    }

    fn absent(subject: impl Into<String>, next: impl Into<String>) -> Self {
        let detail = "not installed".to_owned();
        Self { state: State::Absent, subject: subject.into(), detail, next: Some(next.into()) }
    }

    fn bad(subject: impl Into<String>, detail: impl Into<String>, next: impl Into<String>) -> Self {
        let next = Some(next.into());
        Self { state: State::Bad, subject: subject.into(), detail: detail.into(), next }
    }
}

fn section(title: &str, checks: &[Check]) -> String {
    let lines: String = checks.iter().map(Check::to_string).collect();
    format!("{title}\n{lines}")
}

const WIDTH: usize = 80;
const DETAIL_COLUMN: usize = 29;

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let beginning = format!("  {:<7}{}", self.state.to_string(), self.subject);
        write_wrapped(f, &format!("{beginning:<DETAIL_COLUMN$}"), &self.detail)?;
        match &self.next {
            Some(next) => write_wrapped(f, &" ".repeat(DETAIL_COLUMN), &format!("next: {next}")),
            None => Ok(()),
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Good => "ok",
            Self::Absent => "-",
            Self::Bad => "FAILS",
        })
    }
}

/// Words after `beginning`, continued below themselves where the line is full.
fn write_wrapped(f: &mut fmt::Formatter<'_>, beginning: &str, text: &str) -> fmt::Result {
    let mut line = beginning.to_owned();
    for word in text.split_whitespace() {
        let has_words = line.trim_end().len() > DETAIL_COLUMN;
        if has_words && line.chars().count() + 1 + word.chars().count() > WIDTH {
            writeln!(f, "{}", line.trim_end())?;
            line = " ".repeat(DETAIL_COLUMN);
        }
        if !line.ends_with(' ') {
            line.push(' ');
        }
        line.push_str(word);
    }
    writeln!(f, "{}", line.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_aligned_and_fit_a_terminal() {
        let detail = "the program was compiled and linked, but running it gave exit status 11 and no output at all";
        let text = Check::bad("clang++-16 16.0.6", detail, "apt install clang-16").to_string();
        assert_eq!(
            text,
            "  FAILS  clang++-16 16.0.6   the program was compiled and linked, but running it\n\
             \x20                            gave exit status 11 and no output at all\n\
             \x20                            next: apt install clang-16\n"
        );
        assert!(text.lines().all(|line| line.len() <= WIDTH));
    }
}
