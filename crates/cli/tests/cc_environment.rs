//! Which compiler runs, where the runtime is unpacked, and how the wrapper ends.

mod cc_support;

use cc_support::{GCC, Project, UNPICK};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;

const BUILD_AND_RUN: &str = "$CC main.c part.c -o prog && ./prog";

fn executable_script(project: &Project, name: &str, text: &str) -> String {
    project.write(name, text);
    let path = project.path().join(name);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_compiler_may_have_arguments_and_spaces_in_its_path() {
    let project = Project::new();
    let script = executable_script(
        &project,
        "a folder/my cc",
        "#!/bin/sh\necho called >> log\nexec gcc \"$@\"\n",
    );
    for value in [format!("'{script}' -DEXTRA"), script] {
        let mut shell = project.shell(BUILD_AND_RUN);
        shell.env("CC", format!("{UNPICK} cc")).env("UNPICK_CC", value);
        assert_eq!(project.outcome(shell).stdout, "total 2000\n");
    }
    assert!(project.contains("log", "called"));
}

#[test]
fn the_compiler_is_asked_for_its_kind_only_once() {
    let project = Project::new();
    let compiler =
        executable_script(&project, "counted", "#!/bin/sh\necho x >> calls\nexec gcc \"$@\"\n");
    for _ in 0..3 {
        let mut shell = project.shell("$CC -c part.c");
        shell.env("CC", format!("{UNPICK} cc")).env("UNPICK_CC", &compiler);
        assert_eq!(project.outcome(shell).exit, Some(0));
    }
    assert_eq!(fs::read_to_string(project.path().join("calls")).unwrap(), "x\n".repeat(4));
}

#[test]
fn death_by_signal_is_passed_on() {
    let project = Project::new();
    let text = "#!/bin/sh\n[ \"$1\" = -E ] && exec gcc \"$@\"\nkill -TERM $$\n";
    let compiler = executable_script(&project, "dying", text);
    let mut shell = project.shell("$CC -c part.c; exit $?");
    shell.env("CC", format!("{UNPICK} cc")).env("UNPICK_CC", &compiler);
    assert_eq!(project.outcome(shell).exit, Some(128 + 15));

    let mut call = std::process::Command::new(UNPICK);
    call.args(["cc", "-c", "part.c"]).env("UNPICK_CC", &compiler).current_dir(project.path());
    call.env("XDG_CACHE_HOME", project.path());
    assert_eq!(call.status().unwrap().signal(), Some(15));
}

#[test]
fn other_names_are_wrappers_in_one_word() {
    let project = Project::new();
    let (cc, cxx) = (project.link_as("unpick-cc"), project.link_as("unpick-c++"));
    let script = format!(
        "'{}' main.c part.c -o c && ./c; '{}' threads.cpp -o cpp && ./cpp",
        cc.display(),
        cxx.display()
    );
    let outcome = project.run_wrapped(GCC, &script);
    assert_eq!(outcome.stdout, "total 2000\n200 200\n", "{}", outcome.stderr);
}

#[test]
fn damaged_runtime_files_are_replaced() {
    let project = Project::new();
    assert_eq!(project.run_wrapped(GCC, BUILD_AND_RUN).exit, Some(3));
    for entry in fs::read_dir(project.cache()).unwrap() {
        fs::write(entry.unwrap().path(), "damaged").unwrap();
    }
    assert_eq!(project.run_wrapped(GCC, BUILD_AND_RUN).exit, Some(3));
}

#[test]
fn a_parallel_build_may_start_with_an_empty_cache() {
    let project = Project::new();
    let calls: String = (0..12).map(|n| format!("$CC lonely.c -o prog{n} & ")).collect();
    let outcome = project.run_wrapped(
        GCC,
        &format!("{calls} wait; for n in $(seq 0 11); do ./prog$n || exit 9; done"),
    );
    assert_eq!((outcome.exit, outcome.stderr.as_str()), (Some(0), ""));
    let left: Vec<_> =
        fs::read_dir(project.cache()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn without_a_home_the_runtime_goes_to_the_temporary_folder() {
    let project = Project::new();
    let mut shell =
        project.shell(&format!("mkdir t; TMPDIR=$PWD/t {UNPICK} cc lonely.c && ./a.out"));
    shell.env_remove("XDG_CACHE_HOME").env_remove("HOME");
    let outcome = project.outcome(shell);
    assert_eq!(outcome.exit, Some(0), "{}", outcome.stderr);
    assert!(outcome.files.iter().any(|file| file.starts_with("t/unpick-") && file.ends_with(".o")));
}

#[test]
fn nowhere_to_unpack_is_a_problem_that_names_the_places() {
    let project = Project::new();
    project.write("file", "");
    let file = project.path().join("file");
    let mut shell = project.shell(&format!("{UNPICK} cc lonely.c"));
    shell.env("XDG_CACHE_HOME", &file).env("HOME", &file).env("TMPDIR", &file);
    let outcome = project.outcome(shell);
    assert_eq!(outcome.exit, Some(70));
    assert!(outcome.stderr.contains("no cache folder can be written"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("FOLDER/file/unpick: "), "{}", outcome.stderr);
}

#[test]
fn the_optimisation_level_can_be_read_from_the_debug_information() {
    let project = Project::new();
    for (compiler, flags, level) in
        [("gcc", "", "-O1"), ("gcc", "-O3", "-O3"), ("clang", "", "-O1")]
    {
        if compiler == "clang" && cc_support::CLANG.is_missing() {
            continue;
        }
        let mut shell = project
            .shell(&format!("{UNPICK} cc {flags} -c part.c && readelf --debug-dump=info part.o"));
        shell.env("UNPICK_CC", compiler);
        let outcome = project.outcome(shell);
        let producer =
            outcome.stdout.lines().find(|line| line.contains("DW_AT_producer")).unwrap_or_default();
        assert!(producer.contains(level), "{compiler} {flags}: {producer}");
    }
}

#[test]
fn the_read_of_an_increment_is_kept() {
    let project = Project::new();
    for compiler in ["gcc", "clang"] {
        if compiler == "clang" && cc_support::CLANG.is_missing() {
            continue;
        }
        let mut shell = project.shell(&format!("{UNPICK} cc -O2 -c part.c && nm part.o"));
        shell.env("UNPICK_CC", compiler);
        let names = project.outcome(shell).stdout;
        assert!(
            names.contains("__tsan_read4") && names.contains("__tsan_write4"),
            "{compiler}: {names}"
        );
    }
}

#[test]
fn the_compilers_own_help_is_reached() {
    let project = Project::new();
    let outcome = project.run_wrapped(GCC, "$CC --help | head -1; $CC -- missing.c");
    assert_eq!(outcome.stdout, "Usage: gcc [options] file...\n");
}
