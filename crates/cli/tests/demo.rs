//! `unpick demo` from the outside.
//!
//! The hunt is the real one: it goes on until it has 25 failing and 25 passing runs. With delays about every seventh run fails,
//! so it gets both; and with one deposit per teller there is one order only that loses a coin, so what it finds is always the same.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

const SOURCE: &str = include_str!("../../../examples/bank/bank.c");

fn scene() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn demo(scene: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
    command.arg("demo").args(arguments).current_dir(scene.path());
    command.env("XDG_CACHE_HOME", scene.path().join("cache")).env_remove("UNPICK_CC");
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The lines that stand in the text in this order, whatever is between them.
#[track_caller]
fn assert_in_order(text: &str, lines: &[&str]) {
    let mut rest = text;
    for line in lines {
        let at =
            rest.find(line).unwrap_or_else(|| panic!("{line} is missing or too early in:\n{text}"));
        rest = &rest[at + line.len()..];
    }
}

#[test]
fn the_demo_finds_its_bug_and_says_what_to_type_next() {
    let scene = scene();
    let output = demo(&scene, &[]).output().unwrap();
    let (found, told) = (String::from_utf8_lossy(&output.stdout), stderr(&output));
    assert_eq!(output.status.code(), Some(66), "{found}{told}");
    assert!(
        found.contains("Thread 1 (`look`) read `account.balance` and then wrote it"),
        "{found}"
    );
    assert_in_order(
        &told,
        &[
            "$ cd unpick-demo\n",
            "$ unpick cc -g -O1 -pthread bank.c -o bank\n",
            "$ unpick hunt -- ./bank 1\n",
            "failing run ",
            " again: ",
            "unpick record --seed ",
            "cd unpick-demo\n",
            "unpick show\n",
        ],
    );
    let mut show = Command::new(env!("CARGO_BIN_EXE_unpick"));
    let shown = show.arg("show").current_dir(scene.path().join("unpick-demo")).output().unwrap();
    assert_eq!(shown.stdout, output.stdout, "what it says to type next shows the same");
}

fn refused(scene: &TempDir, arguments: &[&str]) -> String {
    let output = demo(scene, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    stderr(&output)
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn nothing_of_somebody_else_is_touched() {
    let scene = scene();
    let folder = scene.path().join("mine");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("notes"), "").unwrap();
    let told = refused(&scene, &["--folder", "mine"]);
    assert!(told.contains("not its own") && told.contains("unpick demo --folder DIR"), "{told}");
    assert_eq!(names_in(&folder), ["notes"]);

    let told = refused(&scene, &["--folder", "mine/notes"]);
    assert!(told.contains("not its own"), "a file is no folder: {told}");

    let mended = SOURCE.replace("deposit", "pay");
    fs::write(folder.join("bank.c"), &mended).unwrap();
    let told = refused(&scene, &["--folder", "mine"]);
    assert!(told.contains("was changed") && told.contains("&& unpick hunt -- ./bank 1"), "{told}");
    assert_eq!(fs::read_to_string(folder.join("bank.c")).unwrap(), mended);
}

#[test]
fn without_a_compiler_nothing_is_unpacked_and_the_packages_are_named() {
    let scene = scene();
    let output = demo(&scene, &[]).env("PATH", "/nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("apt install gcc"), "{}", stderr(&output));
    assert!(!scene.path().join("unpick-demo").exists());
}

#[test]
fn a_compiler_that_cannot_build_it_is_a_case_for_the_doctor() {
    let scene = scene();
    // As where the headers of the C library are not installed; `-E` is how Unpick asks what kind of compiler it is.
    let script = "#!/bin/sh\ncase \"$*\" in *-E*) exec gcc \"$@\";; esac\necho 'pthread.h: no such file' >&2\nexit 1\n";
    let compiler = scene.path().join("gcc-without-headers");
    fs::write(&compiler, script).unwrap();
    let made = Command::new("chmod").arg("+x").arg(&compiler).status().unwrap();
    assert!(made.success());
    let output = demo(&scene, &[]).env("UNPICK_CC", &compiler).output().unwrap();
    let told = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert_in_order(
        &told,
        &["$ unpick cc ", "pthread.h: no such file", "cannot be built", "unpick doctor"],
    );
}
