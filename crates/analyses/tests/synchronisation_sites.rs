//! Where threads synchronise with each other: objects that at least two threads use.

use unpick_analyses::synchronisation_sites::synchronisation_sites;
use unpick_events::{Kind, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

const BASE: u64 = 0x40_0000;
const SHARED: u64 = 0x5000;
const PRIVATE: u64 = 0x6000;
const CONDITION: u64 = 0x7000;

/// Events of threads at sites of one module, by offset.
fn offsets(events: &[(u16, Kind, u64, u32)]) -> Vec<u64> {
    let mut writer = Writer::new();
    let module = Draft::new(Kind::Module).object(BASE).word(BASE).word(0x2000);
    writer.write(ThreadId(1), module.text("").text("/bin/bank"));
    for &(thread, kind, object, offset) in events {
        let draft = Draft::new(kind).object(object).site(BASE as u32 + offset);
        writer.write(
            ThreadId(thread),
            if kind == Kind::ConditionWait { draft.word(SHARED) } else { draft },
        );
    }
    let recording = Recording::from_bytes(&writer.to_bytes(), "sites").unwrap();
    let sites = synchronisation_sites(&recording, &recording);
    assert!(sites.iter().all(|site| site.module.path == "/bin/bank"));
    sites.into_iter().map(|site| site.offset).collect()
}

#[test]
fn locks_of_two_threads_count_and_a_lock_of_one_does_not() {
    let found = offsets(&[
        (1, Kind::Acquire, SHARED, 0x40),
        (1, Kind::Release, SHARED, 0x20),
        (1, Kind::Acquire, PRIVATE, 0x60),
        (1, Kind::Release, PRIVATE, 0x70),
        (2, Kind::Acquire, SHARED, 0x40),
        (2, Kind::Release, SHARED, 0x50),
    ]);
    assert_eq!(found, [0x20, 0x40, 0x50]);
}

#[test]
fn waiting_for_a_condition_and_signalling_it_count() {
    let found = offsets(&[
        (1, Kind::ConditionWait, CONDITION, 0x10),
        (2, Kind::ConditionSignal, CONDITION, 0x20),
    ]);
    assert_eq!(found, [0x10, 0x20]);
}
