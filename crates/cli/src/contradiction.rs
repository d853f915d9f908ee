//! Labels that contradict each other: a run failed and another passed, though threads did the same in both.
//!
//! Takes   the labelled runs of a hunt.      Gives  two of them, and a sentence for people.
//! Misses  runs that differ in what has nothing to do with failing.
//!
//! That is no error: a failure may depend on something else than threads. But whoever judges by hand or by an oracle has to know it, for
//! no comparison of such runs can find anything.

use std::collections::{BTreeSet, HashMap};

use unpick_analyses::RunPatterns;
use unpick_analyses::interleaving_patterns::PatternId;
use unpick_events::Label;
use unpick_run_store::{StoredRun, read_patterns};

/// An order of accesses: what it is, and where in which build.
type Order = (PatternId, Vec<(Option<String>, u64)>);

/// A run that failed and one that passed with the same orders of accesses, as a sentence.
pub fn contradiction(runs: &[StoredRun]) -> Option<String> {
    let (failed, passed) = alike(runs)?;
    Some(format!(
        "run {failed} failed and run {passed} passed, though both show the same orders of accesses: \
         is one of them labelled wrongly (--fail-if, --oracle), or does it depend on something else than threads?"
    ))
}

/// The first failing run that does the same as a passing one.
fn alike(runs: &[StoredRun]) -> Option<(u64, u64)> {
    let of = |label: Label| runs.iter().filter(move |run| run.label() == label);
    // Of several that are alike the first stays. A run whose patterns cannot be read contradicts nothing.
    let orders = |run: &StoredRun| read_patterns(&run.folder).ok().map(|run| orders_of(&run));
    let known: HashMap<BTreeSet<Order>, u64> =
        of(Label::Pass).rev().filter_map(|run| Some((orders(run)?, run.number))).collect();
    of(Label::Fail).find_map(|run| {
        let passed = known.get(&orders(run).filter(|orders| !orders.is_empty())?)?;
        Some((run.number, *passed))
    })
}

fn orders_of(run: &RunPatterns) -> BTreeSet<Order> {
    let place = |site: u32| {
        let site = run.sites[site as usize];
        let module = site.module.map(|module| &run.modules[module as usize]);
        (module.map(|module| module.build_id.clone()), site.offset)
    };
    let orders =
        run.patterns.iter().map(|found| (found.pattern, run.sites_of(found).map(place).collect()));
    orders.collect()
}
