//! What lockset alone reports, looked at again: are the two ordered by more than which thread came to a lock first?
//!
//! Takes   the events of one recording, and pairs of sites.      Gives  for each pair whether it was ever loose, and else a step that orders it.
//! Misses  accesses of a thread at a site before its latest one to the same bytes: if that is ordered, so are they.
//! Invents nothing beyond what the firm order does (`races_happens_before::FirmOrder`).
//! Cost    one more walk over the recording; per access at a site asked for, a step for each thread that was at the bytes, and one for each of
//!         its accesses there if they are not all ordered. Memory for the accesses at these sites. What is loose once is not asked for again.

use rustc_hash::FxHashMap;
use unpick_events::access::PastKind;
use unpick_events::{Site, ThreadId};
use unpick_recording::{Action, Event, Recording};

use crate::knowledge::Knowledge;
use crate::races::{ByteMap, Lives, RaceAccess, RacingPair, SyncStep, stretches};
use crate::races_happens_before::FirmOrder;

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
        if look.partners.is_empty() {
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
    pairs: Vec<[Site; 2]>,
    /// Of each site in a pair that is not known to be loose.
    partners: FxHashMap<Site, Partners>,
    answers: Vec<Firmness>,
}

/// The sites that form a pair with one, and the numbers of these pairs.
#[derive(Default)]
struct Partners {
    pairs: FxHashMap<Site, usize>,
    /// How many of the pairs have no step that orders them.
    without_step: usize,
}

/// What a thread did to some bytes, at sites asked for.
#[derive(Debug, Clone)]
struct OfThread {
    thread: ThreadId,
    /// The latest period with an access.
    latest: u32,
    /// Of each site and kind the latest, by site.
    accesses: Vec<Dated>,
}

#[derive(Debug, Clone, Copy)]
struct Dated {
    access: RaceAccess,
    period: u32,
}

/// How the accesses of a pair met.
enum Met {
    Loosely,
    OrderedBy(SyncStep),
}

impl Look {
    fn new(pairs: impl Iterator<Item = [Site; 2]>) -> Look {
        let pairs: Vec<[Site; 2]> = pairs.collect();
        let mut partners: FxHashMap<Site, Partners> = FxHashMap::default();
        for (number, &[one, other]) in pairs.iter().enumerate() {
            for (site, partner) in [(one, other), (other, one)] {
                partners.entry(site).or_default().pairs.insert(partner, number);
            }
        }
        for of_site in partners.values_mut() {
            of_site.without_step = of_site.pairs.len();
        }
        let answers = vec![Firmness::default(); pairs.len()];
        Look { pairs, partners, answers, ..Look::default() }
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
        let pasts = pasts.filter(|past| self.partners.contains_key(&past.site));
        let pasts: Vec<Dated> = pasts
            .filter_map(|past| {
                let period = clocks.period_of_past(&past)?;
                Some(Dated { access: RaceAccess::of_past(&past), period })
            })
            .collect();
        let is_asked_for = self.partners.contains_key(&event.site);
        if pasts.is_empty() && !is_asked_for {
            return;
        }
        let access = RaceAccess::of_event(event, kind, flags);
        let new = Dated { access, period: clocks.period(event.thread) };
        let mut met = Vec::new();
        for (start, length) in stretches(event) {
            let Look { order, bytes, partners, answers, .. } = self;
            bytes.visit(start, length, |_, _, known| {
                pasts.iter().for_each(|past| note_past(known, *past));
                if let Some(of_site) = partners.get(&event.site) {
                    meet(known, &new, of_site, order, answers, &mut met);
                    note(known, new);
                }
            });
        }
        met.into_iter().for_each(|(number, how)| self.settle(number, how));
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
                    if let Some(of_site) = self.partners.get_mut(&site) {
                        of_site.without_step -= 1;
                    }
                }
            }
            Met::OrderedBy(_) => {}
        }
    }

    fn ask_no_more(&mut self, number: usize, had_step: bool) {
        let [one, other] = self.pairs[number];
        for (site, partner) in [(one, other), (other, one)] {
            let Some(of_site) = self.partners.get_mut(&site) else { continue };
            if of_site.pairs.remove(&partner).is_some() && !had_step {
                of_site.without_step -= 1;
            }
            if of_site.pairs.is_empty() {
                self.partners.remove(&site);
            }
        }
    }

    /// Once, if both are the same.
    fn sites_of(&self, number: usize) -> impl Iterator<Item = Site> + use<> {
        let [one, other] = self.pairs[number];
        std::iter::once(one).chain((one != other).then_some(other))
    }
}

/// Finds the accesses of others that an access meets, as far as that says anything new about their pair.
fn meet(
    known: &[OfThread],
    new: &Dated,
    of_site: &Partners,
    order: &FirmOrder,
    answers: &[Firmness],
    met: &mut Vec<(usize, Met)>,
) {
    let thread = new.access.thread;
    let knows = order.clocks().knows(thread);
    for other in known.iter().filter(|other| other.thread != thread) {
        let is_known_until = knows.of(other.thread);
        if other.latest <= is_known_until && of_site.without_step == 0 {
            continue;
        }
        let in_conflict =
            other.accesses.iter().filter(|one| one.access.conflicts_with(&new.access));
        for earlier in in_conflict {
            let Some(&number) = of_site.pairs.get(&earlier.access.site) else { continue };
            if earlier.period > is_known_until {
                met.push((number, Met::Loosely));
            } else if answers[number].ordered_by.is_none() {
                let step = order.learned(thread, other.thread);
                met.extend(step.map(|step| (number, Met::OrderedBy(step))));
            }
        }
    }
}

impl OfThread {
    /// Where the access of the same kind at the same site is, or else belongs.
    fn alike(&self, new: &Dated) -> Result<usize, usize> {
        let site = new.access.site;
        let first = self.accesses.partition_point(|one| one.access.site < site);
        let of_site = self.accesses[first..].iter().take_while(|one| one.access.site == site);
        let alike = of_site.clone().position(|one| one.access.is_alike(&new.access));
        alike.map(|at| first + at).ok_or(first)
    }
}

fn note(known: &mut Vec<OfThread>, new: Dated) {
    let thread = new.access.thread;
    let Some(own) = known.iter_mut().find(|one| one.thread == thread) else {
        return known.push(OfThread { thread, latest: new.period, accesses: vec![new] });
    };
    own.latest = own.latest.max(new.period);
    match own.alike(&new) {
        Ok(at) => own.accesses[at] = new,
        Err(at) => own.accesses.insert(at, new),
    }
}

/// Several events may tell of an access that has none itself.
fn note_past(known: &mut Vec<OfThread>, past: Dated) {
    let own = known.iter().find(|one| one.thread == past.access.thread);
    let told = own.and_then(|own| Some(own.accesses[own.alike(&past).ok()?].period));
    if told.is_none_or(|period| period < past.period) {
        note(known, past);
    }
}
