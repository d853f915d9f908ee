//! Which interleavings of two local accesses with remote ones are like no serial order.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The unserializable cases, by the numbers of AVIO's Table 2. In brackets: the remote accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Case {
    /// 2, `r [..w..] r`: the two reads see different values.
    ReadsDiffer,
    /// 3, `w [..w..] r`: the read does not get what its thread wrote.
    WriteIsGone,
    /// 5, `w [r ..] w`: others see a value that was not meant for them.
    IntermediateIsSeen,
    /// 6, `r [..w..] w`: the write rests on a value that is stale.
    ReadIsStale,
}

/// What others did between two accesses of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Between {
    pub first_is_write: bool,
    pub any_is_write: bool,
}

impl Case {
    pub const ALL: [Case; 4] =
        [Case::ReadsDiffer, Case::WriteIsGone, Case::IntermediateIsSeen, Case::ReadIsStale];

    /// The case that accesses make, if it is unserializable.
    pub fn of(previous_is_write: bool, between: Between, is_write: bool) -> Option<Case> {
        let Between { first_is_write, any_is_write } = between;
        match (previous_is_write, is_write) {
            (false, false) if any_is_write => Some(Case::ReadsDiffer),
            (true, false) if any_is_write => Some(Case::WriteIsGone),
            (true, true) if !first_is_write => Some(Case::IntermediateIsSeen),
            (false, true) if any_is_write => Some(Case::ReadIsStale),
            _ => None,
        }
    }

    pub fn number(self) -> u8 {
        match self {
            Case::ReadsDiffer => 2,
            Case::WriteIsGone => 3,
            Case::IntermediateIsSeen => 5,
            Case::ReadIsStale => 6,
        }
    }

    /// Whether the remote access that decides it is a write.
    pub fn needs_write(self) -> bool {
        self != Case::IntermediateIsSeen
    }

    /// Whether its P-access and its I-access are writes.
    pub fn local_writes(self) -> [bool; 2] {
        match self {
            Case::ReadsDiffer => [false, false],
            Case::WriteIsGone => [true, false],
            Case::IntermediateIsSeen => [true, true],
            Case::ReadIsStale => [false, true],
        }
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Case::ReadsDiffer => "r [w] r",
            Case::WriteIsGone => "w [w] r",
            Case::IntermediateIsSeen => "w [r] w",
            Case::ReadIsStale => "r [w] w",
        })
    }
}
