//! Races and deadlocks that can be, from traces to words.

#[path = "../../analyses/tests/locking/mod.rs"]
mod locking;

use std::path::{Path, PathBuf};

use locking::{record, steps};
use unpick_analyses::interleaving_patterns::CodeSite;
use unpick_analyses::lock_order::{as_hang, lock_order};
use unpick_analyses::races::{Collector, CorrelationSource, NamedRule};
use unpick_analyses::races_multi_variable::AccessType;
use unpick_analyses::ranking::{CodeBook, ExampleAccess, ExampleLock, ExampleMemory};
use unpick_events::access::PastKind;
use unpick_events::kind::access_flags;
use unpick_events::{Kind, Past, Site, ThreadId};
use unpick_findings::{
    Author, CandidateDeadlock, Choices, Frame, Names, NumberedCycle, Packages, Place, RaceDetector,
    RaceFinding, describe_deadlocks, describe_races,
};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

const BYTES: u64 = 0x1000;
const LOCK: u64 = 0x5000;
const SEMAPHORE: u64 = 0x5040;

/// Site 31 is line 31 of bank.c; sites above 1000 are the language's. What lies at 0x5000 is `a`, 64 bytes on `b`.
struct TestNames;

impl Names for TestNames {
    fn place(&self, site: CodeSite, _: &CodeBook) -> Place {
        let frame = Frame {
            function: Some(format!("f{}", site.offset)),
            file: Some("/home/me/bank/bank.c".to_owned()),
            line: Some(site.offset as u32),
            column: None,
        };
        Place { frame, inlined_into: Vec::new() }
    }

    fn author(&self, site: CodeSite, _: &CodeBook) -> Author {
        if site.offset > 1000 { Author::Language } else { Author::User }
    }

    fn line_text(&self, _: CodeSite, _: &CodeBook) -> Option<String> {
        None
    }

    fn variable(&self, _: &ExampleAccess, _: &CodeBook) -> Option<String> {
        Some("balance".to_owned())
    }

    fn lock(&self, lock: &ExampleLock, _: &CodeBook) -> Option<String> {
        let ExampleMemory::Other { address } = lock.memory else { return None };
        char::from_u32(u32::from('a') + (address.checked_sub(LOCK)? / 64) as u32).map(String::from)
    }
}

#[derive(Default)]
struct Trace(Writer);

impl Trace {
    fn begun() -> Trace {
        let create = |thread| Draft::new(Kind::ThreadCreate).object(thread);
        Trace::default().event(1, create(2)).event(1, create(3))
    }

    fn event(mut self, thread: u16, draft: Draft) -> Trace {
        self.0.write(ThreadId(thread), draft);
        self
    }

    fn write(self, thread: u16, site: u32) -> Trace {
        self.event(thread, Draft::access(Kind::Write, BYTES, 4).site(site))
    }

    fn sync(self, thread: u16, kind: Kind, object: u64, site: u32) -> Trace {
        self.event(thread, Draft::new(kind).object(object).site(site))
    }

    fn races(&self) -> Vec<RaceFinding> {
        let open = || Recording::from_bytes(&self.0.to_bytes(), "trace").unwrap();
        let recording = open();
        let mut collector = Collector::default();
        collector.add(&recording, &recording, open(), None);
        describe_races(&[(1, &collector.finish())], &TestNames, &choices())
    }
}

fn choices() -> Choices {
    Choices {
        correlations: Vec::new(),
        packages: Packages::default(),
        working_folder: PathBuf::from("/home/me/bank"),
        most_findings: 10,
        most_supporters: 10,
    }
}

#[test]
fn what_a_semaphore_orders_only_lacks_a_lock_and_says_so() {
    let trace = Trace::begun().write(2, 20).sync(2, Kind::SemaphorePost, SEMAPHORE, 21);
    let found = trace.sync(3, Kind::SemaphoreWait, SEMAPHORE, 30).write(3, 31).races();
    assert_eq!(found.len(), 1);
    assert!(found[0].is_ordered(), "{found:?}");
    assert!(
        found[0].sentence.ends_with("without a lock in common; something else orders the two.")
    );
    assert!(found[0].why.contains("wait for a semaphore of `b` (bank.c:30)"), "{}", found[0].why);
}

#[test]
fn what_only_the_order_of_a_lock_puts_in_order_is_a_race() {
    let trace = Trace::begun().write(2, 20);
    let trace = trace.sync(2, Kind::Acquire, LOCK, 21).sync(2, Kind::Release, LOCK, 22);
    let trace = trace.sync(3, Kind::Acquire, LOCK, 30).sync(3, Kind::Release, LOCK, 31);
    let found = trace.write(3, 32).races();
    assert_eq!((found.len(), &found[0].detectors[..]), (1, &[RaceDetector::Lockset][..]));
    assert!(!found[0].is_ordered());
    assert!(found[0].why.contains("which thread came to a lock first"), "{}", found[0].why);
}

#[test]
fn what_is_ordered_comes_after_all_races() {
    let trace = Trace::begun().write(2, 20).sync(2, Kind::SemaphorePost, SEMAPHORE, 21);
    let trace = trace.sync(3, Kind::SemaphoreWait, SEMAPHORE, 30).write(3, 31);
    let at = |thread, site| (thread, Draft::access(Kind::Write, BYTES + 8, 4).site(site));
    let found = [at(2, 22), at(3, 33)]
        .into_iter()
        .fold(trace, |trace, (thread, draft)| trace.event(thread, draft));
    let ordered: Vec<bool> = found.races().iter().map(RaceFinding::is_ordered).collect();
    assert_eq!(ordered, [false, true]);
}

/// The bytes and those 8 further on belong together; all that threads do to them is in one function.
fn rule() -> NamedRule {
    let side = |name: &str| (name.to_owned(), AccessType::Any);
    NamedRule { sides: [side("count"), side("sum")], text: "a rule".into(), because: String::new() }
}

const FUNCTION: u32 = 1;

impl Trace {
    fn in_one_function() -> Trace {
        let stack = Draft::new(Kind::Stack).context(FUNCTION).call_sites(&[1]).unstamped();
        Trace::begun().event(1, stack)
    }

    /// Writes the one and then the other, at this line and the next.
    fn unit(self, thread: u16, site: u32) -> Trace {
        let write = |at, site| Draft::access(Kind::Write, at, 4).site(site).context(FUNCTION);
        self.event(thread, write(BYTES, site)).event(thread, write(BYTES + 8, site + 1))
    }

    /// Posts, for another that waits: all before comes before all after.
    fn post(self, from: u16, to: u16) -> Trace {
        let posted = self.sync(from, Kind::SemaphorePost, SEMAPHORE, 22);
        posted.sync(to, Kind::SemaphoreWait, SEMAPHORE, 30)
    }

    fn empty_section(self, thread: u16) -> Trace {
        self.sync(thread, Kind::Acquire, LOCK, 40).sync(thread, Kind::Release, LOCK, 41)
    }

    fn torn(&self) -> Vec<RaceFinding> {
        let name = |access: &ExampleAccess, _: &CodeBook| match access.memory {
            ExampleMemory::Other { address: BYTES } => Some("count".to_owned()),
            ExampleMemory::Other { .. } => Some("sum".to_owned()),
            _ => None,
        };
        let recording = Recording::from_bytes(&self.0.to_bytes(), "trace").unwrap();
        let mut collector = Collector::default();
        collector.extend(&recording, &recording, &CorrelationSource::Named(&[rule()]), &name);
        describe_races(&[(1, &collector.finish())], &TestNames, &choices())
    }
}

#[test]
fn a_unit_that_a_semaphore_keeps_whole_only_lacks_a_lock_and_says_so() {
    let found = Trace::in_one_function().unit(2, 20).post(2, 3).unit(3, 31).torn();
    assert_eq!((found.len(), &found[0].detectors[..]), (1, &[RaceDetector::Lockset][..]));
    assert!(found[0].is_ordered(), "{found:?}");
    let RaceFinding { sentence, why, .. } = &found[0];
    assert!(sentence.ends_with("from coming in between; something else does."), "{sentence}");
    assert!(why.contains("before both accesses of thread 1 or after both"), "{why}");
    assert!(why.contains("wait for a semaphore of `b` (bank.c:30)"), "{why}");
}

#[test]
fn a_unit_that_can_be_torn_in_one_way_of_several_is_a_race() {
    let trace = Trace::in_one_function().unit(2, 20).post(2, 3).unit(3, 31);
    // The other thread once more, elsewhere, after a section that has nothing to do with anything.
    let write = Draft::access(Kind::Write, BYTES, 4).site(35).context(FUNCTION);
    let trace = trace.post(3, 2).unit(2, 20).empty_section(2).empty_section(3);
    let found = trace.event(3, write).torn();
    let told: Vec<_> = found.iter().map(|race| (race.unordered, race.is_ordered())).collect();
    assert_eq!(told, [(0, false)], "{found:?}");
    assert!(found[0].loose > 0 && found[0].sentence.contains("nothing keeps that"));
}

/// A thread of Rust takes itself off a list of the library when it ends, another one puts itself on it: by `memmove`, under a lock that is
/// not seen. The first time nobody else has touched the list yet, and that it was a library's is not known.
#[test]
fn copies_by_code_without_hooks_are_no_race_even_before_they_were_shared() {
    let with = |site, flags| {
        let trace = Trace::begun();
        let ordinal = trace.0.events_of(ThreadId(2));
        let past = Past { kind: PastKind::Write, thread: ThreadId(2), site: Site(2001), ordinal };
        // A thread has to have had an event for its past to count.
        let trace = trace.sync(2, Kind::SemaphorePost, SEMAPHORE, 21);
        let read = Draft::access(Kind::Read, BYTES, 8).site(site).flags(flags).past(past);
        trace.event(3, read).races().len()
    };
    assert_eq!(with(2002, access_flags::LIBRARY), 0);
    assert_eq!(with(30, access_flags::LIBRARY), 1, "the user called it");
    assert_eq!(with(2002, 0), 1, "it has hooks");
}

/// An access without an event, by a thread that has had this many events since.
fn race_with_past(events_since: u32) -> RaceFinding {
    let mut trace = Trace::begun();
    let ordinal = trace.0.events_of(ThreadId(2)) + events_since;
    while trace.0.events_of(ThreadId(2)) <= ordinal {
        trace = trace.sync(2, Kind::Acquire, LOCK, 21).sync(2, Kind::Release, LOCK, 22);
    }
    let past = Past { kind: PastKind::Write, thread: ThreadId(2), site: Site(20), ordinal };
    let read = Draft::access(Kind::Read, BYTES, 4).site(30).past(past);
    trace.event(3, read).races().remove(0)
}

#[test]
fn of_an_access_in_a_long_run_it_is_told_that_its_moment_is_not_known() {
    let (short, long) = (race_with_past(10), race_with_past(70_000));
    assert!(!short.undated && !short.why.contains("65536"), "{}", short.why);
    assert!(long.undated && long.why.contains("65536"), "{}", long.why);
}

fn candidates(runs: &[&str]) -> Vec<CandidateDeadlock> {
    let mut cycles = Vec::new();
    for (text, run) in runs.iter().zip(1..) {
        let recording = record(&steps(text));
        let found = lock_order(&recording, &recording).cycles;
        cycles.extend(found.iter().map(|cycle| NumberedCycle {
            run,
            ways: cycle.ways,
            hang: as_hang(cycle, 7, &recording, &recording),
        }));
    }
    describe_deadlocks(&cycles, &TestNames, Path::new("/home/me/bank"))
}

const CROSSED: &str =
    "1 lock a; 1 lock b; 1 unlock b; 1 unlock a; 2 lock b; 2 lock a; 2 unlock a; 2 unlock b";

#[test]
fn a_cycle_says_who_holds_what_and_asks_for_what() {
    let found = candidates(&[CROSSED]);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].sentence,
        "thread 1 holds a and asks for b at bank.c:2, thread 2 holds b and asks for a at bank.c:6"
    );
    assert_eq!((found[0].runs, found[0].example_run, found[0].ways), (1, 1, 1));
    assert!(found[0].hang.deadlock && found[0].confirmed.is_none());
}

#[test]
fn cycles_at_the_same_places_are_one_and_those_of_more_runs_come_first() {
    // Elsewhere, and in the first run only: that with two locks, and one more before it.
    let elsewhere = format!("1 lock c; 1 unlock c; {CROSSED}");
    let found = candidates(&[&elsewhere, CROSSED, CROSSED]);
    let told: Vec<_> = found.iter().map(|one| (one.runs, one.example_run)).collect();
    assert_eq!(told, [(2, 2), (1, 1)]);
    assert!(found[1].sentence.contains("bank.c:4"), "{}", found[1].sentence);
}

#[test]
fn no_cycle_is_no_candidate() {
    assert_eq!(candidates(&["1 lock a; 1 unlock a; 2 lock a; 2 unlock a"]), []);
}
