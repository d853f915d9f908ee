//! Slow second opinion: the same accesses from location histories, on random recordings.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use unpick_events::kind::access_flags;
use unpick_events::{Kind, Past};
use unpick_recording::writer::{Draft, Writer};
use unpick_recording::{Access, Event, Histories, Life, Recording};

use super::*;
use crate::access_pairs::{is_of_library, place_of};
use crate::knowledge::{Knowledge, State};

const THREADS: u16 = 4;
const MEMORY: u64 = 32;

/// Every third site is of a library, every seventh unknown.
struct SomeOfLibrary;

impl Knowledge for SomeOfLibrary {
    fn return_address(&self, site: Site) -> Option<u64> {
        Some(site.0.into())
    }

    fn lock_change(&self, _event: &Event<'_>) -> Option<crate::locks_held::LockChange> {
        None
    }

    fn state_of(&self, site: Site) -> State {
        match site.0 {
            site if site % 3 == 0 => State::OfLibrary,
            site if site % 7 == 0 => State::Unknown,
            _ => State::OfUser,
        }
    }
}

/// All touches, each with its location.
type Told = Vec<(Order, Site, Context, PastKind, LivedBytes)>;

fn told_by_touches(process: &Process<'_>) -> Vec<Told> {
    let touches = Touches::of(process);
    let mut told = Vec::new();
    touches.for_each_access(|parts| {
        let tell = |touch: &Touch| {
            let Touch { order, site, stack, location, kind } = *touch;
            (order, site, stack, kind, touches.location(location))
        };
        told.push(parts.iter().map(tell).collect());
    });
    told
}

fn told_by_histories(process: &Process<'_>) -> Vec<Told> {
    let mut told = Vec::new();
    for location in Histories::of(process.recording).locations() {
        for life in location.lives.iter().filter(|life| has_threads(life)) {
            if !is_of_library(life, process.knowledge) {
                let lived = LivedBytes { bytes: location.bytes.clone(), block: life.block };
                told.extend(life.accesses.iter().map(|access| touch_of(access, &lived)));
            }
        }
    }
    // Locations come by address: a stable sort leaves them so.
    told.sort_by_key(|&(order, site, _, kind, _)| (order, site, kind as u8));
    let accesses = told.chunk_by(|one, next| (one.0, one.1, one.3) == (next.0, next.1, next.3));
    accesses.map(<[_]>::to_vec).collect()
}

fn touch_of(access: &Access, lived: &LivedBytes) -> (Order, Site, Context, PastKind, LivedBytes) {
    (place_of(access), access.site, access.context, access.kind, lived.clone())
}

fn has_threads(life: &Life) -> bool {
    life.accesses.iter().any(|access| access.thread != life.accesses[0].thread)
}

/// An event of a thread, and what it lists: thread, kind, site, and how many events before now.
type Step = (u16, Draft, Vec<(u16, bool, u32, u32)>);

fn record(steps: Vec<Step>) -> Recording {
    let mut writer = Writer::new();
    for (thread, draft, pasts) in steps {
        let with_pasts = pasts.into_iter().fold(draft, |draft, (thread, is_write, site, back)| {
            let kind = if is_write { PastKind::Write } else { PastKind::Read };
            let (thread, site) = (ThreadId(thread), Site(site));
            let ordinal = writer.events_of(thread).saturating_sub(back);
            draft.past(Past { kind, thread, site, ordinal })
        });
        writer.write(ThreadId(thread), with_pasts);
    }
    Recording::from_bytes(&writer.to_bytes(), "random").unwrap()
}

fn access() -> impl Strategy<Value = Draft> {
    let flags = vec![0, 0, 0, access_flags::FREE, 3];
    let kinds = vec![Kind::Read, Kind::Write, Kind::ReadWrite];
    let kind_and_flags = (prop::sample::select(kinds), prop::sample::select(flags));
    (kind_and_flags, 0..MEMORY, 1..9_u64, 0..3_u32).prop_map(
        |((kind, flags), address, length, context)| {
            Draft::access(kind, address, length).flags(flags).context(context)
        },
    )
}

/// Events that list no accesses of others.
fn other() -> impl Strategy<Value = Draft> {
    prop_oneof![
        (12..MEMORY, 1..4_u32, -4..5_i32).prop_map(|(address, count, step)| Draft::strided(
            Kind::Write,
            address,
            2,
            count,
            step
        )),
        (0..MEMORY, 0..9_u64, 0..4_u64).prop_map(|(address, size, serial)| {
            Draft::new(Kind::Block).object(address).word(size).word(1 | serial << 32)
        }),
        (0..MEMORY, 0..9_u64)
            .prop_map(|(address, size)| Draft::new(Kind::StackGone).object(address).word(size)),
        Just(Draft::new(Kind::Delay).unstamped()),
    ]
}

/// What a thread does at once: an access in one or two parts, or something else.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let past = (1..=THREADS, any::<bool>(), 1..8_u32, 0..4_u32);
    let whole = (access(), prop::collection::vec(past, 0..3), any::<bool>());
    let whole = (whole, 1..8_u32).prop_map(|((draft, pasts, is_stamped), site)| {
        // What lists accesses of others has crossed threads, which takes a stamp.
        let draft = if is_stamped || !pasts.is_empty() { draft } else { draft.unstamped() };
        vec![(draft.site(site), pasts)]
    });
    let parts =
        (0..MEMORY / 2, 1..9_u64, 1..9_u64, 1..8_u32).prop_map(|(address, first, second, site)| {
            let one = Draft::access(Kind::Write, address, first).site(site);
            let two = Draft::access(Kind::Write, address + first, second).site(site).continued();
            vec![(one, Vec::new()), (two, Vec::new())]
        });
    let other = (other(), 1..8_u32).prop_map(|(draft, site)| vec![(draft.site(site), Vec::new())]);
    let at_once = prop_oneof![8 => whole, 1 => parts, 3 => other];
    (1..=THREADS, at_once).prop_map(|(thread, drafts)| {
        drafts.into_iter().map(|(draft, pasts)| (thread, draft, pasts)).collect()
    })
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 300,
        rng_seed: RngSeed::Fixed(31),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn touches_agree_with_location_histories(steps in prop::collection::vec(steps(), 0..40)) {
        let recording = record(steps.concat());
        let process = Process::new(&recording, &SomeOfLibrary, 0);
        prop_assert_eq!(told_by_touches(&process), told_by_histories(&process));
    }
}
