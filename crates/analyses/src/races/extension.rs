//! The multi-variable extension over the recordings of a run: names for sites, numbers for rules, torn units with all that is told of them.

use rustc_hash::{FxHashMap, FxHashSet};
use unpick_events::Site;
use unpick_recording::history::HeapBlock;
use unpick_recording::{Action, Recording};

use super::access::{RaceAccess, stretches};
use super::lives::Lives;
use crate::knowledge::Knowledge;
use crate::races_multi_variable::{
    AccessType, Correlations, LARGEST_OBJECT, Mining, Rule, TornUnit, is_called, is_field, mine,
    parts_of, torn_units,
};
use crate::ranking::{CodeBook, ExampleAccess, ExampleMemory};

/// Gives the name of what an access is to.
pub type Namer<'n> = &'n dyn Fn(&ExampleAccess, &CodeBook) -> Option<String>;

/// A correlation as the sources have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedRule {
    pub sides: [(String, AccessType); 2],
    /// As it is shown.
    pub text: String,
    /// What it rests on, of the variables as the first and the second: `5 of 6 functions that write the first write the second`.
    pub because: String,
}

/// One of two accesses of a thread, as it is asked for.
#[derive(Debug, Clone, Copy)]
pub struct NamedAccess<'a> {
    pub name: &'a str,
    pub writes: bool,
    pub memory: &'a ExampleMemory,
}

impl NamedRule {
    /// Both are fields: only those of one object belong together.
    pub fn is_of_one_object(&self) -> bool {
        self.sides.iter().all(|(name, _)| is_field(name))
    }

    /// Whether two accesses of a thread are those of the rule; then which of them is the first side's.
    pub fn first_of(&self, accesses: [NamedAccess<'_>; 2]) -> Option<usize> {
        let is_apart = || !is_of_same_object(accesses[0].memory, accesses[1].memory);
        if self.is_of_one_object() && is_apart() {
            return None;
        }
        let is = |side: usize, access: NamedAccess<'_>| {
            let (name, kind) = &self.sides[side];
            is_called(access.name, name) && kind.fits(access.writes)
        };
        (0..2).find(|&first| is(0, accesses[first]) && is(1, accesses[1 - first]))
    }
}

/// As `Tracked::is_of_same_object`, of what is kept of accesses.
fn is_of_same_object(one: &ExampleMemory, other: &ExampleMemory) -> bool {
    match (one, other) {
        (ExampleMemory::Heap { block: one, .. }, ExampleMemory::Heap { block: other, .. }) => {
            one == other
        }
        (
            ExampleMemory::Static { module: one, offset: at },
            ExampleMemory::Static { module: other, offset },
        ) => one == other && at.abs_diff(*offset) <= LARGEST_OBJECT,
        (ExampleMemory::Other { address: one }, ExampleMemory::Other { address: other }) => {
            one.abs_diff(*other) <= LARGEST_OBJECT
        }
        _ => false,
    }
}

/// Where correlations come from.
#[derive(Debug, Clone)]
pub enum CorrelationSource<'s> {
    Named(&'s [NamedRule]),
    /// From the recording itself.
    Mined(Mining),
}

/// Where a site was first seen to access what.
pub(super) struct SeenSite {
    pub access: RaceAccess,
    pub address: u64,
    pub length: u64,
    pub block: Option<HeapBlock>,
}

/// The sites that access memory, each with its first access, also those whose accesses have no event.
pub(super) fn seen_sites(recording: &Recording) -> Vec<SeenSite> {
    let mut lives = Lives::default();
    let mut known: FxHashSet<Site> = FxHashSet::default();
    let mut seen = Vec::new();
    for event in recording.events() {
        lives.ended_by(&event);
        let Action::Access { kind, flags, pasts, .. } = event.action else { continue };
        let own = RaceAccess::of_event(&event, kind, flags);
        let own = Some(own).filter(|_| !flags.is_free());
        let of_others = pasts.iter().map(|past| RaceAccess::of_past(&past));
        for access in of_others.chain(own) {
            if known.insert(access.site)
                && let Some((address, length)) = stretches(&event).next()
            {
                seen.push(SeenSite { access, address, length, block: lives.block_at(address) });
            }
        }
    }
    seen
}

/// What was found, and the rules that were looked at.
pub(super) struct Extended {
    pub torn: Vec<TornUnit>,
    pub rules: Vec<NamedRule>,
}

/// Looks for torn units, given what the sites access.
pub(super) fn extend(
    recording: &Recording,
    knowledge: &dyn Knowledge,
    source: &CorrelationSource<'_>,
    names: &[(Site, String)],
) -> Extended {
    let (correlations, rules) = match source {
        CorrelationSource::Named(rules) => named(rules, names),
        CorrelationSource::Mined(mining) => mined(recording, knowledge, *mining, names),
    };
    if correlations.rules.is_empty() {
        return Extended { torn: Vec::new(), rules };
    }
    let mut torn = torn_units(recording, knowledge, &correlations);
    if recording.limit().has_run_out() {
        // What orders the others was not found out.
        torn.retain(|torn| torn.unordered);
    }
    Extended { torn, rules }
}

/// Variables under numbers, and where they are accessed.
struct Variables<'n> {
    names: &'n [(Site, String)],
    numbers: FxHashMap<String, u32>,
    variable_at: FxHashMap<Site, u32>,
}

impl<'n> Variables<'n> {
    fn new(names: &'n [(Site, String)]) -> Variables<'n> {
        Variables { names, numbers: FxHashMap::default(), variable_at: FxHashMap::default() }
    }

    /// The number of a variable that a correlation names, if some site accesses it.
    fn called(&mut self, correlated: &str) -> Option<u32> {
        // Fields of the same name are one variable here: see `is_called`.
        let is_field = is_field(correlated);
        let key = format!("{is_field}:{}", parts_of(correlated).last()?);
        if let Some(&known) = self.numbers.get(&key) {
            return Some(known);
        }
        let number = self.numbers.len() as u32;
        let sites = self.names.iter().filter(|(_, name)| is_called(name, correlated));
        let sites: Vec<Site> = sites.map(|(site, _)| *site).collect();
        sites.first()?;
        for site in sites {
            self.variable_at.entry(site).or_insert(number);
        }
        self.numbers.insert(key, number);
        Some(number)
    }

    /// All variables that sites access, by their whole names.
    fn all(names: &'n [(Site, String)]) -> Variables<'n> {
        let mut variables = Variables::new(names);
        for (site, name) in names {
            let next = variables.numbers.len() as u32;
            let number = *variables.numbers.entry(parts_of(name).join(".")).or_insert(next);
            variables.variable_at.insert(*site, number);
        }
        variables
    }
}

/// The rules both of whose variables some site accesses.
fn named(rules: &[NamedRule], names: &[(Site, String)]) -> (Correlations, Vec<NamedRule>) {
    let mut variables = Variables::new(names);
    let mut found = Vec::new();
    let mut shown = Vec::new();
    for rule in rules {
        let [(one, one_access), (other, other_access)] = &rule.sides;
        let (Some(first), Some(second)) = (variables.called(one), variables.called(other)) else {
            continue;
        };
        let sides = [(first, *one_access), (second, *other_access)];
        found.push(Rule { sides, of_one_object: rule.is_of_one_object() });
        shown.push(rule.clone());
    }
    (Correlations { variable_at: variables.variable_at, rules: found }, shown)
}

/// The rules that the recording itself suggests.
fn mined(
    recording: &Recording,
    knowledge: &dyn Knowledge,
    mining: Mining,
    names: &[(Site, String)],
) -> (Correlations, Vec<NamedRule>) {
    let variables = Variables::all(names);
    let mut words = vec![String::new(); variables.numbers.len()];
    for (name, &number) in &variables.numbers {
        words[number as usize].clone_from(name);
    }
    let pairs = mine(recording, knowledge, &variables.variable_at, mining);
    let rules = pairs.iter().map(|pair| {
        let [one, other] = pair.variables;
        let of_one_object = pair.variables.iter().all(|&one| words[one as usize].contains('.'));
        Rule { sides: [(one, AccessType::Any), (other, AccessType::Any)], of_one_object }
    });
    let rules = rules.collect();
    let shown = pairs.iter().map(|pair| {
        let [one, other] = pair.variables.map(|variable| &words[variable as usize]);
        let because = format!("in one critical section {} times", pair.support);
        NamedRule {
            sides: [one, other].map(|name| (name.clone(), AccessType::Any)),
            text: format!("{one} and {other}: {because}"),
            because,
        }
    });
    let shown = shown.collect();
    (Correlations { variable_at: variables.variable_at, rules }, shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn access(name: &str, writes: bool, offset: u64) -> (String, bool, ExampleMemory) {
        (name.to_owned(), writes, ExampleMemory::Static { module: 0, offset })
    }

    fn first_of(rule: &NamedRule, unit: &[(String, bool, ExampleMemory); 2]) -> Option<usize> {
        rule.first_of([0, 1].map(|at| {
            let (name, writes, memory) = &unit[at];
            NamedAccess { name, writes: *writes, memory }
        }))
    }

    fn rule(one: &str, other: &str) -> NamedRule {
        let sides = [(one.to_owned(), AccessType::Write), (other.to_owned(), AccessType::Any)];
        NamedRule { sides, text: String::new(), because: String::new() }
    }

    #[test]
    fn a_rule_is_about_these_accesses_in_either_order() {
        let rule = rule("cache::table", "cache::empty");
        let table = access("cache.table[3]", true, 16);
        let empty = access("cache.empty", false, 64);
        assert_eq!(first_of(&rule, &[table.clone(), empty.clone()]), Some(0));
        assert_eq!(first_of(&rule, &[empty.clone(), table]), Some(1));
        let read = access("cache.table[3]", false, 16);
        assert_eq!(first_of(&rule, &[read, empty]), None, "who reads the one is not meant");
    }

    #[test]
    fn fields_belong_together_in_one_object_and_globals_anywhere() {
        let far = 10 * LARGEST_OBJECT;
        let fields = [access("one.table", true, 0), access("other.empty", false, far)];
        assert_eq!(first_of(&rule("cache::table", "cache::empty"), &fields), None);
        let globals = [access("table", true, 0), access("empty", false, far)];
        assert_eq!(first_of(&rule("table", "empty"), &globals), Some(0));
    }
}
