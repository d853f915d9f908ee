//! OpenSSL: configured and generated as its crate does, without assembly; then the files that are compiled, and all headers.

use std::fs;
use std::io::Result;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::bases::{copy_file, copy_tree};

/// What the crate leaves out, too; and assembly, which nobody reads here.
const CHOICES: [&str; 12] = [
    "no-asm",
    "no-shared",
    "no-module",
    "no-tests",
    "no-apps",
    "no-docs",
    "no-comp",
    "no-zlib",
    "no-ssl3",
    "no-md2",
    "no-rc5",
    "linux-x86_64",
];

/// Needs perl and make, as building the crate does.
pub fn make(source: &Path, goal: &Path) -> Result<()> {
    let build = goal.with_extension("build");
    copy_tree(&source.join("openssl"), &build, &|_| true)?;
    run(&build, "perl", &[&["./Configure"], &CHOICES[..]].concat())?;
    run(&build, "make", &["build_generated"])?;
    let commands = run(&build, "make", &["-n", "build_libs"])?;
    // What is generated on the way to the libraries; nothing is compiled, and so some steps fail.
    let _ = run(&build, "make", &["-k", "CC=true", "AR=true", "RANLIB=true", "build_libs"]);
    copy_tree(&build, goal, &|path| {
        path.extension().is_some_and(|extension| extension == "h" || extension == "inc")
    })?;
    let mut entries = Vec::new();
    for command in commands.lines().filter(|line| line.contains(" -c ")) {
        let Some(file) = command.split(' ').next_back() else { continue };
        if !file.ends_with(".c") || file.starts_with("apps/") || !build.join(file).is_file() {
            continue;
        }
        copy_file(&build.join(file), &goal.join(file))?;
        copy_included_sources(&build, goal, file)?;
        entries.push(serde_json::json!({ "directory": goal, "file": file, "command": command }));
    }
    fs::write(goal.join("compile_commands.json"), serde_json::to_vec(&entries)?)?;
    fs::remove_dir_all(&build)
}

/// `#include "ncbc_enc.c"`
fn copy_included_sources(build: &Path, goal: &Path, file: &str) -> Result<()> {
    let folder = Path::new(file).parent().unwrap_or(Path::new(""));
    for line in fs::read_to_string(build.join(file))?.lines() {
        let name = line.strip_prefix("#include \"").and_then(|rest| rest.split('"').next());
        if let Some(name) = name.filter(|name| name.ends_with(".c"))
            && build.join(folder).join(name).is_file()
        {
            copy_file(&build.join(folder).join(name), &goal.join(folder).join(name))?;
        }
    }
    Ok(())
}

fn run(folder: &Path, program: &str, arguments: &[&str]) -> Result<String> {
    let output =
        Command::new(program).args(arguments).current_dir(folder).stdin(Stdio::null()).output()?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(std::io::Error::other(format!("{program} in {}: {why}", folder.display())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
