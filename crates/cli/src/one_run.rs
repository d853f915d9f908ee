//! One run of a store: its label and why, how it ended, what it printed last, its delays, and how to run it again.
//!
//! Takes   a stored run.      Gives  text, or the JSON object of `unpick runs --json` with `ending` and `output`.

use serde_json::{Value, json};
use unpick_events::Label;
use unpick_findings::{Stream, last_lines};
use unpick_run_store::StoredRun;

use crate::dump::printable;
use crate::failures::{ending, tail};
use crate::program::program_in_words;
use crate::repeat::{delays, repeat_command};
use crate::runs;

/// For people; `store` is the option that finds the store again.
pub fn text(run: &StoredRun, store: &str) -> String {
    let info = &run.info;
    let hunt = info.hunt.map_or_else(String::new, |hunt| format!(" of hunt {hunt}"));
    let label = info.label.map_or("not judged", Label::name);
    let delays = delays(&info.options);
    let facts = [
        ("program", program_in_words(info)),
        ("why", info.why.clone().unwrap_or_else(|| info.outcome.to_string())),
        ("time", format!("{:.3} s", info.duration_ms as f64 / 1000.0)),
        ("delays", if delays.is_empty() { "none".to_owned() } else { delays }),
        ("again", repeat_command(info, &run.folder)),
    ];
    let mut text = format!("Run {}{hunt}: {label}, {}\n\n", run.number, ending(run));
    for (name, fact) in facts {
        text += &format!("  {name:<8} {}\n", printable(fact.trim()));
    }
    for (stream, name) in STREAMS {
        text += &format!("\n{}", printed(run, stream, name));
    }
    text + &format!("\nnext: event by event: unpick dump{store} {}\n", run.number)
}

const STREAMS: [(Stream, &str); 2] =
    [(Stream::Stderr, "standard error"), (Stream::Stdout, "standard output")];

fn printed(run: &StoredRun, stream: Stream, name: &str) -> String {
    match tail(&run.folder, stream).map(|text| last_lines(&text)) {
        None => format!("  {name} was not kept\n"),
        Some(lines) if lines.is_empty() => format!("  nothing on {name}\n"),
        Some(lines) => {
            let lines = lines.iter().map(|line| format!("  | {line}\n"));
            format!("  last lines of {name}:\n{}", lines.collect::<String>())
        }
    }
}

/// As `docs/schema/runs.schema.json` says.
pub fn json(run: &StoredRun) -> Value {
    let lines = |stream| tail(&run.folder, stream).map(|text| last_lines(&text));
    let mut value = runs::json(run);
    value["ending"] = json!(ending(run));
    value["output"] = json!({ "stderr": lines(Stream::Stderr), "stdout": lines(Stream::Stdout) });
    value
}
