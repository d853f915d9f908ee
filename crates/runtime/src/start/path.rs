//! Paths of our own files: in the run folder, which is remembered for the children of a fork.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicUsize, Ordering::*};

use super::words::Shared;
use crate::sys;

const LONGEST: usize = 4096;

/// The run folder, copied: the program may change its environment.
struct Folder {
    bytes: UnsafeCell<[u8; LONGEST]>,
    length: AtomicUsize,
}

// SAFETY: the bytes are written once, before `length` is set, and only read after.
unsafe impl Sync for Folder {}

static FOLDER: Folder =
    Folder { bytes: UnsafeCell::new([0; LONGEST]), length: AtomicUsize::new(0) };

/// Remembers the run folder. False if the path cannot be used: it must be absolute, because the program may change
/// its working folder, and leave room for a file name.
pub fn remember_folder(path: &[u8]) -> bool {
    if path.first() != Some(&b'/') || path.len() > LONGEST - 64 {
        return false;
    }
    for (at, byte) in path.iter().enumerate() {
        // SAFETY: `at` is inside, and nobody reads before `length` is set below. Volatile, so that this does not become
        // a call of `memcpy`: see RULES.md.
        unsafe { FOLDER.bytes.get().cast::<u8>().add(at).write_volatile(*byte) };
    }
    FOLDER.length.store(path.len(), Release);
    true
}

fn folder() -> &'static [u8] {
    let length = FOLDER.length.load(Acquire);
    // SAFETY: `remember_folder` wrote this many bytes and they do not change any more.
    unsafe { core::slice::from_raw_parts(FOLDER.bytes.get().cast(), length) }
}

/// A text under construction. One for the whole process: it is too large for a small stack.
pub struct Text {
    bytes: [u8; LONGEST],
    length: usize,
}

/// Who needs a path or reads a file of `/proc` does it here.
pub static TEXT: Shared<Text> = Shared::new(Text { bytes: [0; LONGEST], length: 0 });

/// Has `create` make `<run folder>/<process>-<n><ending>` with the first n that is free: where one is taken it answers `EEXIST`. `ending` ends in a zero
/// byte.
pub fn create_first_free(
    ending: &[u8],
    mut create: impl FnMut(&[u8]) -> Result<(), i32>,
) -> Result<(), i32> {
    const MOST_IMAGES: u64 = 10_000;
    let created = TEXT.try_with(|text| {
        text.begin_path();
        let stem = text.length();
        for image in 0..MOST_IMAGES {
            text.cut(stem);
            text.push(b"-");
            text.push_number(image);
            text.push(ending);
            match create(text.as_bytes()) {
                Err(libc::EEXIST) => {}
                answer => return answer,
            }
        }
        Err(libc::EEXIST)
    });
    created.unwrap_or(Err(libc::EBUSY))
}

impl Text {
    /// Begins `<run folder>/<process number>`.
    pub fn begin_path(&mut self) {
        self.length = 0;
        self.push(folder());
        self.push(b"/");
        self.push_number(sys::process_number() as u64);
    }

    /// Appends; what does not fit is cut off, and the file will not be found.
    pub fn push(&mut self, part: &[u8]) {
        for byte in part {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = *byte;
                self.length += 1;
            }
        }
    }

    pub fn push_number(&mut self, number: u64) {
        if number >= 10 {
            self.push_number(number / 10);
        }
        self.push(&[b'0' + (number % 10) as u8]);
    }

    /// Has `fill` write into the whole buffer; it says how much of it counts.
    pub fn fill(&mut self, fill: impl FnOnce(&mut [u8]) -> Result<usize, i32>) -> &mut [u8] {
        self.length = fill(&mut self.bytes).unwrap_or(0).min(LONGEST);
        &mut self.bytes[..self.length]
    }

    pub fn length(&self) -> usize {
        self.length
    }

    pub fn cut(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}
