//! Orders to try: what passing runs might have done, and no run has done.
//!
//! Takes   the condensed results of labelled runs, one after the other.
//! Gives   orders that were possible in a passing run and that no usable run shows, the most promising first, each with an example; then accesses
//!         in gaps that passing runs show and no failing one, the rarest first.
//! Misses  code that no passing run has executed; patterns of two variables, and what `interleaving_patterns::possible` misses.
//! Invents orders that cannot come about: only trying tells. Most of those that can do no harm.
//! Cost    one look-up per pattern of each run.
//!
//! Ranking. There are three kinds, tried in turn, because nothing tells beforehand which kind of bug a program has: uses after what
//! freed them; accesses in a gap; other pairs the other way round. Inside of a kind, what happened seldom per run comes first: what
//! happens once in a run was hardly ever tested in another order, and is reached soon. Three writes (P8) come last: the last one
//! would have won anyway.
//!
//! Shown orders. Where many threads execute the same code, some of them come into every gap in every run. That says nothing about other threads or
//! other values: that two workers come between each other's check and act does not mean that the main thread did. Sites do not tell which thread
//! it was, so these orders are tried after those that nobody had. Pairs are not: both ways round is what threads usually do.

use rustc_hash::{FxHashMap, FxHashSet};
use unpick_events::Label;

use crate::interleaving_patterns::{Class, FoundPattern, PatternId, RunPatterns, Touch};
use crate::ranking::{CodeBook, Example, PatternKey, Translation, example_of};

/// An order that no run shows.
#[derive(Debug, Clone)]
pub struct UnseenOrder {
    pub key: PatternKey,
    /// In how many passing runs it was possible, and how often in all of them.
    pub runs: u32,
    pub count: u64,
    /// Accesses of a passing run, in the order they were not in.
    pub example: Example,
}

/// All of them, the most promising first.
#[derive(Debug)]
pub struct UnseenOrders {
    pub code: CodeBook,
    pub orders: Vec<UnseenOrder>,
    /// Accesses in a gap that passing runs show, and no failing one: `runs` and `count` say how often.
    pub shown: Vec<UnseenOrder>,
}

/// Takes in runs.
#[derive(Debug, Default)]
pub struct Unseen {
    code: CodeBook,
    seen: FxHashSet<PatternKey>,
    possible: FxHashMap<PatternKey, UnseenOrder>,
    shown: FxHashMap<PatternKey, UnseenOrder>,
    /// By failing runs.
    failing: FxHashSet<PatternKey>,
}

impl Unseen {
    /// Takes in a run by the number the caller knows it by. Of runs that did not pass, only what they show counts.
    pub fn add(&mut self, number: u32, label: Label, run: &RunPatterns) {
        if label == Label::Unusable {
            return;
        }
        let translation = self.code.enter(run);
        let shown =
            run.patterns.iter().filter(|found| found.pattern.class() != Class::MultiVariable);
        self.seen.extend(shown.map(|found| PatternKey::of(run, found, &translation)));
        let site = |number: u32| translation.sites[number as usize];
        let hidden = run.hidden_pairs.iter();
        self.seen.extend(hidden.map(|pair| PatternKey::new(pair.pattern, pair.sites.map(site))));
        let in_gaps = run.patterns.iter().filter(|found| is_worth_repeating(found.pattern));
        if label == Label::Pass {
            add_all(&mut self.possible, run.possible.iter(), number, run, &translation);
            add_all(&mut self.shown, in_gaps, number, run, &translation);
        } else {
            self.failing.extend(in_gaps.map(|found| PatternKey::of(run, found, &translation)));
        }
    }

    /// What no run has shown.
    pub fn finish(self) -> UnseenOrders {
        let Unseen { code, seen, possible, shown, failing } = self;
        let unseen = possible.into_values().filter(|order| !seen.contains(&order.key));
        let mut orders: Vec<UnseenOrder> = unseen.collect();
        orders.sort_by_cached_key(|order| (kind_of(order), per_run(order), place_of(order, &code)));
        let shown = shown.into_values().filter(|order| !failing.contains(&order.key));
        let mut shown: Vec<UnseenOrder> = shown.collect();
        shown.sort_by_cached_key(|order| (order.runs, order.count, place_of(order, &code)));
        UnseenOrders { code, orders: in_turn(orders), shown }
    }
}

/// Three writes leave behind what the last one wrote, whoever came between.
fn is_worth_repeating(pattern: PatternId) -> bool {
    pattern.class() == Class::SingleVariable && pattern != PatternId::P8
}

fn add_all<'r>(
    orders: &mut FxHashMap<PatternKey, UnseenOrder>,
    found: impl Iterator<Item = &'r FoundPattern>,
    number: u32,
    run: &RunPatterns,
    translation: &Translation,
) {
    for found in found {
        let key = PatternKey::of(run, found, translation);
        let example = || example_of(run, found, translation, number);
        let known = orders.entry(key).or_insert_with(|| UnseenOrder {
            key,
            runs: 0,
            count: 0,
            example: example(),
        });
        known.runs += 1;
        known.count += found.count;
    }
}

/// Kinds of orders, in the order of their turns.
const USE_AFTER_FREE: usize = 0;
const GAP: usize = 1;
const TURNED: usize = 2;
/// Has no turn: it comes after all others.
const THREE_WRITES: usize = 3;
const KINDS: usize = 4;

fn kind_of(order: &UnseenOrder) -> usize {
    let pattern = order.key.pattern;
    let is_freed_first = order.example.accesses.first().is_some_and(|one| one.touch == Touch::Free);
    match pattern.class() {
        Class::Order if is_freed_first => USE_AFTER_FREE,
        Class::Order => TURNED,
        _ if pattern == PatternId::P8 => THREE_WRITES,
        _ => GAP,
    }
}

/// How often it was possible in a run, rounded.
fn per_run(order: &UnseenOrder) -> u64 {
    order.count.div_ceil(u64::from(order.runs.max(1)))
}

/// The same in every process, whatever the numbers of its code book are.
fn place_of(order: &UnseenOrder, code: &CodeBook) -> (PatternId, Vec<(String, u64)>) {
    let sites = order.key.sites().iter().map(|&site| {
        let site = &code.sites[site as usize];
        let module = site.module.map(|module| code.modules[module as usize].path.clone());
        (module.unwrap_or_default(), site.offset)
    });
    (order.key.pattern, sites.collect())
}

/// One of each kind after the other; three writes at the end.
fn in_turn(orders: Vec<UnseenOrder>) -> Vec<UnseenOrder> {
    let mut taken = [0; KINDS];
    let with_turn = orders.into_iter().map(|order| {
        let kind = kind_of(&order);
        taken[kind] += 1;
        ((kind == THREE_WRITES, taken[kind], kind), order)
    });
    let mut with_turn: Vec<_> = with_turn.collect();
    with_turn.sort_by_key(|(turn, _)| *turn);
    with_turn.into_iter().map(|(_, order)| order).collect()
}
