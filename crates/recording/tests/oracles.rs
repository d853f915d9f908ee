//! Slow second opinions: the merge against a plain sort, location histories against a walk byte by byte.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use unpick_events::access::PastKind;
use unpick_events::kind::access_flags;
use unpick_events::{Kind, Past, Site, ThreadId};
use unpick_recording::writer::{Draft, Writer};
use unpick_recording::{AccessKind, Action, Event, Histories, Order, Recording};

const THREADS: u16 = 3;
const MEMORY: u64 = 24;

/// One step of a random program.
#[derive(Debug, Clone)]
enum Step {
    Access {
        thread: u16,
        kind: usize,
        address: u64,
        length: u64,
        free: bool,
        pasts: Vec<(u16, bool, u32)>,
    },
    Strided {
        thread: u16,
        address: u64,
        count: u32,
        step: i32,
    },
    Continued {
        thread: u16,
        address: u64,
        length: u64,
    },
    Block {
        thread: u16,
        address: u64,
        length: u64,
        serial: u64,
    },
    StackGone {
        thread: u16,
        address: u64,
        length: u64,
    },
    Unstamped {
        thread: u16,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let thread = || 1..=THREADS;
    let range = || (0..MEMORY, 1..9_u64);
    let past = (1..=THREADS, any::<bool>(), 0..3_u32);
    let access = (
        thread(),
        0..3_usize,
        range(),
        prop::bool::weighted(0.1),
        prop::collection::vec(past, 0..3),
    )
        .prop_map(|(thread, kind, (address, length), free, pasts)| Step::Access {
            thread,
            kind,
            address,
            length,
            free,
            pasts,
        });
    prop_oneof![
        8 => access,
        1 => (thread(), 12..MEMORY, 1..4_u32, prop_oneof![-4..0_i32, 1..5_i32])
            .prop_map(|(thread, address, count, step)| Step::Strided { thread, address, count, step }),
        1 => (thread(), range()).prop_map(|(thread, (address, length))| Step::Continued { thread, address, length }),
        1 => (thread(), range(), 0..4_u64)
            .prop_map(|(thread, (address, length), serial)| Step::Block { thread, address, length, serial }),
        1 => (thread(), range()).prop_map(|(thread, (address, length))| Step::StackGone { thread, address, length }),
        1 => thread().prop_map(|thread| Step::Unstamped { thread }),
    ]
}

fn record(steps: &[Step]) -> Recording {
    let mut writer = Writer::new();
    for (site, step) in steps.iter().enumerate() {
        let site = site as u32 + 1;
        let (thread, draft) = match step {
            Step::Access { thread, kind, address, length, free, pasts } => {
                let kind = [Kind::Read, Kind::Write, Kind::ReadWrite][*kind];
                let flags = if *free { access_flags::FREE } else { 0 };
                let draft = Draft::access(kind, *address, *length).site(site).flags(flags);
                (thread, pasts.iter().fold(draft, |draft, past| draft.past(past_of(past, &writer))))
            }
            Step::Strided { thread, address, count, step } => {
                (thread, Draft::strided(Kind::Write, *address, 2, *count, *step).site(site))
            }
            Step::Continued { thread, address, length } => (
                thread,
                Draft::access(Kind::Write, *address, *length)
                    .site(site)
                    .flags(access_flags::CONTINUED),
            ),
            Step::Block { thread, address, length, serial } => {
                let who = 1 | serial << 32;
                (thread, Draft::new(Kind::Block).object(*address).word(*length).word(who))
            }
            Step::StackGone { thread, address, length } => {
                (thread, Draft::new(Kind::StackGone).object(*address).word(*length))
            }
            Step::Unstamped { thread } => (thread, Draft::new(Kind::Delay).unstamped()),
        };
        writer.write(ThreadId(*thread), draft);
    }
    Recording::from_bytes(&writer.to_bytes(), "random").unwrap()
}

fn past_of(&(thread, is_write, back): &(u16, bool, u32), writer: &Writer) -> Past {
    let thread = ThreadId(thread);
    let kind = if is_write { PastKind::Write } else { PastKind::Read };
    Past {
        kind,
        thread,
        site: Site(1000 + back),
        ordinal: writer.events_of(thread).saturating_sub(back),
    }
}

/// An access, as far as the two opinions are compared: order, thread, kind, site.
type Seen = (Order, u16, PastKind, u32);

/// For each byte, its lives: serial of the block and accesses.
type Lives = BTreeMap<u64, Vec<(Option<u32>, Vec<Seen>)>>;

/// A life while it is put together: its block as address and serial.
type LifeOfByte = (Option<(u64, u32)>, Vec<Seen>);

fn by_histories(recording: &Recording) -> Lives {
    let mut bytes = Lives::new();
    for location in Histories::of(recording).locations() {
        for byte in location.bytes.clone() {
            let lives = location.lives.iter().map(|life| {
                let seen = life
                    .accesses
                    .iter()
                    .map(|access| (access.order, access.thread.0, access.kind, access.site.0));
                (life.block.map(|block| block.serial), seen.collect())
            });
            assert!(bytes.insert(byte, lives.collect()).is_none(), "no byte has two locations");
        }
    }
    bytes
}

fn byte_by_byte(recording: &Recording) -> Lives {
    let all: Vec<_> = recording.events().collect();
    let lives = (0..MEMORY + 16).map(|byte| (byte, lives_of_byte(&all, byte)));
    lives.filter(|(_, lives)| !lives.is_empty()).collect()
}

fn lives_of_byte(all: &[Event<'_>], byte: u64) -> Vec<(Option<u32>, Vec<Seen>)> {
    let covers = |start: u64, length: u64| (start..start + length).contains(&byte);
    let mut lives: Vec<LifeOfByte> = vec![(None, Vec::new())];
    for event in all {
        let now = lives.last_mut().unwrap();
        match event.action {
            Action::Block { address, size, serial, .. }
                if covers(address.0, size) && now.0 != Some((address.0, serial)) =>
            {
                lives.push((Some((address.0, serial)), Vec::new()));
            }
            Action::StackGone { lowest, length } if covers(lowest.0, length) => {
                lives.push((None, Vec::new()));
            }
            Action::Access { address, length, count, step, .. }
                if (0..i64::from(count)).any(|number| {
                    covers(address.0.wrapping_add_signed(number * i64::from(step)), length)
                }) =>
            {
                now.1.extend(accesses_of(event, all));
            }
            _ => {}
        }
    }
    lives.retain(|(_, accesses)| !accesses.is_empty());
    lives.iter_mut().for_each(|(_, accesses)| accesses.sort_by_key(|access| access.0));
    lives
        .into_iter()
        .map(|(block, accesses)| (block.map(|(_, serial)| serial), once_each(accesses)))
        .collect()
}

fn accesses_of(event: &Event<'_>, all: &[Event<'_>]) -> Vec<Seen> {
    let Action::Access { kind, flags, pasts, .. } = event.action else { return Vec::new() };
    let mut seen: Vec<Seen> = pasts
        .iter()
        .map(|past| {
            let before = all.iter().filter(|other| {
                other.thread == past.thread && other.ordinal < u64::from(past.ordinal)
            });
            let stamp = before.map(|other| other.stamp).max().unwrap_or(0);
            let order = Order::of_past(stamp, past.thread, past.ordinal.into());
            (order.min(event.order.just_before()), past.thread.0, past.kind, past.site.0)
        })
        .collect();
    if kind != AccessKind::Write {
        seen.push((event.order, event.thread.0, PastKind::Read, event.site.0));
    }
    if kind != AccessKind::Read {
        let kind = if flags.is_free() { PastKind::Free } else { PastKind::Write };
        seen.push((event.order.just_after(), event.thread.0, kind, event.site.0));
    }
    seen
}

/// Sites of events are unique here, so only past accesses can be there twice.
fn once_each(accesses: Vec<Seen>) -> Vec<Seen> {
    let mut kept: Vec<Seen> = Vec::new();
    for access in accesses {
        if !kept.contains(&access) {
            kept.push(access);
        }
    }
    kept
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::with_cases(300)
    })]

    #[test]
    fn merging_is_sorting(steps in prop::collection::vec(step(), 0..300)) {
        let recording = record(&steps);
        let merged: Vec<_> = recording.events().collect();
        let mut sorted: Vec<_> = recording.streams().flatten().collect();
        sorted.sort_by_key(|event| event.order);
        prop_assert_eq!(&merged, &sorted);
        // A whole walk has its own way.
        let mut walked = Vec::new();
        recording.events().for_each(|event| walked.push(event));
        prop_assert_eq!(walked, sorted);
    }

    #[test]
    fn histories_are_what_a_walk_byte_by_byte_finds(steps in prop::collection::vec(step(), 0..40)) {
        let recording = record(&steps);
        prop_assert_eq!(by_histories(&recording), byte_by_byte(&recording));
    }
}
