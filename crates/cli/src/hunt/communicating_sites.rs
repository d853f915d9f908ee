//! Where the threads of a run communicated, in the terms of the delays that later runs get.
//!
//! Takes   the patterns of a run, and where it synchronised.      Gives  its communicating sites and the orders of their pairs (`RunSites`).
//! Misses  sites in libraries of the system, which are not instrumented, and sites of modules that are not known.

use std::collections::HashMap;

use unpick_analyses::RunPatterns;
use unpick_analyses::interleaving_patterns::{Access, Class, CodeModule, Lock};
use unpick_analyses::synchronisation_sites::ModuleSite;
use unpick_runner::{DelaySite, RunSites, SiteModule, SitePair};

/// The communicating sites of a run.
pub fn communicating_sites(patterns: &RunPatterns, synchronised_at: &[ModuleSite]) -> RunSites {
    let mut table = SiteTable::default();
    for &site in &patterns.seen_sites {
        table.number_of(site_in(patterns, site));
    }
    for lock in &patterns.locks {
        table.number_of(site_in(patterns, lock.site));
    }
    for at in synchronised_at {
        table.number_of(site_of(&at.module, at.offset));
    }
    let pairs = pairs_of(patterns, &mut table);
    RunSites { sites: table.sites, pairs }
}

/// Sites, each once, by number.
#[derive(Default)]
struct SiteTable {
    sites: Vec<DelaySite>,
    numbers: HashMap<DelaySite, usize>,
}

impl SiteTable {
    fn number_of(&mut self, site: Option<DelaySite>) -> Option<usize> {
        let site = site?;
        let next = self.sites.len();
        let number = *self.numbers.entry(site.clone()).or_insert(next);
        if number == next {
            self.sites.push(site);
        }
        Some(number)
    }
}

fn pairs_of(run: &RunPatterns, table: &mut SiteTable) -> Vec<SitePair> {
    let mut pairs = Vec::new();
    let orders = run.patterns.iter().filter(|found| found.pattern.class() == Class::Order);
    for found in orders {
        let accesses: Vec<&Access> = run.example(found).collect();
        let [first, second] = accesses[..] else { continue };
        let delayed_at = common_lock_site(run, first, second).unwrap_or(first.site);
        let mut number = |site| table.number_of(site_in(run, site));
        if let (Some(first), Some(second), Some(delayed_at)) =
            (number(first.site), number(second.site), number(delayed_at))
        {
            pairs.push(SitePair { first, second, delayed_at });
        }
    }
    for hidden in &run.hidden_pairs {
        let mut number = |site| table.number_of(site_in(run, site));
        if let (Some(first), Some(second)) = (number(hidden.sites[0]), number(hidden.sites[1])) {
            pairs.push(SitePair { first, second, delayed_at: first });
        }
    }
    pairs
}

/// Where the first access takes a lock under which the second is made too: delayed there, it lets the other go first.
fn common_lock_site(run: &RunPatterns, first: &Access, second: &Access) -> Option<u32> {
    let locks = |access: &Access| {
        let held = run.lock_sets[access.lock_set as usize].iter();
        held.map(|holding| &run.locks[holding.lock as usize])
    };
    let is_common = |lock: &&Lock| locks(second).any(|other| other.memory == lock.memory);
    locks(first).find(is_common).map(|lock| lock.site)
}

fn site_in(run: &RunPatterns, number: u32) -> Option<DelaySite> {
    let site = run.sites.get(number as usize)?;
    site_of(run.modules.get(site.module? as usize)?, site.offset)
}

fn site_of(module: &CodeModule, offset: u64) -> Option<DelaySite> {
    let is_of_system = ["/lib", "/usr/lib"].iter().any(|folder| module.path.starts_with(folder));
    let name = match module.build_id.is_empty() {
        true => SiteModule::Path(module.path.clone()),
        false => SiteModule::BuildId(module.build_id.clone()),
    };
    (!is_of_system).then_some(DelaySite { module: name, offset })
}
