//! Tells in full what was told short.
//!
//! Takes   the words of a chunk as they are in the file.      Gives  the same events, each in full.
//! Misses  whatever follows a word that cannot begin an event, or one that refers to an event that is not there:
//!         that is left as it is, and the rest of the reader stops there.
//! Cost    one pass; up to five times the words.

use unpick_events::Address;
use unpick_events::access::PAST_WORDS;
use unpick_events::header::{HEADER_WORDS, Header};
use unpick_events::kind::access_flags;
use unpick_events::short::{self, SHORT_WORDS, Short, Tiny};

/// The events of a chunk in full.
pub struct Expanded {
    pub words: Vec<u64>,
    /// How many words were added before the first that could not be understood, or the end.
    pub gained: usize,
}

pub fn expand(words: Vec<u64>) -> Expanded {
    if !words.iter().any(|&word| word as u8 & short::SHORT != 0) {
        return Expanded { words, gained: 0 };
    }
    let mut expansion =
        Expansion { words: Vec::with_capacity(words.len() * 3), models: [None; 256], stamp: 0 };
    let mut rest = words.as_slice();
    while let Some(used) = expansion.take_in(rest) {
        rest = &rest[used..];
    }
    let gained = expansion.words.len() - (words.len() - rest.len());
    expansion.words.extend_from_slice(rest);
    Expanded { words: expansion.words, gained }
}

struct Expansion {
    words: Vec<u64>,
    /// By slot: the event that those told short are like.
    models: [Option<Model>; 256],
    /// The latest stamp.
    stamp: u32,
}

/// An event in full, and its past accesses: where they begin among the words, and how many they are.
#[derive(Clone, Copy)]
struct Model {
    header: Header,
    pasts_start: usize,
    pasts: usize,
    /// Of the latest event like it: where it was, and the ordinal of its first past access.
    object: Address,
    ordinal: u32,
}

/// Events that are a model have no more.
const MOST_PASTS: usize = 2;

impl Expansion {
    /// Takes one event off the front of `rest`; gives how many words it had there.
    fn take_in(&mut self, rest: &[u64]) -> Option<usize> {
        let first = *rest.first()?;
        if first as u8 & short::SHORT == 0 {
            self.take_in_full(rest)
        } else if first as u8 & short::TINY != 0 {
            self.take_in_tiny(first)
        } else {
            self.take_in_short(rest)
        }
    }

    fn take_in_full(&mut self, rest: &[u64]) -> Option<usize> {
        let header = Header::unpack(*rest.first_chunk::<HEADER_WORDS>()?)?;
        let event = rest.get(..header.words)?;
        if header.slot != 0 {
            self.models[usize::from(header.slot)] = self.model(header, event);
        }
        self.words.extend_from_slice(event);
        self.note_stamp(header.stamp);
        Some(header.words)
    }

    fn note_stamp(&mut self, stamp: u32) {
        if stamp != 0 {
            self.stamp = stamp;
        }
    }

    /// The event that is about to be added, as a model.
    fn model(&self, header: Header, event: &[u64]) -> Option<Model> {
        let before = HEADER_WORDS + usize::from(header.flags & access_flags::LONG != 0);
        let pasts = header.words.checked_sub(before)?;
        (pasts % PAST_WORDS == 0 && pasts / PAST_WORDS <= MOST_PASTS).then_some(Model {
            header,
            pasts_start: self.words.len() + before,
            pasts: pasts / PAST_WORDS,
            object: header.object,
            ordinal: event.get(before + 1).map_or(0, |&word| word as u32),
        })
    }

    /// As if it had been told in two words.
    fn take_in_tiny(&mut self, word: u64) -> Option<usize> {
        let tiny = Tiny::unpack(word)?;
        let model = self.models[usize::from(tiny.slot)]?;
        let way = i64::from(tiny.object) * short::scale(model.header.unit);
        let object = model.object.0.checked_add_signed(way).filter(|at| at >> 48 == 0)?;
        let told = Short {
            flags: 0,
            slot: tiny.slot,
            object: Address(object),
            stamp: if tiny.stamp == 0 { 0 } else { self.stamp.wrapping_add(tiny.stamp.into()) },
            ordinal: model.ordinal.wrapping_add_signed(tiny.ordinal.into()),
        };
        self.take_in_short(&told.pack()).map(|_| 1)
    }

    fn take_in_short(&mut self, rest: &[u64]) -> Option<usize> {
        let short = Short::unpack(*rest.first_chunk::<SHORT_WORDS>()?)?;
        let event = rest.get(..short.words())?;
        let model = self.models[usize::from(short.slot)]?;
        let is_long = short.flags & short::LONG != 0;
        let further = &event[SHORT_WORDS..];
        if (short.flags & short::TWO_PASTS != 0) != (model.pasts == MOST_PASTS) {
            return None;
        }
        self.note_stamp(short.stamp);
        self.models[usize::from(short.slot)] =
            Some(Model { object: short.object, ordinal: short.ordinal, ..model });
        self.words.extend(model.header_of(&short).pack());
        self.words.extend(is_long.then(|| further[0]));
        for past in 0..model.pasts {
            let first = self.words[model.pasts_start + past * PAST_WORDS];
            let ordinal = if past == 0 { short.ordinal.into() } else { *further.last()? };
            self.words.extend([first, ordinal]);
        }
        Some(event.len())
    }
}

impl Model {
    fn header_of(&self, short: &Short) -> Header {
        const OWN: u16 = access_flags::LONG | access_flags::CONTINUED;
        let is_long = short.flags & short::LONG != 0;
        let is_continued = short.flags & short::CONTINUED != 0;
        let own = if is_long { access_flags::LONG } else { 0 }
            | if is_continued { access_flags::CONTINUED } else { 0 };
        Header {
            words: HEADER_WORDS + usize::from(is_long) + self.pasts * PAST_WORDS,
            flags: self.header.flags & !OWN | own,
            stamp: short.stamp,
            object: short.object,
            slot: 0,
            ..self.header
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unpick_events::access::PastKind;
    use unpick_events::{Context, Kind, Past, Site, ThreadId};

    fn past(site: u32, ordinal: u32) -> Past {
        Past { kind: PastKind::Write, thread: ThreadId(3), site: Site(site), ordinal }
    }

    fn full(slot: u8, object: u64, stamp: u32, payload: &[u64]) -> Vec<u64> {
        let header = Header {
            kind: Kind::Read,
            words: HEADER_WORDS + payload.len(),
            flags: 0,
            stamp,
            object: Address(object),
            unit: 8,
            slot,
            site: Site(0x40),
            context: Context(7),
        };
        [&header.pack()[..], payload].concat()
    }

    fn short(flags: u8, object: u64, stamp: u32, ordinal: u32) -> Vec<u64> {
        Short { flags, slot: 5, object: Address(object), stamp, ordinal }.pack().to_vec()
    }

    #[test]
    fn what_is_told_short_is_as_its_model_but_for_where_and_when() {
        let two = [past(1, 10).pack(), past(2, 20).pack()].concat();
        let mut words = full(5, 0x1000, 1, &two);
        words.extend(short(short::TWO_PASTS, 0x2000, 2, 11));
        words.push(22);
        words.push(0);
        let mut expected = full(5, 0x1000, 1, &two);
        let later = [past(1, 11).pack(), past(2, 22).pack()].concat();
        expected.extend(full(0, 0x2000, 2, &later));
        expected.push(0);
        let Expanded { words, gained } = expand(words);
        assert_eq!(words, expected);
        assert_eq!(gained, 4);
    }

    #[test]
    fn one_word_tells_how_far_it_is_from_the_one_before() {
        let mut words = full(5, 0x1000, 1, &past(1, 10).pack());
        words.push(Tiny { slot: 5, object: 2, stamp: 3, ordinal: -1 }.pack());
        words.push(Tiny { slot: 5, object: -1, stamp: 1, ordinal: 2 }.pack());
        let mut expected = full(5, 0x1000, 1, &past(1, 10).pack());
        expected.extend(full(0, 0x1010, 4, &past(1, 9).pack()));
        expected.extend(full(0, 0x1008, 5, &past(1, 11).pack()));
        assert_eq!(expand(words).words, expected);
    }

    #[test]
    fn long_and_continued_are_its_own() {
        let mut words = full(5, 0x1000, 1, &[]);
        words.extend(short(short::LONG | short::CONTINUED, 0x2000, 2, 0));
        words.push(64);
        let expanded = expand(words).words;
        let header = Header::unpack(*expanded[3..].first_chunk().unwrap()).unwrap();
        assert_eq!(header.flags, access_flags::LONG | access_flags::CONTINUED);
        assert_eq!(expanded[6..], [64]);
    }

    #[test]
    fn a_reference_to_nothing_ends_what_is_understood() {
        let mut words = full(4, 0x1000, 1, &[]);
        words.extend(short(0, 0x2000, 2, 0));
        let Expanded { words: expanded, gained } = expand(words.clone());
        assert_eq!((expanded, gained), (words, 0));
    }
}
