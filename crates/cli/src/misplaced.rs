//! Options of Unpick behind the program or the test, where they are the program's or cargo's.
//!
//! Takes   the words behind `--cargo`, or a program with its arguments.      Gives  a problem, or a warning, that says where the option belongs.
//! Misses  short options, and options that cargo has too.

use std::collections::BTreeMap;
use std::ffi::OsString;

use clap::{Arg, Command, CommandFactory};
use unpick_problem::Problem;

use crate::CommandLine;
use crate::record::quoted;

/// Verbs that are told a program, or a test of a cargo project.
const VERBS: [&str; 5] = ["hunt", "record", "train", "watch", "races"];
/// Options that are cargo's as well: behind `--cargo` they are meant for it.
const ALSO_OF_CARGO: [&str; 5] = ["cargo", "help", "jobs", "quiet", "test"];

/// An option with its value, as it was written.
#[derive(Debug, PartialEq, Eq)]
struct Misplaced {
    name: String,
    words: Vec<String>,
}

/// Refuses options of Unpick among those of cargo.
pub fn refuse_behind_cargo(words: &[OsString]) -> Result<(), Problem> {
    let command = CommandLine::command();
    let of_verbs = VERBS.iter().filter_map(|verb| command.find_subcommand(verb));
    let mut options: BTreeMap<_, _> = of_verbs.flat_map(options_of).collect();
    options.retain(|name, _| !ALSO_OF_CARGO.contains(&name.as_str()));
    let for_cargo = words.iter().take_while(|word| *word != "--");
    let for_cargo: Vec<_> = for_cargo.map(|word| word.to_string_lossy().into_owned()).collect();
    let Some(Misplaced { name, words }) = first_of(&options, &for_cargo) else { return Ok(()) };
    let words = in_a_shell(&words);
    Err(Problem::usage(format!("--{name} is an option of unpick, not of cargo"))
        .at("words", in_a_shell(&for_cargo))
        .why("what follows --cargo is cargo's")
        .next(format!("put --{name} before --cargo: unpick hunt {words} --cargo test NAME")))
}

/// A warning, if an option of this verb is among the arguments of the program. It may be the program's own.
pub fn warning(verb: &str, program: &[OsString]) -> Option<String> {
    let command = CommandLine::command();
    let command = command.find_subcommand(verb)?;
    let options = options_of(command).into_iter().collect();
    let arguments: Vec<_> =
        program.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    let found = first_of(&options, &arguments)?;
    if !is_understood(command, &found) {
        return None;
    }
    let words = in_a_shell(&found.words);
    Some(format!("{words} is passed to the program; options of unpick come before it"))
}

/// Whether the verb would take the option with this value.
fn is_understood(command: &Command, found: &Misplaced) -> bool {
    let words = [command.get_name()].into_iter().chain(found.words.iter().map(String::as_str));
    command.clone().try_get_matches_from(words.chain(["--", "program"])).is_ok()
}

/// Long names, and whether a value follows.
fn options_of(command: &Command) -> Vec<(String, bool)> {
    let takes_value = |option: &Arg| option.get_action().takes_values();
    let options = command.get_arguments();
    options.filter_map(|one| Some((one.get_long()?.to_owned(), takes_value(one)))).collect()
}

fn first_of(options: &BTreeMap<String, bool>, words: &[String]) -> Option<Misplaced> {
    words.iter().enumerate().find_map(|(at, word)| {
        let (name, value) = match word.strip_prefix("--")?.split_once('=') {
            Some((name, _)) => (name, None),
            None => (word.strip_prefix("--")?, words.get(at + 1)),
        };
        let takes_value = *options.get(name)?;
        let value = value.filter(|_| takes_value);
        let words = [word].into_iter().chain(value).cloned().collect();
        Some(Misplaced { name: name.to_owned(), words })
    })
}

fn in_a_shell(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn an_option_of_unpick_behind_cargo_is_refused() {
        for line in ["test transfer --time 2m", "test --time=2m transfer", "test a --fail-if x"] {
            assert!(refuse_behind_cargo(&words(line)).is_err(), "{line}");
        }
        let problem = refuse_behind_cargo(&words("test transfer --time 2m")).unwrap_err();
        let text = problem.to_string();
        assert_eq!(problem.exit_code(), 2);
        assert!(
            text.contains("put --time before --cargo: unpick hunt --time 2m --cargo"),
            "{text}"
        );
    }

    #[test]
    fn options_of_cargo_and_of_the_test_program_are_left_alone() {
        for line in [
            "test --release -p bank transfer",
            "test --jobs 2 --quiet transfer",
            "test --test integration transfer",
            "test transfer -- --time 2m --nocapture",
        ] {
            assert!(refuse_behind_cargo(&words(line)).is_ok(), "{line}");
        }
    }

    #[test]
    fn an_option_behind_the_program_is_warned_of_if_it_would_be_understood() {
        let warned = |line| warning("hunt", &words(line));
        let text = warned("./bank 1 --time 5s").unwrap();
        assert!(text.starts_with("--time 5s is passed to the program"), "{text}");
        assert!(warned("./bank --time=5s").is_some());
        for line in
            ["./bank 1", "./bank --time soon", "./bank --rounds 3", "--time 5s", "./bank --time"]
        {
            assert_eq!(warned(line), None, "{line}");
        }
    }
}
