//! The recording of one process: a file mapped whole, from which threads take chunks.
//!
//! Takes   a path, a size limit, a mode.   Gives  chunks to write into, stamps, and the live header fields.
//! The mapping is made once at the start: no file descriptor, folder or permission is needed later, so a
//! program that closes all descriptors, changes its root or its user goes on being recorded. Pages are
//! populated chunk by chunk before use: a full disk shows as an error there, never as a SIGBUS in a hook.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering::*};
use unpick_events::file::{self, file_field, lost};

use crate::sys;

/// First chunk of a thread: most threads of a program with many are short.
const FIRST_CHUNK: u64 = 8 << 10;
const LARGEST_CHUNK: u64 = 512 << 10;

/// Default size limit for the chunks of one process.
pub const DEFAULT_LIMIT: u64 = 1 << 30;

/// What is fixed when a recording starts.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    pub limit: u64,
    pub seed: u64,
    pub mode: u64,
}

/// The recording of this process. Without a file it takes no event.
pub struct Recorder {
    base: AtomicPtr<u8>,
    /// Space for chunks ends here (an offset in the file); 0 without a file.
    end: AtomicU64,
    stamps: AtomicU32,
    full: AtomicU32,
}

impl Recorder {
    pub const fn new() -> Self {
        Self {
            base: AtomicPtr::new(core::ptr::null_mut()),
            end: AtomicU64::new(0),
            stamps: AtomicU32::new(0),
            full: AtomicU32::new(0),
        }
    }

    /// Starts recording into a new file at `path` (zero-terminated). Fails if the file exists.
    pub fn start(&self, path: &[u8], settings: Settings) -> Result<(), i32> {
        let flags =
            libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC | libc::O_NOFOLLOW;
        let file = sys::open(path, flags, 0o600)?;
        let answer = self.map_file(file, settings);
        sys::close(file);
        answer
    }

    fn map_file(&self, file: i32, settings: Settings) -> Result<(), i32> {
        let wanted = file::FILE_HEADER_BYTES
            + settings.limit / file::CHUNK_ALIGNMENT * file::CHUNK_ALIGNMENT;
        // Growing a file beyond RLIMIT_FSIZE would raise SIGXFSZ in the program.
        let bytes = wanted.min(
            sys::soft_limit(libc::RLIMIT_FSIZE) / file::CHUNK_ALIGNMENT * file::CHUNK_ALIGNMENT,
        );
        sys::set_length(file, bytes)?;
        let base = sys::map_shared(file, bytes as usize)?;
        if let Err(errno) = make_writable(base, file::FILE_HEADER_BYTES as usize) {
            sys::unmap(base, bytes as usize);
            return Err(errno);
        }
        self.stamps.store(0, Relaxed);
        self.full.store((settings.mode & file::mode::FULL != 0) as u32, Relaxed);
        self.base.store(base, Release);
        self.write_header(settings);
        self.end.store(bytes, Release);
        Ok(())
    }

    fn write_header(&self, settings: Settings) {
        let mut fixed = [0_u8; file::CHECKED_BYTES];
        fixed[..8].copy_from_slice(&file::FILE_MAGIC);
        put(&mut fixed, file_field::VERSION, &file::FORMAT_VERSION.to_le_bytes());
        put(&mut fixed, file_field::HEADER_BYTES, &(file::FILE_HEADER_BYTES as u32).to_le_bytes());
        put(&mut fixed, file_field::PROCESS, &sys::process_number().to_le_bytes());
        put(&mut fixed, file_field::PARENT_PROCESS, &sys::parent_process_number().to_le_bytes());
        put(&mut fixed, file_field::STARTED, &sys::clock(libc::CLOCK_REALTIME).to_le_bytes());
        put(&mut fixed, file_field::LIMIT, &settings.limit.to_le_bytes());
        put(&mut fixed, file_field::SEED, &settings.seed.to_le_bytes());
        put(&mut fixed, file_field::MODE, &settings.mode.to_le_bytes());
        let checksum = file::fnv1a(&fixed);
        let base = self.base.load(Relaxed);
        for (at, byte) in fixed.iter().enumerate() {
            // SAFETY: the header page is mapped and populated; nobody else knows of it yet.
            unsafe { base.add(at).write(*byte) };
        }
        self.set(file_field::CHECKSUM, checksum);
        self.set(file_field::CHUNKS_END, file::FILE_HEADER_BYTES);
    }

    /// Leaves the file to somebody else (after a fork) or stops recording for good.
    pub fn detach(&self) {
        self.end.store(0, Release);
        self.base.store(core::ptr::null_mut(), Release);
    }

    /// Whether events are taken at all.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.end.load(Relaxed) != 0
    }

    /// Whether every access to shared bytes is recorded.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.full.load(Relaxed) != 0
    }

    /// The next stamp. Stamps start at 1.
    #[inline]
    pub fn draw_stamp(&self) -> u32 {
        self.stamps.fetch_add(1, AcqRel).wrapping_add(1)
    }

    pub fn last_stamp(&self) -> u32 {
        self.stamps.load(Relaxed)
    }

    /// A live field of the file header, if there is a file.
    fn field(&self, offset: usize) -> Option<&AtomicU64> {
        let base = self.base.load(Acquire);
        // SAFETY: the header page stays mapped as long as `base` is set, the offsets of `file_field`
        // from 56 on are multiples of 8 inside it, and it is only accessed atomically from here on.
        (!base.is_null()).then(|| unsafe { &*base.add(offset).cast::<AtomicU64>() })
    }

    pub fn set(&self, offset: usize, value: u64) {
        if let Some(field) = self.field(offset) {
            field.store(value, Relaxed);
        }
    }

    pub fn add(&self, offset: usize, value: u64) {
        if let Some(field) = self.field(offset) {
            field.fetch_add(value, Relaxed);
        }
    }

    /// Says that events are missing, and why (`lost::…`).
    pub fn mark_lost(&self, why: u64) {
        if let Some(field) = self.field(file_field::LOST) {
            field.fetch_or(why, Relaxed);
        }
    }

    /// Space for the `sequence`th chunk of a thread, header written; `None` if there is none left.
    pub fn take_chunk(&self, thread: u16, sequence: u32, first_ordinal: u64) -> Option<Chunk> {
        let bytes = (FIRST_CHUNK << (2 * sequence.min(3))).min(LARGEST_CHUNK);
        let offset = self.reserve(bytes)?;
        let start = self.base.load(Acquire).wrapping_add(offset as usize);
        if let Err(errno) = make_writable(start, bytes as usize) {
            self.set(file_field::ERROR, errno as u64);
            self.mark_lost(lost::DISK);
            self.end.store(0, Release);
            return None;
        }
        self.set(file_field::STAMPS, self.last_stamp() as u64);
        let chunk = Chunk { start, bytes: bytes as usize };
        chunk.write_header(thread, sequence, offset, first_ordinal);
        Some(chunk)
    }

    fn reserve(&self, bytes: u64) -> Option<u64> {
        let end = self.end.load(Relaxed);
        if end == 0 {
            return None;
        }
        let next = self.field(file_field::CHUNKS_END)?;
        let taken =
            next.fetch_update(AcqRel, Acquire, |at| (at + bytes <= end).then_some(at + bytes));
        if taken.is_err() {
            self.mark_lost(lost::LIMIT);
            self.end.store(0, Release);
        }
        taken.ok()
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

/// A stretch of the file that belongs to one thread.
#[derive(Debug, Clone, Copy)]
pub struct Chunk {
    pub start: *mut u8,
    pub bytes: usize,
}

impl Chunk {
    fn write_header(&self, thread: u16, sequence: u32, offset: u64, first_ordinal: u64) {
        let mut header = [0_u64; file::CHUNK_HEADER_BYTES as usize / 8];
        header[0] = file::CHUNK_MAGIC as u64 | (thread as u64) << 32;
        header[1] = sequence as u64 | (self.bytes as u64) << 32;
        header[2] = offset;
        header[3] = first_ordinal;
        for (at, word) in header.iter().enumerate() {
            // SAFETY: the chunk is mapped, populated, 4096-aligned and given to this thread alone.
            unsafe { self.start.cast::<u64>().add(at).write(*word) };
        }
    }

    /// The words for events.
    pub fn words(&self) -> (*mut u64, *mut u64) {
        let first = self.start.wrapping_add(file::CHUNK_HEADER_BYTES as usize).cast();
        (first, self.start.wrapping_add(self.bytes).cast())
    }
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

/// Populates pages of the shared mapping, or says why they cannot be had.
fn make_writable(start: *mut u8, bytes: usize) -> Result<(), i32> {
    match sys::populate(start, bytes) {
        // A kernel before 5.14 does not know the request: go on and accept the risk it avoids.
        Err(libc::EINVAL) => Ok(()),
        // EFAULT is what would have been a SIGBUS.
        Err(libc::EFAULT) => Err(libc::ENOSPC),
        answer => answer,
    }
}
