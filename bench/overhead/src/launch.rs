//! One run of one program: its time, peak memory, recording size and checksum.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use wait4::Wait4;

use crate::results::Sample;

pub struct Launch<'a> {
    pub launcher: &'a [&'a str],
    pub program: &'a Path,
    pub threads: u32,
    pub size: u64,
    pub limit_seconds: u32,
    /// Breakpoints to run with.
    pub schedule: Option<&'a Path>,
    /// An own folder for this run; created before and deleted after it.
    pub folder: PathBuf,
}

/// Where the runtime puts its recording.
const RUN_DIR: &str = "UNPICK_RUN_DIR";
/// Where it finds breakpoints.
const SCHEDULE: &str = "UNPICK_SCHEDULE";

impl Launch<'_> {
    /// Runs the program; an error says why its result cannot be used.
    pub fn run(&self) -> Result<Sample, String> {
        let sample = self.run_in_folder().map_err(|error| error.to_string());
        let _ = fs::remove_dir_all(&self.folder); // a leftover costs space only, and the next run has its own folder
        sample?
    }

    fn run_in_folder(&self) -> std::io::Result<Result<Sample, String>> {
        let recording = self.folder.join("recording");
        fs::create_dir_all(&recording)?;
        let mut command = self.command(&recording)?;
        let started = Instant::now();
        let ended = command.spawn()?.wait4()?;
        let elapsed = started.elapsed();
        if let Some(why) = self.why_unusable(ended.status) {
            return Ok(Err(why));
        }
        let checksum = fs::read_to_string(self.folder.join("stdout"))?.trim().to_owned();
        Ok(Ok(Sample {
            seconds: elapsed.as_secs_f64(),
            peak_bytes: ended.rusage.maxrss,
            recording_bytes: allocated_bytes(&recording)?,
            checksum,
        }))
    }

    fn command(&self, recording: &Path) -> std::io::Result<Command> {
        let mut command = Command::new("timeout");
        command.args(["--signal=KILL", &self.limit_seconds.to_string()]);
        command.args(self.launcher).arg(self.program);
        command.args([self.threads.to_string(), self.size.to_string()]);
        command.env(RUN_DIR, recording).stdin(Stdio::null());
        command.env_remove(SCHEDULE).envs(self.schedule.map(|file| (SCHEDULE, file)));
        command
            .stdout(File::create(self.folder.join("stdout"))?)
            .stderr(File::create(self.folder.join("stderr"))?);
        Ok(command)
    }

    fn why_unusable(&self, status: ExitStatus) -> Option<String> {
        if status.success() {
            return None;
        }
        let stderr = fs::read_to_string(self.folder.join("stderr")).unwrap_or_default();
        Some(format!("{status}: {}", first_lines(&stderr, 12)))
    }
}

fn first_lines(text: &str, count: usize) -> String {
    text.lines().take(count).collect::<Vec<_>>().join("\n    ")
}

/// What the files below a folder take on disk; a sparse file counts with what was written to it.
fn allocated_bytes(folder: &Path) -> std::io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        total += if metadata.is_dir() {
            allocated_bytes(&entry.path())?
        } else {
            metadata.blocks() * 512
        };
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch<'a>(launcher: &'a [&'a str], folder: PathBuf) -> Launch<'a> {
        Launch {
            launcher,
            program: Path::new("program"),
            threads: 2,
            size: 3,
            limit_seconds: 20,
            schedule: None,
            folder,
        }
    }

    #[test]
    fn a_run_gives_what_it_printed_and_recorded() {
        let parent = tempfile::tempdir().unwrap();
        let script = "echo $1 $2; head -c 5000 /dev/zero > $UNPICK_RUN_DIR/events";
        let sample = launch(&["sh", "-c", script], parent.path().join("run")).run().unwrap();
        assert_eq!(sample.checksum, "2 3");
        assert!(sample.recording_bytes >= 5000 && sample.peak_bytes > 0, "{sample:?}");
        assert!(!parent.path().join("run").exists());
    }

    #[test]
    fn a_failed_run_tells_its_errors() {
        let parent = tempfile::tempdir().unwrap();
        let why = launch(&["sh", "-c", "echo race >&2; exit 66"], parent.path().join("run"))
            .run()
            .unwrap_err();
        assert!(why.contains("66") && why.contains("race"), "{why}");
    }
}
