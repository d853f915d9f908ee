//! Memory that is used again starts a new life: nobody of the first life is seen to meet anybody of the second.

mod support;

use std::collections::BTreeSet;

use support::Program;
use unpick_events::access::PastKind;
use unpick_recording::{Histories, Recording};

/// Who touched the eight bytes at `address`, life by life.
fn lives(recording: &Recording, address: u64) -> Vec<BTreeSet<u16>> {
    let histories = Histories::within(recording, address..address + 8);
    let mut locations = histories.locations();
    let location = locations.next().expect("somebody touched it");
    assert_eq!(locations.next(), None, "one location");
    location
        .lives
        .iter()
        .map(|life| life.accesses.iter().map(|access| access.thread.0).collect())
        .collect()
}

fn address_of(name: &str, text: &str) -> u64 {
    let told = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix("=0x"));
    u64::from_str_radix(told.expect("it is told"), 16).expect("an address")
}

#[test]
fn a_frame_a_thread_and_a_mapping_that_are_gone_have_had_their_life() {
    for options in [["-O0"], ["-O1"], ["-O2"]] {
        let program = Program::build_with("lives.c", &options);
        for mode in ["", "full"] {
            let run = program.record(&[], mode);
            let recording = run.recording();
            assert!(recording.is_complete(), "{:?}", recording.incompleteness());
            let said = String::from_utf8_lossy(&run.output.stdout).into_owned();
            assert_eq!(
                said,
                "frame same\nthread same\nmapping same\nmapped over same\nstorage same\n"
            );
            let text = String::from_utf8_lossy(&run.output.stderr).into_owned();
            for (name, first, second) in [
                ("frame", [1, 2], [1, 3]),
                ("thread", [4, 5], [6, 7]),
                ("mapping", [1, 8], [1, 9]),
                ("mapped over", [1, 10], [1, 11]),
                ("storage", [12, 13], [14, 15]),
            ] {
                let lives = lives(&recording, address_of(name, &text));
                // The bytes may serve others later; each life is one asking and one answering thread's.
                assert!(
                    lives.iter().all(|life| life.len() == 2),
                    "{options:?} {mode} {name}: {lives:?}"
                );
                let place = |life: [u16; 2]| lives.iter().position(|one| one.iter().eq(&life));
                let (first, second) = (place(first), place(second));
                assert!(first.is_some() && first < second, "{options:?} {mode} {name}: {lives:?}");
            }
        }
    }
}

/// For every frame that was left too early: who left it, and who used it after that.
fn used_after_return(recording: &Recording) -> Vec<(u16, u16)> {
    let locations = Histories::of(recording);
    let lives = locations.locations().flat_map(|location| location.lives);
    let lives = lives.filter(|life| life.block.is_none());
    let pairs = lives.filter_map(|life| {
        let left = life.accesses.iter().position(|access| access.kind == PastKind::Free)?;
        let used = life.accesses[left..].iter().find(|access| access.kind == PastKind::Read)?;
        Some((life.accesses[left].thread.0, used.thread.0))
    });
    pairs.collect()
}

#[test]
fn a_frame_that_is_left_frees_what_a_running_thread_was_given_of_it() {
    for level in ["-O0", "-O1", "-O2"] {
        let program = Program::build_with("frames_left.c", &[level]);
        let early = program.record(&["early"], "").recording();
        assert_eq!(used_after_return(&early), [(1, 2)], "{level}");
        let mut by_thread = used_after_return(&program.record(&["a", "thread"], "").recording());
        by_thread.sort_unstable();
        assert_eq!(by_thread, [(2, 3), (2, 4)], "{level}: also of a thread's first function");
        // Joined first, or in an array of variable length of a caller that has not returned.
        assert_eq!(used_after_return(&program.check().recording()), [], "{level}");
    }
}
