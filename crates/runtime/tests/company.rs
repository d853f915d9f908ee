//! Who else may be in the process: not another runtime that watches memory; but a program without hooks, with the runtime
//! preloaded.

mod support;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::{limited, preloadable_runtime, run_tool, runtime, source_path};
use unpick_recording::{Action, Recording};

/// Compiles one of `tests/programs` into `name`.
fn compile(compiler: &str, folder: &Path, source: &str, name: &str, options: &[&str]) -> PathBuf {
    let goal = folder.join(name);
    run_tool(Command::new(compiler).args(options).arg(source_path(source)).arg("-o").arg(&goal));
    goal
}

#[track_caller]
fn check_refusal(output: &Output, whose: &str) {
    let text = String::from_utf8_lossy(&output.stderr);
    let expected = format!(
        "error: this process cannot be recorded: it has the runtime of {whose} besides Unpick's\n"
    );
    assert!(
        text.starts_with(&expected) && text.contains("\n  why:") && text.contains("\n  next:"),
        "{text}"
    );
    assert_eq!(output.status.code(), Some(70));
}

/// Links `meetings.c`, which has hooks, with our runtime and something else.
fn link(compiler: &str, folder: &Path, more: &[&str]) -> PathBuf {
    let object =
        compile(compiler, folder, "meetings.c", "meetings.o", &["-fsanitize=thread", "-c"]);
    let goal = folder.join("meetings");
    run_tool(
        Command::new(compiler)
            .arg(object)
            .arg(runtime())
            .args(more)
            .args(["-pthread", "-ldl", "-o"])
            .arg(&goal),
    );
    goal
}

#[test]
fn with_the_runtime_of_address_sanitizer_the_program_does_not_start() {
    let folder = tempfile::tempdir().expect("a folder");
    // A shared object with gcc, in the program itself with clang.
    for compiler in ["gcc", "clang"].into_iter().filter(|name| support::is_installed(name)) {
        let program = link(compiler, folder.path(), &["-fsanitize=address"]);
        check_refusal(&limited(&program).output().expect("it starts"), "AddressSanitizer");
    }
    let alone = link("gcc", folder.path(), &[]);
    let library =
        Command::new("gcc").arg("-print-file-name=libasan.so").output().expect("gcc").stdout;
    let library = String::from_utf8_lossy(&library).trim().to_owned();
    let preloaded = Command::new(alone).env("LD_PRELOAD", library).output().expect("it starts");
    check_refusal(&preloaded, "AddressSanitizer");
}

#[test]
fn with_a_library_that_brings_thread_sanitizer_the_program_does_not_start() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = compile(
        "gcc",
        folder.path(),
        "plugin.c",
        "libplugin.so",
        &["-fsanitize=thread", "-shared", "-fPIC"],
    );
    // The reference keeps the linker from leaving the library out.
    let library = library.to_str().expect("a plain path");
    let program = link("gcc", folder.path(), &["-Wl,--no-as-needed", library]);
    check_refusal(&limited(&program).output().expect("it starts"), "ThreadSanitizer");
}

#[test]
fn a_library_with_hooks_is_recorded_in_a_program_without() {
    let folder = tempfile::tempdir().expect("a folder");
    let host = compile("gcc", folder.path(), "plugin_host.c", "host", &["-g", "-pthread", "-ldl"]);
    // Hooks without a runtime: compiled and linked apart, as `unpick cc -shared` does.
    let options = ["-O1", "-g", "-fPIC", "-fsanitize=thread", "-c"];
    let object = compile("gcc", folder.path(), "plugin.c", "plugin.o", &options);
    let plugin = folder.path().join("plugin.so");
    run_tool(Command::new("gcc").arg("-shared").arg(object).arg("-o").arg(&plugin));
    let alone = limited(&host).arg(&plugin).output().expect("it starts");
    assert_eq!(
        alone.status.code(),
        Some(3),
        "without the runtime the hooks are missing: {alone:?}"
    );

    let runs = tempfile::tempdir().expect("a folder");
    let output = Command::new(&host)
        .arg(&plugin)
        .env("LD_PRELOAD", preloadable_runtime())
        .env("UNPICK_RUN_DIR", runs.path())
        .output()
        .expect("it starts");
    assert_eq!(
        (String::from_utf8_lossy(&output.stdout).as_ref(), output.status.code()),
        ("2\n", Some(0)),
        "{output:?}"
    );
    let mut files = std::fs::read_dir(runs.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path());
    let recording = Recording::open(files.next().expect("a recording"))
        .unwrap_or_else(|problem| panic!("{problem}"));
    assert!(recording.is_complete(), "{:?} {:?}", recording.incompleteness(), recording.damage());
    let in_plugin: Vec<(u16, bool)> = recording
        .events()
        .filter(|event| matches!(event.action, Action::Access { .. }))
        .filter(|event| {
            recording
                .place_of(event.site)
                .is_some_and(|(module, _)| module.path.ends_with("plugin.so"))
        })
        .map(|event| (event.thread.0, event.kind().name() == "Write"))
        .collect();
    assert_eq!(
        in_plugin,
        [(3, false), (3, true), (1, false), (1, true)],
        "read and written, one thread after the other"
    );
}
