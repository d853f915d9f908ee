//! Which units are read together: neighbours, but no two of which each defines the same.
//!
//! Takes   units with what they claim.      Gives  bundles, about equally large.
//! Cost    one look at each claim and bundle. What gets on with nobody is read with its like, and errors tell.

use rustc_hash::FxHashMap;

use super::bundles::WORTH_IT;
use super::claims::Claim;

/// A unit that looks for a bundle.
#[derive(Clone, Copy)]
pub struct Guest<'a> {
    /// Its place in the list of units.
    pub at: usize,
    pub bytes: usize,
    pub claims: &'a [Claim],
}

/// The places of all guests, in so many bundles and some more for those that get on with none of them.
pub fn seat(guests: Vec<Guest<'_>>, parts: usize) -> Vec<Vec<usize>> {
    let (mut bundles, mut left) = seat_most(&guests, parts);
    while !left.is_empty() {
        let (further, rest) = seat_most(&left, 1);
        // They all stand in each other's way, or only seem to.
        let is_last = further[0].len() < WORTH_IT;
        if is_last {
            bundles.push(left.iter().map(|guest| guest.at).collect());
            break;
        }
        bundles.extend(further);
        left = rest;
    }
    bundles.retain(|bundle| !bundle.is_empty());
    bundles
}

/// Gives each guest to the bundle whose turn it is, or else to the next one that it gets on with; those that get on with none are left.
fn seat_most<'a>(guests: &[Guest<'a>], parts: usize) -> (Vec<Vec<usize>>, Vec<Guest<'a>>) {
    let goal = guests.iter().map(|guest| guest.bytes).sum::<usize>().div_ceil(parts).max(1);
    let mut bundles = vec![Vec::new(); parts];
    let mut owners: Vec<FxHashMap<u64, u64>> = vec![FxHashMap::default(); parts];
    let (mut left, mut so_far) = (Vec::new(), 0);
    for &guest in guests {
        let turn = so_far / goal;
        so_far += guest.bytes;
        let mut places = (0..parts).map(|step| (turn + step) % parts);
        match places.find(|&place| gets_on(guest.claims, &owners[place])) {
            Some(place) => {
                bundles[place].push(guest.at);
                owners[place].extend(guest.claims.iter().map(|claim| (claim.name, claim.owner)));
            }
            None => left.push(guest),
        }
    }
    (bundles, left)
}

/// Whether nothing that is claimed has another owner.
fn gets_on(claims: &[Claim], owners: &FxHashMap<u64, u64>) -> bool {
    claims.iter().all(|claim| owners.get(&claim.name).is_none_or(|&owner| owner == claim.owner))
}

#[cfg(test)]
mod tests {
    use super::{Guest, seat};
    use crate::sources::claims::Claim;

    /// Names that each unit defines, all units equally large.
    fn seated(names: &[&[u64]], parts: usize) -> Vec<Vec<usize>> {
        let claims: Vec<Vec<Claim>> = names
            .iter()
            .zip(1..)
            .map(|(names, owner)| names.iter().map(|&name| Claim { name, owner }).collect())
            .collect();
        let guests = claims.iter().enumerate().map(|(at, claims)| Guest { at, bytes: 10, claims });
        seat(guests.collect(), parts)
    }

    #[test]
    fn neighbours_sit_together() {
        assert_eq!(seated(&[&[], &[], &[], &[]], 2), [[0, 1], [2, 3]]);
        assert_eq!(seated(&[&[], &[], &[]], 1), [[0, 1, 2]]);
    }

    #[test]
    fn who_defines_the_same_sits_apart() {
        assert_eq!(seated(&[&[7], &[7], &[], &[]], 2), [vec![0], vec![1, 2, 3]]);
        let apart = seated(&[&[7], &[7], &[8], &[8], &[9], &[9]], 1);
        assert_eq!(apart, [[0, 2, 4], [1, 3, 5]]);
    }

    #[test]
    fn who_gets_on_with_nobody_sits_with_the_like() {
        assert_eq!(seated(&[&[7], &[7], &[7], &[7]], 1), [vec![0], vec![1, 2, 3]]);
    }

    #[test]
    fn the_same_header_is_nobody_s_alone() {
        let claims = [Claim { name: 7, owner: 1 }];
        let guests = (0..2).map(|at| Guest { at, bytes: 10, claims: &claims });
        assert_eq!(seat(guests.collect(), 1), [[0, 1]]);
    }

    #[test]
    fn nobody_is_lost() {
        assert!(seated(&[], 1).is_empty());
        for parts in 1..4 {
            let names: Vec<Vec<u64>> = (0..50_u64).map(|at| vec![at % 7, at % 5 + 10]).collect();
            let names: Vec<&[u64]> = names.iter().map(Vec::as_slice).collect();
            let mut all: Vec<usize> = seated(&names, parts).concat();
            all.sort_unstable();
            assert_eq!(all, (0..50).collect::<Vec<_>>());
        }
    }
}
