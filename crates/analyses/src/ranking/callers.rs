//! By which calls a place is reached, where an example does not say it.
//!
//! Takes   the accesses of runs.      Gives  for a place, the innermost calls that all of its accesses have in common.
//! Misses  places whose accesses were all recorded without a stack: of an access that has no event of its own, a recording has the place alone.
//! Invents nothing that no run had; but this very access may have come by other calls.

use rustc_hash::FxHashMap;

use crate::interleaving_patterns::RunPatterns;

use super::code_book::Translation;

/// By site, both numbered by the code book: call sites, outermost first.
#[derive(Default)]
pub struct Callers {
    stacks: FxHashMap<u32, Vec<u32>>,
}

impl Callers {
    pub fn add(&mut self, run: &RunPatterns, translation: &Translation) {
        let site = |site: u32| translation.sites[site as usize];
        for access in run.accesses.iter().filter(|access| access.stack != 0) {
            let stack = run.stacks[access.stack as usize].iter().map(|&call| site(call));
            self.add_stack(site(access.site), stack);
        }
    }

    fn add_stack(&mut self, site: u32, stack: impl DoubleEndedIterator<Item = u32>) {
        let Some(known) = self.stacks.get_mut(&site) else {
            self.stacks.insert(site, stack.collect());
            return;
        };
        let common = known.iter().rev().zip(stack.rev()).take_while(|(known, new)| *known == new);
        let common = common.count();
        known.drain(..known.len() - common);
    }

    /// Empty: unknown, or accesses have nothing in common.
    pub fn of(&self, site: u32) -> Vec<u32> {
        self.stacks.get(&site).cloned().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_accesses_of_a_place_have_in_common_is_known_from_inside() {
        let mut callers = Callers::default();
        callers.add_stack(7, [1, 2, 3].into_iter());
        assert_eq!(callers.of(7), [1, 2, 3]);
        callers.add_stack(7, [1, 5, 3].into_iter());
        assert_eq!(callers.of(7), [3], "the same function, called by two others");
        callers.add_stack(7, [4].into_iter());
        assert!(callers.of(7).is_empty());
        assert!(callers.of(8).is_empty());
    }
}
