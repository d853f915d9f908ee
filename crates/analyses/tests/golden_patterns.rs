//! The worked examples of the papers, as far as patterns go.

mod traces;

use traces::{collect, names};
use unpick_analyses::{Mode, Options, Rows};

/// What the papers define: the access window, and nothing else.
const UNICORN: Options =
    Options { mode: Mode::Unicorn, access_window: 5, pair_window: 100, rows: Rows::ByWindow };
const FALCON: Options = Options { mode: Mode::Falcon, ..UNICORN };

/// Falcon, Fig. 1 (b), trace 2: the statements 1-6-4-2-5-7-3.
const FALCON_TRACE_2: &str = "1r x 1, 1w x 1, 3r x 6, 3w x 6, 2r x 4, 1r y 2, 1w y 2, \
    2r y 5, 2w y 5, 3r y 7, 1r x 3, 1r y 3";

#[test]
fn falcon_figure_2_needs_a_window_of_4() {
    let narrow = names(&collect(FALCON_TRACE_2, Options { access_window: 3, ..FALCON }));
    assert!(narrow.contains(&"P3 1 6".to_owned()), "the pair on x: {narrow:?}");
    assert!(!narrow.contains(&"P2 1 4".to_owned()), "one pair for an access: {narrow:?}");
    assert!(!narrow.iter().any(|name| name.starts_with("P5")), "{narrow:?}");
    let wide = names(&collect(FALCON_TRACE_2, Options { access_window: 4, ..FALCON }));
    assert!(wide.contains(&"P5 2 5 3".to_owned()), "{wide:?}");
    assert!(wide.contains(&"P5 1 6 3".to_owned()), "{wide:?}");
    assert!(!wide.contains(&"P3 1 6".to_owned()), "part of a triple: {wide:?}");
}

#[test]
fn the_window_a_pattern_needed_is_kept() {
    // The example of Falcon's first study: R1 R3 W2 R3 R1 needs a window of 5.
    let run = collect("1r x 1, 3r x 2, 2w x 3, 3r x 4, 1r x 5", FALCON);
    let found =
        run.patterns.iter().find(|found| found.pattern.number() == 4 && found.access_window == 5);
    assert!(found.is_some(), "{:?}", run.patterns);
}

#[test]
fn unicorn_figure_5a_pairs_the_oldest_access_when_it_leaves() {
    let options = Options { access_window: 3, ..UNICORN };
    let found = names(&collect("1r x 1, 2w x 2, 3r x 3, 1r x 4", options));
    assert_eq!(found, ["P2 2 3", "P2 2 4", "P1 1 2", "P4 1 2 4"].sorted());
}

#[test]
fn unicorn_figure_5b_combines_pairs_of_one_and_of_two_variables() {
    let trace = "1r x 1, 2w x 2, 1r x 3, 4w z 4, 2w z 5, 2w y 6, 4w y 7";
    let found = names(&collect(trace, UNICORN));
    let two_pairs: Vec<_> = found.iter().filter(|name| name.split(' ').count() > 3).collect();
    assert_eq!(two_pairs, ["P4 1 2 3", "P9 4 5 6 7"]);
}

#[test]
fn every_pattern_is_found_where_it_is() {
    for (number, trace) in [
        (1, "1r x 1, 2w x 2"),
        (2, "1w x 1, 2r x 2"),
        (3, "1w x 1, 2w x 2"),
        (4, "1r x 1, 2w x 2, 1r x 3"),
        (5, "1w x 1, 2w x 2, 1r x 3"),
        (6, "1w x 1, 2r x 2, 1w x 3"),
        (7, "1r x 1, 2w x 2, 1w x 3"),
        (8, "1w x 1, 2w x 2, 1w x 3"),
        (9, "1w x 1, 2w x 2, 2w y 3, 1w y 4"),
        (10, "1w x 1, 2w y 2, 2w x 3, 1w y 4"),
        (11, "1w x 1, 2w y 2, 1w y 3, 2w x 4"),
        (12, "1w x 1, 2r x 2, 2r y 3, 1w y 4"),
        (13, "1w x 1, 2r y 2, 2r x 3, 1w y 4"),
        (14, "1r x 1, 2w x 2, 2w y 3, 1r y 4"),
        (15, "1r x 1, 2w y 2, 2w x 3, 1r y 4"),
        (16, "1r x 1, 2w y 2, 1r y 3, 2w x 4"),
        (17, "1w x 1, 2r y 2, 1w y 3, 2r x 4"),
    ] {
        let run = collect(trace, UNICORN);
        let all_sites: String =
            (1..=trace.split(',').count()).map(|site| format!(" {site}")).collect();
        let mut longest = names(&run);
        longest.retain(|name| name.ends_with(&all_sites));
        assert_eq!(longest, [format!("P{number}{all_sites}")], "{trace}");
    }
}

#[test]
fn a_read_modify_write_is_a_read_then_a_write() {
    let found = names(&collect("1u x 1, 2w x 2", UNICORN));
    assert_eq!(found, ["P3 1 2"], "the write stands for the read before it");
    let found = names(&collect("1r x 1, 2u x 2, 1r x 3", UNICORN));
    assert!(found.contains(&"P4 1 2 3".to_owned()), "{found:?}");
}

#[test]
fn no_pattern_joins_two_lives_of_memory() {
    assert_eq!(names(&collect("1w x 1, 0g x 0, 2r x 2", UNICORN)), Vec::<String>::new());
}

#[test]
fn copies_of_a_structure_meet_once() {
    let run = collect("1w x 1, 1w y 2, 1w xy 3, 2r xy 4, 1w xy 5", UNICORN);
    assert_eq!(names(&run), ["P1 4 5", "P2 3 4", "P6 3 4 5"].sorted());
    assert_eq!(run.pairs, 2);
}

#[test]
fn the_pair_window_bounds_how_far_pairs_are_apart() {
    // Between the pair on x and the one on y stand two pairs of other threads.
    let trace = "1w x 1, 2w x 2, 3w a 3, 4w a 4, 3w b 5, 4w b 6, 2w y 7, 1w y 8";
    let with = |pair_window| names(&collect(trace, Options { pair_window, ..UNICORN }));
    assert!(with(3).contains(&"P9 1 2 7 8".to_owned()));
    assert!(!with(2).contains(&"P9 1 2 7 8".to_owned()));
    let run = collect(trace, UNICORN);
    let p9 = run.patterns.iter().find(|found| found.pattern.number() == 9).unwrap();
    assert_eq!(p9.pair_distance, 4, "both pairs count, as in the paper");
}

trait Sorted {
    fn sorted(self) -> Vec<String>;
}

impl<const N: usize> Sorted for [&str; N] {
    /// In the order in which results are: by number of the pattern, then by site.
    fn sorted(self) -> Vec<String> {
        let mut names: Vec<String> = self.iter().map(|&name| name.to_owned()).collect();
        names.sort_by_key(|name| {
            let mut words = name.split(' ');
            let number: u8 = words.next().unwrap()[1..].parse().unwrap();
            (number, words.map(|word| word.parse::<u32>().unwrap()).collect::<Vec<_>>())
        });
        names
    }
}

/// A lost update: deposit by 1, then 2 writes between the read and the write of 1's next deposit.
#[test]
fn a_lost_update_after_an_own_write_is_seen_where_the_row_was_torn() {
    let trace = "1r x 1, 1w x 2, 1r x 1, 2r x 1, 2w x 2, 1w x 2";
    let window_only = names(&collect(trace, UNICORN));
    assert!(!window_only.contains(&"P7 1 2 2".to_owned()), "{window_only:?}");
    let with_rows = names(&collect(trace, Options { rows: Rows::Torn, ..UNICORN }));
    assert!(with_rows.contains(&"P7 1 2 2".to_owned()), "{with_rows:?}");
}
