//! What the README shows is what happens: its programs are those of `examples/`, its output is theirs.

#[path = "../examples/lost_deposit.rs"]
mod lost_deposit;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const README: &str = include_str!("../README.md");
const RUST: &str = include_str!("../examples/lost_deposit.rs");
const C: &str = include_str!("../examples/lost_deposit.c");

/// Set where this test program is called by itself, to be the example.
const BE_THE_EXAMPLE: &str = "UNPICK_TEST_BE_THE_EXAMPLE";

/// The block of code below a comment like `<!-- example c -->`.
fn block(mark: &str) -> &'static str {
    let (_, below) = README.split_once(&format!("<!-- {mark} -->\n")).expect("the mark");
    let (_, code) = below.split_once('\n').expect("a fence");
    code.split_once("```").expect("the end of the block").0
}

#[test]
fn the_programs_are_those_of_the_examples() {
    assert_eq!(block("example rust"), RUST);
    assert_eq!(block("example c"), C);
}

#[test]
fn the_rust_example_prints_this() {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "is_the_example", "--nocapture", "-q"]).env(BE_THE_EXAMPLE, "1");
    let shown = everything_printed(&mut command);
    // Around it is what the test harness prints.
    let shown: Vec<&str> = shown
        .lines()
        .filter(|line| ["100", "unpick:", "  "].iter().any(|start| line.starts_with(start)))
        .collect();
    let shown = shown.join("\n").replace("crates/breakpoint/tests/../", "");
    assert_eq!(shown + "\n", block("output rust"));
}

#[test]
fn is_the_example() {
    if std::env::var_os(BE_THE_EXAMPLE).is_some() {
        lost_deposit::main();
    }
}

#[test]
fn the_c_example_prints_this() {
    let scratch = tempfile::tempdir().unwrap();
    let program = compiled(scratch.path(), C);
    assert_eq!(everything_printed(&mut Command::new(program)), block("output c"));
}

#[test]
fn a_half_alone_says_this() {
    let scratch = tempfile::tempdir().unwrap();
    let alone = C.replace(
        "pthread_create(&five, NULL, deposit_five",
        "pthread_create(&five, NULL, deposit_none",
    );
    let alone = alone.replace(
        "int main(",
        "static void *deposit_none(void *unused) { (void)deposit_five; return unused; }\nint main(",
    );
    let program = compiled(scratch.path(), &alone);
    let output = Command::new(program).env("UNPICK_BREAKPOINT_PAUSE_MS", "1").output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), block("output alone"));
}

fn everything_printed(command: &mut Command) -> String {
    // A busy machine must not make it miss.
    let output = command.env("UNPICK_BREAKPOINT_PAUSE_MS", "60000").output().unwrap();
    assert!(output.status.success());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn compiled(scratch: &Path, source: &str) -> PathBuf {
    fs::write(scratch.join("lost_deposit.c"), source).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut command = Command::new("gcc");
    command
        .args(["-Wall", "-Wextra", "-Werror", "-DUNPICK_BREAKPOINTS", "-pthread", "-I"])
        .arg(include);
    command.args(["lost_deposit.c", "-o", "lost_deposit"]).current_dir(scratch);
    assert!(command.status().unwrap().success());
    scratch.join("lost_deposit")
}
