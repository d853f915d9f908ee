//! A run in gdb that stops when the threads are where a finding has them.

use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use unpick_events::schedule;
use unpick_problem::Problem;
use unpick_reproduce::Plan;

use crate::forcing::Forcing;

/// Where the runtime comes when the last step is about to be made.
const STOP: &str = "unpick_all_are_there";

/// Becomes gdb. Threads are held for longer than usual: a debugger is slow.
pub fn run(forcing: &Forcing, plan: &Plan) -> Result<ExitCode, Problem> {
    let schedule = forcing.write_schedule(plan)?;
    let run_folder = forcing.new_run_folder()?;
    let invocation = forcing.invocation();
    let mut gdb = Command::new("gdb");
    gdb.args(["-q", "-ex", &format!("break {STOP}"), "-ex", "run"]);
    gdb.args(["-ex", "echo \\nunpick: all threads are there; the last step comes next: info threads, thread apply all backtrace\\n"]);
    gdb.args(["-ex", "info threads", "--args"]).args(&invocation.command);
    gdb.envs(invocation.environment.iter().map(|(name, value)| (name, value)));
    gdb.env(schedule::VARIABLE, schedule).env("UNPICK_RUN_DIR", run_folder);
    if let Some(folder) = &invocation.folder {
        gdb.current_dir(folder);
    }
    let error = gdb.exec();
    Err(Problem::usage("gdb cannot be started")
        .why(error)
        .next("install it: apt-get install gdb; or without it: unpick reproduce"))
}
