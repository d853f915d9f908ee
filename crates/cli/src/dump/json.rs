//! The dump for programs: one JSON object per line, as `docs/schema/dump.schema.json` says.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;
use unpick_events::access::PastKind;
use unpick_events::{Past, Site};
use unpick_recording::{Action, Event, Recording, RunInfo};
use unpick_symbols::{Frame, Place};

use super::names::Names;
use super::selection::Selected;
use super::words::{Detail, bytes_of, details_of, flags_of, lock_step_of, name_of};

#[derive(Serialize)]
struct RunLine<'a> {
    r#type: &'static str,
    run: &'a str,
    #[serde(flatten)]
    info: &'a RunInfo,
}

#[derive(Serialize)]
struct ProcessLine<'a> {
    r#type: &'static str,
    process: u32,
    parent_process: u32,
    file: String,
    /// Milliseconds since 1970.
    started_ms: u64,
    full: bool,
    perturbed: bool,
    orderly_exit: bool,
    complete: bool,
    missing: Vec<String>,
    damage: &'a [String],
    events: u64,
    threads: Vec<ThreadLine>,
    facts: BTreeMap<&'a str, &'a str>,
    modules: Vec<ModuleLine<'a>>,
}

#[derive(Serialize)]
struct ThreadLine {
    thread: u16,
    creator: Option<u16>,
    events: u64,
}

#[derive(Serialize)]
struct ModuleLine<'a> {
    path: &'a str,
    build_id: &'a str,
    bias: String,
    lowest: String,
    length: u64,
}

#[derive(Serialize)]
struct EventLine {
    r#type: &'static str,
    process: u32,
    stamp: Option<u32>,
    thread: u16,
    ordinal: u64,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flags: Vec<&'static str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    details: BTreeMap<&'static str, DetailValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rust_lock: Option<RustLockValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<PlaceValue>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    past: Vec<PastValue>,
}

#[derive(Serialize)]
struct RustLockValue {
    what: &'static str,
    step: &'static str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum DetailValue {
    Number(u64),
    Signed(i64),
    Text(String),
    Places(Vec<PlaceValue>),
}

#[derive(Serialize)]
struct PlaceValue {
    address: String,
    module: Option<String>,
    offset: String,
    #[serde(flatten)]
    frame: FrameValue,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inlined_into: Vec<FrameValue>,
}

#[derive(Serialize, Default)]
struct FrameValue {
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    column: Option<u32>,
}

#[derive(Serialize)]
struct PastValue {
    kind: &'static str,
    thread: u16,
    before_ordinal: u32,
    place: Option<PlaceValue>,
}

pub fn run(output: &mut impl Write, selected: &Selected) -> io::Result<()> {
    let Some(info) = &selected.info else { return Ok(()) };
    line(output, &RunLine { r#type: "run", run: &selected.name, info })
}

pub fn process(output: &mut impl Write, recording: &Recording) -> io::Result<()> {
    let header = recording.header();
    let threads = recording.threads().iter().map(|thread| ThreadLine {
        thread: thread.id.0,
        creator: thread.creator.map(|creator| creator.0),
        events: thread.events,
    });
    let modules = recording.modules().iter().map(|module| ModuleLine {
        path: &module.path,
        build_id: &module.build_id,
        bias: hex(module.bias),
        lowest: hex(module.lowest),
        length: module.length,
    });
    let facts = recording.facts().iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let described = ProcessLine {
        r#type: "process",
        process: header.process,
        parent_process: header.parent_process,
        file: recording.path().display().to_string(),
        started_ms: header.started / 1_000_000,
        full: header.is_full(),
        perturbed: header.is_perturbed(),
        orderly_exit: header.orderly_exit,
        complete: recording.is_complete(),
        missing: recording.incompleteness(),
        damage: recording.damage(),
        events: recording.event_count(),
        threads: threads.collect(),
        facts: facts.collect(),
        modules: modules.collect(),
    };
    line(output, &described)
}

pub fn event(
    output: &mut impl Write,
    event: &Event<'_>,
    names: &Names<'_>,
    process: u32,
) -> io::Result<()> {
    let bytes = bytes_of(&event.action);
    let past = match event.action {
        Action::Access { pasts, .. } => pasts.iter().map(|past| past_value(&past, names)).collect(),
        _ => Vec::new(),
    };
    let details = details_of(&event.action).into_iter();
    let described = EventLine {
        r#type: "event",
        process,
        stamp: Some(event.stamp).filter(|&stamp| stamp != 0),
        thread: event.thread.0,
        ordinal: event.ordinal,
        kind: event.kind().name(),
        address: bytes.map(|(address, _)| hex(address)),
        length: bytes.map(|(_, length)| length),
        object: name_of(event, names),
        flags: flags_of(&event.action),
        details: details.map(|(name, value)| (name, detail_value(value, names))).collect(),
        rust_lock: lock_step_of(event, names)
            .map(|lock| RustLockValue { what: lock.what, step: lock.step.name() }),
        context: Some(event.context.0).filter(|&context| context != 0),
        place: place_value(event.site, names),
        past,
    };
    line(output, &described)
}

fn line(output: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *output, value)?;
    writeln!(output)
}

fn past_value(past: &Past, names: &Names<'_>) -> PastValue {
    let kind = match past.kind {
        PastKind::Read => "read",
        PastKind::Write => "write",
        PastKind::Free => "free",
    };
    let place = place_value(past.site, names);
    PastValue { kind, thread: past.thread.0, before_ordinal: past.ordinal, place }
}

fn detail_value(value: Detail, names: &Names<'_>) -> DetailValue {
    match value {
        Detail::Number(number) => DetailValue::Number(number),
        Detail::Signed(number) => DetailValue::Signed(number),
        Detail::Address(address) => DetailValue::Text(hex(address)),
        Detail::Words(text) => DetailValue::Text(text),
        Detail::Sites(sites) => DetailValue::Places(
            sites.into_iter().filter_map(|site| place_value(site, names)).collect(),
        ),
    }
}

fn place_value(site: Site, names: &Names<'_>) -> Option<PlaceValue> {
    let place = names.place(site)?;
    let (frame, inlined_into) = frames(&place);
    Some(PlaceValue {
        address: hex(place.address),
        module: place.module.clone(),
        offset: hex(place.offset),
        frame,
        inlined_into,
    })
}

/// The innermost frame, and the functions it was inlined into.
fn frames(place: &Place) -> (FrameValue, Vec<FrameValue>) {
    let mut frames = place.frames.iter().map(frame_value);
    (frames.next().unwrap_or_default(), frames.collect())
}

fn frame_value(frame: &Frame) -> FrameValue {
    FrameValue {
        function: frame.function.clone(),
        file: frame.file.clone(),
        line: frame.line,
        column: frame.column,
    }
}

fn hex(number: u64) -> String {
    format!("{number:#x}")
}
