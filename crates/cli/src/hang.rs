//! Runs that hung: from what was seen when their time was over to `hang.json` in the folder of the run, and back.
//!
//! Takes   a judged run, its recordings, names.      Gives  a `Hang`, told in the verdict too; of many runs, who hung the same way.

use std::fs;
use std::io;
use std::path::Path;

use unpick_analyses::hang::{HungRun, Seen, SeenCalls};
use unpick_events::Label;
use unpick_findings::{HANG_SCHEMA, Hang, HangGroup, Unreadable, describe_hang, group_hangs};
use unpick_names::{CodeNames, KnownRecording};
use unpick_problem::Problem;
use unpick_recording::Recording;
use unpick_run_store::{HANG_FILE, StoredRun};
use unpick_runner::{Activity, Judged, Moment, ThreadMoment};

/// If a run failed because it hung: says how, in its folder and in its verdict.
pub fn tell_hang(judged: &mut Judged, names: &CodeNames) -> Result<(), Problem> {
    let Some(moment) = &judged.hang else { return Ok(()) };
    if judged.label() != Label::Fail || moment.processes.is_empty() {
        return Ok(());
    }
    let working_folder = std::env::current_dir().unwrap_or_default();
    let hang = describe_hang(&hung_run(moment, names), names, &working_folder);
    write_hang(&judged.run.folder, &hang)?;
    judged.add_to_why(&hang.sentence)
}

/// A recording that cannot be read is left out: the rest still tells something.
fn hung_run(moment: &Moment, names: &CodeNames) -> HungRun {
    let mut run = HungRun::default();
    for process in &moment.processes {
        let Ok(recording) = Recording::open(&process.event_file) else { continue };
        let seen: Vec<Seen> = process.threads.iter().map(seen).collect();
        run.add(process.process, &recording, &KnownRecording::new(&recording, names), &seen);
    }
    run
}

fn seen(thread: &ThreadMoment) -> Seen {
    Seen {
        thread: thread.thread,
        next_ordinal: thread.next_ordinal,
        running: match thread.activity {
            Activity::Running => Some(true),
            Activity::Sleeping => Some(false),
            Activity::Unknown => None,
        },
        calls: thread
            .calls
            .as_ref()
            .map(|calls| SeenCalls { sites: calls.sites.clone(), inside: calls.inside }),
    }
}

/// How the failing ones of these runs hung.
pub fn hangs_of(runs: &[StoredRun]) -> Result<Vec<HangGroup>, Problem> {
    let mut hangs = Vec::new();
    for run in runs.iter().filter(|run| run.label() == Label::Fail) {
        if let Some(hang) = read_hang(&run.folder)? {
            hangs.push((u32::try_from(run.number).unwrap_or(u32::MAX), hang));
        }
    }
    Ok(group_hangs(&hangs))
}

fn write_hang(folder: &Path, hang: &Hang) -> Result<(), Problem> {
    let path = folder.join(HANG_FILE);
    fs::write(&path, hang.to_json() + "\n").map_err(|error| {
        Problem::own_fault("how a run hung cannot be stored")
            .at("file", path.display())
            .why(error)
            .next("free some space, or keep less: unpick hunt --keep failing -- PROGRAM")
    })
}

/// How a run hung; none if it did not.
pub fn read_hang(folder: &Path) -> Result<Option<Hang>, Problem> {
    let path = folder.join(HANG_FILE);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(&path, &error.to_string())),
    };
    let why = |unreadable| match unreadable {
        Unreadable::OtherForm(form) => {
            format!("its form is `{}`, this build reads `{HANG_SCHEMA}`", form.escape_debug())
        }
        Unreadable::Damaged(why) => why.escape_debug().to_string(),
    };
    Hang::from_json(&text).map(Some).map_err(|error| unreadable(&path, &why(error)))
}

fn unreadable(path: &Path, why: &str) -> Problem {
    Problem::usage("how a run hung cannot be read")
        .at("file", path.display())
        .why(why)
        .next("remove the file, or hunt again: unpick hunt -- PROGRAM")
}
