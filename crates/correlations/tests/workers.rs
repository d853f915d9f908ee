//! Workers that end before their time: what they had at hand is told, the rest is read.

use std::fs;
use std::path::Path;
use std::time::Duration;

use unpick_correlations::{Request, Sources, WorkerCommand, read_sources};

/// Reads a folder by a worker that is a line of shell.
fn read(folder: &Path, script: &str) -> Sources {
    let arguments = vec!["-c".to_owned(), script.to_owned()];
    read_sources(&Request {
        paths: vec![folder.to_path_buf()],
        cache: None,
        worker: WorkerCommand { program: "/bin/sh".into(), arguments },
        jobs: 2,
        time_limit: Duration::from_secs(60),
        seen_flags: &|_| None,
        progress: &|_, _| {},
    })
    .unwrap()
}

#[test]
fn a_worker_that_dies_takes_only_its_file_with_it() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.c", "b.c"] {
        fs::write(folder.path().join(name), "int x;").unwrap();
    }
    fs::write(folder.path().join("c.rs"), "fn f() {}").unwrap();
    for (script, why) in [
        ("read job; kill -SEGV $$", "ended the worker (signal: 11"),
        ("read job; exit 3", "ended the worker (exit status: 3"),
        ("read job; echo nonsense", "did not answer"),
    ] {
        let sources = read(folder.path(), script);
        assert_eq!(sources.missing.len(), 2, "{:?}", sources.missing);
        let told = |name: &str| {
            sources.missing.iter().any(|line| line.contains(name) && line.contains(why))
        };
        assert!(told("a.c: not read") && told("b.c: not read"), "{:?}", sources.missing);
        assert_eq!(sources.sets.len(), 1, "Rust needs no worker");
    }
}

#[test]
fn a_worker_that_cannot_be_started_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.c"), "int x;").unwrap();
    let sources = read_sources(&Request {
        paths: vec![folder.path().to_path_buf()],
        cache: None,
        worker: WorkerCommand { program: "/nowhere/unpick".into(), arguments: vec![] },
        jobs: 1,
        time_limit: Duration::from_secs(60),
        seen_flags: &|_| None,
        progress: &|_, _| {},
    })
    .unwrap();
    assert!(sources.missing[0].contains("a.c: not read"), "{:?}", sources.missing);
}
