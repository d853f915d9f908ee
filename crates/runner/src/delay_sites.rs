//! Which sites of the program to delay: code at which threads communicated in earlier runs.
//!
//! Takes   the communicating sites of runs and the orders in which pairs of them were seen; how often sites were reached; how runs
//!         ended in which they were delayed.
//! Gives   for a run one to three arrivals to delay, whichever thread makes them, and sites whose arrivals are to be counted.
//! Misses  code that no earlier run has reached.
//! Cost    nothing beside a run.
//!
//! A site is drawn first, and then one of its arrivals: a loop that runs thousands of times gets no more delays than a line that
//! runs once. Where two accesses were seen in one order only, the place where the first of them can be delayed is preferred, because
//! such a delay can reverse the order. Sites that were delayed often without a failure are drawn less often.
//! Pure: the same knowledge and the same random numbers give the same choice.

use std::collections::{HashMap, HashSet};

use unpick_events::schedule::{MOST_MODULES, MOST_PLACES};

use crate::delay_plan::{DelayPlan, Target};

/// How likely a site is drawn: where a delay can reverse an order that was always the same; where both orders of all its pairs were
/// seen already; anywhere else, as at synchronisation.
const ONE_ORDER_WEIGHT: f64 = 4.0;
const BOTH_ORDERS_WEIGHT: f64 = 1.0;
const OTHER_WEIGHT: f64 = 2.0;
/// What a failure in a run with a delay there adds to a site's weight.
const FAILURE_WEIGHT: f64 = 2.0;
pub const MAX_TARGETS: u32 = 3;

/// A return address in the terms of a module's file: the same in every run of one build.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DelaySite {
    pub module: SiteModule,
    pub offset: u64,
}

/// What identifies a module.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SiteModule {
    /// In hex.
    BuildId(String),
    /// It has no build id.
    Path(String),
}

/// What a run says about its communicating sites.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunSites {
    pub sites: Vec<DelaySite>,
    pub pairs: Vec<SitePair>,
}

/// Two accesses of different threads that followed one another, by their numbers in `RunSites::sites`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SitePair {
    pub first: usize,
    pub second: usize,
    /// Where a delay would keep the first back: where its thread takes the lock that both hold, or the access itself.
    pub delayed_at: usize,
}

#[derive(Debug, Clone)]
struct Known {
    site: DelaySite,
    /// How often it was reached in the last run that counted; none: not counted yet.
    arrivals: Option<u64>,
    delayed: u32,
    failed: u32,
    /// The runtime could not watch it.
    is_refused: bool,
}

/// What is known of the sites of a program.
#[derive(Debug, Clone, Default)]
pub struct DelaySites {
    known: Vec<Known>,
    numbers: HashMap<DelaySite, usize>,
    /// Pairs that were seen, and for each where a delay would reverse it.
    orders: HashMap<(usize, usize), HashSet<usize>>,
}

impl DelaySites {
    pub fn are_none(&self) -> bool {
        self.known.is_empty()
    }

    /// Observes the communicating sites of a run.
    pub fn observe(&mut self, run: &RunSites) {
        let numbers: Vec<usize> = run.sites.iter().map(|site| self.number_of(site)).collect();
        let number = |at: usize| numbers.get(at).copied();
        for pair in &run.pairs {
            if let (Some(first), Some(second), Some(delayed_at)) =
                (number(pair.first), number(pair.second), number(pair.delayed_at))
            {
                self.orders.entry((first, second)).or_default().insert(delayed_at);
            }
        }
    }

    fn number_of(&mut self, site: &DelaySite) -> usize {
        if let Some(&number) = self.numbers.get(site) {
            return number;
        }
        let number = self.known.len();
        self.numbers.insert(site.clone(), number);
        self.known.push(Known {
            site: site.clone(),
            arrivals: None,
            delayed: 0,
            failed: 0,
            is_refused: false,
        });
        number
    }

    /// Observes how often the places of a plan were reached; none: the runtime could not watch the place.
    pub fn observe_arrivals(&mut self, plan: &DelayPlan, arrivals: &[Option<u64>]) {
        for (target, &arrivals) in plan.targets.iter().zip(arrivals) {
            if let Some(known) = self.known_of(&target.site) {
                known.is_refused = arrivals.is_none();
                known.arrivals = arrivals.or(known.arrivals);
            }
        }
    }

    /// Observes how a run with these delays ended.
    pub fn learn(&mut self, plan: &DelayPlan, failed: bool) {
        for target in plan.targets.iter().filter(|target| target.is_delayed()) {
            if let Some(known) = self.known_of(&target.site) {
                known.delayed += 1;
                known.failed += u32::from(failed);
            }
        }
    }

    fn known_of(&mut self, site: &DelaySite) -> Option<&mut Known> {
        self.numbers.get(site).map(|&number| &mut self.known[number])
    }

    /// Draws up to `most` arrivals to delay, each for a time between these.
    pub fn draw(
        &self,
        most: u32,
        nanoseconds: (u64, u64),
        random: &mut dyn FnMut() -> u64,
    ) -> DelayPlan {
        let mut weights = self.weights();
        let count = [1, 2, 2, 3][(random() % 4) as usize].min(most);
        let mut plan = DelayPlan::default();
        for _ in 0..count {
            let Some(number) = drawn(&weights, random()) else { break };
            weights[number] = 0.0;
            let known = &self.known[number];
            let target = Target {
                site: known.site.clone(),
                arrival: arrival_among(known.arrivals, random),
                nanoseconds: length_between(nanoseconds, random()),
            };
            plan.add(target, MOST_PLACES, MOST_MODULES);
        }
        self.add_uncounted(&mut plan);
        plan
    }

    /// Sites whose arrivals nobody has counted yet are counted, as far as there is room.
    fn add_uncounted(&self, plan: &mut DelayPlan) {
        let is_uncounted = |known: &&Known| known.arrivals.is_none() && !known.is_refused;
        for known in self.known.iter().filter(is_uncounted) {
            plan.add(Target::counted(known.site.clone()), MOST_PLACES, MOST_MODULES);
        }
    }

    fn weights(&self) -> Vec<f64> {
        let (reversing, in_pairs) = (self.reversing(), self.in_pairs());
        let weight = |(number, known): (usize, &Known)| {
            if known.is_refused || known.arrivals == Some(0) {
                return 0.0;
            }
            let kind = match (reversing.contains(&number), in_pairs.contains(&number)) {
                (true, _) => ONE_ORDER_WEIGHT,
                (false, true) => BOTH_ORDERS_WEIGHT,
                (false, false) => OTHER_WEIGHT,
            };
            kind * (1.0 + FAILURE_WEIGHT * f64::from(known.failed))
                / (1.0 + f64::from(known.delayed))
        };
        self.known.iter().enumerate().map(weight).collect()
    }

    fn in_pairs(&self) -> HashSet<usize> {
        self.orders.keys().flat_map(|&(first, second)| [first, second]).collect()
    }

    /// Where a delay can reverse a pair that was seen in one order only.
    fn reversing(&self) -> HashSet<usize> {
        let is_one_order = |pair: &(usize, usize)| !self.orders.contains_key(&(pair.1, pair.0));
        let orders = self.orders.iter().filter(|(pair, _)| is_one_order(pair));
        orders.flat_map(|(_, delayed_at)| delayed_at.iter().copied()).collect()
    }
}

/// A number in proportion to its weight; none if all weights are 0.
fn drawn(weights: &[f64], random: u64) -> Option<usize> {
    let sum: f64 = weights.iter().sum();
    let mut left = (random >> 11) as f64 / (1_u64 << 53) as f64 * sum;
    let is_it = |&(_, &weight): &(usize, &f64)| {
        left -= weight;
        weight > 0.0 && left < 0.0
    };
    let found = weights.iter().enumerate().find(is_it).map(|(number, _)| number);
    // What is lost by rounding belongs to the last.
    found.or_else(|| weights.iter().rposition(|&weight| weight > 0.0))
}

/// Half of the time any arrival, half of the time one of the first: what happens once in a run happens early.
fn arrival_among(arrivals: Option<u64>, random: &mut dyn FnMut() -> u64) -> u64 {
    let (all, drawn) = (arrivals.unwrap_or(u64::MAX).max(1), random());
    match arrivals {
        Some(count) if drawn & 1 == 0 => 1 + (drawn >> 1) % count.max(1),
        _ => (1 + u64::from((drawn >> 1).trailing_zeros())).min(all),
    }
}

/// Evenly over the orders of magnitude.
fn length_between((shortest, longest): (u64, u64), random: u64) -> u64 {
    let (low, high) = (shortest.max(1) as f64, longest.max(1) as f64);
    let part = (random >> 11) as f64 / (1_u64 << 53) as f64;
    ((low.ln() + part * (high.ln() - low.ln()).max(0.0)).exp() as u64).clamp(shortest, longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(offset: u64) -> DelaySite {
        DelaySite { module: SiteModule::BuildId("ab".to_owned()), offset }
    }

    /// SplitMix64.
    fn random(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed;
        move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = state;
            mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ mixed >> 31
        }
    }

    /// Sites 1 to `sites`; pairs by offset.
    fn observed(sites: u64, pairs: &[(u64, u64)]) -> DelaySites {
        let pair = |&(first, second): &(u64, u64)| SitePair {
            first: first as usize - 1,
            second: second as usize - 1,
            delayed_at: first as usize - 1,
        };
        let run = RunSites {
            sites: (1..=sites).map(site).collect(),
            pairs: pairs.iter().map(pair).collect(),
        };
        let mut known = DelaySites::default();
        known.observe(&run);
        known
    }

    /// How often each site was delayed in this many draws of one site.
    fn delays(known: &DelaySites, draws: u64) -> HashMap<u64, u32> {
        let mut counts = HashMap::new();
        let mut random = random(1);
        for _ in 0..draws {
            let plan = known.draw(1, (1, 1000), &mut random);
            for target in plan.targets.iter().filter(|target| target.is_delayed()) {
                *counts.entry(target.site.offset).or_default() += 1;
            }
        }
        counts
    }

    #[test]
    fn without_sites_there_is_nothing_to_delay() {
        let plan = DelaySites::default().draw(3, (1, 10), &mut random(1));
        assert!(plan.is_empty());
    }

    #[test]
    fn one_to_three_arrivals_are_delayed_and_the_others_counted() {
        let known = observed(10, &[]);
        let mut random = random(7);
        for _ in 0..100 {
            let plan = known.draw(MAX_TARGETS, (10, 1000), &mut random);
            let delayed = plan.targets.iter().filter(|target| target.is_delayed());
            assert!((1..=3).contains(&delayed.clone().count()));
            assert!(delayed.clone().all(|target| (10..=1000).contains(&target.nanoseconds)));
            assert_eq!(plan.targets.len(), 10);
        }
    }

    #[test]
    fn the_first_of_a_pair_seen_in_one_order_is_preferred() {
        let counts = delays(&observed(4, &[(1, 2), (3, 4), (4, 3)]), 1000);
        assert!(counts[&1] > 2 * counts[&2], "{counts:?}");
        assert!(counts[&3] < 2 * counts[&4] && counts[&4] < 2 * counts[&3], "{counts:?}");
    }

    #[test]
    fn a_loop_is_not_drawn_more_often_than_a_line_that_runs_once() {
        let mut known = observed(2, &[]);
        let plan = known.draw(1, (1, 10), &mut random(1));
        let arrivals: Vec<Option<u64>> =
            plan.targets.iter().map(|target| Some(target.site.offset.pow(20))).collect();
        known.observe_arrivals(&plan, &arrivals);
        let counts = delays(&known, 1000);
        assert!(counts[&1] < 2 * counts[&2] && counts[&2] < 2 * counts[&1], "{counts:?}");
    }

    #[test]
    fn what_was_delayed_in_vain_gives_way_to_the_others() {
        let mut known = observed(2, &[]);
        let plan = DelayPlan { targets: vec![Target { arrival: 1, ..Target::counted(site(1)) }] };
        (0..20).for_each(|_| known.learn(&plan, false));
        let counts = delays(&known, 1000);
        let mut failing = known.clone();
        (0..20).for_each(|_| failing.learn(&plan, true));
        assert!(counts[&2] > 2 * counts[&1], "{counts:?}");
        assert!(delays(&failing, 1000)[&1] > counts[&1] + 100);
    }

    #[test]
    fn places_that_cannot_be_watched_or_are_not_reached_are_left_out() {
        let mut known = observed(3, &[]);
        let targets = (1..=3).map(|offset| Target::counted(site(offset))).collect();
        known.observe_arrivals(&DelayPlan { targets }, &[None, Some(0), Some(5)]);
        let counts = delays(&known, 100);
        assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn arrivals_are_drawn_over_the_whole_run_and_at_its_beginning() {
        let mut random = random(3);
        let drawn: Vec<u64> = (0..1000).map(|_| arrival_among(Some(1000), &mut random)).collect();
        assert!(drawn.iter().all(|arrival| (1..=1000).contains(arrival)));
        assert!(drawn.iter().filter(|&&arrival| arrival == 1).count() > 200);
        assert!(drawn.iter().filter(|&&arrival| arrival > 500).count() > 200);
        assert_eq!(arrival_among(Some(1), &mut random), 1);
    }
}
