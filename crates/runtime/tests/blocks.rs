//! What is kept about heap blocks, apart from any allocator: the addresses here are no memory of this process.

use std::collections::BTreeSet;
use std::sync::Once;

use proptest::prelude::*;
use unpick_runtime::heap::facts::{Block, End, Facts};
use unpick_runtime::heap::starts;
use unpick_runtime::shadow::region;

fn reserve() {
    static RESERVE: Once = Once::new();
    RESERVE.call_once(|| region::reserve().expect("the shadow can be reserved"));
}

#[test]
fn facts_survive_and_tell_the_end_of_a_block() {
    reserve();
    let address = 0x5600_0000_0010;
    let facts = Facts::before(address).expect("a possible address");
    assert_eq!(facts.read(address), None);
    let block = Block {
        address,
        bytes: 0x1234_5678_9abc,
        site: 0xdead_beef,
        context: 0xcafe,
        thread: 0xfffe,
        serial: !0,
    };
    facts.write(&block);
    facts.set_announced();
    assert_eq!((facts.read(address), facts.end()), (Some(block), None));
    let end = End { thread: 0xabcd, site: 0x1111_2222, time: 0xfedc };
    facts.set_end(end);
    assert_eq!((facts.read(address), facts.end()), (Some(block), Some(end)));
    assert!(facts.is_announced());
    facts.write(&Block { serial: 7, ..block });
    assert_eq!((facts.is_announced(), facts.end()), (false, None), "a new block has its own story");
    facts.clear();
    assert_eq!((facts.read(address), facts.end()), (None, None));
}

#[test]
fn a_large_block_is_found_from_its_far_end() {
    reserve();
    let start = 0x7e00_0000_0010;
    starts::set(start, 8 << 30);
    assert_eq!(starts::at_or_below(start + (8 << 30) - 1), Some(start));
    assert_eq!(starts::at_or_below(start - 1), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Each case has addresses of its own, since starts stay.
    #[test]
    fn starts_are_found_and_taken_like_in_an_ordered_set(
        place in 0_u64..1 << 20,
        blocks in proptest::collection::vec(0_u64..20_000, 1..60),
        range in (0_u64..400_000, 0_u64..200_000),
        asked in proptest::collection::vec(0_u64..400_000, 1..40),
    ) {
        reserve();
        let base = 0x7f00_0000_0000 + place * (1 << 20);
        let mut naive: BTreeSet<u64> = BTreeSet::new();
        starts::take_all_in(base, base + (1 << 20), |_| {});
        for block in blocks {
            starts::set(base + block * 16, 1 << 20);
            naive.insert(base + block * 16);
        }
        let (from, to) = (base + range.0, base + range.0 + range.1);
        let mut taken = BTreeSet::new();
        starts::take_all_in(from, to, |start| assert!(taken.insert(start)));
        let expected: BTreeSet<u64> = naive.iter().copied().filter(|start| (from..to).contains(start)).collect();
        prop_assert_eq!(&taken, &expected);
        naive.retain(|start| !expected.contains(start));
        for address in asked {
            let found = starts::at_or_below(base + address).filter(|start| *start >= base);
            prop_assert_eq!(found, naive.range(..=base + address).next_back().copied());
        }
    }
}
