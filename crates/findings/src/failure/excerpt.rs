//! The lines of a run's output that say why it failed.
//!
//! Takes   the end of what a run printed.      Gives  the lines from the first panic, assertion or uncaught exception on, else the last lines.

/// Lines and characters of an excerpt.
const MAX_LINES: usize = 5;
const MAX_CHARACTERS: usize = 400;

/// What runtimes and test libraries print where a failure begins. The first one counts: later ones are often its consequences, as
/// panics over a poisoned lock are.
const BEGINNINGS: [&str; 8] = [
    " panicked at ",    // Rust
    "Assertion `",      // glibc, and many others
    "Assertion failed", // musl, BSD
    "terminate called", // libstdc++
    "libc++abi: terminating",
    ": Failure", // GoogleTest
    "ERROR: AddressSanitizer",
    "*** stack smashing",
];

/// Lines that say nothing about the failure.
const ASIDES: [&str; 3] = ["note: run with `RUST_BACKTRACE", "unpick:", "stack backtrace:"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    pub lines: Vec<String>,
    /// The line, or two, that tells this failure from others.
    pub message: String,
    /// It is from where the failure begins.
    pub has_beginning: bool,
}

impl Excerpt {
    /// None: there is no line.
    pub fn of(text: &str) -> Option<Excerpt> {
        let lines: Vec<String> = text.lines().map(clean).filter(|line| is_telling(line)).collect();
        let beginning = lines.iter().position(|line| is_beginning(line));
        let message = match beginning {
            Some(at) => message_from(&lines[at..]),
            None => lines.last()?.trim().to_owned(),
        };
        let shown = match beginning {
            Some(at) => &lines[at..lines.len().min(at + MAX_LINES)],
            None => &lines[lines.len().saturating_sub(MAX_LINES)..],
        };
        let has_beginning = beginning.is_some();
        Some(Excerpt { lines: bounded(shown, has_beginning), message, has_beginning })
    }
}

/// The last lines of a text, without what would steer a terminal.
pub fn last_lines(text: &str) -> Vec<String> {
    let lines: Vec<String> =
        text.lines().map(clean).filter(|line| !line.trim().is_empty()).collect();
    bounded(&lines[lines.len().saturating_sub(MAX_LINES)..], false)
}

fn is_telling(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !ASIDES.iter().any(|aside| line.starts_with(aside))
}

fn is_beginning(line: &str) -> bool {
    BEGINNINGS.iter().any(|beginning| line.contains(beginning))
}

/// A line that ends in a colon, or only announces a failure, is explained by the next one.
fn message_from(lines: &[String]) -> String {
    let first = lines[0].trim();
    let first = first.split_once(" panicked at ").map_or(first, |(_, place)| place);
    match lines.get(1) {
        Some(next) if first.ends_with(':') || first.ends_with(": Failure") => {
            format!("{} {}", first, next.trim())
        }
        _ => first.to_owned(),
    }
}

/// As many of the lines as there is room for: the first ones, or the last ones.
fn bounded(lines: &[String], from_the_first: bool) -> Vec<String> {
    let mut left = MAX_CHARACTERS;
    let mut fitting = |line: &String| {
        let length = line.chars().count();
        let taken = length.min(left);
        left -= taken;
        let cut: String = line.chars().take(taken).collect();
        match taken {
            0 => None,
            _ if taken < length => Some(cut + "…"),
            _ => Some(cut),
        }
    };
    if from_the_first {
        return lines.iter().map_while(&mut fitting).collect();
    }
    let mut kept: Vec<_> = lines.iter().rev().map_while(&mut fitting).collect();
    kept.reverse();
    kept
}

/// A line without colours; in place of control characters, and of marks that turn the direction of text, stands U+FFFD.
fn clean(line: &str) -> String {
    let mut text = String::new();
    let mut characters = line.trim_end().chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '\t' => text.push_str("    "),
            '\u{1b}' if characters.peek() == Some(&'[') => {
                // A control sequence ends with a character from @ to ~.
                characters.next();
                let _ = characters.find(|c| ('@'..='~').contains(c));
            }
            c if c.is_control() || turns_direction(c) => text.push('\u{fffd}'),
            c => text.push(c),
        }
    }
    text
}

fn turns_direction(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Excerpt::of(text).unwrap().message
    }

    #[test]
    fn a_panic_is_told_by_its_place_and_message_and_the_first_one_counts() {
        let text = "running 1 test\n\n---- tests::jobs stdout ----\n\
            thread 'tests::jobs' (123) panicked at src/pool.rs:42:9:\nlost job 17\n\
            note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n\
            thread 'worker' panicked at src/pool.rs:50:1:\nPoisonError\n\n\
            failures:\n    tests::jobs\n\ntest result: FAILED. 0 passed; 1 failed\n";
        let excerpt = Excerpt::of(text).unwrap();
        assert_eq!(excerpt.message, "src/pool.rs:42:9: lost job 17");
        assert_eq!(excerpt.lines[1], "lost job 17");
        assert_eq!(excerpt.lines.len(), 5);
    }

    #[test]
    fn an_assertion_or_an_exception_is_told_by_its_line() {
        let text = "bank: bank.c:12: main: Assertion `sum == 2' failed.\n";
        assert_eq!(message(text), text.trim());
        let text = "log\nterminate called after throwing an instance of 'std::runtime_error'\n  what():  lost\n";
        assert!(message(text).starts_with("terminate called"));
        assert_eq!(Excerpt::of(text).unwrap().lines.len(), 2);
        assert_eq!(
            message("a_test.cc:7: Failure\nExpected: x\n"),
            "a_test.cc:7: Failure Expected: x"
        );
    }

    #[test]
    fn else_the_last_line_counts() {
        assert_eq!(message("begin\nlost 3 of 4\n\n"), "lost 3 of 4");
        assert_eq!(Excerpt::of("\n \n"), None);
    }

    #[test]
    fn nothing_steers_the_terminal_and_nothing_is_long() {
        let excerpt = Excerpt::of("\u{1b}[31mred\u{1b}[0m \u{7}\u{1b}]0;title\u{202e}x").unwrap();
        assert_eq!(excerpt.lines, ["red \u{fffd}\u{fffd}]0;title\u{fffd}x"]);
        let long = "x".repeat(1000) + "\n" + &"y\n".repeat(20);
        assert_eq!(last_lines(&long), ["y"; 5]);
        let lines = last_lines(&("z".repeat(300) + "\n" + &"x".repeat(300)));
        let characters: usize = lines.iter().map(|line| line.trim_end_matches('…').len()).sum();
        assert_eq!((lines.len(), characters), (2, 400));
    }
}
