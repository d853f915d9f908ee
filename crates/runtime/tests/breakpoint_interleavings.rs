//! The order of steps under random interleavings, against a naive recogniser.

mod schedule;
mod simulation;
mod stage;

use proptest::prelude::*;
use schedule::Schedule;
use simulation::{Move, Simulation, has_place_of_its_own, moves, plans, simulate};
use unpick_events::schedule::{HEADER_WORDS, Mode};
use unpick_runtime::breakpoints::order::GiveUp;
use unpick_runtime::breakpoints::plan::Plan;

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_hit_is_a_row_of_steps_in_order(schedule in plans(), moves in moves()) {
        simulate(&schedule, &moves);
    }

    #[test]
    fn who_asks_twice_hears_the_same(
        schedule in plans(),
        mode in prop_oneof![Just(Mode::Force), Just(Mode::Serialise), Just(Mode::Reverse)],
        moves in moves(),
    ) {
        let schedule = Schedule { mode, ..schedule };
        let mut runs = [false, true].map(|asks_twice| Simulation::new(&schedule, asks_twice));
        for run in &mut runs {
            for (actor, step) in &moves {
                run.step(*actor, *step);
            }
        }
        prop_assert_eq!(&runs[0].answers, &runs[1].answers);
        prop_assert_eq!(runs[0].stage.hits(), runs[1].stage.hits());
    }

    #[test]
    fn whatever_was_before_newcomers_are_not_kept_out(schedule in plans(), moves in moves()) {
        let schedule = Schedule { ignored: 0, meet: false, ..schedule };
        if !has_place_of_its_own(&schedule) {
            return Ok(());
        }
        let mut simulation = simulate(&schedule, &moves);
        for at in 0..simulation.actors.len() {
            if let Some(waiting) = simulation.actors[at].waits {
                simulation.give_up(at, waiting, GiveUp::TimedOut);
            }
            if !simulation.actors[at].is_over {
                simulation.end(at);
            }
        }
        prop_assert_eq!(simulation.hits_of_newcomers(), 1);
    }

    #[test]
    fn serialised_threads_are_alone(schedule in plans(), moves in moves()) {
        let schedule = Schedule { mode: Mode::Serialise, ..schedule };
        let mut simulation = Simulation::new(&schedule, false);
        for (actor, step) in &moves {
            if !matches!(step, Move::GiveUp(_)) {
                simulation.step(*actor, *step);
            }
        }
        prop_assert!(simulation.most_inside() <= 1, "{:#?}", simulation.log);
        prop_assert_eq!(simulation.stage.hits().0, 0);
    }

    #[test]
    fn any_words_can_be_read(words in prop::collection::vec(any::<u64>(), 0..200)) {
        Plan::NONE.clone().read(&words);
    }

    #[test]
    fn damaged_schedules_can_be_read_and_used(
        schedule in plans(),
        damage in prop::collection::vec((0..200_usize, prop_oneof![0..20_u64, any::<u64>()]), 0..6),
        length in 0..400_usize,
        moves in moves(),
    ) {
        let mut words = schedule.words();
        for (at, word) in damage {
            // The text of the module does not matter.
            let at = if at < HEADER_WORDS + 2 { at } else { at + schedule::TEXT_WORDS };
            if let Some(damaged) = words.get_mut(at) {
                *damaged = word;
            }
        }
        if length < 200 {
            words.truncate(length);
        }
        let mut plan = Box::new(Plan::NONE);
        if plan.read(&words) && !plan.entries().is_empty() {
            // Who asks twice need not hear the same of a plan that makes no sense: two threads may have one step.
            let mut simulation = Simulation::new(&schedule, false);
            simulation.stage.plan = plan;
            for (actor, step) in &moves {
                simulation.step(*actor, *step);
            }
        }
    }
}
