//! Cuts the memory of a large recording into parts whose histories fit into memory at once.
//!
//! Takes   a recording.      Gives  ranges of addresses, one after the other, with about equally many events each.
//! Cost    one walk over the events, only where there are more than fit.
//!
//! A location that a cut goes through becomes two, which changes nothing: pairs of the same accesses are one pair.

use std::ops::Range;

use unpick_recording::{Action, Recording};

/// Histories of this many events take some 300 MB.
const MOST_EVENTS: u64 = 2_000_000;
/// Every so many-th event decides where the cuts are.
const SAMPLE: usize = 64;

pub fn slices(recording: &Recording) -> Vec<Range<u64>> {
    slices_of(recording, MOST_EVENTS)
}

/// Slices of about `most_events` events each.
pub fn slices_of(recording: &Recording, most_events: u64) -> Vec<Range<u64>> {
    let parts = recording.event_count().div_ceil(most_events).max(1) as usize;
    let all = 0..u64::MAX;
    if parts == 1 {
        return vec![all];
    }
    let mut addresses: Vec<u64> = recording
        .streams()
        .flat_map(|stream| stream.step_by(SAMPLE))
        .filter_map(|event| match event.action {
            Action::Access { address, .. } => Some(address.0),
            _ => None,
        })
        .collect();
    addresses.sort_unstable();
    let mut cuts: Vec<u64> = (1..parts)
        .filter_map(|part| addresses.get(addresses.len() * part / parts).copied())
        .collect();
    cuts.dedup();
    let starts = [0].into_iter().chain(cuts.iter().copied());
    let ends = cuts.iter().copied().chain([u64::MAX]);
    starts.zip(ends).map(|(start, end)| start..end).filter(|slice| !slice.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use unpick_events::{Kind, ThreadId};
    use unpick_recording::writer::{Draft, Writer};

    #[test]
    fn slices_follow_each_other_over_all_memory() {
        let mut writer = Writer::new();
        for number in 0..2000 {
            writer.write(ThreadId(1), Draft::access(Kind::Write, 0x1000 + number * 8, 8));
        }
        let recording = Recording::from_bytes(&writer.to_bytes(), "test").unwrap();
        let all = 0..u64::MAX;
        assert_eq!(slices_of(&recording, 2000), [all]);
        let cut = slices_of(&recording, 500);
        assert_eq!(cut.len(), 4);
        assert_eq!(cut.first().unwrap().start, 0);
        assert_eq!(cut.last().unwrap().end, u64::MAX);
        assert!(cut.windows(2).all(|two| two[0].end == two[1].start));
    }
}
