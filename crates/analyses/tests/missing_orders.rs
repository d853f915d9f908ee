//! Reads that came too early in runs that did not live to show it; and a slow second opinion.

mod traces;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use traces::{address_of, collect, names};
use unpick_analyses::ranking::{Conclusion, Ranked};
use unpick_analyses::{Collector, Formula, LabelledRun, Options, RunPatterns, conclude};
use unpick_events::Label::{self, Fail, Pass};
use unpick_events::file::file_field;
use unpick_events::{Kind, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

/// A run by its trace; an empty one recorded nothing.
fn run(trace: &str, unfinished: bool) -> RunPatterns {
    let patterns = match trace {
        "" => Collector::new(Options::default()).finish(),
        trace => collect(trace, Options::default()),
    };
    RunPatterns { unfinished, ..patterns }
}

fn concluded(runs: &[(Label, RunPatterns)]) -> Conclusion {
    let labelled = runs.iter().zip(1..).map(|((label, patterns), number)| LabelledRun {
        number,
        label: *label,
        patterns,
    });
    conclude(labelled, Formula::Jaccard).unwrap()
}

fn name_of(conclusion: &Conclusion, ranked: &Ranked) -> String {
    let sites = ranked.key.sites().iter().map(|&site| conclusion.code.sites[site as usize].offset);
    ranked.key.pattern.name() + &sites.map(|offset| format!(" {offset}")).collect::<String>()
}

/// Orders that failing runs lack, in the order of their ranks.
fn missing(conclusion: &Conclusion) -> Vec<String> {
    let ranked = conclusion.ranked.iter().filter(|ranked| ranked.missing.is_some());
    ranked.map(|ranked| name_of(conclusion, ranked)).collect()
}

#[test]
fn a_read_is_too_early_if_the_run_ended_before_the_write_that_passing_runs_have() {
    let passing = || (Pass, run("1w x 10, 2r x 20", false));
    let conclusion = concluded(&[passing(), (Fail, run("", true)), passing()]);
    let first = &conclusion.ranked[0];
    assert_eq!(name_of(&conclusion, first), "P1 20 10");
    assert_eq!((first.failed, first.passed, first.score, first.rank), (1, 0, 1.0, 1));
    assert_eq!(first.missing.unwrap().runs, 1);
    let evidence = &conclusion.evidence[0];
    assert_eq!(evidence.failing.iter().collect::<Vec<_>>(), [0]);
    let example = evidence.example.as_ref().unwrap();
    assert_eq!((example.run, example.accesses[0].thread, example.accesses[1].thread), (1, 2, 1));
}

#[test]
fn a_failing_run_that_finished_took_another_way() {
    let passing = (Pass, run("1w x 10, 2r x 20", false));
    assert_eq!(missing(&concluded(&[passing, (Fail, run("", false))])), Vec::<String>::new());
}

#[test]
fn a_failing_run_that_has_the_order_of_passing_runs_lacks_nothing() {
    let trace = "1w x 10, 2r x 20";
    let runs = [(Pass, run(trace, false)), (Fail, run(trace, true))];
    assert_eq!(missing(&concluded(&runs)), Vec::<String>::new());
}

#[test]
fn failing_runs_that_show_the_order_count_together_with_those_that_did_not_live_to() {
    let runs = [
        (Pass, run("1w x 10, 2r x 20", false)),
        (Fail, run("2r x 20, 1w x 10", true)),
        (Fail, run("", true)),
    ];
    let conclusion = concluded(&runs);
    let first = &conclusion.ranked[0];
    assert_eq!(name_of(&conclusion, first), "P1 20 10");
    assert_eq!((first.failed, first.score, first.missing.unwrap().runs), (2, 1.0, 1));
    assert_eq!(conclusion.evidence[0].failing.len(), 2);
    assert_eq!(conclusion.evidence[0].example.as_ref().unwrap().run, 2, "where it was seen");
}

#[test]
fn passing_runs_that_read_first_or_not_at_all_speak_against_it() {
    let runs = [
        (Pass, run("1w x 10, 2r x 20", false)),
        (Pass, run("2r x 20, 1w x 10", false)),
        (Pass, run("", false)),
        (Fail, run("", true)),
    ];
    let conclusion = concluded(&runs);
    let found = conclusion.ranked.iter().find(|ranked| ranked.missing.is_some()).unwrap();
    assert_eq!((found.failed, found.passed, found.score), (1, 2, 1.0 / 3.0));
}

#[test]
fn a_write_or_a_free_that_never_happened_hurts_nobody() {
    let passing = (Pass, run("1r x 10, 2w x 20, 1w y 11, 2w y 21", false));
    assert_eq!(missing(&concluded(&[passing, (Fail, run("", true))])), Vec::<String>::new());
}

#[test]
fn the_earliest_of_the_reads_comes_first() {
    let passing = (Pass, run("1w x 90, 1w y 10, 2r x 80, 2r y 20", false));
    let conclusion = concluded(&[passing, (Fail, run("", true))]);
    assert_eq!(missing(&conclusion), ["P1 80 90", "P1 20 10"]);
}

#[test]
fn an_order_that_was_seen_and_explains_the_failures_stays_above() {
    let passing = "1r x 1, 1w x 2, 2w x 3";
    let runs = [
        (Pass, run(&format!("{passing}, 1w y 10, 2r y 20"), false)),
        (Fail, run("1r x 1, 2w x 3, 1w x 2", true)),
        (Fail, run("1r x 1, 2w x 3, 1w x 2", true)),
    ];
    let conclusion = concluded(&runs);
    assert!(conclusion.ranked[0].missing.is_none() && conclusion.ranked[0].score == 1.0);
    let found = conclusion.ranked.iter().find(|ranked| ranked.missing.is_some()).unwrap();
    assert_eq!(name_of(&conclusion, found), "P1 20 10");
    assert_eq!((found.failed, found.score), (2, 0.9));
    assert_eq!(conclusion.score_with(found, found.passed), 0.9);
}

/// A process with one thread beside the main one.
fn process(has_ended: bool, left_by_exit: bool) -> RunPatterns {
    let mut writer = Writer::new();
    let start = |creator| Draft::new(Kind::ThreadStart).object(creator).word(1);
    writer.write(ThreadId(1), start(0));
    writer.write(ThreadId(2), start(1));
    writer.write(ThreadId(2), Draft::access(Kind::Write, address_of('x'), 8).site(1));
    if has_ended {
        writer.write(ThreadId(2), Draft::new(Kind::ThreadEnd).word(2));
    }
    writer.set(file_field::ORDERLY_EXIT, u64::from(left_by_exit));
    let recording = Recording::from_bytes(&writer.to_bytes(), "process").unwrap();
    let mut collector = Collector::new(Options::default());
    collector.add(&recording, &recording);
    collector.finish()
}

#[test]
fn a_run_is_finished_if_all_threads_ended_and_main_left_by_exit() {
    assert!(!process(true, true).unfinished);
    assert!(process(false, true).unfinished, "a thread was still running");
    assert!(process(true, false).unfinished, "the main thread was killed");
}

/// Straight from the words: all counts of `P1 read write`, or none if no failing run lacks it.
fn naive(runs: &[(Label, RunPatterns)], read: u64, write: u64) -> Option<(u32, u32, u32)> {
    let words = |run: &RunPatterns| -> BTreeSet<String> {
        let hidden = run.hidden_pairs.iter().map(|pair| {
            let [first, second] = pair.sites.map(|site| run.sites[site as usize].offset);
            format!("{} {first} {second}", pair.pattern.name())
        });
        names(run).into_iter().chain(hidden).collect()
    };
    let (early, late) = (format!("P1 {read} {write}"), format!("P2 {write} {read}"));
    let (mut failed, mut passed, mut missing) = (0, 0, 0);
    for (label, run) in runs {
        let has = |order: &String| words(run).contains(order);
        match label {
            Fail if names(run).contains(&early) => failed += 1,
            Fail if run.unfinished && !has(&early) && !has(&late) => missing += 1,
            Pass if has(&early) || !has(&late) => passed += 1,
            _ => {}
        }
    }
    (missing > 0).then_some((failed + missing, passed, missing))
}

fn labelled_run() -> impl Strategy<Value = (Label, RunPatterns)> {
    let step = (1..3_u32, prop_oneof!["r", "w"], prop_oneof!["x", "y"], 0..2_u32);
    let step = step.prop_map(|(thread, deed, variable, site)| {
        format!("{thread}{deed} {variable} {}", 10 * thread + site)
    });
    let trace = prop::collection::vec(step, 0..7).prop_map(|steps| steps.join(", "));
    (trace, any::<bool>(), any::<bool>()).prop_map(|(trace, fails, unfinished)| {
        let label = if fails { Fail } else { Pass };
        (label, run(&trace, unfinished))
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(23),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn counts_agree_with_the_definitions(runs in prop::collection::vec(labelled_run(), 1..8)) {
        let conclusion = concluded(&runs);
        for ranked in conclusion.ranked.iter().filter(|ranked| ranked.missing.is_some()) {
            let [read, write] = [0, 1].map(|at| {
                conclusion.code.sites[ranked.key.sites()[at] as usize].offset
            });
            let counts = (ranked.failed, ranked.passed, ranked.missing.unwrap().runs);
            prop_assert_eq!(Some(counts), naive(&runs, read, write));
        }
        for (place, evidence) in conclusion.evidence.iter().enumerate() {
            prop_assert_eq!(evidence.failing.len(), conclusion.ranked[place].failed as usize);
            prop_assert!(evidence.example.is_some());
        }
    }
}
