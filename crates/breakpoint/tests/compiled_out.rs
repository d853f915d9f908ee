//! Switched off, nothing remains: neither symbols nor names in the binary, and arguments are not evaluated.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Not in any other text that a program could contain.
const NAME: &str = "breakpoint-that-must-not-remain";

const RUST: &str = r#"
use unpick_breakpoint::{Breakpoint, holding, step, trigger};

fn evaluated(text: &str) -> &str {
    println!("evaluated");
    text
}

fn main() {
    let object = std::env::args().count();
    let holding = holding!("lock-that-must-not-remain");
    let outcome = trigger!(
        Breakpoint::conflict(evaluated("breakpoint-that-must-not-remain"), &object).first().when(|| object > 1).bound(3)
    );
    let step = step!(Breakpoint::own("breakpoint-that-must-not-remain", object, |a, b| a == b).second());
    println!("hit {}, {}", outcome.is_hit(), step.is_hit());
    step.done();
    drop(holding);
}
"#;

const C: &str = r#"
#include "unpick.h"
#include <stdio.h>

static int object;
static const char *evaluated(const char *text) { puts("evaluated"); return text; }

int main(void) {
    UNPICK_HOLDING("lock-that-must-not-remain");
    UNPICK_STEP(conflict(evaluated("breakpoint-that-must-not-remain"), &object), first(), when(object++));
    UNPICK_DONE("breakpoint-that-must-not-remain");
    int hit = UNPICK_TRIGGER(conflict("breakpoint-that-must-not-remain", &object), second()) > 0;
    UNPICK_RELEASED("lock-that-must-not-remain");
    UNPICK_REPORT();
    printf("hit %d, %d, %d\n", hit, object, UNPICK_WAITING("breakpoint-that-must-not-remain"));
    (void)evaluated;
    return 0;
}
"#;

/// The same program without a word of unpick.h.
const C_WITHOUT: &str = r#"
#include <stdio.h>

static int object;
static const char *evaluated(const char *text) { puts("evaluated"); return text; }

int main(void) {
    int hit = 0;
    printf("hit %d, %d, %d\n", hit, object, 0);
    (void)evaluated;
    return 0;
}
"#;

#[test]
fn nothing_of_rust_remains() {
    let scratch = tempfile::tempdir().unwrap();
    for optimisation in ["0", "3"] {
        let program = rust_program(scratch.path(), optimisation, false);
        let bytes = fs::read(&program).unwrap();
        for text in [NAME, "lock-that-must-not-remain", "evaluated"] {
            assert!(!contains(&bytes, text), "{text} at opt-level {optimisation}");
        }
        assert_eq!(symbols(&program, "unpick_breakpoint"), Vec::<String>::new());
        assert_eq!(printed(&program), "hit false, false\n");
    }
    let with = rust_program(scratch.path(), "0", true);
    assert!(contains(&fs::read(&with).unwrap(), NAME), "the test would see what remains");
    assert!(!symbols(&with, "unpick_breakpoint").is_empty(), "the test would see symbols");
    assert_eq!(printed(&with), "evaluated\nhit false, false\n");
}

#[test]
fn nothing_of_c_remains() {
    let scratch = tempfile::tempdir().unwrap();
    for optimisation in ["-O0", "-O2"] {
        let program = c_program(scratch.path(), C, &[optimisation]);
        let bytes = fs::read(&program).unwrap();
        for text in [NAME, "lock-that-must-not-remain"] {
            assert!(!contains(&bytes, text), "{text} with {optimisation}");
        }
        assert_eq!(symbols(&program, "unpick"), Vec::<String>::new(), "{optimisation}");
        assert_eq!(printed(&program), "hit 0, 0, 0\n");
    }
    let code = |source| code_of(&c_program(scratch.path(), source, &["-O2"]));
    assert_eq!(code(C), code(C_WITHOUT), "the same machine code");
    let with = c_program(scratch.path(), C, &["-O0", "-DUNPICK_BREAKPOINTS", "-pthread"]);
    assert!(contains(&fs::read(&with).unwrap(), NAME), "the test would see what remains");
}

/// Built by rustc itself: without the feature the library depends on nothing.
fn rust_program(scratch: &Path, optimisation: &str, enabled: bool) -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = scratch.join("program.rs");
    fs::write(&source, RUST).unwrap();
    let level = format!("-Copt-level={optimisation}");
    let into = scratch.to_str().unwrap();
    if enabled {
        // A stand-in for the only dependency.
        let hooks = scratch.join("hooks.rs");
        fs::write(&hooks, "pub fn add_shutdown_hook(_: extern \"C\" fn()) -> bool { true }")
            .unwrap();
        rustc(&[
            "--crate-name=shutdown_hooks",
            "--crate-type=rlib",
            &level,
            "--out-dir",
            into,
            hooks.to_str().unwrap(),
        ]);
    }
    let library = own.join("src/lib.rs");
    let mut arguments =
        vec!["--crate-name=unpick_breakpoint", "--crate-type=rlib", &level, "-L", into];
    let extern_hooks = format!("--extern=shutdown_hooks={into}/libshutdown_hooks.rlib");
    if enabled {
        arguments.extend(["--cfg=feature=\"enabled\"", &extern_hooks]);
    }
    arguments.extend(["-Aunexpected_cfgs", "--out-dir", into]);
    arguments.push(library.to_str().unwrap());
    rustc(&arguments);
    let program = scratch.join("program");
    let library = format!("--extern=unpick_breakpoint={into}/libunpick_breakpoint.rlib");
    rustc(&[
        "-Dwarnings",
        &level,
        &library,
        "-L",
        into,
        "-o",
        program.to_str().unwrap(),
        source.to_str().unwrap(),
    ]);
    program
}

fn rustc(arguments: &[&str]) {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let status = Command::new(rustc).arg("--edition=2024").args(arguments).status().unwrap();
    assert!(status.success(), "{arguments:?}");
}

fn c_program(scratch: &Path, text: &str, options: &[&str]) -> PathBuf {
    let (source, program) = (scratch.join("program.c"), scratch.join("c-program"));
    fs::write(&source, text).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut command = Command::new("gcc");
    command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I"]).arg(include).args(options);
    assert!(command.arg(&source).arg("-o").arg(&program).status().unwrap().success());
    program
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

fn symbols(program: &Path, part: &str) -> Vec<String> {
    let output = Command::new("nm").arg(program).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter(|line| line.contains(part)).map(str::to_owned).collect()
}

fn code_of(program: &Path) -> String {
    let output =
        Command::new("objdump").args(["-d", "--no-addresses"]).arg(program).output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter(|line| !line.contains("file format")).collect()
}

fn printed(program: &Path) -> String {
    let output = Command::new(program).output().unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}
