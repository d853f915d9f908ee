//! Arguments for the linker, written as arguments for the compiler driver.
//!
//! Everything goes through `-Xlinker`, never as an input file of the driver: there it would fall
//! under the user's `-x`, and change the names gcc gives to dumps and dependency files.

use super::command_line::{CommandLine, Product};
use super::compiler::Compiler;
use crate::embed::RuntimeFiles;
use std::ffi::{OsStr, OsString};

/// Links the runtime into an executable. These come before the user's objects, so that no option
/// of the user's (`-Wl,--as-needed`, an unfinished group) reaches the runtime.
pub(super) fn with_runtime(files: &RuntimeFiles, product: Product) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    match product {
        Product::Executable => {
            let mut dynamic_list = OsString::from("--dynamic-list=");
            dynamic_list.push(&files.dynamic_list);
            words.extend([files.object.clone().into(), dynamic_list]);
        }
        Product::StaticExecutable => {
            words.push(files.static_object.clone().into());
            words.extend(files.wrapped.iter().map(|name| format!("--wrap={name}").into()));
        }
        Product::Answer | Product::Parts | Product::Relocatable | Product::SharedObject => {}
    }
    // Before glibc 2.34 threads and dlsym were libraries of their own; now these are empty.
    let libraries = ["--push-state", "--no-as-needed", "-lpthread", "-ldl", "--pop-state"];
    words.extend(libraries.map(OsString::from));
    through_the_driver(words)
}

/// Lets a shared object refer to hooks that only the executable will define, although the user
/// asked the linker to complain about such names (`-z defs`). These come after the user's
/// arguments, because the last word counts.
pub(super) fn allowing_undefined_hooks(
    line: &CommandLine,
    compiler: &Compiler,
    hooks: &[&str],
) -> Vec<OsString> {
    let words = if is_gnu_ld(line, compiler) {
        hooks.iter().map(|name| format!("--ignore-unresolved-symbol={name}").into()).collect()
    } else {
        // The other linkers can only allow all names or none.
        vec!["--unresolved-symbols=ignore-all".into()]
    };
    through_the_driver(words)
}

fn is_gnu_ld(line: &CommandLine, compiler: &Compiler) -> bool {
    let mut question = compiler.command();
    question.args(&line.linker_choice).arg("-Wl,--version");
    question.output().is_ok_and(|output| output.stdout.starts_with(b"GNU ld"))
}

fn through_the_driver(words: Vec<OsString>) -> Vec<OsString> {
    words.into_iter().flat_map(|word| [OsStr::new("-Xlinker").to_owned(), word]).collect()
}
