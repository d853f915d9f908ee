//! What a thread has been through lately: the kinds of its last communications, without addresses.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How many communications a context remembers.
pub const CONTEXT_LENGTH: usize = 5;

const BITS: u32 = 3;
const ONE: u16 = (1 << BITS) - 1;
const ALL: u16 = (1 << (BITS * CONTEXT_LENGTH as u32)) - 1;

/// One communication, as the thread sees it whose context it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Happening {
    LocalRead = 1,
    LocalWrite = 2,
    /// Another thread read what this one wrote.
    RemoteRead = 3,
    /// Another thread wrote what this one has read.
    RemoteWrite = 4,
}

impl Happening {
    fn of(number: u16) -> Option<Happening> {
        [Self::LocalRead, Self::LocalWrite, Self::RemoteRead, Self::RemoteWrite]
            .into_iter()
            .find(|happening| *happening as u16 == number)
    }

    /// `lr`, `lw`, `rr`, `rw`.
    pub fn name(self) -> &'static str {
        match self {
            Happening::LocalRead => "lr",
            Happening::LocalWrite => "lw",
            Happening::RemoteRead => "rr",
            Happening::RemoteWrite => "rw",
        }
    }
}

/// The last communications of a thread: three bits each, the newest lowest; 0 where there was none yet.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
pub struct CommunicationContext(u16);

impl CommunicationContext {
    /// How many can come about: 1, 4, 16, … of each length.
    pub(super) const COUNT: usize = (4_usize.pow(CONTEXT_LENGTH as u32 + 1) - 1) / 3;

    #[must_use]
    pub fn with(self, happening: Happening) -> CommunicationContext {
        CommunicationContext((self.0 << BITS | happening as u16) & ALL)
    }

    /// As far as its newest `length` communications go.
    #[must_use]
    pub fn newest(self, length: usize) -> CommunicationContext {
        let bits = BITS * length.min(CONTEXT_LENGTH) as u32;
        CommunicationContext(self.0 & ((1 << bits) - 1))
    }

    /// The newest first.
    pub fn happenings(self) -> impl Iterator<Item = Happening> {
        let numbers = (0..CONTEXT_LENGTH as u32).map(move |at| self.0 >> (at * BITS) & ONE);
        numbers.map_while(Happening::of)
    }

    /// Contexts without gaps, numbered from 0 to `COUNT` without gaps: digits from 1 to 4, the newest lowest.
    pub(super) fn number(self) -> usize {
        let digits = (0..CONTEXT_LENGTH as u32).map(|at| (self.0 >> (at * BITS) & ONE, 2 * at));
        digits.map(|(digit, shift)| usize::from(digit) << shift).sum()
    }

    /// The context with a number.
    pub(super) fn of_number(mut number: usize) -> CommunicationContext {
        let mut context = CommunicationContext::default();
        for at in 0..CONTEXT_LENGTH as u32 {
            let digit = if number == 0 { 0 } else { (number - 1) % 4 + 1 };
            context.0 |= (digit as u16) << (at * BITS);
            number = (number - digit) / 4;
        }
        context
    }

    /// Whether it can have come about: no gaps, nothing unknown.
    pub(super) fn is_sound(self) -> bool {
        let known = self.happenings().count() as u32;
        self.0 & !ALL == 0 && u32::from(self.0).checked_shr(known * BITS).unwrap_or(0) == 0
    }
}

impl fmt::Display for CommunicationContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.happenings().map(Happening::name).collect();
        f.write_str(&names.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_leaves_when_the_sixth_comes() {
        let context = [Happening::LocalRead, Happening::RemoteWrite, Happening::LocalWrite]
            .into_iter()
            .fold(CommunicationContext::default(), CommunicationContext::with);
        assert_eq!(context.to_string(), "lw rw lr");
        let full = (0..CONTEXT_LENGTH).fold(context, |now, _| now.with(Happening::RemoteRead));
        assert_eq!(full.to_string(), "rr rr rr rr rr");
        assert!(context.is_sound() && full.is_sound());
        assert_eq!(context.newest(2).to_string(), "lw rw");
        assert_eq!(full.newest(CONTEXT_LENGTH), full);
    }

    #[test]
    fn every_context_has_its_own_number() {
        let all = (0..=ALL).map(CommunicationContext).filter(|context| context.is_sound());
        let all: Vec<_> = all.collect();
        let mut numbers: Vec<_> = all.iter().map(|context| context.number()).collect();
        let again = numbers.iter().map(|&number| CommunicationContext::of_number(number));
        assert_eq!(again.collect::<Vec<_>>(), all);
        numbers.sort_unstable();
        assert_eq!(numbers, (0..CommunicationContext::COUNT).collect::<Vec<_>>());
    }

    #[test]
    fn gaps_and_unknown_kinds_are_not_sound() {
        for bits in [0b001_000, 0b101, 0x8000] {
            assert!(!CommunicationContext(bits).is_sound(), "{bits:b}");
        }
    }
}
