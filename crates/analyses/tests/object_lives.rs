//! The ends of locks and of variables: destroyed or freed before another thread is done with them, for want of a join. Each order has a twin
//! that is right, and silent.

mod traces;

use traces::{address_of, names};
use unpick_analyses::interleaving_patterns::Touch;
use unpick_analyses::races_happens_before::races;
use unpick_analyses::{Collector, Formula, LabelledRun, Options, RunPatterns, conclude};
use unpick_events::Label::{self, Fail, Pass};
use unpick_events::access::PastKind;
use unpick_events::kind::access_flags::{FREE, LIBRARY};
use unpick_events::{Kind, Past, Site, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

/// A program as the runtime records it: `1c 2` starts thread 2, `1j 2` joins it; `2l m 10` locks m, `2u m 11` unlocks it, `1i m 5` initialises it,
/// `1d m 30` destroys it, `1b m 30` tries to and is told that it is busy; `1m x` allocates x, `1f x 30` frees it, `1r x 20` and
/// `1w x 20` access it; `1g x 30` leaves the frame of x at 30 (0: nobody is known to need it), and `2a x 20` reads it after thread 1 left it at 30.
fn recorded(program: &str) -> Recording {
    let mut writer = Writer::new();
    for step in program.split(',') {
        let words: Vec<&str> = step.split_whitespace().collect();
        let thread = ThreadId(words[0][..1].parse().unwrap());
        for draft in drafts_of(&words) {
            writer.write(thread, draft);
        }
    }
    Recording::from_bytes(&writer.to_bytes(), "program").unwrap()
}

fn drafts_of(words: &[&str]) -> Vec<Draft> {
    let site = || words[2].parse().unwrap();
    let bytes = || address_of(words[1].chars().next().unwrap());
    let other = || words[1].parse().unwrap();
    let access = |kind, flags| Draft::access(kind, bytes(), 8).flags(flags).site(site());
    let lock = |kind| Draft::new(kind).object(bytes()).site(site());
    match &words[0][1..] {
        "c" => vec![Draft::new(Kind::ThreadCreate).object(other()).site(99)],
        "j" => vec![Draft::new(Kind::ThreadJoin).object(other()).site(99)],
        "l" => vec![access(Kind::Read, LIBRARY), lock(Kind::Acquire)],
        "u" => vec![access(Kind::Read, LIBRARY), lock(Kind::Release)],
        "i" | "b" => vec![access(Kind::Write, LIBRARY)],
        "d" => vec![access(Kind::Write, LIBRARY | FREE)],
        "m" => {
            let by: u64 = words[0][..1].parse().unwrap();
            vec![Draft::new(Kind::Block).object(bytes()).site(98).word(8).word(by | 1 << 32)]
        }
        "f" => vec![access(Kind::Write, FREE)],
        "g" => vec![Draft::new(Kind::StackGone).object(bytes()).word(8).site(site())],
        "a" => {
            let left =
                Past { kind: PastKind::Write, thread: ThreadId(1), site: Site(30), ordinal: 2 };
            vec![access(Kind::Read, 0).past(left)]
        }
        "r" => vec![access(Kind::Read, 0)],
        "w" => vec![access(Kind::Write, 0)],
        other => panic!("no step {other}"),
    }
}

fn run(program: &str) -> RunPatterns {
    let recording = recorded(program);
    let mut collector = Collector::new(Options::default());
    collector.add(&recording, &recording);
    collector.finish()
}

/// The patterns that all failing runs have, and no passing one: `P2 30 11`.
fn telling(runs: &[(Label, &str)]) -> Vec<String> {
    let runs: Vec<(Label, RunPatterns)> =
        runs.iter().map(|(label, program)| (*label, run(program))).collect();
    let labelled = runs.iter().zip(1..).map(|((label, patterns), number)| LabelledRun {
        number,
        label: *label,
        patterns,
    });
    let conclusion = conclude(labelled, Formula::Jaccard).unwrap();
    let first = conclusion.ranked.iter().filter(|ranked| ranked.score == 1.0);
    let name = |ranked: &unpick_analyses::ranking::Ranked| {
        let sites = ranked.key.sites().iter();
        let sites = sites.map(|&site| conclusion.code.sites[site as usize].offset.to_string());
        [ranked.key.pattern.name()].into_iter().chain(sites).collect::<Vec<_>>().join(" ")
    };
    first.map(name).collect()
}

fn racing(program: &str) -> Vec<[u32; 2]> {
    let recording = recorded(program);
    let pairs = races(&recording, &recording).into_pairs();
    pairs.iter().map(|pair| [pair.first.site.0, pair.second.site.0]).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn a_mutex_destroyed_before_its_unlock_is_an_order_of_both_lines() {
    let right_order = (Pass, "1i m 5, 1c 2, 2l m 10, 2u m 11, 1d m 30, 1j 2");
    let too_early =
        telling(&[right_order, (Fail, "1i m 5, 1c 2, 2l m 10, 1d m 30, 2u m 11, 1j 2")]);
    assert!(too_early.contains(&"P2 30 11".to_owned()), "{too_early:?}");
    let refused = telling(&[right_order, (Fail, "1i m 5, 1c 2, 2l m 10, 1b m 30, 2u m 11, 1j 2")]);
    assert!(refused.contains(&"P2 30 11".to_owned()), "{refused:?}");
}

#[test]
fn a_mutex_whose_memory_is_freed_before_its_lock_is_an_order_of_both_lines() {
    let passing = (Pass, "1m m, 1i m 5, 1c 2, 2l m 10, 2u m 11, 1f m 30, 2r y 1, 1w y 2");
    let failing = (Fail, "1m m, 1i m 5, 1c 2, 1f m 30, 2l m 10");
    assert_eq!(telling(&[passing, failing]), ["P2 30 10"]);
}

#[test]
fn what_a_thread_uses_after_its_owner_went_on_without_a_join_is_an_order_of_both_lines() {
    let freed = telling(&[
        (Pass, "1m x, 1w x 5, 1c 2, 2r x 20, 1f x 30, 2r y 1, 1w y 2"),
        (Fail, "1m x, 1w x 5, 1c 2, 1f x 30, 2r x 20"),
    ]);
    assert_eq!(freed, ["P2 30 20"]);
    let torn_down = telling(&[
        (Pass, "1w g 5, 1c 2, 2r g 20, 1w g 30"),
        (Fail, "1w g 5, 1c 2, 1w g 30, 2r g 20"),
    ]);
    assert_eq!(torn_down, ["P2 30 20"]);
}

#[test]
fn a_frame_that_is_left_before_a_thread_has_used_its_part_of_it_is_an_order_of_both_lines() {
    let runs = [(Pass, "1w x 5, 1c 2, 2r x 20, 1g x 0"), (Fail, "1w x 5, 1c 2, 1g x 30, 2a x 20")];
    assert_eq!(telling(&runs), ["P2 30 20"]);
    let failing = run(runs[1].1);
    let touches: Vec<_> =
        failing.example(&failing.patterns[0]).map(|access| access.touch).collect();
    assert_eq!(touches, [Touch::Free, Touch::Read]);
}

#[test]
fn behind_a_join_the_end_of_an_object_is_no_pattern_and_no_race() {
    let destroyed = "1i m 5, 1c 2, 2l m 10, 2u m 11, 1j 2, 1d m 30";
    let freed = "1m x, 1w x 5, 1c 2, 2r x 20, 1j 2, 1f x 30";
    for program in [destroyed, freed] {
        assert_eq!(names(&run(program)), NONE, "{program}");
        assert_eq!(racing(program), [[0; 2]; 0], "{program}");
    }
    let without_join = racing("1i m 5, 1c 2, 2l m 10, 2u m 11, 1d m 30");
    assert!(without_join.contains(&[11, 30]), "{without_join:?}");
}

#[test]
fn a_mutex_that_is_only_used_is_no_variable() {
    let used = "1i m 5, 1c 2, 1l m 8, 1u m 9, 2l m 10, 2u m 11, 1l m 8, 1u m 9";
    assert_eq!(names(&run(used)), NONE);
    assert_eq!(racing(used), [[0; 2]; 0]);
}
