//! Starts a program and waits for its end.
//!
//! Takes   a program, its arguments and environment.      Gives  how it ended and how long it took.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use unpick_problem::Problem;
use unpick_recording::Outcome;

use crate::guardian::{self, Guarded};
use crate::invocation::Invocation;
use crate::program::Program;
use crate::signals::Forwarding;

/// Runs a program to its end. The first word of the invocation is what the program sees as its name.
pub fn launch(
    program: &Program,
    invocation: &Invocation,
    environment: impl IntoIterator<Item = (&'static str, OsString)>,
) -> Result<(Outcome, Duration), Problem> {
    let (name, arguments) =
        invocation.command.split_first().expect("a program was found by its name");
    let mut command = Command::new(&program.path);
    invocation.surround(&mut command);
    command.arg0(name).args(arguments).envs(environment);
    if let Some(file) = invocation.open_stdin()? {
        command.stdin(file);
    }
    let forwarding = Forwarding::begin();
    guardian::prepare();
    let started = Instant::now();
    let mut child = command.spawn().map_err(|error| cannot_start(program, &error))?;
    let guarded = Guarded::process(child.id());
    let receiver = forwarding.pass_to(child.id());
    wait_without_reaping(&child);
    let duration = started.elapsed();
    drop(receiver);
    drop(guarded);
    let status = child.wait().map_err(|error| cannot_wait(program, &error))?;
    Ok((outcome(status), duration))
}

/// Waits until the child has ended but leaves it as it is, so that its number stays its own.
pub(crate) fn wait_without_reaping(child: &Child) {
    loop {
        // SAFETY: `siginfo_t` is plain data, for which all zeros is a value; the pointer is to a live local.
        let result = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_PID, child.id(), &mut info, libc::WEXITED | libc::WNOWAIT)
        };
        let interrupted =
            result != 0 && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted;
        if !interrupted {
            return;
        }
    }
}

pub(crate) fn outcome(status: ExitStatus) -> Outcome {
    match (status.code(), status.signal()) {
        (Some(code), _) => Outcome::Exit { code },
        (None, Some(number)) => Outcome::Signal { number },
        (None, None) => Outcome::Unknown,
    }
}

pub(crate) fn cannot_start(program: &Program, error: &io::Error) -> Problem {
    let problem = Problem::usage("the program cannot be started")
        .at("file", program.path.display())
        .why(error);
    match error.raw_os_error() {
        Some(libc::E2BIG) => problem.next("give it fewer or shorter arguments"),
        Some(libc::ENOENT) => problem.next(
            "the interpreter or loader it names is missing: install it, or build the program here",
        ),
        _ => problem.next("run it without unpick: if that fails too, the cause is not Unpick"),
    }
}

pub(crate) fn cannot_wait(program: &Program, error: &io::Error) -> Problem {
    Problem::own_fault("the end of the program could not be observed")
        .at("file", program.path.display())
        .why(error)
}
