//! The paper's argument why pauses help (BTrigger, section 3), checked against the board by simulation.
//!
//! Two threads make N steps each. At M of them, drawn at random, a thread comes to the breakpoint; m of these arrivals
//! bring the object the other thread brings too. It stays there for T steps; T = 1 is a program without pauses. The draws
//! come from a fixed seed: the test always sees the same numbers.

use crate::board::{Board, Ticket};

struct Setting {
    steps: u64,
    arrivals: usize,
    matching: usize,
    pause: u64,
}

const TRIALS: u32 = 5000;

/// A generator of random numbers that is the same everywhere (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    /// Steps at which a thread arrives, in order, and whether with the common object.
    fn visits(&mut self, setting: &Setting) -> Vec<(u64, bool)> {
        let mut steps = Vec::new();
        while steps.len() < setting.arrivals {
            let step = self.below(setting.steps);
            if !steps.contains(&step) {
                steps.push(step);
            }
        }
        // The first that were drawn are as random as any others.
        let mut visits: Vec<_> =
            steps.iter().enumerate().map(|(at, &step)| (step, at < setting.matching)).collect();
        visits.sort_unstable();
        visits
    }
}

/// When a thread with these visits is at the breakpoint: from, to (exclusive), with the common object or not.
fn stays(visits: &[(u64, bool)], pause: u64) -> Vec<(u64, u64, bool)> {
    let stay = |(at, &(step, matches)): (usize, &(u64, bool))| {
        // Every visit before has taken the pause in place of one step.
        let from = step + at as u64 * (pause - 1);
        (from, from + pause, matches)
    };
    visits.iter().enumerate().map(stay).collect()
}

/// Plays all arrivals and departures on a board, in the order of time.
fn is_hit(random: &mut Random, setting: &Setting) -> bool {
    let mut board = Board::new(2, true);
    let mut moments = Vec::new();
    for role in 0..2 {
        for (at, (from, to, matches)) in
            stays(&random.visits(setting), setting.pause).into_iter().enumerate()
        {
            // Who leaves at a moment has left before others come.
            moments.push((from, 1, role, at, matches));
            moments.push((to, 0, role, at, matches));
        }
    }
    moments.sort_unstable();
    let mut there: Vec<((usize, usize), Ticket, bool)> = Vec::new();
    for (_, is_arrival, role, at, matches) in moments {
        if is_arrival == 0 {
            let place = there.iter().position(|(who, ..)| *who == (role, at));
            let (_, ticket, _) = there.swap_remove(place.expect("it has arrived"));
            board.give_up(ticket);
            continue;
        }
        let fits = |(_, ticket, other): &(_, Ticket, bool)| (matches && *other).then_some(*ticket);
        let (ticket, has_met) = board.arrive(role, there.iter().filter_map(fits).collect());
        if has_met {
            return true;
        }
        there.push(((role, at), ticket, matches));
    }
    false
}

fn probability(setting: &Setting) -> f64 {
    let mut random = Random(42);
    let hits = (0..TRIALS).filter(|_| is_hit(&mut random, setting)).count();
    hits as f64 / f64::from(TRIALS)
}

#[test]
fn without_pauses_threads_meet_as_rarely_as_the_formula_says() {
    let setting = Setting { steps: 1000, arrivals: 20, matching: 6, pause: 1 };
    let (steps, matching) = (setting.steps as f64, setting.matching as f64);
    let formula = matching * matching / (steps - matching + 1.0);
    let seen = probability(&setting);
    assert!((seen - formula).abs() < 0.008, "{seen} seen, {formula} by the formula");
}

#[test]
fn with_pauses_they_meet_at_least_as_often_as_the_formula_says() {
    for (arrivals, matching, pause) in [(5, 2, 10), (5, 2, 100), (20, 6, 30), (6, 6, 100)] {
        let setting = Setting { steps: 1000, arrivals, matching, pause };
        let (steps, pause) = (setting.steps as f64, pause as f64);
        let (arrivals, matching) = (arrivals as f64, matching as f64);
        let all = steps + arrivals * pause - arrivals;
        let bound = 1.0 - (1.0 - matching / all).powf(matching * pause);
        let seen = probability(&setting);
        assert!(seen > bound - 0.02, "{seen} seen, at least {bound} by the formula");
    }
}

#[test]
fn a_longer_pause_and_a_more_precise_condition_both_help() {
    let hits =
        |arrivals, pause| probability(&Setting { steps: 1000, arrivals, matching: 3, pause });
    assert!(hits(10, 50) > 3.0 * hits(10, 5), "section 6.2");
    assert!(hits(3, 200) > 1.3 * hits(30, 200), "section 6.3");
}
