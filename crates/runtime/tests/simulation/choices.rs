//! Random plans, and random moves of threads.

use proptest::prelude::*;
use unpick_events::schedule::Purpose;
use unpick_runtime::breakpoints::order::{GiveUp, SETTLED};

use crate::schedule::{Place, Schedule};
use crate::stage::X;

/// What the simulated threads do next.
#[derive(Debug, Clone, Copy)]
pub enum Move {
    /// Comes to one of the places, or asks again if it waits.
    Arrive {
        place: usize,
        object: u64,
    },
    Event,
    GiveUp(GiveUp),
    /// Gives back a lock.
    Release,
    End,
    Time(u64),
}

pub fn moves() -> impl Strategy<Value = Vec<(usize, Move)>> {
    let give_up = prop_oneof![
        Just(GiveUp::TimedOut),
        Just(GiveUp::Alone),
        Just(GiveUp::Blocked),
        Just(GiveUp::InTheWay),
    ];
    let one = prop_oneof![
        12 => (0..16_usize, 0..3_u64).prop_map(|(place, object)| Move::Arrive { place, object: X + object * 0x1000 }),
        8 => Just(Move::Event),
        2 => give_up.prop_map(Move::GiveUp),
        1 => Just(Move::Release),
        1 => Just(Move::End),
        1 => prop_oneof![Just(1_u64), Just(2_000_000), Just(SETTLED)].prop_map(Move::Time),
    ];
    prop::collection::vec((0..4_usize, one), 1..120)
}

pub fn plans() -> impl Strategy<Value = Schedule> {
    let shape = prop_oneof![
        Just(vec![0, 1]),
        Just(vec![0, 1, 0]),
        Just(vec![0, 1, 1, 0]),
        Just(vec![0, 1, 0, 1]),
        Just(vec![0, 0, 1]),
        Just(vec![0, 1, 2]),
        Just(vec![0, 1, 2, 0]),
    ];
    let step = (0..3_u64, any::<bool>());
    let patience = (0..2_u64, 0..2_u64, any::<bool>(), any::<bool>());
    (shape, prop::collection::vec(step, 4), 0..3_u64, patience).prop_map(
        |(shape, details, shared, (ignored, linger, meet, eager))| {
            let mut places = Vec::new();
            for (step, (role, (variable, has_gate))) in shape.iter().zip(details).enumerate() {
                let step = step as u64;
                // Some plans have one place for several steps.
                let offset = 10 + [0, *role, step][shared as usize];
                if has_gate {
                    places.push(Place::gate(step, *role, 100 + offset));
                }
                places
                    .push(Place::step(step, *role, offset).on((variable < 2).then_some(variable)));
            }
            Schedule { ignored, linger: linger * 50, meet, eager, ..Schedule::force(places) }
        },
    )
}

pub fn has_place_of_its_own(schedule: &Schedule) -> bool {
    let steps = schedule.places.iter().filter(|place| place.purpose == Purpose::Step);
    let mut offsets: Vec<u64> = steps.map(|place| place.offset).collect();
    let all = offsets.len();
    offsets.sort_unstable();
    offsets.dedup();
    offsets.len() == all
}
