//! The first 4096 bytes of a recording: is it one, can this build read it, what does it say.
//!
//! Takes   the bytes.      Gives  a `FileHeader`, or the reason why not, told as a `Problem`.

use std::path::Path;

use unpick_events::file::{
    CHECKED_BYTES, FILE_MAGIC, FORMAT_VERSION, OLDEST_VERSION, file_field, fnv1a, mode,
};
use unpick_problem::Problem;

/// Bytes of the header that carry fields.
pub const FIELD_BYTES: usize = file_field::ERROR + 8;

/// What the file header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileHeader {
    pub process: u32,
    pub parent_process: u32,
    /// Nanoseconds since 1970.
    pub started: u64,
    /// Bytes the runtime was allowed to use for chunks.
    pub limit: u64,
    pub seed: u64,
    mode: u64,
    /// Where the space given to chunks ends.
    pub chunks_end: u64,
    /// Bits of `unpick_events::file::lost`.
    pub lost: u64,
    pub dropped: u64,
    /// The process left through `exit` or by returning from `main`.
    pub orderly_exit: bool,
    pub threads: u64,
    pub stamps: u64,
    /// Nanoseconds of delays injected.
    pub delayed: u64,
    /// The errno of the first failure to get more space; 0 = none.
    pub error: u64,
}

impl FileHeader {
    /// Every access to shared bytes was recorded.
    pub fn is_full(&self) -> bool {
        self.mode & mode::FULL != 0
    }

    /// Delays were injected.
    pub fn is_perturbed(&self) -> bool {
        self.mode & mode::PERTURBED != 0
    }

    /// Whether these first bytes of a file are of a process that ended while its recorder was starting: nothing is written.
    pub fn is_unwritten(bytes: &[u8]) -> bool {
        bytes.iter().all(|&byte| byte == 0)
    }

    /// Reads the header from the first bytes of the file at `path` (which is only named in problems).
    pub fn parse(bytes: &[u8], path: &Path) -> Result<FileHeader, Problem> {
        check_magic(bytes, path)?;
        let Some(bytes) = bytes.first_chunk::<FIELD_BYTES>() else { return Err(cut_short(path)) };
        check_version(u32_at(bytes, file_field::VERSION), path)?;
        check_sum(bytes, path)?;
        Ok(fields(bytes))
    }
}

fn check_magic(bytes: &[u8], path: &Path) -> Result<(), Problem> {
    if bytes.is_empty() {
        return Err(unreadable("it is empty", path)
            .why("the program was stopped before its recorder had written anything")
            .next("record the program again: unpick record -- PROGRAM"));
    }
    if FileHeader::is_unwritten(bytes) {
        return Err(unreadable("its header was never written", path)
            .why("the program was stopped while its recorder was starting")
            .next("record the program again: unpick record -- PROGRAM"));
    }
    if !bytes.starts_with(&FILE_MAGIC[..bytes.len().min(FILE_MAGIC.len())]) {
        return Err(unreadable("it is not an Unpick recording", path)
            .why("its first eight bytes are not those of an event file")
            .next("name a run folder or a file that ends in .events"));
    }
    Ok(())
}

fn check_version(version: u32, path: &Path) -> Result<(), Problem> {
    if version > FORMAT_VERSION {
        return Err(unreadable(
            format!(
                "it has format {version}, this build reads {OLDEST_VERSION} to {FORMAT_VERSION}"
            ),
            path,
        )
        .why("the program was linked with a newer runtime than this tool")
        .next("rebuild the program with this version (unpick cc …), or install a newer unpick"));
    }
    if version < OLDEST_VERSION {
        return Err(unreadable(
            format!(
                "it has format {version}, this build reads {OLDEST_VERSION} to {FORMAT_VERSION}"
            ),
            path,
        )
        .why("the program was linked with a runtime that is too old for this tool")
        .next("rebuild the program with this version (unpick cc …) and record it again"));
    }
    Ok(())
}

fn check_sum(bytes: &[u8; FIELD_BYTES], path: &Path) -> Result<(), Problem> {
    if fnv1a(&bytes[..CHECKED_BYTES]) == u64_at(bytes, file_field::CHECKSUM) {
        return Ok(());
    }
    Err(unreadable("its header is damaged", path)
        .why("the checksum of the header does not match its bytes")
        .next("copy the file again if it was copied, else record the program again"))
}

fn cut_short(path: &Path) -> Problem {
    unreadable("it is cut short", path)
        .why("it ends inside its header")
        .next("copy the file again if it was copied, else record the program again")
}

fn unreadable(what: impl std::fmt::Display, path: &Path) -> Problem {
    Problem::usage(format!("the recording cannot be read: {what}")).at("file", path.display())
}

fn fields(bytes: &[u8; FIELD_BYTES]) -> FileHeader {
    FileHeader {
        process: u32_at(bytes, file_field::PROCESS),
        parent_process: u32_at(bytes, file_field::PARENT_PROCESS),
        started: u64_at(bytes, file_field::STARTED),
        limit: u64_at(bytes, file_field::LIMIT),
        seed: u64_at(bytes, file_field::SEED),
        mode: u64_at(bytes, file_field::MODE),
        chunks_end: u64_at(bytes, file_field::CHUNKS_END),
        lost: u64_at(bytes, file_field::LOST),
        dropped: u64_at(bytes, file_field::DROPPED),
        orderly_exit: u64_at(bytes, file_field::ORDERLY_EXIT) == 1,
        threads: u64_at(bytes, file_field::THREADS),
        stamps: u64_at(bytes, file_field::STAMPS),
        delayed: u64_at(bytes, file_field::DELAYED),
        error: u64_at(bytes, file_field::ERROR),
    }
}

/// The u32 at `offset`, which lies inside `bytes`.
pub fn u32_at(bytes: &[u8], offset: usize) -> u32 {
    let mut number = [0; 4];
    number.copy_from_slice(&bytes[offset..offset + 4]);
    u32::from_le_bytes(number)
}

/// The u64 at `offset`, which lies inside `bytes`.
pub fn u64_at(bytes: &[u8], offset: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[offset..offset + 8]);
    u64::from_le_bytes(number)
}
