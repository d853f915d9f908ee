//! `unpick races` with what it cannot use, or can use in part: what is wrong, where, why, what to do next.

mod races_scene;
mod ran;
mod schemas;

use std::fs;
use std::path::PathBuf;

use races_scene::Scene;
use ran::Ran;
use unpick_events::file::{file_field, mode};
use unpick_events::{Kind, ThreadId};
use unpick_recording::writer::{Draft, Writer};

fn account() -> Scene {
    Scene::with(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/races/account.c"))
}

/// A store with one full run.
fn recorded() -> (Scene, PathBuf) {
    let scene = account();
    scene.unpick(&["record", "--full", "--", "./account", "racy"]);
    let run = fs::read_dir(scene.path(".unpick/runs/0001")).unwrap();
    let mut files = run.map(|entry| entry.unwrap().path());
    let events = files.find(|file| file.extension().is_some_and(|end| end == "events")).unwrap();
    (scene, events)
}

fn assert_refused(ran: &Ran, code: i32, parts: &[&str]) {
    assert_eq!(ran.code, Some(code), "{}{}", ran.stdout, ran.stderr);
    for part in parts.iter().chain(&["why:", "next:"]) {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
}

#[test]
fn a_program_that_is_not_there_is_told() {
    let told = account().unpick(&["races", "--", "./nowhere"]);
    assert_eq!(told.code, Some(2));
    assert!(told.stderr.contains("./nowhere") && told.stderr.contains("next:"), "{}", told.stderr);
}

#[test]
fn what_was_not_reported_cannot_be_explained() {
    let scene = account();
    assert_refused(&scene.unpick(&["races", "--explain", "1"]), 2, &["no report of races yet"]);
    scene.unpick(&["races", "--", "./account", "racy"]);
    let told = scene.unpick(&["races", "--explain", "99"]);
    assert_refused(&told, 2, &["there is no race 99", "the last report has one race"]);
}

#[test]
fn a_full_disk_is_told_and_what_to_do_without_another_run() {
    let scene = account();
    let told = scene.unpick(&["races", "--json", "/dev/full", "--", "./account", "racy"]);
    assert_refused(&told, 70, &["/dev/full", "No space left", "unpick races --json FILE"]);
    assert_eq!(scene.unpick(&["races", "--explain", "1"]).code, Some(0), "it is in the store");
}

#[test]
fn files_that_are_something_else_are_refused_before_the_program_is_run() {
    let scene = account();
    fs::write(scene.path("bytes"), [0, 0xff, 0xfe]).unwrap();
    fs::write(scene.path("other.json"), r#"{ "findings": [] }"#).unwrap();
    fs::write(scene.path("bad.txt"), "race:fine\nnonsense\n").unwrap();
    for (option, file, part) in [
        ("--correlations", "bytes", "the correlations cannot be used"),
        ("--correlations", "other.json", "missing field `correlations`"),
        ("--suppressions", "bytes", "the suppressions cannot be read"),
        ("--suppressions", "bad.txt", "line 2"),
        ("--suppressions", ".", "the suppressions cannot be read"),
    ] {
        let told = scene.unpick(&["races", option, file, "--", "./account", "racy"]);
        assert_refused(&told, 2, &[part, file]);
    }
    assert!(!scene.path(".unpick").exists(), "nothing was run");
}

#[test]
fn a_damaged_recording_is_told_and_the_rest_looked_at() {
    let (scene, events) = recorded();
    let whole = fs::read(&events).unwrap();
    fs::write(&events, &whole[..whole.len() / 2]).unwrap();
    let cut = scene.unpick(&["races", "--run", "1"]);
    assert!(matches!(cut.code, Some(0 | 66)), "{}", cut.stderr);
    for part in ["races may be missing", "the file is cut short"] {
        assert!(cut.stdout.contains(part), "{part}: {}", cut.stdout);
    }

    fs::write(&events, b"something else").unwrap();
    assert_refused(&scene.unpick(&["races", "--run", "1"]), 2, &["the recording cannot be read"]);
    fs::remove_file(&events).unwrap();
    assert_refused(&scene.unpick(&["races", "--run", "1"]), 2, &["it has no recordings"]);
}

#[test]
fn a_recording_without_synchronisation_says_that_what_it_would_order_is_reported() {
    let (scene, events) = recorded();
    let mut writer = Writer::new();
    for thread in [1, 2] {
        writer.write(ThreadId(thread), Draft::new(Kind::ThreadStart).word(1));
        writer.write(ThreadId(thread), Draft::access(Kind::Write, 0x1000, 4).site(thread.into()));
    }
    writer.set(file_field::MODE, mode::FULL);
    fs::write(&events, writer.to_bytes()).unwrap();
    let told = scene.unpick(&["races", "--run", "1"]);
    assert_eq!(told.code, Some(66), "{}{}", told.stdout, told.stderr);
    assert!(told.stdout.contains("no recording has synchronisation"), "{}", told.stdout);
}

#[test]
fn a_run_that_dies_says_so() {
    let scene = Scene::with(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/races/ordered.c"));
    let told = scene.unpick(&["races", "--", "./account", "crash"]);
    assert_eq!(told.code, Some(66), "{}{}", told.stdout, told.stderr);
    assert!(told.stdout.contains("did not come to an end (killed by signal 6)"), "{}", told.stdout);
}

#[test]
fn half_a_build_is_told_by_the_source_that_is_missing() {
    let scene = account();
    let plain = "long counter;\nvoid add(void) { counter++; }\n";
    let whole = "#include <pthread.h>\nextern long counter;\nvoid add(void);\n\
        static void *work(void *unused) { counter++; return unused; }\n\
        int main(void) { pthread_t other; pthread_create(&other, 0, work, 0); add(); pthread_join(other, 0); }\n";
    fs::write(scene.path("plain.c"), plain).unwrap();
    fs::write(scene.path("whole.c"), whole).unwrap();
    let gcc = std::process::Command::new("gcc")
        .args(["-g", "-c", "plain.c", "-o", "plain.o"])
        .current_dir(scene.folder.path())
        .status()
        .unwrap();
    assert!(gcc.success());
    let link = ["cc", "-g", "-pthread", "whole.c", "plain.o", "-o", "half"];
    assert_eq!(scene.unpick(&link).code, Some(0));
    let told = scene.unpick(&["races", "--", "./half"]);
    assert_eq!(told.code, Some(0), "{}", told.stderr);
    assert!(told.stdout.contains("plain.c was compiled without Unpick"), "{}", told.stdout);
    let whole = scene.unpick(&["races", "--", "./account", "locked"]);
    assert!(!whole.stdout.contains("without Unpick"), "{}", whole.stdout);
}
