//! Who has taken words of Rust's locks by an atomic access, and not given them back so far.
//!
//! A thread that has to wait takes such a lock inside std, which is delivered without hooks: that it has the lock is recorded when it returns.
//! The other one gives it back by an atomic access, which is recorded when it has taken effect: so the order of these two events may be the reverse
//! of what happened. Whoever is recorded as taking a word that another still has comes after all that one has done so far.

use rustc_hash::FxHashMap;
use unpick_events::ThreadId;

/// By address. Of words that are no locks it may say anything: nobody asks.
#[derive(Debug, Default)]
pub struct Takers {
    words: FxHashMap<u64, Vec<ThreadId>>,
}

impl Takers {
    pub fn took(&mut self, word: u64, thread: ThreadId) {
        let takers = self.words.entry(word).or_default();
        if !takers.contains(&thread) {
            takers.push(thread);
        }
    }

    pub fn gave(&mut self, word: u64, thread: ThreadId) {
        if let Some(takers) = self.words.get_mut(&word) {
            takers.retain(|taker| *taker != thread);
        }
    }

    /// Those who must have given the word back by now, since another thread has it.
    pub fn take_from(&mut self, word: u64, thread: ThreadId) -> Vec<ThreadId> {
        let mut takers = self.words.remove(&word).unwrap_or_default();
        takers.retain(|taker| *taker != thread);
        takers
    }

    pub fn forget(&mut self, start: u64, end: u64) {
        if end - start < self.words.len() as u64 {
            (start..end).for_each(|word| {
                self.words.remove(&word);
            });
        } else {
            self.words.retain(|word, _| !(start..end).contains(word));
        }
    }
}
