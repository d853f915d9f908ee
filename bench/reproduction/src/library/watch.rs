//! One run of a program: how it ended, or that it hangs, and whether a breakpoint was hit.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde::Deserialize;

/// How often it is looked whether the program has ended.
const LOOK: Duration = Duration::from_micros(300);
/// How often it is looked whether it still moves, which costs more.
const LOOK_CLOSELY: Duration = Duration::from_millis(50);
/// A program of which no thread was scheduled for so long hangs: six times the pause of a breakpoint.
const STILL: Duration = Duration::from_millis(600);
/// Whatever it does, it ends then.
const LIMIT: Duration = Duration::from_secs(60);

#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Every breakpoint that was reached was hit.
    pub is_hit: bool,
    /// Also if it hangs.
    pub has_failed: bool,
    /// None if it hangs.
    pub seconds: Option<f64>,
}

/// A line of `UNPICK_BREAKPOINT_REPORT`, as far as it matters here.
#[derive(Deserialize)]
struct Line {
    hits: u64,
}

/// Runs it, with this breakpoint only if one is given.
pub fn run(program: &Path, arguments: &[String], only: Option<&str>) -> Run {
    let folder = tempfile::tempdir().expect("a folder for the report");
    let report = folder.path().join("report");
    let mut command = Command::new(program);
    command.args(arguments).env("UNPICK_BREAKPOINT_REPORT", &report);
    command.env_remove("UNPICK_BREAKPOINT_PAUSE_MS").env_remove("UNPICK_BREAKPOINTS");
    command.envs(only.map(|name| ("UNPICK_BREAKPOINTS", name)));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let start = Instant::now();
    let mut child = command.spawn().expect("a program that was just built");
    let status = end_of(&mut child, start);
    let seconds = status.map(|_| start.elapsed().as_secs_f64());
    let has_failed = status.is_none_or(|status| !status.success());
    Run { is_hit: is_hit(&report), has_failed, seconds }
}

/// None if it hangs; then it was killed.
fn end_of(child: &mut Child, start: Instant) -> Option<ExitStatus> {
    let mut last_move = (Instant::now(), 0);
    let mut last_look = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("it is our child") {
            return Some(status);
        }
        sleep(LOOK);
        if last_look.elapsed() < LOOK_CLOSELY {
            continue;
        }
        last_look = Instant::now();
        let switches = switches_of(child.id());
        if switches != last_move.1 {
            last_move = (Instant::now(), switches);
        }
        if last_move.0.elapsed() > STILL || start.elapsed() > LIMIT {
            // It may have ended just now, which is all the same.
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
    }
}

/// How often threads of the process were scheduled: a number that stands still if all of them wait.
fn switches_of(process: u32) -> u64 {
    let Ok(tasks) = fs::read_dir(format!("/proc/{process}/task")) else { return 0 };
    let of_task = |path: &Path| {
        let text = fs::read_to_string(path.join("status")).unwrap_or_default();
        let lines = text.lines().filter(|line| line.contains("ctxt_switches"));
        lines.filter_map(|line| line.split_whitespace().last()?.parse::<u64>().ok()).sum::<u64>()
    };
    tasks.flatten().map(|task| of_task(&task.path()) + 1).sum()
}

fn is_hit(report: &Path) -> bool {
    let text = fs::read_to_string(report).unwrap_or_default();
    let is_hit = |line| serde_json::from_str::<Line>(line).expect("a line of JSON").hits > 0;
    !text.is_empty() && text.lines().all(is_hit)
}
