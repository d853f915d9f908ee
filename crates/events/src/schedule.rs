//! The file by which a tool tells the runtime in which order some places of the code shall be reached, and the file in
//! which the runtime says what came of it. Both are little-endian words of 64 bits.
//!
//! ```text
//! schedule: header (HEADER_WORDS) | modules (MODULE_WORDS each) | places (PLACE_WORDS each)
//! outcome:  header (OUTCOME_WORDS) | steps (OUTCOME_STEP_WORDS each) | places (OUTCOME_PLACE_WORDS each)
//!           | threads seen when one was let go (OUTCOME_SEEN_WORDS each)
//! ```
//!
//! A **place** is the return address of a call in the program: of a hook, so of an access, or of a function, so of a lock.
//! A **step** is what one thread does at a place; steps have an order. A **gate** is a place in front of a step where its thread
//! can wait without keeping a lock that others need on their way: where the outermost lock is taken.
//!
//! A **delay plan** is a file of the same layout with `DELAY_MAGIC`: threads that reach its places are counted, and one arrival at a
//! place may be delayed. It has no order: all its places are of step 0, and no calls lead to them (`delay_place`).

/// The variable of the environment with the path of the file.
pub const VARIABLE: &str = "UNPICK_SCHEDULE";

pub const MAGIC: u64 = u64::from_le_bytes(*b"unpksch3");
/// Of a delay plan.
pub const DELAY_MAGIC: u64 = u64::from_le_bytes(*b"unpkdly2");
pub const OUTCOME_MAGIC: u64 = u64::from_le_bytes(*b"unpkout1");

pub const HEADER_WORDS: usize = 17;
/// Length of the text, whether it is a build id, the text.
pub const MODULE_WORDS: usize = 2 + MODULE_TEXT_BYTES / 8;
pub const MODULE_TEXT_BYTES: usize = 240;
pub const PLACE_WORDS: usize = 32;
/// Calls that led to a place, as pairs of module and offset, from the inside out.
pub const MOST_CALLS: usize = 10;
const _: () =
    assert!(place::FIRST_CALL + 2 * MOST_CALLS <= place::READS && place::HOLDS < PLACE_WORDS);

pub const MOST_MODULES: usize = 8;
pub const MOST_STEPS: usize = 16;
pub const MOST_PLACES: usize = 64;
pub const MOST_VARIABLES: usize = 4;
pub const MOST_WORDS: usize =
    HEADER_WORDS + MOST_MODULES * MODULE_WORDS + MOST_PLACES * PLACE_WORDS;

/// Words of the header.
pub mod header {
    pub const MAGIC: usize = 0;
    /// A `Mode`.
    pub const MODE: usize = 1;
    /// Nanoseconds: the longest that a thread is held at once.
    pub const PAUSE: usize = 2;
    /// Nanoseconds: the longest that all threads together are held.
    pub const BUDGET: usize = 3;
    /// After so many times nothing is held any more; 0: no bound.
    pub const BOUND: usize = 4;
    /// So many arrivals at the first step of each role, and its gates, pass first.
    pub const IGNORED: usize = 5;
    pub const STEPS: usize = 6;
    pub const PLACES: usize = 7;
    pub const MODULES: usize = 8;
    /// 1: stop for a debugger when the last step is about to be made.
    pub const STOP: usize = 9;
    /// Who is missing at a meeting waits where it takes its lock until the others are there, and they go on when it has come back so
    /// often without having come to the meeting; 0: nobody waits there, and the others wait as long as they may.
    pub const ROUNDS: usize = 10;
    /// Nanoseconds: so long others go on before the last step is made.
    pub const LINGER: usize = 11;
    /// 1: each of the first two steps waits until the other's thread is there on the same bytes.
    pub const MEET: usize = 12;
    /// 1: a step does not wait until the thread of the step before is at its own next one.
    pub const EAGER: usize = 13;
    /// 1: the lock at whose gate a thread with a role has waited is taken by no thread without one elsewhere, until the last step.
    pub const UNDISTURBED: usize = 14;
    /// 1: there are no turns. Every step that another thread's should come before waits for the pause, whoever comes to it.
    pub const WINDOW: usize = 15;
    /// 1: a later step of a role does not count in the call of its first step made again.
    pub const WITHIN_CALLS: usize = 16;
}

/// What is done with the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Mode {
    /// Steps are made in their order: who comes early waits.
    Force = 0,
    /// No thread is between the first and the last step of a role, or its exits if it has any, while another is: as if all were under
    /// one lock.
    Serialise = 1,
    /// The first step waits until the last has been made.
    Reverse = 2,
}

impl Mode {
    pub fn from_word(word: u64) -> Option<Mode> {
        [Mode::Force, Mode::Serialise, Mode::Reverse].into_iter().find(|mode| *mode as u64 == word)
    }
}

/// Words of a place.
pub mod place {
    /// Number of the module.
    pub const MODULE: usize = 0;
    /// Return address, in the terms of the module's file.
    pub const OFFSET: usize = 1;
    /// From 0.
    pub const STEP: usize = 2;
    /// A `Purpose`.
    pub const PURPOSE: usize = 3;
    /// From 0. Different roles are different threads.
    pub const ROLE: usize = 4;
    /// Which variable is accessed, from 0; `NONE`: none, or not known. Steps with one variable touch the same bytes.
    pub const VARIABLE: usize = 5;
    /// An `Operand`.
    pub const OPERAND: usize = 6;
    /// How many bytes are accessed.
    pub const BYTES: usize = 7;
    /// How many calls follow; the place counts only if they led to it.
    pub const CALLS: usize = 8;
    pub const FIRST_CALL: usize = 9;
    /// 1: the step only reads. Who makes it again in `Serialise` begins anew: what it read before does not count any more.
    pub const READS: usize = 29;
    /// Of a gate with a variable: how far behind the lock, which is the operand, the variable is.
    pub const DISTANCE: usize = 30;
    /// 1: the place counts only if the thread holds a lock that it took at a `Holding` place of the step.
    pub const HOLDS: usize = 31;

    pub const NONE: u64 = u64::MAX;
}

/// Words of a place in a delay plan that take the place of its calls.
pub mod delay_place {
    use super::place::FIRST_CALL;

    /// Which arrival of the process is delayed, from 1; 0: none, arrivals are only counted.
    pub const ARRIVAL: usize = FIRST_CALL;
    pub const NANOSECONDS: usize = FIRST_CALL + 1;
}

/// What a place is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Purpose {
    /// Here the step is made. It is done when the next event of the thread arrives.
    Step = 0,
    /// Here a thread waits for its turn before the step.
    Gate = 1,
    /// To be here is the step: the thread stays until all steps of this purpose that follow are made.
    Meeting = 2,
    /// Here a thread takes the lock with which it has to come to the step. It waits here only if a meeting goes by rounds.
    Holding = 3,
    /// `Serialise`: here a role is done with all it does, and not at its last step.
    Exit = 4,
}

impl Purpose {
    /// Whether the step itself is made there.
    pub fn is_step(self) -> bool {
        matches!(self, Purpose::Step | Purpose::Meeting)
    }

    pub fn from_word(word: u64) -> Option<Purpose> {
        [Purpose::Step, Purpose::Gate, Purpose::Meeting, Purpose::Holding, Purpose::Exit]
            .into_iter()
            .find(|purpose| *purpose as u64 == word)
    }
}

/// Which argument of the call is the address of what is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Operand {
    First = 0,
    Second = 1,
    Unknown = 2,
}

impl Operand {
    pub fn from_word(word: u64) -> Option<Operand> {
        [Operand::First, Operand::Second, Operand::Unknown]
            .into_iter()
            .find(|operand| *operand as u64 == word)
    }
}

pub const OUTCOME_WORDS: usize = 16;
pub const OUTCOME_STEP_WORDS: usize = 8;
pub const OUTCOME_PLACE_WORDS: usize = 2;
pub const OUTCOME_SEEN_WORDS: usize = 2;
/// More threads than that are not told.
pub const MOST_SEEN: usize = 32;
pub const MOST_OUTCOME_WORDS: usize = OUTCOME_WORDS
    + MOST_STEPS * OUTCOME_STEP_WORDS
    + MOST_PLACES * OUTCOME_PLACE_WORDS
    + MOST_SEEN * OUTCOME_SEEN_WORDS;

/// Words of an outcome's header.
pub mod outcome {
    pub const MAGIC: usize = 0;
    pub const STEPS: usize = 1;
    pub const PLACES: usize = 2;
    /// How often all steps were made in their order.
    pub const HITS: usize = 3;
    /// `Serialise`, `Reverse`: how often threads came by in the wanted, inverse order.
    pub const INVERSE_HITS: usize = 4;
    /// Nanoseconds that threads were held, all together.
    pub const HELD: usize = 5;
    /// How often a thread was let go because its pause was over.
    pub const TIMED_OUT: usize = 6;
    /// How often a thread was let go because all others waited for it.
    pub const BLOCKED: usize = 7;
    /// How often a thread was let go because there was no other.
    pub const ALONE: usize = 12;
    /// Not 0: nothing is held any more, because the bound (1) or the budget (2) is reached.
    pub const OVER: usize = 8;
    /// The kind of event by which others were seen to wait when a thread was let go for that, plus 1.
    pub const WAITED_IN: usize = 9;
    /// The clock (`CLOCK_MONOTONIC`, nanoseconds) at the start and at the first hit.
    pub const STARTED_AT: usize = 10;
    pub const HIT_AT: usize = 11;
    /// A `LetGo`: why the thread was let go of which the words at the end tell; 0: none was.
    pub const LET_GO: usize = 13;
    /// The step at which it was held.
    pub const LET_GO_AT: usize = 14;
    /// How many threads are told: the one that was held, then the others, which all waited.
    pub const SEEN: usize = 15;
}

/// Words of a thread that was seen when one was let go.
pub mod outcome_seen {
    /// Its number in the recording.
    pub const THREAD: usize = 0;
    /// The number that its next event had: all before it say what it held and waited for.
    pub const NEXT_ORDINAL: usize = 1;
}

/// Why a thread was let go because of others. Of several times the first of those that tell the most is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u64)]
pub enum LetGo {
    /// There was no other, or all others waited for the end of one.
    Alone = 1,
    /// All others waited, but some waits may end by themselves.
    PerhapsBlocked = 2,
    /// All others waited for something that only a thread can give.
    Blocked = 3,
    /// Somebody waited for a lock.
    InTheWay = 4,
}

impl LetGo {
    pub fn from_word(word: u64) -> Option<LetGo> {
        [LetGo::Alone, LetGo::PerhapsBlocked, LetGo::Blocked, LetGo::InTheWay]
            .into_iter()
            .find(|why| *why as u64 == word)
    }
}

/// Words of a step in an outcome.
pub mod outcome_step {
    /// Threads that came to its places or gates.
    pub const ARRIVED: usize = 0;
    pub const HELD: usize = 1;
    /// Made in its turn.
    pub const MADE: usize = 2;
    pub const TIMED_OUT: usize = 3;
    pub const BLOCKED: usize = 4;
    pub const ALONE: usize = 5;
}

/// Words of a place in an outcome.
pub mod outcome_place {
    /// An `Arming`.
    pub const ARMING: usize = 0;
    pub const ARRIVED: usize = 1;
}

/// Whether a place is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u64)]
pub enum Arming {
    /// Its module is not (yet) in this process.
    NoModule = 0,
    Armed = 1,
    /// There is no call that ends at this address.
    NoCall = 2,
    /// The system does not let its code be changed.
    Refused = 3,
}

impl Arming {
    pub fn from_word(word: u64) -> Option<Arming> {
        [Arming::NoModule, Arming::Armed, Arming::NoCall, Arming::Refused]
            .into_iter()
            .find(|arming| *arming as u64 == word)
    }
}
