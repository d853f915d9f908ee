//! One event file, opened: everything in it that can be read, and what cannot.
//!
//! Takes   a file.      Gives  a `Recording`, or a `Problem` if nothing in the file can be believed.
//! Cost    reads the file once and walks its events once.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use unpick_events::file::FILE_HEADER_BYTES;
use unpick_events::{Site, ThreadId};
use unpick_problem::Problem;

use crate::cancellation::Cancellation;
use crate::catalogue::{Catalogue, KernelThread, Module, Stacks, Thread};
use crate::chunk::{Chunk, load_chunks};
use crate::damage::Damage;
use crate::decode::frame;
use crate::file_header::{FIELD_BYTES, FileHeader};
use crate::incompleteness;
use crate::merge::Merged;
use crate::source::Source;
use crate::stream::Stream;
use crate::walk_limit::WalkLimit;

/// A file that claims to be longer than this is refused: reading it would take all memory.
const LARGEST_FILE: u64 = 64 << 30;

/// The recording of one process image.
#[derive(Debug)]
pub struct Recording {
    path: PathBuf,
    header: FileHeader,
    streams: Vec<(ThreadId, Vec<Chunk>)>,
    threads: Vec<Thread>,
    catalogue: Catalogue,
    damage: Vec<String>,
    cancellation: Cancellation,
    limit: WalkLimit,
}

impl Recording {
    /// Reads the event file at `path`.
    pub fn open(path: impl AsRef<Path>) -> Result<Recording, Problem> {
        Self::open_cancellable(path.as_ref(), &Cancellation::default())
    }

    /// The same; once it is cancelled, neither this nor any loop over its events goes on.
    pub fn open_cancellable(
        path: &Path,
        cancellation: &Cancellation,
    ) -> Result<Recording, Problem> {
        let file = File::open(path).map_err(|error| cannot_open(path, &error))?;
        if file.metadata().is_ok_and(|about| !about.is_file()) {
            return Err(not_a_file(path));
        }
        Self::read(&file, path, cancellation)
    }

    /// Reads an event file that is in memory; `name` stands for its path in problems.
    pub fn from_bytes(bytes: &[u8], name: impl AsRef<Path>) -> Result<Recording, Problem> {
        Self::read(bytes, name.as_ref(), &Cancellation::default())
    }

    fn read<S: Source + ?Sized>(
        source: &S,
        path: &Path,
        cancellation: &Cancellation,
    ) -> Result<Recording, Problem> {
        let failed = |error: io::Error| cannot_read(path, &error);
        let mut first = [0; FIELD_BYTES];
        let got = source.read_up_to(0, &mut first).map_err(failed)?;
        let header = FileHeader::parse(&first[..got], path)?;
        let mut damage = Damage::default();
        let end = end_of_chunks(&header, source.length().map_err(failed)?, path, &mut damage)?;
        let chunks = load_chunks(source, end, &mut damage).map_err(failed)?;
        let mut streams = sort_into_streams(chunks, &mut damage);
        for (_, chunks) in &mut streams {
            cancellation.check();
            keep_whole_events(chunks, &mut damage);
        }
        Ok(Self::assemble(path.to_owned(), header, streams, damage, cancellation.clone()))
    }

    fn assemble(
        path: PathBuf,
        header: FileHeader,
        streams: Vec<(ThreadId, Vec<Chunk>)>,
        damage: Damage,
        cancellation: Cancellation,
    ) -> Recording {
        let mut catalogue = Catalogue::default();
        for (thread, chunks) in &streams {
            Stream::new(*thread, chunks, &cancellation).for_each(|event| catalogue.take_in(&event));
        }
        let threads = catalogue.threads();
        let (damage, limit) = (damage.into_notes(), WalkLimit::default());
        Recording { path, header, streams, threads, catalogue, damage, cancellation, limit }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn header(&self) -> &FileHeader {
        &self.header
    }

    /// Named facts about the process (environment, compiler, …), in the order they were recorded.
    pub fn facts(&self) -> &[(String, String)] {
        &self.catalogue.facts
    }

    pub fn modules(&self) -> &[Module] {
        &self.catalogue.modules
    }

    pub fn stacks(&self) -> &Stacks {
        &self.catalogue.stacks
    }

    /// The threads that have events, by number.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// How to find a thread in the process, while that lives; fibers and old recordings do not tell.
    pub fn kernel_thread(&self, thread: ThreadId) -> Option<KernelThread> {
        self.catalogue.kernel_threads.get(&thread).copied()
    }

    /// How many events there are.
    pub fn event_count(&self) -> u64 {
        self.threads.iter().map(|thread| thread.events).sum()
    }

    /// The events of one thread; none if the recording does not know it.
    pub fn stream(&self, thread: ThreadId) -> Stream<'_> {
        let found = self.streams.binary_search_by_key(&thread, |(thread, _)| *thread);
        let chunks = found.map_or(&[][..], |index| &self.streams[index].1);
        Stream::new(thread, chunks, &self.cancellation)
    }

    /// The streams of all threads, by number.
    pub fn streams(&self) -> impl Iterator<Item = Stream<'_>> {
        let (streams, cancellation) = (self.streams.iter(), &self.cancellation);
        streams.map(move |(thread, chunks)| Stream::new(*thread, chunks, cancellation))
    }

    /// All events in the order they happened, as far as the limit lets walks go.
    pub fn events(&self) -> Merged<'_> {
        Merged::new(self.streams().collect(), &self.limit)
    }

    /// How far walks over all events go.
    pub fn limit(&self) -> &WalkLimit {
        &self.limit
    }

    /// The full address of a site, and the module it lies in.
    pub fn place_of(&self, site: Site) -> Option<(&Module, u64)> {
        let modules = self.modules();
        modules.iter().find_map(|module| Some((module, module.address_of(site)?)))
    }

    /// Why events are missing: one sentence per reason. Empty: the runtime recorded everything.
    pub fn incompleteness(&self) -> Vec<String> {
        incompleteness::sentences(&self.header)
    }

    /// What in the file could not be read. Empty: all of it was.
    pub fn damage(&self) -> &[String] {
        &self.damage
    }

    /// Nothing is missing and nothing is damaged.
    pub fn is_complete(&self) -> bool {
        self.damage.is_empty() && self.incompleteness().is_empty()
    }
}

/// Where the search for chunks ends: what the header says, if the file is that long.
fn end_of_chunks(
    header: &FileHeader,
    length: u64,
    path: &Path,
    damage: &mut Damage,
) -> Result<u64, Problem> {
    let end = header.chunks_end;
    if end.min(length) > LARGEST_FILE {
        return Err(too_large(path, end.min(length)));
    }
    if end < FILE_HEADER_BYTES {
        damage.note(|| {
            format!("the header says that the chunks end at byte {end}, inside the header")
        });
        return Ok(length.min(LARGEST_FILE));
    }
    if end > length {
        damage.note(|| format!("the file is cut short: {length} of {end} bytes are there"));
    }
    Ok(end.min(length))
}

/// Puts the chunks of each thread together, in the order of their numbers.
fn sort_into_streams(chunks: Vec<Chunk>, damage: &mut Damage) -> Vec<(ThreadId, Vec<Chunk>)> {
    let mut threads: BTreeMap<ThreadId, BTreeMap<u32, Chunk>> = BTreeMap::new();
    for chunk in chunks {
        let of_thread = threads.entry(chunk.thread).or_default();
        if let Some(first) = of_thread.get(&chunk.sequence) {
            note_duplicate(&chunk, first, damage);
        } else {
            of_thread.insert(chunk.sequence, chunk);
        }
    }
    threads.into_iter().map(|(thread, chunks)| (thread, chunks.into_values().collect())).collect()
}

fn note_duplicate(second: &Chunk, first: &Chunk, damage: &mut Damage) {
    damage.note(|| {
        format!(
            "chunk {} of thread {} is there twice, at bytes {} and {}: the second is not read",
            first.sequence, first.thread.0, first.offset, second.offset
        )
    });
}

/// Cuts each chunk after its last whole event, and drops chunks that contradict those before.
fn keep_whole_events(chunks: &mut Vec<Chunk>, damage: &mut Damage) {
    let mut next_sequence = 0;
    let mut next_ordinal = 0;
    chunks.retain_mut(|chunk| {
        if chunk.sequence == 0 {
            // The child of a fork goes on counting where its parent was.
            next_ordinal = chunk.first_ordinal;
        }
        if chunk.first_ordinal < next_ordinal {
            damage.note(|| {
                format!("{} repeats the numbers of earlier events: it is not read", name_of(chunk))
            });
            return false;
        }
        if chunk.sequence != next_sequence || chunk.first_ordinal != next_ordinal {
            note_missing(chunk, next_sequence, next_ordinal, damage);
        }
        next_sequence = chunk.sequence.saturating_add(1);
        next_ordinal = chunk.first_ordinal + trim(chunk, damage);
        true
    });
}

fn note_missing(chunk: &Chunk, next_sequence: u32, next_ordinal: u64, damage: &mut Damage) {
    damage.note(|| {
        format!(
            "before {} {} events of {} chunks are missing",
            name_of(chunk),
            chunk.first_ordinal - next_ordinal,
            chunk.sequence.saturating_sub(next_sequence)
        )
    });
}

/// Cuts the chunk after its last whole event and gives the number of its events.
fn trim(chunk: &mut Chunk, damage: &mut Damage) -> u64 {
    let mut events = 0;
    let mut damaged = 0_u64;
    let mut rest = chunk.words.as_slice();
    while let Some(framed) = frame(rest) {
        damaged += u64::from(framed.action().is_none());
        events += 1;
        rest = framed.rest;
    }
    let whole = chunk.words.len() - rest.len();
    note_bad_rest(chunk, whole, damage);
    if damaged > 0 {
        damage.note(|| format!("{damaged} events of {} make no sense", name_of(chunk)));
    }
    chunk.words.truncate(whole);
    chunk.words.shrink_to_fit();
    events
}

fn note_bad_rest(chunk: &Chunk, whole: usize, damage: &mut Damage) {
    if chunk.words[whole..].iter().all(|&word| word == 0) {
        return;
    }
    damage.note(|| {
        format!(
            "{} is damaged after byte {} of the file: the rest of the chunk is not read",
            name_of(chunk),
            chunk.offset
                + unpick_events::file::CHUNK_HEADER_BYTES
                + 8 * (whole - chunk.gained) as u64
        )
    });
}

fn name_of(chunk: &Chunk) -> String {
    format!("chunk {} of thread {}", chunk.sequence, chunk.thread.0)
}

fn cannot_open(path: &Path, error: &io::Error) -> Problem {
    Problem::usage("the recording cannot be opened")
        .at("file", path.display())
        .why(error)
        .next("look at the runs there are: ls .unpick/runs")
}

fn cannot_read(path: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("the recording cannot be read")
        .at("file", path.display())
        .why(error)
        .next("check the disk, or copy the file to another one")
}

fn not_a_file(path: &Path) -> Problem {
    Problem::usage("the recording cannot be read: it is not a file")
        .at("file", path.display())
        .why("a recording is one file per process, named PROCESS-NUMBER.events")
        .next("name a run folder or a file that ends in .events")
}

fn too_large(path: &Path, bytes: u64) -> Problem {
    Problem::usage(format!("the recording is too large: {bytes} bytes"))
        .at("file", path.display())
        .why(format!("this build reads recordings of at most {LARGEST_FILE} bytes"))
        .next("record again with a lower limit: unpick record --limit 4GiB -- PROGRAM")
}
