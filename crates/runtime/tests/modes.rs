//! What the options of a recording promise: every shared access, or delays from a seed.

mod support;

use std::collections::BTreeMap;

use support::{Program, count, of_thread};
use unpick_recording::events::Kind;
use unpick_recording::{Action, Event, Histories, Recording};

/// How often each thread read and wrote the byte at `address`.
fn counts(recording: &Recording, address: u64) -> BTreeMap<u16, (usize, usize)> {
    let histories = Histories::within(recording, address..address + 1);
    let mut counts = BTreeMap::new();
    for access in
        histories.locations().flat_map(|location| location.lives).flat_map(|life| life.accesses)
    {
        let (reads, writes): &mut (usize, usize) = counts.entry(access.thread.0).or_default();
        *if access.is_write() { writes } else { reads } += 1;
    }
    counts
}

/// The addresses the program tells.
fn told(text: &[u8]) -> Vec<u64> {
    let text = String::from_utf8_lossy(text);
    let hex =
        |word: &str| u64::from_str_radix(word.trim_start_matches("0x"), 16).expect("an address");
    text.split_whitespace().map(hex).collect()
}

#[test]
fn who_looks_at_an_atomic_in_a_loop_says_so_once() {
    let recording = Program::build("spins.c").record(&[], "full").recording();
    assert!(recording.is_complete(), "{:?}", recording.incompleteness());
    let is_look = |event: &Event<'_>| event.thread.0 == 2 && event.kind() == Kind::Read;
    let looks = recording.events().filter(is_look).count();
    assert!((1..10).contains(&looks), "{looks}");
}

#[test]
fn a_full_recording_tells_what_pipes_and_sockets_order() {
    let program = Program::build("channels.c");
    let orders = |options: &str, thread| {
        let mut lines = of_thread(&program.record(&[], options).recording(), thread);
        lines.retain(|line| line.starts_with("Happens"));
        lines
    };
    let kinds = |lines: Vec<String>| {
        let first = |line: &String| line.split(' ').next().unwrap_or_default().to_owned();
        lines.iter().map(first).collect::<Vec<_>>()
    };
    assert_eq!(kinds(orders("full", 2)), ["HappensBefore", "HappensBefore"]);
    assert_eq!(kinds(orders("full", 1)), ["HappensAfter", "HappensAfter"]);
    assert!(orders("", 1).is_empty() && orders("", 2).is_empty());
}

#[test]
fn a_full_recording_counts_as_the_program_does() {
    for compiler in ["gcc", "clang"].into_iter().filter(|name| support::is_installed(name)) {
        let program = Program::build_using(compiler, "counted.c", support::needed_by(compiler));
        let run = program.record(&[], "full");
        let recording = run.recording();
        assert!(recording.header().is_full() && recording.is_complete());
        let places = told(&run.output.stderr);
        let of_byte = |address: u64, thread: u16| {
            counts(&recording, address).get(&thread).copied().unwrap_or_default()
        };
        let [number, flag, neighbour, table, text] = places[..] else { panic!("{places:?}") };
        assert_eq!(of_byte(number, 2), (1000, 500), "{compiler}: number");
        assert_eq!(of_byte(number, 3), (300, 0));
        assert_eq!(of_byte(flag, 2), (70, 30), "{compiler}: flag");
        assert_eq!(of_byte(neighbour, 2), (200, 200), "{compiler}: neighbour");
        for element in 0..64 {
            assert_eq!(of_byte(table + 8 * element, 2), (10, 5), "{compiler}: table[{element}]");
            assert_eq!(of_byte(table + 8 * element + 7, 3), (1, 0), "{compiler}: table[{element}]");
        }
        assert_eq!(of_byte(text, 2), (7, 0), "{compiler}: text");
        assert_eq!(of_byte(text + 23, 2), (7, 0));
        let of_work = |kind: Kind| {
            recording.events().filter(|event| event.thread.0 == 2 && event.kind() == kind).count()
        };
        assert_eq!((of_work(Kind::Acquire), of_work(Kind::Release)), (200, 200));
        assert_eq!(
            (count(&recording, Kind::ThreadCreate), count(&recording, Kind::ThreadJoin)),
            (2, 2)
        );
    }
}

const DELAYS: &str = "access=20000 sync=300000 start=1000000 shortest=0 longest=3000";

/// For each thread how long its delays were, in turn. Not where they stand among its events: how many accesses in step
/// are told as one depends on where the system loads the program.
fn delays(recording: &Recording) -> Vec<(u16, u64)> {
    let of_thread = |thread| {
        recording.stream(thread).filter_map(move |event| match event.action {
            Action::Delay { nanoseconds } => Some((event.thread.0, nanoseconds)),
            _ => None,
        })
    };
    recording.threads().iter().flat_map(|thread| of_thread(thread.id)).collect()
}

#[test]
fn delays_follow_from_the_seed_and_are_recorded() {
    let program = Program::build("counted.c");
    let record = |options: &str| {
        let recording = program.record(&[], options).recording();
        assert!(recording.is_complete(), "{:?}", recording.incompleteness());
        recording
    };
    let first = record(&format!("seed=7 {DELAYS}"));
    let again = record(&format!("seed=7 {DELAYS}"));
    let other = record(&format!("seed=8 {DELAYS}"));
    assert!(first.header().is_perturbed());
    assert_eq!((first.header().seed, other.header().seed), (7, 8));
    assert_eq!(delays(&first), delays(&again));
    assert_ne!(delays(&first), delays(&other));
    let lengths: Vec<u64> = delays(&first).iter().map(|(.., length)| *length).collect();
    assert!(lengths.len() > 100, "{} delays", lengths.len());
    assert!(lengths.iter().all(|length| *length <= 3000));
    assert_eq!(first.header().delayed, lengths.iter().sum::<u64>());
    for thread in 1..=3 {
        assert!(
            delays(&first).iter().any(|(number, ..)| *number == thread),
            "thread {thread} was delayed"
        );
    }
}

#[test]
fn delays_of_a_run_fit_into_its_budget() {
    let program = Program::build("counted.c");
    let delayed = |options: &str| {
        let delays = "seed=7 access=1000000 shortest=1000 longest=1000";
        program.record(&[], &format!("{delays} {options}")).recording().header().delayed
    };
    assert!(delayed("") > 1_000_000);
    assert!(delayed("budget=1000000000") > 1_000_000, "what fits is not cut");
    let bounded = delayed("budget=50000");
    assert!(
        (13_000..=50_000).contains(&bounded),
        "more than one site, less than the budget: {bounded}"
    );
}

#[test]
fn delays_come_only_where_they_were_asked_for() {
    let program = Program::build("counted.c");
    let number_of_delays = |options: &str| {
        let recording = program.record(&[], options).recording();
        assert_eq!(recording.header().delayed, 0, "yields take no time");
        count(&recording, Kind::Delay)
    };
    assert_eq!(number_of_delays(""), 0);
    assert_eq!(number_of_delays("seed=7 shortest=5 longest=9"), 0, "no probability");
    assert_eq!(number_of_delays("seed=7 start=1000000"), 3, "each thread at its start");
    assert!(number_of_delays("seed=7 sync=1000000") >= 400, "each lock and unlock");
    assert!(number_of_delays("seed=7 access=1000000") >= 2000, "each access to shared bytes");
}
