//! Communication graphs and reconstructions by example, the paper's among them.

mod traces;

use traces::{record, steps};
use unpick_analyses::communication::{
    Collector, Contexts, GraphOptions, LabelledGraphs, Limits, Reconstruction, Reconstructions,
    Region, RunGraphs, by_accesses, by_edges, reconstruct,
};
use unpick_events::Label;

const EVERYTHING: GraphOptions = GraphOptions::ALL;

fn graphs(trace: &str, options: GraphOptions) -> RunGraphs {
    let recording = record(&steps(trace));
    let mut collector = Collector::new(options);
    collector.add(&recording, &recording);
    collector.finish()
}

/// Each edge as `10 [lr] -> 20 []`.
fn edges(trace: &str, options: GraphOptions) -> Vec<String> {
    let run = graphs(trace, options);
    let node = |number: u32| {
        let node = &run.graphs[0].nodes[number as usize];
        format!("{} [{}]", run.sites[node.site as usize].offset, node.context)
    };
    let all = run.graphs.iter().flat_map(|graph| &graph.edges);
    let mut told: Vec<_> =
        all.map(|edge| format!("{} -> {}", node(edge.source), node(edge.sink))).collect();
    told.sort();
    told
}

fn runs<'a>(failing: &[&'a str], passing: &[&'a str]) -> Vec<LabelledGraphs<RunGraphs>> {
    let failing = failing.iter().map(|trace| (*trace, Label::Fail));
    let passing = passing.iter().map(|trace| (*trace, Label::Pass));
    let all = failing.chain(passing).zip(1..);
    let run = |((trace, label), number): ((&str, Label), u32)| LabelledGraphs {
        number,
        label,
        graphs: graphs(trace, EVERYTHING),
    };
    all.map(run).collect()
}

/// As the paper has it.
fn reconstructed(failing: &[&str], passing: &[&str]) -> Reconstructions {
    let limits = Limits { contexts: Contexts::Whole, ..Limits::default() };
    reconstruct(runs(failing, passing), &limits).unwrap()
}

fn told(failing: &[&str], passing: &[&str]) -> Reconstructions {
    reconstruct(runs(failing, passing), &Limits::default()).unwrap()
}

/// The reconstruction of the edge between two sites.
fn between(all: &Reconstructions, source: u64, sink: u64) -> &Reconstruction {
    let site = |number: u32| all.code.sites[number as usize].offset;
    let is_it = |one: &&Reconstruction| {
        (site(one.edge.source.site), site(one.edge.sink.site)) == (source, sink)
    };
    all.ranked.iter().find(is_it).expect("there is such an edge")
}

/// Sites and confidences of a region, in percent.
fn members(all: &Reconstructions, one: &Reconstruction, region: Region) -> Vec<(u64, u32)> {
    let told = one.members(region).iter().map(|member| {
        let site = all.code.sites[member.node.site as usize].offset;
        (site, (member.confidence * 100.0).round() as u32)
    });
    told.collect()
}

/// Thread 1 writes x at 1, thread 2 reads it at 2. Threads 3 and 5 read at A = 30 and C = 50 what others wrote long ago.
const A_BEFORE: &str = "4w a 4, 6w c 6, 3r a 30, 1w x 1, 5r c 50, 2r x 2";
const A_INSIDE: &str = "4w a 4, 6w c 6, 1w x 1, 3r a 30, 5r c 50, 2r x 2";

#[test]
fn figure_5_of_recon() {
    let all = reconstructed(&[A_BEFORE, A_INSIDE, A_BEFORE, A_INSIDE], &["1w z 9, 2r z 9"]);
    let one = between(&all, 1, 2);
    assert_eq!(members(&all, one, Region::Prefix), [(4, 100), (6, 100), (30, 50)]);
    assert_eq!(members(&all, one, Region::Body), [(30, 50), (50, 100)]);
    assert_eq!(members(&all, one, Region::Suffix), []);
    let mean = (1.0 + 1.0 + 0.5 + 0.5 + 1.0) / 5.0;
    assert_eq!(one.consistency, mean);
    assert_eq!(one.buggy_frequency, 2.0, "1 by 1 / (1 + 1)");
    assert_eq!(one.context_variation, 1.0);
    assert_eq!(one.score, 2.0 * mean);
}

#[test]
fn what_stands_in_less_than_half_as_many_runs_as_another_is_dropped() {
    let without_a = "4w a 4, 6w c 6, 1w x 1, 5r c 50, 2r x 2";
    let all = reconstructed(&[A_INSIDE, without_a, without_a], &[]);
    assert_eq!(members(&all, between(&all, 1, 2), Region::Body), [(50, 100)]);
    let all = reconstructed(&[A_INSIDE, without_a], &[]);
    assert_eq!(members(&all, between(&all, 1, 2), Region::Body), [(30, 50), (50, 100)]);
}

#[test]
fn prefix_and_suffix_are_bounded_and_nearest() {
    let around: String = ('a'..='g').map(|at| format!("3w {at} {}, ", at as u32)).collect();
    let reads = |by: u32| -> String {
        ('a'..='g').map(|at| format!("{by}r {at} {}, ", 100 * by + at as u32)).collect()
    };
    let trace = format!("{around}{}1w x 1, 2r x 2, {}4r a 9", reads(4), reads(5));
    let all = reconstructed(&[&trace], &[]);
    let one = between(&all, 1, 2);
    let sites = |region| members(&all, one, region).into_iter().map(|(site, _)| site);
    // Reads from c to g of thread 4; from a to e of thread 5.
    assert!(sites(Region::Prefix).eq(('c'..='g').map(|at| 400 + at as u64)));
    assert!(sites(Region::Suffix).eq(('a'..='e').map(|at| 500 + at as u64)));
}

#[test]
fn an_edge_that_failing_runs_alone_have_leads() {
    // The queue of the paper: size is looked at (133), another thread takes an element (115, 117), then it is taken here as well.
    let bad = "1w q 47, 1r q 133, 2r q 133, 2r q 115, 2w q 117, 1r q 115";
    let good = "1w q 47, 1r q 133, 1r q 115, 1w q 117, 2r q 133";
    let all = reconstructed(&[bad, bad, bad], &[good, good, good]);
    assert_eq!(all.runs.failed, 3);
    assert_eq!(all.ranked[0].rank, 1);
    let one = between(&all, 117, 115);
    assert_eq!((one.failed, one.passed), (3, 0));
    assert_eq!(one.buggy_frequency, 4.0);
    let passing = between(&all, 47, 133);
    assert_eq!(
        (passing.failed, passing.passed),
        (3, 0),
        "in passing runs thread 1 wrote at 117 last"
    );
}

#[test]
fn contexts_tell_apart_what_sites_alone_do_not() {
    let edges = edges("1w x 1, 2r x 2, 1w y 3, 2r y 4, 1w x 1, 2r x 2", EVERYTHING);
    let expected = ["1 [] -> 2 []", "1 [rr rr] -> 2 [lr lr]", "3 [rr] -> 4 [lr]"];
    assert_eq!(edges, expected);
}

#[test]
fn a_write_tells_the_sharers_and_not_the_writer_before() {
    let edges = edges("1w x 1, 2r x 2, 3w x 3, 2r x 4, 1r x 5", EVERYTHING);
    let expected = ["1 [] -> 2 []", "1 [] -> 3 []", "3 [] -> 4 [rw lr]", "3 [] -> 5 [rr]"];
    assert_eq!(edges, expected);
}

#[test]
fn readers_of_what_nobody_wrote_are_told_of_the_first_write() {
    assert_eq!(
        edges("2r x 1, 1w x 2, 2r x 3", EVERYTHING),
        ["2 [] -> 3 [rw]"],
        "no edge from nobody"
    );
}

#[test]
fn no_edge_joins_two_lives_of_memory() {
    assert_eq!(edges("1w x 1, 0g x 0, 2r x 2, 1r x 3", EVERYTHING), Vec::<String>::new());
}

#[test]
fn first_reads_stand_for_all_until_another_writes() {
    let trace = "1w x 1, 2r x 2, 2r x 3, 1w x 4, 2r x 5";
    let first = GraphOptions { first_read_only: true, ..EVERYTHING };
    assert_eq!(edges(trace, first), ["1 [] -> 2 []", "4 [rr] -> 5 [lr]"]);
    assert_eq!(edges(trace, EVERYTHING).len(), 3);
}

#[test]
fn first_writes_stand_for_all_until_another_writes() {
    let trace = "1w x 1, 1w x 2, 2r x 3, 2w x 4, 2w x 5, 1r x 6";
    let first = GraphOptions { first_write_only: true, ..EVERYTHING };
    let expected = ["1 [] -> 3 []", "1 [] -> 4 [lr]", "4 [lr] -> 6 [rr]"];
    assert_eq!(edges(trace, first), expected, "outdated sites");
    let expected = ["2 [] -> 3 []", "2 [] -> 4 [lr]", "5 [lw lr] -> 6 [rr]"];
    assert_eq!(edges(trace, EVERYTHING), expected);
}

#[test]
fn a_racy_look_up_overlooks_what_has_just_been_written() {
    let trace = "1w x 1, 2w x 2, 1r x 3, 3r y 0, 2w y 0, 1r x 4";
    let racy = GraphOptions { racy_lookup: 1, ..EVERYTHING };
    assert_eq!(edges(trace, racy), ["1 [] -> 2 []", "2 [] -> 4 []"], "the read at 3 came too soon");
    assert_eq!(edges(trace, EVERYTHING).len(), 3);
}

#[test]
fn runs_looked_at_in_different_ways_are_refused() {
    let mut different = runs(&[A_BEFORE], &[A_INSIDE]);
    different[1].graphs = graphs(A_INSIDE, GraphOptions { racy_lookup: 3, ..EVERYTHING });
    let problem = reconstruct(different, &Limits::default()).unwrap_err();
    assert!(problem.to_string().contains("collected in different ways"));
}

#[test]
fn bugaboo_ranks_edges_and_cci_single_accesses() {
    let bad = "1w x 1, 1r y 5, 2w x 2, 1r x 3";
    let good = "1w x 1, 1r x 3, 2w x 2";
    let all = runs(&[bad, bad], &[good, good]);
    let (edges, code) = by_edges(all.clone()).unwrap();
    let site = |number: u32| code.sites[number as usize].offset;
    assert_eq!((site(edges[0].edge.source.site), site(edges[0].edge.sink.site)), (2, 3));
    assert_eq!((edges[0].rank, edges[0].buggy_frequency), (1, 3.0));
    let (accesses, code) = by_accesses(all);
    let first = accesses.first().expect("an important access");
    assert_eq!((code.sites[first.access.site as usize].offset, first.access.remote), (3, true));
    assert!(accesses.iter().all(|one| one.importance > 0.0 && one.importance <= 1.0));
}

/// Other communication around one: contexts then differ from run to run.
const QUIET: &str = "1w a 90, 2r a 91, ";
const LOUD: &str = "2w b 92, 1r b 93, 1w a 90, 2r a 91, 2w b 92, 1r b 94, ";

#[test]
fn shorter_contexts_bring_together_what_chance_tells_apart() {
    // A look (1), a change by another thread (2), and the look again (3): with a remote write just before it.
    let bad = "2w x 0, 1r x 1, 2w x 2, 1r x 3";
    let good = "2w x 0, 1r x 1, 1r x 3, 2w x 2";
    let failing = [format!("{QUIET}{bad}"), format!("{LOUD}{bad}")];
    let passing = [format!("{QUIET}{good}"), format!("{LOUD}{good}")];
    let failing = failing.each_ref().map(String::as_str);
    let passing = passing.each_ref().map(String::as_str);
    let whole = reconstructed(&failing, &passing);
    assert_eq!(between(&whole, 2, 3).failed, 1, "each run has contexts of its own");
    let all = told(&failing, &passing);
    let one = between(&all, 2, 3);
    assert_eq!((one.failed, one.passed), (2, 0));
    let site = |number: u32| all.code.sites[number as usize].offset;
    let pairs = all.ranked.iter().map(|one| (site(one.edge.source.site), site(one.edge.sink.site)));
    let mut pairs: Vec<_> = pairs.collect();
    let count = pairs.len();
    pairs.sort_unstable();
    pairs.dedup();
    assert_eq!(pairs.len(), count, "two sites are told once");
}

#[test]
fn what_the_two_threads_did_to_the_same_bytes_is_told() {
    // The first look is of what the thread wrote itself, the last write comes back to its own: neither is part of an edge.
    let all = told(&["1w x 1, 1r x 2, 2w x 3, 1w x 4, 2r y 5"], &["1w x 1, 1r x 2, 1w x 4"]);
    let one = between(&all, 3, 4);
    assert_eq!(members(&all, one, Region::Prefix), [(1, 100), (2, 100)], "the look before");
    let all = told(&["1w x 1, 2r x 2, 1w x 3, 2w y 9, 1r y 9"], &["1w x 1, 1w x 3, 2r x 2"]);
    let one = between(&all, 1, 2);
    assert!(members(&all, one, Region::Suffix).contains(&(3, 100)), "the write after the look");
    let whole = reconstructed(&["1w x 1, 2r x 2, 1w x 3"], &[]);
    assert_eq!(members(&whole, between(&whole, 1, 2), Region::Suffix), [], "not in the paper");
}

#[test]
fn a_cause_comes_before_its_effects() {
    let bad = "1w x 1, 2r x 2, 2w e 3, 1r e 4";
    let good = "2r x 2, 1w x 1, 1w f 5, 2r f 6";
    let all = told(&[bad, bad], &[good, good]);
    assert_eq!((between(&all, 1, 2).rank, between(&all, 1, 2).earliness), (1, 1.0));
    assert_eq!(between(&all, 3, 4).earliness, 0.5);
    assert!(between(&all, 3, 4).rank > 1);
}
