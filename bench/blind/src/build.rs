//! Builds a program with Unpick, in a scratch folder of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use unpick_bench_ranking::twins::{self, Tool};
use unpick_subjects::Twin;

use crate::command::{run, written};
use crate::program::Recipe;

const LIMIT: Duration = Duration::from_secs(1200);

/// Where `unpick cargo` puts what it builds, below the target folder.
const BELOW_TARGET: &str = "unpick/x86_64-unknown-linux-gnu/debug";

/// Builds below `scratch`; says where the program is.
pub fn build(recipe: &Recipe, unpick: &Path, scratch: &Path) -> Result<PathBuf, String> {
    match recipe {
        Recipe::Compiler { verb, flags, sources } => {
            let program = scratch.join("program");
            let mut command = Command::new(unpick);
            command.arg(verb).args(flags).args(sources).arg("-o").arg(&program);
            finished(command, scratch)?;
            Ok(program)
        }
        Recipe::Cargo { folder } => {
            copy(folder, &scratch.join("source")).map_err(|why| why.to_string())?;
            cargo(&["build", "--locked"], unpick, scratch, "", "")
        }
        Recipe::CargoTest { folder, binary } => {
            copy(folder, &scratch.join("source")).map_err(|why| why.to_string())?;
            cargo(&["test", "--no-run"], unpick, scratch, "deps", &format!("{binary}-"))
        }
        Recipe::RustFile { file, opt_level } => {
            project(file, *opt_level, &scratch.join("source")).map_err(|why| why.to_string())?;
            cargo(&["build"], unpick, scratch, "", "")
        }
        Recipe::Subject(subject) => {
            // Subjects in Rust are one workspace and share what they depend on.
            let shared = scratch.parent().unwrap_or(scratch).join("subjects");
            twins::build(subject, Twin::Buggy, Tool::Unpick(unpick), &shared)
                .map_err(|problem| problem.to_string())
        }
    }
}

fn finished(command: Command, scratch: &Path) -> Result<(), String> {
    let ended = run(command, scratch, "build", LIMIT).map_err(|why| why.to_string())?;
    let is_built = ended.status.is_some_and(|status| status.success());
    is_built.then_some(()).ok_or_else(|| written(scratch, "build.err"))
}

/// Runs cargo in the copy; the program is the only executable there whose name begins with `prefix`.
fn cargo(
    words: &[&str],
    unpick: &Path,
    scratch: &Path,
    below: &str,
    prefix: &str,
) -> Result<PathBuf, String> {
    let target = scratch.join("target");
    let mut command = Command::new(unpick);
    command.arg("cargo").args(words);
    command.arg("--manifest-path").arg(scratch.join("source/Cargo.toml"));
    command.env("CARGO_TARGET_DIR", &target);
    finished(command, scratch)?;
    let built = executables(&target.join(BELOW_TARGET).join(below), prefix);
    match <[PathBuf; 1]>::try_from(built) {
        Ok([program]) => Ok(program),
        Err(several) => Err(format!("cargo built {} programs, not one", several.len())),
    }
}

fn executables(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_program = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let metadata = path.metadata();
        let is_executable =
            metadata.is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0);
        name.starts_with(prefix) && path.extension().is_none() && is_executable
    };
    entries.map(|entry| entry.path()).filter(is_program).collect()
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true if entry.file_name() == "target" => {}
            true => copy(&entry.path(), &target)?,
            false => fs::copy(entry.path(), target).map(drop)?,
        }
    }
    Ok(())
}

/// A cargo project with one source.
fn project(source: &Path, opt_level: u8, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to.join("src"))?;
    let manifest = format!(
        "[package]\nname = \"program\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[profile.dev]\nopt-level = {opt_level}\n\n[workspace]\n"
    );
    fs::write(to.join("Cargo.toml"), manifest)?;
    fs::copy(source, to.join("src/main.rs")).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_everything_but_what_cargo_built() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("src")).unwrap();
        fs::create_dir_all(from.join("target")).unwrap();
        fs::write(from.join("src/main.rs"), "x").unwrap();
        fs::write(from.join("target/y"), "y").unwrap();
        copy(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("src/main.rs")).unwrap(), "x");
        assert!(!to.join("target").exists());
    }

    #[test]
    fn the_program_is_the_executable_file_of_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for (name, mode) in
            [("spool-01", 0o755), ("spool-01.d", 0o755), ("spool-02", 0o644), ("jobs-01", 0o755)]
        {
            fs::write(path(name), "").unwrap();
            fs::set_permissions(path(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        assert_eq!(executables(folder.path(), "spool-"), [path("spool-01")]);
    }
}
