//! Workers: processes that read C and C++ one file after the other.
//!
//! libclang may crash on what it does not understand, and is bound to one thread by the safe crate that wraps it. In a process
//! of its own it takes only the file at hand with it, and gives back all its memory.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::{Deserialize, Serialize};
use unpick_problem::Problem;

use crate::access_sets::FileSets;
use crate::access_sets::c::{CJob, CReader};

/// Trees of expressions are as deep as the source has them; generated ones are deep.
const STACK: usize = 1 << 30;
/// A worker that has grown to so many bytes leaves, and another one starts.
const LARGEST_WORKER: usize = 2 << 30;

/// How a worker is started: a program and arguments with which it calls [`serve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

/// What a worker says about a job.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Sets(Box<FileSets>),
    Failed(String),
    /// There is no libclang; no worker can do anything.
    Useless(String),
}

#[derive(Debug, Serialize, Deserialize)]
struct Reply {
    answer: Answer,
    leaves: bool,
}

/// Why there are no access sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// Of this file.
    File(String),
    /// Of all files.
    All(String),
}

/// Answers jobs from standard input on standard output until it is closed: what a worker does all its life.
pub fn serve() -> Result<(), Problem> {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(answer_jobs);
    let ended = thread.map_err(|error| cannot_work(&error))?.join();
    ended.map_err(|_| Problem::own_fault("a worker failed"))?.map_err(|error| cannot_work(&error))
}

fn cannot_work(error: &std::io::Error) -> Problem {
    Problem::own_fault("a worker cannot work").why(error)
}

fn answer_jobs() -> std::io::Result<()> {
    let reader = CReader::load();
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let answer = match (&reader, serde_json::from_str::<CJob>(&line)) {
            (Err(problem), _) => Answer::Useless(problem.to_string()),
            (_, Err(error)) => Answer::Failed(error.to_string()),
            (Ok(reader), Ok(job)) => match reader.read(&job) {
                Ok(sets) => Answer::Sets(Box::new(sets)),
                Err(error) => Answer::Failed(error),
            },
        };
        let leaves = resident_bytes() > LARGEST_WORKER;
        serde_json::to_writer(&mut output, &Reply { answer, leaves })?;
        output.write_all(b"\n")?;
        output.flush()?;
        if leaves {
            break;
        }
    }
    Ok(())
}

/// Memory of this process; zero where the system does not say.
fn resident_bytes() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").ok();
    let resident = pages.as_deref().and_then(|text| text.split(' ').nth(1)?.parse::<usize>().ok());
    resident.unwrap_or(0) * 4096
}

/// One worker, started when there is something to do.
pub struct Worker<'a> {
    command: &'a WorkerCommand,
    running: Option<Running>,
}

struct Running {
    process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl<'a> Worker<'a> {
    pub fn new(command: &'a WorkerCommand) -> Self {
        Self { command, running: None }
    }

    pub fn read(&mut self, job: &CJob) -> Result<FileSets, Failure> {
        let reply = self.ask(job).map_err(|error| Failure::File(self.buried(&error)))?;
        if reply.leaves {
            self.end();
        }
        match reply.answer {
            Answer::Sets(sets) => Ok(*sets),
            Answer::Failed(why) => Err(Failure::File(why)),
            Answer::Useless(why) => Err(Failure::All(why)),
        }
    }

    fn ask(&mut self, job: &CJob) -> std::io::Result<Reply> {
        if self.running.is_none() {
            self.running = Some(Running::start(self.command)?);
        }
        let Some(running) = &mut self.running else { unreachable!("it was just started") };
        let mut line = serde_json::to_string(job)?;
        line.push('\n');
        running.input.write_all(line.as_bytes())?;
        running.input.flush()?;
        let mut reply = String::new();
        running.output.read_line(&mut reply)?;
        Ok(serde_json::from_str(&reply)?)
    }

    /// How it ended, in words.
    fn buried(&mut self, error: &std::io::Error) -> String {
        match self.end() {
            Some(status) if !status.success() => format!("libclang ended the worker ({status})"),
            _ => format!("the worker did not answer: {error}"),
        }
    }

    fn end(&mut self) -> Option<std::process::ExitStatus> {
        let Running { mut process, input, output } = self.running.take()?;
        drop((input, output));
        process.wait().ok()
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        self.end();
    }
}

impl Running {
    fn start(command: &WorkerCommand) -> std::io::Result<Self> {
        let mut process = Command::new(&command.program)
            .args(&command.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            unreachable!("both are piped");
        };
        Ok(Self { process, input, output: BufReader::new(output) })
    }
}
