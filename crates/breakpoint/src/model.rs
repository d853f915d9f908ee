//! The waiting layer under a model checker: all of its steps in many orders, with time as one more thread.
//!
//! Time is a number that its own thread moves past every deadline at any moment it likes. So a pause may be over before
//! its thread waits, while it waits, and just when it is met.

use std::panic::Location;
use std::time::Duration;

use shuttle::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard};
use shuttle::thread;

use crate::arrival::{Passage, Room, arrive, step_done};
use crate::kind::{Brings, Kind};
use crate::outcome::{Order, Outcome, Why};
use crate::registry::{Ask, Registry};

const PAUSE: Duration = Duration::from_millis(100);
const SCHEDULES: usize = 1000;

struct ModelRoom {
    registry: Mutex<Registry>,
    bell: Condvar,
    now: AtomicU64,
    busy: AtomicUsize,
    log: Mutex<Vec<usize>>,
}

impl Room for ModelRoom {
    type Inside<'a> = MutexGuard<'a, Registry>;
    type Instant = u64;

    fn enter(&self) -> MutexGuard<'_, Registry> {
        self.registry.lock().unwrap()
    }

    fn after(&self, pause: Duration) -> u64 {
        self.now.load(Ordering::SeqCst) + pause.as_millis() as u64
    }

    fn is_over(&self, deadline: u64) -> bool {
        self.now.load(Ordering::SeqCst) >= deadline
    }

    fn wait<'a>(&'a self, inside: MutexGuard<'a, Registry>, _: u64) -> MutexGuard<'a, Registry> {
        self.bell.wait(inside).unwrap()
    }

    fn ring(&self) {
        self.bell.notify_all();
    }

    fn publish(&self) {}
}

impl ModelRoom {
    fn new(threads: usize) -> Arc<Self> {
        Arc::new(Self {
            registry: Mutex::new(Registry::new()),
            bell: Condvar::new(),
            now: AtomicU64::new(0),
            busy: AtomicUsize::new(threads),
            log: Mutex::new(Vec::new()),
        })
    }

    /// Until everybody has gone: a thread that never came back would keep this running, which the checker reports.
    fn pass_time(&self) {
        while self.busy.load(Ordering::SeqCst) > 0 {
            // A real wait does not miss the moment; so time moves where nobody is about to fall asleep.
            let inside = self.registry.lock().unwrap();
            self.now.fetch_add(1000, Ordering::SeqCst);
            drop(inside);
            self.bell.notify_all();
            thread::yield_now();
        }
    }

    /// Comes to the role, makes its step, says that it is done.
    fn visit(&self, role: usize, change: impl FnOnce(&mut Ask<'_>)) -> Outcome {
        let mut ask = Ask {
            name: "b",
            kind: Kind::Rendezvous,
            role,
            roles: 2,
            brings: Brings::Nothing,
            own: None,
            condition_holds: true,
            lock_is_held: true,
            ignore_first: 0,
            bound: None,
            pause: PAUSE,
            says_when_done: true,
            place: Location::caller(),
        };
        change(&mut ask);
        let Passage { outcome, ticket } = arrive(self, &ask);
        if outcome.is_hit() {
            self.log.lock().unwrap().push(role);
        }
        if let Some(ticket) = ticket {
            step_done(self, "b", ticket);
        }
        outcome
    }
}

/// Runs one thread per role given, beside the one that is time; what they were told, in the order given.
fn visits(room: &Arc<ModelRoom>, roles: &[usize], change: fn(&mut Ask<'_>)) -> Vec<Outcome> {
    let time = {
        let room = Arc::clone(room);
        thread::spawn(move || room.pass_time())
    };
    let outcomes = visits_without_time(room, roles, change);
    time.join().unwrap();
    outcomes
}

/// Here a thread that nobody wakes is a deadlock, which the checker reports.
fn visits_without_time(
    room: &Arc<ModelRoom>,
    roles: &[usize],
    change: fn(&mut Ask<'_>),
) -> Vec<Outcome> {
    let visitor = |&role: &usize| {
        let room = Arc::clone(room);
        thread::spawn(move || {
            let outcome = room.visit(role, change);
            room.busy.fetch_sub(1, Ordering::SeqCst);
            outcome
        })
    };
    let visitors: Vec<_> = roles.iter().map(visitor).collect();
    visitors.into_iter().map(|visitor| visitor.join().unwrap()).collect()
}

/// What must hold whatever the order: nobody is left on the board, and each hit had one thread per role.
fn check_balance(room: &ModelRoom, outcomes: &[Outcome], roles: usize) {
    let mut inside = room.enter();
    let hits = outcomes.iter().filter(|outcome| outcome.is_hit()).count();
    let (_, entry) = inside.entries().next().expect("a breakpoint was reached");
    assert_eq!(hits, entry.hits as usize * roles);
    let timeouts: u64 = entry.halves.iter().map(|half| half.timeouts).sum();
    let timed_out = outcomes.iter().filter(|outcome| **outcome == Outcome::Missed(Why::TimedOut));
    assert_eq!(timeouts as usize, timed_out.count());
    assert!(inside.is_idle("b"));
}

#[test]
fn two_threads_meet_in_order_or_both_time_out() {
    shuttle::check_random(
        || {
            let room = ModelRoom::new(2);
            let outcomes = visits(&room, &[0, 1], |_| {});
            check_balance(&room, &outcomes, 2);
            assert_eq!(outcomes[0].is_hit(), outcomes[1].is_hit());
            if outcomes[1] == Outcome::Hit(Order::Kept) {
                assert_eq!(*room.log.lock().unwrap(), [0, 1]);
            }
        },
        SCHEDULES,
    );
}

#[test]
fn four_threads_meet_in_pairs() {
    shuttle::check_random(
        || {
            let room = ModelRoom::new(4);
            let outcomes = visits(&room, &[0, 1, 1, 0], |_| {});
            check_balance(&room, &outcomes, 2);
        },
        SCHEDULES,
    );
}

#[test]
fn three_roles_go_on_one_after_the_other() {
    shuttle::check_random(
        || {
            let room = ModelRoom::new(3);
            let outcomes = visits(&room, &[2, 0, 1], |ask| ask.roles = 3);
            check_balance(&room, &outcomes, 3);
            if outcomes.iter().all(|outcome| *outcome == Outcome::Hit(Order::Kept)) {
                assert_eq!(*room.log.lock().unwrap(), [0, 1, 2]);
            }
        },
        SCHEDULES,
    );
}

#[test]
fn a_bound_sends_those_away_who_wait() {
    shuttle::check_random(
        || {
            let room = ModelRoom::new(4);
            let outcomes = visits(&room, &[0, 0, 1, 1], |ask| ask.bound = Some(1));
            check_balance(&room, &outcomes, 2);
            assert!(outcomes.iter().filter(|outcome| outcome.is_hit()).count() <= 2);
        },
        SCHEDULES,
    );
}

#[test]
fn an_own_condition_is_asked_while_others_come_and_go() {
    fn fits(mine: &dyn std::any::Any, theirs: &dyn std::any::Any) -> bool {
        // Others may do anything meanwhile.
        thread::yield_now();
        mine.downcast_ref::<usize>() == theirs.downcast_ref::<usize>()
    }
    fn bring_state(ask: &mut Ask<'_>) {
        ask.kind = Kind::Own;
        ask.brings = Brings::State(std::sync::Arc::new(7usize));
        ask.own = Some(&fits);
    }
    shuttle::check_random(
        || {
            let room = ModelRoom::new(4);
            let outcomes = visits(&room, &[0, 1, 0, 1], bring_state);
            check_balance(&room, &outcomes, 2);
        },
        SCHEDULES,
    );
}

#[test]
fn everybody_is_woken_who_can_go_on() {
    shuttle::check_random(
        || {
            let room = ModelRoom::new(6);
            let outcomes = visits_without_time(&room, &[2, 0, 1, 0, 1, 2], |ask| ask.roles = 3);
            assert_eq!(outcomes, [Outcome::Hit(Order::Kept); 6]);
            check_balance(&room, &outcomes, 3);
        },
        SCHEDULES,
    );
}
