//! Slow second opinion: communication graphs worked out from the complete list of accesses, by the words of the definition.

mod traces;

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use traces::{Deed, Step, record};
use unpick_analyses::communication::{Collector, GraphOptions, RunGraphs};

/// Site and context, newest first.
type Node = (u64, String);
/// Edge: when its source and its sink last happened, and how often.
type Edges = BTreeMap<(Node, Node), (u32, u32, u64)>;

fn collect(steps: &[Step], options: GraphOptions) -> RunGraphs {
    let recording = record(steps);
    let mut collector = Collector::new(options);
    collector.add(&recording, &recording);
    collector.finish()
}

fn node_of(run: &RunGraphs, number: u32) -> Node {
    let node = &run.graphs[0].nodes[number as usize];
    (run.sites[node.site as usize].offset, node.context.to_string())
}

fn edges_of(run: &RunGraphs) -> Edges {
    let edges = run.graphs.first().map_or(&[][..], |graph| &graph.edges);
    let told = edges.iter().map(|edge| {
        let ends = (node_of(run, edge.source), node_of(run, edge.sink));
        (ends, (edge.source_time, edge.sink_time, edge.count))
    });
    told.collect()
}

/// One access, as everybody could see it.
#[derive(Debug, Clone)]
struct Seen {
    time: u32,
    thread: u16,
    is_write: bool,
    site: u64,
    /// Variables it touches, and which life of each.
    lives: BTreeSet<(char, usize)>,
    context: Vec<&'static str>,
}

/// All accesses to lives that more than one thread touches, without contexts.
fn accesses(steps: &[Step]) -> Vec<Seen> {
    let mut life_of: BTreeMap<char, usize> = BTreeMap::new();
    let mut all = Vec::new();
    for step in steps {
        if step.deed == Deed::Gone {
            step.variables.chars().for_each(|variable| *life_of.entry(variable).or_default() += 1);
            continue;
        }
        let lives = step
            .variables
            .chars()
            .map(|variable| (variable, *life_of.entry(variable).or_default()));
        let read = Seen {
            time: 0,
            thread: step.thread,
            is_write: false,
            site: u64::from(step.site),
            lives: lives.collect(),
            context: Vec::new(),
        };
        let write = Seen { is_write: true, ..read.clone() };
        match step.deed {
            Deed::Read => all.push(read),
            Deed::Write => all.push(write),
            _ => all.extend([read, write]),
        }
    }
    let threads_of = |life: &(char, usize)| -> BTreeSet<u16> {
        all.iter().filter(|seen| seen.lives.contains(life)).map(|seen| seen.thread).collect()
    };
    let shared: BTreeSet<_> = all
        .iter()
        .flat_map(|seen| seen.lives.iter().copied())
        .filter(|life| threads_of(life).len() > 1)
        .collect();
    for seen in &mut all {
        seen.lives.retain(|life| shared.contains(life));
    }
    all.retain(|seen| !seen.lives.is_empty());
    all.iter_mut().zip(1..).for_each(|(seen, time)| seen.time = time);
    all
}

/// The graph by the words of TECHNIQUES.md, looking back over all accesses for every question.
struct Naive {
    options: GraphOptions,
    /// Those so far, with the contexts they were made in.
    past: Vec<Seen>,
    contexts: BTreeMap<u16, Vec<&'static str>>,
    edges: Edges,
}

impl Naive {
    fn at(&self, life: &(char, usize)) -> impl DoubleEndedIterator<Item = &Seen> {
        let life = *life;
        self.past.iter().filter(move |seen| seen.lives.contains(&life))
    }

    /// The write that stands for the last one.
    fn last_write(&self, life: &(char, usize)) -> Option<&Seen> {
        let last = self.at(life).rfind(|seen| seen.is_write)?;
        if !self.options.first_write_only {
            return Some(last);
        }
        let same = |seen: &&Seen| !seen.is_write || seen.thread == last.thread;
        self.at(life).rev().take_while(same).filter(|seen| seen.is_write).last()
    }

    /// Who has read since the last write by another thread than the last writer before it.
    fn sharers(&self, life: &(char, usize)) -> BTreeSet<u16> {
        let mut sharers = BTreeSet::new();
        let mut writer = None;
        for seen in self.at(life) {
            let is_last_writer = writer == Some(seen.thread);
            match seen.is_write {
                true if is_last_writer => {}
                true => {
                    sharers.clear();
                    writer = Some(seen.thread);
                }
                false if is_last_writer => {}
                false => {
                    sharers.insert(seen.thread);
                }
            }
        }
        sharers
    }

    fn has_read_since_another_wrote(&self, thread: u16, life: &(char, usize)) -> bool {
        let since = self.at(life).rev().take_while(|seen| !seen.is_write || seen.thread == thread);
        since.into_iter().any(|seen| seen.thread == thread)
    }

    fn take_in(&mut self, mut access: Seen) {
        access.context = self.contexts.entry(access.thread).or_default().clone();
        let mut communicates = false;
        let mut concerned = BTreeSet::new();
        let mut met = Vec::new();
        for life in &access.lives {
            let last_write = self.last_write(life);
            if last_write.is_some_and(|write| write.thread == access.thread) {
                continue;
            }
            if !access.is_write
                && self.options.first_read_only
                && self.has_read_since_another_wrote(access.thread, life)
            {
                continue;
            }
            communicates |= last_write.is_some();
            match access.is_write {
                true => concerned.extend(self.sharers(life)),
                false => concerned.extend(last_write.map(|write| write.thread)),
            }
            met.extend(last_write.cloned());
        }
        concerned.remove(&access.thread);
        communicates |= access.is_write && !concerned.is_empty();
        for write in met {
            let ends = (node(&write), node(&access));
            let edge = self.edges.entry(ends).or_default();
            let (sink, source) = (edge.1, edge.0).max((access.time, write.time));
            *edge = (source, sink, edge.2 + 1);
        }
        let (local, remote) = if access.is_write { ("lw", "rw") } else { ("lr", "rr") };
        if communicates {
            self.tell(access.thread, local);
        }
        concerned.into_iter().for_each(|thread| self.tell(thread, remote));
        self.past.push(access);
    }

    fn tell(&mut self, thread: u16, what: &'static str) {
        let context = self.contexts.entry(thread).or_default();
        context.insert(0, what);
        context.truncate(5);
    }
}

fn node(seen: &Seen) -> Node {
    (seen.site, seen.context.join(" "))
}

fn naive(steps: &[Step], options: GraphOptions) -> Edges {
    let mut naive =
        Naive { options, past: Vec::new(), contexts: BTreeMap::new(), edges: BTreeMap::new() };
    accesses(steps).into_iter().for_each(|access| naive.take_in(access));
    naive.edges
}

fn step() -> impl Strategy<Value = Step> {
    let deed = prop_oneof![
        4 => Just(Deed::Read),
        4 => Just(Deed::Write),
        1 => Just(Deed::Update),
        1 => Just(Deed::Gone),
    ];
    let variables = prop_oneof![
        3 => Just("x"), 3 => Just("y"), 3 => Just("z"), 1 => Just("xy"), 1 => Just("yz"), 1 => Just("xyz"),
    ];
    (1..5_u16, deed, variables, 1..6_u32).prop_map(|(thread, deed, variables, site)| Step {
        thread,
        deed,
        variables: variables.to_owned(),
        site,
    })
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 200,
        rng_seed: RngSeed::Fixed(23),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_graph_agrees_with_the_definition(
        steps in prop::collection::vec(step(), 0..50), first_read_only: bool, first_write_only: bool,
    ) {
        let options = GraphOptions { first_read_only, first_write_only, racy_lookup: 0 };
        prop_assert_eq!(edges_of(&collect(&steps, options)), naive(&steps, options));
    }

    #[test]
    fn nodes_have_the_last_time_of_their_edges(steps in prop::collection::vec(step(), 0..50)) {
        let run = collect(&steps, GraphOptions::default());
        for graph in &run.graphs {
            for (node, number) in graph.nodes.iter().zip(0_u32..).filter(|(node, _)| node.communicates) {
                let as_source = graph.edges.iter().filter(|edge| edge.source == number).map(|edge| edge.source_time);
                let as_sink = graph.edges.iter().filter(|edge| edge.sink == number).map(|edge| edge.sink_time);
                let last = as_source.chain(as_sink).max();
                prop_assert!(last.is_some_and(|last| last <= node.time));
            }
            prop_assert!(graph.nodes.windows(2).all(|two| two[0].time < two[1].time));
        }
    }

    #[test]
    fn a_late_look_up_finds_no_more(steps in prop::collection::vec(step(), 0..50)) {
        let late = GraphOptions { racy_lookup: 1000, ..GraphOptions::ALL };
        let communications = |options| collect(&steps, options).communications;
        prop_assert!(communications(late) <= communications(GraphOptions::ALL));
    }

    #[test]
    fn the_bytes_of_a_result_give_it_back(steps in prop::collection::vec(step(), 0..40)) {
        let run = collect(&steps, GraphOptions::default());
        prop_assert_eq!(RunGraphs::from_bytes(&run.to_bytes(), "test").unwrap(), run);
    }

    #[test]
    fn a_damaged_result_is_a_problem_and_no_panic(
        steps in prop::collection::vec(step(), 0..20), at in any::<prop::sample::Index>(), by in 1..=255_u8,
    ) {
        let mut bytes = collect(&steps, GraphOptions::default()).to_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= by;
        prop_assert!(RunGraphs::from_bytes(&bytes, "test").is_err());
        prop_assert!(RunGraphs::from_bytes(&bytes[..at], "test").is_err());
    }
}
