//! Builds a subject as it is, or with its breakpoints.

use std::path::{Path, PathBuf};
use std::process::Command;

use unpick_problem::Problem;
use unpick_subjects::{Language, Subject, Twin};

#[derive(Debug, Clone, Copy)]
pub enum Form {
    AsItIs,
    WithBreakpoints,
}

impl Form {
    fn folder(self) -> &'static str {
        match self {
            Form::AsItIs => "as-it-is",
            Form::WithBreakpoints => "with-breakpoints",
        }
    }

    fn switches(self, language: Language) -> &'static [&'static str] {
        match (self, language) {
            (Form::AsItIs, _) => &[],
            (Form::WithBreakpoints, Language::Rust) => &["--features", "breakpoints"],
            (Form::WithBreakpoints, _) => &["-DUNPICK_BREAKPOINTS"],
        }
    }
}

/// Builds the buggy twin below `work`; says where the program is.
pub fn build(subject: &Subject, form: Form, work: &Path) -> Result<PathBuf, Problem> {
    let into = work.join("programs").join(form.folder());
    let failed = |why: String| cannot_build(subject, &why);
    std::fs::create_dir_all(&into).map_err(|error| failed(error.to_string()))?;
    // The command runs in the subject's folder.
    let into = into.canonicalize().map_err(|error| failed(error.to_string()))?;
    let words = subject.build_command(Twin::Buggy, &into);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).args(form.switches(subject.language));
    let output = command.current_dir(&subject.folder).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    Ok(subject.program(&into))
}

fn cannot_build(subject: &Subject, why: &str) -> Problem {
    Problem::own_fault(format!("the subject {} cannot be built", subject.name))
        .at("folder", subject.folder.display())
        .why(why)
        .next(format!("build it by hand: {}", subject.build))
}
