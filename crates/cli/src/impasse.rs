//! Which lock or join kept an order from coming about.
//!
//! Takes   what the runtime saw when it let a thread go because of others; the recording of that process; names.
//! Gives   who waited for what, where, and who had it: told as hangs are.
//! Misses  processes whose recording is gone or cannot be read.

use std::path::Path;

use unpick_analyses::hang::{HungRun, Seen};
use unpick_events::ThreadId;
use unpick_findings::{describe_hang, impasse_in_words};
use unpick_names::{CodeNames, KnownRecording};
use unpick_recording::Recording;
use unpick_reproduce::{Impasse, Prevention, SeenThread};

/// None: what the threads waited for is not known.
pub fn prevention(event_file: &Path, impasse: &Impasse, names: &CodeNames) -> Option<Prevention> {
    let held = impasse.threads.first()?.thread;
    let recording = Recording::open(event_file).ok()?;
    let seen: Vec<Seen> = impasse.threads.iter().map(seen).collect();
    let mut run = HungRun::default();
    run.add(0, &recording, &KnownRecording::new(&recording, names), &seen);
    let working_folder = std::env::current_dir().unwrap_or_default();
    let who = impasse_in_words(&describe_hang(&run, names, &working_folder), held)?;
    Some(Prevention { why: impasse.why, step: impasse.step, who })
}

/// Its events say where it is: nobody has looked at its memory.
fn seen(thread: &SeenThread) -> Seen {
    Seen {
        thread: ThreadId(thread.thread),
        next_ordinal: thread.next_ordinal,
        running: Some(false),
        calls: None,
    }
}
