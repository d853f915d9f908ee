//! The dump for people: one line per event, the past accesses it lists indented below.

use std::io::{self, Write};

use unpick_events::Past;
use unpick_events::access::PastKind;
use unpick_events::file::lost;
use unpick_recording::{Action, Event, Outcome, Recording};
use unpick_symbols::Place;

use crate::quantities::counted;

use super::names::Names;
use super::selection::Selected;
use super::words::{Detail, bytes_of, details_of, flags_of, lock_step_of, name_of, printable};

/// What was run and how it ended.
pub fn run(output: &mut impl Write, selected: &Selected) -> io::Result<()> {
    let Some(info) = &selected.info else { return Ok(()) };
    writeln!(output, "run {}: {}", printable(&selected.name), printable(&info.command.join(" ")))?;
    writeln!(output, "  folder    {}", printable(&info.working_folder.to_string_lossy()))?;
    match info.outcome {
        Outcome::Unknown => writeln!(output, "  outcome   {}", info.outcome)?,
        known => writeln!(output, "  outcome   {known} after {} ms", info.duration_ms)?,
    }
    writeln!(output, "  seed      {}", info.seed)
}

/// One process, and the head of the columns.
pub fn process(output: &mut impl Write, recording: &Recording) -> io::Result<()> {
    let header = recording.header();
    let events = counted(recording.event_count(), "event");
    let threads = counted(recording.threads().len() as u64, "thread");
    let mode = if header.is_full() { ", every shared access" } else { "" };
    writeln!(output, "process {}: {events} of {threads}{mode}", header.process)?;
    let end = match header.orderly_exit {
        true => "by exit",
        false if header.lost & (lost::LIMIT | lost::DISK) != 0 => {
            "not known: the recording had ended before"
        }
        false => "not by exit: killed, crashed or still running",
    };
    writeln!(output, "  ended     {end}")?;
    let complete = if recording.is_complete() { "yes" } else { "NO" };
    writeln!(output, "  complete  {complete}")?;
    for reason in recording.incompleteness().iter().chain(recording.damage()) {
        writeln!(output, "            {reason}")?;
    }
    writeln!(
        output,
        "{:>9} {:>5}  {:<19} {:<48} {:>6}  place",
        "stamp", "thr", "event", "object", "bytes"
    )
}

pub fn event(output: &mut impl Write, event: &Event<'_>, names: &Names<'_>) -> io::Result<()> {
    let (object, length) = object_columns(event, names);
    let place = names.place(event.site).map_or_else(String::new, |place| place_text(&place));
    let line = format!(
        "{:>9} {:>5}  {:<19} {object:<48} {length:>6}  {place}",
        stamp_text(event.stamp),
        format!("T{}", event.thread.0),
        event.kind().name(),
    );
    write!(output, "{}", line.trim_end())?;
    for remark in remarks(event, names) {
        write!(output, "  {}", printable(&remark))?;
    }
    writeln!(output)?;
    if let Action::Access { pasts, .. } = event.action {
        pasts.iter().try_for_each(|past| past_line(output, &past, names))?;
    }
    Ok(())
}

fn stamp_text(stamp: u32) -> String {
    if stamp == 0 { "-".to_owned() } else { stamp.to_string() }
}

/// Name or address of what the event is about, and how many bytes of it.
fn object_columns(event: &Event<'_>, names: &Names<'_>) -> (String, String) {
    let Some((address, length)) = bytes_of(&event.action) else { return Default::default() };
    let sized = matches!(
        event.action,
        Action::Access { .. }
            | Action::Block { .. }
            | Action::StackGone { .. }
            | Action::Module { .. }
    );
    let name = name_of(event, names);
    let object = name.map_or_else(|| format!("{address:#x}"), |name| printable(&name));
    (object, if sized { length.to_string() } else { String::new() })
}

fn past_line(output: &mut impl Write, past: &Past, names: &Names<'_>) -> io::Result<()> {
    let place = names.place(past.site).map_or_else(String::new, |place| place_text(&place));
    let kind = match past.kind {
        PastKind::Read => "read",
        PastKind::Write => "write",
        PastKind::Free => "free",
    };
    let thread = format!("T{}", past.thread.0);
    let ordinal = format!("before its event {}", past.ordinal);
    writeln!(output, "{:>9} {:>5}    after {kind:<11} {ordinal:<48} {:>6}  {place}", "", thread, "")
}

/// `deposit bank.c:31:9`, or `deposit bank+0x1234`.
fn place_text(place: &Place) -> String {
    let line = match (place.line(), place.column()) {
        (Some(_), Some(column)) => format!("{}:{column}", place.short()),
        (Some(_), None) => place.short(),
        (None, _) => place.module_and_offset(),
    };
    match place.function() {
        Some(function) => printable(&format!("{function} {line}")),
        None => printable(&line),
    }
}

fn remarks(event: &Event<'_>, names: &Names<'_>) -> Vec<String> {
    let flags = flags_of(&event.action);
    let flags = (!flags.is_empty()).then(|| format!("[{}]", flags.join(" ")));
    let details =
        details_of(&event.action).into_iter().map(|(name, value)| detail_text(name, value, names));
    let step =
        lock_step_of(event, names).map(|lock| format!("{} of {}", lock.step.name(), lock.what));
    flags.into_iter().chain(details).chain(step).collect()
}

fn detail_text(name: &str, value: Detail, names: &Names<'_>) -> String {
    let value = match value {
        Detail::Number(number) => number.to_string(),
        Detail::Signed(number) => number.to_string(),
        Detail::Address(address) => format!("{address:#x}"),
        Detail::Words(text) => text,
        Detail::Sites(sites) => {
            let places = sites.into_iter().filter_map(|site| names.place(site));
            places.map(|place| place_text(&place)).collect::<Vec<_>>().join(" > ")
        }
    };
    format!("{name}={value}")
}
