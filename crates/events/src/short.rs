//! Events told short: as an earlier event of the same chunk, but for where and when.
//!
//! Most events of a program differ from one before only in the bytes touched and the time. The first of its kind is
//! written in full and gives itself a slot; those that follow refer to the latest event with that slot.
//!
//! ```text
//! word 0   63                                16 15       8 7         0
//!         +------------------------------------+----------+-----------+
//!         |         object or address          |   slot   | 1, flags  |   bit 7 is set: no kind has it
//!         +------------------------------------+----------+-----------+
//! word 1   63                     32 31                              0
//!         +-------------------------+---------------------------------+
//!         |          stamp          |  ordinal of the first past      |
//!         +-------------------------+---------------------------------+
//! then    with LONG, the word of LONG; with TWO_PASTS, the ordinal of the second past
//! ```
//!
//! Whether it is CONTINUED or LONG is its own; everything else, the past accesses but for their ordinals included,
//! is as in the event it refers to.

use crate::access::Address;

/// In the lowest byte of an event's first word: it is told short.
pub const SHORT: u8 = 1 << 7;
pub const LONG: u8 = 1 << 0;
pub const CONTINUED: u8 = 1 << 1;
pub const TWO_PASTS: u8 = 1 << 2;
const FLAGS: u8 = LONG | CONTINUED | TWO_PASTS;

/// Words that every event told short has.
pub const SHORT_WORDS: usize = 2;

/// The two words that every event told short has, unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Short {
    pub flags: u8,
    pub slot: u8,
    pub object: Address,
    pub stamp: u32,
    /// Of the first past access; 0 if there is none.
    pub ordinal: u32,
}

impl Short {
    pub const fn pack(&self) -> [u64; SHORT_WORDS] {
        [
            (SHORT | self.flags) as u64 | (self.slot as u64) << 8 | self.object.0 << 16,
            self.ordinal as u64 | (self.stamp as u64) << 32,
        ]
    }

    /// `None` if these words begin no event told short.
    pub const fn unpack(words: [u64; SHORT_WORDS]) -> Option<Short> {
        let flags = words[0] as u8 & !SHORT;
        let slot = (words[0] >> 8) as u8;
        if words[0] as u8 & SHORT == 0 || flags & !FLAGS != 0 || slot == 0 {
            return None;
        }
        Some(Short {
            flags,
            slot,
            object: Address(words[0] >> 16),
            stamp: (words[1] >> 32) as u32,
            ordinal: words[1] as u32,
        })
    }

    /// All words of the event.
    pub const fn words(&self) -> usize {
        SHORT_WORDS + (self.flags & LONG != 0) as usize + (self.flags & TWO_PASTS != 0) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_short_survives_packing() {
        let short = Short {
            flags: LONG | TWO_PASTS,
            slot: 255,
            object: Address(0x7fff_1234_5678),
            stamp: 0xdead_beef,
            ordinal: 0x8000_0001,
        };
        assert_eq!(Short::unpack(short.pack()), Some(short));
        assert_eq!(short.words(), 4);
    }

    #[test]
    fn no_kind_of_event_is_mistaken_for_one_told_short() {
        for kind in crate::Kind::ALL {
            assert_eq!(Short::unpack([*kind as u64 | 1 << 8, 0]), None);
        }
        assert_eq!(Short::unpack([SHORT as u64, 0]), None, "it has no slot");
    }
}
