//! What a user writes: which breakpoint, which half of it, and when it counts.

use std::any::Any;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use crate::kind::{Brings, Kind};
#[cfg(feature = "enabled")]
use crate::{outcome::Outcome, step::Step};

/// How long a thread waits for the others, if nothing else is said.
pub const DEFAULT_PAUSE: Duration = Duration::from_millis(100);

type LocalCondition<'a> = Box<dyn FnOnce() -> bool + 'a>;
type OwnCondition<'a> = Box<dyn Fn(&dyn Any, &dyn Any) -> bool + 'a>;

/// One half of a breakpoint (or one of its roles), as it is written at one place of the program.
///
/// All places with the same name are one breakpoint. Give it to [`trigger!`](crate::trigger) or [`step!`](crate::step):
/// without the feature `enabled` they do not even look at it.
#[cfg_attr(
    not(feature = "enabled"),
    expect(dead_code, reason = "it is only looked at when it is triggered")
)]
#[must_use = "a breakpoint does something when it is given to `trigger!` or `step!`"]
pub struct Breakpoint<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: Kind,
    pub(crate) role: usize,
    pub(crate) roles: usize,
    pub(crate) brings: Brings,
    pub(crate) own: Option<OwnCondition<'a>>,
    pub(crate) when: Option<LocalCondition<'a>>,
    pub(crate) lock: Option<&'a str>,
    pub(crate) ignore_first: u64,
    pub(crate) bound: Option<u64>,
    pub(crate) pause: Duration,
    pub(crate) place: &'static Location<'static>,
}

/// A breakpoint of which the half is not said yet.
#[must_use = "say which half this is: `first()`, `second()` or `role(k, n)`"]
pub struct Halves<'a>(Breakpoint<'a>);

/// A breakpoint for an atomicity violation of which the place is not said yet.
#[must_use = "say which place this is: `gap()` or `intruder()`"]
pub struct Places<'a>(Breakpoint<'a>);

impl<'a> Breakpoint<'a> {
    /// Two threads are about to touch the same object. Objects are the same if they have the same address.
    #[track_caller]
    pub fn conflict<T: ?Sized>(name: &'a str, object: &T) -> Halves<'a> {
        Halves(Self::new(name, Kind::Conflict, Brings::Object(address(object))))
    }

    /// Two threads are about to deadlock: each holds the lock that the other one wants. With more roles: each wants
    /// what the next one holds, and the last what the first holds. Both go on at once, there is no order to keep.
    #[track_caller]
    pub fn deadlock<H: ?Sized, W: ?Sized>(name: &'a str, held: &H, wanted: &W) -> Halves<'a> {
        let brings = Brings::Locks { held: address(held), wanted: address(wanted) };
        Halves(Self::new(name, Kind::Deadlock, brings))
    }

    /// One thread is between two accesses that belong together, another one is about to make its access: the
    /// intruder goes first.
    #[track_caller]
    pub fn atomicity<T: ?Sized>(name: &'a str, object: &T) -> Places<'a> {
        Places(Self::new(name, Kind::Atomicity, Brings::Object(address(object))))
    }

    /// Threads meet if the condition holds between the states they bring: `fits(mine, theirs)` is asked by the one
    /// who comes later, about each one who waits. No lock of this library is held meanwhile.
    #[track_caller]
    pub fn own<S: Any + Send + Sync>(
        name: &'a str,
        state: S,
        fits: impl Fn(&S, &S) -> bool + 'a,
    ) -> Halves<'a> {
        let mut breakpoint = Self::new(name, Kind::Own, Brings::State(Arc::new(state)));
        breakpoint.own = Some(Box::new(move |mine, theirs| {
            // Two places that bring different types have nothing to compare.
            mine.downcast_ref()
                .zip(theirs.downcast_ref())
                .is_some_and(|(mine, theirs)| fits(mine, theirs))
        }));
        Halves(breakpoint)
    }

    /// Threads meet whatever they are about to do.
    #[track_caller]
    pub fn rendezvous(name: &'a str) -> Halves<'a> {
        Halves(Self::new(name, Kind::Rendezvous, Brings::Nothing))
    }

    #[track_caller]
    fn new(name: &'a str, kind: Kind, brings: Brings) -> Self {
        Self {
            name,
            kind,
            role: 0,
            roles: 2,
            brings,
            own: None,
            when: None,
            lock: None,
            ignore_first: 0,
            bound: None,
            pause: DEFAULT_PAUSE,
            place: Location::caller(),
        }
    }

    fn in_role(mut self, role: usize, roles: usize) -> Self {
        (self.role, self.roles) = (role, roles);
        self
    }

    /// How long to wait for the others, and then for the step of the one before: each at most so long, and never
    /// longer than ten minutes. Zero waits for nobody and meets only those who wait already.
    pub fn pause(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Arrivals here that do not count, from the first one on. Those whose condition does not hold are not counted.
    pub fn ignore_first(mut self, arrivals: u64) -> Self {
        self.ignore_first = arrivals;
        self
    }

    /// After so many hits nobody waits any more. Of several bounds for one name the smallest holds.
    pub fn bound(mut self, hits: u64) -> Self {
        self.bound = Some(hits);
        self
    }

    /// The local condition: the arrival counts only if it holds. Asked before anything else, with no lock held.
    pub fn when(mut self, condition: impl FnOnce() -> bool + 'a) -> Self {
        self.when = Some(Box::new(condition));
        self
    }

    /// The arrival counts only while the thread is [`holding!`](crate::holding) a lock of this name.
    pub fn lock_held(mut self, lock: &'a str) -> Self {
        self.lock = Some(lock);
        self
    }

    /// Waits here for the others. The next step of this thread is expected to be short: those behind it are given ten
    /// milliseconds' distance. [`trigger!`](crate::trigger) calls this.
    #[cfg(feature = "enabled")]
    #[doc(hidden)]
    pub fn trigger(self) -> Outcome {
        crate::step::arrive(self, false).0
    }

    /// Waits here for the others; those behind go on when the step is [done](Step::done) or dropped.
    /// [`step!`](crate::step) calls this.
    #[cfg(feature = "enabled")]
    #[doc(hidden)]
    pub fn step(self) -> Step {
        let name = self.name.to_owned();
        let (outcome, ticket) = crate::step::arrive(self, true);
        Step::begin(name, outcome, ticket)
    }
}

impl<'a> Halves<'a> {
    /// The half that goes on first.
    pub fn first(self) -> Breakpoint<'a> {
        self.role(0, 2)
    }

    /// The half that goes on second.
    pub fn second(self) -> Breakpoint<'a> {
        self.role(1, 2)
    }

    /// One of several roles, from 0: they go on in this order.
    pub fn role(self, role: usize, of: usize) -> Breakpoint<'a> {
        self.0.in_role(role, of)
    }
}

impl<'a> Places<'a> {
    /// Between the two accesses that belong together.
    pub fn gap(self) -> Breakpoint<'a> {
        self.0.in_role(1, 2)
    }

    /// Before the access that comes in between. Use [`step!`](crate::step), and let it end behind the access.
    pub fn intruder(self) -> Breakpoint<'a> {
        self.0.in_role(0, 2)
    }
}

fn address<T: ?Sized>(object: &T) -> usize {
    std::ptr::from_ref(object).cast::<()>() as usize
}
