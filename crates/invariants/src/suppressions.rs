//! Suppressions: violations that are known and put up with.
//!
//! Takes   lines of text, trusted in nothing.      Gives  which violations are not to be reported.
//!
//! ```text
//! # one per line; * stands for any letters
//! file third_party/*
//! function log_*
//! finding 3f2a9c41
//! ```
//!
//! A file or function counts for any access of a violation: who comes between is as good a reason as where.

use unpick_problem::Problem;

/// What is known of a violation.
#[derive(Debug, Clone, Copy)]
pub struct Violated<'v> {
    pub id: &'v str,
    /// Of all its accesses.
    pub files: &'v [&'v str],
    pub functions: &'v [&'v str],
}

/// What is not to be reported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Suppressions {
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Rule {
    File(String),
    Function(String),
    Finding(String),
}

impl Suppressions {
    /// Reads a file of them; `name` says in problems where it came from.
    pub fn from_text(text: &str, name: &str) -> Result<Suppressions, Problem> {
        let mut rules = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                rules.push(rule(line).map_err(|why| unreadable(name, number, &why))?);
            }
        }
        Ok(Suppressions { rules })
    }

    pub fn cover(&self, violated: Violated<'_>) -> bool {
        self.rules.iter().any(|rule| match rule {
            Rule::File(pattern) => violated.files.iter().any(|file| is_file(pattern, file)),
            Rule::Function(pattern) => violated.functions.iter().any(|name| fits(pattern, name)),
            Rule::Finding(id) => id == violated.id,
        })
    }
}

fn rule(line: &str) -> Result<Rule, String> {
    let (kind, what) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let what = what.trim().to_owned();
    if what.is_empty() {
        return Err(format!("`{kind}` needs what is to be left out"));
    }
    match kind {
        "file" => Ok(Rule::File(what)),
        "function" => Ok(Rule::Function(what)),
        "finding" => Ok(Rule::Finding(what)),
        other => Err(format!("`{other}` is none of file, function, finding")),
    }
}

/// The whole path, or its end after a slash.
fn is_file(pattern: &str, file: &str) -> bool {
    let ends = file.match_indices('/').map(|(at, _)| &file[at + 1..]);
    [file].into_iter().chain(ends).any(|end| fits(pattern, end))
}

/// Whether a text is as a pattern says, in which `*` stands for any letters.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

fn unreadable(name: &str, line: usize, why: &str) -> Problem {
    Problem::usage("the suppressions cannot be used")
        .at("file", name)
        .why(format!("line {line}: {why}"))
        .next("write lines like: file third_party/*, function log_*, finding 3f2a9c41")
}
