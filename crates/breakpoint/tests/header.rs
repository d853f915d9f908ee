//! unpick.h in the surroundings C and C++ programs have: standards, several files, libraries, fork, cancelled threads.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Uses every form once.
const EVERYTHING: &str = r#"
#include "unpick.h"
static int fits(const void *mine, const void *theirs) { return *(const int *)mine == *(const int *)theirs; }
int main(void) {
    int state = 1, lock = 0, other = 0;
    (void)fits;
    (void)state, (void)lock, (void)other;
    UNPICK_TRIGGER(conflict("c", &state), first(), pause_ms(0));
    UNPICK_TRIGGER(deadlock("d", &lock, &other), second(), pause_ms(0), ignore_first(2));
    UNPICK_TRIGGER(atomicity("a", &state), gap(), pause_ms(0), bound(3));
    UNPICK_STEP(atomicity("a", &state), intruder(), pause_ms(0), when(state > 0));
    UNPICK_DONE("a");
    UNPICK_HOLDING("l");
    if (UNPICK_TRIGGER(own("o", &state, fits), role(2, 3), pause_ms(0), lock_held("l")) == UNPICK_HIT)
        return 1;
    UNPICK_RELEASED("l");
    UNPICK_TRIGGER(rendezvous("r"), first(), pause_ms(0));
    UNPICK_REPORT();
    return UNPICK_WAITING("r");
}
"#;

#[test]
fn it_compiles_without_a_warning_everywhere() {
    let scratch = tempfile::tempdir().unwrap();
    for (compiler, language, standards) in [
        ("gcc", "c", ["c99", "c11", "gnu17"]),
        ("clang", "c", ["c99", "c11", "gnu17"]),
        ("g++", "c++", ["c++11", "c++17", "c++20"]),
        ("clang++", "c++", ["c++11", "c++17", "c++20"]),
    ] {
        for standard in standards {
            for switch in ["-DUNPICK_BREAKPOINTS", "-DOTHER"] {
                let source = written(scratch.path(), "everything.c", EVERYTHING);
                let standard = format!("-std={standard}");
                let options = ["-x", language, &standard, switch, "-fvisibility=hidden"];
                let Some(program) = compiled(scratch.path(), compiler, &options, &[source]) else {
                    continue;
                };
                assert!(run(&program, &[]).status.success());
            }
        }
    }
}

#[test]
fn a_strict_standard_after_other_headers_is_refused_with_a_reason() {
    let scratch = tempfile::tempdir().unwrap();
    let text = format!("#include <time.h>\n{EVERYTHING}");
    let source = written(scratch.path(), "late.c", &text);
    let mut command = command("gcc", &["-std=c99", "-DUNPICK_BREAKPOINTS", "-fsyntax-only"]);
    let output = command.arg(source).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("include it before all other headers"), "{said}");
}

/// Half of a breakpoint in each of two files, or in a file and a library.
const MAIN_HALF: &str = r#"
#include "unpick.h"
#include <dlfcn.h>
#ifdef __cplusplus
extern "C"
#endif
void *other_half(void *object);
static char object;
int main(int count, char **arguments) {
    void *(*half)(void *);
    pthread_t thread;
    int outcome;
#ifdef OPEN
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return 3;
    half = (void *(*)(void *))dlsym(library, "other_half");
#else
    (void)arguments;
    half = other_half;
#endif
    pthread_create(&thread, NULL, half, &object);
    outcome = UNPICK_TRIGGER(conflict("across", &object), second(), pause_ms(60000));
    pthread_join(thread, NULL);
    return outcome == UNPICK_HIT ? 0 : count;
}
"#;

const OTHER_HALF: &str = r#"
#include "unpick.h"
#ifdef __cplusplus
extern "C"
#endif
void *other_half(void *object) {
    UNPICK_STEP(conflict("across", object), first(), pause_ms(60000));
    UNPICK_DONE("across");
    return NULL;
}
"#;

/// `dlsym` gives a pointer to data, which strict C does not turn into one to a function.
const ON: [&str; 3] = ["-DUNPICK_BREAKPOINTS", "-D_GNU_SOURCE", "-Wno-pedantic"];

#[test]
fn two_files_of_a_program_share_a_breakpoint_whatever_their_language() {
    let scratch = tempfile::tempdir().unwrap();
    let main = written(scratch.path(), "main.c", MAIN_HALF);
    for name in ["half.c", "half.cc"] {
        let other = written(scratch.path(), name, OTHER_HALF);
        let object = scratch.path().join("half.o");
        let compiler = if name == "half.c" { "gcc" } else { "g++" };
        let mut compile = command(compiler, &ON);
        let made = compile.arg("-c").arg(&other).arg("-o").arg(&object).status();
        if made.is_err() {
            skip(compiler);
            continue;
        }
        let program = compiled(scratch.path(), "gcc", &ON, &[main.clone(), object]).unwrap();
        let output = run(&program, &[]);
        assert!(output.status.success(), "{name}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(said.matches("breakpoint `across`: hit once").count(), 1, "{said}");
    }
}

#[test]
fn a_program_and_its_libraries_share_a_breakpoint() {
    let scratch = tempfile::tempdir().unwrap();
    let other = written(scratch.path(), "half.c", OTHER_HALF);
    let library = scratch.path().join("libhalf.so");
    let mut compile = command("gcc", &ON);
    compile.args(["-shared", "-fPIC"]).arg(&other).arg("-o").arg(&library);
    assert!(compile.status().unwrap().success());
    let main = written(scratch.path(), "main.c", MAIN_HALF);
    let rpath = format!("-Wl,-rpath,{}", scratch.path().display());
    let linked = [&ON[..], &[&rpath]].concat();
    let program =
        compiled(scratch.path(), "gcc", &linked, &[main.clone(), library.clone()]).unwrap();
    let output = run(&program, &[]);
    assert!(output.status.success(), "{output:?}");
    let opened = [&ON[..], &["-DOPEN", "-rdynamic", "-ldl"]].concat();
    let program = compiled(scratch.path(), "gcc", &opened, &[main]).unwrap();
    let output = run(&program, &[library.to_str().unwrap()]);
    assert!(output.status.success(), "{output:?}");
}

/// While one thread waits, another forks: the child has a board of its own, and writes its own report.
const FORKING: &str = r#"
#include "unpick.h"
#include <sys/wait.h>
static void *waits(void *object) {
    UNPICK_TRIGGER(conflict("parents", object), first(), pause_ms(60000));
    return NULL;
}
static char object;
int main(void) {
    pthread_t thread;
    int status = 1;
    pid_t child;
    pthread_create(&thread, NULL, waits, &object);
    while (UNPICK_WAITING("parents") < 1)
        usleep(200);
    child = fork();
    if (child == 0) {
        if (UNPICK_WAITING("parents") != 0)
            return 2;
        if (UNPICK_TRIGGER(conflict("parents", &object), second(), pause_ms(1)) != UNPICK_MISSED_TIMED_OUT)
            return 3;
        pthread_create(&thread, NULL, waits, &object);
        if (UNPICK_TRIGGER(conflict("parents", &object), second(), pause_ms(60000)) <= 0)
            return 4;
        pthread_join(thread, NULL);
        return 0;
    }
    waitpid(child, &status, 0);
    if (UNPICK_TRIGGER(conflict("parents", &object), second(), pause_ms(60000)) <= 0)
        return 5;
    pthread_join(thread, NULL);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 6;
}
"#;

#[test]
fn a_forked_child_has_its_own_breakpoints() {
    let scratch = tempfile::tempdir().unwrap();
    let source = written(scratch.path(), "forking.c", FORKING);
    let program = compiled(scratch.path(), "gcc", &ON, &[source]).unwrap();
    let report = scratch.path().join("report");
    let output = Command::new(program).env("UNPICK_BREAKPOINT_REPORT", &report).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let arrivals = |file: &Path| {
        let text = fs::read_to_string(file).unwrap();
        text.matches("\"arrivals\":1").count() + 10 * text.matches("\"arrivals\":2").count()
    };
    assert_eq!(arrivals(&report), 2, "the parent came once to each half");
    let is_childs = |name: &str| name.starts_with("report.");
    let names = fs::read_dir(scratch.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let childs: Vec<_> = names.filter(|name| is_childs(name.to_str().unwrap())).collect();
    assert_eq!(childs.len(), 1, "{childs:?}");
    assert_eq!(arrivals(&scratch.path().join(&childs[0])), 11, "the child came twice to one");
}

/// A cancelled thread goes on from its breakpoint first: the lock must not die with it.
const CANCELLED: &str = r#"
#include "unpick.h"
static char object;
static void *waits(void *unused) {
    (void)unused;
    UNPICK_TRIGGER(conflict("x", &object), first(), pause_ms(60000));
    for (;;)
        pause();
    return NULL;
}
int main(void) {
    pthread_t thread;
    int outcome;
    pthread_create(&thread, NULL, waits, NULL);
    while (UNPICK_WAITING("x") < 1)
        usleep(200);
    pthread_cancel(thread);
    outcome = UNPICK_TRIGGER(conflict("x", &object), second(), pause_ms(60000));
    pthread_join(thread, NULL);
    return outcome > 0 ? 0 : 1;
}
"#;

#[test]
fn a_thread_that_is_cancelled_while_it_waits_leaves_nothing_locked() {
    let scratch = tempfile::tempdir().unwrap();
    let source = written(scratch.path(), "cancelled.c", CANCELLED);
    let program = compiled(scratch.path(), "gcc", &ON, &[source]).unwrap();
    let output = run(&program, &[]);
    assert!(output.status.success(), "{output:?}");
}

/// The report is there although the step was the end of the program.
const CRASHING: &str = r#"
#include "unpick.h"
static char object;
static void *crashes(void *unused) {
    (void)unused;
    UNPICK_STEP(conflict("crash", &object), first(), pause_ms(60000));
    abort();
    return NULL;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, crashes, NULL);
    UNPICK_TRIGGER(conflict("crash", &object), second(), pause_ms(60000));
    pthread_join(thread, NULL);
    return 0;
}
"#;

#[test]
fn a_hit_that_kills_the_program_is_in_the_report() {
    let scratch = tempfile::tempdir().unwrap();
    let source = written(scratch.path(), "crashing.c", CRASHING);
    let program = compiled(scratch.path(), "gcc", &ON, &[source]).unwrap();
    let report = scratch.path().join("report");
    let output = Command::new(program).env("UNPICK_BREAKPOINT_REPORT", &report).output().unwrap();
    assert!(!output.status.success());
    let text = fs::read_to_string(report).unwrap();
    assert!(
        text.starts_with("{\"breakpoint\":\"crash\",\"kind\":\"conflict\",\"hits\":1,"),
        "{text}"
    );
}

#[test]
fn a_breakpoint_without_a_half_is_refused_with_a_reason() {
    let scratch = tempfile::tempdir().unwrap();
    let text = r#"
#include "unpick.h"
int main(void) {
    int outcome = UNPICK_TRIGGER(rendezvous("halfless"), pause_ms(60000));
    outcome += UNPICK_TRIGGER(rendezvous("halfless"), pause_ms(60000));
    return outcome == 2 * UNPICK_MISSED_CONTRADICTION ? 0 : 1;
}
"#;
    let source = written(scratch.path(), "halfless.c", text);
    let program = compiled(scratch.path(), "gcc", &ON, &[source]).unwrap();
    let output = run(&program, &[]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        said.matches("`halfless` cannot be used like this: its half is not said").count(),
        1
    );
    assert!(said.contains("halfless.c:4") && said.contains("next:  add first()"), "{said}");
}

#[test]
fn a_state_that_is_too_long_is_refused_with_a_reason() {
    let scratch = tempfile::tempdir().unwrap();
    let text = r#"
#include "unpick.h"
struct big { char bytes[65]; };
static int fits(const void *mine, const void *theirs) { return mine == theirs; }
int main(void) {
    struct big big = {{0}};
    return UNPICK_TRIGGER(own("big", &big, fits), first(), pause_ms(60000)) == UNPICK_MISSED_CONTRADICTION ? 0 : 1;
}
"#;
    let source = written(scratch.path(), "big.c", text);
    let program = compiled(scratch.path(), "gcc", &ON, &[source]).unwrap();
    let output = run(&program, &[]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("a state of 65 bytes") && said.contains("at most 64"), "{said}");
}

fn written(scratch: &Path, name: &str, text: &str) -> PathBuf {
    let file = scratch.join(name);
    fs::write(&file, text).unwrap();
    file
}

fn command(compiler: &str, options: &[&str]) -> Command {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-pthread", "-I"]).arg(include);
    command.args(options);
    command
}

/// None if there is no such compiler here.
fn compiled(
    scratch: &Path,
    compiler: &str,
    options: &[&str],
    inputs: &[PathBuf],
) -> Option<PathBuf> {
    let program = scratch.join("program");
    let mut command = command(compiler, options);
    let Ok(output) = command.args(inputs).arg("-o").arg(&program).output() else {
        skip(compiler);
        return None;
    };
    assert!(output.status.success(), "{command:?}\n{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

fn skip(compiler: &str) {
    assert!(std::env::var_os("CI").is_none(), "{compiler} is not installed");
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program).args(arguments).output().unwrap()
}
