//! Library calls that touch memory are accesses at their call site.

mod story;
mod support;

use story::Story;
use support::Program;

fn check_accesses(program: &Program) {
    let story = Story::of(program.check().recording(), "library_calls.c");
    let accesses = story.accesses();
    for expected in [
        "2 reads in copies, written by 1 in prepares",
        "2 reads in compares, written by 1 in prepares_others",
        "2 reads in searches, written by 1 in prepares_others",
        "1 reads in looks, written by 2 in copies",
        "1 reads in looks, written by 2 in moves",
        "1 reads in looks, written by 2 in fills",
        "1 reads in looks, written by 2 in copies_text",
        "1 reads in looks, written by 2 in joins",
        "1 reads in looks_at_input, written by 2 in reads_in",
        "1 reads in looks_at_input, written by 2 in reads_parts",
        "1 reads in looks_at_input, written by 2 in receives",
    ] {
        assert!(accesses.iter().any(|line| line == expected), "{expected}\n{accesses:#?}");
    }
}

#[test]
fn copies_and_input_are_accesses_at_the_line_of_the_call() {
    check_accesses(&Program::build_with("library_calls.c", &["-fno-builtin"]));
}

#[test]
fn clang_and_checked_functions_give_the_same_accesses() {
    if !support::is_installed("clang") {
        return;
    }
    check_accesses(&Program::build_using("clang", "library_calls.c", &["-fno-builtin"]));
    check_accesses(&Program::build_with(
        "library_calls.c",
        &["-fno-builtin", "-D_FORTIFY_SOURCE=2"],
    ));
}

#[test]
fn a_thread_cancelled_in_a_library_call_unwinds_as_without_us() {
    Program::build("cancelled_read.cc").check();
}
