//! What could not be read, and what helps.

use std::collections::HashMap;

use unpick_problem::Problem;

/// What helps where headers are not found.
const HEADERS: &str = "unpick: next: say where headers are: a compile_commands.json (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or bear -- make), or compile once by unpick cc";

/// Sentences about what is missing that are printed; JSON has them all.
const MISSING_SHOWN: usize = 8;

pub fn told_missing(missing: &[String]) -> Vec<String> {
    let told = told_once(missing);
    let mut lines: Vec<String> = told.iter().take(MISSING_SHOWN).map(Told::line).collect();
    if told.len() > MISSING_SHOWN {
        let more: usize = told[MISSING_SHOWN..].iter().map(|one| one.times).sum();
        lines.push(format!("unpick: {more} more of this kind: --json FILE has them all"));
    }
    if missing.iter().any(|line| line.contains("file not found")) {
        lines.push(HEADERS.to_owned());
    }
    lines
}

/// A sentence, and of how many files it is true.
struct Told<'a> {
    /// The first of them.
    sentence: &'a str,
    times: usize,
}

impl Told<'_> {
    fn line(&self) -> String {
        let sentence = self.sentence.trim_start_matches("error: ");
        match self.times - 1 {
            0 => format!("unpick: {sentence}"),
            1 => format!("unpick: {sentence}; the same in another file"),
            others => format!("unpick: {sentence}; the same in {others} other files"),
        }
    }
}

/// What is said of several places, one missing header mostly, is said once.
fn told_once(missing: &[String]) -> Vec<Told<'_>> {
    let mut told: Vec<Told<'_>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for sentence in missing {
        let place = *places.entry(without_place(sentence)).or_insert(told.len());
        match told.get_mut(place) {
            Some(known) => known.times += 1,
            None => told.push(Told { sentence, times: 1 }),
        }
    }
    told
}

/// `a.c:3: 'x.h' file not found (and 2 more)` without file, line and what else there was: the whole, if there is no line.
fn without_place(sentence: &str) -> &str {
    let is_line = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = sentence.splitn(3, ':');
    let (Some(_), Some(_), Some(text)) = (parts.next(), parts.next().filter(is_line), parts.next())
    else {
        return sentence;
    };
    text.split(" (and ").next().unwrap_or(text)
}

pub fn nothing_read() -> Problem {
    Problem::usage("no source could be read")
        .why("what stands in the way is told above")
        .next("unpick correlate --help says what is needed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_true_of_several_files_is_told_once() {
        let missing = ["a.c:3: 'x.h' file not found (and 2 more)", "b.c:4: 'x.h' file not found"]
            .map(str::to_owned);
        let told = told_missing(&missing);
        let line = "unpick: a.c:3: 'x.h' file not found (and 2 more); the same in another file";
        assert_eq!(told, [line, HEADERS]);
    }

    #[test]
    fn a_long_list_of_what_is_missing_is_cut() {
        let missing: Vec<String> = (0..20).map(|at| format!("{at}.c: no")).collect();
        let told = told_missing(&missing);
        assert_eq!(told.len(), MISSING_SHOWN + 1);
        assert!(told[MISSING_SHOWN].contains("12 more"));
    }
}
