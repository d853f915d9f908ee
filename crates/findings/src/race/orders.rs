//! The orders of a race that can be forced.
//!
//! Takes   a race.      Gives  of two accesses both orders, for every pair of code places that its lines stand for; of several variables, the
//!         unit with the other thread's access between.
//!
//! The other way round comes first: the way it went was harmless in most runs that tell of a race. Two writes come last: the
//! later one would have won anyway. So does a unit that is torn at its second half: who came between may have been done with the first.
//! Where the other thread accesses both variables, too, each unit goes between the halves of the other first: no serial order has that.

use unpick_analyses::PatternId;
use unpick_analyses::interleaving_patterns::{AccessKind as Kind, Step, Variable};

use super::RaceFinding;
use crate::finding::{AccessKind, CodePlace, FindingAccess};
use crate::sentences::pair_sentence;

/// The name of the order of a torn unit, by the half that the other thread's access is in conflict with.
pub const TORN_AT_FIRST: &str = "torn-at-first";
pub const TORN_AT_SECOND: &str = "torn-at-second";

/// Accesses in an order, as it can be forced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessOrder {
    /// `P1` to `P32`, or one of a torn unit.
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
        let ways: Vec<&Vec<FindingAccess>> = [&example].into_iter().chain(&self.ways).collect();
        let whole = self.units_in_units(&ways);
        let others = ways.iter().flat_map(|way| self.orders_of(way));
        for order in whole.into_iter().chain(others) {
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

    /// Two ways that differ in the half that the other thread is in conflict with show a unit of that thread as well.
    fn units_in_units(&self, ways: &[&Vec<FindingAccess>]) -> Vec<AccessOrder> {
        let torn: Vec<TornWay<'_>> = ways.iter().filter_map(|way| TornWay::of(way)).collect();
        let mut orders = Vec::new();
        for one in torn.iter().filter(|way| way.is_at_first()) {
            for other in torn.iter().filter(|way| !way.is_at_first() && way.is_of_unit(one)) {
                let Some(remote) = in_one_function(one.remote, other.remote) else { continue };
                let own = one.unit.map(|access| (access, std::ptr::eq(access, one.own)));
                let remote = remote.map(|access| (access, std::ptr::eq(access, one.remote)));
                orders.extend(self.between(remote, own));
                orders.extend(self.between(own, remote));
            }
        }
        orders
    }

    /// A unit, whole, between the halves of another; each access with whether it is to the first variable.
    fn between(
        &self,
        [first, last]: [(&FindingAccess, bool); 2],
        [second, third]: [(&FindingAccess, bool); 2],
    ) -> Option<AccessOrder> {
        let steps = [(first, 1), (second, 2), (third, 2), (last, 1)];
        let is_as = |(of_pattern, ((access, is_first), role)): (&Step, &(_, u8))| {
            let (access, is_first): (&FindingAccess, bool) = (*access, *is_first);
            of_pattern.role == *role
                && of_pattern.kind == Kind::of_write(access.kind != AccessKind::Read)
                && (of_pattern.variable == Variable::X) == (is_first == first.1)
        };
        let fits = |pattern: &PatternId| {
            pattern.steps().len() == steps.len() && pattern.steps().iter().zip(&steps).all(is_as)
        };
        let pattern = PatternId::all().find(fits)?;
        let accesses =
            steps.map(|((access, _), role)| FindingAccess { role, ..access.clone() }).to_vec();
        Some(AccessOrder { pattern: pattern.name(), sentence: self.sentence.clone(), accesses })
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

/// A way to tear a unit.
pub(super) struct TornWay<'a> {
    /// In the order of the program.
    pub unit: [&'a FindingAccess; 2],
    /// The half that the other thread is in conflict with.
    own: &'a FindingAccess,
    pub remote: &'a FindingAccess,
}

impl<'a> TornWay<'a> {
    pub fn of(way: &'a [FindingAccess]) -> Option<TornWay<'a>> {
        let [own, remote, left_out] = way else { return None };
        let unit = if own.order <= left_out.order { [own, left_out] } else { [left_out, own] };
        Some(TornWay { unit, own, remote })
    }

    fn is_at_first(&self) -> bool {
        std::ptr::eq(self.own, self.unit[0])
    }

    fn is_of_unit(&self, other: &TornWay<'_>) -> bool {
        self.unit.map(|access| &access.code) == other.unit.map(|access| &access.code)
    }
}

/// Two accesses of one function, in the order of their lines.
fn in_one_function<'a>(
    one: &'a FindingAccess,
    other: &'a FindingAccess,
) -> Option<[&'a FindingAccess; 2]> {
    let is_one = one.frame.function.is_some() && one.frame.function == other.frame.function;
    match one.frame.line.cmp(&other.frame.line) {
        _ if !is_one || one.code == other.code => None,
        std::cmp::Ordering::Greater => Some([other, one]),
        _ => Some([one, other]),
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

#[cfg(test)]
mod tests {
    use super::super::test_support::race;
    use super::*;

    #[test]
    fn both_orders_of_all_ways_are_tried_once_and_two_writes_last() {
        let mut one = race([1, 2], "b1", None);
        let mut read = one.accesses.clone();
        read[0].kind = AccessKind::Read;
        read[0].code.offset = "0x9".to_owned();
        one.ways = vec![read.clone(), read.iter().rev().cloned().collect()];
        let orders = one.orders();
        let told: Vec<_> = orders
            .iter()
            .map(|order| (order.pattern.as_str(), order.accesses[0].code.offset.as_str()))
            .collect();
        assert_eq!(told, [("P2", "0x2"), ("P1", "0x9"), ("P3", "0x2"), ("P3", "0x1")]);
        let roles = |order: &AccessOrder| {
            order.accesses.iter().map(|access| access.role).collect::<Vec<_>>()
        };
        assert!(orders.iter().all(|order| roles(order) == [1, 2]));
    }

    #[test]
    fn where_both_threads_access_both_variables_each_unit_goes_whole_between_the_other_first() {
        let mut one = race([1, 2], "b1", None);
        let access = |offset: &str, line: u32, kind: AccessKind, order: u32| {
            let mut access = one.accesses[0].clone();
            (access.kind, access.order, access.frame.line) = (kind, order, Some(line));
            access.code.offset = offset.to_owned();
            access
        };
        let writes = [("w1", 1, 1), ("w2", 2, 4)]
            .map(|(name, line, order)| access(name, line, AccessKind::Write, order));
        let reads = [("r1", 11, 2), ("r2", 12, 3)]
            .map(|(name, line, order)| access(name, line, AccessKind::Read, order));
        let [first, second] = &writes;
        one.ways = vec![
            vec![first.clone(), reads[0].clone(), second.clone()],
            vec![second.clone(), reads[1].clone(), first.clone()],
        ];
        let steps = |order: &AccessOrder| {
            let offsets = order.accesses.iter().map(|access| access.code.offset.clone());
            offsets.collect::<Vec<_>>().join(" ")
        };
        let told: Vec<_> = one.orders().iter().map(steps).collect();
        assert_eq!(told[..2], ["r1 w1 w2 r2", "w1 r1 r2 w2"], "{told:?}");
        assert!(told.contains(&"w1 r1 w2".to_owned()) && told.contains(&"w1 r2 w2".to_owned()));
        let roles: Vec<u8> = one.orders()[0].accesses.iter().map(|access| access.role).collect();
        assert_eq!(roles, [1, 2, 2, 1]);
    }
}
