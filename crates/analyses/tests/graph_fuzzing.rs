//! A bounded fuzz test on stable Rust: random mutations of stored graphs. The open-ended one is in `fuzz/` (cargo-fuzz, nightly).

mod graph_exercise;
mod traces;

use graph_exercise::exercise;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use traces::{record, steps};
use unpick_analyses::communication::{Collector, GraphOptions};

/// Magic and checksum.
const HEADER: usize = 16;

fn stored() -> Vec<u8> {
    let trace = "1w x 1, 2r x 2, 1w y 3, 2r y 4, 1w x 1, 2w x 2, 3r xy 5, 1u x 6, 2r x 7";
    let recording = record(&steps(trace));
    let mut collector = Collector::new(GraphOptions::default());
    collector.add(&recording, &recording);
    collector.finish().to_bytes()[HEADER..].to_vec()
}

#[test]
fn what_was_stored_is_accepted() {
    assert!(exercise(&stored()));
    assert!(!exercise(&[]));
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        rng_seed: RngSeed::Fixed(5),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn mutated_graphs_are_read_without_harm(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut bytes = stored();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        exercise(&bytes);
    }
}
