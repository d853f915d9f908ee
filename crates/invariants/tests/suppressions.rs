//! Suppressions: by file, by function, by finding; what makes no sense is refused by line.

use unpick_invariants::{Suppressions, Violated};

const VIOLATED: Violated<'static> = Violated {
    id: "3f2a9c41",
    files: &["src/bank.c", "/usr/include/third_party/log.h"],
    functions: &["deposit", "log_line"],
};

fn covers(text: &str) -> bool {
    Suppressions::from_text(text, "suppressions").unwrap().cover(VIOLATED)
}

#[test]
fn rules_match_files_functions_and_findings() {
    for (rule, expected) in [
        ("file src/bank.c", true),
        ("file bank.c", true),
        ("file ank.c", false),
        ("file third_party/*", true),
        ("file *.h", true),
        ("file *.rs", false),
        ("function deposit", true),
        ("function log_*", true),
        ("function *_line", true),
        ("function l*_*e", true),
        ("function log", false),
        ("finding 3f2a9c41", true),
        ("finding 3f2a9c4", false),
        ("# function deposit\n\n  function withdraw  ", false),
        ("", false),
    ] {
        assert_eq!(covers(rule), expected, "{rule}");
    }
}

#[test]
fn a_line_that_is_no_rule_is_named() {
    let told = |text: &str| Suppressions::from_text(text, "quiet.txt").unwrap_err().to_string();
    let unknown = told("file a.c\nrace:deposit");
    assert!(
        unknown.contains("quiet.txt") && unknown.contains("line 2: `race:deposit`"),
        "{unknown}"
    );
    assert!(told("function").contains("line 1: `function` needs"), "{}", told("function"));
}
