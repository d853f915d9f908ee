//! How runs ended and what they printed, by the files in their folders.
//!
//! Takes   stored runs.      Gives  failing ones grouped by message; of a single run its ending and the end of its output.
//! Misses  what `unpick record` ran: its output went to the user and was not kept; and all but the end of long outputs.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use unpick_events::Label;
use unpick_findings::{FailedRun, FailureGroup, HUNG, Stream, group_failures};
use unpick_recording::Outcome;
use unpick_run_store::{HANG_FILE, StoredRun};

/// Looked at of the end of an output.
const TAIL_BYTES: u64 = 64 << 10;

/// The failing ones of these runs, by ending and message.
pub fn failures_of(runs: &[StoredRun]) -> Vec<FailureGroup> {
    let failed = runs.iter().filter(|run| run.label() == Label::Fail).map(|run| FailedRun {
        run: u32::try_from(run.number).unwrap_or(u32::MAX),
        ending: ending(run),
        output: output_of(run),
    });
    group_failures(&failed.collect::<Vec<_>>())
}

/// Standard error first, unless what stands in standard output made the run fail.
fn output_of(run: &StoredRun) -> Vec<(Stream, String)> {
    let is_by_stdout = run.info.why.as_ref().is_some_and(|why| why.starts_with("stdout"));
    let streams = match is_by_stdout {
        true => [Stream::Stdout, Stream::Stderr],
        false => [Stream::Stderr, Stream::Stdout],
    };
    let texts = streams.into_iter().map(|stream| (stream, tail(&run.folder, stream)));
    texts.filter_map(|(stream, text)| Some((stream, text?))).collect()
}

/// `exit code 1`, `SIGSEGV`, `hung`.
pub fn ending(run: &StoredRun) -> String {
    let has_hung = run.folder.join(HANG_FILE).exists()
        || run.info.why.as_ref().is_some_and(|why| is_hang(why));
    match run.info.outcome {
        _ if has_hung => HUNG.to_owned(),
        Outcome::Exit { code } => format!("exit code {code}"),
        Outcome::Signal { number } => signal_name(number),
        Outcome::Unknown => "unknown: still running, or its recorder was killed".to_owned(),
    }
}

fn is_hang(why: &str) -> bool {
    ["did not end", "hung"].iter().any(|words| why.starts_with(words))
}

/// The end of what a run printed; none: it is not there.
pub fn tail(folder: &Path, stream: Stream) -> Option<String> {
    let name = match stream {
        Stream::Stderr => "stderr",
        Stream::Stdout => "stdout",
    };
    let bytes = end_of(&folder.join(name)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn end_of(file: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(file)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL_BYTES)))?;
    let mut bytes = Vec::new();
    file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The signals that end a program, as Linux numbers them on the machines we support.
fn signal_name(number: i32) -> String {
    let name = match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return format!("signal {number}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_long_output_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let text = "x".repeat(TAIL_BYTES as usize) + "\nlost\n";
        std::fs::write(folder.path().join("stderr"), text).unwrap();
        let tail = tail(folder.path(), Stream::Stderr).unwrap();
        assert!(tail.ends_with("\nlost\n") && tail.len() == TAIL_BYTES as usize);
    }

    #[test]
    fn what_was_not_kept_is_not_empty_but_missing() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(tail(folder.path(), Stream::Stdout), None);
        std::fs::write(folder.path().join("stdout"), [0xff, b'a']).unwrap();
        assert_eq!(tail(folder.path(), Stream::Stdout).as_deref(), Some("\u{fffd}a"));
    }

    #[test]
    fn signals_have_names() {
        assert_eq!(signal_name(11), "SIGSEGV");
        assert_eq!(signal_name(64), "signal 64");
    }
}
