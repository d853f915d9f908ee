//! The orders of a race that can be forced.
//!
//! Takes   a race.      Gives  of two accesses both orders, for every pair of code places that its lines stand for; of several variables, the
//!         unit with the other thread's access between.
//!
//! The other way round comes first: the way it went was harmless in most runs that tell of a race. Two writes come last: the
//! later one would have won anyway. So does a unit that is torn at its second half: who came between may have been done with the first.

use unpick_analyses::PatternId;

use super::RaceFinding;
use crate::finding::{AccessKind, CodePlace, FindingAccess};
use crate::sentences::pair_sentence;

/// The name of the order of a torn unit, by the half that the other thread's access is in conflict with.
pub const TORN_AT_FIRST: &str = "torn-at-first";
pub const TORN_AT_SECOND: &str = "torn-at-second";

/// Accesses in an order, as it can be forced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessOrder {
    /// `P1` to `P17`, or one of a torn unit.
    pub pattern: String,
    pub sentence: String,
    /// In their order, with roles from 1 in the order of first accesses.
    pub accesses: Vec<FindingAccess>,
}

impl RaceFinding {
    /// All orders there are, each once.
    pub fn orders(&self) -> Vec<AccessOrder> {
        let mut orders: Vec<AccessOrder> = Vec::new();
        let example = self.all_accesses();
        for order in [&example].into_iter().chain(&self.ways).flat_map(|way| self.orders_of(way)) {
            if !orders.iter().any(|known| steps(known) == steps(&order)) {
                orders.push(order);
            }
        }
        let last = [TORN_AT_SECOND.to_owned(), PatternId::P3.name()];
        orders.sort_by_key(|order| last.contains(&order.pattern));
        orders
    }

    fn orders_of(&self, way: &[FindingAccess]) -> Vec<AccessOrder> {
        match way {
            [first, second] => vec![pair(second, first), pair(first, second)],
            [own, remote, left_out] => vec![self.torn(own, remote, left_out)],
            // A report comes from a file.
            _ => Vec::new(),
        }
    }

    fn torn(
        &self,
        own: &FindingAccess,
        remote: &FindingAccess,
        left_out: &FindingAccess,
    ) -> AccessOrder {
        let (pattern, accesses) = match own.order <= left_out.order {
            true => (TORN_AT_FIRST, [own, remote, left_out]),
            false => (TORN_AT_SECOND, [left_out, remote, own]),
        };
        AccessOrder {
            pattern: pattern.to_owned(),
            sentence: self.sentence.clone(),
            accesses: accesses.map(Clone::clone).to_vec(),
        }
    }
}

fn pair(first: &FindingAccess, second: &FindingAccess) -> AccessOrder {
    let pattern = match (first.kind, second.kind) {
        (AccessKind::Read, _) => PatternId::P1,
        (_, AccessKind::Read) => PatternId::P2,
        _ => PatternId::P3,
    };
    let in_role = |role: u8, access: &FindingAccess| FindingAccess { role, ..access.clone() };
    let accesses = vec![in_role(1, first), in_role(2, second)];
    let sentence = pair_sentence(pattern, &accesses);
    AccessOrder { pattern: pattern.name(), sentence, accesses }
}

/// What tells orders apart.
fn steps(order: &AccessOrder) -> Vec<(&CodePlace, AccessKind)> {
    order.accesses.iter().map(|access| (&access.code, access.kind)).collect()
}
