//! Slow second opinions: patterns worked out from the complete list of accesses, by the words of the papers.

mod traces;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use traces::{Deed, Step, collect_steps};
use unpick_analyses::interleaving_patterns::{AccessKind, Class, Variable};
use unpick_analyses::{Mode, Options, PatternId, Rows, RunPatterns};

/// One access, as everybody could see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Seen {
    index: usize,
    thread: u16,
    is_write: bool,
    site: u32,
}

impl Seen {
    fn conflicts_with(&self, other: &Seen) -> bool {
        self.thread != other.thread && (self.is_write || other.is_write)
    }

    fn kind(&self) -> AccessKind {
        if self.is_write { AccessKind::Write } else { AccessKind::Read }
    }
}

/// What is known of a pattern: number and sites; count, access window, pair distance.
type Summary = BTreeMap<(u8, Vec<u64>), (u64, u32, u32)>;

fn summary_of(run: &RunPatterns) -> Summary {
    let describe = |found: &unpick_analyses::interleaving_patterns::FoundPattern| {
        let sites = run.sites_of(found).map(|site| run.sites[site as usize].offset).collect();
        let figures = (found.count, found.access_window, found.pair_distance);
        ((found.pattern.number(), sites), figures)
    };
    run.patterns.iter().map(describe).collect()
}

fn note(summary: &mut Summary, pattern: PatternId, accesses: &[Seen], window: u32, distance: u32) {
    let sites = accesses.iter().map(|access| u64::from(access.site)).collect();
    let known = summary.entry((pattern.number(), sites)).or_insert((0, u32::MAX, u32::MAX));
    *known = (known.0 + 1, known.1.min(window), known.2.min(distance));
}

/// The accesses to each variable, life by life.
fn histories(steps: &[Step]) -> Vec<(char, Vec<Seen>)> {
    let mut lives = Vec::new();
    for variable in 'x'..='z' {
        let mut life = Vec::new();
        for (at, step) in
            steps.iter().enumerate().filter(|(_, step)| step.variables.contains(variable))
        {
            let seen = |is_write| Seen {
                index: 2 * at + usize::from(is_write),
                thread: step.thread,
                is_write,
                site: step.site,
            };
            match step.deed {
                Deed::Read => life.push(seen(false)),
                Deed::Write => life.push(seen(true)),
                Deed::Update => life.extend([seen(false), seen(true)]),
                Deed::Gone => lives.push((variable, std::mem::take(&mut life))),
            }
        }
        lives.push((variable, life));
    }
    lives
}

/// Falcon's Algorithm 1, word by word: a window that slides, told of every access.
fn slide(accesses: &[Seen], size: usize, mut leaves: impl FnMut(&[Seen])) {
    let mut window: VecDeque<Seen> = VecDeque::new();
    for access in accesses {
        match window.back_mut() {
            Some(last) if last.thread == access.thread => {
                if access.is_write || !last.is_write {
                    *last = *access;
                }
            }
            _ => {
                if window.len() == size {
                    leaves(window.make_contiguous());
                    window.pop_front();
                }
                window.push_back(*access);
            }
        }
    }
    while !window.is_empty() {
        leaves(window.make_contiguous());
        window.pop_front();
    }
}

/// Whether accesses, in the order given, are the steps of a pattern.
fn matches(pattern: PatternId, accesses: &[(Seen, Variable)]) -> bool {
    let first_thread = accesses[0].0.thread;
    let threads: BTreeSet<u16> = accesses.iter().map(|(access, _)| access.thread).collect();
    threads.len() == 2
        && pattern.steps().len() == accesses.len()
        && pattern.steps().iter().zip(accesses).all(|(step, (access, variable))| {
            let role = if access.thread == first_thread { 1 } else { 2 };
            (step.kind, step.role, step.variable) == (access.kind(), role, *variable)
        })
}

fn pattern_of(accesses: &[(Seen, Variable)], class: Class) -> Option<PatternId> {
    PatternId::all().find(|pattern| pattern.class() == class && matches(*pattern, accesses))
}

fn on_x(accesses: &[Seen]) -> Vec<(Seen, Variable)> {
    accesses.iter().map(|&access| (access, Variable::X)).collect()
}

fn naive_falcon(steps: &[Step], window: usize) -> Summary {
    let mut summary = Summary::new();
    for (_, life) in histories(steps) {
        slide(&life, window, |window| {
            let mut triples = 0;
            for middle in 1..window.len() {
                for last in middle + 1..window.len() {
                    let accesses = [window[0], window[middle], window[last]];
                    if let Some(pattern) = pattern_of(&on_x(&accesses), Class::SingleVariable) {
                        note(&mut summary, pattern, &accesses, last as u32 + 1, 0);
                        triples += 1;
                    }
                }
            }
            let conflict =
                (1..window.len()).find(|&later| window[0].conflicts_with(&window[later]));
            if let Some(later) = conflict.filter(|_| triples == 0) {
                let accesses = [window[0], window[later]];
                let pattern = pattern_of(&on_x(&accesses), Class::Order).unwrap();
                note(&mut summary, pattern, &accesses, later as u32 + 1, 0);
            }
        });
    }
    summary
}

/// A pair, the lives of the variables it is on, the window it needs, and whether a window shows it at all.
#[derive(Debug)]
struct NaivePair {
    ends: [Seen; 2],
    lives: BTreeSet<usize>,
    window: u32,
    is_shown: bool,
}

impl NaivePair {
    fn new(ends: [Seen; 2]) -> NaivePair {
        NaivePair { ends, lives: BTreeSet::new(), window: u32::MAX, is_shown: false }
    }
}

fn naive_pairs(steps: &[Step], window: usize, with_edges: bool) -> Vec<NaivePair> {
    let mut pairs: BTreeMap<[Seen; 2], NaivePair> = BTreeMap::new();
    for (number, (_, life)) in histories(steps).iter().enumerate() {
        slide(life, window, |window| {
            for later in 1..window.len() {
                let ends = [window[0], window[later]];
                if ends[0].conflicts_with(&ends[1]) {
                    let pair = pairs.entry(ends).or_insert(NaivePair::new(ends));
                    pair.lives.insert(number);
                    pair.window = pair.window.min(later as u32 + 1);
                    pair.is_shown = true;
                }
            }
        });
        for ends in naive_edges(life).into_iter().filter(|_| with_edges) {
            let pair = pairs.entry(ends).or_insert(NaivePair::new(ends));
            pair.lives.insert(number);
            pair.window = pair.window.min(2);
        }
    }
    pairs.into_values().collect()
}

/// Where one thread goes on after another: an access of the first with nothing of its row after it, or no write, or a read with nothing of its row before it; and
/// an access of the second with nothing of its row before it, or no write.
fn naive_edges(life: &[Seen]) -> Vec<[Seen; 2]> {
    let changes = |from: usize, to: usize| {
        life[from..=to].windows(2).filter(|two| two[0].thread != two[1].thread).count()
    };
    let mut edges = Vec::new();
    for (one, first) in life.iter().enumerate() {
        for (other, second) in life.iter().enumerate().skip(one + 1) {
            if changes(one, other) != 1 || !first.conflicts_with(second) {
                continue;
            }
            let edge = (one..other).find(|&at| changes(at, at + 1) == 1).unwrap();
            let [rest, begun] = [&life[one + 1..=edge], &life[edge + 1..other]];
            let is_last = rest.is_empty() || first.is_write && rest.iter().all(|one| !one.is_write);
            let begins = one == 0 || life[one - 1].thread != first.thread;
            let is_first =
                begun.is_empty() || second.is_write && begun.iter().all(|one| !one.is_write);
            if (is_last || begins && !first.is_write) && is_first {
                edges.push([*first, *second]);
            }
        }
    }
    edges
}

fn naive_unicorn(steps: &[Step], window: usize, pair_window: usize) -> Summary {
    let pairs = naive_pairs(steps, window, false);
    naive_patterns(&pairs, pair_window, |pattern, _| pattern.is_of_papers())
}

/// Whether no thread of a pattern of two variables made one of its two accesses again between them, in any pair.
fn is_of_one_round(accesses: &[Seen], pairs: &[NaivePair], steps: &[Step]) -> bool {
    let ends: Vec<Seen> = pairs.iter().flat_map(|pair| pair.ends).collect();
    let variables = |seen: &Seen| &steps[seen.index / 2].variables;
    let is_same = |one: &Seen, other: &Seen| {
        (one.thread, one.site, one.is_write, variables(one).chars().next())
            == (other.thread, other.site, other.is_write, variables(other).chars().next())
    };
    accesses.iter().enumerate().all(|(at, first)| {
        accesses[at + 1..].iter().filter(|last| last.thread == first.thread).all(|last| {
            let is_between = |end: &&Seen| first.index < end.index && end.index < last.index;
            !ends.iter().filter(is_between).any(|end| is_same(end, first) || is_same(end, last))
        })
    })
}

fn naive_patterns(
    pairs: &[NaivePair],
    pair_window: usize,
    counts: impl Fn(PatternId, &[Seen]) -> bool,
) -> Summary {
    let mut summary = Summary::new();
    for (at, one) in pairs.iter().enumerate() {
        note(
            &mut summary,
            pattern_of(&on_x(&one.ends), Class::Order).unwrap(),
            &one.ends,
            one.window,
            0,
        );
        for (further, other) in pairs[at + 1..].iter().enumerate().take(pair_window) {
            if let Some((pattern, accesses)) = naive_combination(one, other)
                && (pattern.class() == Class::SingleVariable || counts(pattern, &accesses))
            {
                note(
                    &mut summary,
                    pattern,
                    &accesses,
                    one.window.max(other.window),
                    further as u32 + 2,
                );
            }
        }
    }
    summary
}

/// All pairs of sites in rows that a window holds together, but for those that are patterns.
fn naive_hidden_pairs(
    steps: &[Step],
    window: usize,
    visible: &Summary,
) -> BTreeSet<(u8, Vec<u64>)> {
    let mut hidden = BTreeSet::new();
    for (_, life) in histories(steps) {
        let row_of =
            |at: usize| life[..at].windows(2).filter(|two| two[0].thread != two[1].thread).count();
        for (at, first) in life.iter().enumerate() {
            for (later, second) in life.iter().enumerate().skip(at + 1) {
                if first.conflicts_with(second) && row_of(later + 1) - row_of(at + 1) < window {
                    let pattern = PatternId::of_pair(first.kind(), second.kind()).unwrap();
                    hidden.insert((
                        pattern.number(),
                        vec![u64::from(first.site), u64::from(second.site)],
                    ));
                }
            }
        }
    }
    hidden.retain(|pair| !visible.contains_key(pair));
    hidden
}

/// Two accesses that a thread makes one after the other, and one by another thread in between: the first of its row, or the
/// one that the window keeps.
fn naive_torn_rows(steps: &[Step]) -> BTreeSet<(u8, Vec<u64>)> {
    let mut torn = BTreeSet::new();
    for (_, life) in histories(steps) {
        let row_of =
            |at: usize| life[..=at].windows(2).filter(|two| two[0].thread != two[1].thread).count();
        let row = |number: usize| (0..life.len()).filter(move |&at| row_of(at) == number);
        let kept_of = |number: usize| {
            let last_write = row(number).rfind(|&at| life[at].is_write);
            last_write.or(row(number).next_back())
        };
        for (at, first) in life.iter().enumerate() {
            let next = (at + 1..life.len()).find(|&next| life[next].thread == first.thread);
            let Some(next) = next.filter(|&next| row_of(next) > row_of(at)) else {
                continue;
            };
            for between in at + 1..next {
                let number = row_of(between);
                if [row(number).next(), kept_of(number)].contains(&Some(between)) {
                    let accesses = [*first, life[between], life[next]];
                    let pattern = pattern_of(&on_x(&accesses), Class::SingleVariable);
                    let sites = accesses.map(|access| u64::from(access.site)).to_vec();
                    torn.extend(pattern.map(|pattern| (pattern.number(), sites)));
                }
            }
        }
    }
    torn
}

fn naive_combination(one: &NaivePair, other: &NaivePair) -> Option<(PatternId, Vec<Seen>)> {
    let ([a, b], [c, d]) = (one.ends, other.ends);
    if !one.lives.is_disjoint(&other.lives) {
        let accesses = vec![a, b, d];
        let is_one = b == c && one.is_shown && other.is_shown;
        let pattern = pattern_of(&on_x(&accesses), Class::SingleVariable).filter(|_| is_one)?;
        return Some((pattern, accesses));
    }
    let mut accesses = [(a, Variable::X), (b, Variable::X), (c, Variable::Y), (d, Variable::Y)];
    accesses.sort_by_key(|(access, _)| access.index);
    let pattern = pattern_of(&accesses, Class::MultiVariable)?;
    Some((pattern, accesses.iter().map(|(access, _)| *access).collect()))
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
    (1..4_u16, deed, variables, 1..6_u32).prop_map(|(thread, deed, variables, site)| Step {
        thread,
        deed,
        variables: variables.to_owned(),
        site,
    })
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 400,
        rng_seed: RngSeed::Fixed(17),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn unicorn_agrees_with_the_definitions(
        steps in prop::collection::vec(step(), 0..40), access_window in 2..7_u32, pair_window in 1..20_u32,
    ) {
        let run = collect_steps(&steps, Options { access_window, pair_window, ..Options::by_window_only() });
        let expected = naive_unicorn(&steps, access_window as usize, pair_window as usize);
        prop_assert_eq!(summary_of(&run), expected);
    }

    #[test]
    fn torn_rows_come_in_addition_to_what_the_window_shows(
        steps in prop::collection::vec(step(), 0..40), access_window in 2..7_u32,
    ) {
        let by_window = Options { access_window, ..Options::by_window_only() };
        let pairs = naive_pairs(&steps, access_window as usize, true);
        let is_of_one_round = |_, accesses: &[Seen]| is_of_one_round(accesses, &pairs, &steps);
        let shown = naive_patterns(&pairs, by_window.pair_window as usize, is_of_one_round);
        let mut expected: BTreeSet<_> = shown.into_keys().collect();
        expected.extend(naive_torn_rows(&steps));
        let run = collect_steps(&steps, Options { rows: Rows::WithEdges, ..by_window });
        prop_assert_eq!(summary_of(&run).into_keys().collect::<BTreeSet<_>>(), expected);
    }

    #[test]
    fn hidden_pairs_are_what_rows_hide(
        steps in prop::collection::vec(step(), 0..40), access_window in 2..7_u32,
    ) {
        let run = collect_steps(&steps, Options { access_window, ..Options::default() });
        let offset = |site: u32| run.sites[site as usize].offset;
        let hidden: BTreeSet<_> = run.hidden_pairs.iter()
            .map(|pair| (pair.pattern.number(), pair.sites.map(offset).to_vec())).collect();
        prop_assert_eq!(hidden, naive_hidden_pairs(&steps, access_window as usize, &summary_of(&run)));
        let seen: BTreeSet<u64> = run.seen_sites.iter().map(|&site| offset(site)).collect();
        let accessed = steps.iter().filter(|step| step.deed != Deed::Gone);
        prop_assert_eq!(seen, accessed.map(|step| u64::from(step.site)).collect::<BTreeSet<_>>());
    }

    #[test]
    fn falcon_agrees_with_the_definitions(
        steps in prop::collection::vec(step(), 0..40), access_window in 2..7_u32,
    ) {
        // Falcon knows single variables only: a wide access would be counted once for each of them here.
        let run = collect_steps(&steps, Options { mode: Mode::Falcon, access_window, ..Options::default() });
        let found = summary_of(&run);
        let expected = naive_falcon(&steps, access_window as usize);
        let identities = |summary: &Summary| summary.iter().map(|(key, figures)| (key.clone(), figures.1)).collect::<Vec<_>>();
        prop_assert_eq!(identities(&found), identities(&expected));
    }

    #[test]
    fn the_bytes_of_a_result_give_it_back(steps in prop::collection::vec(step(), 0..40)) {
        let run = collect_steps(&steps, Options::default());
        prop_assert_eq!(RunPatterns::from_bytes(&run.to_bytes(), "test").unwrap(), run);
    }

    #[test]
    fn a_damaged_result_is_a_problem_and_no_panic(
        steps in prop::collection::vec(step(), 0..20), at in any::<prop::sample::Index>(), by in 1..=255_u8,
    ) {
        let mut bytes = collect_steps(&steps, Options::default()).to_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= by;
        prop_assert!(RunPatterns::from_bytes(&bytes, "test").is_err());
        prop_assert!(RunPatterns::from_bytes(&bytes[..at], "test").is_err());
    }
}
