//! Projects of the usual build systems build unmodified, their probes answered rightly.

mod cc_support;

use cc_support::{CLANG, Family, GCC, Outcome, Project};
use std::fs;
use std::path::Path;
use std::process::Command;

fn project(name: &str) -> Project {
    let project = Project::empty();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cc_projects").join(name);
    for entry in fs::read_dir(source).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), project.path().join(entry.file_name())).unwrap();
    }
    project
}

/// Like a compiler: optional on a developer's machine, never in CI.
fn is_missing(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    assert!(found || std::env::var_os("CI").is_none(), "{tool} is not installed, but CI is set");
    if !found {
        println!("skipped: {tool} is not installed");
    }
    !found
}

fn last_line(outcome: &Outcome) -> &str {
    outcome.stdout.lines().last().unwrap_or_default()
}

fn cmake_project_builds(family: Family) {
    if is_missing("cmake") || family.is_missing() {
        return;
    }
    let project = project("cmake");
    let outcome = project.run_wrapped(
        family,
        "cmake -S . -B build && cmake --build build --parallel 2 && build/bank build/plugin.so",
    );
    assert_eq!(outcome.exit, Some(0), "{}\n{}", outcome.stdout, outcome.stderr);
    assert_eq!(last_line(&outcome), "balance 200 entries 200 fee 2");
    for file in ["build/bank", "build/libledger.so", "build/plugin.so", "build/libaccount.a"] {
        assert!(project.contains(file, "__tsan_func_entry"), "{file}");
    }
}

#[test]
fn a_cmake_project_builds_with_gcc() {
    cmake_project_builds(GCC);
}

#[test]
fn a_cmake_project_builds_with_clang() {
    cmake_project_builds(CLANG);
}

#[test]
fn an_autoconf_project_builds() {
    if is_missing("autoconf") {
        return;
    }
    let project = project("autoconf");
    let outcome = project.run_wrapped(GCC, "autoconf && ./configure && make -j2 && ./bank");
    assert_eq!(outcome.exit, Some(0), "{}\n{}", outcome.stdout, outcome.stderr);
    assert_eq!(last_line(&outcome), "balance 200");
    assert!(project.contains("bank", "__tsan_func_entry"));
}
