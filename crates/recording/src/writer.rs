//! Writes recordings for tests: of this reader, and of everything that takes recordings.
//!
//! Takes   events in the order they happen.      Gives  the bytes of an event file.
//! Misses  what makes the runtime the runtime: speed, sharing, survival of crashes.
//!
//! ```
//! use unpick_recording::events::{Kind, ThreadId};
//! use unpick_recording::{Recording, writer::{Draft, Writer}};
//!
//! let mut writer = Writer::new();
//! writer.write(ThreadId(1), Draft::access(Kind::Write, 0x1000, 4).site(0x40));
//! writer.write(ThreadId(2), Draft::access(Kind::Read, 0x1000, 4).site(0x80));
//! let recording = Recording::from_bytes(&writer.to_bytes(), "example").unwrap();
//! assert_eq!(recording.events().count(), 2);
//! ```

use std::collections::BTreeMap;

use unpick_events::file::{
    CHECKED_BYTES, CHUNK_HEADER_BYTES, CHUNK_MAGIC, FILE_HEADER_BYTES, FILE_MAGIC, FORMAT_VERSION,
    chunk_field, file_field, fnv1a,
};
use unpick_events::header::{HEADER_WORDS, MAX_WORDS};
use unpick_events::kind::access_flags;
use unpick_events::{Address, Context, Header, Kind, Past, Site, ThreadId};

const DEFAULT_CHUNK_BYTES: u64 = 4096;

/// An event to be written.
#[derive(Debug, Clone)]
pub struct Draft {
    header: Header,
    payload: Vec<u64>,
    stamp: StampWish,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StampWish {
    Next,
    AsBefore,
    None,
}

impl Draft {
    pub fn new(kind: Kind) -> Draft {
        let header = Header {
            kind,
            words: HEADER_WORDS,
            flags: 0,
            stamp: 0,
            object: Address(0),
            unit: 0,
            slot: 0,
            site: Site(0),
            context: Context(0),
        };
        Draft { header, payload: Vec::new(), stamp: StampWish::Next }
    }

    /// A `Read`, `Write` or `ReadWrite` of `length` bytes.
    pub fn access(kind: Kind, address: u64, length: u64) -> Draft {
        let draft = Draft::new(kind).object(address);
        match u8::try_from(length) {
            Ok(unit) => draft.unit(unit),
            Err(_) => draft.unit(1).flags(access_flags::LONG).word(length),
        }
    }

    /// `count` accesses of `unit` bytes each, `step` bytes apart.
    pub fn strided(kind: Kind, address: u64, unit: u8, count: u32, step: i32) -> Draft {
        let word = u64::from(count) | u64::from(step as u32) << 32;
        Draft::new(kind).object(address).unit(unit).flags(access_flags::LONG).word(word)
    }

    #[must_use]
    pub fn object(mut self, object: u64) -> Draft {
        self.header.object = Address(object);
        self
    }

    #[must_use]
    pub fn unit(mut self, unit: u8) -> Draft {
        self.header.unit = unit;
        self
    }

    /// Adds to the flags.
    #[must_use]
    pub fn flags(mut self, flags: u16) -> Draft {
        self.header.flags |= flags;
        self
    }

    #[must_use]
    pub fn site(mut self, site: u32) -> Draft {
        self.header.site = Site(site);
        self
    }

    #[must_use]
    pub fn context(mut self, context: u32) -> Draft {
        self.header.context = Context(context);
        self
    }

    /// Without a stamp: it crossed no thread.
    #[must_use]
    pub fn unstamped(mut self) -> Draft {
        self.stamp = StampWish::None;
        self
    }

    /// A part of the access before: has its stamp.
    #[must_use]
    pub fn continued(mut self) -> Draft {
        self.stamp = StampWish::AsBefore;
        self.flags(access_flags::CONTINUED)
    }

    #[must_use]
    pub fn word(mut self, word: u64) -> Draft {
        self.payload.push(word);
        self
    }

    #[must_use]
    pub fn past(mut self, past: Past) -> Draft {
        self.payload.extend(past.pack());
        self
    }

    #[must_use]
    pub fn text(mut self, text: &str) -> Draft {
        self.payload.push(text.len() as u64);
        self.payload.extend(text.as_bytes().chunks(8).map(|bytes| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        }));
        self
    }

    #[must_use]
    pub fn call_sites(mut self, sites: &[u32]) -> Draft {
        self.payload.extend(
            sites.chunks(2).map(|pair| {
                u64::from(pair[0]) | u64::from(pair.get(1).copied().unwrap_or(0)) << 32
            }),
        );
        self
    }
}

/// Builds an event file in memory.
#[derive(Debug, Clone)]
pub struct Writer {
    chunk_bytes: u64,
    stamps: u32,
    threads: BTreeMap<ThreadId, WrittenThread>,
    /// In the order they were begun: that is their order in the file.
    chunks: Vec<WrittenChunk>,
    header: [u8; FILE_HEADER_BYTES as usize],
}

#[derive(Debug, Clone, Default)]
struct WrittenThread {
    events: u64,
    sequence: u32,
    chunk: Option<usize>,
}

#[derive(Debug, Clone)]
struct WrittenChunk {
    thread: ThreadId,
    sequence: u32,
    first_ordinal: u64,
    words: Vec<u64>,
}

impl Default for Writer {
    fn default() -> Self {
        Self::new()
    }
}

impl Writer {
    pub fn new() -> Writer {
        let mut writer = Writer {
            chunk_bytes: DEFAULT_CHUNK_BYTES,
            stamps: 0,
            threads: BTreeMap::new(),
            chunks: Vec::new(),
            header: [0; FILE_HEADER_BYTES as usize],
        };
        writer.header[file_field::MAGIC..][..8].copy_from_slice(&FILE_MAGIC);
        writer.set_u32(file_field::VERSION, FORMAT_VERSION);
        writer.set_u32(file_field::HEADER_BYTES, FILE_HEADER_BYTES as u32);
        writer.set_u32(file_field::PROCESS, 4242);
        writer.set_u32(file_field::PARENT_PROCESS, 4241);
        writer.set(file_field::LIMIT, 1 << 30);
        writer.set(file_field::ORDERLY_EXIT, 1);
        writer
    }

    /// The size of each chunk, a multiple of 4096 that is larger than any event (8192 and more; 4096
    /// does for short ones).
    #[must_use]
    pub fn with_chunks_of(mut self, bytes: u64) -> Writer {
        self.chunk_bytes = bytes;
        self
    }

    /// Sets a u64 of the file header, by its offset in `file_field`.
    pub fn set(&mut self, field: usize, value: u64) {
        self.header[field..field + 8].copy_from_slice(&value.to_le_bytes());
    }

    fn set_u32(&mut self, field: usize, value: u32) {
        self.header[field..field + 4].copy_from_slice(&value.to_le_bytes());
    }

    /// How many events `thread` has: the ordinal of a past access it makes now.
    pub fn events_of(&self, thread: ThreadId) -> u32 {
        self.threads.get(&thread).map_or(0, |thread| thread.events as u32)
    }

    /// The thread has recorded this many events elsewhere: before the fork that made this process.
    pub fn begin_at(&mut self, thread: ThreadId, ordinal: u64) {
        self.threads.entry(thread).or_default().events = ordinal;
    }

    /// Appends an event to the stream of `thread`.
    ///
    /// # Panics
    /// If the event is longer than events or chunks may be.
    pub fn write(&mut self, thread: ThreadId, draft: Draft) {
        let Draft { mut header, payload, stamp } = draft;
        self.stamps += u32::from(stamp == StampWish::Next);
        header.stamp = if stamp == StampWish::None { 0 } else { self.stamps };
        header.words = HEADER_WORDS + payload.len();
        assert!(header.words <= MAX_WORDS, "an event has at most {MAX_WORDS} words");
        let words = [&header.pack()[..], &payload].concat();
        self.append(thread, &words);
    }

    /// Appends words as one event.
    fn append(&mut self, thread: ThreadId, words: &[u64]) {
        let chunk = self.chunk_with_room(thread, words.len());
        self.chunks[chunk].words.extend_from_slice(words);
        self.threads.entry(thread).or_default().events += 1;
    }

    fn chunk_with_room(&mut self, id: ThreadId, words: usize) -> usize {
        let room = (self.chunk_bytes - CHUNK_HEADER_BYTES) as usize / 8;
        assert!(words <= room, "an event must fit into a chunk");
        let thread = self.threads.entry(id).or_default();
        let fits = |&chunk: &usize| self.chunks[chunk].words.len() + words <= room;
        if let Some(chunk) = thread.chunk.filter(fits) {
            return chunk;
        }
        let chunk = WrittenChunk {
            thread: id,
            sequence: thread.sequence,
            first_ordinal: thread.events,
            words: Vec::new(),
        };
        self.chunks.push(chunk);
        thread.sequence += 1;
        thread.chunk = Some(self.chunks.len() - 1);
        self.chunks.len() - 1
    }

    /// The bytes of the file as they are now.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut writer = self.clone();
        let end = FILE_HEADER_BYTES + self.chunk_bytes * self.chunks.len() as u64;
        writer.set(file_field::CHUNKS_END, end);
        writer.set(file_field::THREADS, self.threads.len() as u64);
        writer.set(file_field::STAMPS, u64::from(self.stamps));
        writer.set(file_field::CHECKSUM, fnv1a(&writer.header[..CHECKED_BYTES]));
        let mut bytes = writer.header.to_vec();
        for chunk in &self.chunks {
            self.append_chunk(&mut bytes, chunk);
        }
        bytes
    }

    fn append_chunk(&self, bytes: &mut Vec<u8>, chunk: &WrittenChunk) {
        let start = bytes.len();
        let mut header = [0; CHUNK_HEADER_BYTES as usize];
        header[chunk_field::MAGIC..][..4].copy_from_slice(&CHUNK_MAGIC.to_le_bytes());
        header[chunk_field::THREAD..][..2].copy_from_slice(&chunk.thread.0.to_le_bytes());
        header[chunk_field::SEQUENCE..][..4].copy_from_slice(&chunk.sequence.to_le_bytes());
        header[chunk_field::BYTES..][..4].copy_from_slice(&(self.chunk_bytes as u32).to_le_bytes());
        header[chunk_field::OFFSET..][..8].copy_from_slice(&(start as u64).to_le_bytes());
        header[chunk_field::FIRST_ORDINAL..][..8]
            .copy_from_slice(&chunk.first_ordinal.to_le_bytes());
        bytes.extend(header);
        bytes.extend(chunk.words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.resize(start + self.chunk_bytes as usize, 0);
    }
}
