//! The accesses to correlated variables of one recording: when, under which locks and in which activation each was made.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use unpick_events::{Context, Past, Site, ThreadId};
use unpick_recording::history::HeapBlock;
use unpick_recording::{Action, Event, Recording};

use super::correlations::Correlations;
use super::units::{Unit, Units};
use crate::activations::{Activation, Activations};
use crate::knowledge::Knowledge;
use crate::locks_held::{LockChange, Moment, locks_held};
use crate::races::{Lives, RaceAccess, stretches};
use crate::races_happens_before::{ThreadClocks, VectorClock};

/// Static variables further apart than this are of different objects.
pub const LARGEST_OBJECT: u64 = 4096;
/// So many accesses of a thread at a site are kept.
const MOST_OF_SITE: u32 = 32;

/// A lock that is held, and since which event of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    pub lock: u64,
    pub shared: bool,
    pub acquisition: u64,
    /// Where it was taken; 0: not known.
    pub site: Site,
    pub context: Context,
}

impl Held {
    /// Whether who holds this one keeps out who holds the other: two readers do not.
    pub fn excludes(&self, other: &Held) -> bool {
        self.lock == other.lock && !(self.shared && other.shared)
    }

    /// Whether the other is of a later execution of the same critical section: the same code has taken the same lock again.
    pub fn is_taken_again_by(&self, later: &Held) -> bool {
        let taken_at = |held: &Held| (held.lock, held.site, held.context);
        self.acquisition != later.acquisition
            && self.site != Site(0)
            && taken_at(self) == taken_at(later)
    }
}

/// An access to a correlated variable.
#[derive(Debug, Clone)]
pub struct Tracked {
    pub access: RaceAccess,
    pub variable: u32,
    pub address: u64,
    pub length: u64,
    pub block: Option<HeapBlock>,
    pub locks: Vec<Held>,
    /// By all that synchronises, and by creations and joins alone.
    order: Dated,
    segment: Dated,
    /// None: the calls that led to it are not known.
    pub activation: Option<Activation>,
    /// It belongs together with another one.
    pub in_unit: bool,
}

impl Tracked {
    /// Whether two accesses to one variable are to the same instance of it. Static variables that lie close by may be of several
    /// objects of one type: these are told apart by their bytes.
    pub fn is_to_same_bytes(&self, other: &Tracked) -> bool {
        match (&self.block, &other.block) {
            (None, None) => {
                self.address < other.address + other.length
                    && other.address < self.address + self.length
            }
            _ => self.is_of_same_object(other),
        }
    }
}

/// When an access was made: in which period of its thread, and the number of what that knew of others.
#[derive(Debug, Clone, Copy)]
struct Dated {
    period: u32,
    knew: u32,
}

impl Tracked {
    pub fn is_of_same_object(&self, other: &Tracked) -> bool {
        match (&self.block, &other.block) {
            (Some(one), Some(other)) => one.address == other.address && one.serial == other.serial,
            (None, None) => self.address.abs_diff(other.address) <= LARGEST_OBJECT,
            _ => false,
        }
    }
}

/// What is kept of a recording.
#[derive(Debug, Default)]
pub struct Trace {
    pub accesses: Vec<Tracked>,
    pub units: Vec<Unit>,
    clocks: Vec<VectorClock>,
}

impl Trace {
    pub fn of(
        recording: &Recording,
        knowledge: &dyn Knowledge,
        correlations: &Correlations,
    ) -> Trace {
        let mut tracer = Tracer {
            recording,
            correlations,
            order: Dating::default(),
            segments: Dating::default(),
            lives: Lives::default(),
            held: FxHashMap::default(),
            activations: Activations::default(),
            units: Units::default(),
            kept: FxHashMap::default(),
            pasts: BTreeMap::new(),
            trace: Trace::default(),
        };
        recording.events().for_each(|event| tracer.take_in(&event, knowledge));
        tracer.find_locks_of_pasts(knowledge);
        let Tracer { units, mut trace, .. } = tracer;
        trace.units = units.finish(&mut trace.accesses);
        trace
    }

    /// Whether an access comes before another in this run.
    pub fn is_before(&self, first: &Tracked, second: &Tracked) -> bool {
        self.knew(second.order).of(first.access.thread) >= first.order.period
    }

    /// Whether an access comes before another because threads are created or joined in between: whatever locks do.
    pub fn is_in_earlier_segment(&self, first: &Tracked, second: &Tracked) -> bool {
        self.knew(second.segment).of(first.access.thread) >= first.segment.period
    }

    fn knew(&self, dated: Dated) -> &VectorClock {
        &self.clocks[dated.knew as usize]
    }
}

struct Tracer<'r> {
    recording: &'r Recording,
    correlations: &'r Correlations,
    order: Dating,
    segments: Dating,
    lives: Lives,
    held: FxHashMap<ThreadId, Vec<Held>>,
    activations: Activations,
    units: Units,
    /// How many accesses of a thread at a site there were.
    kept: FxHashMap<(ThreadId, Site), u32>,
    /// Accesses that have no event: when they were made, and their numbers. Several events may tell of one.
    pasts: BTreeMap<(Moment, Site), usize>,
    trace: Trace,
}

/// Says when accesses are made.
#[derive(Default)]
struct Dating {
    clocks: ThreadClocks,
    /// The number of what a thread knew last.
    last_known: FxHashMap<ThreadId, u32>,
}

impl Dating {
    /// A new number only if the thread has learned something.
    fn date(&mut self, thread: ThreadId, all: &mut Vec<VectorClock>) -> Dated {
        let knows = self.clocks.knows(thread);
        let period = knows.of(thread);
        let last = self.last_known.get(&thread).copied();
        if let Some(knew) = last.filter(|&last| all[last as usize] == *knows) {
            return Dated { period, knew };
        }
        let knew = all.len() as u32;
        all.push(knows.clone());
        self.last_known.insert(thread, knew);
        Dated { period, knew }
    }
}

impl Tracer<'_> {
    fn take_in(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        self.lives.ended_by(event);
        self.activations.observe(event);
        self.order.clocks.acquire(event, knowledge);
        self.segments.clocks.meet(event);
        self.change_locks(event, knowledge);
        if let Action::Access { pasts, .. } = event.action {
            pasts.iter().for_each(|past| self.past(event, &past));
            if let Some(&variable) = self.correlations.variable_at.get(&event.site) {
                self.access(event, variable);
            }
        }
        self.order.clocks.release(event);
        if let Some((start, length)) = Lives::objects_ended_by(event) {
            self.order.clocks.forget(start, length);
        }
        if let Action::ThreadCreate { .. } | Action::ThreadJoin { .. } = event.action {
            self.segments.clocks.acquire(event, knowledge);
            self.segments.clocks.release(event);
        }
    }

    fn change_locks(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        let Some(change) = knowledge.lock_change(event) else { return };
        let held = self.held.entry(event.thread).or_default();
        let last = |held: &[Held], lock: u64| held.iter().rposition(|one| one.lock == lock);
        match change {
            LockChange::Taken { lock, shared, .. } => {
                let Event { site, context, ordinal: acquisition, .. } = *event;
                held.push(Held { lock: lock.0, shared, acquisition, site, context });
            }
            LockChange::Released { lock } => {
                last(held, lock.0).map(|at| held.remove(at));
            }
            LockChange::Downgraded { lock } | LockChange::Upgraded { lock } => {
                if let Some(at) = last(held, lock.0) {
                    held[at].shared = matches!(change, LockChange::Downgraded { .. });
                }
            }
        }
    }

    /// An access from before the bytes were shared: others may have to do with it, but how it was reached is not known.
    fn past(&mut self, event: &Event<'_>, past: &Past) {
        let access = RaceAccess::of_past(past);
        let key = (access.moment(), past.site);
        let Some(&variable) = self.correlations.variable_at.get(&past.site) else { return };
        let Some((address, length)) = stretches(event).next() else { return };
        let dated = |dating: &mut Dating, all: &mut Vec<VectorClock>| {
            let period = dating.clocks.period_of_past(past)?;
            Some(Dated { period, ..dating.date(past.thread, all) })
        };
        let all = &mut self.trace.clocks;
        let (order, segment) = (dated(&mut self.order, all), dated(&mut self.segments, all));
        let (Some(order), Some(segment), false) = (order, segment, self.pasts.contains_key(&key))
        else {
            return;
        };
        self.pasts.insert(key, self.trace.accesses.len());
        let block = self.lives.block_at(address);
        self.trace.accesses.push(Tracked {
            access,
            variable,
            address,
            length,
            block,
            locks: Vec::new(),
            order,
            segment,
            activation: None,
            in_unit: false,
        });
    }

    /// A lock that was held at any moment at which the access can have been made may keep it out.
    fn find_locks_of_pasts(&mut self, knowledge: &dyn Knowledge) {
        let mut asked: Vec<(Moment, usize)> = Vec::new();
        for &number in self.pasts.values() {
            let access = self.trace.accesses[number].access;
            let first =
                self.recording.stream(access.thread).next().map_or(0, |event| event.ordinal);
            asked.extend(access.moments(first).map(|moment| (moment, number)));
        }
        asked.sort_unstable();
        let moments: Vec<Moment> = asked.iter().map(|(moment, _)| *moment).collect();
        let all = locks_held(self.recording, knowledge, &moments);
        for ((_, number), held) in asked.into_iter().zip(all) {
            let held = held.iter().map(|held| Held {
                lock: held.lock.0,
                shared: held.shared,
                acquisition: held.acquisition,
                site: held.site,
                context: held.context,
            });
            self.trace.accesses[number].locks.extend(held);
        }
    }

    fn access(&mut self, event: &Event<'_>, variable: u32) {
        let Action::Access { kind, flags, .. } = event.action else { return };
        let kept = self.kept.entry((event.thread, event.site)).or_default();
        if flags.is_free() || *kept >= MOST_OF_SITE {
            return;
        }
        *kept += 1;
        let Some((address, length)) = stretches(event).next() else { return };
        let number = self.trace.accesses.len();
        let activation = self.activations.of(self.recording, event);
        let tracked = Tracked {
            access: RaceAccess::of_event(event, kind, flags),
            variable,
            address,
            length,
            block: self.lives.block_at(address),
            locks: self.held.get(&event.thread).cloned().unwrap_or_default(),
            order: self.order.date(event.thread, &mut self.trace.clocks),
            segment: self.segments.date(event.thread, &mut self.trace.clocks),
            activation,
            in_unit: false,
        };
        self.trace.accesses.push(tracked);
        let Tracer { units, trace, correlations, .. } = self;
        units.observe(&trace.accesses, number, event.ordinal, correlations);
    }
}
