//! Whether a thread came back to a place: what it did there before no longer belongs to what it does next.
//!
//! Takes   the accesses of all pairs.      Returns  for two accesses of one thread, whether it made one of them again in between.
//! Misses  accesses that no other thread met: a recording does not have them.
//! Cost    one sort of all accesses, two look-ups per question.
//!
//! Two accesses of a thread that another one comes between are a unit only if the thread relies on the first when it makes the second. Who has
//! made the first again, or the second before, is in another round of its work: `link, count` of one call, then the other thread, then
//! `link, count` of the next call has all accesses of a torn update, and both updates are whole.

use unpick_events::access::PastKind;
use unpick_events::{Address, Site, ThreadId};
use unpick_recording::Order;

use crate::access_pairs::{AccessId, AccessTable, PairList};

/// For each access, when its thread made the same one before, and after.
#[derive(Debug, Default)]
pub struct Visits {
    neighbours: Vec<[Option<Order>; 2]>,
}

impl Visits {
    pub fn of(list: &PairList, accesses: &AccessTable) -> Visits {
        let ends = list.pairs.iter().flat_map(|pair| [pair.first, pair.second]);
        let mut visits: Vec<(Place, Order, AccessId)> =
            ends.map(|id| (Place::of(accesses, id), accesses.get(id).order, id)).collect();
        visits.sort_unstable();
        visits.dedup();
        let mut neighbours = vec![[None; 2]; accesses.all().len()];
        for two in visits.windows(2) {
            let [(place, order, id), (next_place, next_order, next_id)] = two else { continue };
            if place == next_place {
                neighbours[id.index()][1] = Some(*next_order);
                neighbours[next_id.index()][0] = Some(*order);
            }
        }
        Visits { neighbours }
    }

    /// Whether the thread of two accesses made one of them again between them.
    pub fn is_repeated_between(
        &self,
        accesses: &AccessTable,
        one: AccessId,
        other: AccessId,
    ) -> bool {
        let order = |id: AccessId| accesses.get(id).order;
        let (first, last) = if order(one) <= order(other) { (one, other) } else { (other, one) };
        let [_, next] = self.neighbours[first.index()];
        let [before, _] = self.neighbours[last.index()];
        next.is_some_and(|next| next < order(last))
            || before.is_some_and(|before| before > order(first))
    }
}

/// What makes an access the same as an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    thread: ThreadId,
    site: Site,
    address: Address,
    is_write: bool,
    is_free: bool,
}

impl Place {
    fn of(accesses: &AccessTable, id: AccessId) -> Place {
        let access = accesses.get(id);
        Place {
            thread: access.thread,
            site: access.site,
            address: access.address,
            is_write: access.is_write(),
            is_free: access.kind == PastKind::Free,
        }
    }
}
