//! Commands with a time limit, whose output goes to files.

use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often a running command is looked at: fine enough for times that may be 5 % wrong.
const INTERVAL: Duration = Duration::from_millis(10);

/// A command that ended, or was ended.
pub struct Ended {
    /// None: it took longer than its limit and was killed.
    pub status: Option<ExitStatus>,
    pub duration: Duration,
}

/// Runs a command in a folder, its output in `NAME.out` and `NAME.err` there.
pub fn run(
    mut command: Command,
    folder: &Path,
    name: &str,
    limit: Duration,
) -> std::io::Result<Ended> {
    let stdout = File::create(folder.join(format!("{name}.out")))?;
    let stderr = File::create(folder.join(format!("{name}.err")))?;
    command.current_dir(folder).stdin(Stdio::null()).stdout(stdout).stderr(stderr);
    let started = Instant::now();
    let mut child = command.spawn()?;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended { status: Some(status), duration: started.elapsed() });
        }
        if started.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(Ended { status: None, duration: started.elapsed() });
        }
        std::thread::sleep(INTERVAL);
    }
}

/// What a command wrote: `hunt.err`.
pub fn written(folder: &Path, file: &str) -> String {
    let bytes = fs::read(folder.join(file)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_in_files_and_the_status_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo out; echo err >&2; exit 3"]);
        let ended = run(shell, folder.path(), "x", Duration::from_secs(600)).unwrap();
        assert_eq!(ended.status.and_then(|status| status.code()), Some(3));
        assert_eq!(written(folder.path(), "x.out"), "out\n");
        assert_eq!(written(folder.path(), "x.err"), "err\n");
    }

    #[test]
    fn a_command_that_takes_too_long_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let mut sleep = Command::new("sleep");
        sleep.arg("600");
        let ended = run(sleep, folder.path(), "x", Duration::ZERO).unwrap();
        assert!(ended.status.is_none());
    }
}
