//! Workers that do not answer: what is told, and that the rest is still read. The worker is a shell that stands in for libclang.

use std::fs;
use std::time::{Duration, Instant};

use unpick_correlations::{Request, Sources, WorkerCommand, read_sources};

/// Answers every job that does not name a slow file, and waits otherwise.
const SHELL: &str = r#"
sets='{"variables":[],"files":[],"conditions":[],"functions":[],"lines":0,"errors":[],"error_count":0,"headers":[]}'
while read -r job; do
  case "$job" in
    *slow.c*) exec sleep 60 ;;
    *) echo "{\"answer\":{\"Parsed\":{\"files\":[$sets],\"headers\":$sets,\"faulty\":[]}},\"leaves\":false}" ;;
  esac
done
"#;

fn read(names: &[&str]) -> Sources {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        fs::write(folder.path().join(name), "int x;\n").unwrap();
    }
    let arguments = ["-c".to_owned(), SHELL.to_owned()].to_vec();
    let request = Request {
        paths: vec![folder.path().to_path_buf()],
        cache: None,
        worker: WorkerCommand { program: "sh".into(), arguments },
        jobs: 1,
        time_limit: Duration::from_secs(3),
        seen_flags: &|_| None,
        progress: &|_, _| {},
    };
    read_sources(&request).unwrap()
}

#[test]
fn a_file_that_takes_too_long_is_told_and_the_others_are_read() {
    let begin = Instant::now();
    let sources = read(&["a.c", "slow.c"]);
    assert_eq!(sources.sets.len(), 1);
    assert_eq!(sources.missing.len(), 1);
    let told = &sources.missing[0];
    assert!(told.contains("slow.c: not read: it takes longer than 3 s"), "{told}");
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn files_that_were_to_be_read_with_it_are_read_without_it() {
    let sources = read(&["a.c", "b.c", "c.c", "d.c", "slow.c"]);
    // The group's headers, and the four files.
    assert_eq!(sources.sets.len(), 5);
    assert_eq!(sources.missing.len(), 1);
    assert!(sources.missing[0].contains("slow.c"), "{:?}", sources.missing);
}
