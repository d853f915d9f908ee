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
//! If it is neither LONG nor CONTINUED, has at most one past, and is near enough to the one before, one word does (TINY):
//!
//! ```text
//!          63             48 47          40 39              16 15       8 7         0
//!         +-----------------+--------------+------------------+----------+-----------+
//!         | ordinal, signed |    stamp     | object, signed   |   slot   | 1, TINY   |
//!         +-----------------+--------------+------------------+----------+-----------+
//! ```
//!
//! Each tells how far it is from the latest one before: the ordinal and the object from those of the latest event with this
//! slot, in full or not, the object in steps of `scale`; the stamp from the latest stamp in the chunk (0 if there is none);
//! with 0 here it has no stamp.
//!
//! Whether it is CONTINUED or LONG is its own; everything else, the past accesses but for their ordinals included,
//! is as in the event it refers to.

use crate::access::Address;

/// In the lowest byte of an event's first word: it is told short.
pub const SHORT: u8 = 1 << 7;
pub const LONG: u8 = 1 << 0;
pub const CONTINUED: u8 = 1 << 1;
pub const TWO_PASTS: u8 = 1 << 2;
pub const TINY: u8 = 1 << 3;
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

/// An event told in one word: how far it is from those before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tiny {
    pub slot: u8,
    /// In steps of `scale`.
    pub object: i32,
    pub stamp: u8,
    pub ordinal: i16,
}

const OBJECT_BITS: u32 = 24;

impl Tiny {
    pub const fn pack(&self) -> u64 {
        (SHORT | TINY) as u64
            | (self.slot as u64) << 8
            | (self.object as u64 & ((1 << OBJECT_BITS) - 1)) << 16
            | (self.stamp as u64) << 40
            | (self.ordinal as u16 as u64) << 48
    }

    /// `None` if this word is no event.
    pub const fn unpack(word: u64) -> Option<Tiny> {
        let slot = (word >> 8) as u8;
        if word as u8 != SHORT | TINY || slot == 0 {
            return None;
        }
        Some(Tiny {
            slot,
            object: ((word >> 16) as i32) << (32 - OBJECT_BITS) >> (32 - OBJECT_BITS),
            stamp: (word >> 40) as u8,
            ordinal: (word >> 48) as i16,
        })
    }

    /// The distance of two objects as it is packed, if it can be.
    #[inline]
    pub const fn object_step(from: u64, to: u64, unit: u8) -> Option<i32> {
        let way = to.wrapping_sub(from) as i64;
        let scale = scale(unit);
        let steps = way / scale;
        let most = 1 << (OBJECT_BITS - 1);
        if steps * scale == way && -most <= steps && steps < most {
            Some(steps as i32)
        } else {
            None
        }
    }
}

/// The bytes of one step between objects: those of one access, if they are a power of two.
#[inline]
pub const fn scale(unit: u8) -> i64 {
    match unit {
        2 => 2,
        4 => 4,
        8 => 8,
        16 => 16,
        _ => 1,
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
    fn what_is_told_in_one_word_survives_packing() {
        for object in [0, 1, -1, (1 << 23) - 1, -(1 << 23)] {
            let tiny = Tiny { slot: 128, object, stamp: 255, ordinal: -2 };
            assert_eq!(Tiny::unpack(tiny.pack()), Some(tiny));
            assert_eq!(Short::unpack([tiny.pack(), 0]), None);
        }
    }

    #[test]
    fn only_whole_and_short_ways_are_packed() {
        assert_eq!(Tiny::object_step(0x1000, 0x1010, 8), Some(2));
        assert_eq!(Tiny::object_step(0x1010, 0x1000, 8), Some(-2));
        assert_eq!(Tiny::object_step(0x1000, 0x1004, 8), None);
        assert_eq!(Tiny::object_step(0, 1 << 26, 8), None);
    }

    #[test]
    fn no_kind_of_event_is_mistaken_for_one_told_short() {
        for kind in crate::Kind::ALL {
            assert_eq!(Short::unpack([*kind as u64 | 1 << 8, 0]), None);
        }
        assert_eq!(Short::unpack([SHORT as u64, 0]), None, "it has no slot");
    }
}
