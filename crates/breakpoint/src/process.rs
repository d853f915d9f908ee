//! The room of this process: a lock, a bell, the clock; settings; what happens at exit.
//!
//! A forked child must not touch the lock of its parent, which some thread that does not exist in the child may hold.
//! So there are several rooms, each owned by the process that claimed it, and a child claims the next one.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::arrival::Room;
use crate::registry::Registry;
use crate::settings::{Choice, Settings};
use crate::{complaint, report};

/// A process, its child, its grandchild: deeper than that breakpoints are off.
const GENERATIONS: usize = 8;

static ROOMS: [ProcessRoom; GENERATIONS] = [const { ProcessRoom::new() }; GENERATIONS];

pub struct ProcessRoom {
    /// Process id, 0 if nobody has claimed it.
    owner: AtomicU32,
    is_set_up: AtomicBool,
    settings: OnceLock<Settings>,
    registry: Mutex<Registry>,
    bell: Condvar,
}

/// The room of the current process, and how many processes have had one before; None in a great-great-grandchild.
fn current() -> Option<(&'static ProcessRoom, usize)> {
    let own = std::process::id();
    let mut rooms = ROOMS.iter().enumerate();
    rooms.find_map(|(generation, room)| room.belongs_to(own).then_some((room, generation)))
}

/// The room to wait in.
pub fn room() -> Option<&'static ProcessRoom> {
    let (room, generation) = current()?;
    if !room.is_set_up.swap(true, Ordering::Relaxed) {
        room.set_up(generation);
    }
    Some(room)
}

impl ProcessRoom {
    const fn new() -> Self {
        Self {
            owner: AtomicU32::new(0),
            is_set_up: AtomicBool::new(false),
            settings: OnceLock::new(),
            registry: Mutex::new(Registry::new()),
            bell: Condvar::new(),
        }
    }

    fn belongs_to(&self, process: u32) -> bool {
        let claim = self.owner.compare_exchange(0, process, Ordering::AcqRel, Ordering::Acquire);
        claim.is_ok() || claim == Err(process)
    }

    fn set_up(&self, generation: usize) {
        if let Choice::Only(names) = &self.settings().choice {
            self.enter().only.clone_from(names);
        }
        // A child inherits the hook of its parent.
        if generation == 0 {
            shutdown_hooks::add_shutdown_hook(at_exit);
        }
    }

    pub fn settings(&self) -> &Settings {
        self.settings.get_or_init(|| {
            let (settings, complaints) = Settings::read(|name| std::env::var(name).ok());
            say(&complaints);
            settings
        })
    }

    /// What is to be said is said where no lock is held.
    pub fn say_complaints(&self) {
        let complaints = self.enter().take_complaints();
        say(&complaints);
    }

    fn publish_to(&self, file: &Path) {
        let json = report::json(&self.enter());
        if let Err(error) = replace(file, &json) {
            self.enter().complain(complaint::cannot_write(file, &error));
        }
    }
}

impl Room for ProcessRoom {
    type Inside<'a> = MutexGuard<'a, Registry>;
    type Instant = Instant;

    fn enter(&self) -> MutexGuard<'_, Registry> {
        // No code of the user runs under the lock, and ours leaves nothing half done.
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn after(&self, pause: Duration) -> Instant {
        Instant::now() + pause
    }

    fn is_over(&self, deadline: Instant) -> bool {
        Instant::now() >= deadline
    }

    fn wait<'a>(
        &'a self,
        inside: MutexGuard<'a, Registry>,
        deadline: Instant,
    ) -> MutexGuard<'a, Registry> {
        let rest = deadline.saturating_duration_since(Instant::now());
        self.bell.wait_timeout(inside, rest).unwrap_or_else(PoisonError::into_inner).0
    }

    fn ring(&self) {
        self.bell.notify_all();
    }

    fn publish(&self) {
        if let Some(file) = report_file(self) {
            self.publish_to(&file);
        }
    }
}

/// Where the counts go; a forked child has a file of its own beside that of its parent.
fn report_file(room: &ProcessRoom) -> Option<PathBuf> {
    let file = room.settings().report.as_ref()?;
    let is_first = ROOMS[0].owner.load(Ordering::Relaxed) == room.owner.load(Ordering::Relaxed);
    let mut name = file.clone().into_os_string();
    if !is_first {
        name.push(format!(".{}", std::process::id()));
    }
    Some(name.into())
}

/// Whole or not at all: the program may be killed at any moment.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut aside = file.as_os_str().to_owned();
    aside.push(format!(".{}-{number}", std::process::id()));
    let written = fs::write(&aside, text).and_then(|()| fs::rename(&aside, file));
    if written.is_err() {
        let _ = fs::remove_file(&aside);
    }
    written
}

fn say(lines: &[String]) {
    for line in lines {
        // Nothing can be done about a closed stderr.
        let _ = writeln!(std::io::stderr(), "{line}");
    }
}

/// The summary so far, empty if nothing was reached.
pub fn summary() -> String {
    current().map_or_else(String::new, |(room, _)| {
        let inside = room.enter();
        if inside.is_empty() && inside.only.is_empty() {
            String::new()
        } else {
            report::text(&inside)
        }
    })
}

pub fn summary_as_json() -> String {
    current().map_or_else(String::new, |(room, _)| report::json(&room.enter()))
}

pub fn waiting(name: &str) -> usize {
    current().map_or(0, |(room, _)| room.enter().waiting(name))
}

extern "C" fn at_exit() {
    let Some((room, _)) = current() else { return };
    if room.settings.get().is_none() || room.settings().choice == Choice::None {
        return;
    }
    room.publish();
    room.say_complaints();
    let _ = write!(std::io::stderr(), "{}", summary());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A child of fork has the memory of its parent and another process id.
    #[test]
    fn a_room_that_the_parent_has_claimed_is_not_entered_by_its_child() {
        let (parent, child) = (100, 101);
        let rooms = [const { ProcessRoom::new() }; 2];
        assert!(rooms[0].belongs_to(parent));
        assert!(rooms[0].belongs_to(parent), "it stays the parent's");
        assert!(!rooms[0].belongs_to(child));
        assert!(rooms[1].belongs_to(child), "the child claims the next one");
    }
}
