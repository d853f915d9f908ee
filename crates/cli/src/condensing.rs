//! Condenses the recordings of a run for as long as there is time.
//!
//! Takes   the folder of a run, how to look at it, when to give up.      Gives  the run in short, or why it was not read.
//! Misses  nothing of what is read to its end.
//! Cost    a thread beside the work itself.
//!
//! The work is done in a thread of its own, which is left behind when the time is over: it ends at the next chunk of events that it
//! reads, or with the process.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use unpick_analyses::Options;
use unpick_problem::Problem;
use unpick_recording::Cancellation;

use crate::conclude::{Condensed, condense_cancellable};

const LOOK_EVERY: Duration = Duration::from_millis(20);
/// A run that ended just in time is still read if that is quick.
const GRACE_AT_END: Duration = Duration::from_millis(500);
/// Who stops a hunt waits for it, but wants to see the run that made him stop it.
const GRACE_AT_STOP: Duration = Duration::from_secs(2);
/// Reading that takes longer is worth a word.
const SOON: Duration = Duration::from_secs(1);

/// How long a run may be read.
#[derive(Clone, Copy)]
pub struct Deadline<'a> {
    pub until: Option<Instant>,
    /// Set when the user wants no more.
    pub stop: &'a AtomicBool,
}

/// Why a run was not read.
pub enum NotRead {
    GivenUp(&'static str),
    Problem(Problem),
}

/// Condenses the recordings in the folder of a run; `on_slow` is called once if that takes long.
pub fn condense_within(
    folder: &Path,
    options: Options,
    deadline: Deadline<'_>,
    mut on_slow: impl FnMut(),
) -> Result<Condensed, NotRead> {
    let cancellation = Cancellation::default();
    let (tell, told) = mpsc::channel();
    let (of_reader, folder) = (cancellation.clone(), folder.to_owned());
    std::thread::spawn(move || {
        // Nobody listens any more if it took too long.
        let _ = tell.send(condense_cancellable(&folder, options, &of_reader));
    });
    let mut patience = Patience::new(deadline);
    loop {
        match told.recv_timeout(LOOK_EVERY) {
            Ok(condensed) => return condensed.map_err(NotRead::Problem),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(NotRead::GivenUp("its reader died")),
        }
        if let Some(why) = patience.is_over() {
            cancellation.cancel();
            return Err(NotRead::GivenUp(why));
        }
        if patience.is_slow() {
            on_slow();
        }
    }
}

struct Patience<'a> {
    deadline: Deadline<'a>,
    started: Instant,
    stopped: Option<Instant>,
    was_slow: bool,
}

impl Patience<'_> {
    fn new(deadline: Deadline<'_>) -> Patience<'_> {
        Patience { deadline, started: Instant::now(), stopped: None, was_slow: false }
    }

    /// Why there is no more time, if that is so.
    fn is_over(&mut self) -> Option<&'static str> {
        let now = Instant::now();
        if self.deadline.stop.load(Relaxed) {
            let stopped = *self.stopped.get_or_insert(now);
            return (now - stopped >= GRACE_AT_STOP).then_some("the hunt was stopped");
        }
        let until = self.deadline.until?.max(self.started + GRACE_AT_END);
        (now >= until).then_some("no time left")
    }

    /// True once.
    fn is_slow(&mut self) -> bool {
        let is_first = !self.was_slow && self.started.elapsed() >= SOON;
        self.was_slow |= is_first;
        is_first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_over(until: Option<Instant>, stop: bool, age: Duration) -> Option<&'static str> {
        let stop = AtomicBool::new(stop);
        let started = Instant::now() - age;
        let deadline = Deadline { until, stop: &stop };
        let stopped = Some(started);
        Patience { deadline, started, stopped, was_slow: false }.is_over()
    }

    #[test]
    fn reading_ends_with_the_time_of_the_hunt_but_not_before_it_could_begin() {
        let (now, minute) = (Instant::now(), Duration::from_secs(60));
        assert_eq!(is_over(Some(now - minute), false, 2 * minute), Some("no time left"));
        assert_eq!(is_over(Some(now + minute), false, 2 * minute), None);
        assert_eq!(is_over(None, false, 2 * minute), None);
    }

    #[test]
    fn reading_ends_soon_after_the_user_wants_no_more() {
        let minute = Duration::from_secs(60);
        assert_eq!(is_over(None, true, minute), Some("the hunt was stopped"));
        let stop = AtomicBool::new(true);
        assert_eq!(Patience::new(Deadline { until: None, stop: &stop }).is_over(), None);
    }

    #[test]
    fn what_cannot_be_read_is_a_problem() {
        let deadline = Deadline { until: None, stop: &AtomicBool::new(false) };
        let read = condense_within(Path::new("/no/such/run"), Options::default(), deadline, || ());
        assert!(matches!(read, Err(NotRead::Problem(_))));
    }
}
