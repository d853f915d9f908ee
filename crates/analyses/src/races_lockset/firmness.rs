//! What lockset alone reports, looked at again: are the two ordered by more than which thread came to a lock first?
//!
//! Takes   the events of one recording, and pairs of sites.      Gives  for each pair how often it was loose, and else a step that orders it.
//! Misses  accesses of a thread at a site before its latest one to the same bytes: if that is ordered, so are they.
//! Invents nothing beyond what the firm order does (`races_happens_before::FirmOrder`).
//! Cost    one more walk over the recording; memory for the accesses at the sites asked for.

use rustc_hash::FxHashMap;
use unpick_events::Site;
use unpick_events::access::PastKind;
use unpick_recording::{Action, Event, Recording};

use crate::knowledge::Knowledge;
use crate::races::{ByteMap, Lives, RaceAccess, RacingPair, SyncStep, stretches};
use crate::races_happens_before::FirmOrder;

/// What orders the accesses of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Firmness {
    /// How often nothing did, but for locks whose sections have nothing to do with each other.
    pub loose: u64,
    /// A step by which the second came after the first, of the first time that one was ordered.
    pub ordered_by: Option<SyncStep>,
}

/// How firmly pairs are ordered, in their order.
pub fn firmness(
    recording: &Recording,
    knowledge: &dyn Knowledge,
    pairs: &[&RacingPair],
) -> Vec<Firmness> {
    let mut look = Look { answers: vec![Firmness::default(); pairs.len()], ..Look::default() };
    for (number, pair) in pairs.iter().enumerate() {
        let [one, other] = [pair.first.site, pair.second.site];
        for (site, partner) in [(one, other), (other, one)] {
            look.partners.entry(site).or_default().insert(partner, number);
        }
    }
    recording.events().for_each(|event| look.take_in(&event, knowledge));
    look.answers
}

#[derive(Default)]
struct Look {
    order: FirmOrder,
    lives: Lives,
    /// Of each thread and site the latest access.
    bytes: ByteMap<Vec<Dated>>,
    /// By site, the other site and the number of the pair.
    partners: FxHashMap<Site, FxHashMap<Site, usize>>,
    answers: Vec<Firmness>,
}

#[derive(Debug, Clone, Copy)]
struct Dated {
    access: RaceAccess,
    period: u32,
}

impl Look {
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
        let Look { order, bytes, partners, answers, .. } = self;
        let clocks = order.clocks();
        let pasts = pasts.iter().filter(|past| past.kind != PastKind::Free);
        let pasts = pasts.filter(|past| partners.contains_key(&past.site));
        let pasts: Vec<Dated> = pasts
            .filter_map(|past| {
                let period = clocks.period_of_past(&past)?;
                Some(Dated { access: RaceAccess::of_past(&past), period })
            })
            .collect();
        let of_site = partners.get(&event.site);
        if pasts.is_empty() && of_site.is_none() {
            return;
        }
        let access = RaceAccess::of_event(event, kind, flags);
        let new = Dated { access, period: clocks.period(event.thread) };
        for (start, length) in stretches(event) {
            bytes.visit(start, length, |_, _, known| {
                pasts.iter().for_each(|past| note_past(known, *past));
                let Some(of_site) = of_site else { return };
                for earlier in known.iter().filter(|one| is_in_conflict(one, &new)) {
                    let Some(&number) = of_site.get(&earlier.access.site) else { continue };
                    let other = earlier.access.thread;
                    if earlier.period > clocks.knows(event.thread).of(other) {
                        answers[number].loose += 1;
                    } else if answers[number].ordered_by.is_none() {
                        answers[number].ordered_by = order.learned(event.thread, other);
                    }
                }
                note(known, new);
            });
        }
    }
}

fn is_in_conflict(earlier: &Dated, new: &Dated) -> bool {
    earlier.access.thread != new.access.thread && earlier.access.conflicts_with(&new.access)
}

fn is_alike(one: &Dated, other: &Dated) -> bool {
    one.access.site == other.access.site && one.access.is_alike(&other.access)
}

fn note(known: &mut Vec<Dated>, new: Dated) {
    match known.iter_mut().find(|one| is_alike(one, &new)) {
        Some(one) => *one = new,
        None => known.push(new),
    }
}

/// Several events may tell of an access that has none itself.
fn note_past(known: &mut Vec<Dated>, past: Dated) {
    if !known.iter().any(|one| is_alike(one, &past) && one.period >= past.period) {
        note(known, past);
    }
}
