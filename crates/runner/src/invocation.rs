//! A command, and what it needs around it.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// What is run, and where.
#[derive(Debug, Clone, Default)]
pub struct Invocation {
    /// The program and its arguments; at least the program.
    pub command: Vec<OsString>,
    /// Its working folder; none: ours.
    pub folder: Option<PathBuf>,
    /// Variables beside those it inherits.
    pub environment: Vec<(OsString, OsString)>,
    /// The words that name it to Unpick, where these are not the command itself: `--cargo test bank::transfer`.
    pub written_as: Option<Vec<String>>,
}

impl Invocation {
    /// A command that needs nothing around it.
    pub fn plain(command: Vec<OsString>) -> Invocation {
        Invocation { command, ..Invocation::default() }
    }

    /// The program and its arguments as `run.json` has them.
    pub fn words(&self) -> Vec<String> {
        self.command.iter().map(|word| word.to_string_lossy().into_owned()).collect()
    }

    /// Gives a command the folder and the variables.
    pub(crate) fn surround(&self, command: &mut Command) {
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
    }
}
