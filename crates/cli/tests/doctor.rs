//! `unpick doctor` tells the truth about this machine.

use std::process::{Command, Output};

fn doctor(path: Option<&str>) -> Output {
    let cache = tempfile::tempdir().unwrap();
    let mut call = Command::new(env!("CARGO_BIN_EXE_unpick"));
    call.arg("doctor").current_dir(cache.path()).env("XDG_CACHE_HOME", cache.path());
    if let Some(path) = path {
        call.env("PATH", path);
    }
    call.output().unwrap()
}

#[test]
fn a_working_compiler_makes_a_ready_machine() {
    let output = doctor(None);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("  ok     gcc "), "{text}");
    assert!(text.contains("  ok     memory overcommit "), "{text}");
    assert!(text.ends_with("Ready. Try: unpick demo\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn without_a_compiler_the_packages_are_named() {
    let output = doctor(Some("/nowhere"));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(70), "{text}");
    assert!(text.contains("  -      gcc                 not installed"), "{text}");
    assert!(text.contains("next: apt install gcc libc6-dev"), "{text}");
    assert!(text.contains("Not ready: no C compiler works here."), "{text}");
}
