//! Races of a run as findings: what either detector says of two accesses, with names.

use unpick_analyses::races::{Race, RunRaces, TornRace};
use unpick_analyses::ranking::{
    CodeBook, ExampleAccess, ExampleLock, ExampleMemory, accesses_of, locks_of,
};

use super::{CorrelatedAccess, RaceFinding, StepWords, ThreadSteps};
use crate::describe::AccessWords;
use crate::names::Frame;

/// Accesses and objects of a run, with the numbers of the code book.
pub struct Examples {
    accesses: Vec<ExampleAccess>,
    objects: Vec<ExampleLock>,
}

impl Examples {
    pub fn of(run: &RunRaces, code: &mut CodeBook) -> Examples {
        Examples { accesses: accesses_of(&run.code, code), objects: locks_of(&run.code, code) }
    }
}

pub fn described(
    race: &Race,
    run: u64,
    examples: &Examples,
    words: &AccessWords<'_>,
) -> RaceFinding {
    let both = race.accesses.map(|number| &examples.accesses[number as usize]);
    let accesses = vec![words.access(1, both[0]), words.access(2, both[1])];
    let variable = accesses.iter().find_map(|access| access.variable.clone());
    let steps = race.around.iter().map(|around| ThreadSteps::of(around, &examples.objects, words));
    RaceFinding {
        detectors: Vec::new(),
        sentence: String::new(),
        why: String::new(),
        variable,
        allocated_at: allocated_at(both[0], words),
        unordered: race.happens_before,
        unlocked: race.lockset,
        loose: race.loose,
        ordered_by: race.ordered_by.map(|step| StepWords::of(&step, &examples.objects, words)),
        runs: 1,
        example_run: run,
        own_code: both.iter().any(|access| words.is_own_access(access)),
        accesses,
        steps: steps.collect(),
        undated: race.is_undated,
        correlated: None,
        ways: Vec::new(),
        forced: None,
    }
}

/// A unit of correlated accesses that another thread can come between.
pub fn described_torn(
    torn: &TornRace,
    run: u64,
    examples: &Examples,
    words: &AccessWords<'_>,
) -> RaceFinding {
    let [own, remote, left_out] = torn.accesses;
    let race = Race {
        accesses: [own, remote],
        happens_before: torn.happens_before,
        lockset: torn.lockset,
        loose: torn.loose,
        ordered_by: torn.ordered_by,
        around: torn.around,
        is_undated: torn.is_undated,
    };
    let left_out = &examples.accesses[left_out as usize];
    let access = words.access(1, left_out);
    let correlated = Some(CorrelatedAccess { correlation: torn.rule.clone(), access });
    RaceFinding { correlated, ..described(&race, run, examples, words) }
}

fn allocated_at(access: &ExampleAccess, words: &AccessWords<'_>) -> Option<Frame> {
    let ExampleMemory::Heap { block, .. } = &access.memory else { return None };
    let (site, _) = words.places.own_site(block.site, &block.stack);
    Some(words.places.place(site).frame)
}
