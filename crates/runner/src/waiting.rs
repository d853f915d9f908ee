//! Waits for the end of a program, and looks at it from time to time.
//!
//! Takes   a program that runs, its limits.      Gives  how it ended, or has to be ended.
//! Cost    a look through /proc after a tenth of a second, then ever more seldom.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::group::Group;
use crate::patience::{Decision, Patience};
use crate::signs::signs_of_life;
use crate::standstill::{is_at_standstill, seems_at_standstill};
use crate::watch::{Ending, Limits};

/// How soon a request to stop is noticed.
const LOOK_FOR_STOP: Duration = Duration::from_millis(50);
/// When a running program is looked at for the first time, and at least how long after each look.
const FIRST_LOOK: Duration = Duration::from_millis(100);
/// Looks take no more than a small part of the time: the next one comes after this part of what has passed...
const LOOK_SHARE: u32 = 10;
/// ...but at least this often.
const MAX_LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// A program that is being watched.
pub struct Running<'a> {
    pub group: Group,
    pub started: Instant,
    pub folder: &'a Path,
    pub limits: &'a Limits,
    pub stop: &'a AtomicBool,
}

impl Running<'_> {
    /// Until it ends by itself, which is what is told, or has to be ended.
    pub fn wait(&self, told: &mpsc::Receiver<()>) -> Ending {
        let mut patience = Patience::new(self.limits.timeout, self.limits.longest_pass);
        let mut next_look = FIRST_LOOK.min(self.limits.timeout);
        loop {
            match told.recv_timeout(self.nap(next_look)) {
                Ok(()) | Err(RecvTimeoutError::Disconnected) => return Ending::ByItself,
                Err(RecvTimeoutError::Timeout) => {}
            }
            // Who waits no longer, perhaps because the program hangs, wants to know whether it does.
            if self.stop.load(Relaxed) {
                return if seems_at_standstill(&self.group) {
                    Ending::Blocked
                } else {
                    Ending::Stopped
                };
            }
            if self.limits.until.is_some_and(|until| Instant::now() >= until) {
                return if is_at_standstill(&self.group) {
                    Ending::Blocked
                } else {
                    Ending::OutOfTime
                };
            }
            let elapsed = self.started.elapsed();
            if elapsed >= next_look {
                if let Some(ending) = self.look(elapsed, &mut patience) {
                    return ending;
                }
                next_look = self.look_after(elapsed);
            }
        }
    }

    fn nap(&self, next_look: Duration) -> Duration {
        let to_look = next_look.saturating_sub(self.started.elapsed());
        let left = self.limits.until.map(|until| until.saturating_duration_since(Instant::now()));
        LOOK_FOR_STOP.min(to_look).min(left.unwrap_or(LOOK_FOR_STOP))
    }

    /// One look comes just when the time limit is reached.
    fn look_after(&self, elapsed: Duration) -> Duration {
        let next = elapsed + (elapsed / LOOK_SHARE).clamp(FIRST_LOOK, MAX_LOOK_INTERVAL);
        let timeout = self.limits.timeout;
        if elapsed < timeout { next.min(timeout) } else { next }
    }

    /// How it has to be ended, if so.
    fn look(&self, elapsed: Duration, patience: &mut Patience) -> Option<Ending> {
        if is_at_standstill(&self.group) {
            return Some(Ending::Blocked);
        }
        // Before that, whether it makes progress does not matter.
        if elapsed < self.limits.timeout / 2 {
            return None;
        }
        match patience.decide(elapsed, signs_of_life(&self.group, self.folder)) {
            Decision::Wait => None,
            Decision::Hung => Some(Ending::TimedOut),
            Decision::Slow => Some(Ending::Slow),
        }
    }
}
