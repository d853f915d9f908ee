//! A command, and what it needs around it.

use std::ffi::OsString;
use std::fs::File;
use std::path::PathBuf;
use std::process::Command;

use unpick_problem::Problem;

/// What is run, and where.
#[derive(Debug, Clone, Default)]
pub struct Invocation {
    /// The program and its arguments; at least the program.
    pub command: Vec<OsString>,
    /// Its working folder; none: ours.
    pub folder: Option<PathBuf>,
    /// The file it reads as its standard input, by its whole path; none: nothing in a hunt, ours in `unpick record`.
    pub stdin: Option<PathBuf>,
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

    /// The file for its standard input, if there is one. Each run reads it from the beginning.
    pub(crate) fn open_stdin(&self) -> Result<Option<File>, Problem> {
        let Some(path) = &self.stdin else { return Ok(None) };
        File::open(path).map(Some).map_err(|error| {
            Problem::usage("the file for the program's standard input cannot be read")
                .at("file", path.display())
                .why(error)
                .next("name one that can: --stdin FILE")
        })
    }
}
