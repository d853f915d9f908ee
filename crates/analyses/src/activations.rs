//! Which activation of a function each access was made in: one dynamic call, from its entry to its return.
//!
//! Takes   the events of a recording in order.      Returns  for an access the activation it is in, and the one that called that.
//! Misses  calls deeper than a recording spells out: accesses there have no activation.
//! Cost    one comparison of call stacks per access; memory for each activation in which an access was recorded.
//!
//! A call stack alone does not tell one call from the next: a loop reaches the same line by the same call sites. `Calls` events say
//! which calls were left in between; where two stacks differ, the calls below the difference were.

use rustc_hash::FxHashMap;
use unpick_events::live::MAX_SPELLED;
use unpick_events::{Site, ThreadId};
use unpick_recording::{Action, Event, Recording};

/// One dynamic call and who made it. Numbers are unique in a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Activation {
    own: u32,
    /// None: nobody with hooks.
    caller: Option<u32>,
    call_site: Site,
}

/// How the activations of two accesses are related.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// They are one, or one called the other.
    Direct,
    /// One activation called both, at two places: the same place again is a new piece of work.
    Siblings,
}

impl Activation {
    /// None: no activation has both accesses in it or in what it called.
    pub fn relation_to(self, other: Activation) -> Option<Relation> {
        if self.own == other.own || Some(self.own) == other.caller || self.caller == Some(other.own)
        {
            return Some(Relation::Direct);
        }
        let has_one_caller = self.caller.is_some() && self.caller == other.caller;
        (has_one_caller && self.call_site != other.call_site).then_some(Relation::Siblings)
    }

    /// The number of the dynamic call.
    pub fn number(self) -> u32 {
        self.own
    }
}

/// Follows the calls of all threads.
#[derive(Debug, Default)]
pub struct Activations {
    threads: FxHashMap<ThreadId, Vec<(Site, u32)>>,
    /// By number: who called it, and where.
    calls: Vec<Call>,
    /// The last activation by the same call in the same activation of the same thread.
    entered: FxHashMap<(ThreadId, Option<u32>, Site), u32>,
}

#[derive(Debug, Clone, Copy)]
struct Call {
    caller: Option<u32>,
    site: Site,
    depth: u32,
    /// The same call was made several times.
    is_repeated: bool,
}

impl Activations {
    /// Calls that were left, as far as an event says so.
    pub fn observe(&mut self, event: &Event<'_>) {
        if let Action::Calls { kept } = event.action
            && let Some(calls) = self.threads.get_mut(&event.thread)
        {
            calls.truncate(usize::try_from(kept).unwrap_or(usize::MAX));
        }
    }

    /// The activation that an access of an event is in; none if its calls are not known, or not all.
    pub fn of(&mut self, recording: &Recording, event: &Event<'_>) -> Option<Activation> {
        let stack = recording.stacks().get(event.context)?;
        if stack.is_empty() || stack.len() >= MAX_SPELLED {
            return None;
        }
        let calls = self.threads.entry(event.thread).or_default();
        let common = calls.iter().zip(stack).take_while(|((site, _), new)| site == *new).count();
        calls.truncate(common);
        for site in &stack[common..] {
            let number = self.calls.len() as u32;
            let caller = calls.last().map(|&(_, caller)| caller);
            let before = self.entered.insert((event.thread, caller, *site), number);
            if let Some(before) = before {
                self.calls[before as usize].is_repeated = true;
            }
            let (depth, is_repeated) = (calls.len() as u32, before.is_some());
            self.calls.push(Call { caller, site: *site, depth, is_repeated });
            calls.push((*site, number));
        }
        let &(call_site, own) = calls.last()?;
        let caller = calls.len().checked_sub(2).map(|at| calls[at].1);
        Some(Activation { own, caller, call_site })
    }

    /// The innermost activation that two accesses have in common, and where it made them, or called what did. None: they have none.
    pub fn in_common(&self, one: (u32, Site), other: (u32, Site)) -> Option<(u32, [Site; 2])> {
        let (mut one, mut other) = (one, other);
        while one.0 != other.0 {
            if self.call(one.0).depth >= self.call(other.0).depth {
                one = self.caller(one.0)?;
            } else {
                other = self.caller(other.0)?;
            }
        }
        Some((one.0, [one.1, other.1]))
    }

    /// Whether its thread came to this activation only once, and to all that led there.
    pub fn is_entered_once(&self, number: u32) -> bool {
        let call = self.call(number);
        !call.is_repeated && call.caller.is_none_or(|caller| self.is_entered_once(caller))
    }

    fn call(&self, number: u32) -> Call {
        self.calls[number as usize]
    }

    /// Who called an activation, and where.
    fn caller(&self, number: u32) -> Option<(u32, Site)> {
        let call = self.call(number);
        Some((call.caller?, call.site))
    }
}
