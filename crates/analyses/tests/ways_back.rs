//! What closes the circle around an edge, by example and against all accesses of a trace.

mod traces;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use traces::{Deed, Step, record, steps};
use unpick_analyses::communication::{
    Collector, GraphOptions, LabelledGraphs, Limits, Reconstruction, Reconstructions, Region,
    RunGraphs, WayBack, reconstruct,
};
use unpick_events::Label;

fn graphs(steps: &[Step]) -> RunGraphs {
    let recording = record(steps);
    let mut collector = Collector::new(GraphOptions::default());
    collector.add(&recording, &recording);
    collector.finish()
}

fn reconstructed(failing: &[&[Step]], passing: &[&[Step]]) -> Reconstructions {
    let failing = failing.iter().map(|steps| (Label::Fail, graphs(steps)));
    let passing = passing.iter().map(|steps| (Label::Pass, graphs(steps)));
    let runs = failing.chain(passing).zip(1..);
    let runs = runs.map(|((label, graphs), number)| LabelledGraphs { number, label, graphs });
    reconstruct(runs.collect::<Vec<_>>(), &Limits::default()).unwrap()
}

fn told(failing: &[&str], passing: &[&str]) -> Reconstructions {
    let parsed = |traces: &[&str]| traces.iter().map(|trace| steps(trace)).collect::<Vec<_>>();
    let (failing, passing) = (parsed(failing), parsed(passing));
    let failing: Vec<&[Step]> = failing.iter().map(Vec::as_slice).collect();
    let passing: Vec<&[Step]> = passing.iter().map(Vec::as_slice).collect();
    reconstructed(&failing, &passing)
}

fn site(all: &Reconstructions, number: u32) -> u64 {
    all.code.sites[number as usize].offset
}

fn between(all: &Reconstructions, source: u64, sink: u64) -> &Reconstruction {
    let ends =
        |one: &Reconstruction| (site(all, one.edge.source.site), site(all, one.edge.sink.site));
    all.ranked.iter().find(|one| ends(one) == (source, sink)).expect("there is such an edge")
}

fn members(all: &Reconstructions, one: &Reconstruction, region: Region) -> Vec<u64> {
    one.members(region).iter().map(|member| site(all, member.node.site)).collect()
}

/// The offsets of the sites of a way back.
fn way_back(all: &Reconstructions, one: &Reconstruction) -> Option<Vec<u64>> {
    Some(one.edge.way_back?.sites().map(|number| site(all, number)).collect())
}

/// Count (x) and characters (y) are written at 90 and 91; read at 1 and 4; taken away at 2 and 3.
const EMPTIED_BETWEEN: &str = "1w x 90, 1w y 91, 3r x 1, 2w x 2, 2w y 3, 3r y 4";
const EMPTIED_BEFORE: &str = "1w x 90, 1w y 91, 2w x 2, 2w y 3, 3r x 1, 3r y 4";
const EMPTIED_AFTER: &str = "1w x 90, 1w y 91, 3r x 1, 3r y 4, 2w x 2, 2w y 3";

#[test]
fn two_variables_make_a_circle() {
    let all =
        told(&[EMPTIED_BETWEEN, EMPTIED_BETWEEN], &[EMPTIED_BEFORE, EMPTIED_AFTER, EMPTIED_BEFORE]);
    let one = between(&all, 3, 4);
    assert_eq!((one.rank, one.failed, one.passed), (1, 2, 0));
    assert_eq!(way_back(&all, one), Some(vec![1, 2]), "the count was read before it was taken");
    assert_eq!(members(&all, one, Region::Prefix), [1, 2]);
    assert_eq!(one.overlap, 1.0);
}

#[test]
fn one_variable_makes_a_circle() {
    // A look (1), another's write (2), a write of what was seen (3); all of it also happens in turn.
    let lost = "2w x 90, 3r x 1, 2r x 1, 2w x 2, 3w x 3";
    let in_turn = "2w x 90, 2r x 1, 2w x 2, 3r x 1, 3w x 3, 2r x 1, 2w x 2";
    let all = told(&[lost, lost], &[in_turn, in_turn]);
    let one = between(&all, 2, 3);
    assert_eq!((one.failed, one.passed), (2, 0));
    assert!(members(&all, one, Region::Prefix).contains(&1));
}

#[test]
fn what_goes_the_same_way_is_not_told() {
    // Thread 2 prepares a, b and c, and publishes x; thread 3 has been at work on d with it, and uses all of them.
    let early = "3w d 80, 2w d 81, 2w a 10, 2w b 11, 2w c 12, 3r d 82, 2w x 1, 3r a 20, 3r b 21, 3r c 22, 3r x 2";
    let all = told(&[early, early], &["3w d 80, 2w d 81, 3r d 82"]);
    let one = between(&all, 1, 2);
    let prefix = members(&all, one, Region::Prefix);
    assert!(!prefix.iter().any(|site| (10..13).contains(site)), "{prefix:?}");
    assert_eq!(members(&all, one, Region::Body), Vec::<u64>::new());
}

#[test]
fn what_a_first_thread_made_before_it_waited_is_no_overlap() {
    let all = told(&["1w x 1, 2r x 2, 3w y 4, 2r y 5, 1r x 3"], &["1w x 1, 3w z 6, 2r z 7"]);
    assert_eq!(between(&all, 1, 2).overlap, 0.0);
    assert_eq!(between(&all, 4, 5).overlap, 1.0);
    let made = between(&all, 1, 2);
    assert_eq!(made.score, made.buggy_frequency * made.consistency * made.earliness / 2.0);
    let all = told(&["1w x 1, 2r x 2, 1w y 4, 2r y 5, 1w y 4"], &["1w x 1, 3w z 6, 2r z 7"]);
    assert_eq!(between(&all, 1, 2).overlap, 1.0, "it did something meanwhile");
}

#[test]
fn an_edge_remembers_what_its_node_has_forgotten() {
    // Threads 4 and 5 do in turn, later and in the same contexts, what 2 and 3 did crosswise: by the nodes' last times there was no circle.
    let crosswise = "2w x 10, 3w x 10, 3w y 20, 2w y 20";
    let in_turn = "6w x 30, 4w x 10, 4w y 20, 6w x 30, 5w x 10, 5w y 20";
    let all = told(&[&format!("{crosswise}, {in_turn}")], &[in_turn]);
    let one = between(&all, 20, 20);
    assert_eq!((one.failed, one.passed), (1, 0));
    assert_eq!(way_back(&all, one), Some(vec![10, 10]));
    assert_eq!(members(&all, one, Region::Prefix), [10]);
}

#[test]
fn a_circle_over_a_third_thread_is_told() {
    let all =
        told(&["2w x 1, 3r x 2, 3w y 3, 4r y 4, 4w z 5, 2r z 6"], &["2w x 1, 3w y 3, 2r z 6"]);
    let one = between(&all, 1, 2);
    assert_eq!(members(&all, one, Region::Suffix), [3, 4, 5, 6]);
    let threads = one.members(Region::Suffix).iter();
    let others = threads.filter(|member| member.with_source + member.with_sink == 0).count();
    assert_eq!(others, 2, "what thread 4 did");
    let all =
        told(&["2w x 1, 3r x 2, 3w y 3, 2r z 6, 4r y 4, 4w z 5"], &["2w x 1, 3w y 3, 2r z 6"]);
    assert_eq!(
        members(&all, between(&all, 1, 2), Region::Suffix),
        Vec::<u64>::new(),
        "it does not come back"
    );
}

fn step() -> impl Strategy<Value = Step> {
    let variable = prop_oneof![Just("x"), Just("y"), Just("z")];
    // Code at one site always reads, or always writes.
    (1..5_u16, variable, 1..9_u32).prop_map(|(thread, variable, site)| Step {
        thread,
        deed: if site % 2 == 0 { Deed::Read } else { Deed::Write },
        variables: variable.to_owned(),
        site,
    })
}

/// Whether two threads did this, one after the other, at the same bytes, one of them writing.
fn happened(steps: &[Step], first: u64, second: u64) -> bool {
    steps.iter().enumerate().filter(|(_, one)| u64::from(one.site) == first).any(|(at, one)| {
        steps[at + 1..].iter().any(|other| {
            u64::from(other.site) == second
                && other.thread != one.thread
                && other.variables == one.variables
                && (other.deed == Deed::Write || one.deed == Deed::Write)
        })
    })
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 64,
        rng_seed: RngSeed::Fixed(31),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn ways_back_have_happened(
        failing in prop::collection::vec(step(), 0..40), passing in prop::collection::vec(step(), 0..40),
    ) {
        let all = reconstructed(&[&failing], &[&passing]);
        for one in &all.ranked {
            let [source, sink] = [one.edge.source, one.edge.sink].map(|node| site(&all, node.site));
            prop_assert!(happened(&failing, source, sink));
            let is_true = match one.edge.way_back {
                Some(WayBack::Before(before)) => happened(&failing, site(&all, before), source),
                Some(WayBack::After(after)) => happened(&failing, sink, site(&all, after)),
                Some(WayBack::Elsewhere(first, second)) => happened(&failing, site(&all, first), site(&all, second)),
                None => true,
            };
            prop_assert!(is_true, "{:?}", one.edge);
        }
    }

    #[test]
    fn scores_fall_and_shares_are_shares(
        failing in prop::collection::vec(step(), 0..40), passing in prop::collection::vec(step(), 0..40),
    ) {
        let all = reconstructed(&[&failing, &passing], &[&passing]);
        prop_assert!(all.ranked.is_sorted_by(|one, next| one.score >= next.score && one.rank <= next.rank));
        for one in &all.ranked {
            for share in [one.consistency, one.earliness, one.overlap] {
                prop_assert!((0.0..=1.0).contains(&share));
            }
            prop_assert!(one.members.iter().flatten().all(|member| member.confidence <= 1.0));
        }
    }
}
