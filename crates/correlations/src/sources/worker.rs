//! Workers: processes that read C and C++ one job after the other.
//!
//! libclang may crash on what it does not understand, and is bound to one thread by the safe crate that wraps it. In a process
//! of its own it takes only the job at hand with it, and gives back all its memory. A worker that takes too long, or too much
//! memory, is ended.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use unpick_problem::Problem;

use crate::access_sets::c::{CJob, CReader, Parsed};

/// Trees of expressions are as deep as the source has them; generated ones are deep.
const STACK: usize = 1 << 30;
/// A worker that has grown to so many bytes leaves, and another one starts.
const LARGEST_WORKER: usize = 2 << 30;
/// A worker that grows to so many bytes within one job is ended.
const LARGEST_JOB: usize = 4 << 30;
/// How often a worker that has not answered yet is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// How a worker is started: a program and arguments with which it calls [`serve`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerCommand {
    pub program: PathBuf,
    pub arguments: Vec<String>,
}

/// What a worker says about a job.
#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Parsed(Box<Parsed>),
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
                Ok(parsed) => Answer::Parsed(Box::new(parsed)),
                Err(error) => Answer::Failed(error),
            },
        };
        let leaves = resident_bytes("self") > LARGEST_WORKER;
        serde_json::to_writer(&mut output, &Reply { answer, leaves })?;
        output.write_all(b"\n")?;
        output.flush()?;
        if leaves {
            break;
        }
    }
    Ok(())
}

/// Memory of a process; zero where the system does not say.
fn resident_bytes(process: &str) -> usize {
    let pages = std::fs::read_to_string(format!("/proc/{process}/statm")).ok();
    let resident = pages.as_deref().and_then(|text| text.split(' ').nth(1)?.parse::<usize>().ok());
    resident.unwrap_or(0) * 4096
}

/// One worker, started when there is something to do.
pub struct Worker<'a> {
    command: &'a WorkerCommand,
    /// For one job.
    time_limit: Duration,
    running: Option<Running>,
}

struct Running {
    process: Child,
    input: ChildStdin,
    /// Lines of its output, as they come.
    replies: Receiver<std::io::Result<String>>,
}

/// Why there is no reply.
enum Silence {
    /// It ended, or what it says cannot be understood.
    Broken(std::io::Error),
    Ended(String),
}

impl From<std::io::Error> for Silence {
    fn from(error: std::io::Error) -> Self {
        Self::Broken(error)
    }
}

impl<'a> Worker<'a> {
    pub fn new(command: &'a WorkerCommand, time_limit: Duration) -> Self {
        Self { command, time_limit, running: None }
    }

    pub fn read(&mut self, job: &CJob) -> Result<Parsed, Failure> {
        let reply = self.ask(job).map_err(|silence| Failure::File(self.buried(silence)))?;
        if reply.leaves {
            self.end();
        }
        match reply.answer {
            Answer::Parsed(parsed) => Ok(*parsed),
            Answer::Failed(why) => Err(Failure::File(why)),
            Answer::Useless(why) => Err(Failure::All(why)),
        }
    }

    fn ask(&mut self, job: &CJob) -> Result<Reply, Silence> {
        if self.running.is_none() {
            self.running = Some(Running::start(self.command)?);
        }
        let Some(running) = &mut self.running else { unreachable!("it was just started") };
        let mut line = serde_json::to_string(job).map_err(std::io::Error::from)?;
        line.push('\n');
        running.input.write_all(line.as_bytes())?;
        running.input.flush()?;
        let reply = running.reply(Instant::now() + self.time_limit, self.time_limit)?;
        Ok(serde_json::from_str(&reply).map_err(std::io::Error::from)?)
    }

    /// How it ended, in words.
    fn buried(&mut self, silence: Silence) -> String {
        if matches!(silence, Silence::Ended(_))
            && let Some(running) = &mut self.running
        {
            let _ = running.process.kill();
        }
        match (self.end(), silence) {
            (_, Silence::Ended(why)) => why,
            (Some(status), _) if !status.success() => {
                format!("libclang ended the worker ({status})")
            }
            (_, Silence::Broken(error)) => format!("the worker did not answer: {error}"),
        }
    }

    fn end(&mut self) -> Option<std::process::ExitStatus> {
        let Running { mut process, input, replies } = self.running.take()?;
        drop((input, replies));
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
        let (send, replies) = channel();
        // Ends with the process.
        std::thread::spawn(move || pass_on(output, &send));
        Ok(Self { process, input, replies })
    }

    fn reply(&self, deadline: Instant, limit: Duration) -> Result<String, Silence> {
        loop {
            match self.replies.recv_timeout(LOOK) {
                Ok(line) => return Ok(line?),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                    return Err(Silence::Ended(format!(
                        "it takes longer than {} s; --timeout allows more",
                        limit.as_secs_f64()
                    )));
                }
                Err(RecvTimeoutError::Timeout) => self.check_memory()?,
            }
        }
    }

    fn check_memory(&self) -> Result<(), Silence> {
        if resident_bytes(&self.process.id().to_string()) > LARGEST_JOB {
            let most = LARGEST_JOB >> 30;
            return Err(Silence::Ended(format!("libclang needs more than {most} GiB for it")));
        }
        Ok(())
    }
}

/// Until there is nothing more, or nobody who listens.
fn pass_on(output: ChildStdout, replies: &Sender<std::io::Result<String>>) {
    for line in BufReader::new(output).lines() {
        if replies.send(line).is_err() {
            return;
        }
    }
}
