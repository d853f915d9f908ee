//! Finds the chunks of a file and loads what they hold.
//!
//! Takes   a source and where its chunks end.      Gives  chunks whose headers make sense, with their words.
//! Misses  a chunk whose header is damaged: the search goes on at the next multiple of 4096.
//! Cost    one pass over the bytes; an untouched tail of a chunk (a hole in the file) is not kept in memory.

use std::io;

use unpick_events::ThreadId;
use unpick_events::file::{
    CHUNK_ALIGNMENT, CHUNK_HEADER_BYTES, CHUNK_MAGIC, FILE_HEADER_BYTES, chunk_field,
};
use unpick_events::header::MAX_WORDS;

use crate::damage::Damage;
use crate::expand::{Expanded, expand};
use crate::file_header::{u32_at, u64_at};
use crate::source::Source;

/// How much is read at once. Longer than any event, so that a piece of nothing but zeros holds the
/// zero word that ends the stream.
const PIECE_BYTES: usize = 64 * 1024;

/// No thread records more events than this: it would take years.
const MOST_EVENTS: u64 = 1 << 48;

/// A stretch of one thread's stream.
#[derive(Debug)]
pub struct Chunk {
    pub thread: ThreadId,
    pub sequence: u32,
    pub offset: u64,
    pub first_ordinal: u64,
    /// The words after the chunk header, every event in full.
    pub words: Vec<u64>,
    /// How many more these are than in the file.
    pub gained: usize,
}

/// All chunks between the file header and `end`, in the order of the file.
pub fn load_chunks<S: Source + ?Sized>(
    source: &S,
    end: u64,
    damage: &mut Damage,
) -> io::Result<Vec<Chunk>> {
    let mut chunks = Vec::new();
    let mut lost_from = None;
    let mut search = Search::new(source, end);
    while let Some(header) = search.next_aligned()? {
        match ChunkHeader::parse(&header, search.offset, end) {
            Some(found) => {
                note_gap(lost_from.take(), search.offset, damage);
                let words = load_words(source, &found, search.offset, end, damage)?;
                chunks.push(found.into_chunk(search.offset, words));
                search.offset = search.offset.saturating_add(u64::from(found.bytes));
            }
            None => {
                if header != [0; HEADER] {
                    lost_from.get_or_insert(search.offset);
                }
                search.offset += CHUNK_ALIGNMENT;
            }
        }
    }
    note_gap(lost_from, end, damage);
    Ok(chunks)
}

fn note_gap(from: Option<u64>, to: u64, damage: &mut Damage) {
    if let Some(from) = from {
        damage.note(|| format!("no chunk can be recognised in bytes {from} to {to} of the file"));
    }
}

const HEADER: usize = CHUNK_HEADER_BYTES as usize;

#[derive(Debug, Clone, Copy)]
struct ChunkHeader {
    thread: ThreadId,
    sequence: u32,
    bytes: u32,
    first_ordinal: u64,
}

impl ChunkHeader {
    /// The header, if it can be one that stands at `offset` of a file that ends at `end`.
    fn parse(bytes: &[u8; HEADER], offset: u64, end: u64) -> Option<ChunkHeader> {
        let thread = u16::try_from(u32_at(bytes, chunk_field::THREAD)).ok()?;
        let size = u32_at(bytes, chunk_field::BYTES);
        let possible = u32_at(bytes, chunk_field::MAGIC) == CHUNK_MAGIC
            && u64_at(bytes, chunk_field::OFFSET) == offset
            && thread != 0
            && size != 0
            && u64::from(size).is_multiple_of(CHUNK_ALIGNMENT)
            && u64_at(bytes, chunk_field::FIRST_ORDINAL) < MOST_EVENTS
            && offset < end;
        possible.then(|| ChunkHeader {
            thread: ThreadId(thread),
            sequence: u32_at(bytes, chunk_field::SEQUENCE),
            bytes: size,
            first_ordinal: u64_at(bytes, chunk_field::FIRST_ORDINAL),
        })
    }

    fn into_chunk(self, offset: u64, words: Vec<u64>) -> Chunk {
        let ChunkHeader { thread, sequence, first_ordinal, .. } = self;
        let Expanded { words, gained } = expand(words);
        Chunk { thread, sequence, offset, first_ordinal, words, gained }
    }
}

/// Reads the words of a chunk up to its end, or to where it is certainly empty.
fn load_words<S: Source + ?Sized>(
    source: &S,
    header: &ChunkHeader,
    offset: u64,
    end: u64,
    damage: &mut Damage,
) -> io::Result<Vec<u64>> {
    let chunk_end = offset + u64::from(header.bytes);
    if chunk_end > end {
        damage.note(|| {
            format!(
                "chunk {} of thread {} reaches beyond the end of the file",
                header.sequence, header.thread.0
            )
        });
    }
    let mut words = Vec::new();
    let mut piece = [0; PIECE_BYTES];
    let mut at = offset + CHUNK_HEADER_BYTES;
    let end = chunk_end.min(end);
    while at < end {
        let wanted = (end - at).min(PIECE_BYTES as u64) as usize;
        let got = source.read_up_to(at, &mut piece[..wanted])?;
        if got == PIECE_BYTES && piece.iter().all(|&byte| byte == 0) {
            // An event that began before may still end in zeros of this piece.
            words.resize(words.len() + MAX_WORDS, 0);
            break;
        }
        words.extend(piece[..got].chunks_exact(8).map(|bytes| u64_at(bytes, 0)));
        at += wanted as u64;
    }
    Ok(words)
}

/// Looks at one place of the file after the other; reads ahead, so that a long damaged stretch is
/// passed quickly.
struct Search<'s, S: ?Sized> {
    source: &'s S,
    offset: u64,
    end: u64,
    buffer: Vec<u8>,
    buffer_offset: u64,
}

impl<'s, S: Source + ?Sized> Search<'s, S> {
    fn new(source: &'s S, end: u64) -> Self {
        Self { source, offset: FILE_HEADER_BYTES, end, buffer: Vec::new(), buffer_offset: 0 }
    }

    /// What stands where a chunk could begin.
    fn next_aligned(&mut self) -> io::Result<Option<[u8; HEADER]>> {
        if self.offset.saturating_add(CHUNK_HEADER_BYTES) > self.end {
            return Ok(None);
        }
        if let Some(header) = self.buffered() {
            return Ok(Some(header));
        }
        self.fill()?;
        Ok(self.buffered())
    }

    fn buffered(&self) -> Option<[u8; HEADER]> {
        let start = usize::try_from(self.offset.checked_sub(self.buffer_offset)?).ok()?;
        self.buffer.get(start..)?.first_chunk().copied()
    }

    fn fill(&mut self) -> io::Result<()> {
        // After a good chunk only its successor's header is wanted; after a miss, read ahead.
        let after_a_miss = self.offset == self.buffer_offset + CHUNK_ALIGNMENT;
        self.buffer.resize(if after_a_miss { PIECE_BYTES } else { HEADER }, 0);
        let got = self.source.read_up_to(self.offset, &mut self.buffer)?;
        self.buffer.truncate(got);
        self.buffer_offset = self.offset;
        Ok(())
    }
}
