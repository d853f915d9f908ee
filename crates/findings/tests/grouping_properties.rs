//! What holds for groups of whatever runs.

#[path = "../../analyses/tests/traces/mod.rs"]
mod traces;

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use traces::collect;
use unpick_analyses::ranking::{Conclusion, Ranked};
use unpick_analyses::{Formula, LabelledRun, Mode, Options, RunPatterns, conclude};
use unpick_events::Label;
use unpick_findings::{Group, Standing, group};

type Runs = Vec<(Label, RunPatterns)>;

fn concluded(runs: &Runs, formula: Formula) -> Conclusion {
    let labelled = runs.iter().zip(0..).map(|((label, patterns), number)| LabelledRun {
        number,
        label: *label,
        patterns,
    });
    conclude(labelled, formula).unwrap()
}

fn grouped(conclusion: &Conclusion) -> Vec<Group> {
    // Two sites to a line.
    let line_of = |site: u32| conclusion.code.sites[site as usize].offset as u32 / 2;
    group(conclusion, line_of, |_| Standing::Own, usize::MAX)
}

/// A pattern in words that hold for any order of runs.
fn name_of(conclusion: &Conclusion, place: usize) -> (u8, Vec<u64>) {
    let key = &conclusion.ranked[place].key;
    let sites = key.sites().iter().map(|&site| conclusion.code.sites[site as usize].offset);
    (key.pattern.number(), sites.collect())
}

fn is_suspicious(conclusion: &Conclusion, ranked: &Ranked) -> bool {
    let passed = ranked.passed + conclusion.hidden_in_passing(&ranked.key);
    let (failed, passed) = (u64::from(ranked.failed), u64::from(passed));
    let (all_failed, all_passed) =
        (u64::from(conclusion.runs.failed), u64::from(conclusion.runs.passed));
    failed * all_passed.max(1) > passed * all_failed.max(1)
}

fn run() -> impl Strategy<Value = (Label, String)> {
    let step = (1..4_u16, prop::bool::ANY, prop_oneof![Just('x'), Just('y')], 1..6_u32).prop_map(
        |(thread, write, variable, site)| {
            format!("{thread}{} {variable} {site}", if write { 'w' } else { 'r' })
        },
    );
    let label =
        prop_oneof![3 => Just(Label::Pass), 3 => Just(Label::Fail), 1 => Just(Label::Unusable)];
    (label, prop::collection::vec(step, 1..9)).prop_map(|(label, steps)| (label, steps.join(", ")))
}

fn collected(runs: &[(Label, String)], mode: Mode) -> Runs {
    let options = Options { mode, ..Options::default() };
    runs.iter().map(|(label, trace)| (*label, collect(trace, options))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 150, rng_seed: RngSeed::Fixed(23), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn every_suspicious_pattern_is_in_one_group(
        runs in prop::collection::vec(run(), 0..9), formula in 0..3_usize, is_falcon in prop::bool::ANY,
    ) {
        let mode = if is_falcon { Mode::Falcon } else { Mode::Unicorn };
        let conclusion = concluded(&collected(&runs, mode), Formula::ALL[formula]);
        let groups = grouped(&conclusion);
        let members = groups.iter().flat_map(|group| {
            [group.leader].into_iter().chain(group.supporters.iter().map(|(place, _)| *place))
        });
        let mut members: Vec<usize> = members.collect();
        members.sort_unstable();
        let expected = (0..conclusion.ranked.len())
            .filter(|&place| is_suspicious(&conclusion, &conclusion.ranked[place]));
        prop_assert_eq!(members, expected.collect::<Vec<_>>());
        prop_assert!(groups.is_sorted_by(|one, other| one.score >= other.score));
    }

    #[test]
    fn the_order_of_runs_does_not_matter(runs in prop::collection::vec(run(), 0..9)) {
        let turned: Vec<_> = runs.iter().rev().cloned().collect();
        let leaders = |runs: &[(Label, String)]| {
            let conclusion = concluded(&collected(runs, Mode::Unicorn), Formula::Jaccard);
            let groups = grouped(&conclusion);
            groups.iter().map(|group| name_of(&conclusion, group.leader)).collect::<BTreeSet<_>>()
        };
        prop_assert_eq!(leaders(&runs), leaders(&turned));
    }
}
