//! Two consecutive accesses of a thread to one location, and what others did between them.
//!
//! Takes   the accesses of a life.      Gives  a `Turn` for every access whose thread made one before.
//! Cost    one look-up per access.

use rustc_hash::FxHashMap;
use unpick_events::ThreadId;
use unpick_recording::Access;

use super::serializability::{Between, Case};

/// An access, and the one its thread made just before.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'l> {
    /// The P-access.
    pub previous: &'l Access,
    /// All by other threads.
    pub between: &'l [Access],
    /// The I-access.
    pub this: &'l Access,
    any_is_write: bool,
}

impl<'l> Turn<'l> {
    pub fn is_challenged(&self) -> bool {
        !self.between.is_empty()
    }

    /// The unserializable case it is, if it is one.
    pub fn case(&self) -> Option<Case> {
        let between = Between {
            first_is_write: self.between.first()?.is_write(),
            any_is_write: self.any_is_write,
        };
        Case::of(self.previous.is_write(), between, self.this.is_write())
    }

    /// Place among those between of the access that makes it unserializable.
    pub fn deciding(&self, case: Case) -> usize {
        let decides = |access: &Access| access.is_write() == case.needs_write();
        self.between.iter().position(decides).unwrap_or(0)
    }

    /// Both are one access to the program: a read-modify-write.
    fn is_one_access(&self) -> bool {
        let [one, two] = [self.previous.dynamic_access, self.this.dynamic_access];
        one.is_some() && one == two
    }
}

/// All turns of a life, in the order of their I-accesses.
pub fn turns(life: &[Access]) -> impl Iterator<Item = Turn<'_>> {
    let mut last_of: FxHashMap<ThreadId, usize> = FxHashMap::default();
    let mut last_write: Option<usize> = None;
    let turns = life.iter().enumerate().map(move |(at, this)| {
        let turn = last_of.insert(this.thread, at).map(|before| Turn {
            previous: &life[before],
            between: &life[before + 1..at],
            this,
            any_is_write: last_write.is_some_and(|write| write > before),
        });
        if this.is_write() {
            last_write = Some(at);
        }
        turn
    });
    turns.flatten().filter(|turn| !turn.is_one_access())
}
