//! What cargo knows about the project: where it builds, and which compilers its configuration names.

use super::arguments::CargoArguments;
use super::settings::Settings;
use super::toolchain::Toolchain;
use super::wrappers::Wrappers;
use serde_json::Value;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use unpick_problem::Problem;

/// The folder of instrumented builds inside the project's target folder.
const OWN_FOLDER: &str = "unpick";

#[derive(Debug)]
pub(super) struct Project {
    /// Ours alone, so that instrumented and plain builds do not undo each other.
    pub target_dir: PathBuf,
    /// What the user's environment or configuration names, such as sccache: it is called in turn.
    pub rustc_wrapper: Option<OsString>,
    pub rustc: Option<OsString>,
    pub rustdoc: Option<OsString>,
    /// A list in `build.target`: the environment adds to it and cannot replace it.
    pub listed_targets: Vec<String>,
}

impl Project {
    /// A target on the command line replaces the list; without one, cargo would build for all of it.
    pub fn refuse_other_targets(&self, target: &str) -> Result<(), Problem> {
        match self.listed_targets.iter().find(|listed| *listed != target) {
            None => Ok(()),
            Some(other) => {
                Err(Problem::usage(format!("a program for `{other}` cannot be instrumented here"))
                    .at(
                        "setting",
                        format!("build.target = {:?} in a .cargo/config.toml", self.listed_targets),
                    )
                    .why(format!("the runtime linked into it is built for {target}"))
                    .next(format!("add `--target {target}`")))
            }
        }
    }

    /// None where cargo finds no project.
    pub fn find(toolchain: &Toolchain, arguments: &CargoArguments) -> Option<Self> {
        let usual = target_dir_of_cargo(toolchain, arguments)?;
        let build = build_configuration(toolchain, arguments);
        let outer = Settings::from_environment();
        let chosen =
            |variable: &str, key: &str, behind_ours: fn(&Settings) -> &Option<OsString>| {
                let from_environment = match env::var_os(variable) {
                    Some(ours) if Wrappers::wrote(&ours) => {
                        outer.as_ref().and_then(|outer| behind_ours(outer).clone())
                    }
                    other => other,
                };
                from_environment
                    .or_else(|| build.get(key)?.as_str().map(OsString::from))
                    .filter(|tool| !tool.is_empty())
            };
        Some(Self {
            target_dir: own_target_dir(arguments.target_dir.as_deref(), &usual, outer.as_ref()),
            rustc_wrapper: chosen("RUSTC_WRAPPER", "rustc-wrapper", |outer| &outer.rustc_wrapper),
            rustc: chosen("RUSTC", "rustc", |_| &None),
            rustdoc: chosen("RUSTDOC", "rustdoc", |outer| &outer.rustdoc),
            listed_targets: listed_targets(&build),
        })
    }
}

/// The user's folder with ours inside; an `unpick cargo` inside another is already in ours.
fn own_target_dir(from_option: Option<&Path>, usual: &Path, outer: Option<&Settings>) -> PathBuf {
    let folder = from_option.unwrap_or(usual);
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    match outer {
        Some(outer) if outer.target_dir == folder => folder,
        _ => folder.join(OWN_FOLDER),
    }
}

fn target_dir_of_cargo(toolchain: &Toolchain, arguments: &CargoArguments) -> Option<PathBuf> {
    let mut cargo = toolchain.cargo();
    cargo.args(["metadata", "--no-deps", "--format-version", "1"]).args(&arguments.project_options);
    let metadata = json_printed_by(cargo)?;
    Some(PathBuf::from(metadata.get("target_directory")?.as_str()?))
}

/// The table `[build]` of all configuration files together; empty if there is none.
fn build_configuration(toolchain: &Toolchain, arguments: &CargoArguments) -> Value {
    let mut cargo = toolchain.cargo();
    // `cargo config` is unstable; where it does not answer, only the environment is known.
    cargo
        .args(["-Zunstable-options", "config", "get", "build", "--format", "json-value"])
        .env("RUSTC_BOOTSTRAP", "1");
    for option in arguments.project_options.chunks(2).filter(|option| option[0] == "--config") {
        cargo.args(option);
    }
    json_printed_by(cargo).unwrap_or(Value::Null)
}

fn listed_targets(build: &Value) -> Vec<String> {
    let list = build.get("target").and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|target| target.as_str().map(str::to_owned)).collect()
}

fn json_printed_by(mut command: Command) -> Option<Value> {
    let output = command.output().ok().filter(|output| output.status.success())?;
    serde_json::from_slice(&output.stdout).ok()
}
