//! Accesses that belong together, and what keeps others from coming between; each torn unit has a twin that is whole.

use unpick_analyses::races::Deed;
use unpick_analyses::races_multi_variable::{
    AccessType, Correlations, Mining, Rule, TornUnit, mine, torn_units,
};
use unpick_events::access::PastKind;
use unpick_events::{Kind, MemoryOrder, Past, Site, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

const X: u64 = 0x1000;
const Y: u64 = 0x1010;
const LOCK_OF_X: u64 = 0x2000;
const LOCK_OF_Y: u64 = 0x2100;
const WHOLE: u64 = 0x2200;
const QUEUE: u64 = 0x9000;
const SEMAPHORE: u64 = 0x9100;

/// Contexts by number: two functions that main calls, and one far away.
const UPDATE: u32 = 1;
const LOOK: u32 = 2;
const ELSEWHERE: u32 = 3;

struct Trace(Writer);

impl Trace {
    fn new() -> Trace {
        let mut writer = Writer::new();
        let stacks: [(u32, &[u32]); 3] = [
            (UPDATE, &[0x10, 0x20]),
            (LOOK, &[0x10, 0x30]),
            (ELSEWHERE, &[0x10, 0x40, 0x50, 0x60]),
        ];
        for (context, call_sites) in stacks {
            let stack = Draft::new(Kind::Stack).context(context).call_sites(call_sites);
            writer.write(ThreadId(1), stack.unstamped());
        }
        Trace(writer)
    }

    fn event(mut self, thread: u16, kind: Kind, object: u64) -> Trace {
        self.0.write(ThreadId(thread), Draft::new(kind).object(object));
        self
    }

    /// An access under the locks that are given, which are taken for it alone.
    fn access(self, thread: u16, kind: Kind, at: u64, context: u32, locks: &[u64]) -> Trace {
        let mut trace = self;
        for &lock in locks {
            trace = trace.event(thread, Kind::Acquire, lock);
        }
        let site = site_of(thread, at);
        trace.0.write(ThreadId(thread), Draft::access(kind, at, 8).site(site).context(context));
        for &lock in locks {
            trace = trace.event(thread, Kind::Release, lock);
        }
        trace
    }

    fn unit(self, thread: u16, kind: Kind, context: u32, locks: [&[u64]; 2]) -> Trace {
        let trace = self.access(thread, kind, X, context, locks[0]);
        trace.access(thread, kind, Y, context, locks[1])
    }

    fn recording(&self) -> Recording {
        Recording::from_bytes(&self.0.to_bytes(), "trace").unwrap()
    }

    fn torn(&self) -> Vec<TornUnit> {
        let recording = self.recording();
        torn_units(&recording, &recording, &correlations())
    }

    /// For each torn unit whether it is unordered and whether it is unlocked.
    fn verdicts(&self) -> Vec<(bool, bool)> {
        self.torn().iter().map(|torn| (torn.unordered, torn.unlocked)).collect()
    }
}

/// Of what is neither variable, sites that no rule names.
fn site_of(thread: u16, at: u64) -> u32 {
    let own = [X, Y].iter().position(|variable| *variable == at).unwrap_or(2);
    u32::from(thread) * 0x100 + own as u32
}

fn correlations() -> Correlations {
    let sites =
        (1..=2).flat_map(|thread| [(Site(site_of(thread, X)), 0), (Site(site_of(thread, Y)), 1)]);
    let sides = [(0, AccessType::Any), (1, AccessType::Any)];
    Correlations { variable_at: sites.collect(), rules: vec![Rule { sides, of_one_object: true }] }
}

#[test]
fn a_lock_for_each_variable_keeps_nobody_out() {
    let locks: [&[u64]; 2] = [&[LOCK_OF_X], &[LOCK_OF_Y]];
    let trace = Trace::new().unit(1, Kind::Write, UPDATE, locks).unit(2, Kind::Read, LOOK, locks);
    let torn = trace.torn();
    assert!(!torn.is_empty());
    assert!(torn.iter().all(|torn| torn.unlocked));
    assert!(torn.iter().any(|torn| torn.unordered));
}

#[test]
fn one_lock_over_both_does() {
    let mut trace = Trace::new();
    for (thread, kind, context) in [(1, Kind::Write, UPDATE), (2, Kind::Read, LOOK)] {
        trace = trace.event(thread, Kind::Acquire, WHOLE);
        trace = trace.unit(thread, kind, context, [&[LOCK_OF_X], &[LOCK_OF_Y]]);
        trace = trace.event(thread, Kind::Release, WHOLE);
    }
    assert_eq!(trace.verdicts(), []);
}

#[test]
fn a_lock_that_is_given_back_in_between_does_not_though_it_orders_this_run() {
    let locks: [&[u64]; 2] = [&[WHOLE], &[WHOLE]];
    let trace = Trace::new().unit(1, Kind::Write, UPDATE, locks).unit(2, Kind::Read, LOOK, locks);
    assert!(trace.verdicts().iter().all(|verdict| *verdict == (false, true)));
    assert!(!trace.verdicts().is_empty());
}

impl Trace {
    /// What is unlocked in an order that this run has: by which steps, if firmly.
    fn ordered_by(&self) -> Vec<Option<Deed>> {
        let torn = self.torn();
        assert!(!torn.is_empty());
        assert!(torn.iter().all(|torn| torn.unlocked && !torn.unordered), "{torn:?}");
        let step = |torn: &TornUnit| torn.firmness.ordered_by.map(|step| step.deed);
        torn.iter().map(|torn| step(torn).filter(|_| !torn.firmness.is_loose)).collect()
    }

    fn is_loose(&self) -> bool {
        self.ordered_by().iter().all(Option::is_none)
    }
}

/// Both threads have the two variables without a lock, the first before what comes in between, the second after it.
fn one_after_the_other(between: impl FnOnce(Trace) -> Trace) -> Trace {
    let trace = Trace::new().unit(1, Kind::Write, UPDATE, [&[], &[]]);
    between(trace).unit(2, Kind::Read, LOOK, [&[], &[]])
}

#[test]
fn what_changes_hands_as_a_whole_cannot_be_torn() {
    let handed = |taken| {
        one_after_the_other(|trace| {
            let trace = trace.access(1, Kind::Write, QUEUE, UPDATE, &[WHOLE]);
            trace.access(2, Kind::Read, taken, LOOK, &[WHOLE])
        })
    };
    let by = handed(QUEUE).ordered_by();
    assert!(by.iter().all(|by| *by == Some(Deed::HandOver)), "{by:?}");
    assert!(handed(QUEUE + 8).is_loose(), "the sections have nothing in common");
}

#[test]
fn what_waits_until_both_are_done_cannot_tear_them() {
    let posted = one_after_the_other(|trace| {
        let trace = trace.event(1, Kind::SemaphorePost, SEMAPHORE);
        trace.event(2, Kind::SemaphoreWait, SEMAPHORE)
    });
    let by = posted.ordered_by();
    assert!(by.iter().all(|by| *by == Some(Deed::Wait)), "{by:?}");
}

#[test]
fn sections_that_meet_in_the_unit_itself_could_have_come_the_other_way_round() {
    let locks: [&[u64]; 2] = [&[WHOLE], &[WHOLE]];
    let trace = Trace::new().unit(1, Kind::Write, UPDATE, locks).unit(2, Kind::Read, LOOK, locks);
    assert!(trace.is_loose());
}

/// The second section of the unit also has something that the remote one finds: the remote one as a whole could have come before it.
#[test]
fn so_could_those_that_have_more_in_common() {
    let trace = Trace::new().access(1, Kind::Write, X, UPDATE, &[WHOLE]);
    let trace = trace.event(1, Kind::Acquire, WHOLE).access(1, Kind::Write, Y, UPDATE, &[]);
    let trace = trace.access(1, Kind::Write, QUEUE, UPDATE, &[]).event(1, Kind::Release, WHOLE);
    let trace = trace.event(2, Kind::Acquire, WHOLE).access(2, Kind::Read, QUEUE, LOOK, &[]);
    let trace = trace.access(2, Kind::Write, Y, LOOK, &[]).event(2, Kind::Release, WHOLE);
    assert!(trace.is_loose());
}

#[test]
fn an_atomic_access_does_not_put_itself_in_order() {
    let order = MemoryOrder::AcquireRelease as u16;
    let mut trace = Trace::new();
    for (thread, at, context) in [(1, X, UPDATE), (1, Y, UPDATE), (2, Y, LOOK)] {
        let update = Draft::access(Kind::ReadWrite, at, 8).flags(order).context(context);
        trace.0.write(ThreadId(thread), update.site(site_of(thread, at)));
    }
    assert!(trace.is_loose());
}

#[test]
fn who_comes_between_is_not_ordered_though_each_access_is() {
    let lock: &[u64] = &[WHOLE];
    let trace = Trace::new()
        .access(1, Kind::Write, X, UPDATE, lock)
        .access(2, Kind::Write, X, LOOK, lock)
        .access(1, Kind::Write, Y, UPDATE, lock);
    assert_eq!(trace.verdicts(), [(true, true)]);
}

#[test]
fn who_is_created_afterwards_comes_after_both() {
    let locks: [&[u64]; 2] = [&[LOCK_OF_X], &[LOCK_OF_Y]];
    let trace = Trace::new().unit(1, Kind::Write, UPDATE, locks).event(1, Kind::ThreadCreate, 2);
    assert_eq!(trace.unit(2, Kind::Read, LOOK, locks).verdicts(), []);
}

#[test]
fn who_is_created_and_joined_in_between_is_meant_to_be_there() {
    let with = |end: Kind| {
        let trace = Trace::new().access(1, Kind::Write, X, UPDATE, &[]);
        let trace = trace.event(1, Kind::ThreadCreate, 2).access(2, Kind::Write, X, LOOK, &[]);
        trace.event(1, end, 2).access(1, Kind::Read, Y, UPDATE, &[]).verdicts().len()
    };
    assert_eq!(with(Kind::ThreadJoin), 0);
    assert_eq!(with(Kind::ThreadDetach), 1, "it may come later as well");
}

#[test]
fn reading_one_of_them_alone_does_no_harm_and_writing_does() {
    let locks: [&[u64]; 2] = [&[LOCK_OF_X], &[LOCK_OF_Y]];
    let with = |kind| {
        let trace = Trace::new().unit(1, Kind::Write, UPDATE, locks);
        trace.access(2, kind, X, LOOK, &[LOCK_OF_X]).verdicts().len()
    };
    assert_eq!(with(Kind::Read), 0);
    assert_eq!(with(Kind::Write), 1);
}

#[test]
fn accesses_in_functions_that_have_nothing_to_do_with_each_other_are_no_unit() {
    let trace = Trace::new()
        .access(1, Kind::Write, X, UPDATE, &[LOCK_OF_X])
        .access(1, Kind::Write, Y, ELSEWHERE, &[LOCK_OF_Y])
        .access(2, Kind::Write, X, LOOK, &[LOCK_OF_X]);
    assert_eq!(trace.verdicts(), []);
}

#[test]
fn a_write_from_before_the_bytes_were_shared_can_tear_a_unit_too() {
    let mut trace = Trace::new().event(1, Kind::ThreadCreate, 2);
    let ordinal = trace.0.events_of(ThreadId(1));
    let past =
        Past { kind: PastKind::Write, thread: ThreadId(1), site: Site(site_of(1, X)), ordinal };
    let read = |at| Draft::access(Kind::Read, at, 8).site(site_of(2, at)).context(LOOK);
    trace.0.write(ThreadId(2), read(X).past(past));
    trace.0.write(ThreadId(2), read(Y));
    assert_eq!(trace.verdicts(), [(true, true)]);
}

/// The runtime remembers 16 bits of when such a write was made, and takes it for as late as it can be.
#[test]
fn a_lock_of_the_moment_at_which_a_write_can_have_been_made_keeps_it_out_in_a_long_run() {
    const TURN: u32 = 1 << 16;
    let torn = |lock_of_write| {
        let mut trace = Trace::new().event(1, Kind::ThreadCreate, 2);
        trace = trace.event(1, Kind::Acquire, lock_of_write);
        let ordinal = trace.0.events_of(ThreadId(1)) + TURN;
        trace = trace.event(1, Kind::SemaphorePost, 0x9000);
        trace = trace.event(1, Kind::Release, lock_of_write);
        while trace.0.events_of(ThreadId(1)) < ordinal + 1 {
            trace = trace.event(1, Kind::SemaphorePost, 0x9000);
        }
        let past =
            Past { kind: PastKind::Write, thread: ThreadId(1), site: Site(site_of(1, X)), ordinal };
        let read = |at| Draft::access(Kind::Read, at, 8).site(site_of(2, at)).context(LOOK);
        trace = trace.event(2, Kind::Acquire, WHOLE);
        trace.0.write(ThreadId(2), read(X).past(past));
        trace.0.write(ThreadId(2), read(Y));
        trace = trace.event(2, Kind::Release, WHOLE);
        trace.torn().iter().filter(|torn| torn.unlocked).count()
    };
    assert_eq!((torn(WHOLE), torn(LOCK_OF_Y)), (0, 1));
}

#[test]
fn variables_that_share_critical_sections_belong_together() {
    let mut trace = Trace::new();
    for _ in 0..3 {
        trace = trace.event(1, Kind::Acquire, WHOLE);
        trace = trace.unit(1, Kind::Write, UPDATE, [&[], &[]]);
        trace = trace.event(1, Kind::Release, WHOLE);
    }
    let recording = trace.recording();
    let pairs_with = |support| {
        let mining = Mining { support, ..Mining::default() };
        mine(&recording, &recording, &correlations().variable_at, mining)
    };
    let pairs = pairs_with(3);
    assert_eq!(pairs.len(), 1);
    assert_eq!((pairs[0].variables, pairs[0].support), ([0, 1], 3));
    assert_eq!(pairs_with(4), []);
}

/// Of the thread's calls, so many were not left.
fn returned_to(mut trace: Trace, thread: u16, kept: u64) -> Trace {
    let calls = Draft::new(Kind::Calls).object(kept).unstamped();
    trace.0.write(ThreadId(thread), calls);
    trace
}

/// Writes one variable, then `between`, then the other one, each under the lock that both threads use.
fn in_two_sections(between: impl FnOnce(Trace) -> Trace) -> Trace {
    let trace = Trace::new().access(1, Kind::Write, X, UPDATE, &[WHOLE]);
    let trace = between(trace).access(1, Kind::Write, Y, UPDATE, &[WHOLE]);
    trace.unit(2, Kind::Read, LOOK, [&[WHOLE], &[WHOLE]])
}

#[test]
fn two_calls_from_the_same_place_are_no_unit() {
    let one_call = in_two_sections(|trace| trace);
    assert!(one_call.torn().iter().any(|torn| torn.first.access.thread == ThreadId(1)));
    let inner_call_returned = in_two_sections(|trace| returned_to(trace, 1, 2));
    assert_eq!(inner_call_returned.verdicts(), one_call.verdicts());
    let two_calls = in_two_sections(|trace| returned_to(trace, 1, 1));
    assert!(two_calls.torn().iter().all(|torn| torn.first.access.thread == ThreadId(2)));
}

/// As `access`, with where the lock is taken.
fn access_in_section(trace: Trace, at: u64, section: u32) -> Trace {
    let mut trace = trace;
    let acquire = Draft::new(Kind::Acquire).object(WHOLE).site(section).context(UPDATE);
    trace.0.write(ThreadId(1), acquire);
    trace.access(1, Kind::Write, at, UPDATE, &[]).event(1, Kind::Release, WHOLE)
}

#[test]
fn two_executions_of_one_critical_section_are_no_unit() {
    for (second, is_unit) in [(0x901, true), (0x900, false)] {
        let trace = access_in_section(Trace::new(), X, 0x900);
        let trace = access_in_section(trace, Y, second);
        let torn = trace.unit(2, Kind::Read, LOOK, [&[WHOLE], &[WHOLE]]).torn();
        let has_unit = torn.iter().any(|torn| torn.first.access.thread == ThreadId(1));
        assert_eq!(has_unit, is_unit);
    }
}

/// A caller of `UPDATE` and `LOOK`; if `keeps_both`, one call of `UPDATE` accesses both variables.
fn two_callees(keeps_both: bool) -> Trace {
    let mut trace = Trace::new();
    if keeps_both {
        trace = trace.unit(1, Kind::Write, UPDATE, [&[], &[]]);
        trace = returned_to(trace, 1, 1);
    }
    let trace = trace.access(1, Kind::Write, X, UPDATE, &[WHOLE]);
    let trace = returned_to(trace, 1, 1).access(1, Kind::Write, Y, LOOK, &[WHOLE]);
    trace.access(2, Kind::Write, X, ELSEWHERE, &[WHOLE])
}

#[test]
fn who_calls_a_function_that_keeps_both_variables_by_itself_merely_uses_it() {
    let unlocked = |torn: &TornUnit| !torn.first.locks.is_empty();
    assert!(two_callees(false).torn().iter().any(unlocked));
    assert!(!two_callees(true).torn().iter().any(unlocked));
}
