//! The recorder's core against a naive recorder that keeps every access.
//!
//! Random accesses by several threads go through the real shadow, streams and file, and into a list of everything
//! that happened. From that list, and nothing else, follows for each byte which events there must be and which
//! past accesses they must list. The recording must say exactly that.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Once;

use proptest::prelude::*;
use unpick_events::access::PastKind;
use unpick_events::{Kind, ThreadId};
use unpick_recording::{AccessKind, Action, Recording};
use unpick_runtime::recorder::{Recorder, Settings};
use unpick_runtime::shadow::cell::{GRANULE, QUAD};
use unpick_runtime::shadow::quick;
use unpick_runtime::shadow::range::{forget, touch_range};
use unpick_runtime::shadow::silent::{
    byte_silently, read_among_readers, read_silently, span_silently, write_silently,
};
use unpick_runtime::shadow::touch::touch_around;
use unpick_runtime::shadow::{Access, region, touch};
use unpick_runtime::thread::{self, Thread};

/// Not memory of this process: the shadow does not care.
const BASE: u64 = 0x5555_0000_1000;
const BYTES: u64 = 40;

#[derive(Debug, Clone)]
enum Step {
    Access {
        thread: usize,
        kind: Kind,
        offset: u64,
        bytes: u64,
        site: u32,
    },
    NewLife {
        offset: u64,
        bytes: u64,
    },
    /// Something else happens in the thread, so that times move on.
    Elsewhere {
        thread: usize,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let kind =
        prop_oneof![4 => Just(Kind::Read), 3 => Just(Kind::Write), 1 => Just(Kind::ReadWrite)];
    let aligned = prop_oneof![Just(1_u64), Just(2), Just(4), Just(8)]
        .prop_flat_map(|bytes| (0..BYTES / bytes).prop_map(move |index| (index * bytes, bytes)));
    let any = (0..BYTES, 1_u64..20).prop_map(|(offset, bytes)| (offset, bytes.min(BYTES - offset)));
    let place = prop_oneof![5 => aligned, 1 => any];
    let access = (0..10_usize, kind, place, 0x11..0x15_u32).prop_map(
        |(thread, kind, (offset, bytes), site)| {
            // Mostly three threads, sometimes more than fit into one set of readers.
            Step::Access {
                thread: if thread < 6 { thread % 3 } else { thread },
                kind,
                offset,
                bytes,
                site,
            }
        },
    );
    let new_life = (0..BYTES / 8, 1..3_u64)
        .prop_map(|(granule, count)| Step::NewLife { offset: granule * 8, bytes: count * 8 });
    let elsewhere = (0..3_usize).prop_map(|thread| Step::Elsewhere { thread });
    proptest::collection::vec(prop_oneof![20 => access, 1 => new_life, 2 => elsewhere], 1..160)
}

/// One access to one byte, as the naive recorder keeps it.
#[derive(Debug, Clone, Copy)]
struct Seen {
    thread: u16,
    kind: Kind,
    site: u32,
    /// How many events the thread had recorded before and after the access.
    ordinal: Between,
    /// The access has an event of its own, so that no other has to list it.
    recorded: bool,
}

/// A count that is known to lie between two numbers. An access of several words may be noted in part before
/// and in part after an event of its own.
#[derive(Debug, Clone, Copy, Eq, PartialOrd, Ord)]
struct Between(u32, u32);

impl PartialEq for Between {
    fn eq(&self, other: &Self) -> bool {
        self.0 <= other.1 && other.0 <= self.1
    }
}

impl Seen {
    fn writes(&self) -> bool {
        self.kind != Kind::Read
    }
}

/// By thread and kind: where, and when.
type PastAccesses = BTreeMap<(u16, PastKind), (u32, Between)>;
type PastAccess = ((u16, PastKind), (u32, Between));
type Meeting = (u16, Kind, u32, PastAccesses);

/// What must be recorded for the last access of `life`, the complete history of a byte.
fn expected_meeting(life: &[Seen]) -> Option<Meeting> {
    let (now, before) = life.split_last()?;
    let past = if now.writes() { past_of_write(now, before) } else { past_of_read(now, before) }?;
    Some((now.thread, now.kind, now.site, past))
}

/// The accesses since the last write, that write first; `None` if nobody has written.
fn since_last_write(before: &[Seen]) -> Option<(&Seen, &[Seen])> {
    let at = before.iter().rposition(Seen::writes)?;
    Some((&before[at], &before[at + 1..]))
}

fn last_read_of(thread: u16, reads: &[Seen]) -> Option<PastAccess> {
    let read = reads.iter().rev().find(|read| read.thread == thread)?;
    Some(((thread, PastKind::Read), (read.site, read.ordinal)))
}

fn writer_before_others(write: &Seen, reads: &[Seen]) -> PastAccesses {
    let own_write = ((write.thread, PastKind::Write), (write.site, write.ordinal));
    let own_read = last_read_of(write.thread, reads);
    // Once the writer has read what it wrote, the shadow does not know any more that the write was recorded.
    let own_write = (!write.recorded || own_read.is_some()).then_some(own_write);
    [own_write, own_read].into_iter().flatten().collect()
}

/// `None`: the thread knows the bytes already, or nobody has written them.
fn past_of_read(now: &Seen, before: &[Seen]) -> Option<PastAccesses> {
    let (write, reads) = since_last_write(before)?;
    let first_foreign = reads.iter().position(|read| read.thread != write.thread);
    let Some(first_foreign) = first_foreign else {
        return (now.thread != write.thread).then(|| writer_before_others(write, reads));
    };
    let known_since = if now.thread == write.thread { &reads[first_foreign..] } else { reads };
    last_read_of(now.thread, known_since).is_none().then(PastAccesses::new)
}

/// `None`: nobody else is concerned.
fn past_of_write(now: &Seen, before: &[Seen]) -> Option<PastAccesses> {
    let others = |reads: &[Seen], except: u16| -> PastAccesses {
        reads
            .iter()
            .map(|read| read.thread)
            .filter(|thread| *thread != now.thread && *thread != except)
            .filter_map(|thread| last_read_of(thread, reads))
            .collect()
    };
    let Some((write, reads)) = since_last_write(before) else {
        let readers = others(before, 0);
        return (!readers.is_empty()).then_some(readers);
    };
    let Some(first_foreign) = reads.iter().position(|read| read.thread != write.thread) else {
        return (now.thread != write.thread).then(|| writer_before_others(write, reads));
    };
    let mut past = others(reads, write.thread);
    if write.thread != now.thread {
        past.extend(last_read_of(write.thread, &reads[first_foreign..]));
    }
    Some(past)
}

/// What the naive recorder keeps for one byte: past lives as the meetings they had, and the present one.
#[derive(Default)]
struct Byte {
    life: Vec<Seen>,
    meetings: Vec<Meeting>,
}

struct Naive {
    bytes: BTreeMap<u64, Byte>,
}

impl Naive {
    fn see(&mut self, address: u64, bytes: u64, seen: Seen) {
        for byte in address..address + bytes {
            let byte = self.bytes.entry(byte).or_default();
            byte.life.push(seen);
            let meeting = expected_meeting(&byte.life);
            byte.life.last_mut().expect("just pushed").recorded = meeting.is_some();
            byte.meetings.extend(meeting);
        }
    }

    fn begin_life(&mut self, address: u64, bytes: u64) {
        (address..address + bytes)
            .for_each(|byte| self.bytes.entry(byte).or_default().life.clear());
    }
}

/// The real recorder, with one struct per thread but no threads: steps are taken one after the other.
struct Real {
    recorder: &'static Recorder,
    threads: Vec<&'static Thread>,
}

/// One file after the other; the structs of threads are used again and stay with it.
static RECORDER: Recorder = Recorder::new();

impl Real {
    fn start(file: &Path, mode: u64) -> Self {
        static RESERVE: Once = Once::new();
        RESERVE.call_once(|| region::reserve().expect("the shadow can be reserved"));
        let recorder = &RECORDER;
        let mut path = file.as_os_str().as_bytes().to_vec();
        path.push(0);
        recorder
            .start(&path, Settings { limit: 1 << 20, seed: 0, mode })
            .expect("the file can be made");
        let threads = (0..10)
            .map(|_| {
                let number = thread::new_number(recorder).expect("a number is free");
                thread::begin(recorder, number).expect("there is memory")
            })
            .collect();
        let real = Self { recorder, threads };
        forget(real.threads[0], BASE, BYTES + 64);
        real
    }

    /// As the hooks do it.
    fn access(&self, thread: &Thread, kind: Kind, address: u64, bytes: u64, site: u32) {
        let hot = thread.hot();
        let shape = match (bytes, address % bytes) {
            (8, 0) => Some(GRANULE),
            (4, 0) => Some(QUAD),
            _ => None,
        };
        let quick = |shape| {
            let _busy = thread.enter_quietly().expect("nobody else is at work");
            quick::note_aligned(thread, address, shape, site, kind)
        };
        let quick_byte = || {
            let _busy = thread.enter_quietly().expect("nobody else is at work");
            quick::note_byte(thread, address, site, kind)
        };
        let mut access = Access { kind, flags: 0, address, bytes, site };
        let mut quick_span = || {
            let _busy = thread.enter_quietly().expect("nobody else is at work");
            quick::note_span(thread, &mut access)
        };
        let is_silent = match (kind, shape) {
            (Kind::Read, Some(shape)) => {
                read_silently(hot.pass(), address, shape, site)
                    || read_among_readers(hot, address, shape, site)
                    || quick(shape)
            }
            (Kind::Write, Some(shape)) => {
                write_silently(hot.pass(), address, shape, site) || quick(shape)
            }
            (Kind::Read, None) if bytes == 1 => {
                byte_silently(hot, address, site, false) || quick_byte()
            }
            (Kind::Write, None) if bytes == 1 => {
                byte_silently(hot, address, site, true) || quick_byte()
            }
            (Kind::Read | Kind::Write, None) if bytes <= 8 => {
                span_silently(hot, address, bytes, site, kind == Kind::Write) || quick_span()
            }
            _ => false,
        };
        if kind == Kind::ReadWrite && shape.is_some() {
            touch_around(thread, &access, || ((), kind));
        } else if bytes > 8 && kind != Kind::ReadWrite {
            touch_range(thread, &access);
        } else if !is_silent {
            touch(thread, &access);
        }
    }

    /// An event that has nothing to do with the bytes under test.
    fn elsewhere(&self, thread: &Thread) {
        let address = BASE + 0x1000;
        let other = self.threads[(thread.number() as usize + 1) % 3];
        touch(other, &Access { kind: Kind::Write, flags: 0, address, bytes: 8, site: 9 });
        touch(thread, &Access { kind: Kind::Write, flags: 0, address, bytes: 8, site: 9 });
    }
}

/// For each byte the meetings in the order of their stamps.
fn recorded_meetings(file: &Path) -> BTreeMap<u64, Vec<Meeting>> {
    let recording = Recording::open(file).expect("the recording can be read");
    assert_eq!(recording.damage(), [] as [String; 0]);
    assert!(recording.is_complete());
    let mut meetings: BTreeMap<u64, Vec<Meeting>> = BTreeMap::new();
    for event in recording.events() {
        let Action::Access { kind, address, length, flags, pasts, .. } = event.action else {
            continue;
        };
        if flags.is_repeated() {
            continue;
        }
        assert!(length <= BYTES, "{event:?}");
        let kind = match kind {
            AccessKind::Read => Kind::Read,
            AccessKind::Write => Kind::Write,
            AccessKind::ReadWrite => Kind::ReadWrite,
        };
        let past: PastAccesses = pasts
            .iter()
            .map(|past| {
                ((past.thread.0, past.kind), (past.site.0, Between(past.ordinal, past.ordinal)))
            })
            .collect();
        for byte in address.0..address.0 + length {
            if (BASE..BASE + BYTES).contains(&byte) {
                let ThreadId(thread) = event.thread;
                add_meeting(
                    meetings.entry(byte).or_default(),
                    flags.is_continued(),
                    (thread, kind, event.site.0, past.clone()),
                );
            }
        }
    }
    meetings
}

/// A continued event adds to the past of the one before if it is about the same byte.
fn add_meeting(meetings: &mut Vec<Meeting>, continued: bool, meeting: Meeting) {
    if continued
        && let Some(last) = meetings.last_mut()
        && last.0 == meeting.0
        && last.3.len() >= 8
    {
        last.3.extend(meeting.3);
        return;
    }
    meetings.push(meeting);
}

/// Reads between two writes by different threads have no order of their own.
fn with_reads_sorted(meetings: &[Meeting]) -> Vec<Meeting> {
    let mut sorted = meetings.to_vec();
    for reads in sorted.split_mut(|meeting| meeting.1 != Kind::Read) {
        reads.sort_by_key(|read| (read.0, read.2));
    }
    sorted
}

fn check(steps: &[Step], mode: u64) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("1-0.events");
    let real = Real::start(&file, mode);
    let mut naive = Naive { bytes: BTreeMap::new() };
    for step in steps {
        match *step {
            Step::Access { thread, kind, offset, bytes, site } => {
                let thread = real.threads[thread];
                let count = || thread.hot().time.get();
                let before = count();
                real.access(thread, kind, BASE + offset, bytes, site);
                let ordinal = Between(before, count());
                naive.see(
                    BASE + offset,
                    bytes,
                    Seen { thread: thread.number(), kind, site, ordinal, recorded: false },
                );
            }
            Step::NewLife { offset, bytes } => {
                forget(real.threads[0], BASE + offset, bytes);
                naive.begin_life(BASE + offset, bytes);
            }
            Step::Elsewhere { thread } => real.elsewhere(real.threads[thread]),
        }
    }
    real.recorder.detach();
    // Their structs serve the next case; their numbers are used up.
    real.threads.iter().for_each(|thread| thread::end(thread));
    let recorded = recorded_meetings(&file);
    for (address, byte) in naive.bytes {
        let recorded = recorded.get(&address).map_or(&[][..], Vec::as_slice);
        assert_eq!(
            with_reads_sorted(&byte.meetings),
            with_reads_sorted(recorded),
            "the byte at offset {}",
            address - BASE
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(20_261_115), ..ProptestConfig::default() })]

    #[test]
    fn the_recording_tells_what_a_complete_trace_tells(steps in steps()) {
        check(&steps, 0);
    }
}
