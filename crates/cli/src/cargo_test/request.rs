//! The words behind `--cargo`: which of them are options of cargo, which of the test program, and which name the test.
//!
//! Takes   `test [cargo's options] NAME [-- options of the test program]`.
//! Gives   these three apart. A name is as libtest has it (`bank::transfer`), or as nextest prints it, with the program's
//!         id in front: two words, or `id$name`.
//! Misses  values of options that a newer cargo has; `--option=value` is always understood.

use std::ffi::OsString;

use unpick_problem::Problem;

use crate::record::quoted;

/// Options of `cargo test` whose value is the next word.
const CARGO_OPTIONS_WITH_VALUE: [&str; 21] = [
    "-p",
    "--package",
    "--exclude",
    "--bin",
    "--example",
    "--test",
    "--bench",
    "-F",
    "--features",
    "--target",
    "--target-dir",
    "--profile",
    "-j",
    "--jobs",
    "--manifest-path",
    "--lockfile-path",
    "--message-format",
    "--color",
    "--config",
    "-Z",
    "-C",
];

/// The same of libtest.
const HARNESS_OPTIONS_WITH_VALUE: [&str; 7] =
    ["--test-threads", "--logfile", "--skip", "--color", "--format", "-Z", "--shuffle-seed"];

/// What is to be built, and which test is meant.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// For cargo: toolchain, `test`, options.
    pub cargo: Vec<String>,
    /// Id of the test program, if it was named.
    pub program: Option<String>,
    /// Name of the test, or a part of it.
    pub test: String,
    /// For the test program.
    pub harness_options: Vec<String>,
    /// `--exact`: a part of the name does not do.
    pub is_exact: bool,
}

impl Request {
    pub fn parse(words: &[OsString]) -> Result<Request, Problem> {
        let words: Vec<String> =
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
        let (for_cargo, for_harness) = (&words[..end], words.get(end + 1..).unwrap_or_default());
        let command_at = usize::from(for_cargo.first().is_some_and(|word| word.starts_with('+')));
        refuse_other_commands(for_cargo.get(command_at))?;
        let (beginning, rest) = for_cargo.split_at(command_at + 1);
        let (options, mut names) = split(rest, &CARGO_OPTIONS_WITH_VALUE);
        let (mut harness_options, filters) = split(for_harness, &HARNESS_OPTIONS_WITH_VALUE);
        names.extend(filters);
        refuse_doctests(&options, &names)?;
        let (program, test) = program_and_test(&names)?;
        let is_exact = harness_options.iter().any(|option| option == "--exact");
        harness_options.retain(|option| option != "--exact");
        let cargo = [beginning, &options].concat();
        Ok(Request { cargo, program, test, harness_options, is_exact })
    }

    /// Whether the user has said what becomes of tests that are marked `#[ignore]`.
    pub fn runs_ignored(&self) -> bool {
        self.harness_options
            .iter()
            .any(|option| option == "--ignored" || option == "--include-ignored")
    }

    /// The request in words that a command line of Unpick can end with.
    pub fn written_as(&self) -> Vec<String> {
        self.with_name(self.program.iter().chain([&self.test]))
    }

    /// The same request for one test, ready to be pasted.
    pub fn naming(&self, program: &str, test: &str) -> String {
        let words = self.with_name([program.to_owned(), test.to_owned()].iter());
        words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    fn with_name<'a>(&self, name: impl Iterator<Item = &'a String>) -> Vec<String> {
        let mut words = vec!["--cargo".to_owned()];
        words.extend(self.cargo.iter().cloned());
        words.extend(name.cloned());
        let exact = self.is_exact.then(|| "--exact".to_owned());
        let options: Vec<String> = self.harness_options.iter().cloned().chain(exact).collect();
        if !options.is_empty() {
            words.push("--".to_owned());
            words.extend(options);
        }
        words
    }
}

/// Options with their values, and what is neither.
fn split(words: &[String], with_value: &[&str]) -> (Vec<String>, Vec<String>) {
    let (mut options, mut names) = (Vec::new(), Vec::new());
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            names.push(word.clone());
            continue;
        }
        options.push(word.clone());
        if with_value.contains(&word.as_str()) {
            options.extend(rest.next().cloned());
        }
    }
    (options, names)
}

/// No name at all is a part of every name.
fn program_and_test(names: &[String]) -> Result<(Option<String>, String), Problem> {
    match names {
        [] => Ok((None, String::new())),
        [name] => Ok(match name.split_once('$') {
            Some((program, test)) => (Some(program.to_owned()), test.to_owned()),
            None => (None, name.clone()),
        }),
        [program, test] => Ok((Some(program.clone()), test.clone())),
        _ => Err(Problem::usage("more than one test is named")
            .at("words", names.join(" "))
            .why("a hunt compares runs of one test")
            .next("name one: --cargo test bank::transfer, or with its program: --cargo test my-crate::binary bank::transfer")),
    }
}

fn refuse_other_commands(command: Option<&String>) -> Result<(), Problem> {
    match command.map(String::as_str) {
        Some("test" | "t") => Ok(()),
        other => Err(Problem::usage("--cargo knows tests only")
            .at("command", format!("cargo {}", other.unwrap_or_default()))
            .why("it runs one test by itself")
            .next("--cargo test NAME; for other programs: unpick cargo build, then unpick hunt -- target/unpick/x86_64-unknown-linux-gnu/debug/PROGRAM")),
    }
}

fn refuse_doctests(options: &[String], names: &[String]) -> Result<(), Problem> {
    let is_doctest = |name: &String| name.contains(" - ") || name.contains("(line ");
    if !options.iter().any(|option| option == "--doc") && !names.iter().any(is_doctest) {
        return Ok(());
    }
    Err(Problem::usage("a doctest cannot be run by itself")
        .why("rustdoc builds it, runs it and throws it away")
        .next("put its code into a #[test] function, and name that"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &[&str]) -> Result<Request, Problem> {
        Request::parse(&line.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn options_are_told_from_the_name() {
        let request = parse(&[
            "+nightly",
            "test",
            "-p",
            "bank",
            "--release",
            "transfer",
            "--",
            "--skip",
            "slow",
        ]);
        let request = request.unwrap();
        assert_eq!(request.cargo, ["+nightly", "test", "-p", "bank", "--release"]);
        assert_eq!((request.program.as_deref(), request.test.as_str()), (None, "transfer"));
        assert_eq!(request.harness_options, ["--skip", "slow"]);
    }

    #[test]
    fn a_name_may_be_as_nextest_prints_it_or_behind_the_dashes() {
        for words in [
            &["test", "bank::integration", "transfer"][..],
            &["test", "bank::integration$transfer"],
            &["t", "bank::integration", "--", "transfer"],
        ] {
            let request = parse(words).unwrap();
            assert_eq!(request.program.as_deref(), Some("bank::integration"), "{words:?}");
            assert_eq!(request.test, "transfer", "{words:?}");
        }
    }

    #[test]
    fn what_was_asked_can_be_asked_again() {
        let words = ["test", "--release", "bank", "transfer", "--", "--nocapture", "--exact"];
        let request = parse(&words).unwrap();
        assert!(request.is_exact && request.harness_options == ["--nocapture"]);
        assert_eq!(request.written_as()[1..], words);
        assert_eq!(
            request.naming("bank::it", "a b"),
            "--cargo test --release bank::it 'a b' -- --nocapture --exact"
        );
    }

    #[test]
    fn what_cannot_be_run_as_one_test_is_refused() {
        for words in [
            &["run"][..],
            &["nextest", "run", "transfer"],
            &["+nightly"],
            &["test", "one", "two", "three"],
            &["test", "--doc"],
            &["test", "src/lib.rs - (line 3)"],
        ] {
            assert_eq!(parse(words).unwrap_err().exit_code(), 2, "{words:?}");
        }
    }
}
