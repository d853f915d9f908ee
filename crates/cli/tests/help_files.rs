//! Completions and manual pages are there for every shell and verb.

use std::process::{Command, Output};

const EVERY_VERB: [&str; 20] = [
    "demo",
    "cc",
    "c++",
    "cargo",
    "record",
    "hunt",
    "train",
    "watch",
    "correlate",
    "invariants",
    "runs",
    "rank",
    "dump",
    "show",
    "reproduce",
    "confirm",
    "pin",
    "check",
    "header",
    "doctor",
];

fn unpick(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_unpick")).args(arguments).output().unwrap()
}

fn printed(arguments: &[&str]) -> String {
    let output = unpick(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_shell_completes_the_verbs_and_their_options() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = printed(&["completions", shell]);
        assert!(EVERY_VERB.iter().all(|verb| text.contains(verb)), "{shell}");
        assert!(text.contains("delay-sync"), "{shell}");
    }
}

#[test]
fn a_page_for_all_and_one_for_each_verb() {
    assert!(printed(&["man"]).contains(".TH unpick 1"));
    for verb in EVERY_VERB {
        assert!(printed(&["man", verb]).contains(".SH NAME"), "{verb}");
    }
    assert!(printed(&["man", "record"]).contains("delay"));
    assert_eq!(unpick(&["man", "frobnicate"]).status.code(), Some(2));
}
