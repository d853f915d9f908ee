//! What lockset alone reports, looked at again: are the two ordered by more than which thread came to a lock first?
//!
//! Takes   the events of one recording, and pairs of sites.      Gives  for each pair whether it was ever loose, and else a step that orders it.
//! Misses  accesses of a thread at a site before its latest one to the same bytes: if that is ordered, so are they.
//! Invents nothing beyond what the firm order does (`races_happens_before::FirmOrder`).
//! Cost    one more walk over the recording; per access at a site asked for, a step for each thread that was at the bytes, and one for each of
//!         its accesses there that are not ordered. Memory for the accesses at these sites. What is loose once is not asked for again.

use rustc_hash::FxHashMap;
use unpick_events::access::PastKind;
use unpick_events::{Site, ThreadId};
use unpick_recording::{AccessFlags, AccessKind, Action, Event, Recording};

use crate::knowledge::Knowledge;
use crate::races::{ByteMap, Lives, RacingPair, SyncStep, stretches};
use crate::races_happens_before::FirmOrder;

/// So many accesses of a thread to some bytes are kept whatever they are.
const FEW: usize = 2;

/// What orders the accesses of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Firmness {
    /// At least once nothing did, but for locks whose sections have nothing to do with each other.
    pub is_loose: bool,
    /// If it is not: a step by which the second came after the first, of the first time that they met.
    pub ordered_by: Option<SyncStep>,
}

/// How firmly pairs are ordered, in their order.
pub fn firmness(
    recording: &Recording,
    knowledge: &dyn Knowledge,
    pairs: &[&RacingPair],
) -> Vec<Firmness> {
    let mut look = Look::new(pairs.iter().map(|pair| [pair.first.site, pair.second.site]));
    for event in recording.events() {
        if look.sites.is_empty() {
            break;
        }
        look.take_in(&event, knowledge);
    }
    look.answers
}

#[derive(Default)]
struct Look {
    order: FirmOrder,
    lives: Lives,
    bytes: ByteMap<Vec<OfThread>>,
    /// By numbers of sites.
    pairs: Vec<[usize; 2]>,
    /// Of each site in a pair that is not known to be loose, its number.
    sites: FxHashMap<Site, usize>,
    partners: Vec<Partners>,
    answers: Vec<Firmness>,
    /// What was met at the event at hand: memory that is used again.
    met: Vec<(usize, Met)>,
    told: Told,
}

/// The sites that form a pair with one, by number, and the numbers of these pairs.
struct Partners {
    site: Site,
    pairs: FxHashMap<usize, usize>,
    /// How many of the pairs have no step that orders them.
    without_step: usize,
}

/// What a thread did to some bytes, at sites asked for.
#[derive(Debug, Clone)]
struct OfThread {
    thread: ThreadId,
    /// By period. Of what it did alike, the latest counts; earlier ones stay until they are many.
    made: Vec<Made>,
    /// How many there were when such were last removed.
    different: usize,
}

/// An access.
#[derive(Debug, Clone, Copy)]
struct Made {
    what: What,
    period: u32,
}

/// The number of a site, and whether an access there writes and is atomic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct What(u32);

impl What {
    const KINDS: usize = 4;
    const WRITES: u32 = 1;
    const ATOMIC: u32 = 2;

    fn of_event(site: usize, kind: AccessKind, flags: AccessFlags) -> What {
        let writes = if kind == AccessKind::Read { 0 } else { What::WRITES };
        let atomic = if flags.is_atomic() { What::ATOMIC } else { 0 };
        What((site * What::KINDS) as u32 | writes | atomic)
    }

    /// It was not atomic: see `RaceAccess::of_past`.
    fn of_past(site: usize, kind: PastKind) -> What {
        let writes = if kind == PastKind::Read { 0 } else { What::WRITES };
        What((site * What::KINDS) as u32 | writes)
    }

    fn site(self) -> usize {
        self.0 as usize / What::KINDS
    }

    /// As `RaceAccess::conflicts_with`.
    fn conflicts_with(self, other: What) -> bool {
        (self.0 | other.0) & What::WRITES != 0 && self.0 & other.0 & What::ATOMIC == 0
    }
}

/// Which kinds of accesses were come across: memory that is used again.
#[derive(Default)]
struct Told {
    /// By `What`, the round in which it was last come across.
    rounds: Vec<u32>,
    round: u32,
}

impl Told {
    fn begin(&mut self) {
        self.round += 1;
    }

    fn is_first(&mut self, what: What) -> bool {
        let at = what.0 as usize;
        if self.rounds.len() <= at {
            self.rounds.resize(at + 1, 0);
        }
        std::mem::replace(&mut self.rounds[at], self.round) != self.round
    }
}

/// How the accesses of a pair met.
enum Met {
    Loosely,
    OrderedBy(SyncStep),
}

impl Look {
    fn new(pairs: impl Iterator<Item = [Site; 2]>) -> Look {
        let mut look = Look::default();
        for sites in pairs {
            let [one, other] = sites.map(|site| look.number_of(site));
            for (site, partner) in [(one, other), (other, one)] {
                look.partners[site].pairs.insert(partner, look.pairs.len());
            }
            look.pairs.push([one, other]);
        }
        for of_site in &mut look.partners {
            of_site.without_step = of_site.pairs.len();
        }
        look.answers = vec![Firmness::default(); look.pairs.len()];
        look
    }

    fn number_of(&mut self, site: Site) -> usize {
        let Look { sites, partners, .. } = self;
        *sites.entry(site).or_insert_with(|| {
            partners.push(Partners { site, pairs: FxHashMap::default(), without_step: 0 });
            partners.len() - 1
        })
    }

    fn take_in(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        if let Some((start, length)) = self.lives.ended_by(event) {
            self.bytes.forget(start, length);
            self.order.forget(start, length);
        }
        self.order.acquire(event, knowledge);
        self.access(event);
        self.order.release(event, knowledge);
    }

    fn access(&mut self, event: &Event<'_>) {
        let Action::Access { kind, flags, pasts, .. } = event.action else { return };
        if flags.is_free() {
            return;
        }
        let clocks = self.order.clocks();
        let pasts = pasts.iter().filter(|past| past.kind != PastKind::Free);
        let pasts: Vec<(ThreadId, Made)> = pasts
            .filter_map(|past| {
                let what = What::of_past(*self.sites.get(&past.site)?, past.kind);
                Some((past.thread, Made { what, period: clocks.period_of_past(&past)? }))
            })
            .collect();
        let site = self.sites.get(&event.site).copied();
        if pasts.is_empty() && site.is_none() {
            return;
        }
        let period = clocks.period(event.thread);
        let new = site.map(|site| Made { what: What::of_event(site, kind, flags), period });
        for (start, length) in stretches(event) {
            let Look { order, bytes, partners, answers, met, told, .. } = self;
            bytes.visit(start, length, |_, _, known| {
                pasts.iter().for_each(|(thread, past)| note_past(known, *thread, *past));
                if let Some(new) = new {
                    let asked = Asked { of_site: &partners[new.what.site()], answers, order };
                    asked.meet(known, event.thread, new.what, met);
                    note(known, event.thread, new, told);
                }
            });
        }
        let mut met = std::mem::take(&mut self.met);
        met.drain(..).for_each(|(number, how)| self.settle(number, how));
        self.met = met;
    }

    fn settle(&mut self, number: usize, met: Met) {
        let answer = &mut self.answers[number];
        match met {
            Met::Loosely => {
                let had_step = answer.ordered_by.is_some();
                *answer = Firmness { is_loose: true, ordered_by: None };
                self.ask_no_more(number, had_step);
            }
            Met::OrderedBy(step) if !answer.is_loose && answer.ordered_by.is_none() => {
                answer.ordered_by = Some(step);
                for site in self.sites_of(number) {
                    self.partners[site].without_step -= 1;
                }
            }
            Met::OrderedBy(_) => {}
        }
    }

    fn ask_no_more(&mut self, number: usize, had_step: bool) {
        let [one, other] = self.pairs[number];
        for (site, partner) in [(one, other), (other, one)] {
            let of_site = &mut self.partners[site];
            if of_site.pairs.remove(&partner).is_some() && !had_step {
                of_site.without_step -= 1;
            }
            if of_site.pairs.is_empty() {
                self.sites.remove(&of_site.site);
            }
        }
    }

    /// Once, if both are the same.
    fn sites_of(&self, number: usize) -> impl Iterator<Item = usize> + use<> {
        let [one, other] = self.pairs[number];
        std::iter::once(one).chain((one != other).then_some(other))
    }
}

/// What is asked about the pairs of a site.
struct Asked<'l> {
    of_site: &'l Partners,
    answers: &'l [Firmness],
    order: &'l FirmOrder,
}

impl Asked<'_> {
    /// Finds the accesses of others that an access of a thread meets, as far as that says anything new about their pair.
    fn meet(&self, known: &[OfThread], thread: ThreadId, new: What, met: &mut Vec<(usize, Met)>) {
        let knows = self.order.clocks().knows(thread);
        for other in known.iter().filter(|other| other.thread != thread) {
            let is_known_until = knows.of(other.thread);
            let is_loose = |earlier: &&Made| earlier.period > is_known_until;
            for earlier in other.made.iter().rev().take_while(is_loose) {
                let number = self.pair_of(new, earlier);
                met.extend(number.map(|number| (number, Met::Loosely)));
            }
            if self.of_site.without_step > 0 {
                let ordered = other.made.iter().take_while(|earlier| !is_loose(earlier));
                let numbers = ordered.filter_map(|earlier| self.pair_of(new, earlier));
                let numbers = numbers.filter(|number| self.answers[*number].ordered_by.is_none());
                let step = self.order.learned(thread, other.thread);
                met.extend(numbers.filter_map(|number| Some((number, Met::OrderedBy(step?)))));
            }
        }
    }

    /// The number of the pair that two accesses are of, if they are in conflict.
    fn pair_of(&self, new: What, earlier: &Made) -> Option<usize> {
        let is_conflict = earlier.what.conflicts_with(new);
        is_conflict.then(|| self.of_site.pairs.get(&earlier.what.site()).copied()).flatten()
    }
}

impl OfThread {
    /// Leaves of what was done alike the latest, if that makes room.
    fn leave_latest(&mut self, told: &mut Told) {
        if self.made.len() < 2 * self.different + FEW {
            return;
        }
        told.begin();
        self.made.reverse();
        self.made.retain(|made| told.is_first(made.what));
        self.made.reverse();
        self.different = self.made.len();
    }
}

fn note(known: &mut Vec<OfThread>, thread: ThreadId, new: Made, told: &mut Told) {
    let Some(own) = known.iter_mut().find(|one| one.thread == thread) else {
        return known.push(OfThread { thread, made: vec![new], different: 1 });
    };
    match own.made.last_mut() {
        Some(last) if last.what == new.what => *last = new,
        _ => {
            own.leave_latest(told);
            own.made.push(new);
        }
    }
}

/// Several events may tell of an access that has none itself.
fn note_past(known: &mut Vec<OfThread>, thread: ThreadId, past: Made) {
    let Some(own) = known.iter_mut().find(|one| one.thread == thread) else {
        return known.push(OfThread { thread, made: vec![past], different: 1 });
    };
    let is_told = |made: &Made| made.what == past.what && made.period >= past.period;
    if !own.made.iter().any(is_told) {
        let at = own.made.partition_point(|made| made.period <= past.period);
        own.made.insert(at, past);
    }
}
