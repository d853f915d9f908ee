//! `unpick dump`: shows what is in a recording, event by event, in the order it happened.
//!
//! Takes   a run (by number, or the latest), a run folder or an event file.
//! Gives   lines for people, or one JSON object per line (`docs/schema/dump.schema.json`).

mod json;
mod names;
mod selection;
mod text;
mod words;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use unpick_events::{Kind, ThreadId};
use unpick_problem::Problem;
use unpick_recording::{Event, Recording};
use unpick_run_store::Store;

use crate::store_folder::store_folder;
use names::Names;
use selection::Selected;
pub use words::printable;

/// What `unpick dump` can be told.
#[derive(clap::Args)]
pub struct Dump {
    /// A run by its number, a run folder, or an event file; without it, the latest run
    #[arg(value_name = "RUN")]
    run: Option<PathBuf>,
    /// One JSON object per line
    #[arg(long)]
    json: bool,
    /// Only events of this thread
    #[arg(long, value_name = "N")]
    thread: Option<u16>,
    /// Only events of this kind (Read, Write, Acquire, …); may be given several times
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Vec<Kind>,
    /// Only events that concern the byte at this address
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    address: Option<u64>,
    /// At most this many events per process
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
}

fn kind(text: &str) -> Result<Kind, String> {
    let named = |kind: &&Kind| kind.name().eq_ignore_ascii_case(text);
    Kind::ALL.iter().find(named).copied().ok_or_else(|| {
        let names: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        format!("the kinds are: {}", names.join(", "))
    })
}

fn address(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    let number = match digits {
        Some(hex) => u64::from_str_radix(hex, 16),
        None => text.parse(),
    };
    number.map_err(|_| "expected an address such as 0x7ffd1234".to_owned())
}

pub fn run(dump: Dump) -> Result<ExitCode, Problem> {
    let selected = Selected::find(dump.run.as_deref(), &Store::at(&dump.store))?;
    let mut output = BufWriter::new(io::stdout().lock());
    let result = dump.print(&selected, &mut output).and_then(|trouble| {
        output.flush()?;
        Ok(trouble)
    });
    match result {
        Ok(None) => Ok(ExitCode::SUCCESS),
        Ok(Some(problem)) => Err(problem),
        // Whoever read our output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(cannot_print(&error)),
    }
}

impl Dump {
    /// Prints everything; gives the last problem with a recording, the others being printed.
    fn print(&self, selected: &Selected, output: &mut impl Write) -> io::Result<Option<Problem>> {
        if self.json {
            json::run(output, selected)?;
        } else {
            text::run(output, selected)?;
        }
        let mut trouble: Option<Problem> = None;
        for file in &selected.event_files {
            match Recording::open(file) {
                Ok(recording) => self.print_recording(&recording, output)?,
                Err(problem) => {
                    trouble.replace(problem).iter().for_each(|earlier| eprintln!("{earlier}"));
                }
            }
        }
        Ok(trouble)
    }

    fn print_recording(&self, recording: &Recording, output: &mut impl Write) -> io::Result<()> {
        let mut names = Names::of(recording);
        if self.json {
            json::process(output, recording)?;
        } else {
            text::process(output, recording)?;
        }
        let mut printed = 0;
        for event in recording.events() {
            names.learn(&event);
            if !self.wants(&event) {
                continue;
            }
            if self.limit.is_some_and(|limit| printed >= limit) {
                self.say_that_more_follows(output)?;
                break;
            }
            printed += 1;
            if self.json {
                json::event(output, &event, &names, recording.header().process)?;
            } else {
                text::event(output, &event, &names)?;
            }
        }
        output.flush()?;
        names
            .remarks()
            .iter()
            .flat_map(|remark| remark.lines())
            .for_each(|line| eprintln!("{}", words::printable(line)));
        Ok(())
    }

    fn say_that_more_follows(&self, output: &mut impl Write) -> io::Result<()> {
        if self.json {
            return Ok(());
        }
        writeln!(output, "… more events follow: raise --limit to see them")
    }

    fn wants(&self, event: &Event<'_>) -> bool {
        self.thread.is_none_or(|thread| event.thread == ThreadId(thread))
            && (self.kind.is_empty() || self.kind.contains(&event.kind()))
            && self.address.is_none_or(|address| words::concerns(&event.action, address))
    }
}

fn cannot_print(error: &io::Error) -> Problem {
    Problem::own_fault("the dump cannot be written")
        .at("file", "standard output")
        .why(error)
        .next("write it where there is room: unpick dump > FILE")
}
