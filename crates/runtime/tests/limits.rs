//! A recording that cannot grow: the program goes on and does its work, and the recording says what is missing.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;

use support::{Program, limited};
use unpick_recording::Recording;
use unpick_recording::events::file::{FILE_HEADER_BYTES, lost};

const OUTPUT: &str = "10000 24995000 10\n";

fn only_recording_in(folder: &Path) -> Recording {
    let files =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "events"))
        .collect();
    assert_eq!(files.len(), 1, "{files:?}");
    let file = files.remove(0);
    Recording::open(&file).unwrap_or_else(|problem| panic!("{problem}"))
}

#[track_caller]
fn check_that_something_is_missing(recording: &Recording, why: u64) {
    let header = recording.header();
    assert_eq!(recording.damage(), [""; 0]);
    assert_eq!(header.lost, why, "{:?}", recording.incompleteness());
    assert!(header.dropped > 1000, "{} events were dropped", header.dropped);
    assert!(header.orderly_exit);
    assert!(!recording.is_complete());
}

#[test]
fn beyond_the_limit_events_are_counted_and_nothing_else_changes() {
    let program = Program::build("much.c");
    for limit in [40_000, 100_000, 300_000] {
        let run = program.record(&[], &format!("limit={limit}"));
        assert_eq!(String::from_utf8_lossy(&run.output.stdout), OUTPUT);
        assert!(run.output.status.success() && run.output.stderr.is_empty(), "{:?}", run.output);
        let recording = run.recording();
        check_that_something_is_missing(&recording, lost::LIMIT);
        assert_eq!(recording.header().limit, limit);
        assert!(recording.event_count() > 0);
        let bytes = fs::metadata(recording.path()).expect("the file").len();
        assert!(bytes <= limit + FILE_HEADER_BYTES, "{bytes} bytes with a limit of {limit}");
        assert!(recording.header().chunks_end <= bytes);
    }
}

#[test]
fn with_room_for_nothing_at_all_the_program_still_runs() {
    let program = Program::build("much.c");
    for limit in [0, 4096] {
        let run = program.record(&[], &format!("limit={limit}"));
        assert_eq!(String::from_utf8_lossy(&run.output.stdout), OUTPUT);
        let recording = run.recording();
        assert_eq!(recording.header().lost, lost::LIMIT);
        assert_eq!(recording.event_count(), 0);
    }
}

/// `ulimit -f`: a file that grows beyond it would kill the program with SIGXFSZ.
#[test]
fn a_limit_of_the_system_for_files_is_kept() {
    let program = Program::build("much.c");
    let runs = tempfile::tempdir().expect("a folder");
    let output = Command::new("bash")
        .args(["-c", "ulimit -f 64; exec \"$0\""])
        .arg(program.watched())
        .env("UNPICK_RUN_DIR", runs.path())
        .output()
        .expect("it runs");
    assert_eq!(
        (String::from_utf8_lossy(&output.stdout).as_ref(), output.status.code()),
        (OUTPUT, Some(0))
    );
    let recording = only_recording_in(runs.path());
    check_that_something_is_missing(&recording, lost::LIMIT);
    assert!(fs::metadata(recording.path()).expect("the file").len() <= 64 << 10);
}

/// A file system of its own, as small as wanted.
struct SmallDisk {
    folder: tempfile::TempDir,
}

impl SmallDisk {
    /// `None`, and a line that says so, where mounting is not allowed. Under CI it has to be, if we are root.
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a folder");
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder.path())
            .output();
        if output.is_ok_and(|output| output.status.success()) {
            return Some(Self { folder });
        }
        assert!(std::env::var_os("CI").is_none() || !is_root(), "root can mount a tmpfs");
        println!(
            "skipped: a full disk cannot be tried, because mounting a tmpfs is not permitted here"
        );
        None
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg(self.folder.path()).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "the small disk stays mounted");
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
}

#[test]
fn a_disk_that_runs_full_ends_the_recording_not_the_program() {
    let program = Program::build("much.c");
    for size in ["64k", "300k"] {
        let Some(disk) = SmallDisk::mount(size) else { return };
        let output = limited(program.watched())
            .env("UNPICK_RUN_DIR", disk.folder.path())
            .output()
            .expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), OUTPUT, "{output:?}");
        assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
        let recording = only_recording_in(disk.folder.path());
        check_that_something_is_missing(&recording, lost::DISK);
        assert!(recording.event_count() > 0);
        let sentences = recording.incompleteness();
        assert!(sentences[0].contains("No space left on device"), "{sentences:?}");
    }
}

#[test]
fn a_disk_that_is_full_from_the_start_does_no_harm() {
    let program = Program::build("much.c");
    let Some(disk) = SmallDisk::mount("8k") else { return };
    let _ = fs::write(disk.folder.path().join("filler"), [0; 8 << 10]);
    let output = limited(program.watched())
        .env("UNPICK_RUN_DIR", disk.folder.path())
        .output()
        .expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), OUTPUT, "{output:?}");
    assert_eq!(output.status.code(), Some(0));
}
