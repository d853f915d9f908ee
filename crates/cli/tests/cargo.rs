//! `unpick cargo` on a project with build scripts, proc macros, C code, features, libraries loaded at run time and all
//! kinds of tests. Most checks are made by the project itself (fixtures/cargo-project): each of its programs knows
//! whether it has to be instrumented.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/cargo-project");

/// A copy of the project, in a folder that a user could have.
struct Project {
    folder: PathBuf,
    /// Removes the copy in the end; none for the shared one, which the next test run finds again.
    _temporary: Option<TempDir>,
}

impl Project {
    fn copy() -> Self {
        let temporary = tempfile::Builder::new().prefix("it's a project ").tempdir().unwrap();
        copy_folder(Path::new(FIXTURE), temporary.path());
        Self { folder: temporary.path().to_owned(), _temporary: Some(temporary) }
    }

    /// For tests that change nothing but what is built: they share one copy, hence one build.
    fn shared() -> &'static Self {
        static SHARED: OnceLock<Project> = OnceLock::new();
        SHARED.get_or_init(|| {
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("it's a project");
            copy_folder(Path::new(FIXTURE), &folder);
            Self { folder, _temporary: None }
        })
    }

    fn path(&self, inside: &str) -> PathBuf {
        self.folder.join(inside)
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.folder);
        // What the cargo that runs this test was told is not meant for the one under test.
        for variable in
            ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "RUSTFLAGS", "RUSTC_WRAPPER", "CARGO"]
        {
            command.env_remove(variable);
        }
        command
    }

    fn unpick_cargo(&self, arguments: &str) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_unpick"));
        command.arg("cargo").args(arguments.split_whitespace());
        command
    }

    fn write(&self, inside: &str, text: &str) {
        let path = self.path(inside);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn write_program(&self, inside: &str, text: &str) -> PathBuf {
        self.write(inside, text);
        fs::set_permissions(self.path(inside), fs::Permissions::from_mode(0o755)).unwrap();
        self.path(inside)
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let goal = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &goal);
        } else if fs::read(&goal).ok() != Some(fs::read(entry.path()).unwrap()) {
            fs::copy(entry.path(), goal).unwrap();
        }
    }
}

#[track_caller]
fn succeed(mut command: Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}{}", stdout(&output), stderr(&output));
    stdout(&output)
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn holds(file: &Path, name: &str) -> bool {
    let bytes = fs::read(file).unwrap();
    bytes.windows(name.len()).any(|window| window == name.as_bytes())
}

/// The one file below `folder` whose name begins and ends like this.
fn the_file(folder: &Path, begin: &str, end: &str) -> PathBuf {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else if name.starts_with(begin) && name.ends_with(end) {
                return entry.path();
            }
        }
    }
    panic!("no {begin}*{end} below {}", folder.display());
}

fn folder_of_target(project: &Project) -> PathBuf {
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    project.path("target/unpick").join(host)
}

#[test]
fn all_tests_of_a_project_run_instrumented_and_build_time_code_stays_clean() {
    let project = Project::shared();
    let output = succeed(project.unpick_cargo("test --workspace"));
    for passed in [
        "unit_tests_are_instrumented",
        "integration_tests_are_instrumented",
        "bank/src/lib.rs - (line 3)",
    ] {
        assert!(
            output.lines().any(|line| line.contains(passed) && line.ends_with("ok")),
            "{output}"
        );
    }
    // Only what this build has made: another test may be at work on the release build.
    let target = folder_of_target(project).join("debug");
    let host = project.path("target/unpick/debug");
    assert!(holds(&the_file(&target, "libcounter", ".a"), "__tsan_"));
    assert!(!holds(&the_file(&host, "libcounter", ".a"), "__tsan_"));
    assert!(!holds(&the_file(&host, "libbank_macros", ".so"), "__tsan_"));
}

#[test]
fn a_library_loaded_at_run_time_finds_the_runtime_in_the_program() {
    let project = Project::shared();
    succeed(project.unpick_cargo("build --workspace --lib --examples"));
    let library = the_file(&folder_of_target(project).join("debug"), "libplugin", ".so");
    assert!(holds(&library, "__tsan_read4"));
    assert!(!holds(&library, "__tsan_atomic16_fetch_nand"), "a runtime of its own is linked in");
    let mut load = project.unpick_cargo("run --quiet --example load --");
    load.arg(&library);
    assert_eq!(succeed(load), "42\n");
}

#[test]
fn the_program_is_built_as_asked_and_its_exit_code_is_the_exit_code() {
    let project = Project::shared();
    let mut command = project.unpick_cargo("run --quiet --features interest -- 7");
    let output = command.env("RUSTFLAGS", "--cfg flag_of_the_user").output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", stderr(&output));
    assert_eq!(
        stdout(&output),
        "instrumented: true\ninterest: true\nflag of the user: true\ndebug assertions: true\nbalance: 3\n"
    );
}

#[test]
fn a_release_build_has_debug_information() {
    let project = Project::shared();
    let output = succeed(project.unpick_cargo("run --quiet --release"));
    assert!(output.starts_with("instrumented: true\n"), "{output}");
    assert!(output.contains("debug assertions: false\n"), "{output}");
    let program = folder_of_target(project).join("release/bank");
    assert!(holds(&program, "__wrap__R"), "the functions of std are not hooked");
    assert!(holds(&program, ".debug_info"));
    assert!(holds(&program, "bank/src/lib.rs") || holds(&program, "balance_after"));
}

#[test]
fn nothing_is_built_twice() {
    let project = Project::shared();
    succeed(project.unpick_cargo("build --workspace"));
    let again = project.unpick_cargo("build --workspace --verbose").output().unwrap();
    assert!(again.status.success());
    assert!(
        !stderr(&again).contains("Running `") && stderr(&again).contains("Fresh bank"),
        "{}",
        stderr(&again)
    );
}

#[test]
fn a_failing_test_and_a_compile_error_end_like_in_cargo() {
    let project = Project::copy();
    let failing = project.unpick_cargo("test -p bank --lib -- --include-ignored").output().unwrap();
    assert_eq!(failing.status.code(), Some(101));
    assert!(stdout(&failing).contains("tests::fails ... FAILED"), "{}", stdout(&failing));

    project.write("plugin/src/lib.rs", "pub fn broken() -> u32 { \"text\" }");
    let ours = project.unpick_cargo("check -p plugin").output().unwrap();
    let mut cargo = project.command("cargo");
    let cargo = cargo.args(["check", "-p", "plugin"]).output().unwrap();
    assert_eq!(ours.status.code(), cargo.status.code());
    assert_eq!(ours.status.code(), Some(101));
    assert_eq!(without_waits(&stderr(&ours)), without_waits(&stderr(&cargo)));
}

/// What cargo says, but for that it waits for another cargo: tests run beside each other.
fn without_waits(text: &str) -> String {
    text.lines()
        .filter(|line| !line.contains("Blocking waiting for file lock"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn settings_of_the_project_stay_in_force() {
    let project = Project::copy();
    let wrapper = project.write_program(
        "wrapper",
        "#!/bin/sh\n[ -n \"$RUSTC_BOOTSTRAP\" ] && echo $* >> \"$CALLS\"\nexec \"$@\"\n",
    );
    let config = format!(
        "[build]\nrustflags = [\"--cfg\", \"flag_of_the_user\"]\nrustc-wrapper = {:?}\ntarget-dir = \"elsewhere\"\n\
         target = \"wasm32-unknown-unknown\"\n",
        wrapper.display()
    );
    project.write(".cargo/config.toml", &config);
    let mut run = project.unpick_cargo("run --quiet -p bank");
    run.env("CALLS", project.path("calls"));
    let output = succeed(run);
    assert!(
        output.contains("instrumented: true\n") && output.contains("flag of the user: true\n"),
        "{output}"
    );
    assert!(project.path("elsewhere/unpick").is_dir());
    assert!(!project.path("target").exists());
    let calls = fs::read_to_string(project.path("calls")).unwrap();
    let crates: Vec<&str> = calls
        .lines()
        .filter_map(|line| line.split("--crate-name ").nth(1)?.split(' ').next())
        .collect();
    assert_eq!(
        crates,
        ["native", "bank", "bank"],
        "the crates of the target, and no others:\n{calls}"
    );
}

#[test]
fn cargo_unpick_is_unpick_cargo() {
    let project = Project::shared();
    let program = Path::new(env!("CARGO_BIN_EXE_cargo-unpick"));
    let path =
        format!("{}:{}", program.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut cargo = project.command("cargo");
    cargo.args(["unpick", "run", "--quiet"]).env("PATH", path);
    assert!(succeed(cargo).starts_with("instrumented: true\n"));
}

/// nextest is optional on a developer's machine, never where CI decides.
fn nextest_is_missing() -> bool {
    let asked = Command::new("cargo-nextest").args(["nextest", "--version"]).output();
    let found = asked.is_ok_and(|output| output.status.success());
    assert!(
        found || std::env::var_os("CI").is_none(),
        "cargo-nextest is not installed, but CI is set"
    );
    if !found {
        println!("skipped: cargo-nextest is not installed");
    }
    !found
}

/// nextest starts every test as a process of its own, and asks the programs for their tests before.
#[test]
fn nextest_runs_instrumented_tests_and_each_is_recorded() {
    if nextest_is_missing() {
        return;
    }
    let store = tempfile::tempdir().unwrap();
    let unpick = env!("CARGO_BIN_EXE_unpick");
    let mut record = Project::shared().command(unpick);
    record.current_dir(store.path()).args(["record", "--quiet", "--", unpick, "cargo"]);
    record.args(["nextest", "run", "--workspace", "--manifest-path"]);
    let output = record.arg(Project::shared().path("Cargo.toml")).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    for passed in ["unit_tests_are_instrumented", "integration_tests_are_instrumented"] {
        let is_told = |line: &str| line.contains("PASS") && line.ends_with(passed);
        assert!(stderr(&output).lines().any(is_told), "{}", stderr(&output));
    }
    let processes = succeed({
        let mut dump = Project::shared().command(unpick);
        dump.current_dir(store.path()).args(["dump", "--json", "--kind", "Fact"]);
        dump
    });
    for test in ["tests::unit_tests_are_instrumented", "integration_tests_are_instrumented"] {
        let is_of_test = |line: &str| {
            line.contains("command line") && line.contains(&format!("--exact {test} "))
        };
        assert!(processes.lines().any(is_of_test), "{test}");
    }
}

#[test]
fn help_is_ours_for_the_verb_and_cargos_for_its_commands() {
    let project = Project::shared();
    let ours = succeed(project.unpick_cargo("--help"));
    assert!(ours.contains("Everything goes to cargo"), "{ours}");
    let cargos = succeed(project.unpick_cargo("build --help"));
    assert!(cargos.contains("--release"), "{cargos}");
}

#[track_caller]
fn refused(mut command: Command, what: &str, next: &str) {
    let output = command.output().unwrap();
    let message = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{message}");
    assert!(message.starts_with(&format!("error: {what}")) && message.contains(next), "{message}");
}

#[test]
fn another_machine_is_refused() {
    let project = Project::copy();
    let build = project.unpick_cargo("build --target wasm32-unknown-unknown");
    refused(
        build,
        "a program for `wasm32-unknown-unknown` cannot be instrumented",
        "leave --target out",
    );
    project.write(".cargo/config.toml", "[build]\ntarget = [\"wasm32-unknown-unknown\"]\n");
    let build = project.unpick_cargo("build");
    refused(
        build,
        "a program for `wasm32-unknown-unknown` cannot be instrumented",
        "add `--target ",
    );
}

#[test]
fn a_missing_cargo_and_an_old_compiler_are_named() {
    let project = Project::copy();
    let mut without = project.unpick_cargo("build");
    without.env("PATH", "/nowhere");
    refused(without, "cargo cannot be started", "rustup.rs");

    let old = project.write_program(
        "old-rustc",
        "#!/bin/sh\necho 'error: unknown unstable option: `external-clangrt`' >&2\nexit 1\n",
    );
    let mut build = project.unpick_cargo("build");
    build.env("RUSTC", old);
    refused(
        build,
        "this Rust compiler cannot instrument a program",
        "unknown unstable option: `external-clangrt`",
    );
}
