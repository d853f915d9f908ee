//! Deadlocks that can be, as people read them.

use unpick_findings::{CandidateDeadlock, HangThread};

use crate::layout::{cut, paragraph, printable};
use crate::short_names::with_short_names;
use crate::{Style, words};

/// Longest name inside a line.
const NAME_COLUMNS: usize = 40;
const INDENT: &str = "   ";
/// So many are listed.
const MOST_LISTED: usize = 20;

/// All candidates: who holds what and asks for what, a line for each thread.
pub fn deadlocks(all: &[CandidateDeadlock], style: &Style) -> String {
    let mut text = style.paint().heading("Deadlocks that can be") + "\n\n";
    for (one, number) in all.iter().take(MOST_LISTED).zip(1..) {
        text += &in_list(one, number, style);
    }
    if all.len() > MOST_LISTED {
        text += &format!("and {} more: see --json\n", all.len() - MOST_LISTED);
    }
    text
}

fn in_list(one: &CandidateDeadlock, number: usize, style: &Style) -> String {
    let threads: Vec<&HangThread> =
        one.hang.processes.iter().flat_map(|process| &process.threads).collect();
    let title = format!("{number}. {} threads, locks in different orders", threads.len());
    let mut text = format!("{}\n", style.paint().bad(&cut(&title, style.columns())));
    for thread in threads {
        text += &paragraph(&of_thread(thread), style.columns(), INDENT);
    }
    let verdict = one.confirmed.as_ref().map(words::confirmed);
    let open = || format!("can it be? {}", style.command(&format!("confirm --deadlock {number}")));
    let last = verdict.unwrap_or_else(open);
    text + &format!("{INDENT}{last}\n")
}

fn of_thread(thread: &HangThread) -> String {
    let wanted = thread.waits_for.as_ref().map(|wait| wait.object()).unwrap_or_default();
    let place = words::brief_place(&thread.frame);
    let at = place.map(|place| format!(" at {place}")).unwrap_or_default();
    let held = thread.holds.iter().map(|lock| {
        let place = words::brief_place(&lock.taken_at).filter(|_| lock.name.is_some());
        let taken = place.map(|place| format!(" (taken at {place})")).unwrap_or_default();
        format!("{}{taken}", words::lock(lock, NAME_COLUMNS))
    });
    let held: Vec<String> = held.collect();
    let line =
        format!("thread {} holds {}, asks for {wanted}{at}", thread.thread, held.join(" and "));
    with_short_names(&printable(&line), NAME_COLUMNS)
}
