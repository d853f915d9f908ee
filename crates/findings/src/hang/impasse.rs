//! Threads that all waited while one was held, in words: which lock or join stood in the way.
//!
//! Takes   what threads did at one moment, told as a hang is, and which of them was held.      Gives  who waits for what, where, and who has it.
//! Misses  waits that are not known; then there is nothing to say.

use std::collections::BTreeSet;

use super::sentence::{does, place};
use super::{Hang, HangThread, HangWait, WaitedFor};

/// A reader wants to know what is in the way, not all who stand in line.
const MOST_TOLD: usize = 2;

/// `thread 3 waits for ledger at bank.c:10, which the held thread took at bank.c:25`; none: nobody is known to wait.
pub fn impasse_in_words(hang: &Hang, held: u16) -> Option<String> {
    let threads: Vec<&HangThread> =
        hang.processes.iter().flat_map(|process| &process.threads).collect();
    let holder = threads.iter().copied().find(|thread| thread.thread == held);
    let mut waiting: Vec<(&HangThread, &HangWait)> = threads
        .iter()
        .filter(|thread| thread.thread != held)
        .filter_map(|thread| Some((*thread, thread.waits_for.as_ref()?)))
        .collect();
    // A lock that the held one has is the reason; that somebody waits for the end of threads is not, then.
    let is_reason = |wait: &HangWait| wait.what == WaitedFor::Lock && wait.threads.contains(&held);
    if waiting.iter().any(|(_, wait)| is_reason(wait)) {
        waiting.retain(|(_, wait)| is_reason(wait));
    }
    waiting.sort_by_key(|(_, wait)| (!wait.threads.contains(&held), wait.what));
    let count = waiting.len();
    // Many may wait for the same in the same place.
    let mut seen = BTreeSet::new();
    waiting.retain(|(thread, wait)| seen.insert((wait.object(), thread.frame.clone())));
    waiting.truncate(MOST_TOLD);
    let more = count - waiting.len();
    let mut told: Vec<String> =
        waiting.into_iter().map(|(thread, wait)| of_waiting(thread, wait, held, holder)).collect();
    match more {
        0 => {}
        1 => told.push("and 1 more thread waits".to_owned()),
        more => told.push(format!("and {more} more threads wait")),
    }
    (!told.is_empty()).then(|| told.join("; "))
}

fn of_waiting(
    thread: &HangThread,
    wait: &HangWait,
    held: u16,
    holder: Option<&HangThread>,
) -> String {
    let is_for_held = wait.threads.contains(&held);
    let whose = match (wait.what, is_for_held) {
        (WaitedFor::Lock, true) => taken(wait, holder),
        (WaitedFor::End, true) => ", which is the held one".to_owned(),
        (WaitedFor::Lock, false) => held_by(&wait.threads),
        _ => String::new(),
    };
    format!("thread {} {}{whose}", thread.thread, does(thread))
}

/// Where the held thread took the lock that is waited for.
fn taken(wait: &HangWait, holder: Option<&HangThread>) -> String {
    let holds = holder.map_or(&[][..], |holder| &holder.holds);
    let lock = holds.iter().find(|lock| lock.name == wait.name);
    match lock.and_then(|lock| place(&lock.taken_at)) {
        Some(place) => format!(", which the held thread took at {place}"),
        None => ", which the held thread has".to_owned(),
    }
}

fn held_by(threads: &[u16]) -> String {
    let numbers: Vec<String> = threads.iter().map(u16::to_string).collect();
    if numbers.is_empty() {
        return String::new();
    }
    format!(", held by thread {}", numbers.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::super::{HANG_SCHEMA, HangProcess};
    use super::*;
    use crate::finding::HeldLock;
    use crate::names::Frame;

    fn frame(line: u32) -> Frame {
        Frame { file: Some("src/bank.c".into()), line: Some(line), ..Frame::default() }
    }

    fn thread(number: u16, line: u32, waits_for: Option<HangWait>) -> HangThread {
        HangThread::sleeping_at(frame(line), number, waits_for)
    }

    fn holding(name: &str, line: u32) -> HeldLock {
        HeldLock {
            name: Some(name.to_owned()),
            kind: "mutex".to_owned(),
            shared: false,
            taken_at: frame(line),
            code: None,
            calls: Vec::new(),
            shown_call: None,
            acquisition: None,
            distance: None,
        }
    }

    fn lock(name: &str, threads: &[u16]) -> Option<HangWait> {
        let threads = threads.to_vec();
        Some(HangWait { name: Some(name.into()), threads, ..HangWait::new(WaitedFor::Lock) })
    }

    fn end_of(thread: u16) -> Option<HangWait> {
        Some(HangWait { threads: vec![thread], ..HangWait::new(WaitedFor::End) })
    }

    fn told(threads: Vec<HangThread>) -> Option<String> {
        let processes =
            vec![HangProcess { process: 1, deadlocks: Vec::new(), threads, lost: None }];
        let (schema, sentence) = (HANG_SCHEMA.to_owned(), String::new());
        impasse_in_words(&Hang { schema, sentence, deadlock: false, processes }, 2)
    }

    #[test]
    fn the_lock_that_the_held_thread_has_is_the_reason_and_told_with_both_places() {
        let held = HangThread { holds: vec![holding("ledger", 25)], ..thread(2, 26, None) };
        let threads = vec![
            thread(1, 41, end_of(2)),
            held,
            thread(3, 10, lock("ledger", &[2])),
            thread(4, 12, lock("other", &[3])),
        ];
        let text =
            "thread 3 waits for ledger at bank.c:10, which the held thread took at bank.c:25";
        assert_eq!(told(threads).as_deref(), Some(text));
    }

    #[test]
    fn who_waits_for_the_end_of_the_held_thread_is_told_first() {
        let threads = vec![
            thread(1, 41, end_of(2)),
            thread(2, 26, None),
            thread(3, 12, end_of(4)),
            thread(4, 13, lock("other", &[5])),
        ];
        assert_eq!(
            told(threads).as_deref(),
            Some(
                "thread 1 waits for the end of thread 2 at bank.c:41, which is the held one; \
                 thread 4 waits for other at bank.c:13, held by thread 5; and 1 more thread waits"
            )
        );
    }

    #[test]
    fn those_who_wait_for_the_same_in_the_same_place_are_counted() {
        let held = HangThread { holds: vec![holding("ledger", 25)], ..thread(2, 26, None) };
        let waiting = (3..6).map(|number| thread(number, 10, lock("ledger", &[2])));
        assert_eq!(
            told([held].into_iter().chain(waiting).collect()).as_deref(),
            Some(
                "thread 3 waits for ledger at bank.c:10, which the held thread took at bank.c:25; \
                 and 2 more threads wait"
            )
        );
    }

    #[test]
    fn a_lock_of_another_is_told_with_its_holder() {
        let threads = vec![thread(2, 26, None), thread(4, 12, lock("other", &[3, 5]))];
        let text = "thread 4 waits for other at bank.c:12, held by thread 3 and 5";
        assert_eq!(told(threads).as_deref(), Some(text));
    }

    #[test]
    fn who_waits_for_nothing_known_is_not_told() {
        assert_eq!(told(vec![thread(2, 26, None), thread(3, 10, None)]), None);
        assert_eq!(told(Vec::new()), None);
    }
}
