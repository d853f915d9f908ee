//! `unpick header` prints a header that works, also in a program that is built with `unpick cc`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn unpick() -> Command {
    Command::new(env!("CARGO_BIN_EXE_unpick"))
}

/// A folder with `unpick.h` as the verb prints it.
fn folder_with_header() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let output = unpick().arg("header").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    fs::write(folder.path().join("unpick.h"), output.stdout).unwrap();
    folder
}

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../breakpoint/examples/lost_deposit.c")
}

fn build(compiler: &mut Command, folder: &Path) -> PathBuf {
    let program = folder.join("lost_deposit");
    compiler.args(["-g", "-pthread", "-DUNPICK_BREAKPOINTS", "-I"]).arg(folder);
    let output = compiler.arg(example()).arg("-o").arg(&program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

fn check_that_it_is_hit(program: &mut Command) {
    let output = program.env("UNPICK_BREAKPOINT_PAUSE_MS", "60000").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "100 + 10 + 5 = 110\n");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("breakpoint `lost-deposit`: hit once"), "{said}");
}

#[test]
fn the_printed_header_is_all_a_program_needs() {
    let folder = folder_with_header();
    let program = build(&mut Command::new("gcc"), folder.path());
    check_that_it_is_hit(&mut Command::new(program));
}

#[test]
fn breakpoints_work_in_an_instrumented_program_too() {
    let folder = folder_with_header();
    let program = build(unpick().arg("cc"), folder.path());
    check_that_it_is_hit(&mut Command::new(&program));
    let mut record = unpick();
    record.arg("record").arg("--").arg(program).current_dir(folder.path());
    check_that_it_is_hit(&mut record);
}
