//! Tells in full what was told short.
//!
//! Takes   the words of a chunk as they are in the file.      Gives  the same events, each in full.
//! Misses  whatever follows a word that cannot begin an event, or one that refers to an event that is not there:
//!         that is left as it is, and the rest of the reader stops there.
//! Cost    one pass; up to four times the words.

use unpick_events::access::PAST_WORDS;
use unpick_events::header::{HEADER_WORDS, Header};
use unpick_events::kind::access_flags;
use unpick_events::short::{self, SHORT_WORDS, Short};

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
        Expansion { words: Vec::with_capacity(words.len() * 2), models: [None; 256] };
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
}

/// An event in full, and its past accesses: where they begin among the words, and how many they are.
#[derive(Clone, Copy)]
struct Model {
    header: Header,
    pasts_start: usize,
    pasts: usize,
}

/// Events that are a model have no more.
const MOST_PASTS: usize = 2;

impl Expansion {
    /// Takes one event off the front of `rest`; gives how many words it had there.
    fn take_in(&mut self, rest: &[u64]) -> Option<usize> {
        if *rest.first()? as u8 & short::SHORT != 0 {
            self.take_in_short(rest)
        } else {
            self.take_in_full(rest)
        }
    }

    fn take_in_full(&mut self, rest: &[u64]) -> Option<usize> {
        let header = Header::unpack(*rest.first_chunk::<HEADER_WORDS>()?)?;
        let event = rest.get(..header.words)?;
        if header.slot != 0 {
            self.models[usize::from(header.slot)] = self.model(header);
        }
        self.words.extend_from_slice(event);
        Some(header.words)
    }

    /// The event that is about to be added, as a model.
    fn model(&self, header: Header) -> Option<Model> {
        let before = HEADER_WORDS + usize::from(header.flags & access_flags::LONG != 0);
        let pasts = header.words.checked_sub(before)?;
        (pasts % PAST_WORDS == 0 && pasts / PAST_WORDS <= MOST_PASTS).then_some(Model {
            header,
            pasts_start: self.words.len() + before,
            pasts: pasts / PAST_WORDS,
        })
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
    use unpick_events::{Address, Context, Kind, Past, Site, ThreadId};

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
