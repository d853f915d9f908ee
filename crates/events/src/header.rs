//! The first words of every event.
//!
//! ```text
//! word 0   63            32 31        20 19         8 7       0
//!         +----------------+------------+------------+---------+
//!         |     stamp      |   flags    |   words    |  kind   |
//!         +----------------+------------+------------+---------+
//! word 1   63   56 55   48 47                                0
//!         +-------+--------+-----------------------------------+
//!         | slot  |  unit  |         object or address         |
//!         +-------+--------+-----------------------------------+
//! word 2   63            32 31                                0
//!         +----------------+-----------------------------------+
//!         |    context     |               site                |
//!         +----------------+-----------------------------------+
//! ```
//!
//! `words` counts all words of the event, these three included. A stamp is drawn from one counter for
//! the whole process; 0 means the event crossed no thread and is ordered by its place in the stream.
//! An event with a slot is the model of those told short after it: see `short`.

use crate::access::{Address, Context, Site};
use crate::kind::Kind;

/// Words that every event has.
pub const HEADER_WORDS: usize = 3;
/// No event is longer than this.
pub const MAX_WORDS: usize = 1024;

const ADDRESS_BITS: u32 = 48;
const SLOT_SHIFT: u32 = 56;

/// The header of an event, unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    pub kind: Kind,
    pub words: usize,
    pub flags: u16,
    pub stamp: u32,
    /// Address of the accessed bytes or of the synchronisation object, or the number the kind says.
    pub object: Address,
    /// Accesses: how many bytes one access touched. Else 0.
    pub unit: u8,
    /// The number under which events told short refer to this one; 0 = none does.
    pub slot: u8,
    pub site: Site,
    pub context: Context,
}

impl Header {
    /// The three words of this header.
    pub const fn pack(&self) -> [u64; HEADER_WORDS] {
        [
            self.kind as u64
                | (self.words as u64 & 0xfff) << 8
                | (self.flags as u64 & 0xfff) << 20
                | (self.stamp as u64) << 32,
            self.object.0 & ((1 << ADDRESS_BITS) - 1)
                | (self.unit as u64) << ADDRESS_BITS
                | (self.slot as u64) << SLOT_SHIFT,
            self.site.0 as u64 | (self.context.0 as u64) << 32,
        ]
    }

    /// Unpacks a header, if its kind is known and its length can be right.
    #[inline]
    pub const fn unpack(words: [u64; HEADER_WORDS]) -> Option<Header> {
        let Some((kind, length)) = Self::kind_and_words(words[0]) else { return None };
        Some(Header {
            kind,
            words: length,
            flags: (words[0] >> 20 & 0xfff) as u16,
            stamp: (words[0] >> 32) as u32,
            object: Address(words[1] & ((1 << ADDRESS_BITS) - 1)),
            unit: (words[1] >> ADDRESS_BITS) as u8,
            slot: (words[1] >> SLOT_SHIFT) as u8,
            site: Site(words[2] as u32),
            context: Context((words[2] >> 32) as u32),
        })
    }

    /// Kind and length from the first word alone: enough to step over an event.
    #[inline]
    pub const fn kind_and_words(first: u64) -> Option<(Kind, usize)> {
        let Some(kind) = Kind::from_number(first as u8) else { return None };
        let length = (first >> 8 & 0xfff) as usize;
        if length < HEADER_WORDS || length > MAX_WORDS {
            return None;
        }
        Some((kind, length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_packing() {
        let header = Header {
            kind: Kind::Write,
            words: 7,
            flags: 0xabc,
            stamp: 0xdead_beef,
            object: Address(0x7fff_1234_5678),
            unit: 8,
            slot: 0x81,
            site: Site(0x5555_1234),
            context: Context(0xcafe_f00d),
        };
        assert_eq!(Header::unpack(header.pack()), Some(header));
    }

    #[test]
    fn a_zero_word_is_no_event_and_neither_is_an_impossible_length() {
        assert_eq!(Header::kind_and_words(0), None);
        assert_eq!(Header::kind_and_words(Kind::Read as u64 | 2 << 8), None);
    }
}
