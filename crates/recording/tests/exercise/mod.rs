//! Asks a recording for everything it can give, and checks what must hold for any file at all.

use unpick_recording::{Histories, Recording};

/// More locations than this show nothing new, and a hostile file can have very many.
const MOST_LOCATIONS: usize = 2000;
const MOST_SHOWN: u64 = 20;

/// Reads `bytes`, whatever they are. True if they are a recording.
pub fn exercise(bytes: &[u8]) -> bool {
    let Ok(recording) = Recording::from_bytes(bytes, "fuzzed.events") else { return false };
    check_streams(&recording);
    check_merge(&recording);
    check_histories(&recording);
    check_tables(&recording);
    true
}

fn check_streams(recording: &Recording) {
    for stream in recording.streams() {
        let orders: Vec<_> = stream.map(|event| (event.ordinal, event.order)).collect();
        assert!(orders.is_sorted(), "a stream goes forward");
    }
}

fn check_merge(recording: &Recording) {
    let mut last = None;
    let mut count = 0;
    for event in recording.events() {
        assert!(last <= Some(event.order), "the merge goes forward");
        last = Some(event.order);
        count += 1;
        if count < MOST_SHOWN {
            let _ = format!("{event:?}");
        }
    }
    assert_eq!(count, recording.event_count());
}

fn check_histories(recording: &Recording) {
    let histories = Histories::of(recording);
    let mut end = 0;
    for location in histories.locations().take(MOST_LOCATIONS) {
        assert!(end <= location.bytes.start && location.bytes.start < location.bytes.end);
        end = location.bytes.end;
        for life in &location.lives {
            assert!(!life.accesses.is_empty());
            assert!(life.accesses.is_sorted_by_key(|access| access.order));
        }
    }
}

fn check_tables(recording: &Recording) {
    let _ = (recording.facts(), recording.stacks().iter().count(), recording.incompleteness());
    assert!(recording.damage().len() < 100);
    for event in recording.events() {
        let _ = recording.place_of(event.site);
    }
}
