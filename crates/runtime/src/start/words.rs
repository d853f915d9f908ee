//! Payloads with texts in them, put together in one place for the whole process, because they are large.

use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering::*};
use unpick_events::header::{HEADER_WORDS, MAX_WORDS};

const MOST: usize = MAX_WORDS - HEADER_WORDS;
/// Texts are cut off after this many bytes: two of them fit into an event.
pub const LONGEST_TEXT: usize = 3900;

/// Words of a payload. A text is a word with its length, then its bytes in whole words.
pub struct Words {
    words: [u64; MOST],
    count: usize,
}

impl Words {
    const fn new() -> Self {
        Self { words: [0; MOST], count: 0 }
    }

    pub fn clear(&mut self) {
        self.count = 0;
    }

    pub fn push(&mut self, word: u64) {
        if let Some(place) = self.words.get_mut(self.count) {
            *place = word;
            self.count += 1;
        }
    }

    pub fn push_text(&mut self, text: &[u8]) {
        let text = &text[..text.len().min(LONGEST_TEXT)];
        self.push(text.len() as u64);
        for part in text.chunks(8) {
            let mut word = 0;
            for (at, byte) in part.iter().enumerate() {
                word |= (*byte as u64) << (8 * at);
            }
            self.push(word);
        }
    }

    pub fn as_slice(&self) -> &[u64] {
        &self.words[..self.count]
    }
}

/// Something for one user at a time; who comes second goes without.
pub struct Shared<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `try_with` lets one thread at a time reach the value.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    pub const fn new(value: T) -> Self {
        Self { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Runs `action` with the value; `None` if it is in use, be it by the code that this signal handler interrupted.
    pub fn try_with<A>(&self, action: impl FnOnce(&mut T) -> A) -> Option<A> {
        if self.taken.swap(true, Acquire) {
            return None;
        }
        // SAFETY: `taken` was ours to set, so nobody else is here until we clear it.
        let answer = action(unsafe { &mut *self.value.get() });
        self.taken.store(false, Release);
        Some(answer)
    }

    /// In the child after a fork: whoever had it is gone.
    pub fn free_after_fork(&self) {
        self.taken.store(false, Release);
    }
}

pub static WORDS: Shared<Words> = Shared::new(Words::new());
