//! From a hunt to `unpick reconstruct`, `unpick show` and graphs; and what can be wrong.
//!
//! Which runs fail is not left to timing: every second run is told to let the other teller in between.

#[path = "../../report/tests/dot_grammar/mod.rs"]
mod dot_grammar;
mod schemas;

use std::fs;
use std::process::{Command, Output};

use schemas::assert_valid;
use serde_json::Value;
use tempfile::TempDir;

/// A teller looks at a balance and writes it back later; another one comes before, or in between.
const BANK: &str = r#"
#include <pthread.h>
#include <semaphore.h>
static long balance;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t looked, paid;
static long look(void) {
  pthread_mutex_lock(&lock);
  long seen = balance;
  pthread_mutex_unlock(&lock);
  return seen;
}
static void put(long value) {
  pthread_mutex_lock(&lock);
  balance = value;
  pthread_mutex_unlock(&lock);
}
static void *other_teller(void *argument) {
  sem_wait(&looked);
  put(look() + 1);
  sem_post(&paid);
  return argument;
}
static void let_other_teller_go(void) {
  sem_post(&looked);
  sem_wait(&paid);
}
int main(int count, char **arguments) {
  pthread_t thread;
  sem_init(&looked, 0, 0);
  sem_init(&paid, 0, 0);
  pthread_create(&thread, 0, other_teller, 0);
  if (count == 1) let_other_teller_go();
  long seen = look();
  if (count > 1) let_other_teller_go();
  put(seen + 1);
  pthread_join(thread, 0);
  return look() == 2 ? 0 : 1;
}
"#;
/// One teller after the other: there is one order only, and it is a pipe that makes it.
const ONE_BY_ONE: &str = r#"
#include <pthread.h>
#include <unistd.h>
static long balance;
static int ends[2];
static void *first(void *argument) {
  balance += 1;
  return write(ends[1], "x", 1) == 1 ? argument : 0;
}
static void *second(void *argument) {
  char turn;
  if (read(ends[0], &turn, 1) == 1)
    balance += 1;
  return argument;
}
int main(void) {
  pthread_t threads[2];
  if (pipe(ends))
    return 2;
  pthread_create(&threads[0], 0, first, 0);
  pthread_create(&threads[1], 0, second, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return balance == 2 ? 0 : 1;
}
"#;
/// Runs with odd numbers fail.
const CHOOSE: &str =
    r#"case "$UNPICK_RUN_DIR" in *[13579]) exec ./bank between;; *) exec ./bank;; esac"#;

struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Scene {
        Scene::of(BANK)
    }

    fn of(source: &str) -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        fs::write(scene.folder.path().join("bank.c"), source).unwrap();
        scene.unpick(&["cc", "-g", "-pthread", "bank.c", "-o", "bank"], 0);
        scene
    }

    fn hunted() -> Scene {
        let scene = Scene::new();
        let options = ["hunt", "--no-confirm", "--runs", "6", "--failing", "3", "--passing", "3"];
        scene.unpick(&[&options[..], &["--no-delays", "--", "sh", "-c", CHOOSE]].concat(), 66);
        scene
    }

    fn output(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
        command.args(arguments).current_dir(self.folder.path()).env("COLUMNS", "100");
        command.env("XDG_CACHE_HOME", self.folder.path().join("cache")).env_remove("UNPICK_CC");
        command.output().unwrap()
    }

    #[track_caller]
    fn unpick(&self, arguments: &[&str], code: i32) -> String {
        let output = self.output(arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {told}");
        String::from_utf8(output.stdout).unwrap()
    }

    #[track_caller]
    fn refused(&self, arguments: &[&str], code: i32) -> String {
        let output = self.output(arguments);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{told}");
        told
    }

    /// Removes the files of all runs whose names end so.
    fn remove(&self, ending: &str) {
        for run in fs::read_dir(self.folder.path().join(".unpick/runs")).unwrap() {
            for file in fs::read_dir(run.unwrap().path()).unwrap() {
                let file = file.unwrap().path();
                if file.to_string_lossy().ends_with(ending) {
                    fs::remove_file(file).unwrap();
                }
            }
        }
    }
}

#[track_caller]
fn check(text: &str, name: &str) -> Value {
    let value = serde_json::from_str(text).unwrap();
    assert_valid(&value, name);
    value
}

/// Place and function of every code point.
fn points(reconstruction: &Value) -> Vec<(&str, &str)> {
    let points = reconstruction["points"].as_array().unwrap().iter();
    points
        .map(|point| (point["place"].as_str().unwrap(), point["function"].as_str().unwrap()))
        .collect()
}

#[test]
fn a_hunt_tells_how_it_happened() {
    let scene = Scene::hunted();
    let text = scene.unpick(&["reconstruct", "--top", "2", "--json", "-"], 66);
    let list = check(&text, "reconstructions.schema.json");
    assert_eq!(list["runs"]["failed"], 3);
    // The other teller puts, and what was looked at before is put over it. The semaphores go with it, too.
    let all = list["reconstructions"].as_array().unwrap();
    let lost = all.iter().find(|one| {
        let points = points(one);
        points.contains(&("source", "put")) && points.contains(&("sink", "put"))
    });
    let lost = lost.unwrap_or_else(|| panic!("{text}"));
    assert_eq!((&lost["failed_runs"], &lost["passed_runs"]), (&3.into(), &0.into()));
    assert!(points(lost).contains(&("prefix", "look")), "{text}");

    let report = scene.unpick(&["reconstruct"], 66);
    assert!(report.contains("the write") && report.contains("balance = value;"), "{report}");
    assert!(report.contains("next: unpick reconstruct --dot graph.dot"), "{report}");

    let findings = check(&scene.unpick(&["show", "1", "--json", "-"], 0), "findings.schema.json");
    assert_eq!(&findings["findings"][0]["reconstruction"], lost, "that of the same cause");
    let shown = scene.unpick(&["show", "1"], 0);
    assert!(shown.contains("How it happened in failing runs"), "{shown}");
}

#[test]
fn graphs_are_drawn() {
    let scene = Scene::hunted();
    let graph = scene.unpick(&["reconstruct", "--dot", "-"], 66);
    let [drawn] = dot_grammar::graphs(&graph).try_into().unwrap();
    assert_eq!(drawn.name, "communication");
    assert!(drawn.boxes > 0 && !drawn.nodes.is_empty() && !drawn.edges.is_empty(), "{graph}");
    scene.unpick(&["show", "1", "--dot", "order.dot"], 0);
    let order = fs::read_to_string(scene.folder.path().join("order.dot")).unwrap();
    let [drawn] = dot_grammar::graphs(&order).try_into().unwrap();
    assert_eq!(drawn.boxes, 2, "{order}");
    assert!(order.contains("label=\"thread 1\\l\"") && order.contains("color=red"), "{order}");
}

#[test]
fn what_was_exported_tells_the_same() {
    let scene = Scene::hunted();
    let here = scene.unpick(&["reconstruct", "--json", "-"], 66);
    scene.unpick(&["export", "bank.unpick"], 0);
    scene.unpick(&["import", "bank.unpick", "--store", "elsewhere"], 0);
    fs::remove_file(scene.folder.path().join("bank")).unwrap();
    fs::remove_file(scene.folder.path().join("bank.c")).unwrap();
    let there = scene.unpick(&["reconstruct", "--store", "elsewhere", "--json", "-"], 66);
    let ends = |text: &str| -> Vec<Value> {
        let list: Value = serde_json::from_str(text).unwrap();
        let points = list["reconstructions"][0]["points"].as_array().unwrap().clone();
        points.iter().map(|point| point["text"].clone()).collect()
    };
    assert_eq!(ends(&here), ends(&there));
}

#[test]
fn runs_without_graphs_are_looked_at_again_while_their_recordings_are_there() {
    let scene = Scene::hunted();
    let before = scene.unpick(&["reconstruct", "--json", "-"], 66);
    scene.remove("graphs.bin");
    assert_eq!(scene.unpick(&["reconstruct", "--json", "-"], 66), before);
    scene.remove(".events");
    let told = scene.refused(&["reconstruct"], 2);
    assert!(
        told.contains("the runs have no communication graphs") && told.contains("next:"),
        "{told}"
    );
}

#[test]
fn damaged_graphs_and_runs_of_one_label_are_told() {
    let scene = Scene::new();
    let told = scene.refused(&["reconstruct"], 2);
    assert!(told.contains("there are no hunts yet"), "{told}");
    scene.unpick(&["hunt", "--runs", "2", "--no-delays", "--", "./bank"], 0);
    let told = scene.refused(&["reconstruct"], 2);
    assert!(told.contains("no run failed"), "{told}");
    let told = scene.refused(&["show"], 2);
    assert!(told.contains("no hunt in this store has ended with runs that failed"), "{told}");
    scene.unpick(&["hunt", "--runs", "2", "--no-delays", "--", "./bank", "between"], 67);
    let told = scene.refused(&["reconstruct"], 2);
    assert!(told.contains("no run passed"), "{told}");

    let scene = Scene::hunted();
    fs::write(scene.folder.path().join(".unpick/runs/0001/graphs.bin"), "UNPIGRPHjunk").unwrap();
    let told = scene.refused(&["reconstruct"], 70);
    assert!(
        told.contains("graphs of a run cannot be read") && told.contains("graphs.bin"),
        "{told}"
    );
    // The findings do without.
    scene.unpick(&["rank"], 66);
}

#[test]
fn labels_that_contradict_each_other_are_told() {
    let scene = Scene::of(ONE_BY_ONE);
    // All runs do the same, and every second one is said to have failed.
    let oracle = "echo >> count; test $(( $(wc -l < count) % 2 )) -eq 0";
    let hunt = ["hunt", "--no-confirm", "--no-active", "--no-delays", "--runs", "4"];
    let hunt = scene.refused(&[&hunt[..], &["--oracle", oracle, "--", "./bank"]].concat(), 67);
    let ranked = scene.refused(&["rank"], 67);
    let reconstructed = scene.refused(&["reconstruct"], 66);
    for told in [hunt, ranked, reconstructed] {
        let line = "run 1 failed and run 2 passed, though both show the same orders of accesses";
        assert!(told.contains(line) && told.contains("--oracle"), "{told}");
    }
    // Where runs differ there is no such thing to be told.
    let told = Scene::hunted().refused(&["reconstruct"], 66);
    assert!(!told.contains("same orders"), "{told}");
}
