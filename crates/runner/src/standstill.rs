//! Whether a run can never go on: every thread of its only process is blocked until another of them wakes it.
//!
//! Takes   the process group of a run.      Gives  where each thread is blocked, if nothing but these threads could wake them.
//! Misses  groups of several processes, waits with a time limit, waits for input, for signals and for timers, and processes whose
//!         `/proc/PID/task/TID/syscall` may not be read: these have to run into their time limit.
//! Invents nothing: two equal answers, the second begun after the first was complete, prove that all threads were blocked at
//!         the moment between. A thread that ran in the meantime would have another number of context switches.
//! Cost    one look through /proc, and three small files per thread if all of them sleep.
//!
//! `alarm` and `setitimer` leave no trace in /proc. A handler for their signal does, and the process is then left alone; without
//! one the signal would only kill the process, which fails that way too.

use std::fs;

use crate::group::{Group, state_and_group};

/// Signals whose handlers run only if something else happens first: a fault, or somebody outside who wants it to end. A handler
/// for any other signal may be run by a timer, a child or a file, and wake a thread.
const HANDLED_AT_WILL: [i32; 14] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGABRT,
    libc::SIGTRAP,
    libc::SIGSYS,
    libc::SIGPIPE,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    // glibc's own, for `pthread_cancel` and `setuid`: sent by threads of the process.
    32,
    33,
];

/// Where every thread of a process is blocked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standstill {
    threads: Vec<BlockedThread>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct BlockedThread {
    number: u32,
    /// System call, arguments, stack pointer and program counter as the kernel prints them.
    call: String,
    context_switches: u64,
}

/// Looks twice: whether the run can never go on.
pub fn is_at_standstill(group: &Group) -> bool {
    let look = || {
        let &[process] = group.running().as_slice() else { return None };
        standstill(process)
    };
    let first = look();
    first.is_some() && first == look()
}

/// The same for somebody who waits no longer: processes that wait for the end of others are no obstacle. Not certain, as an `alarm`
/// could end one of the others, and the one that waits for it go on.
pub fn seems_at_standstill(group: &Group) -> bool {
    let look = || {
        let others = |process: &i32| !waits_for_process(*process);
        let others: Vec<i32> = group.running().into_iter().filter(others).collect();
        others.into_iter().map(standstill).collect::<Option<Vec<_>>>()
    };
    let first = look().filter(|blocked| !blocked.is_empty());
    first.is_some() && first == look()
}

/// Whether all a process does is wait for another to end.
fn waits_for_process(process: i32) -> bool {
    let waits = |number: &u32| {
        let call = fs::read_to_string(format!("/proc/{process}/task/{number}/syscall"));
        call.is_ok_and(|call| is_wait_for_process(&call))
    };
    living_threads(process).is_some_and(|threads| threads.iter().all(waits))
}

fn is_wait_for_process(call: &str) -> bool {
    let number = call.split_whitespace().next().and_then(|number| number.parse().ok());
    number.is_some_and(|number: i64| [libc::SYS_wait4, libc::SYS_waitid].contains(&number))
}

/// One look at a process.
fn standstill(process: i32) -> Option<Standstill> {
    let threads = living_threads(process)?;
    let threads: Option<Vec<_>> =
        threads.into_iter().map(|number| blocked_thread(process, number)).collect();
    let threads = threads.filter(|threads| !threads.is_empty())?;
    (has_no_timers(process) && handles_no_events(process)).then_some(Standstill { threads })
}

/// None if one of them does not sleep. The first thread may have ended before the others.
fn living_threads(process: i32) -> Option<Vec<u32>> {
    let mut living = Vec::new();
    for task in fs::read_dir(format!("/proc/{process}/task")).ok()? {
        let task = task.ok()?;
        let stat = fs::read(task.path().join("stat")).ok()?;
        match state_and_group(&String::from_utf8_lossy(&stat))?.0 {
            'S' => living.push(task.file_name().to_str()?.parse().ok()?),
            'Z' | 'X' => {}
            _ => return None,
        }
    }
    living.sort_unstable();
    Some(living)
}

fn blocked_thread(process: i32, number: u32) -> Option<BlockedThread> {
    let folder = format!("/proc/{process}/task/{number}");
    let call = fs::read_to_string(format!("{folder}/syscall")).ok()?;
    let word = untimed_futex(&call)?;
    if word.is_shared && !is_private_memory(process, word.address) {
        return None;
    }
    let status = fs::read_to_string(format!("{folder}/status")).ok()?;
    Some(BlockedThread { number, call, context_switches: context_switches(&status)? })
}

/// What a thread waits at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct FutexWord {
    address: u64,
    /// Processes that share the memory could wake it.
    is_shared: bool,
}

/// From `202 0x7f… 0x80 0x2 0x0 0x0 0x0 0x7f… 0x7f…`: the word, if it is a wait at a futex without a time limit.
fn untimed_futex(call: &str) -> Option<FutexWord> {
    let mut fields = call.split_whitespace();
    let number: i64 = fields.next()?.parse().ok()?;
    let mut arguments = fields.map(|field| u64::from_str_radix(field.trim_start_matches("0x"), 16));
    let mut next = || arguments.next()?.ok();
    let (address, operation, _value, time_limit) = (next()?, next()?, next()?, next()?);
    let is_private = operation & libc::FUTEX_PRIVATE_FLAG as u64 != 0;
    let modifiers = (libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME) as u64;
    let waits = matches!(
        (operation & !modifiers) as i32,
        libc::FUTEX_WAIT
            | libc::FUTEX_WAIT_BITSET
            | libc::FUTEX_LOCK_PI
            | libc::FUTEX_LOCK_PI2
            | libc::FUTEX_WAIT_REQUEUE_PI
    );
    (number == libc::SYS_futex && waits && time_limit == 0)
        .then_some(FutexWord { address, is_shared: !is_private })
}

fn is_private_memory(process: i32, address: u64) -> bool {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap_or_default();
    maps.lines().any(|line| is_in_private_mapping(line, address))
}

/// `7f10-7f20 rw-p …`.
fn is_in_private_mapping(line: &str, address: u64) -> bool {
    let parse = || {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let start = u64::from_str_radix(start, 16).ok()?;
        let end = u64::from_str_radix(end, 16).ok()?;
        let is_private = rest.as_bytes().get(3) == Some(&b'p');
        Some(is_private && (start..end).contains(&address))
    };
    parse().unwrap_or(false)
}

fn context_switches(status: &str) -> Option<u64> {
    let count = |name: &str| field(status, name)?.parse::<u64>().ok();
    Some(count("voluntary_ctxt_switches")? + count("nonvoluntary_ctxt_switches")?)
}

fn field<'s>(status: &'s str, name: &str) -> Option<&'s str> {
    let mut lines = status.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim)
}

/// POSIX timers, as far as the kernel lists them; those that it does not list need a handler or a thread that waits for them.
fn has_no_timers(process: i32) -> bool {
    fs::read(format!("/proc/{process}/timers")).map_or(true, |timers| timers.is_empty())
}

fn handles_no_events(process: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = field(&status, "SigCgt").and_then(|mask| u64::from_str_radix(mask, 16).ok());
    caught.is_some_and(|caught| handlers_of_events(caught) == 0)
}

fn handlers_of_events(caught: u64) -> u64 {
    HANDLED_AT_WILL.iter().fold(caught, |caught, signal| caught & !(1 << (signal - 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FUTEX: i64 = libc::SYS_futex;

    #[test]
    fn only_a_wait_at_a_futex_without_time_limit_is_endless() {
        let word = |rest: &str| untimed_futex(&format!("{FUTEX} {rest} 0x0 0x0 0x7ffc 0x7f01\n"));
        let private = FutexWord { address: 0x1000, is_shared: false };
        assert_eq!(word("0x1000 0x80 0x2 0x0"), Some(private));
        assert_eq!(word("0x1000 0x189 0x2 0x0"), Some(private), "bitset, real-time clock");
        assert_eq!(word("0x1000 0x0 0x2 0x0"), Some(FutexWord { is_shared: true, ..private }));
        assert_eq!(word("0x1000 0x80 0x2 0x7ffd"), None, "a time limit");
        assert_eq!(word("0x1000 0x81 0x2 0x0"), None, "a wake");
    }

    #[test]
    fn other_system_calls_and_running_threads_may_go_on() {
        assert_eq!(untimed_futex("running\n"), None);
        assert_eq!(untimed_futex("-1 0x7ffc 0x7f01\n"), None);
        let read = libc::SYS_read;
        assert_eq!(untimed_futex(&format!("{read} 0x0 0x80 0x2 0x0 0x0 0x0 0x1 0x2")), None);
        assert_eq!(untimed_futex(""), None);
    }

    #[test]
    fn a_shell_waits_for_what_it_has_started() {
        let wait = libc::SYS_wait4;
        assert!(is_wait_for_process(&format!("{wait} 0xffffffff 0x0 0x0 0x0 0x0 0x0 0x1 0x2")));
        assert!(!is_wait_for_process(&format!("{FUTEX} 0x1000 0x80")));
        assert!(!is_wait_for_process("running") && !is_wait_for_process(""));
    }

    #[test]
    fn memory_is_private_by_its_mapping() {
        let line = "7f10000-7f20000 rw-p 00000000 00:00 0";
        assert!(is_in_private_mapping(line, 0x7f10000) && !is_in_private_mapping(line, 0x7f20000));
        let shared = "7f10000-7f20000 rw-s 00000000 00:05 9 /dev/shm/lock";
        assert!(!is_in_private_mapping(shared, 0x7f10000) && !is_in_private_mapping("", 0));
    }

    #[test]
    fn handlers_of_faults_do_not_matter_handlers_of_timers_do() {
        let mask =
            |signals: &[i32]| signals.iter().fold(0, |mask, signal| mask | 1 << (signal - 1));
        assert_eq!(handlers_of_events(mask(&[libc::SIGSEGV, libc::SIGTERM, 32])), 0);
        for signal in [libc::SIGALRM, libc::SIGCHLD, libc::SIGIO, libc::SIGUSR1, 34] {
            assert_ne!(handlers_of_events(mask(&[signal, libc::SIGSEGV])), 0, "{signal}");
        }
    }

    #[test]
    fn context_switches_are_read_from_the_status() {
        let status = "Name:\tbank\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t2\n";
        assert_eq!((context_switches(status), context_switches("Name:\tbank\n")), (Some(9), None));
    }
}
