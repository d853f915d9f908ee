//! Units: two accesses of a thread to correlated variables, in one activation of one function.
//!
//! Takes   the tracked accesses of a recording, one after the other.      Returns  the units among them.
//! Misses  units of which one half is more than one call away from the function that makes both; of an activation that runs
//!         one critical section again, those of which either run has one half.
//! Cost    one look-up per access and rule.
//!
//! What belongs to one unit must be one piece of work, else a lock that is given back in between says nothing:
//! - both accesses are in one activation of a function, or in functions it called itself;
//! - if it called two, that was at two places, and neither of them accesses both variables in one call: such a function keeps them together by itself, and its
//!   caller merely uses it twice;
//! - they are not in two executions of the same critical section: the next round of a loop is a new piece of work.

use rustc_hash::{FxHashMap, FxHashSet};
use unpick_events::{Site, ThreadId};

use super::correlations::Correlations;
use super::trace::Tracked;
use crate::activations::Relation;

/// What is further apart in a thread does not belong together: in events of the thread.
const LARGEST_DISTANCE: u64 = 1000;

/// Two accesses of a thread that belong together, in the order it made them: their numbers, and that of the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unit {
    pub first: usize,
    pub second: usize,
    pub rule: usize,
}

/// Two accesses that are a unit unless a function that was called keeps both variables by itself.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    unit: Unit,
    relation: Relation,
    /// Their kinds of access are those of the rule.
    fits: bool,
}

/// Accesses of a thread to one variable of a rule in a row.
#[derive(Debug, Clone, Copy)]
struct Row {
    variable: u32,
    last_read: Option<usize>,
    last_write: Option<usize>,
    ordinal: u64,
    /// What this row is the second part of.
    follows: Option<Follows>,
}

impl Row {
    fn last(&self) -> Option<usize> {
        self.last_write.max(self.last_read)
    }
}

/// The row before, of the other variable.
#[derive(Debug, Clone, Copy)]
struct Follows {
    last_read: Option<usize>,
    last_write: Option<usize>,
    /// A unit was made of both.
    is_complete: bool,
}

/// Sites of either variable of a rule in one activation.
type BothSides = [Vec<Site>; 2];

/// Finds units, fed access by access.
#[derive(Debug, Default)]
pub struct Units {
    /// By thread and rule.
    rows: FxHashMap<(ThreadId, usize), Row>,
    candidates: Vec<Candidate>,
    /// By activation and rule.
    accessed: FxHashMap<(u32, usize), BothSides>,
    /// Sites of functions that access both variables of a rule in one activation.
    keeping_both: FxHashSet<(Site, usize)>,
}

impl Units {
    /// The access with this number was made at the event of its thread with this ordinal.
    pub fn observe(
        &mut self,
        accesses: &[Tracked],
        number: usize,
        ordinal: u64,
        correlations: &Correlations,
    ) {
        for rule in 0..correlations.rules.len() {
            if correlations.rules[rule].partner_of(accesses[number].variable).is_some() {
                self.note_side(&accesses[number], rule, correlations);
                self.extend_row(accesses, number, ordinal, rule, correlations);
            }
        }
    }

    /// Marks all accesses that are half of a unit, and returns the units.
    pub fn finish(self, accesses: &mut [Tracked]) -> Vec<Unit> {
        let keeps_both = |number: usize, rule: usize, accesses: &[Tracked]| {
            self.keeping_both.contains(&(accesses[number].access.site, rule))
        };
        let mut units = Vec::new();
        for Candidate { unit, relation, fits } in &self.candidates {
            let Unit { first, second, rule } = *unit;
            let is_use = *relation == Relation::Siblings
                && (keeps_both(first, rule, accesses) || keeps_both(second, rule, accesses));
            if !is_use {
                accesses[first].in_unit = true;
                accesses[second].in_unit = true;
                units.extend(fits.then_some(*unit));
            }
        }
        units
    }

    /// Learns which code accesses both variables of a rule in one activation.
    fn note_side(&mut self, access: &Tracked, rule: usize, correlations: &Correlations) {
        let Some(activation) = access.activation else { return };
        let is_second = access.variable != correlations.rules[rule].sides[0].0;
        let sides = self.accessed.entry((activation.number(), rule)).or_default();
        let side = &mut sides[usize::from(is_second)];
        if !side.contains(&access.access.site) {
            side.push(access.access.site);
        }
        if sides.iter().all(|side| !side.is_empty()) {
            let sites = sides.iter_mut().flat_map(|side| side.iter());
            self.keeping_both.extend(sites.map(|site| (*site, rule)));
        }
    }

    /// An access continues a row, begins the second row of a unit, or something new.
    fn extend_row(
        &mut self,
        accesses: &[Tracked],
        number: usize,
        ordinal: u64,
        rule: usize,
        correlations: &Correlations,
    ) {
        let Tracked { access, variable, .. } = accesses[number];
        let own = |is: bool| is.then_some(number);
        let (last_read, last_write) = (own(!access.writes()), own(access.writes()));
        let new = Row { variable, last_read, last_write, ordinal, follows: None };
        let of_one_object = correlations.rules[rule].of_one_object;
        let joins = |known: usize| relation(&accesses[known], &accesses[number], of_one_object);
        let known = self.rows.get(&(access.thread, rule)).copied();
        let is_near = |row: &Row| ordinal - row.ordinal <= LARGEST_DISTANCE;
        let known = known.filter(|row| is_near(row) && row.last().and_then(joins).is_some());
        let still = |known: Option<usize>| {
            known.filter(|&known| accesses[known].address == accesses[number].address)
        };
        let row = match known {
            Some(row) if row.variable == variable => Row {
                last_read: new.last_read.or(still(row.last_read)),
                last_write: new.last_write.or(still(row.last_write)),
                ordinal,
                ..row
            },
            Some(Row { last_read, last_write, follows: None, .. }) => {
                Row { follows: Some(Follows { last_read, last_write, is_complete: false }), ..new }
            }
            _ => new,
        };
        let row = self.complete(accesses, row, number, rule, correlations);
        self.rows.insert((access.thread, rule), row);
    }

    /// Makes a unit of both rows as soon as accesses are there that the rule is about.
    fn complete(
        &mut self,
        accesses: &[Tracked],
        mut row: Row,
        second: usize,
        rule: usize,
        correlations: &Correlations,
    ) -> Row {
        let Some(follows) = row.follows.as_mut().filter(|follows| !follows.is_complete) else {
            return row;
        };
        let of_rule = correlations.rules[rule];
        let side = |number: usize| (accesses[number].variable, accesses[number].access.writes());
        for first in [follows.last_write, follows.last_read].into_iter().flatten() {
            let related = relation(&accesses[first], &accesses[second], of_rule.of_one_object);
            let Some(relation) = related else { continue };
            let fits = !follows.is_complete && of_rule.fits([side(first), side(second)]);
            follows.is_complete |= fits;
            let unit = Unit { first, second, rule };
            self.candidates.push(Candidate { unit, relation, fits });
        }
        row
    }
}

/// How two accesses of a thread are parts of one piece of work; none: they are not.
fn relation(first: &Tracked, second: &Tracked, of_one_object: bool) -> Option<Relation> {
    let is_one_object =
        first.variable == second.variable || !of_one_object || first.is_of_same_object(second);
    if !is_one_object || is_next_round(first, second) {
        return None;
    }
    first.activation?.relation_to(second.activation?)
}

/// Whether the two are in different executions of one critical section.
fn is_next_round(first: &Tracked, second: &Tracked) -> bool {
    let is_again =
        |held: &super::Held| second.locks.iter().any(|later| held.is_taken_again_by(later));
    first.locks.iter().any(is_again)
}
