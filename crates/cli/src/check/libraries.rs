//! The libraries of a program that a reproducer names: the user says where they are, else the program's own loader does, else they are beside
//! the program or here. A program that a script starts is found that way too.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use unpick_problem::Problem;
use unpick_reproduce::{Program, Reproducer};

/// Makes the loader list what it would load, in place of running the program.
const LIST_ONLY: &str = "LD_TRACE_LOADED_OBJECTS";

/// The program with the libraries that the reproducer names. One that is not there is told when its code is looked for.
pub fn added(
    program: Program,
    reproducer: &Reproducer,
    executable: &Path,
    given: &[PathBuf],
) -> Result<Program, Problem> {
    let wanted = reproducer.libraries();
    if wanted.is_empty() {
        return Ok(program);
    }
    let beside = [executable.parent().unwrap_or(Path::new("")), Path::new(".")];
    let beside = beside.iter().flat_map(|folder| wanted.iter().map(move |name| folder.join(name)));
    let known = given.iter().cloned().chain(loaded_by(program.path())).chain(beside);
    let mut missing = wanted.clone();
    let mut program = program;
    for path in known.filter_map(|path| path.canonicalize().ok()) {
        // The first of a name is the one.
        if path.file_name().and_then(|name| name.to_str()).is_some_and(|name| missing.remove(name))
        {
            program = program.with_library(&path)?;
        }
    }
    Ok(program)
}

/// What the loader cannot list is not there.
fn loaded_by(executable: &Path) -> Vec<PathBuf> {
    let listed = Command::new(executable).env(LIST_ONLY, "1").stdin(Stdio::null()).output();
    let Ok(listed) = listed else { return Vec::new() };
    String::from_utf8_lossy(&listed.stdout).lines().filter_map(path_in).collect()
}

/// `libbank.so.1 => /opt/lib/libbank.so.1 (0x00007f…)`.
fn path_in(line: &str) -> Option<PathBuf> {
    let (_, rest) = line.split_once(" => ")?;
    let (path, _) = rest.rsplit_once(" (")?;
    Some(PathBuf::from(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_read_from_the_loaders_list() {
        let path = path_in("\tlibbank.so.1 => /opt/a b/libbank.so.1 (0x00007f0000000000)");
        assert_eq!(path, Some(PathBuf::from("/opt/a b/libbank.so.1")));
        assert_eq!(path_in("\tlinux-vdso.so.1 (0x00007ffc)"), None);
        assert_eq!(path_in("\tlibgone.so => not found"), None);
    }
}
