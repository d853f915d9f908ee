//! Instruments a whole cargo project on a stable toolchain: which environment makes a plain `cargo …` do it.
//!
//! Takes  the arguments of a `cargo …` the user would have typed.
//! Gives  that cargo command, with four small programs in its environment that cargo calls in place of its own:
//!        `unpick-cargo-rustc` (RUSTC_WRAPPER), `unpick-cargo-rustdoc` (RUSTDOC), `unpick-cargo-cc` and `unpick-cargo-c++`
//!        (CC, CXX of the target). Each adds what instruments, and only where cargo builds for the target.
//!
//! Flags are added there and not by RUSTFLAGS: one source of flags silences all others in cargo, so a project's own
//! `build.rustflags` would be lost. `RUSTC_BOOTSTRAP` is set there for the same reason of least surprise: a build
//! script that looks at the compiler must see the stable one.
//!
//! Always with a target named (`CARGO_BUILD_TARGET`), even though it is the host: this alone makes cargo keep build
//! scripts and proc macros, which run inside the compiler, apart from what is instrumented.
//!
//! Misses std, which is delivered compiled: see docs/design/0004-rust-locks.md.

mod arguments;
mod c_compiler;
mod codegen;
mod project;
mod rustc;
mod rustdoc;
mod settings;
mod std_functions;
mod toolchain;
mod wrappers;

use crate::{RuntimeFiles, runtime_files};
use arguments::CargoArguments;
use project::Project;
use settings::Settings;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std_functions::StdHooks;
use toolchain::Toolchain;
use unpick_problem::Problem;
use wrappers::Wrappers;

pub use wrappers::Tool;

/// A command to run in place of this process.
#[derive(Debug)]
pub struct ToolCommand {
    pub command: Command,
    /// Printed after the command's own output, where cargo's fingerprint of the compiler has to include ours.
    pub last_line: Option<String>,
}

/// The cargo command that does what the user asked for, instrumented.
///
/// `unpick` is the program that runs [`tool_command`] if it is called by the name of a [`Tool`]'s wrapper.
pub fn cargo_command(unpick: &Path, arguments: Vec<OsString>) -> Result<Command, Problem> {
    let arguments = CargoArguments::parse(arguments);
    let toolchain = Toolchain::find(arguments.toolchain.as_deref())?;
    let mut cargo = toolchain.cargo();
    cargo.args(&arguments.passed_on);
    let Some(project) = Project::find(&toolchain, &arguments) else {
        // Not inside a project: `cargo --version`, or a mistake that cargo itself explains best.
        return Ok(cargo);
    };
    let runtime = runtime_files()?;
    let settings = settings(&toolchain, &project, &arguments, &runtime)?;
    let wrappers = Wrappers::write(unpick, &settings, cache_folder(&runtime))?;
    enter(&mut cargo, &settings, &wrappers);
    Ok(cargo)
}

/// What cargo's call of `tool` stands for: the real one, instrumenting where it builds for the target.
pub fn tool_command(
    unpick: &Path,
    tool: Tool,
    arguments: Vec<OsString>,
) -> Result<ToolCommand, Problem> {
    let settings = Settings::from_environment();
    let plain = |command| ToolCommand { command, last_line: None };
    match tool {
        Tool::Rustc => rustc::command(settings, arguments),
        Tool::Rustdoc => Ok(plain(rustdoc::command(settings, arguments))),
        Tool::Cc | Tool::Cxx => Ok(plain(c_compiler::command(unpick, settings, tool, arguments))),
    }
}

fn settings(
    toolchain: &Toolchain,
    project: &Project,
    arguments: &CargoArguments,
    runtime: &RuntimeFiles,
) -> Result<Settings, Problem> {
    let target = toolchain.target()?;
    arguments.refuse_other_targets(&target)?;
    if arguments.targets.is_empty() {
        project.refuse_other_targets(&target)?;
    }
    Ok(Settings {
        compile_flags: toolchain.instrumenting_flags(project, &target)?,
        link_flags: std_hooks(toolchain, project, &target, runtime)?,
        executable_flags: executable_flags(runtime),
        target_dir: project.target_dir.clone(),
        rustc_wrapper: project.rustc_wrapper.clone(),
        rustdoc: project.rustdoc.clone(),
        c_compiler: c_compiler::chosen_by_user(&target, "CC"),
        cxx_compiler: c_compiler::chosen_by_user(&target, "CXX"),
        target,
    })
}

/// Where the runtime lies, other files for compilers and linkers may lie as well.
fn cache_folder(runtime: &RuntimeFiles) -> &Path {
    runtime.object.parent().unwrap_or(Path::new("/"))
}

/// Flags that make the parts of std visible which are delivered compiled.
fn std_hooks(
    toolchain: &Toolchain,
    project: &Project,
    target: &str,
    runtime: &RuntimeFiles,
) -> Result<Vec<String>, Problem> {
    let folder = toolchain.library_folder(project, target);
    let Some(hooks) = folder.and_then(|folder| StdHooks::for_library_folder(&folder)) else {
        return Ok(Vec::new());
    };
    let file = wrappers::keep_source(cache_folder(runtime), "std-hooks", "s", &hooks.assembly)?;
    Ok(hooks.link_flags(&file))
}

/// Only a link that makes an executable takes these: a second runtime in a shared object would split the world.
fn executable_flags(runtime: &RuntimeFiles) -> Vec<String> {
    vec![
        format!("-Clink-arg={}", runtime.object.display()),
        format!("-Clink-arg=-Wl,--dynamic-list={}", runtime.dynamic_list.display()),
    ]
}

/// Tells cargo, through its environment, what it cannot be told on every command line: aliases and subcommands of
/// other authors (nextest) take arguments of their own.
fn enter(cargo: &mut Command, settings: &Settings, wrappers: &Wrappers) {
    settings.write_to(cargo);
    cargo
        .env("CARGO_BUILD_TARGET", &settings.target)
        .env("CARGO_TARGET_DIR", &settings.target_dir)
        .env("CARGO_BUILD_BUILD_DIR", &settings.target_dir)
        .env("RUSTC_WRAPPER", wrappers.path(Tool::Rustc))
        .env("RUSTDOC", wrappers.path(Tool::Rustdoc));
    for (variable, tool) in [("CC", Tool::Cc), ("CXX", Tool::Cxx)] {
        let [preferred, usual] = c_compiler::target_variables(&settings.target, variable);
        cargo.env_remove(preferred).env(usual, wrappers.path(tool));
    }
}
