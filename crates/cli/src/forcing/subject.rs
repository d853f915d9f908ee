//! The program that is run under plans: the file, its code, and what a reproducer has to know of it.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use unpick_problem::Problem;
use unpick_reproduce::{Oracle, Plan, Program, Subject};
use unpick_runner::Program as RunnableProgram;

use super::Forcing;

impl Forcing {
    /// What a reproducer has to know to run the program again.
    pub fn subject(&self) -> Subject {
        let words = self.invocation.words();
        let program = words.first().cloned().unwrap_or_default();
        let oracle = self.judge.oracle.as_ref();
        let subject = Subject {
            program,
            arguments: words.into_iter().skip(1).collect(),
            cargo: Vec::new(),
            own_folder: self.own_folder,
            stdin: self.invocation.stdin.as_deref().map(as_seen_from_here),
            oracle: Oracle {
                fail_if: self.judge.conditions.iter().map(ToString::to_string).collect(),
                command: oracle.map(|oracle| oracle.to_string_lossy().into_owned()),
                timeout_ms: u32::try_from(self.limits.timeout.as_millis()).ok(),
            },
            folder: std::env::current_dir().unwrap_or_default(),
        };
        match &self.invocation.written_as {
            Some(words) => of_cargo(subject, words),
            None => subject,
        }
    }

    /// The file that is run.
    pub fn executable(&self) -> Result<PathBuf, Problem> {
        let name = self.invocation.command.first().map(Path::new).unwrap_or(Path::new(""));
        Ok(RunnableProgram::find(name)?.path)
    }

    /// Its code. Of a script that is its interpreter, which has none that matters: the program it starts counts as a library then.
    pub fn program(&self) -> Result<&Program, Problem> {
        if let Some(program) = self.program.get() {
            return Ok(program);
        }
        let program = self.open_program()?;
        Ok(self.program.get_or_init(|| program))
    }

    /// The same, for who changes it.
    pub fn open_program(&self) -> Result<Program, Problem> {
        let executable = self.executable()?;
        Program::open(&interpreter_of(&executable).unwrap_or(executable))
    }

    /// The plan with what the program's own code tells about its places.
    pub fn completed(&self, plan: Plan) -> Plan {
        // What cannot be read here is run all the same: the plan then knows less.
        match self.program() {
            Ok(program) => plan.with_copies(program).completed(program),
            Err(_) => plan,
        }
    }
}

/// A file below this folder is named so that both can be moved.
fn as_seen_from_here(file: &Path) -> PathBuf {
    let here = std::env::current_dir().unwrap_or_default();
    file.strip_prefix(&here).unwrap_or(file).to_owned()
}

/// `/bin/sh` of a file that begins with `#!/bin/sh`.
fn interpreter_of(file: &Path) -> Option<PathBuf> {
    const LONGEST: u64 = 256;
    let mut beginning = Vec::new();
    fs::File::open(file).ok()?.take(LONGEST).read_to_end(&mut beginning).ok()?;
    let line = beginning.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let name = std::str::from_utf8(line).ok()?.split_whitespace().next()?;
    Some(PathBuf::from(name))
}

/// Cargo finds the program of a test, wherever it is built; its name is enough to know it again.
fn of_cargo(subject: Subject, words: &[String]) -> Subject {
    let name = Path::new(&subject.program).file_name().unwrap_or_default();
    Subject {
        program: name.to_string_lossy().into_owned(),
        arguments: Vec::new(),
        cargo: words.iter().skip(1).cloned().collect(),
        ..subject
    }
}
