//! `unpick-cargo-rustc`, cargo's RUSTC_WRAPPER: instruments what cargo compiles for the target and nothing else.
//!
//! Takes  `<rustc> <arguments>`, or `<workspace wrapper> <rustc> <arguments>` (clippy).
//! Gives  the same call with more flags; unchanged for build scripts, proc macros and all they depend on, for questions
//!        about the compiler, and for what a build script compiles to find out what the compiler can do.

use super::ToolCommand;
use super::codegen::CommandLine;
use super::settings::Settings;
use std::env;
use std::ffi::{OsStr, OsString};
use std::process::Command;
use unpick_problem::Problem;

/// Cargo sets all of these for a build script.
const SET_FOR_BUILD_SCRIPTS: [&str; 4] = ["TARGET", "HOST", "NUM_JOBS", "OPT_LEVEL"];

pub(super) fn command(
    settings: Option<Settings>,
    arguments: Vec<OsString>,
) -> Result<ToolCommand, Problem> {
    let Some(settings) = settings else {
        return Ok(ToolCommand { command: call(None, arguments)?, last_line: None });
    };
    let last_line = asks_for_version(&arguments).then(|| version_line(&settings));
    let wrapper = settings.rustc_wrapper.clone();
    let instrumented =
        if cargo_compiles_a_crate() { instrument(&settings, &arguments) } else { None };
    let command = match instrumented {
        Some(arguments) => {
            let mut command = call(wrapper, arguments)?;
            command.env("RUSTC_BOOTSTRAP", "1");
            command
        }
        None => call(wrapper, arguments)?,
    };
    Ok(ToolCommand { command, last_line })
}

/// The user's own wrapper, if there is one, sees what it would see without us.
fn call(wrapper: Option<OsString>, arguments: Vec<OsString>) -> Result<Command, Problem> {
    let mut words = wrapper.into_iter().chain(arguments);
    let mut command = Command::new(words.next().ok_or_else(called_without_compiler)?);
    command.args(words);
    Ok(command)
}

/// The arguments that instrument, if this call compiles for the target.
fn instrument(settings: &Settings, arguments: &[OsString]) -> Option<Vec<OsString>> {
    let mut line = CommandLine::parse(arguments.to_vec());
    if !line.values("--target").contains(&settings.target) {
        return None;
    }
    let executable = line.has("--test") || makes(&line, &["bin"]);
    let linked = executable || makes(&line, &["dylib", "cdylib"]);
    line.prepare_for_reports();
    line.add(&settings.compile_flags);
    if linked {
        line.add(&settings.link_flags);
    }
    if executable {
        line.add(&settings.executable_flags);
    }
    Some(line.print())
}

fn makes(line: &CommandLine, kinds: &[&str]) -> bool {
    line.values("--crate-type").iter().any(|kind| kinds.contains(&kind.as_str()))
}

/// Not a question about the compiler, and not an experiment of a build script's: those must see the plain compiler.
fn cargo_compiles_a_crate() -> bool {
    let set = |name: &str| env::var_os(name).is_some();
    set("CARGO_CRATE_NAME") && !SET_FOR_BUILD_SCRIPTS.into_iter().all(set)
}

/// The question by which cargo decides whether what it built before was built by the same compiler.
fn asks_for_version(arguments: &[OsString]) -> bool {
    arguments.last().map(OsString::as_os_str) == Some(OsStr::new("-vV"))
}

/// One more line of compiler version: cargo builds anew when it changes, that is with the runtime (whose file name
/// carries its hash), the flags, or this program's version; and never otherwise.
fn version_line(settings: &Settings) -> String {
    format!("unpick: {} {}", env!("CARGO_PKG_VERSION"), settings.all_flags().join(" "))
}

fn called_without_compiler() -> Problem {
    Problem::usage("`unpick-cargo-rustc` was called without a compiler")
        .why("it is for cargo, which names the compiler as the first argument")
        .next("use `unpick cargo build`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            target: "here".into(),
            target_dir: "/target/unpick".into(),
            compile_flags: vec!["-Zinstrument".into()],
            link_flags: vec!["-Clink-arg=/std.s".into()],
            executable_flags: vec!["-Clink-arg=/runtime-1.o".into()],
            rustc_wrapper: None,
            rustdoc: None,
            c_compiler: None,
            cxx_compiler: None,
        }
    }

    fn instrumented(line: &str) -> Option<String> {
        let words =
            instrument(&settings(), &line.split(' ').map(OsString::from).collect::<Vec<_>>())?;
        Some(words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn executables_and_tests_get_the_runtime() {
        for kind in ["--crate-type bin", "--test", "--crate-type=bin"] {
            let line = instrumented(&format!("rustc a.rs {kind} --target here")).unwrap();
            assert!(
                line.ends_with("-Zinstrument -Clink-arg=/std.s -Clink-arg=/runtime-1.o"),
                "{line}"
            );
        }
    }

    #[test]
    fn libraries_are_instrumented_without_the_runtime() {
        let line =
            |kind| instrumented(&format!("rustc a.rs --crate-type {kind} --target=here")).unwrap();
        for kind in ["lib", "rlib", "staticlib"] {
            assert!(line(kind).ends_with("-Zinstrument"), "{kind}");
        }
        for kind in ["dylib", "cdylib"] {
            assert!(line(kind).ends_with("-Zinstrument -Clink-arg=/std.s"), "{kind}");
        }
    }

    #[test]
    fn what_runs_at_build_time_stays_clean() {
        assert_eq!(instrumented("rustc build.rs --crate-type bin"), None);
        assert_eq!(instrumented("rustc a.rs --crate-type lib --target elsewhere"), None);
    }

    #[test]
    fn the_version_changes_with_the_runtime() {
        let mut other = settings();
        other.executable_flags = vec!["-Clink-arg=/runtime-2.o".into()];
        assert_ne!(version_line(&settings()), version_line(&other));
    }
}
