//! Which delays to try next: learns which ones make the program fail.
//!
//! Takes   how runs with earlier delays ended.      Gives  the delays and the seed of the next run; failure rates.
//! Misses  anything about the program itself: it knows settings and outcomes only.
//! Cost    nothing beside a run.
//!
//! Settings are a place (accesses, synchronisation, start of threads, all, or chosen sites) and a strength (from microseconds to tens of
//! milliseconds). Each is tried once, gentle ones first; then the most promising is taken, by its rate and
//! a bonus for what is little known (UCB1). Every fifth run is without delays: that tells the bare failure
//! rate, and gives passing runs. A setting under which the program gets much slower is made rarer.
//!
//! Chosen sites (`delay_sites`) are those at which earlier runs communicated; such a run has one to three delays. They are no setting before
//! a run has been seen. While nothing has failed every third run with delays is of this kind: each of them tries something new.
//! All delays of a run together are bounded, in relation to how long the program takes without.
//!
//! **Passing runs must be like the failing ones**, or everything that delays bring about goes with failing. So a setting under which
//! nearly every run fails is made rarer as well, until some pass; and where passing runs are lacking they are looked
//! for under settings that have failed.
//! Pure: the same seed and the same outcomes give the same choices.

use std::time::Duration;

use unpick_events::Label;
use unpick_recording::RunOptions;

use crate::delay_plan::DelayPlan;
use crate::delay_sites::{DelaySites, MAX_TARGETS, RunSites};

/// So often there are no delays.
const PLAIN_EVERY: u64 = 5;
/// While nothing has failed, so often chosen sites are delayed.
const TARGETED_EVERY: u64 = 3;
/// Slower than so many bare runs, and than `SLOW` in addition, is too slow.
const SLOWER: u32 = 8;
const SLOW: Duration = Duration::from_secs(1);
const MADE_RARER_BY: u32 = 4;
/// All delays of a run take at most this many times as long as a run without, and `MIN_BUDGET` in addition.
const BUDGET_RUNS: u32 = 4;
const MIN_BUDGET: Duration = Duration::from_millis(200);
/// A setting that failed this often without ever passing is too strong: it gives nothing to compare with.
const TOO_STRONG: u32 = 4;

/// What delays a run gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Delays {
    pub access_ppm: u32,
    pub sync_ppm: u32,
    pub start_ppm: u32,
    /// How many arrivals at chosen sites are delayed at most.
    pub targets: u32,
    pub shortest_ns: u64,
    pub longest_ns: u64,
}

impl Delays {
    pub fn are_none(&self) -> bool {
        self.access_ppm == 0 && self.sync_ppm == 0 && self.start_ppm == 0 && self.targets == 0
    }

    /// Puts them into what the runtime is asked.
    pub fn put_into(&self, options: &mut RunOptions) {
        options.delay_access_ppm = self.access_ppm;
        options.delay_sync_ppm = self.sync_ppm;
        options.delay_start_ppm = self.start_ppm;
        options.delay_targets = self.targets;
        options.delay_shortest_ns = self.shortest_ns;
        options.delay_longest_ns = self.longest_ns;
    }

    /// What the runtime was asked.
    fn of(options: &RunOptions) -> Delays {
        Delays {
            access_ppm: options.delay_access_ppm,
            sync_ppm: options.delay_sync_ppm,
            start_ppm: options.delay_start_ppm,
            targets: options.delay_targets,
            shortest_ns: options.delay_shortest_ns,
            longest_ns: options.delay_longest_ns,
        }
    }

    /// Whether they are at the same places and as long; they may be rarer.
    fn is_like(&self, other: &Delays) -> bool {
        let places = |delays: &Delays| {
            [delays.access_ppm, delays.sync_ppm, delays.start_ppm, delays.targets]
                .map(|parts| parts > 0)
        };
        let lengths = |delays: &Delays| (delays.shortest_ns, delays.longest_ns);
        places(self) == places(other) && (self.are_none() || lengths(self) == lengths(other))
    }

    fn rarer(&self, by: u32) -> Delays {
        let rarer = |parts: u32| if parts == 0 { 0 } else { (parts / by).max(1) };
        Delays {
            access_ppm: rarer(self.access_ppm),
            sync_ppm: rarer(self.sync_ppm),
            start_ppm: rarer(self.start_ppm),
            targets: rarer(self.targets),
            ..*self
        }
    }
}

/// Shortest and longest delay, and how often: at accesses, at synchronisation, at the start of a thread.
struct Strength {
    nanoseconds: (u64, u64),
    ppm: [u32; 3],
}

const STRENGTHS: [Strength; 3] = [
    Strength { nanoseconds: (1_000, 50_000), ppm: [20_000, 200_000, 500_000] },
    Strength { nanoseconds: (50_000, 1_000_000), ppm: [20_000, 200_000, 500_000] },
    Strength { nanoseconds: (1_000_000, 30_000_000), ppm: [2_000, 50_000, 500_000] },
];
/// Which places a setting delays: accesses, synchronisation, start of threads.
const PLACES: [[bool; 3]; 4] =
    [[false, true, false], [true, false, false], [false, false, true], [true, true, true]];

/// Chosen sites: by the numbers of their strengths, in the order in which they are tried.
const TARGETED: [usize; 3] = [1, 2, 0];

/// What is known of a setting.
#[derive(Debug, Clone, Default)]
struct Setting {
    delays: Delays,
    failed: u32,
    passed: u32,
    /// Also those that could not be used.
    tried: u32,
    /// While failing runs were looked for: what tells how much delays help.
    sought: Rate,
    /// Failed since it was last made rarer, without passing once.
    only_failed: u32,
}

/// The delays of the next run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draw {
    pub delays: Delays,
    pub seed: u64,
    /// Which arrivals at chosen sites are delayed.
    pub plan: DelayPlan,
    /// The longest that all delays take together; zero: no bound.
    pub budget: Duration,
    /// Number of its setting; 0 is the one without delays.
    setting: usize,
    lacking: Lacking,
}

/// Which kind of run there is not enough of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lacking {
    Failing,
    Passing,
}

/// How many of the usable runs failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rate {
    pub failed: u32,
    pub runs: u32,
}

impl Rate {
    /// From 0 to 1; nothing without runs.
    pub fn share(&self) -> Option<f64> {
        (self.runs > 0).then(|| f64::from(self.failed) / f64::from(self.runs))
    }
}

/// How often runs failed without and with delays; with delays only while failing runs were looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rates {
    pub plain: Rate,
    pub delayed: Rate,
    /// The setting that failed most often: its delays and its rate.
    pub best: Option<(Delays, Rate)>,
}

/// Chooses delays.
#[derive(Debug)]
pub struct Perturbation {
    /// The first is the one without delays.
    settings: Vec<Setting>,
    sites: DelaySites,
    /// Whether delays are bounded: not where the user has said how long and how often.
    is_bounded: bool,
    random: u64,
    drawn: u64,
    /// How long the program takes without delays: the longest seen.
    plain_duration: Option<Duration>,
}

impl Perturbation {
    /// All places and strengths.
    pub fn new(seed: u64) -> Perturbation {
        let mut all: Vec<Delays> = STRENGTHS
            .iter()
            .flat_map(|strength| PLACES.map(|places| delays(strength, places)))
            .collect();
        // In turn with the gentle ones: few delays are gentle, however long.
        for (at, strength) in TARGETED.into_iter().enumerate() {
            all.insert(2 * at, targeted(&STRENGTHS[strength]));
        }
        Perturbation { is_bounded: true, ..Perturbation::over(all, seed) }
    }

    /// Only these delays, but for the regular runs without any.
    pub fn fixed(delays: Delays, seed: u64) -> Perturbation {
        Perturbation::over([delays], seed)
    }

    /// No delays ever.
    pub fn none(seed: u64) -> Perturbation {
        Perturbation::over([], seed)
    }

    fn over(delays: impl IntoIterator<Item = Delays>, seed: u64) -> Perturbation {
        let all = std::iter::once(Delays::default()).chain(delays);
        let settings = all.map(|delays| Setting { delays, ..Setting::default() });
        Perturbation {
            settings: settings.collect(),
            sites: DelaySites::default(),
            is_bounded: false,
            random: seed,
            drawn: 0,
            plain_duration: None,
        }
    }

    /// Observes the communicating sites of a run.
    pub fn observe_sites(&mut self, run: &RunSites) {
        self.sites.observe(run);
    }

    /// Observes how often the sites of a run's plan were reached; none: the site could not be watched.
    pub fn observe_arrivals(&mut self, draw: &Draw, arrivals: &[Option<u64>]) {
        self.sites.observe_arrivals(&draw.plan, arrivals);
    }

    /// The delays of the next run.
    pub fn next(&mut self, lacking: Lacking) -> Draw {
        let setting = if self.drawn.is_multiple_of(PLAIN_EVERY) { 0 } else { self.best(lacking) };
        self.drawn += 1;
        let (delays, seed) = (self.settings[setting].delays, self.next_seed());
        let plan = self.plan(&delays, seed);
        Draw { delays, seed, plan, budget: self.budget(), setting, lacking }
    }

    /// The delays at chosen sites, if the setting has any.
    fn plan(&self, delays: &Delays, seed: u64) -> DelayPlan {
        if delays.targets == 0 {
            return DelayPlan::default();
        }
        let mut state = seed;
        let lengths = (delays.shortest_ns, delays.longest_ns);
        self.sites.draw(delays.targets, lengths, &mut || split_mix(&mut state))
    }

    fn budget(&self) -> Duration {
        match self.is_bounded {
            true => self.plain_duration.unwrap_or(SLOW) * BUDGET_RUNS + MIN_BUDGET,
            false => Duration::ZERO,
        }
    }

    /// The setting that promises most; without delays only if there is nothing else.
    fn best(&self, lacking: Lacking) -> usize {
        let is_possible =
            |&at: &usize| self.settings[at].delays.targets == 0 || !self.sites.are_none();
        let delayed = (1..self.settings.len()).filter(is_possible);
        if lacking == Lacking::Passing {
            let has_failed = |&at: &usize| self.settings[at].failed > 0;
            return self.most_promising(delayed.filter(has_failed), lacking);
        }
        if let Some(untried) = delayed.clone().find(|&at| self.settings[at].tried == 0) {
            return untried;
        }
        let has_failed = self.settings[1..].iter().any(|setting| setting.failed > 0);
        let wants_targets = self.drawn.is_multiple_of(TARGETED_EVERY);
        let in_turn = |&at: &usize| (self.settings[at].delays.targets > 0) == wants_targets;
        match has_failed {
            false if delayed.clone().any(|at| in_turn(&at)) => {
                self.most_promising(delayed.filter(in_turn), lacking)
            }
            _ => self.most_promising(delayed, lacking),
        }
    }

    /// The earlier, gentler one of two that promise the same.
    fn most_promising(&self, among: impl Iterator<Item = usize>, lacking: Lacking) -> usize {
        let promise = |at: usize| self.settings[at].promise(lacking, self.drawn);
        let better = |best: usize, at: usize| if promise(at) > promise(best) { at } else { best };
        among.reduce(better).unwrap_or(0)
    }

    /// Short enough to be typed.
    fn next_seed(&mut self) -> u64 {
        split_mix(&mut self.random) >> 32
    }

    /// Takes note of how a run ended.
    pub fn learn(&mut self, draw: &Draw, label: Label, duration: Duration) {
        let is_too_slow = self.is_too_slow(duration);
        let setting = &mut self.settings[draw.setting];
        setting.take_note(label, draw.lacking);
        if label != Label::Unusable {
            self.sites.learn(&draw.plan, label == Label::Fail);
        }
        if draw.setting == 0 {
            self.plain_duration = self.plain_duration.max(Some(duration));
        } else if is_too_slow || setting.only_failed >= TOO_STRONG {
            setting.delays = setting.delays.rarer(MADE_RARER_BY);
            setting.only_failed = 0;
        }
    }

    /// Takes note of a run of an earlier hunt, which may have been made in another way.
    pub fn recall(&mut self, options: &RunOptions, label: Label, duration: Duration) {
        let delays = Delays::of(options);
        let known = self.settings.iter().position(|setting| setting.delays.is_like(&delays));
        if let Some(setting) = known {
            self.drawn += 1;
            let (plan, budget) = (DelayPlan::default(), Duration::ZERO);
            let lacking = Lacking::Failing;
            let draw = Draw { delays, seed: 0, plan, budget, setting, lacking };
            self.learn(&draw, label, duration);
        }
    }

    fn is_too_slow(&self, duration: Duration) -> bool {
        self.plain_duration.is_some_and(|plain| duration > plain * SLOWER + SLOW)
    }

    /// Failure rates so far.
    pub fn rates(&self) -> Rates {
        let (plain, delayed) = self.settings.split_at(1);
        let sum = delayed.iter().fold(Rate::default(), |sum, setting| {
            let Rate { failed, runs } = setting.sought;
            Rate { failed: sum.failed + failed, runs: sum.runs + runs }
        });
        let failing = delayed.iter().filter(|setting| setting.sought.failed > 0);
        let share = |setting: &Setting| setting.sought.share().unwrap_or(0.0);
        let best = failing.max_by(|one, other| {
            share(one).total_cmp(&share(other)).then(one.sought.failed.cmp(&other.sought.failed))
        });
        let best = best.map(|setting| (setting.delays, setting.sought));
        let Setting { failed, passed, .. } = plain[0];
        Rates { plain: Rate { failed, runs: failed + passed }, delayed: sum, best }
    }
}

impl Setting {
    fn take_note(&mut self, label: Label, lacking: Lacking) {
        self.tried += 1;
        let failed = match label {
            Label::Fail => 1,
            Label::Pass => 0,
            Label::Unusable => return,
        };
        self.failed += failed;
        self.passed += 1 - failed;
        self.only_failed = if failed == 1 { self.only_failed + 1 } else { 0 };
        if lacking == Lacking::Failing {
            self.sought.failed += failed;
            self.sought.runs += 1;
        }
    }

    /// Upper bound of the share of wanted runs (UCB1): what is little known may still be good.
    fn promise(&self, lacking: Lacking, all: u64) -> f64 {
        let wanted = if lacking == Lacking::Failing { self.failed } else { self.passed };
        let tried = f64::from(self.tried.max(1));
        f64::from(wanted) / tried + ((all.max(1) as f64).ln() / (2.0 * tried)).sqrt()
    }
}

fn delays(strength: &Strength, places: [bool; 3]) -> Delays {
    let ppm = |place: usize| if places[place] { strength.ppm[place] } else { 0 };
    let (shortest_ns, longest_ns) = strength.nanoseconds;
    Delays {
        access_ppm: ppm(0),
        sync_ppm: ppm(1),
        start_ppm: ppm(2),
        targets: 0,
        shortest_ns,
        longest_ns,
    }
}

fn targeted(strength: &Strength) -> Delays {
    let (shortest_ns, longest_ns) = strength.nanoseconds;
    Delays { targets: MAX_TARGETS, shortest_ns, longest_ns, ..Delays::default() }
}

/// SplitMix64.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::delay_sites::{DelaySite, SiteModule};

    const QUICK: Duration = Duration::from_millis(10);

    /// Draws `runs` times; `fails` says which delays fail.
    fn hunt(policy: &mut Perturbation, runs: u32, fails: impl Fn(&Delays) -> bool) -> Vec<Draw> {
        let mut draws = Vec::new();
        for _ in 0..runs {
            let draw = policy.next(Lacking::Failing);
            let label = if fails(&draw.delays) { Label::Fail } else { Label::Pass };
            policy.learn(&draw, label, QUICK);
            draws.push(draw);
        }
        draws
    }

    #[test]
    fn begins_without_delays_and_then_gently() {
        let draws = hunt(&mut Perturbation::new(1), 4, |_| false);
        assert!(draws[0].delays.are_none());
        assert!(draws[1..].iter().all(|draw| draw.delays.longest_ns == 50_000));
        assert!(draws[1..].iter().all(|draw| !draw.delays.are_none()));
    }

    #[test]
    fn tries_every_place_and_strength() {
        let draws = hunt(&mut Perturbation::new(1), 20, |_| false);
        let mut tried: Vec<_> = draws.iter().map(|draw| draw.setting).collect();
        tried.sort_unstable();
        tried.dedup();
        assert_eq!(tried.len(), 13);
    }

    /// A policy that has seen a run with four communicating sites.
    fn with_sites(seed: u64) -> Perturbation {
        let module = SiteModule::Path("program".to_owned());
        let sites = (1..5).map(|offset| DelaySite { module: module.clone(), offset });
        let mut policy = Perturbation::new(seed);
        policy.observe_sites(&RunSites { sites: sites.collect(), pairs: Vec::new() });
        policy
    }

    #[test]
    fn chosen_sites_are_delayed_as_soon_as_there_are_some() {
        let draws = hunt(&mut with_sites(1), 100, |_| false);
        assert!(draws[0].delays.are_none() && draws[1].delays.targets > 0);
        for draw in &draws {
            assert_eq!(draw.delays.targets > 0, !draw.plan.is_empty());
            assert!(draw.delays.access_ppm == 0 || draw.delays.targets == 0);
        }
        let targeted = draws.iter().filter(|draw| draw.delays.targets > 0).count();
        assert!((22..=32).contains(&targeted), "{targeted} of 80 runs with delays");
    }

    #[test]
    fn where_chosen_sites_fail_they_are_tried_more_often() {
        let draws = hunt(&mut with_sites(1), 100, |delays| delays.targets > 0);
        let targeted = draws[50..].iter().filter(|draw| draw.delays.targets > 0).count();
        assert!(targeted >= 25, "{targeted} of 40 runs with delays");
    }

    #[test]
    fn delays_are_bounded_by_the_duration_of_a_run_without_but_not_where_the_user_chose_them() {
        let mut policy = Perturbation::new(1);
        let plain = policy.next(Lacking::Failing);
        policy.learn(&plain, Label::Pass, Duration::from_millis(50));
        assert_eq!(policy.next(Lacking::Failing).budget, Duration::from_millis(400));
        let mut fixed = Perturbation::fixed(Delays { sync_ppm: 1, ..Delays::default() }, 1);
        assert_eq!(fixed.next(Lacking::Failing).budget, Duration::ZERO);
    }

    #[test]
    fn every_fifth_run_is_without_delays() {
        let draws = hunt(&mut Perturbation::new(1), 100, |delays| delays.sync_ppm > 0);
        assert_eq!(draws.iter().filter(|draw| draw.delays.are_none()).count(), 20);
    }

    #[test]
    fn what_fails_is_tried_more_often() {
        let only_this = |delays: &Delays| delays.start_ppm > 0 && delays.longest_ns > 10_000_000;
        let mut policy = Perturbation::new(7);
        let draws = hunt(&mut policy, 200, |delays| only_this(delays));
        let chosen = draws[100..].iter().filter(|draw| only_this(&draw.delays)).count();
        assert!(chosen >= 40, "{chosen} of 100");
        let rates = policy.rates();
        assert_eq!(rates.plain, Rate { failed: 0, runs: 40 });
        assert_eq!(rates.delayed.runs, 160);
        assert!(rates.best.is_some_and(|(delays, rate)| only_this(&delays) && rate.failed > 20));
    }

    #[test]
    fn passing_runs_are_looked_for_where_runs_have_failed() {
        let mut policy = Perturbation::new(7);
        let strong = |delays: &Delays| delays.longest_ns > 10_000_000;
        hunt(&mut policy, 60, |delays| strong(delays));
        let draws: Vec<_> = (0..20).map(|_| policy.next(Lacking::Passing)).collect();
        let (plain, delayed): (Vec<&Draw>, Vec<&Draw>) =
            draws.iter().partition(|draw| draw.delays.are_none());
        assert_eq!(plain.len(), 4);
        assert!(delayed.iter().all(|draw| strong(&draw.delays)));
    }

    #[test]
    fn delays_under_which_every_run_fails_become_rarer() {
        let delays = Delays { sync_ppm: 1_000_000, longest_ns: 5, ..Delays::default() };
        let mut policy = Perturbation::fixed(delays, 1);
        hunt(&mut policy, 40, |delays| delays.sync_ppm > 70_000);
        assert_eq!(policy.next(Lacking::Failing).delays.sync_ppm, 0, "the regular run without");
        assert_eq!(policy.next(Lacking::Failing).delays.sync_ppm, 62_500);
    }

    #[test]
    fn seeds_differ_and_come_again_with_the_same_beginning() {
        let seeds = |seed| -> Vec<u64> {
            let draws = hunt(&mut Perturbation::new(seed), 50, |_| false);
            draws.iter().map(|draw| draw.seed).collect()
        };
        let mut once = seeds(3);
        assert_eq!(once, seeds(3));
        assert_ne!(once, seeds(4));
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), 50);
    }

    #[test]
    fn delays_that_slow_the_program_down_too_much_become_rarer() {
        let delays = Delays { sync_ppm: 1_000, longest_ns: 5, ..Delays::default() };
        let mut policy = Perturbation::fixed(delays, 1);
        let plain = policy.next(Lacking::Failing);
        policy.learn(&plain, Label::Pass, QUICK);
        let slow = policy.next(Lacking::Failing);
        assert_eq!(slow.delays, delays);
        policy.learn(&slow, Label::Unusable, Duration::from_secs(2));
        assert_eq!(policy.next(Lacking::Failing).delays.sync_ppm, 250);
    }

    #[test]
    fn what_an_earlier_hunt_has_learned_is_known() {
        let is_good = |delays: &Delays| delays.start_ppm > 0 && delays.longest_ns > 10_000_000;
        let mut policy = Perturbation::new(1);
        for draw in hunt(&mut Perturbation::new(7), 100, |delays| is_good(delays)) {
            let mut options = RunOptions::default();
            draw.delays.put_into(&mut options);
            let label = if is_good(&draw.delays) { Label::Fail } else { Label::Pass };
            policy.recall(&options, label, QUICK);
        }
        let draws = hunt(&mut policy, 20, |delays| is_good(delays));
        let chosen = draws.iter().filter(|draw| is_good(&draw.delays)).count();
        assert!(chosen >= 8, "{chosen} of 20");
    }

    #[test]
    fn without_delays_there_are_none() {
        assert!(hunt(&mut Perturbation::none(1), 20, |_| true).iter().all(|d| d.delays.are_none()));
    }
}
