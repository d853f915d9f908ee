//! Runs a program in a process group of its own, with a time limit, and captures what it prints.
//!
//! Takes   a command, where its output goes, limits.      Gives  how it ended, and why; what it was doing when it hung.
//! Misses  what left the process group.
//! Cost    three threads while the program runs; a look through /proc after a tenth of a second, then ever more seldom, and
//!         one afterwards.
//!
//! Only the group that was made here is ever signalled.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::atomic::AtomicBool;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use regex::bytes::Regex;
use unpick_recording::Outcome;

use crate::group::Group;
use crate::guardian::{self, Guarded};
use crate::launch::{outcome, wait_without_reaping};
use crate::moment::{self, Moment};
use crate::output::{Capture, Captured};
use crate::waiting::Running;

/// What a run leaves behind is given this long to end by itself.
const LEFTOVER_GRACE: Duration = Duration::from_millis(200);

/// What a program may use.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Longer is a hang, unless it is only slow: see `patience`.
    pub timeout: Duration,
    /// How long runs take that pass, if any has.
    pub longest_pass: Option<Duration>,
    /// No run goes on beyond this: there is no more time, whatever it does.
    pub until: Option<Instant>,
    /// Between asking and killing.
    pub grace: Duration,
    /// Bytes kept of the beginning, and of the end, of what it prints to each stream.
    pub output: usize,
}

impl Limits {
    /// For a program of which nothing is known.
    pub fn new(timeout: Duration, grace: Duration, output: usize) -> Limits {
        Limits { timeout, longest_pass: None, until: None, grace, output }
    }
}

/// Why a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    ByItself,
    /// All its threads wait for each other: it never would have ended.
    Blocked,
    TimedOut,
    /// It made progress beyond the time limit, and was ended.
    Slow,
    /// There was no more time for it.
    OutOfTime,
    /// Somebody asked us to stop.
    Stopped,
}

impl Ending {
    pub fn is_hang(self) -> bool {
        matches!(self, Ending::Blocked | Ending::TimedOut)
    }
}

/// A program that was watched to its end.
#[derive(Debug)]
pub struct Watched {
    pub outcome: Outcome,
    pub ending: Ending,
    /// If it hung: what it was doing then.
    pub moment: Option<Moment>,
    pub duration: Duration,
    pub stdout: Captured,
    pub stderr: Captured,
    /// Processes of the group that still ran when the program had ended.
    pub leftovers: usize,
}

/// What to look for in each stream, line by line.
#[derive(Debug, Clone, Default)]
pub struct LookedFor {
    pub stdout: Vec<Regex>,
    pub stderr: Vec<Regex>,
}

/// Why a program was not watched to its end.
#[derive(Debug)]
pub enum NotWatched {
    /// It did not begin to run.
    NotStarted(io::Error),
    /// It ran, but its end or output was lost.
    Lost(io::Error),
}

/// Runs a command to its end, to the time limit, or until `stop` is set; `folder` gets `NAMEstdout` and `NAMEstderr`.
pub fn watch(
    mut command: Command,
    folder: &Path,
    name: &str,
    looked_for: LookedFor,
    limits: &Limits,
    stop: &AtomicBool,
) -> Result<Watched, NotWatched> {
    guardian::prepare();
    let (stdout, to_stdout) = io::pipe().map_err(NotWatched::NotStarted)?;
    let (stderr, to_stderr) = io::pipe().map_err(NotWatched::NotStarted)?;
    command.process_group(0).stdout(to_stdout).stderr(to_stderr);
    let capture = |from, stream: &str, patterns| {
        let path = folder.join(format!("{name}{stream}"));
        Capture::begin(from, &path, patterns, limits.output).map_err(NotWatched::NotStarted)
    };
    let stdout = capture(stdout, "stdout", looked_for.stdout)?;
    let stderr = capture(stderr, "stderr", looked_for.stderr)?;
    let started = Instant::now();
    let mut child = command.spawn().map_err(NotWatched::NotStarted)?;
    let guarded = Guarded::group(child.id());
    // It holds our ends of the pipes for writing.
    drop(command);
    let End { ending, duration, leftovers, moment } =
        see_to_its_end(&child, started, folder, limits, stop);
    drop(guarded);
    let status = child.wait().map_err(NotWatched::Lost)?;
    Ok(Watched {
        outcome: outcome(status),
        ending,
        moment,
        duration,
        stdout: stdout.finish().map_err(NotWatched::Lost)?,
        stderr: stderr.finish().map_err(NotWatched::Lost)?,
        leftovers,
    })
}

struct End {
    ending: Ending,
    duration: Duration,
    leftovers: usize,
    moment: Option<Moment>,
}

/// Waits, ends the program if it must be, and then what it left behind. The child is not reaped.
fn see_to_its_end(
    child: &Child,
    started: Instant,
    folder: &Path,
    limits: &Limits,
    stop: &AtomicBool,
) -> End {
    let running = Running { group: Group::of(child.id()), started, folder, limits, stop };
    std::thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        scope.spawn(move || {
            wait_without_reaping(child);
            // Nobody listens any more if the program was ended by us.
            let _ = tell.send(());
        });
        let ending = running.wait(&told);
        let duration = started.elapsed();
        let group = &running.group;
        if ending == Ending::ByItself {
            let leftovers = group.end(LEFTOVER_GRACE);
            return End { ending, duration, leftovers, moment: None };
        }
        let moment = ending.is_hang().then(|| Moment {
            is_standstill: ending == Ending::Blocked,
            ..moment::look(group, folder)
        });
        group.end(grace(ending, limits));
        End { ending, duration, leftovers: 0, moment }
    })
}

/// A program that can do nothing, or whose end nobody has time for, is not waited for.
fn grace(ending: Ending, limits: &Limits) -> Duration {
    match ending {
        Ending::Blocked | Ending::OutOfTime => limits.grace.min(LEFTOVER_GRACE),
        _ => limits.grace,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use std::fs;
    use std::process::Stdio;

    /// More than any test needs, and little output.
    pub const LIMITS: Limits = Limits {
        timeout: Duration::from_secs(60),
        longest_pass: None,
        until: None,
        grace: Duration::from_millis(100),
        output: 1000,
    };

    struct Scene {
        folder: tempfile::TempDir,
    }

    impl Scene {
        fn watch(&self, script: &str, limits: &Limits, stop: bool) -> Watched {
            let mut command = Command::new("sh");
            command.args(["-c", script]).current_dir(self.folder.path()).stdin(Stdio::null());
            let stop = AtomicBool::new(stop);
            watch(command, self.folder.path(), "", LookedFor::default(), limits, &stop).unwrap()
        }

        fn text(&self, name: &str) -> String {
            fs::read_to_string(self.folder.path().join(name)).unwrap()
        }
    }

    fn scene() -> Scene {
        Scene { folder: tempfile::tempdir().unwrap() }
    }

    fn is_running(process: &str) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", process.trim()));
        stat.is_ok_and(|stat| !stat.contains(") Z "))
    }

    #[test]
    fn output_and_exit_code_are_the_programs_own() {
        let scene = scene();
        let watched = scene.watch("echo out; echo err >&2; exit 7", &LIMITS, false);
        assert_eq!(watched.outcome, Outcome::Exit { code: 7 });
        assert_eq!((watched.ending, watched.leftovers), (Ending::ByItself, 0));
        assert_eq!((scene.text("stdout"), scene.text("stderr")), ("out\n".into(), "err\n".into()));
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_all_its_children() {
        let scene = scene();
        let limits = Limits { timeout: Duration::from_millis(300), ..LIMITS };
        let script = "trap '' TERM; sleep 1000 & echo $!; wait; sleep 1000";
        let watched = scene.watch(script, &limits, false);
        assert_eq!(watched.ending, Ending::TimedOut);
        // Which signal depends on how far the shell had come.
        assert!(matches!(watched.outcome, Outcome::Signal { .. }), "{:?}", watched.outcome);
        assert!(!is_running(&scene.text("stdout")));
    }

    #[test]
    fn what_a_program_leaves_behind_is_ended_even_if_it_is_stopped() {
        let scene = scene();
        // When the shell ends, the kernel itself hangs up on what is stopped in its group.
        let script = "trap '' HUP; sleep 1000 & echo $!; kill -STOP $!; exit 3";
        let watched = scene.watch(script, &LIMITS, false);
        assert_eq!((watched.outcome, watched.leftovers), (Outcome::Exit { code: 3 }, 1));
        assert!(!is_running(&scene.text("stdout")));
    }

    #[test]
    fn a_program_that_kills_its_group_kills_itself_only() {
        let watched = scene().watch("kill -TERM 0; sleep 1000", &LIMITS, false);
        assert_eq!(watched.outcome, Outcome::Signal { number: libc::SIGTERM });
        assert_eq!(watched.ending, Ending::ByItself);
    }

    #[test]
    fn a_request_to_stop_ends_the_program() {
        assert_eq!(scene().watch("sleep 1000", &LIMITS, true).ending, Ending::Stopped);
    }

    #[test]
    fn much_output_neither_blocks_the_program_nor_fills_the_disk() {
        let scene = scene();
        let script = "head -c 3000000 /dev/zero; echo end";
        let watched = scene.watch(script, &LIMITS, false);
        assert_eq!((watched.outcome, watched.stdout.bytes), (Outcome::Exit { code: 0 }, 3_000_004));
        let kept = fs::metadata(&watched.stdout.path).unwrap().len();
        assert!((2000..2100).contains(&kept), "{kept}");
    }
}
