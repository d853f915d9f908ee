//! A thread that finds itself alone at some bytes notes its write by plain stores. Another thread may come in between, and open
//! a set of readers: the write must be known to whoever comes next, with its site.
//!
//! The steps are taken one after the other, on the real shadow; the stores of the write are made by hand, after the second reader.

use std::os::unix::ffi::OsStrExt;
use std::sync::{Mutex, Once};

use unpick_events::Kind;
use unpick_events::access::PastKind;
use unpick_events::file::mode;
use unpick_recording::{AccessKind, Action, Recording};
use unpick_runtime::recorder::{Recorder, Settings};
use unpick_runtime::shadow::range::forget;
use unpick_runtime::shadow::{Access, region, touch};
use unpick_runtime::thread::{self, Thread};

/// Not memory of this process: the shadow does not care.
const ADDRESS: u64 = 0x5556_0000_1000;

static RECORDER: Recorder = Recorder::new();

/// Three threads, by the order of their beginning.
struct Threads([&'static Thread; 3]);

impl Threads {
    fn access(&self, thread: usize, kind: Kind, site: u32) {
        let access = Access { kind, flags: 0, address: ADDRESS, bytes: 4, site };
        touch(self.0[thread], &access);
    }

    fn read(&self, thread: usize, site: u32) {
        self.access(thread, Kind::Read, site);
    }

    fn write(&self, thread: usize, site: u32) {
        self.access(thread, Kind::Write, site);
    }

    /// The second half of `write_silently`, whose first half found the thread alone.
    fn write_late(&self, thread: usize, site: u32) {
        region::cell(ADDRESS).set_write(site, self.0[thread].hot().time.get());
    }
}

/// An event: its thread, kind and site, and what it lists.
type Told = (usize, AccessKind, u32, Vec<(usize, PastKind, u32)>);

/// The events of some steps, in a recording of this mode.
fn told(mode: u64, steps: impl FnOnce(&Threads)) -> Vec<Told> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    static RESERVE: Once = Once::new();
    let _guard = ONE_AT_A_TIME.lock().unwrap();
    RESERVE.call_once(|| region::reserve().expect("the shadow can be reserved"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("1-0.events");
    let path = [file.as_os_str().as_bytes(), b"\0"].concat();
    RECORDER.start(&path, Settings { limit: 1 << 20, seed: 0, mode }).expect("a file can be made");
    let threads = Threads([(); 3].map(|()| {
        let number = thread::new_number(&RECORDER).expect("a number is free");
        thread::begin(&RECORDER, number).expect("there is memory")
    }));
    forget(threads.0[0], ADDRESS, 8);
    let first = threads.0[0].number();
    steps(&threads);
    RECORDER.detach();
    threads.0.iter().for_each(|thread| thread::end(thread));
    events(&Recording::open(&file).expect("the recording can be read"), first)
}

fn events(recording: &Recording, first: u16) -> Vec<Told> {
    let index = |number: u16| usize::from(number - first);
    let events = recording.events().filter_map(|event| {
        let Action::Access { kind, pasts, .. } = event.action else { return None };
        let pasts = pasts.iter().map(|past| (index(past.thread.0), past.kind, past.site.0));
        Some((index(event.thread.0), kind, event.site.0, pasts.collect()))
    });
    events.collect()
}

fn in_both_modes(expected: &[Told], steps: impl Fn(&Threads)) {
    for mode in [0, mode::FULL] {
        assert_eq!(told(mode, &steps), expected, "mode {mode}");
    }
}

#[test]
fn a_write_lists_a_write_that_came_late_with_its_site() {
    let expected = (1, AccessKind::Write, 22, vec![(0, PastKind::Write, 12)]);
    in_both_modes(&[expected], |threads| {
        threads.read(0, 11);
        threads.read(1, 21);
        threads.write_late(0, 12);
        threads.write(1, 22);
    });
}

#[test]
fn a_read_after_a_write_that_came_late_is_listed_after_it() {
    let late = vec![(0, PastKind::Write, 12), (0, PastKind::Read, 13)];
    let expected = (1, AccessKind::Write, 22, late);
    let events = told(0, |threads| {
        threads.read(0, 11);
        threads.read(1, 21);
        threads.write_late(0, 12);
        threads.read(0, 13);
        threads.write(1, 22);
    });
    assert_eq!(events, [expected]);
}

#[test]
fn the_next_reader_lists_a_write_that_came_late() {
    let read = (2, AccessKind::Read, 31, vec![(0, PastKind::Write, 12)]);
    in_both_modes(&[read], |threads| {
        threads.read(0, 11);
        threads.read(1, 21);
        threads.write_late(0, 12);
        threads.read(2, 31);
    });
}

#[test]
fn a_reader_that_was_there_before_lists_a_write_that_came_late() {
    let read = (1, AccessKind::Read, 22, vec![(0, PastKind::Write, 12)]);
    in_both_modes(&[read], |threads| {
        threads.read(0, 11);
        threads.read(1, 21);
        threads.write_late(0, 12);
        threads.read(1, 22);
    });
}

#[test]
fn readers_after_a_write_that_came_late_are_listed_by_the_next_write() {
    let read = (2, AccessKind::Read, 31, vec![(0, PastKind::Write, 12)]);
    let write = (1, AccessKind::Write, 22, vec![(2, PastKind::Read, 31)]);
    let events = told(0, |threads| {
        threads.read(0, 11);
        threads.read(1, 21);
        threads.write_late(0, 12);
        threads.read(2, 31);
        threads.write(1, 22);
    });
    assert_eq!(events, [read, write]);
}

#[test]
fn without_a_late_write_the_first_reader_is_listed_as_before() {
    let expected = (1, AccessKind::Write, 22, vec![(0, PastKind::Read, 11)]);
    in_both_modes(&[expected], |threads| {
        threads.read(0, 11);
        threads.read(1, 21);
        threads.write(1, 22);
    });
}
