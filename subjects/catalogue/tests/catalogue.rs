//! What the descriptions of the subjects say is true, as far as it can be told without statistics: markers, patterns
//! and functions fit the sources; both twins build without a warning; the fixed twin passes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use unpick_findings::{AccessKind, WaitedFor};
use unpick_subjects::{Access, Class, Language, Subject, Twin, folder, subjects};

/// A fixed twin takes a fraction of a second. One that hangs must not hang the tests.
const LIMIT: Duration = Duration::from_secs(60);

/// The patterns as UNICORN's Table I has them.
const PATTERNS: [(&str, &str); 17] = [
    ("P1", "R1x W2x"),
    ("P2", "W1x R2x"),
    ("P3", "W1x W2x"),
    ("P4", "R1x W2x R1x"),
    ("P5", "W1x W2x R1x"),
    ("P6", "W1x R2x W1x"),
    ("P7", "R1x W2x W1x"),
    ("P8", "W1x W2x W1x"),
    ("P9", "W1x W2x W2y W1y"),
    ("P10", "W1x W2y W2x W1y"),
    ("P11", "W1x W2y W1y W2x"),
    ("P12", "W1x R2x R2y W1y"),
    ("P13", "W1x R2y R2x W1y"),
    ("P14", "R1x W2x W2y R1y"),
    ("P15", "R1x W2y W2x R1y"),
    ("P16", "R1x W2y R1y W2x"),
    ("P17", "W1x R2y W1y R2x"),
];

fn class_of(pattern: &str) -> Class {
    match pattern[1..].parse().expect("a number after the P") {
        1..=3 => Class::Order,
        4..=8 => Class::SingleVariable,
        _ => Class::MultiVariable,
    }
}

/// Like `R1x W2x`, where the first variable is x and any other is y.
fn spelled(accesses: &[Access]) -> String {
    let first = &accesses[0].variable;
    let spell = |access: &Access| {
        let kind = if access.kind == AccessKind::Read { 'R' } else { 'W' };
        let variable = if access.variable == *first { 'x' } else { 'y' };
        format!("{kind}{}{variable}", access.role)
    };
    accesses.iter().map(spell).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_folder_of_subjects_has_a_description_under_its_own_name() {
    let known: BTreeSet<String> = subjects().into_iter().map(|subject| subject.name).collect();
    let entries = fs::read_dir(folder())
        .expect("the folder can be read")
        .map(|entry| entry.expect("an entry"));
    let folders = entries.filter(|entry| entry.path().is_dir());
    let names = folders.map(|entry| entry.file_name().into_string().expect("a plain name"));
    let expected: BTreeSet<String> = names
        .filter(|name| name != "catalogue" && name != "target" && !name.starts_with('.'))
        .collect();
    assert_eq!(known, expected);
}

#[test]
fn the_accesses_of_a_subject_spell_its_pattern() {
    let patterns = BTreeMap::from(PATTERNS);
    for subject in subjects() {
        let Some(pattern) = &subject.pattern else {
            assert!(subject.never_fails() || subject.hangs(), "{}", subject.name);
            assert!(subject.accesses.is_empty(), "{}", subject.name);
            continue;
        };
        assert_eq!(spelled(&subject.accesses), patterns[pattern.as_str()], "{}", subject.name);
        assert_eq!(subject.class, Some(class_of(pattern)), "{}", subject.name);
    }
}

/// Only kinds may differ: the same threads at the same lines and variables.
#[test]
fn other_patterns_of_a_subject_differ_from_its_own_in_kinds_only() {
    let patterns = BTreeMap::from(PATTERNS);
    let without_kinds = |pattern: &str| patterns[pattern].replace(['R', 'W'], "");
    for subject in subjects() {
        let mut known = BTreeSet::new();
        for pattern in subject.patterns() {
            assert!(known.insert(pattern), "{}: {pattern} twice", subject.name);
            let own = subject.pattern.as_deref().expect("its own pattern comes first");
            assert_eq!(without_kinds(pattern), without_kinds(own), "{}", subject.name);
        }
    }
}

#[test]
fn who_hangs_waits_somewhere_and_nobody_else_does() {
    for subject in subjects() {
        let of_hangs = [Some(Class::Deadlock), Some(Class::LostNotification)];
        assert_eq!(subject.hangs(), of_hangs.contains(&subject.class), "{}", subject.name);
        assert_eq!(subject.hangs(), !subject.waits.is_empty(), "{}", subject.name);
    }
}

#[test]
fn in_a_deadlock_each_thread_waits_for_a_lock_that_the_next_one_holds() {
    for subject in subjects().iter().filter(|subject| subject.class == Some(Class::Deadlock)) {
        let next = subject.waits.iter().cycle().skip(1);
        for (wait, next) in subject.waits.iter().zip(next) {
            assert_eq!(wait.waits_for, WaitedFor::Lock, "{}", subject.name);
            let is_held = next.holds.iter().any(|held| Some(&held.lock) == wait.object.as_ref());
            assert!(is_held, "{}: {:?} is not held", subject.name, wait.object);
        }
    }
}

#[test]
fn places_and_objects_of_waits_are_in_the_source() {
    for subject in subjects() {
        let (name, text, lines) = (&subject.name, subject.text(), subject.lines());
        let line = |marker| text.lines().nth(lines[marker] as usize - 1).expect("a marked line");
        for wait in &subject.waits {
            let object = wait.object.as_deref().unwrap_or("join");
            assert!(line(&wait.marker).contains(object), "{name}: {object}");
            assert!(has_function(&text, &wait.function), "{name} has no {}", wait.function);
            for held in &wait.holds {
                assert!(line(&held.marker).contains(&held.lock), "{name}: {}", held.lock);
            }
        }
    }
}

#[test]
fn contending_places_are_told_in_both_orders() {
    for subject in subjects() {
        let orders: BTreeSet<_> =
            subject.orders.iter().map(|order| (order.first, order.then)).collect();
        let reversed = orders.iter().map(|&(first, then)| (then, first)).collect();
        assert_eq!(orders, reversed, "{}", subject.name);
    }
}

fn has_function(text: &str, function: &str) -> bool {
    let function = function.rsplit("::").next().expect("a last part");
    text.contains(&format!("{function}("))
}

#[test]
fn markers_variables_and_functions_are_in_the_source() {
    for subject in subjects() {
        let (name, text) = (&subject.name, subject.text());
        assert_eq!(subject.markers(), subject.lines().into_keys().collect(), "markers of {name}");
        let lines: Vec<&str> = text.lines().collect();
        for access in &subject.accesses {
            let line = lines[subject.lines()[&access.marker] as usize - 1];
            assert!(
                line.contains(&access.variable),
                "{name}: {} is not in `{line}`",
                access.variable
            );
            assert!(has_function(&text, &access.function), "{name} has no {}", access.function);
            assert!(subject.variables.contains(&access.variable), "variables of {name}");
        }
    }
}

#[test]
fn what_a_subject_says_when_it_fails_is_in_the_source_and_its_rate_was_measured() {
    for subject in subjects() {
        assert!(subject.rate.runs >= 200, "{}: at least 200 runs", subject.name);
        let Some(failure) = &subject.failure else {
            assert!(subject.rate.bare == 0.0, "{} never fails", subject.name);
            continue;
        };
        let ways = [failure.exit_code.is_some(), failure.signal.is_some(), failure.hang];
        let count = ways.into_iter().filter(|way| *way).count();
        assert_eq!(count, 1, "{}: one way to fail", subject.name);
        let output = failure.output.as_deref().unwrap_or_default();
        assert!(subject.text().contains(output), "{} does not say `{output}`", subject.name);
    }
}

#[test]
fn both_twins_in_c_and_cpp_compile_without_a_warning_and_the_fixed_one_passes() {
    let into = Path::new(env!("CARGO_TARGET_TMPDIR")).join("subjects-fixed");
    fs::create_dir_all(&into).expect("a folder for the programs");
    for subject in subjects() {
        if subject.language == Language::Rust || !has_compiler(&subject) {
            continue;
        }
        compiles(&subject, Twin::Buggy, &into, &["-fsyntax-only"]);
        compiles(&subject, Twin::Fixed, &into, &[]);
        passes(&subject, &into);
    }
}

/// Their buggy twins are compiled by clippy in `./test`: building all of them twice would take too long here.
#[test]
fn fixed_twins_in_rust_build_without_a_warning_and_pass() {
    let into = Path::new(env!("CARGO_TARGET_TMPDIR")).join("subjects-rust");
    let mut command = Command::new(env!("CARGO"));
    command.args(["build", "--quiet", "--locked", "--workspace", "--features", "fixed"]);
    command.arg("--target-dir").arg(&into).env("RUSTFLAGS", "-Dwarnings").current_dir(folder());
    builds("the Rust subjects, fixed,", &mut command);
    for subject in subjects().iter().filter(|subject| subject.language == Language::Rust) {
        passes(subject, &into);
    }
}

fn has_compiler(subject: &Subject) -> bool {
    let installed = subject.language == Language::C || is_installed("g++");
    assert!(installed || std::env::var_os("CI").is_none(), "g++ is not installed");
    installed
}

fn compiles(subject: &Subject, twin: Twin, into: &Path, flags: &[&str]) {
    let words = subject.build_command(twin, into);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(["-Wall", "-Wextra", "-Werror"]).args(flags);
    builds(&format!("{} ({twin:?})", subject.name), command.current_dir(&subject.folder));
}

fn is_installed(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok_and(|output| output.status.success())
}

fn builds(what: &str, command: &mut Command) {
    let output = command.output().unwrap_or_else(|why| panic!("{what}: {why}"));
    assert!(output.status.success(), "{what} does not build:\n{}", said(&output));
}

fn passes(subject: &Subject, built_into: &Path) {
    let mut command = Command::new(subject.program(built_into));
    command.args(&subject.arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = command.spawn().unwrap_or_else(|why| panic!("{}: {why}", subject.name));
    let output = output_in_time(running, LIMIT)
        .unwrap_or_else(|| panic!("{}, fixed, has not ended after {LIMIT:?}", subject.name));
    assert!(output.status.success(), "{}, fixed, failed:\n{}", subject.name, said(&output));
}

/// None if it had to be killed. What it says must fit into a pipe.
fn output_in_time(mut running: Child, limit: Duration) -> Option<Output> {
    let start = Instant::now();
    while running.try_wait().expect("a child can be waited for").is_none() {
        if start.elapsed() > limit {
            running.kill().expect("a child can be killed");
            running.wait().expect("a killed child ends");
            return None;
        }
        sleep(Duration::from_millis(1));
    }
    Some(running.wait_with_output().expect("its output can be read"))
}

#[test]
fn a_program_that_does_not_end_is_killed() {
    let endless = Command::new("sleep").arg("600").spawn().expect("sleep is there");
    assert!(output_in_time(endless, Duration::from_millis(10)).is_none());
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
