//! What recordings add to `unpick correlate`: accesses that Rust's syntax does not show, and programs without sources.

mod cargo_project;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use cargo_project::{copied, executable};
use serde_json::Value;

fn unpick(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
    // What the cargo that runs this test was told is not meant for the one under test.
    for (variable, _) in std::env::vars_os() {
        let name = variable.to_string_lossy();
        if name.starts_with("CARGO") && name != "CARGO_HOME" || name.starts_with("RUSTC") {
            command.env_remove(variable);
        }
    }
    command.env_remove("RUSTFLAGS").current_dir(folder).args(arguments).output().unwrap()
}

#[track_caller]
fn assert_success(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = unpick(folder, &[&["correlate", "--json", "-"], arguments].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

/// The fixture, built: stays for the next test run.
fn rust_program() -> (PathBuf, PathBuf) {
    let folder = copied("rust-observed");
    let built = unpick(&folder, &["cargo", "build", "--message-format=json"]);
    assert_success(&built);
    (folder, executable(&built))
}

#[test]
fn what_rust_hides_from_syntax_is_observed_and_the_function_that_forgets_is_found() {
    let (folder, program) = rust_program();
    let store = tempfile::tempdir().unwrap();
    let store = store.path().to_str().unwrap();
    let syntax = json(&folder, &["src", "--store", store]);
    assert_eq!(syntax["correlations"], Value::Array(vec![]), "syntax alone does not tell");
    assert_eq!(syntax["summary"]["runs"], 0);

    let record = ["record", "--full", "--store", store, "--", program.to_str().unwrap()];
    assert_success(&unpick(&folder, &record));
    let list = json(&folder, &["src", "--store", store]);
    assert_eq!(list["missing"], Value::Array(vec![]));
    assert_eq!(list["summary"]["runs"], 1);
    // Five functions write `total`, four of them `dirty` as well: two by a macro.
    assert_eq!(list["summary"]["observed"], 9);
    assert_eq!(list["breaks"][0]["place"]["function"], "forget");
    assert_eq!(list["breaks"][0]["left"]["variable"], "Ledger::total");
    assert_eq!(list["breaks"][0]["right"]["variable"], "Ledger::dirty");
    assert_eq!(list["breaks"][0]["support"], 4);
    let without = json(&folder, &["src", "--store", store, "--no-runs"]);
    assert_eq!(without["breaks"], Value::Array(vec![]));
}

#[test]
fn races_know_by_the_run_itself_what_belongs_together() {
    let (folder, program) = rust_program();
    let store = tempfile::tempdir().unwrap();
    let store = store.path().to_str().unwrap();
    let races =
        ["races", "--quiet", "--store", store, "--json", "-", "--", program.to_str().unwrap()];
    let output = unpick(&folder, &races);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)));
    // By the sources alone there are none: see above.
    assert_ne!(report["correlations"], 0, "{report}");
    assert!(report["correlations"].is_u64(), "{report}");
}

#[test]
fn sources_that_are_not_those_of_the_run_get_nothing_from_it() {
    let (folder, program) = rust_program();
    let (store, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = store.path().to_str().unwrap();
    let record = ["record", "--full", "--store", store, "--", program.to_str().unwrap()];
    assert_success(&unpick(&folder, &record));
    fs::copy(folder.join("src/main.rs"), copy.path().join("main.rs")).unwrap();
    let list = json(copy.path(), &["main.rs", "--store", store]);
    assert_eq!(list["summary"]["observed"], 0);
}

const CACHE_IN_C: &str = "
#include <pthread.h>
struct cache { int table; int empty; int hits; };
struct cache shared;
void fill(void) { shared.table = 1; shared.empty = 0; }
void drain(void) { shared.table = 0; shared.empty = 1; }
void swap(void) { shared.table = 2; shared.empty = 0; }
void renew(void) { shared.table = 3; shared.empty = 0; }
void forget(void) { shared.table = 4; shared.hits++; }
void *all(void *of) { fill(); drain(); swap(); renew(); forget(); return of; }
int main(void) {
    for (int at = 0; at < 2; at++) {
        pthread_t thread;
        pthread_create(&thread, 0, all, 0);
        pthread_join(thread, 0);
    }
}
";

#[test]
fn a_program_without_sources_is_judged_by_its_recordings() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let nothing = unpick(folder, &["correlate"]);
    assert_eq!(nothing.status.code(), Some(2));
    let told = String::from_utf8(nothing.stderr).unwrap();
    assert!(
        told.contains("there is nothing to look at") && told.contains("unpick races"),
        "{told}"
    );

    fs::write(folder.join("cache.c"), CACHE_IN_C).unwrap();
    assert_success(&unpick(folder, &["cc", "-g", "cache.c", "-o", "cache", "-lpthread"]));
    assert_success(&unpick(folder, &["record", "--full", "--", "./cache"]));
    let list = json(folder, &[]);
    assert_eq!(list["summary"]["files"], 0);
    assert_eq!(list["breaks"][0]["place"]["function"], "forget");
    assert_eq!(list["breaks"][0]["right"]["variable"], "cache::empty");

    assert_success(&unpick(folder, &["record", "--", "./cache"]));
    let meetings = unpick(folder, &["correlate", "--run", "2"]);
    assert_eq!(meetings.status.code(), Some(2));
    let told = String::from_utf8(meetings.stderr).unwrap();
    assert!(told.contains("its recordings are not full"), "{told}");

    let output = Command::new(env!("CARGO_BIN_EXE_unpick"))
        .args(["correlate", "cache.c", "--broken", "--no-cache"])
        .env("LIBCLANG_PATH", "/nowhere")
        .current_dir(folder)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(66), "recordings need no libclang");
    assert!(String::from_utf8(output.stdout).unwrap().contains("forget cache.c:9"));
    assert!(String::from_utf8(output.stderr).unwrap().contains("apt install libclang"));

    fs::write(folder.join("cache.c"), format!("\n\n{CACHE_IN_C}")).unwrap();
    let stale = unpick(folder, &["correlate"]);
    assert_eq!(stale.status.code(), Some(2));
    let told = String::from_utf8(stale.stderr).unwrap();
    assert!(told.contains("changed or went since the program was built"), "{told}");
}
