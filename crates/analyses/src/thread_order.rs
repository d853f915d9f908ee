//! Which accesses can never come the other way round, because one thread began after the one or ended before the other.
//!
//! Takes   the events of a recording.      Gives  for two accesses: whether starting and joining threads puts the first before the second.
//! Misses  every other order: locks, conditions, barriers, atomics. Programs with more than 512 threads: nothing is known of them.
//! Cost    one walk over the events; memory for each start and join, times the threads known there.

use unpick_events::ThreadId;
use unpick_recording::{Access, Action, Recording};

use crate::locks_held::Moment;

/// What a thread knows of others is copied at each start and join: with thousands of threads that would be millions of entries.
const MOST_THREADS: usize = 512;

/// Per thread: up to which of its events others have happened for sure.
type Known = Vec<(ThreadId, u64)>;

/// The order that starting and joining threads makes.
#[derive(Debug, Default)]
pub struct ThreadOrder {
    /// By the thread's number.
    threads: Vec<Vec<Stage>>,
}

/// From one start or join of a thread to the next.
#[derive(Debug)]
struct Stage {
    /// The event it begins after; none: the thread's own beginning.
    after: Option<u64>,
    known: Known,
}

impl ThreadOrder {
    pub fn of(recording: &Recording) -> ThreadOrder {
        let mut order = ThreadOrder::default();
        if recording.threads().len() > MOST_THREADS {
            return order;
        }
        for event in recording.events() {
            match event.action {
                Action::ThreadCreate { thread } => order.start(event.thread, event.ordinal, thread),
                Action::ThreadJoin { thread } => order.join(event.thread, event.ordinal, thread),
                _ => {}
            }
        }
        order
    }

    fn start(&mut self, creator: ThreadId, ordinal: u64, thread: ThreadId) {
        let mut known = self.last_known(creator);
        learn(&mut known, creator, ordinal);
        self.stages(thread).push(Stage { after: None, known });
        // What the creator does from here on is not known to the thread.
        let unchanged = self.last_known(creator);
        self.stages(creator).push(Stage { after: Some(ordinal), known: unchanged });
    }

    fn join(&mut self, joiner: ThreadId, ordinal: u64, thread: ThreadId) {
        let mut known = self.last_known(joiner);
        for (other, until) in self.last_known(thread) {
            learn(&mut known, other, until);
        }
        learn(&mut known, thread, u64::MAX);
        self.stages(joiner).push(Stage { after: Some(ordinal), known });
    }

    fn stages(&mut self, thread: ThreadId) -> &mut Vec<Stage> {
        let number = usize::from(thread.0);
        if self.threads.len() <= number {
            self.threads.resize_with(number + 1, Vec::new);
        }
        &mut self.threads[number]
    }

    fn last_known(&self, thread: ThreadId) -> Known {
        let stages = self.threads.get(usize::from(thread.0));
        stages.and_then(|stages| stages.last()).map(|stage| stage.known.clone()).unwrap_or_default()
    }

    /// How many starts and joins the thread had seen. Accesses of one thread with the same stage are ordered alike.
    pub fn stage_of(&self, access: &Access) -> usize {
        self.stage_at(moment_of(access))
    }

    /// The same for an event, by its number.
    pub fn stage_at(&self, Moment { thread, ordinal }: Moment) -> usize {
        let stages = self.threads.get(usize::from(thread.0)).map_or(&[][..], Vec::as_slice);
        stages.partition_point(|stage| stage.after.is_none_or(|after| after < ordinal))
    }

    /// Whether `first` comes before `second` in every run in which threads are started and joined at these places.
    pub fn is_before(&self, first: &Access, second: &Access) -> bool {
        self.puts_before(moment_of(first), moment_of(second))
    }

    /// The same for events, by their numbers.
    pub fn puts_before(&self, first: Moment, second: Moment) -> bool {
        let Some(stage) = self.stage_at(second).checked_sub(1) else { return false };
        let known = &self.threads[usize::from(second.thread.0)][stage].known;
        let until = known.iter().find(|(thread, _)| *thread == first.thread);
        until.is_some_and(|(_, until)| first.ordinal <= *until)
    }
}

fn moment_of(access: &Access) -> Moment {
    Moment { thread: access.thread, ordinal: access.order.ordinal() }
}

fn learn(known: &mut Known, thread: ThreadId, until: u64) {
    match known.iter_mut().find(|(other, _)| *other == thread) {
        Some((_, before)) => *before = until.max(*before),
        None => known.push((thread, until)),
    }
}
