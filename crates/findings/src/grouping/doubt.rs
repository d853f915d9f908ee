//! Patterns that failing runs show and that still are hardly the cause.
//!
//! Takes   a ranked pattern.      Gives  whether there is reason to look for another one behind it.
//!
//! - **Code that only failing runs execute**: a flag that says that something went wrong, and who reads it. The
//!   cause is what led there.
//!
//! A pair can be in passing runs behind other accesses that the access window shows in its place. So that failing code which leaves
//! those out is not taken for the cause, such passing runs count here (`full_score`).
//!
//! Invents doubt where the cause itself lies in code so rare that only failing runs executed it; then no other pattern should
//! explain these runs.

use unpick_analyses::interleaving_patterns::Class;
use unpick_analyses::ranking::{Conclusion, Ranked};

pub fn is_doubtful(conclusion: &Conclusion, ranked: &Ranked) -> bool {
    conclusion.runs.passed > 0 && is_failing_code(conclusion, ranked)
}

/// In how many passing runs a pattern is, shown by the window or hidden.
pub fn passed(conclusion: &Conclusion, ranked: &Ranked) -> u32 {
    ranked.passed + conclusion.hidden_in_passing(&ranked.key)
}

/// The score with all these passing runs.
pub fn full_score(conclusion: &Conclusion, ranked: &Ranked) -> f64 {
    conclusion.score_with(ranked, passed(conclusion, ranked))
}

fn is_failing_code(conclusion: &Conclusion, ranked: &Ranked) -> bool {
    telling_sites(ranked).iter().any(|&site| !conclusion.has_passed(site))
}

/// The sites whose absence from passing runs means something: where a row was torn, its own accesses are next to the break, and
/// a recording does not know what stands inside a row that stays whole.
fn telling_sites(ranked: &Ranked) -> &[u32] {
    let sites = ranked.key.sites();
    if ranked.key.pattern.class() == Class::SingleVariable { &sites[1..2] } else { sites }
}

/// Nine tenths: a window can miss a pattern in some runs.
pub fn is_nearly_all(part: usize, whole: usize) -> bool {
    10 * part >= 9 * whole
}

/// Whether `cause` can be what is behind `seed`: nearly all failing runs of the seed have it (windows can miss it in some), passing
/// runs seldom or at least less often than it seems for the seed, and it did harm before or is the whole of it.
pub fn is_behind(conclusion: &Conclusion, cause: usize, seed: usize, is_whole: bool) -> bool {
    let (ranked, seeded) = (&conclusion.ranked[cause], &conclusion.ranked[seed]);
    let tells_more = 2 * ranked.passed <= conclusion.runs.passed
        || ranked.score > full_score(conclusion, seeded);
    let failing = |place: usize| &conclusion.evidence[place].failing;
    let is_there = is_nearly_all(failing(seed).common_with(failing(cause)), failing(seed).len());
    tells_more && is_there && (is_whole || is_before(conclusion, cause, seed))
}

/// In most of the failing runs that have both.
fn is_before(conclusion: &Conclusion, one: usize, other: usize) -> bool {
    let times = |place: usize| conclusion.evidence[place].harmful_at.iter();
    let mut later = times(other).peekable();
    let (mut before, mut after) = (0, 0);
    for (run, time) in times(one) {
        while later.next_if(|(other_run, _)| other_run < run).is_some() {}
        if let Some((_, other_time)) = later.next_if(|(other_run, _)| other_run == run) {
            if time <= other_time { before += 1 } else { after += 1 }
        }
    }
    before > after
}
