//! `unpick-cargo-cc` and `unpick-cargo-c++`: what build scripts compile in C and C++ (crates `cc` and `cmake`, autotools).
//!
//! Host and target are the same machine here, so build scripts cannot be told by a variable's name which of the two
//! they compile for. Their output folder tells: cargo puts what is for the target below a folder named like it.

use super::settings::Settings;
use super::wrappers::{Tool, Wrappers};
use crate::cc::Driver;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::Command;

/// The variables that choose a compiler for this target, as the crate `cc` looks them up, first one first.
pub(super) fn target_variables(target: &str, variable: &str) -> [String; 2] {
    [format!("{variable}_{target}"), format!("{variable}_{}", target.replace('-', "_"))]
}

/// What the user's environment names as the C (`CC`) or C++ (`CXX`) compiler.
pub(super) fn chosen_by_user(target: &str, variable: &str) -> Option<OsString> {
    let [preferred, usual] = target_variables(target, variable);
    [preferred, usual, format!("HOST_{variable}"), variable.to_owned()]
        .into_iter()
        .filter_map(env::var_os)
        .find(|program| !program.is_empty() && !Wrappers::wrote(program))
}

pub(super) fn command(
    unpick: &Path,
    settings: Option<Settings>,
    tool: Tool,
    arguments: Vec<OsString>,
) -> Command {
    let chosen = settings.as_ref().and_then(|settings| match tool {
        Tool::Cxx => settings.cxx_compiler.clone(),
        _ => settings.c_compiler.clone(),
    });
    let for_target = settings.is_some_and(|settings| output_folder_is_of_target(&settings));
    let mut command =
        if for_target { instrumenting(unpick, tool, chosen) } else { plain(tool, chosen) };
    command.args(arguments);
    command
}

fn instrumenting(unpick: &Path, tool: Tool, chosen: Option<OsString>) -> Command {
    let mut command = Command::new(unpick);
    command.arg(tool.name());
    let variable = if tool == Tool::Cxx { Driver::Cxx.variable() } else { Driver::C.variable() };
    if let (Some(chosen), None) = (chosen, env::var_os(variable)) {
        command.env(variable, chosen);
    }
    command
}

/// The compiler itself, from a variable that may hold arguments too (`ccache gcc`).
fn plain(tool: Tool, chosen: Option<OsString>) -> Command {
    let chosen = chosen.unwrap_or_else(|| tool.name().into());
    if Path::new(&chosen).exists() {
        return Command::new(chosen);
    }
    let text = chosen.to_string_lossy().into_owned();
    let mut words = text.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(tool.name()));
    command.args(words);
    command
}

fn output_folder_is_of_target(settings: &Settings) -> bool {
    let folder = env::var_os("OUT_DIR");
    lies_in_target_folder(settings, folder.as_deref())
}

fn lies_in_target_folder(settings: &Settings, folder: Option<&OsStr>) -> bool {
    folder.is_some_and(|folder| {
        Path::new(folder).starts_with(settings.target_dir.join(&settings.target))
    })
}
