//! Findings: what a user is told, as data. Text comes last, in the printers.
//!
//! Takes   the `Conclusion` of all runs, and somebody who knows names (`Names`).
//! Gives   `Findings`: ranked, grouped so that one cause is one finding, explained; as JSON they follow
//!         `docs/schema/findings.schema.json`. Of orders that no run had, findings to be. Of violated
//!         invariants, what happened. Of a run that hung a `Hang`: who waits for whom.
//! Misses  what was not ranked high enough to have evidence.
//! Invents a common cause for what only ever happens together.
//! Cost    the square of the patterns with evidence in one group, at most some millions of steps.
//!
//! Nothing here reads files: names come through a trait.
#![forbid(unsafe_code)]

mod active;
mod alternatives;
mod certainty;
mod confirmed;
mod correlated;
mod covered;
mod deadlock;
mod describe;
mod failure;
mod finding;
mod grouping;
mod hang;
mod led_by;
mod names;
mod packages;
mod paths;
mod places;
mod race;
mod reconstruction;
mod sentences;
mod tsan_suppressions;
mod unseen;
mod unsure;
mod violation;

pub use active::{Active, TriedOrder};
pub use alternatives::{Alternative, Reason, alternatives};
pub use certainty::Certainty;
pub use confirmed::{Confirmation, Confirmed, Doubt};
pub use correlated::FindingCorrelation;
pub use deadlock::{CandidateDeadlock, NumberedCycle, describe_deadlocks};
pub use describe::{Choices, describe};
pub use failure::{FailedRun, FailureGroup, HUNG, Stream, group_failures, last_lines};
pub use finding::{
    AccessKind, Class, CodePlace, Finding, FindingAccess, Findings, HeldLock, InExperiments,
    MOST_CALLS, Origin, RelatedAccess, Relation, Runs, SCHEMA, Study, Supporter,
    SupportingInvariant, Unreadable,
};
pub use grouping::{Group, Standing, group};
pub use hang::{
    Activity, HANG_SCHEMA, Hang, HangGroup, HangProcess, HangThread, HangWait, LostDeed,
    LostNotification, LostStep, LostVariable, WaitedFor, describe_hang, group_hangs,
    impasse_in_words,
};
pub use names::{Author, Frame, Names, Place, UsersCall};
pub use packages::Packages;
pub use race::{
    AccessOrder, CorrelatedAccess, ForcedOrder, ForcedRace, NumberedRaces, OpenUnit, RACES_SCHEMA,
    RaceDetector, RaceFinding, RaceMark, StepWords, TORN_AT_FIRST, TORN_AT_SECOND, ThreadSteps,
    describe_races,
};
pub use reconstruction::{
    CodePoint, PointPlace, PointThread, RECONSTRUCTIONS_SCHEMA, Reconstruction, ReconstructionList,
    ReconstructionWords, own_first,
};
pub use tsan_suppressions::TsanSuppressions;
pub use unseen::{OrdersToForce, describe_shown, describe_unseen};
pub use violation::{TrainedSite, ViolatedInvariant, describe_violations};
