//! Suppression files of ThreadSanitizer: what people have already said they do not want to be told.
//!
//! Takes   lines of text, trusted in nothing.      Gives  which rule covers a race, and how many each has covered.
//!
//! ```text
//! # one per line: what it is about, and a pattern; * stands for any letters, ^ and $ for the ends of a name
//! race:third_party/*
//! race_top:^log_line$
//! called_from_lib:libzmq.so
//! ```
//!
//! Without `^` and `$` a pattern fits anywhere in a name. Names are functions, files and modules of the frames of both accesses, and the
//! variable; `race_top` looks at the innermost frames only, `called_from_lib` at who called a library function that made the access.

use unpick_problem::Problem;

use crate::finding::FindingAccess;
use crate::race::RaceFinding;

/// What a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Race,
    RaceTop,
    CalledFromLib,
    Deadlock,
    /// Misused locks, leaked threads, signals: not reported as races.
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    about: About,
    text: String,
    pattern: String,
    count: u64,
}

/// The rules of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TsanSuppressions {
    rules: Vec<Rule>,
}

impl TsanSuppressions {
    /// Reads a file of them; `name` says in problems where it came from.
    pub fn from_text(text: &str, name: &str) -> Result<TsanSuppressions, Problem> {
        let mut rules = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                rules.push(rule(line).map_err(|why| unreadable(name, number, &why))?);
            }
        }
        Ok(TsanSuppressions { rules })
    }

    /// Adds the rules of another file.
    pub fn extend(&mut self, other: TsanSuppressions) {
        self.rules.extend(other.rules);
    }

    /// Whether a race is not to be told; the first rule that covers it counts it.
    pub fn cover_race(&mut self, race: &RaceFinding) -> bool {
        let rule = self.rules.iter_mut().find(|rule| rule.covers(race));
        rule.map(|rule| rule.count += 1).is_some()
    }

    /// Whether a possible deadlock is not to be told, by the names in the frames of its locks.
    pub fn cover_deadlock(&mut self, names: &[&str]) -> bool {
        let fits_any = |rule: &Rule| names.iter().any(|name| fits(&rule.pattern, name));
        let mut rules = self.rules.iter_mut().filter(|rule| rule.about == About::Deadlock);
        rules.find(|rule| fits_any(rule)).map(|rule| rule.count += 1).is_some()
    }

    /// Each rule as it was written, and how many reports it has covered.
    pub fn counts(&self) -> impl Iterator<Item = (&str, u64)> {
        self.rules.iter().map(|rule| (rule.text.as_str(), rule.count))
    }
}

impl Rule {
    fn covers(&self, race: &RaceFinding) -> bool {
        let fits = |name: &str| fits(&self.pattern, name);
        match self.about {
            About::Race => {
                race.variable.as_deref().is_some_and(fits)
                    || race.accesses.iter().any(|access| all_names(access).any(fits))
            }
            About::RaceTop => race.accesses.iter().any(|access| top_names(access).any(fits)),
            About::CalledFromLib => race
                .accesses
                .iter()
                .any(|access| access.library && access.code.module.as_deref().is_some_and(fits)),
            About::Deadlock | About::Other => false,
        }
    }
}

fn top_names(access: &FindingAccess) -> impl Iterator<Item = &str> {
    let frame = &access.frame;
    let names = [&frame.function, &frame.file, &access.code.module];
    names.into_iter().filter_map(|name| name.as_deref())
}

fn all_names(access: &FindingAccess) -> impl Iterator<Item = &str> {
    let frames = access.inlined_into.iter().chain(&access.stack);
    let of_frames = frames.flat_map(|frame| [&frame.function, &frame.file]);
    let modules = access.calls.iter().map(|call| &call.module);
    top_names(access).chain(of_frames.chain(modules).filter_map(|name| name.as_deref()))
}

fn rule(line: &str) -> Result<Rule, String> {
    let Some((about, pattern)) = line.split_once(':') else {
        return Err("there is no colon between what it is about and the pattern".to_owned());
    };
    let about = match about.trim() {
        "race" => About::Race,
        "race_top" => About::RaceTop,
        "called_from_lib" => About::CalledFromLib,
        "deadlock" => About::Deadlock,
        "mutex" | "thread" | "signal" => About::Other,
        other => return Err(format!("`{}` is no kind of suppression", other.escape_debug())),
    };
    let pattern = pattern.trim().to_owned();
    if pattern.trim_matches(['*', '^', '$']).is_empty() {
        return Err("its pattern would fit everything, or nothing".to_owned());
    }
    Ok(Rule { about, text: line.to_owned(), pattern, count: 0 })
}

/// Whether a name has a part as the pattern says.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, from_start) = match pattern.strip_prefix('^') {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let (pattern, to_end) = match pattern.strip_suffix('$') {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let mut parts: Vec<&str> = pattern.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    let mut rest = name;
    let mut is_first = true;
    for part in parts {
        let at = if is_first && from_start {
            rest.starts_with(part).then_some(0)
        } else {
            rest.find(part)
        };
        let Some(at) = at else { return false };
        rest = &rest[at + part.len()..];
        is_first = false;
    }
    match (is_first && from_start, to_end) {
        (true, true) => rest == last,
        (true, false) => rest.starts_with(last),
        (false, true) => rest.ends_with(last),
        (false, false) => rest.contains(last),
    }
}

fn unreadable(name: &str, line: usize, why: &str) -> Problem {
    Problem::usage("the suppressions cannot be used")
        .at("file", name)
        .why(format!("line {line}: {why}"))
        .next("write them as for ThreadSanitizer: race:NAME, race_top:NAME, called_from_lib:LIBRARY, mutex:NAME, deadlock:NAME")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_those_of_thread_sanitizer() {
        assert!(fits("log", "do_log_line"));
        assert!(!fits("^log", "do_log_line"));
        assert!(fits("^do*line$", "do_log_line"));
        assert!(!fits("^do*log$", "do_log_line"));
        assert!(fits("third_party/*", "/src/third_party/zlib/inflate.c"));
        assert!(fits("a*b*c", "xxaxbxcx"));
        assert!(!fits("a*c*b", "abc"));
        assert!(fits("^main$", "main"));
        assert!(!fits("^main$", "main2"));
    }

    #[test]
    fn what_is_no_rule_is_told_by_line() {
        let told = |text| TsanSuppressions::from_text(text, "quiet.txt").unwrap_err().to_string();
        assert!(told("# fine\n\nrace main").contains("line 3"), "{}", told("# fine\n\nrace main"));
        assert!(told("races:main").contains("`races`"));
        assert!(told("race:*").contains("everything"));
        assert!(TsanSuppressions::from_text("mutex:m\nthread:t\nsignal:s\n", "x").is_ok());
    }

    #[test]
    fn rules_count_what_they_cover() {
        let mut rules = TsanSuppressions::from_text("race:x\ndeadlock:^take", "quiet.txt").unwrap();
        assert!(rules.cover_deadlock(&["take_both"]));
        assert!(!rules.cover_deadlock(&["x"]));
        assert_eq!(rules.counts().collect::<Vec<_>>(), [("race:x", 0), ("deadlock:^take", 1)]);
    }
}
