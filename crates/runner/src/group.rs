//! The process group of a run: everything it started and that did not leave the group.
//!
//! Takes   the leader, a child of ours that is not reaped yet.      Gives  signals to the group, and its end.
//! Misses  processes that made a group or session of their own: those are not ours to end.
//!
//! As long as the leader is not reaped its number, which is the group's, cannot become another's.

use std::fs;
use std::time::{Duration, Instant};

const LOOK_EVERY: Duration = Duration::from_millis(5);
/// A killed process needs a moment to be gone.
const AFTER_KILL: Duration = Duration::from_secs(2);
/// A process that is stopped needs a moment to stand still.
const AFTER_STOP: Duration = Duration::from_millis(500);

/// The group of a child that has not been reaped.
#[derive(Debug)]
pub struct Group {
    leader: i32,
}

impl Group {
    /// `leader` was started with a group of its own.
    pub fn of(leader: u32) -> Group {
        Group { leader: leader as i32 }
    }

    /// Makes all of it stand still. Only for a group that is ended afterwards: a stop can interrupt system calls.
    pub fn stop(&self) {
        self.signal(libc::SIGSTOP);
        let until = Instant::now() + AFTER_STOP;
        let stands_still = || self.running().iter().all(|&process| stands_still(process));
        while !stands_still() && Instant::now() < until {
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Ends what still runs: asks first, and kills what is there after `grace`. Gives how many there were.
    pub fn end(&self, grace: Duration) -> usize {
        let running = self.running().len();
        if running > 0 {
            self.signal(libc::SIGTERM);
            // A stopped process cannot answer.
            self.signal(libc::SIGCONT);
            if !self.is_gone_within(grace) {
                self.signal(libc::SIGKILL);
                self.is_gone_within(AFTER_KILL);
            }
        }
        running
    }

    fn is_gone_within(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        loop {
            if self.running().is_empty() {
                return true;
            }
            if Instant::now() >= until {
                return false;
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    fn signal(&self, signal: i32) {
        // SAFETY: `kill` takes numbers only. The leader is our child and not reaped, so both numbers are still its own;
        // it may have left its group, so it is signalled by itself as well.
        unsafe {
            libc::kill(-self.leader, signal);
            libc::kill(self.leader, signal);
        }
    }

    /// The processes of the group, and the leader, that have not ended.
    pub fn running(&self) -> Vec<i32> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter(|&process| self.has(process)).collect()
    }

    fn has(&self, process: i32) -> bool {
        let Ok(stat) = fs::read(format!("/proc/{process}/stat")) else { return false };
        let Some((state, group)) = state_and_group(&String::from_utf8_lossy(&stat)) else {
            return false;
        };
        let is_member = group == self.leader || process == self.leader;
        is_member && (!matches!(state, 'Z' | 'X') || has_living_threads(process))
    }
}

/// Whether a process whose first thread has ended has others.
fn has_living_threads(process: i32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let mut stats = tasks.filter_map(|task| fs::read(task.path().join("stat")).ok());
    stats.any(|stat| {
        let state = state_and_group(&String::from_utf8_lossy(&stat)).map(|(state, _)| state);
        !matches!(state, None | Some('Z' | 'X'))
    })
}

/// Whether no thread of a process can go on before it is told to.
fn stands_still(process: i32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let mut stats = tasks.filter_map(|task| fs::read(task.path().join("stat")).ok());
    stats.all(|stat| {
        let state = state_and_group(&String::from_utf8_lossy(&stat)).map(|(state, _)| state);
        !matches!(state, Some('R' | 'S' | 'D'))
    })
}

/// `17 (name) S 1 17 …`: the name may hold anything, so what follows is found from the end.
pub fn state_and_group(stat: &str) -> Option<(char, i32)> {
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?.chars().next()?;
    let group = fields.nth(1)?.parse().ok()?;
    Some((state, group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_blanks_and_parentheses_does_not_confuse() {
        assert_eq!(state_and_group("17 (a) Z 1 2 (b) S 3 44 5"), Some(('S', 44)));
        assert_eq!(state_and_group("17 (cut"), None);
    }
}
