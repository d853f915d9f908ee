//! Orders to try: which there are, which are impossible, which come first; and a slow second opinion.

mod traces;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use traces::{Deed, Step, address_of, collect, collect_steps, names};
use unpick_analyses::interleaving_patterns::FoundPattern;
use unpick_analyses::{Collector, Options, RunPatterns, Unseen, UnseenOrder};
use unpick_events::Label::{self, Fail, Pass, Unusable};
use unpick_events::{Kind, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

fn in_words(run: &RunPatterns, found: &FoundPattern) -> String {
    let sites = run.sites_of(found).map(|site| run.sites[site as usize].offset);
    found.pattern.name() + &sites.map(|offset| format!(" {offset}")).collect::<String>()
}

/// What a run might have done, in words: `P7 1 2 3`.
fn possible_in(run: &RunPatterns) -> Vec<String> {
    run.possible.iter().map(|found| in_words(run, found)).collect()
}

fn possible(trace: &str) -> Vec<String> {
    possible_in(&collect(trace, Options::default()))
}

/// What no run had, the most promising first.
fn unseen(runs: &[(Label, &str)]) -> Vec<String> {
    let mut unseen = Unseen::default();
    for ((label, trace), number) in runs.iter().zip(1..) {
        unseen.add(number, *label, &collect(trace, Options::default()));
    }
    let unseen = unseen.finish();
    let name = |site: &u32| format!(" {}", unseen.code.sites[*site as usize].offset);
    let orders = unseen.orders.iter();
    orders
        .map(|order| {
            order.key.pattern.name() + &order.key.sites().iter().map(name).collect::<String>()
        })
        .collect()
}

/// What passing runs had and failing ones had not, the rarest first.
fn shown(runs: &[(Label, &str)]) -> Vec<String> {
    let mut unseen = Unseen::default();
    for ((label, trace), number) in runs.iter().zip(1..) {
        unseen.add(number, *label, &collect(trace, Options::default()));
    }
    let unseen = unseen.finish();
    let name = |site: &u32| format!(" {}", unseen.code.sites[*site as usize].offset);
    let words = |order: &UnseenOrder| {
        order.key.pattern.name() + &order.key.sites().iter().map(name).collect::<String>()
    };
    unseen.shown.iter().map(words).collect()
}

#[test]
fn an_order_that_some_threads_had_is_tried_again_unless_a_run_failed_with_it() {
    let between_workers = "2r x 10, 3w x 20, 2w x 20";
    assert!(!unseen(&[(Pass, between_workers)]).contains(&"P7 10 20 20".to_owned()));
    assert_eq!(shown(&[(Pass, between_workers)]), ["P7 10 20 20"]);
    let failed = [(Pass, between_workers), (Fail, between_workers)];
    assert_eq!(shown(&failed), Vec::<String>::new());
    assert_eq!(shown(&[(Unusable, between_workers)]), Vec::<String>::new());
}

#[test]
fn of_orders_that_runs_had_the_rarest_comes_first_and_three_writes_never() {
    let runs = [
        (Pass, "1r x 1, 2w x 2, 1w x 3"),
        (Pass, "1r x 1, 2w x 2, 1w x 3"),
        (Pass, "1w y 4, 2r y 5, 1w y 6"),
        (Pass, "1w z 7, 2w z 8, 1w z 9"),
    ];
    assert_eq!(shown(&runs), ["P6 4 5 6", "P7 1 2 3"]);
}

#[test]
fn a_pair_might_have_come_the_other_way_round() {
    assert_eq!(possible("1w x 10, 2r x 20"), ["P1 20 10"]);
    assert_eq!(possible("1r x 10, 2w x 20"), ["P2 20 10"]);
    assert_eq!(possible("1r x 10, 2r x 20"), Vec::<String>::new());
}

#[test]
fn a_pair_that_came_both_ways_is_no_order_to_try() {
    assert_eq!(possible("1w x 10, 2r x 20, 1w x 10"), Vec::<String>::new());
    let both = [(Pass, "1w x 10, 2r x 20"), (Pass, "2r x 20, 1w x 10")];
    assert_eq!(unseen(&both), Vec::<String>::new());
    let seen_failing = [(Pass, "1w x 10, 2r x 20"), (Fail, "2r x 20, 1w x 10")];
    assert_eq!(unseen(&seen_failing), Vec::<String>::new());
}

#[test]
fn only_passing_runs_say_what_to_try() {
    assert_eq!(unseen(&[(Pass, "1w x 10, 2r x 20")]), ["P1 20 10"]);
    assert_eq!(unseen(&[(Fail, "1w x 10, 2r x 20")]), Vec::<String>::new());
    assert_eq!(unseen(&[(Unusable, "1w x 10, 2r x 20")]), Vec::<String>::new());
    let unusable_counts_for_nothing = [(Pass, "1w x 10, 2r x 20"), (Unusable, "2r x 20, 1w x 10")];
    assert_eq!(unseen(&unusable_counts_for_nothing), ["P1 20 10"]);
}

#[test]
fn another_thread_might_have_come_between_a_check_and_an_act() {
    let apart = possible("1r x 10, 1w x 11, 2w x 20");
    assert!(apart.contains(&"P7 10 20 11".to_owned()), "{apart:?}");
    let between = collect("1r x 10, 2w x 20, 1w x 11", Options::default());
    assert!(names(&between).contains(&"P7 10 20 11".to_owned()));
    assert!(!possible_in(&between).contains(&"P7 10 20 11".to_owned()));
}

#[test]
fn an_atomic_update_has_no_gap() {
    let gaps = possible("1u x 10, 2w x 20").into_iter().filter(|order| order.starts_with("P7"));
    assert_eq!(gaps.count(), 0);
}

#[test]
fn of_two_threads_at_the_same_code_the_second_may_go_on_like_the_first() {
    let sold_once = possible("1r x 10, 1w x 11, 2r x 10");
    assert!(sold_once.contains(&"P7 10 11 11".to_owned()), "{sold_once:?}");
    let other_code = possible("1r x 10, 1w x 11, 2r x 20");
    assert!(!other_code.contains(&"P7 10 11 11".to_owned()), "{other_code:?}");
}

/// A program in which thread 1 starts thread 2 and waits for its end.
struct Program(Writer);

const LOCK: u64 = 0x5000;

impl Program {
    fn new() -> Program {
        Program(Writer::new())
    }

    fn event(mut self, thread: u16, kind: Kind, object: u64) -> Program {
        self.0.write(ThreadId(thread), Draft::new(kind).object(object).site(99));
        self
    }

    fn does(mut self, thread: u16, kind: Kind, site: u32) -> Program {
        let draft = Draft::access(kind, address_of('x'), 8).site(site);
        self.0.write(ThreadId(thread), draft);
        self
    }

    fn possible(self) -> Vec<String> {
        let recording = Recording::from_bytes(&self.0.to_bytes(), "program").unwrap();
        let mut collector = Collector::new(Options::default());
        collector.add(&recording, &recording);
        possible_in(&collector.finish())
    }
}

#[test]
fn what_comes_before_the_start_of_a_thread_or_after_its_end_cannot_come_otherwise() {
    let ordered = Program::new()
        .does(1, Kind::Write, 10)
        .event(1, Kind::ThreadCreate, 2)
        .does(2, Kind::Read, 20)
        .event(1, Kind::ThreadJoin, 2)
        .does(1, Kind::Write, 30);
    assert_eq!(ordered.possible(), Vec::<String>::new());
    let at_once = Program::new()
        .event(1, Kind::ThreadCreate, 2)
        .does(1, Kind::Write, 10)
        .does(2, Kind::Read, 20)
        .event(1, Kind::ThreadJoin, 2);
    assert_eq!(at_once.possible(), ["P1 20 10"]);
}

#[test]
fn what_the_starter_of_a_thread_had_joined_cannot_meet_that_thread() {
    let one_after_the_other = Program::new()
        .event(1, Kind::ThreadCreate, 2)
        .does(2, Kind::Write, 10)
        .event(1, Kind::ThreadJoin, 2)
        .event(1, Kind::ThreadCreate, 3)
        .does(3, Kind::Write, 20);
    assert_eq!(one_after_the_other.possible(), Vec::<String>::new());
}

fn check_and_act(is_one_section: bool) -> Vec<String> {
    let mut program = Program::new().event(1, Kind::Acquire, LOCK).does(1, Kind::Read, 10);
    if !is_one_section {
        program = program.event(1, Kind::Release, LOCK).event(1, Kind::Acquire, LOCK);
    }
    program
        .does(1, Kind::Write, 11)
        .event(1, Kind::Release, LOCK)
        .event(2, Kind::Acquire, LOCK)
        .does(2, Kind::Write, 20)
        .event(2, Kind::Release, LOCK)
        .possible()
}

#[test]
fn a_lock_that_is_kept_closes_a_gap_and_one_that_is_given_back_does_not() {
    let gap = "P7 10 20 11".to_owned();
    assert!(!check_and_act(true).contains(&gap));
    assert!(check_and_act(false).contains(&gap));
}

#[test]
fn kinds_have_their_turns_and_what_is_rare_comes_first() {
    let often = "1w y 50, 2r y 60, 1w y 51, 2r y 60, 1w y 51, 2r y 60";
    let orders = unseen(&[(Pass, &format!("{often}, 1w x 10, 2r x 20, 1r z 1, 1w z 2, 2w z 3"))]);
    assert_eq!(orders[..3], ["P7 1 3 2", "P1 20 10", "P3 3 2"][..], "{orders:?}");
    let place = |order: &str| orders.iter().position(|other| other == order).unwrap();
    assert!(place("P1 20 10") < place("P1 60 50"), "{orders:?}");
}

#[test]
fn what_is_stored_is_read_again_with_what_was_possible() {
    let run = collect("1r x 10, 1w x 11, 2w x 20", Options::default());
    assert!(!run.possible.is_empty());
    assert_eq!(RunPatterns::from_bytes(&run.to_bytes(), "stored").unwrap(), run);
}

/// An access to one variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    thread: u16,
    is_write: bool,
    site: u32,
}

/// The accesses to each variable, life by life.
fn lives(steps: &[Step]) -> Vec<Vec<Seen>> {
    let mut lives = Vec::new();
    for variable in 'x'..='z' {
        let mut life = Vec::new();
        for step in steps.iter().filter(|step| step.variables.contains(variable)) {
            let seen = |is_write| Seen { thread: step.thread, is_write, site: step.site };
            match step.deed {
                Deed::Read => life.push(seen(false)),
                Deed::Write => life.push(seen(true)),
                Deed::Update => life.extend([seen(false), seen(true)]),
                Deed::Gone => lives.push(std::mem::take(&mut life)),
            }
        }
        lives.push(life);
    }
    lives
}

/// The accesses that an access window keeps: one of each row.
fn kept(life: &[Seen]) -> Vec<Seen> {
    let mut kept: Vec<Seen> = Vec::new();
    for access in life {
        match kept.last_mut() {
            Some(last) if last.thread == access.thread => {
                if access.is_write || !last.is_write {
                    *last = *access;
                }
            }
            _ => kept.push(*access),
        }
    }
    kept
}

fn word(pattern: &str, accesses: &[Seen]) -> String {
    pattern.to_owned() + &accesses.iter().map(|one| format!(" {}", one.site)).collect::<String>()
}

fn turned(life: &[Seen], window: usize) -> Vec<String> {
    let kept = kept(life);
    let mut words = Vec::new();
    for first in 0..kept.len() {
        for second in first + 1..kept.len().min(first + window) {
            let (one, two) = (kept[first], kept[second]);
            let pattern = match (two.is_write, one.is_write) {
                _ if one.thread == two.thread => continue,
                (false, false) => continue,
                (false, true) => "P1",
                (true, false) => "P2",
                (true, true) => "P3",
            };
            words.push(word(pattern, &[two, one]));
        }
    }
    words
}

/// Every two neighbours of one thread, with every access of anybody between them.
fn gaps(life: &[Seen]) -> Vec<String> {
    let mut words = Vec::new();
    for neighbours in life.windows(2) {
        let (first, last) = (neighbours[0], neighbours[1]);
        let is_update = first.site == last.site && first.is_write != last.is_write;
        if first.thread != last.thread || is_update {
            continue;
        }
        for middle in life {
            let begins = |one: &Seen| (one.site, one.is_write) == (first.site, first.is_write);
            let by_another = |one: &&Seen| begins(one) && one.thread != middle.thread;
            let is_possible = life.iter().find(by_another).is_some();
            let pattern = match (first.is_write, middle.is_write, last.is_write) {
                (false, true, false) => "P4",
                (true, true, false) => "P5",
                (true, false, true) => "P6",
                (false, true, true) => "P7",
                (true, true, true) => "P8",
                _ => continue,
            };
            if is_possible {
                words.push(word(pattern, &[first, *middle, last]));
            }
        }
    }
    words
}

/// Straight from the words: what there might have been, but for what there was.
fn naive(steps: &[Step], window: usize, run: &RunPatterns) -> BTreeSet<String> {
    let mut possible = BTreeSet::new();
    for life in lives(steps).iter().filter(|life| kept(life).len() > 1) {
        possible.extend(turned(life, window));
        possible.extend(gaps(life));
    }
    for shown in run.patterns.iter().map(|found| in_words(run, found)) {
        possible.remove(&shown);
    }
    for hidden in &run.hidden_pairs {
        let [first, second] = hidden.sites.map(|site| run.sites[site as usize].offset);
        possible.remove(&format!("{} {first} {second}", hidden.pattern.name()));
    }
    possible
}

fn step() -> impl Strategy<Value = Step> {
    let deed = prop_oneof![
        8 => Just(Deed::Read), 8 => Just(Deed::Write), 2 => Just(Deed::Update), 1 => Just(Deed::Gone),
    ];
    let variables = prop_oneof![6 => Just("x"), 3 => Just("y"), 1 => Just("z"), 1 => Just("xy")];
    (1..4_u16, deed, variables, 1..6_u32).prop_map(|(thread, deed, variables, site)| Step {
        thread,
        deed,
        variables: variables.to_owned(),
        site,
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400,
        rng_seed: RngSeed::Fixed(17),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_possible_agrees_with_the_definitions(
        steps in prop::collection::vec(step(), 0..30), access_window in 2..7_u32,
    ) {
        let run = collect_steps(&steps, Options { access_window, ..Options::default() });
        let found: BTreeSet<String> = possible_in(&run).into_iter().collect();
        prop_assert_eq!(found, naive(&steps, access_window as usize, &run));
    }
}
