//! Other work that keeps all cores busy: one process per core that does nothing but run. They are this program itself, and end with it.

use std::os::unix::process::parent_id;
use std::process::{Child, Command, Stdio};

use unpick_problem::Problem;

/// The only argument of a process that is to keep a core busy.
const SPIN: &str = "--spin";

/// Rounds between two looks whether the benchmark is still there.
const ROUNDS: u64 = 10_000_000;

/// Processes that run until this is dropped.
pub struct BusyCores(Vec<Child>);

impl BusyCores {
    pub fn start() -> Result<BusyCores, Problem> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let mut started = BusyCores(Vec::new());
        for _ in 0..cores {
            let child = spinner().map_err(|why| {
                Problem::own_fault("a process that keeps a core busy cannot be started").why(why)
            })?;
            started.0.push(child);
        }
        Ok(started)
    }
}

impl Drop for BusyCores {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended: that is what is wanted.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn spinner() -> std::io::Result<Child> {
    let own = std::env::current_exe()?;
    Command::new(own).arg(SPIN).stdin(Stdio::null()).stdout(Stdio::null()).spawn()
}

/// Whether this process was started to keep a core busy.
pub fn is_spinner() -> bool {
    std::env::args().nth(1).as_deref() == Some(SPIN)
}

/// Runs as long as the process that started this one.
pub fn spin() {
    let benchmark = parent_id();
    while parent_id() == benchmark {
        for round in 0..ROUNDS {
            std::hint::black_box(round);
        }
    }
}
