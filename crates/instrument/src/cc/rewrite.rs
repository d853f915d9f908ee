//! From the user's command line to the one the real compiler gets.

use super::command_line::{CommandLine, Product};
use super::compiler::{Compiler, Family};
use super::linker;
use super::options::without_thread_sanitizer;
use super::response_file::Expanded;
use crate::embed::RuntimeFiles;
use std::ffi::OsString;
use std::path::Path;
use unpick_problem::Problem;

/// The first clang that can be told not to warn about flags a call has no use for.
const CLANG_WITH_QUIET_ARGUMENTS: u32 = 14;

/// The first gcc that warns that ThreadSanitizer's own runtime does not understand fences.
const GCC_WARNING_ABOUT_FENCES: u32 = 11;

/// The arguments for the real compiler.
pub(super) fn rewritten(
    args: &[Expanded],
    line: &CommandLine,
    compiler: &Compiler,
    runtime: &RuntimeFiles,
) -> Result<Vec<OsString>, Problem> {
    if line.product() == Product::Answer {
        return Ok(as_typed(args));
    }
    refuse_what_cannot_work(line)?;
    if line.has_no_c_library() {
        return Ok(without_their_runtime(args));
    }
    let mut rewritten = quietly(compiler, additions_in_front(line, compiler, runtime));
    rewritten.extend(without_their_runtime(args));
    rewritten.extend(additions_at_the_end(line, compiler, runtime));
    Ok(rewritten)
}

fn refuse_what_cannot_work(line: &CommandLine) -> Result<(), Problem> {
    if let Some(option) = &line.foreign_target {
        return Err(Problem::usage("programs for another machine cannot be instrumented")
            .at("option", option)
            .why("Unpick's runtime runs on 64-bit x86 Linux only")
            .next("build this part with the plain compiler, or without that option"));
    }
    if let Some(name) = line.rival_sanitizer() {
        return Err(Problem::usage(format!("-fsanitize={name} cannot be combined with Unpick"))
            .at("option", format!("-fsanitize={name}"))
            .why("both replace the memory functions and reserve shadow memory in one process")
            .next("remove that option from this build; -fsanitize=undefined may stay"));
    }
    Ok(())
}

/// Before the user's arguments: where both sides choose, the user's choice comes last and wins.
fn additions_in_front(
    line: &CommandLine,
    compiler: &Compiler,
    runtime: &RuntimeFiles,
) -> Vec<OsString> {
    let mut additions = match compiler.family() {
        // Also when only linking: with -flto the compiler proper runs then.
        Family::Gcc => gcc_options(compiler, &runtime.gcc_specs),
        Family::Clang if line.compiles() => clang_options(line),
        Family::Clang => Vec::new(),
    };
    if makes_executable(line) {
        additions.extend(linker::with_runtime(runtime, line.product()));
    }
    additions
}

fn makes_executable(line: &CommandLine) -> bool {
    matches!(line.product(), Product::Executable | Product::StaticExecutable)
}

fn additions_at_the_end(
    line: &CommandLine,
    compiler: &Compiler,
    runtime: &RuntimeFiles,
) -> Vec<OsString> {
    if line.product() == Product::SharedObject && line.refuses_undefined() {
        linker::allowing_undefined_hooks(line, compiler, runtime.exported)
    } else {
        Vec::new()
    }
}

fn gcc_options(compiler: &Compiler, specs: &Path) -> Vec<OsString> {
    let mut specs_option = OsString::from("-specs=");
    specs_option.push(specs);
    let mut options = vec![specs_option];
    if compiler.major_version() >= GCC_WARNING_ABOUT_FENCES {
        options.push("-Wno-tsan".into());
    }
    options
}

/// What the specs file is for gcc; see there for the debug information and optimisation level.
fn clang_options(line: &CommandLine) -> Vec<OsString> {
    let mut options = Vec::new();
    if !line.thread_declined {
        options.extend(["-Xclang", "-fsanitize=thread"]);
        // Without it clang drops the read of `x += 1`, and with it half of each lost update.
        options.extend(["-mllvm", "-tsan-instrument-read-before-write"]);
    }
    options.push("-fno-omit-frame-pointer");
    if !line.optimisation_chosen {
        options.push("-O1");
    }
    if !line.debug_chosen {
        // Version 5 with saved temporaries makes clang warn about its own checksums.
        options.push(if line.saves_temporaries { "-gdwarf-4" } else { "-g" });
    }
    // gcc always leaves its options in the debug information; the level is read from there.
    options.push("-grecord-command-line");
    let mut options: Vec<OsString> = options.into_iter().map(OsString::from).collect();
    // The driver passes these on only with a sanitizer it knows of.
    options.extend(line.ignore_lists.iter().flat_map(|list| ["-Xclang".into(), list.clone()]));
    options
}

/// clang warns about arguments it does not use, e.g. ours when it only assembles.
fn quietly(compiler: &Compiler, additions: Vec<OsString>) -> Vec<OsString> {
    let can_be_quiet = compiler.family() == Family::Clang
        && compiler.major_version() >= CLANG_WITH_QUIET_ARGUMENTS;
    if !can_be_quiet || additions.is_empty() {
        return additions;
    }
    let mut quiet = vec![OsString::from("--start-no-unused-arguments")];
    quiet.extend(additions);
    quiet.push("--end-no-unused-arguments".into());
    quiet
}

fn as_typed(args: &[Expanded]) -> Vec<OsString> {
    args.iter().map(|arg| arg.typed.clone()).collect()
}

/// Response files stay as typed unless something in them has to go.
fn without_their_runtime(args: &[Expanded]) -> Vec<OsString> {
    args.iter().flat_map(kept_of_argument).collect()
}

fn kept_of_argument(arg: &Expanded) -> Vec<OsString> {
    let kept: Vec<OsString> =
        arg.stands_for.iter().filter_map(|arg| without_thread_sanitizer(arg)).collect();
    if kept == arg.stands_for { vec![arg.typed.clone()] } else { kept }
}
