//! Memory functions called with a constant size are accesses like others, whatever a compiler makes of the call:
//! gcc would expand them in place, without a hook.

mod cc_support;

use std::collections::BTreeSet;

use cc_support::{CLANG, CLANG_16, Family, GCC, Project};
use serde_json::Value;

/// Every function touches memory that only `prepare` and `look` touch besides, so each must have an event of its own.
const SOURCE: &str = r#"
#include <pthread.h>
#include <string.h>
#include <strings.h>
struct block { long part[8]; };
static struct block of_set, of_cleared, of_copy, of_odd_copy, of_long[10], of_move, of_assignment, of_literal, of_text;
static struct block of_appended, of_end, from[4], compared, equal, small, text;
#define APART __attribute__((noinline))
APART void sets(struct block *to) { memset(to, 0, sizeof *to); }
APART void clears(struct block *to) { bzero(to, sizeof *to); }
APART void copies(struct block *to, struct block *source) { memcpy(to, source, sizeof *to); }
APART void copies_odd(struct block *to, struct block *source) { memcpy(to, source, 13); }
APART void copies_much(struct block *to, char *source) { memcpy(to, source, 640); }
APART void moves(struct block *to, struct block *source) { memmove(to, source, sizeof *to); }
APART void assigns(struct block *to, struct block *source) { *to = *source; }
APART void assigns_literal(struct block *to) { *to = (struct block){{0}}; }
APART void copies_text(char *to) { strcpy(to, "a text of a known length"); }
APART void appends_text(char *to) { strcat(to, "a text of a known length"); }
APART void copies_start(char *to) { strncpy(to, "text", 24); }
APART int compares(struct block *a) { char other[64] = {1}; return memcmp(a, other, sizeof other); }
APART int equals(struct block *a) { char other[64] = {1}; return memcmp(a, other, sizeof other) == 0; }
APART int equals_small(struct block *a) { char other[8] = {1}; return memcmp(a, other, 8) == 0; }
APART int equals_text(char *a) { return strcmp(a, "x") == 0; }
APART void prepare(void) {
  for (int i = 0; i < 4; i++) from[i].part[0] = 7;
  compared.part[0] = equal.part[0] = small.part[0] = text.part[0] = 7;
}
static int answers;
static void *at(void *known) { __asm__("" : "+r"(known)); return known; } /* the compiler forgets where it points */
static void *other(void *unused) {
  static char much[640];
  sets(at(&of_set));
  clears(at(&of_cleared));
  copies(at(&of_copy), at(&from[0]));
  copies_odd(at(&of_odd_copy), at(&from[1]));
  copies_much(at(of_long), at(much));
  moves(at(&of_move), at(&from[2]));
  assigns(at(&of_assignment), at(&from[3]));
  assigns_literal(at(&of_literal));
  copies_text(at(&of_text));
  appends_text(at(&of_appended));
  copies_start(at(&of_end));
  answers = compares(at(&compared)) + equals(at(&equal)) + equals_small(at(&small)) + equals_text(at(&text));
  return unused;
}
APART long look(struct block *block) { return block->part[0]; }
int main(void) {
  pthread_t thread;
  prepare();
  pthread_create(&thread, 0, other, 0);
  pthread_join(thread, 0);
  struct block *written[] = {&of_set, &of_cleared, &of_copy, &of_odd_copy, of_long, &of_move, &of_assignment,
                             &of_literal, &of_text, &of_appended, &of_end};
  long sum = answers;
  for (unsigned i = 0; i < sizeof written / sizeof *written; i++) sum += look(written[i]);
  return sum == 1;
}
"#;

const WRITERS: &[&str] = &[
    "sets",
    "clears",
    "copies",
    "copies_odd",
    "copies_much",
    "moves",
    "assigns",
    "assigns_literal",
    "copies_text",
    "appends_text",
    "copies_start",
];

const READERS: &[&str] = &[
    "copies",
    "copies_odd",
    "moves",
    "assigns",
    "compares",
    "equals",
    "equals_small",
    "equals_text",
];

/// Records the program, and gives the functions that wrote what `look` read, and those that read what `prepare` wrote.
fn seen(family: Family, options: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let project = Project::empty();
    project.write("memory.c", SOURCE);
    let built = project.run_wrapped(family, &format!("$CC {options} memory.c -o memory -pthread"));
    assert_eq!((built.exit, built.stderr.as_str()), (Some(0), ""), "{family:?} {options}");
    let lines = project.recorded("./memory");
    let reads: Vec<&Value> = lines.iter().filter(|line| line["kind"] == "Read").collect();
    let pairs = || reads.iter().copied().filter_map(who_read_and_who_wrote);
    (
        pairs().filter(|(reader, _)| reader == "look").map(|(_, writer)| writer).collect(),
        pairs().filter(|(_, writer)| writer == "prepare").map(|(reader, _)| reader).collect(),
    )
}

fn who_read_and_who_wrote(event: &Value) -> Option<(String, String)> {
    let function = |place: &Value| place["function"].as_str().map(str::to_owned);
    let past = event["past"].as_array()?;
    let write = past.iter().find(|past| past["kind"] == "write")?;
    Some((function(&event["place"])?, function(&write["place"])?))
}

fn all_are_seen(family: Family, options: &[&str]) {
    if family.is_missing() {
        return;
    }
    for options in options {
        let (writers, readers) = seen(family, options);
        let lost = |names: &[&'static str], seen: &BTreeSet<String>| -> Vec<&str> {
            names.iter().copied().filter(|name| !seen.contains(*name)).collect()
        };
        let nothing: Vec<&str> = Vec::new();
        assert_eq!(
            (lost(WRITERS, &writers), lost(READERS, &readers)),
            (nothing.clone(), nothing),
            "lost writes and reads with {} {options}",
            family.cc
        );
    }
}

#[test]
fn gcc_loses_no_call_of_a_memory_function() {
    all_are_seen(GCC, &["", "-O2", "-O3"]);
}

#[test]
fn clang_loses_no_call_of_a_memory_function() {
    all_are_seen(CLANG, &["", "-O2"]);
    all_are_seen(CLANG_16, &["-O2"]);
}
