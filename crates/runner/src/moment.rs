//! What every thread of a run was doing at one moment: when it hung, or its time was over.
//!
//! Takes   the processes of a run's group, which stand still, and their event files.
//! Gives   per thread how many events it had recorded, whether it ran or slept, and its call stack as the process keeps it.
//! Misses  call stacks where the memory of the process may not be read (another user's, `ptrace_scope` above 1): its last
//!         event has to do. Processes that left the group; fibers that were not running.
//! Cost    reads the recordings once, and some kilobytes of memory per thread.
//!
//! Nothing is written to the process, and it is not traced: reading `/proc/PID/mem` needs neither.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use unpick_events::{Site, ThreadId, live};
use unpick_recording::{Recording, event_files};

use crate::event_file::process_of;
use crate::group::{Group, state_and_group};

/// More frames than a reader wants to see; the outermost are left out.
const MOST_CALLS: usize = 64;

/// All processes of a run at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Moment {
    pub processes: Vec<ProcessMoment>,
    /// All threads were seen to wait for each other: it hangs for certain, however long it ran.
    pub is_standstill: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessMoment {
    pub process: u32,
    pub event_file: PathBuf,
    pub threads: Vec<ThreadMoment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadMoment {
    pub thread: ThreadId,
    /// The number its next event would have had.
    pub next_ordinal: u64,
    pub activity: Activity,
    /// None: its memory could not be read.
    pub calls: Option<Calls>,
}

/// Whether a thread was running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activity {
    Running,
    Sleeping,
    Unknown,
}

/// A call stack, as it was in the memory of the process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Calls {
    /// Call sites, outermost first.
    pub sites: Vec<Site>,
    /// The return address of the call that the innermost function was making, or made last.
    pub inside: Option<u64>,
}

/// Looks at the processes of `group` that record into `folder`. They are stopped while this looks at them.
pub fn look(group: &Group, folder: &Path) -> Moment {
    let running = group.running();
    // Afterwards all of them seem to sleep.
    let activities: Vec<_> = running.iter().map(|&process| activities(process)).collect();
    group.stop();
    let mut files = latest_images(folder);
    let processes = running.iter().zip(&activities).filter_map(|(&process, activities)| {
        let process = u32::try_from(process).ok()?;
        process_moment(process, files.remove(&process)?, activities)
    });
    Moment { processes: processes.collect(), is_standstill: false }
}

/// The event file of the program that each process runs now: others are of programs it ran before.
fn latest_images(folder: &Path) -> BTreeMap<u32, PathBuf> {
    let files = event_files(folder).unwrap_or_default().into_iter();
    files.filter_map(|file| Some((process_of(&file)?, file))).collect()
}

fn process_moment(
    process: u32,
    event_file: PathBuf,
    activities: &BTreeMap<u32, Activity>,
) -> Option<ProcessMoment> {
    let recording = Recording::open(&event_file).ok()?;
    let memory = File::open(format!("/proc/{process}/mem")).ok();
    let living = recording.threads().iter().filter(|thread| thread.ended.is_none());
    let threads = living.filter_map(|thread| {
        let place = recording.kernel_thread(thread.id);
        let activity = match place {
            // It ended without a word.
            Some(place) => *activities.get(&place.id)?,
            None => Activity::Unknown,
        };
        Some(ThreadMoment {
            thread: thread.id,
            next_ordinal: next_ordinal(&recording, thread.id),
            activity,
            calls: memory.as_ref().zip(place).and_then(|(memory, place)| {
                calls(&|at, bytes| memory.read_exact_at(bytes, at).ok(), place.calls.0)
            }),
        })
    });
    Some(ProcessMoment { process, threads: threads.collect(), event_file })
}

fn next_ordinal(recording: &Recording, thread: ThreadId) -> u64 {
    recording.stream(thread).last().map_or(0, |event| event.ordinal + 1)
}

/// What the threads of a process do, by the kernel's numbers of them.
fn activities(process: i32) -> BTreeMap<u32, Activity> {
    let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
    let tasks = tasks.filter_map(|task| {
        let number = task.file_name().to_str()?.parse().ok()?;
        let stat = fs::read(task.path().join("stat")).ok()?;
        Some((number, activity(&String::from_utf8_lossy(&stat))))
    });
    tasks.collect()
}

/// From the `stat` of a thread.
fn activity(stat: &str) -> Activity {
    match state_and_group(stat) {
        Some(('R', _)) => Activity::Running,
        Some(('S' | 'D' | 'I', _)) => Activity::Sleeping,
        _ => Activity::Unknown,
    }
}

/// Reads bytes at an address of the process.
type Read<'a> = dyn Fn(u64, &mut [u8]) -> Option<()> + 'a;

/// The call stack whose end is pointed to from `pointer`; see `unpick_events::live`.
fn calls(read: &Read<'_>, pointer: u64) -> Option<Calls> {
    let end = word(read, pointer)?;
    let mut frames = Vec::new();
    let mut at = end;
    loop {
        at = at.checked_sub(live::FRAME_BYTES as u64)?;
        let stack_pointer = word(read, at + live::STACK_POINTER_AT as u64)?;
        if stack_pointer == live::BOTTOM || frames.len() == MOST_CALLS {
            break;
        }
        let call_site = word(read, at + live::CALL_SITE_AT as u64)? as u32;
        frames.push((stack_pointer, Site(call_site)));
    }
    let inside = frames.first().and_then(|&(stack_pointer, _)| word(read, stack_pointer & !7));
    Some(Calls { sites: frames.iter().rev().map(|&(_, site)| site).collect(), inside })
}

fn word(read: &Read<'_>, at: u64) -> Option<u64> {
    let mut bytes = [0; 8];
    read(at, &mut bytes)?;
    Some(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory that begins at address 1000.
    fn reading(words: &[u64]) -> impl Fn(u64, &mut [u8]) -> Option<()> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        move |at, to| {
            let start = usize::try_from(at.checked_sub(1000)?).ok()?;
            to.copy_from_slice(bytes.get(start..start + to.len())?);
            Some(())
        }
    }

    #[test]
    fn a_call_stack_is_read_from_its_end_to_the_frame_at_the_bottom() {
        // The pointer, the bottom frame, two frames, and the stack of the inner one.
        let words = [1056, live::BOTTOM, 0, 2000, 7, 1056, 0x1_0000_0008, 0xabc];
        let read = reading(&words);
        let expected = Calls { sites: vec![Site(7), Site(8)], inside: Some(words[7]) };
        assert_eq!(calls(&read, 1000), Some(expected));
    }

    #[test]
    fn memory_that_makes_no_sense_is_no_call_stack() {
        assert_eq!(calls(&reading(&[8]), 1000), None, "an end below the first frame");
        assert_eq!(calls(&reading(&[1016, 3]), 1000), None, "frames without a bottom");
        assert_eq!(calls(&reading(&[]), 1000), None);
    }

    #[test]
    fn a_thread_runs_or_sleeps_or_it_is_not_known() {
        assert_eq!(activity("17 (a) S b) R 1 17"), Activity::Running);
        assert_eq!(activity("17 (a) D 1 17"), Activity::Sleeping);
        assert_eq!(activity("17 (a) T 1 17"), Activity::Unknown);
        assert_eq!(activity(""), Activity::Unknown);
    }
}
