//! Programs linked with `-static` are recorded as others are. There the runtime takes library functions over by the
//! linker's `--wrap`, not by their names, and knows its modules and its start otherwise.

mod cc_support;

use cc_support::{Family, GCC, Project};
use serde_json::Value;

/// The second thread runs alone between its creation and its end, so that there is one order only.
const C: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
static long balance;
static char text[16];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t done;
static void *pay(void *unused) {
  pthread_mutex_lock(&lock);
  balance += 1;
  pthread_mutex_unlock(&lock);
  strcpy(text, "paid");
  sem_post(&done);
  return unused;
}
int main(void) {
  pthread_t thread;
  sem_init(&done, 0, 0);
  balance = 41;
  pthread_create(&thread, 0, pay, 0);
  pthread_join(thread, 0);
  sem_wait(&done);
  pthread_mutex_lock(&lock);
  long sum = balance;
  pthread_mutex_unlock(&lock);
  return sum == 42 && strlen(text) == 4 ? 0 : 1;
}
"#;

const STORY_OF_C: &[&str] = &[
    "T1 ThreadCreate",
    "T2 ThreadStart",
    "T2 Acquire lock",
    "T2 Read balance in pay, after write by T1 in main",
    "T2 Write balance in pay",
    "T2 Release lock",
    "T2 SemaphorePost done",
    "T2 ThreadEnd",
    "T1 ThreadJoin",
    "T1 SemaphoreWait done",
    "T1 Acquire lock",
    "T1 Read balance in main",
    "T1 Release lock",
    "T1 Read text in main, after write by T2 in pay",
];

const CXX: &str = r#"
#include <mutex>
#include <stdexcept>
#include <thread>
struct account { long balance; };
static account *shared;
static std::mutex lock;
static void pay() {
  std::lock_guard<std::mutex> hold(lock);
  try { throw std::runtime_error("thrown and caught while the lock is held"); }
  catch (const std::runtime_error &) { shared->balance += 1; }
}
int main() {
  shared = new account{41};
  std::thread thread(pay);
  thread.join();
  std::lock_guard<std::mutex> hold(lock);
  return shared->balance == 42 ? 0 : 1;
}
"#;

const STORY_OF_CXX: &[&str] = &[
    "T1 ThreadCreate",
    "T2 ThreadStart",
    "T2 Acquire lock",
    "T2 Read account.balance in pay, after write by T1 in main",
    "T2 Write account.balance in pay",
    "T2 Release lock",
    "T2 ThreadEnd",
    "T1 ThreadJoin",
    "T1 Acquire lock",
    "T1 Read account.balance in main",
    "T1 Release lock",
];

/// What the stories tell of; libraries linked into the program have locks and accesses of their own.
const OBJECTS: [&str; 5] = ["lock", "balance", "account.balance", "text", "done"];

/// An event in one line, if it is one that the stories tell.
fn told(event: &Value) -> Option<String> {
    let kind = event["kind"].as_str()?;
    let who = format!("T{} {kind}", event["thread"]);
    if ["ThreadCreate", "ThreadStart", "ThreadEnd", "ThreadJoin"].contains(&kind) {
        return Some(who);
    }
    let object = event["object"].as_str()?.split(" (").next()?;
    if !OBJECTS.contains(&object) {
        return None;
    }
    let place =
        if ["Read", "Write"].contains(&kind) { place_and_past(event)? } else { String::new() };
    Some(format!("{who} {object}{place}"))
}

fn place_and_past(event: &Value) -> Option<String> {
    let here = event["place"]["function"].as_str()?;
    let Some(past) = event["past"].as_array().and_then(|past| past.first()) else {
        return Some(format!(" in {here}"));
    };
    let (kind, there) = (past["kind"].as_str()?, past["place"]["function"].as_str()?);
    Some(format!(" in {here}, after {kind} by T{} in {there}", past["thread"]))
}

fn tells(family: Family, link: &str, source: (&str, &str), story: &[&str]) {
    let (name, text) = source;
    let project = Project::empty();
    project.write(name, text);
    let compiler = if name.ends_with(".cc") { "$CXX" } else { "$CC" };
    let built = project.run_wrapped(family, &format!("{compiler} -g -O1 {link} {name} -o program"));
    assert_eq!((built.exit, built.stderr.as_str()), (Some(0), ""), "{link} {name}");
    let lines = project.recorded("./program");
    let process = lines.iter().find(|line| line["type"] == "process").unwrap();
    assert_eq!(process["complete"], true, "{link} {name}: {process}");
    let of_the_process_itself = ["T1 ThreadStart", "T1 ThreadEnd"];
    let mut events: Vec<String> = lines.iter().filter_map(told).collect();
    events.retain(|event| !of_the_process_itself.contains(&event.as_str()));
    assert_eq!(events, story, "{link} {name}");
}

#[test]
fn c_programs_tell_the_same_story_linked_in_any_way() {
    for link in ["-static", "-static-pie -fPIE", "-pthread"] {
        tells(GCC, link, ("bank.c", C), STORY_OF_C);
    }
}

#[test]
fn cxx_programs_tell_the_same_story_linked_in_any_way() {
    for link in ["-static", "-static-pie -fPIE", "-pthread"] {
        tells(GCC, link, ("bank.cc", CXX), STORY_OF_CXX);
    }
}
