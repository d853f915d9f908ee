//! From source code to a dump with names: `unpick cc`, `unpick record`, `unpick dump` on small C programs.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

const BANK: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
struct account { long balance; int changes; };
static struct account *shared;
static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *argument) {
  pthread_mutex_lock(&lock);
  shared->balance += 1;
  pthread_mutex_unlock(&lock);
  counter++;
  return argument;
}
int main(int count, char **arguments) {
  pthread_t thread;
  shared = malloc(sizeof *shared);
  memset(shared, 0, sizeof *shared);
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  work(0);
  if (count > 1 && !strcmp(arguments[1], "crash")) *(volatile int *)0 = 1;
  if (count > 1 && !strcmp(arguments[1], "leave")) _exit(9);
  if (count > 1 && !strcmp(arguments[1], "fork")) { if (fork() == 0) { work(0); _exit(0); } }
  return counter == 2 ? 0 : 1;
}
"#;

/// A folder with the built program in it.
fn built(options: &[&str]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bank.c"), BANK).unwrap();
    let arguments = [&["cc"], options, &["bank.c", "-o", "bank", "-pthread"]].concat();
    let output = unpick(folder.path(), &arguments);
    assert!(output.status.success(), "{}", stderr(&output));
    folder
}

fn unpick(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_unpick")).args(arguments).current_dir(folder).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The lines of a dump as JSON.
fn dumped(folder: &Path) -> Vec<Value> {
    let output = unpick(folder, &["dump", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn events<'v>(lines: &'v [Value], kind: &'v str) -> impl Iterator<Item = &'v Value> {
    lines.iter().filter(move |line| line["kind"] == kind)
}

#[test]
fn what_threads_did_to_each_other_comes_back_with_names() {
    let folder = built(&["-g", "-O1"]);
    let output = unpick(folder.path(), &["record", "--", "./bank"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stderr(&output).contains("of 2 threads"), "{}", stderr(&output));

    let lines = dumped(folder.path());
    let read = events(&lines, "Read")
        .find(|event| event["object"] == "counter")
        .expect("a read of counter");
    assert_eq!(read["length"], 4);
    assert_eq!(read["place"]["function"], "work");
    assert!(read["place"]["file"].as_str().unwrap().ends_with("bank.c"));
    assert_eq!(read["place"]["line"], 14);
    assert!(events(&lines, "Acquire").all(|event| event["object"] == "lock"));
    let balance = |event: &&Value| {
        event["object"].as_str().is_some_and(|name| name.contains("allocated at bank.c:19"))
    };
    assert!(
        events(&lines, "Read").find(balance).is_some(),
        "the heap block is named by where it was allocated"
    );
}

#[test]
fn a_crash_and_a_hasty_exit_keep_what_was_recorded() {
    let folder = built(&["-g"]);
    for (argument, code) in [("crash", 128 + 11), ("leave", 9)] {
        let output = unpick(folder.path(), &["record", "--", "./bank", argument]);
        assert_eq!(output.status.code(), Some(code), "{}", stderr(&output));
        let lines = dumped(folder.path());
        assert!(events(&lines, "ThreadJoin").next().is_some(), "{argument}");
    }
}

#[test]
fn a_forked_child_has_a_recording_of_its_own() {
    let folder = built(&["-g"]);
    let output = unpick(folder.path(), &["record", "--", "./bank", "fork"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let lines = dumped(folder.path());
    let processes = lines.iter().filter(|line| line["type"] == "process").count();
    assert_eq!(processes, 2);
    assert_eq!(events(&lines, "Forked").count(), 1);
    assert!(
        lines
            .iter()
            .filter(|line| line["type"] == "process")
            .all(|line| line["damage"] == Value::Array(vec![]))
    );
}

#[test]
fn without_debug_info_places_are_offsets_and_one_note_says_what_to_do() {
    let folder = built(&["-g0", "-Wl,--strip-all"]);
    let recorded = unpick(folder.path(), &["record", "--quiet", "--", "./bank"]);
    assert_eq!(recorded.status.code(), Some(0), "{}", stderr(&recorded));
    let output = unpick(folder.path(), &["dump", "--kind", "Read"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("bank+0x"), "{text}");
    let notes =
        stderr(&output).lines().filter(|line| line.contains("bank has no debug info")).count();
    assert_eq!(notes, 1, "{}", stderr(&output));
    assert!(stderr(&output).contains("-g"));
}

#[test]
fn a_recording_that_reaches_its_limit_says_so_and_the_program_ends_as_always() {
    let folder = tempfile::tempdir().unwrap();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../runtime/tests/programs/much.c");
    let built = unpick(folder.path(), &["cc", "-g", "-O1", source, "-o", "much", "-pthread"]);
    assert!(built.status.success(), "{}", stderr(&built));
    let output = unpick(folder.path(), &["record", "--limit", "64KiB", "--", "./much"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "10000 24995000 10\n");
    let text = stderr(&output);
    assert!(text.contains("the size limit of 65536 bytes was reached"), "{text}");
    assert!(text.contains("record again with a higher --limit"), "{text}");
    let lines = dumped(folder.path());
    let process = lines.iter().find(|line| line["type"] == "process").unwrap();
    assert_eq!(
        (&process["complete"], &process["orderly_exit"]),
        (&Value::Bool(false), &Value::Bool(true))
    );
    let file = folder.path().join(process["file"].as_str().unwrap());
    let bytes = fs::metadata(file).unwrap().len();
    assert!(bytes <= 4096 + 65536, "{bytes} bytes");
}
