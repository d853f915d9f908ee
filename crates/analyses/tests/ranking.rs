//! Scores and ranks: the papers' examples, and a slow second opinion.

mod traces;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use traces::{collect, names};
use unpick_analyses::ranking::{Conclusion, Ranked};
use unpick_analyses::{Formula, LabelledRun, Mode, Options, RunPatterns, conclude};
use unpick_events::Label;

fn concluded(runs: &[(Label, RunPatterns)], formula: Formula) -> Conclusion {
    let labelled = runs.iter().zip(1..).map(|((label, patterns), number)| LabelledRun {
        number,
        label: *label,
        patterns,
    });
    conclude(labelled, formula).unwrap()
}

fn name_of(conclusion: &Conclusion, ranked: &Ranked) -> String {
    let sites = ranked.key.sites().iter().map(|&site| conclusion.code.sites[site as usize].offset);
    let words = sites.map(|offset| format!(" {offset}")).collect::<String>();
    ranked.key.pattern.name() + &words
}

fn scores(conclusion: &Conclusion) -> BTreeMap<String, f64> {
    conclusion.ranked.iter().map(|ranked| (name_of(conclusion, ranked), ranked.score)).collect()
}

fn runs(traces: &[(Label, &str)], options: Options) -> Vec<(Label, RunPatterns)> {
    traces.iter().map(|(label, trace)| (*label, collect(trace, options))).collect()
}

#[test]
fn falcon_figure_1() {
    let x_by_3 = "1r x 1, 1w x 1, 3r x 6, 3w x 6, 2r x 4";
    let x_by_2 = "1r x 1, 1w x 1, 2r x 4, 2w x 4, 3r x 6";
    let y_by_3 = "1r y 2, 1w y 2, 3r y 7, 3w y 7, 2r y 5";
    let y_by_2 = "1r y 2, 1w y 2, 2r y 5, 2w y 5, 3r y 7";
    let check = "1r x 3, 1r y 3";
    let traces = [(x_by_3, y_by_3), (x_by_3, y_by_2), (x_by_2, y_by_3), (x_by_2, y_by_2)]
        .map(|(x, y)| format!("{x}, {y}, {check}"));
    let labels = [Label::Pass, Label::Pass, Label::Pass, Label::Fail];
    let labelled: Vec<_> = labels.into_iter().zip(traces.iter().map(String::as_str)).collect();
    let options = Options { mode: Mode::Falcon, ..Options::default() };
    let scores = scores(&concluded(&runs(&labelled, options), Formula::Jaccard));
    assert_eq!(scores["P5 1 6 3"], 0.0);
    assert_eq!(scores["P5 1 4 3"], 0.5);
    assert_eq!(scores["P5 2 7 3"], 0.0);
    assert_eq!(scores["P5 2 5 3"], 0.5);
}

/// TABLE is x, LOG is y; thread 1 writes them at 1 and 4, thread 2 at 2 and 3.
fn unicorn_table_2() -> Conclusion {
    let first_then_second = "1w x 1, 2w x 2, 1w y 4, 2w y 3";
    let second_then_first = "2w x 2, 1w x 1, 2w y 3, 1w y 4";
    let torn = "1w x 1, 2w x 2, 2w y 3, 1w y 4";
    let traces = [
        (Label::Pass, first_then_second),
        (Label::Pass, second_then_first),
        (Label::Pass, first_then_second),
        (Label::Pass, second_then_first),
        (Label::Fail, torn),
        (Label::Fail, torn),
    ];
    concluded(&runs(&traces, Options::default()), Formula::Jaccard)
}

#[test]
fn unicorn_table_2_scores() {
    let scores = scores(&unicorn_table_2());
    let expected =
        [("P3 1 2", 0.5), ("P3 3 4", 0.5), ("P3 2 1", 0.0), ("P3 4 3", 0.0), ("P9 1 2 3 4", 1.0)];
    let expected = expected.into_iter().map(|(name, score)| (name.to_owned(), score)).collect();
    assert_eq!(scores, expected);
}

#[test]
fn the_figures_of_a_study_are_kept() {
    let conclusion = unicorn_table_2();
    assert_eq!(name_of(&conclusion, &conclusion.ranked[0]), "P9 1 2 3 4");
    let figures = conclusion.study(0);
    assert_eq!(
        (figures.first_pair, figures.second_pair, figures.pattern),
        (Some(0.5), Some(0.5), 1.0)
    );
    assert_eq!((figures.rank, figures.at_rank_1, figures.pairs, figures.patterns), (1, 1, 4, 1));
    assert_eq!((figures.median_distance, figures.longest_distance), (Some(2), Some(2)));
    assert_eq!(figures.access_window, Some(2));
    let of_pair = conclusion.study(1);
    assert_eq!((of_pair.rank, of_pair.second_pair, of_pair.median_distance), (2, None, None));
}

#[test]
fn evidence_names_the_failing_runs_and_shows_one() {
    let conclusion = unicorn_table_2();
    let evidence = &conclusion.evidence[0];
    assert_eq!(evidence.failing.iter().collect::<Vec<_>>(), [0, 1]);
    let example = evidence.example.as_ref().unwrap();
    assert_eq!(example.run, 5, "as the caller numbers runs");
    assert_eq!(
        example.accesses.iter().map(|access| access.thread).collect::<Vec<_>>(),
        [1, 2, 2, 1]
    );
    assert_eq!(conclusion.evidence.len(), 3, "only what occurs in failing runs");
}

#[test]
fn patterns_with_the_same_score_share_a_rank() {
    let conclusion = unicorn_table_2();
    let ranks: Vec<u32> = conclusion.ranked.iter().map(|ranked| ranked.rank).collect();
    assert_eq!(ranks, [1, 2, 2, 4, 4]);
}

#[test]
fn without_a_failing_run_nothing_is_at_rank_1() {
    let traces = [(Label::Pass, "1w x 1, 2w x 2"), (Label::Unusable, "1w x 1, 2r x 9")];
    let conclusion = concluded(&runs(&traces, Options::default()), Formula::Jaccard);
    assert_eq!(conclusion.at_rank_1(), 0);
    assert_eq!(conclusion.ranked.len(), 1, "an unusable run is not looked at");
    assert_eq!((conclusion.runs.total(), conclusion.runs.unusable), (2, 1));
}

#[test]
fn runs_looked_at_in_different_ways_are_refused() {
    let narrow = Options { access_window: 3, ..Options::default() };
    let all: Vec<_> = [
        runs(&[(Label::Fail, "1w x 1, 2w x 2")], Options::default()),
        runs(&[(Label::Pass, "1w x 1, 2w x 2")], narrow),
    ]
    .concat();
    let labelled =
        all.iter().map(|(label, patterns)| LabelledRun { number: 7, label: *label, patterns });
    let problem = conclude(labelled, Formula::Jaccard).unwrap_err().to_string();
    assert!(problem.contains("cannot be compared"), "{problem}");
}

/// Made from the names of patterns alone.
fn naive_scores(runs: &[(Label, RunPatterns)], formula: Formula) -> BTreeMap<String, f64> {
    let sets: Vec<(Label, BTreeSet<String>)> =
        runs.iter().map(|(label, run)| (*label, names(run).into_iter().collect())).collect();
    let usable = |label: Label| sets.iter().filter(move |run| run.0 == label);
    let with =
        |label: Label, name: &str| usable(label).filter(|run| run.1.contains(name)).count() as f64;
    let counted = sets.iter().filter(|run| run.0 != Label::Unusable);
    let all: BTreeSet<&String> = counted.flat_map(|run| &run.1).collect();
    let (all_failed, all_passed) =
        (usable(Label::Fail).count() as f64, usable(Label::Pass).count() as f64);
    all.into_iter()
        .map(|name| {
            let (failed, passed) = (with(Label::Fail, name), with(Label::Pass, name));
            let score = match formula {
                _ if failed == 0.0 => 0.0,
                Formula::Jaccard => failed / (all_failed + passed),
                Formula::Tarantula => {
                    let share = if all_passed == 0.0 { 0.0 } else { passed / all_passed };
                    failed / all_failed / (failed / all_failed + share)
                }
                Formula::Ochiai => failed / (all_failed * (failed + passed)).sqrt(),
            };
            (name.clone(), score)
        })
        .collect()
}

fn run() -> impl Strategy<Value = (Label, RunPatterns)> {
    let step = (1..4_u16, prop::bool::ANY, prop_oneof![Just('x'), Just('y')], 1..4_u32).prop_map(
        |(thread, write, variable, site)| {
            format!("{thread}{} {variable} {site}", if write { 'w' } else { 'r' })
        },
    );
    let label =
        prop_oneof![3 => Just(Label::Pass), 3 => Just(Label::Fail), 1 => Just(Label::Unusable)];
    (label, prop::collection::vec(step, 1..8))
        .prop_map(|(label, steps)| (label, collect(&steps.join(", "), Options::default())))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200, rng_seed: RngSeed::Fixed(19), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn ranks_agree_with_counting_by_hand(runs in prop::collection::vec(run(), 0..8), formula in 0..3_usize) {
        let formula = Formula::ALL[formula];
        let conclusion = concluded(&runs, formula);
        let expected = naive_scores(&runs, formula);
        let found = scores(&conclusion);
        prop_assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, score) in &expected {
            prop_assert!((found[name] - score).abs() < 1e-12, "{}: {} and {}", name, found[name], score);
        }
        for ranked in &conclusion.ranked {
            let better = conclusion.ranked.iter().filter(|other| other.score > ranked.score).count();
            prop_assert_eq!(ranked.rank as usize, better + 1);
        }
    }
}
