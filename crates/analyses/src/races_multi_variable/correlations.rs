//! Which variables belong together, as the extension takes it: by numbers, with the accesses that do.

use rustc_hash::FxHashMap;
use unpick_events::Site;

/// Which accesses one side of a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessType {
    Read,
    Write,
    Any,
}

impl AccessType {
    pub fn fits(self, writes: bool) -> bool {
        match self {
            AccessType::Read => !writes,
            AccessType::Write => writes,
            AccessType::Any => true,
        }
    }
}

/// Whoever makes the one access makes the other nearby.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Number and access of either variable.
    pub sides: [(u32, AccessType); 2],
    /// Both are fields: only those of one object belong together.
    pub of_one_object: bool,
}

impl Rule {
    /// The other variable of the rule.
    pub fn partner_of(&self, variable: u32) -> Option<u32> {
        let [(one, _), (other, _)] = self.sides;
        match variable {
            _ if variable == one => Some(other),
            _ if variable == other => Some(one),
            _ => None,
        }
    }

    /// Whether accesses to two variables, given with whether they write, are those of the rule.
    pub fn fits(&self, accesses: [(u32, bool); 2]) -> bool {
        let is = |(variable, access): (u32, AccessType), (accessed, writes): (u32, bool)| {
            variable == accessed && access.fits(writes)
        };
        let [one, other] = accesses;
        is(self.sides[0], one) && is(self.sides[1], other)
            || is(self.sides[0], other) && is(self.sides[1], one)
    }
}

/// All rules, and which variable is accessed where. A site that accesses several counts for one of them.
#[derive(Debug, Clone, Default)]
pub struct Correlations {
    pub variable_at: FxHashMap<Site, u32>,
    pub rules: Vec<Rule>,
}
