//! Lock-order cycles in traces written by hand.

mod locking;

use locking::{order_of, places, record, steps};
use unpick_analyses::hang::Wait;
use unpick_analyses::lock_order::{as_hang, lock_order};

/// Who asks where, and where the lock was taken that the one before asks for.
fn found(text: &str) -> Vec<Vec<(u32, u32)>> {
    order_of(&steps(text)).cycles.iter().map(places).collect()
}

fn nothing() -> Vec<Vec<(u32, u32)>> {
    Vec::new()
}

const ONE_WAY: &str = "1 lock a; 1 lock b; 1 unlock b; 1 unlock a";
const OTHER_WAY: &str = "2 lock b; 2 lock a; 2 unlock a; 2 unlock b";

#[test]
fn two_locks_in_two_orders_are_a_cycle_although_nobody_waited() {
    let both = format!("{ONE_WAY}; {OTHER_WAY}");
    assert_eq!(found(&both), [[(1, 2), (5, 6)]]);
    let order = order_of(&steps(&both));
    let threads: Vec<u16> = order.cycles[0].links.iter().map(|link| link.thread.0).collect();
    assert_eq!((threads, order.cycles[0].ways, order.is_cut), (vec![1, 2], 1, false));
}

#[test]
fn the_same_order_is_no_cycle() {
    assert_eq!(found(&format!("{ONE_WAY}; {}", ONE_WAY.replace('1', "2"))), nothing());
}

#[test]
fn one_thread_alone_does_not_wait_for_itself() {
    assert_eq!(found(&format!("{ONE_WAY}; {}", OTHER_WAY.replace('2', "1"))), nothing());
    assert_eq!(found("1 lock a; 1 lock a; 1 unlock a; 1 unlock a"), nothing());
}

#[test]
fn a_common_lock_around_both_keeps_them_apart() {
    assert_eq!(
        found(
            "1 lock g; 1 lock a; 1 lock b; 1 unlock b; 1 unlock a; 1 unlock g; \
             2 lock g; 2 lock b; 2 lock a; 2 unlock a; 2 unlock b; 2 unlock g"
        ),
        nothing()
    );
}

#[test]
fn a_common_lock_that_is_given_back_before_keeps_nobody_apart() {
    assert_eq!(
        found(
            "1 lock g; 1 lock a; 1 unlock g; 1 lock b; 1 unlock b; 1 unlock a; \
             2 lock g; 2 lock b; 2 lock a; 2 unlock a; 2 unlock b; 2 unlock g"
        ),
        [[(2, 4), (8, 9)]]
    );
}

#[test]
fn a_common_lock_for_reading_keeps_nobody_apart() {
    let within = |kind: &str| {
        format!(
            "1 read g; 1 lock a; 1 lock b; 1 unlock b; 1 unlock a; 1 unlock g; \
             2 {kind} g; 2 lock b; 2 lock a; 2 unlock a; 2 unlock b; 2 unlock g"
        )
    };
    assert_eq!(found(&within("read")), [[(2, 3), (8, 9)]]);
    assert_eq!(found(&within("lock")), nothing());
}

#[test]
fn readers_are_not_in_each_others_way() {
    let crossed = |wanted: &str, held: &str| {
        format!("1 lock a; 1 {wanted} b; 1 unlock b; 1 unlock a; 2 {held} b; 2 lock a")
    };
    assert_eq!(found(&crossed("read", "read")), nothing());
    assert_eq!(found(&crossed("lock", "read")).len(), 1);
    assert_eq!(found(&crossed("read", "lock")).len(), 1);
}

#[test]
fn who_only_tries_or_waits_for_a_while_makes_no_cycle() {
    for kind in ["try", "timed"] {
        let tried = format!("{ONE_WAY}; 2 lock b; 2 {kind} a; 2 unlock a; 2 unlock b");
        assert_eq!(found(&tried), nothing());
    }
}

#[test]
fn what_was_obtained_by_trying_is_held_all_the_same() {
    assert_eq!(
        found(&format!("{ONE_WAY}; 2 try b; 2 lock a; 2 unlock a; 2 unlock b")),
        [[(1, 2), (5, 6)]]
    );
}

#[test]
fn who_waits_and_never_gets_the_lock_asks_for_it_too() {
    assert_eq!(found("1 lock a; 2 lock b; 1 wait b; 2 wait a"), [[(1, 3), (2, 4)]]);
}

#[test]
fn starting_and_joining_threads_makes_a_cycle_impossible() {
    let begun_later = format!("{ONE_WAY}; 1 create 2; {OTHER_WAY}");
    assert_eq!(found(&begun_later), nothing());
    let ended_before = format!("1 create 2; {OTHER_WAY}; 1 join 2; {ONE_WAY}");
    assert_eq!(found(&ended_before), nothing());
    let side_by_side = format!("1 create 2; {OTHER_WAY}; {ONE_WAY}; 1 join 2");
    assert_eq!(found(&side_by_side), [[(2, 3), (6, 7)]]);
}

#[test]
fn both_orders_of_a_thread_count_even_if_only_one_of_them_can_meet_the_other_thread() {
    assert_eq!(
        found(&format!("{ONE_WAY}; 1 create 2; {ONE_WAY}; {OTHER_WAY}")),
        [[(6, 7), (10, 11)]]
    );
}

#[test]
fn any_number_of_threads_can_be_in_a_cycle() {
    let philosopher = |thread: u16, own: char, other: char| {
        format!(
            "{thread} lock {own}; {thread} lock {other}; {thread} unlock {other}; {thread} unlock {own}"
        )
    };
    let dinner = [
        philosopher(1, 'a', 'b'),
        philosopher(2, 'b', 'c'),
        philosopher(3, 'c', 'd'),
        philosopher(4, 'd', 'a'),
    ];
    assert_eq!(found(&dinner.join("; ")), [[(1, 2), (5, 6), (9, 10), (13, 14)]]);
    let left_handed = [&dinner[..3], &[philosopher(4, 'a', 'd')]].concat();
    assert_eq!(found(&left_handed.join("; ")), nothing());
}

#[test]
fn short_cycles_come_first_and_the_same_places_are_told_once() {
    let order = order_of(&steps(
        "1 lock a; 1 lock b; 1 unlock b; 1 unlock a; 2 lock b; 2 lock c; 2 unlock c; 2 unlock b; \
         3 lock c; 3 lock a; 3 unlock a; 3 lock b; 3 unlock b; 3 unlock c",
    ));
    let lengths: Vec<usize> = order.cycles.iter().map(|cycle| cycle.links.len()).collect();
    assert_eq!(lengths, [2, 3]);
}

#[test]
fn another_lock_at_the_same_address_is_another_lock() {
    assert_eq!(found(&format!("{ONE_WAY}; 1 free b; {OTHER_WAY}")), nothing());
    assert_eq!(found(&format!("{ONE_WAY}; 1 free c; {OTHER_WAY}")).len(), 1);
}

#[test]
fn a_cycle_can_be_told_as_the_hang_it_would_be() {
    let recording = record(&steps(&format!("{ONE_WAY}; {OTHER_WAY}")));
    let order = lock_order(&recording, &recording);
    let hang = as_hang(&order.cycles[0], 7, &recording, &recording);
    let process = &hang.processes[0];
    assert_eq!((process.process, &process.circles), (7, &vec![vec![1, 2]]));
    for (thread, other) in process.threads.iter().zip([2, 1]) {
        let Some(Wait::Lock { held_by, limited: false, .. }) = &thread.wait else { panic!() };
        assert_eq!((held_by, thread.locks.len()), (&vec![other], 1));
        assert!(thread.place.site.is_some());
    }
}
