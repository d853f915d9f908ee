//! Reconstructions in the order in which a user should read them.
//!
//! Takes   the `Reconstructions` of all runs, and names.      Gives  the same, ranked anew: first those between two places of the user's
//!         own code, then those with one end in it, then the rest; each by score.
//! Why     what a library does when the program fails (to unwind, to log, to stop its threads) goes with failing as well as the bug, or better.
//! Misses  nothing: a bug between two places of a library is told, after the user's own. Findings (`grouping`) do not wait for own code.
//! Cost    the author of each end.

use unpick_analyses::communication::{Reconstruction, Reconstructions};

use crate::describe::{AccessWords, Choices};
use crate::names::Names;
use crate::places::Places;

/// The reconstructions between places of the user's own code first.
pub fn own_first(
    mut all: Reconstructions,
    names: &dyn Names,
    choices: &Choices,
) -> Reconstructions {
    let foreign: Vec<usize> = {
        let words = AccessWords { places: Places::chosen(&all.code, names, choices) };
        all.ranked.iter().map(|one| foreign_ends(one, &all, &words)).collect()
    };
    let mut ranked: Vec<(usize, Reconstruction)> =
        foreign.into_iter().zip(std::mem::take(&mut all.ranked)).collect();
    ranked.sort_by_key(|(foreign, _)| *foreign);
    rank_anew(&mut ranked);
    all.ranked = ranked.into_iter().map(|(_, one)| one).collect();
    all
}

/// Equal scores share a rank, unless one of them is more the user's own.
fn rank_anew(ranked: &mut [(usize, Reconstruction)]) {
    let mut rank = 0;
    let mut before = None;
    for (at, (foreign, one)) in ranked.iter_mut().enumerate() {
        if before.replace((*foreign, one.score)) != Some((*foreign, one.score)) {
            rank = at as u32 + 1;
        }
        one.rank = rank;
    }
}

/// How many of the two ends are in code that is not the user's, and was not called by it. What is not known is taken for the user's.
fn foreign_ends(one: &Reconstruction, all: &Reconstructions, words: &AccessWords<'_>) -> usize {
    let is_foreign =
        |site: u32| all.examples.get(&site).is_some_and(|example| !words.is_own_access(example));
    [one.edge.source.site, one.edge.sink.site].into_iter().filter(|site| is_foreign(*site)).count()
}
