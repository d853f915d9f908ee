//! Runs that hung: how often and how, in short; one of them in full, thread by thread.

use unpick_findings::{Activity, Findings, Frame, Hang, HangGroup, HangThread};

use crate::Style;
use crate::layout::{cut, padded, paragraph, printable};
use crate::short_names::{shortened, with_short_names};
use crate::words;

/// Calls shown per thread.
const MOST_CALLS: usize = 12;
/// Columns before the function.
const BEFORE: usize = 4;
/// Longest name inside a sentence.
const NAME_COLUMNS: usize = 40;

/// How failing runs hung; empty if none did.
pub fn hung_runs(findings: &Findings, style: &Style) -> String {
    if findings.hangs.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n\n", style.paint().heading("Runs that hung"));
    for group in &findings.hangs {
        text.push_str(&group_in_words(group, findings, style));
    }
    text
}

fn group_in_words(group: &HangGroup, findings: &Findings, style: &Style) -> String {
    let HangGroup { failed_runs, example_run, .. } = group;
    let what = format!(
        "{failed_runs} of {} failing runs, such as run {example_run}: {}.",
        findings.runs.failed,
        with_short_names(&printable(&group.sentence), NAME_COLUMNS)
    );
    let all = style.command(&format!("show --run {example_run}"));
    let mut text = format!("{}  all threads: {all}\n", paragraph(&what, style.columns(), "  "));
    if let Some(confirmed) = &group.confirmed {
        text.push_str(&format!("  {}\n", words::confirmed(confirmed)));
    }
    if group.is_explained() {
        let again = style.command(&format!("reproduce --run {example_run}"));
        text.push_str(&format!("  make it hang: {again}\n"));
    }
    text + "\n"
}

/// A hang with all threads.
pub fn in_full(hang: &Hang, run: u64, style: &Style) -> String {
    let what = match hang.lost_notification() {
        _ if hang.deadlock => "a deadlock",
        Some(_) => "a lost notification",
        None => "what its threads were doing",
    };
    let title = style.paint().heading(&format!("Run {run} hung: {what}"));
    let sentence = with_short_names(&printable(&hang.sentence), NAME_COLUMNS);
    let mut text =
        format!("{title}\n\n{}", paragraph(&format!("{sentence}."), style.columns(), ""));
    for process in &hang.processes {
        if hang.processes.len() > 1 {
            text.push_str(&format!("\nprocess {}\n", process.process));
        }
        for thread in &process.threads {
            text.push('\n');
            text.push_str(&of_thread(thread, style));
        }
    }
    text
}

fn of_thread(thread: &HangThread, style: &Style) -> String {
    let head = format!("thread {} {}", thread.thread, does(thread));
    let mut text = paragraph(&style.paint().heading(&printable(&head)), style.columns(), "");
    let calls = [&thread.frame].into_iter().chain(&thread.inlined_into).chain(&thread.stack);
    let calls: Vec<&Frame> = calls.filter(|frame| **frame != Frame::default()).collect();
    calls.iter().take(MOST_CALLS).for_each(|frame| text.push_str(&call(frame, style)));
    match calls.len() {
        0 => text.push_str("    (where it is was not recorded)\n"),
        many if many > MOST_CALLS => {
            text.push_str(&format!("    … and {} more\n", many - MOST_CALLS));
        }
        _ => {}
    }
    thread.holds.iter().for_each(|lock| {
        let place = words::brief_place(&lock.taken_at).filter(|_| lock.name.is_some());
        let taken = place.map(|place| format!(", taken at {place}")).unwrap_or_default();
        text.push_str(&format!("  holds {}{taken}\n", words::lock(lock, NAME_COLUMNS)));
    });
    text
}

fn does(thread: &HangThread) -> String {
    let activity = match (thread.is_now, thread.activity) {
        (false, _) => "was last seen here",
        (true, Activity::Running) => "runs",
        (true, Activity::Sleeping) => "sleeps",
        (true, Activity::Unknown) => "is here",
    };
    let Some(wait) = &thread.waits_for else { return activity.to_owned() };
    let mut text = format!("waits for {}", wait.object());
    if wait.lock_kind.is_some() && !wait.threads.is_empty() {
        let holders: Vec<String> = wait.threads.iter().map(u16::to_string).collect();
        text += &format!(", held by thread {}", holders.join(" and "));
    }
    if let Some(mutex) = &wait.mutex {
        text += &format!(" (its mutex: {mutex})");
    }
    if wait.limited {
        text += ", for a limited time";
    }
    text
}

fn call(frame: &Frame, style: &Style) -> String {
    let columns = style.columns() - BEFORE;
    let of_function = columns * 3 / 5;
    let function = match &frame.function {
        Some(function) => shortened(&printable(function), of_function),
        None => "(function not known)".to_owned(),
    };
    let place = words::place(frame, columns - of_function - 2).unwrap_or_default();
    let place = cut(&place, columns - of_function - 2);
    let line = format!("    {}  {place}", padded(&function, of_function));
    format!("{}\n", line.trim_end())
}
