//! The heap: blocks are known by where they were allocated, and no pattern joins two lives of an address.

mod story;
mod support;

use story::Story;
use support::Program;

fn story_of(source: &str) -> Story {
    Story::of(Program::build(source).check().recording(), source)
}

#[test]
fn freeing_is_the_last_write_of_a_life_and_later_accesses_meet_it() {
    let accesses = story_of("heap_lives.c").accesses();
    for expected in [
        "2 reads in reads_known, written by 1 in writes_known",
        "1 frees in frees_known, read by 2 in reads_known",
        "2 reads in reads_freed, freed by 1 in frees_known",
        "2 reads in reads_unknown, freed by 1 in frees_unknown",
        "2 reads in reads_untouched, freed by 1 in frees_untouched",
    ] {
        assert!(accesses.iter().any(|line| line == expected), "{expected}\n{accesses:#?}");
    }
}

#[test]
fn a_block_is_announced_when_it_becomes_shared_even_after_it_was_freed() {
    let blocks = story_of("heap_lives.c");
    assert_eq!(
        blocks.blocks(),
        [("allocates_known", 64), ("allocates_unknown", 64), ("allocates_untouched", 64)]
    );
}

#[test]
fn nothing_joins_two_lives_of_an_address() {
    let run = Program::build("heap_lives.c").check();
    assert_eq!(String::from_utf8_lossy(&run.output.stdout), "reused 1\n");
    let accesses = Story::of(run.recording(), "heap_lives.c").accesses();
    assert!(
        accesses.iter().all(|line| !line.contains("first") && !line.contains("second_write")),
        "{accesses:#?}"
    );
}

#[test]
fn every_way_to_allocate_gives_a_known_block_and_answers_as_without_us() {
    let story = story_of("heap_variants.c");
    let expected = [
        ("malloc", 24),
        ("calloc", 24),
        ("realloc", 40),
        ("reallocarray", 40),
        ("memalign", 48),
        ("aligned_alloc", 128),
        ("posix_memalign", 56),
        ("valloc", 60),
        ("strdup", 32),
        ("grown", 100_000),
        ("shrunk", 16),
    ];
    assert_eq!(story.blocks(), expected);
}

#[test]
fn a_block_that_moves_is_read_and_freed_where_it_is_resized() {
    let accesses = story_of("heap_realloc.c").accesses();
    for expected in [
        "1 reads in resizes, written by 2 in fills",
        "1 frees in resizes",
        "3 reads in reads_moved, written by 1 in resizes",
    ] {
        assert!(
            accesses.iter().any(|line| line.starts_with(expected)),
            "{expected}\n{accesses:#?}"
        );
    }
}

#[test]
fn memory_that_is_hardly_touched_stays_cheap() {
    Program::build("heap_large.c").check();
}

#[test]
fn a_program_keeps_its_own_allocator() {
    Program::build("own_malloc.c").check().recording();
}

#[test]
fn operators_of_cplusplus_are_known_by_the_line_that_uses_them_and_still_throw() {
    let story = story_of("operators.cc");
    let blocks = story.blocks();
    assert!(blocks.contains(&("new", 32)) && blocks.contains(&("new_array", 96)), "{blocks:?}");
}

#[test]
fn clang_code_gives_the_same_story() {
    if !support::is_installed("clang") {
        return;
    }
    let program = Program::build_using("clang", "heap_lives.c", &[]);
    let accesses = Story::of(program.check().recording(), "heap_lives.c").accesses();
    for expected in [
        "2 reads in reads_freed, freed by 1 in frees_known",
        "2 reads in reads_unknown, freed by 1 in frees_unknown",
    ] {
        assert!(accesses.iter().any(|line| line == expected), "{expected}\n{accesses:#?}");
    }
}
