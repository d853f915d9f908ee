//! A growable string that threads share, every method of it atomic. One thread appends it to a page, another one
//! empties it and gives its room back.
//!
//! `append` first asks the other string for its length and then for its characters. Each call holds the lock, both
//! together do not: between them the characters can go.

use std::sync::Mutex;
use std::thread;

use unpick_breakpoint::{Breakpoint, step};

struct Characters {
    count: usize,
    value: Box<[u8]>,
}

struct StringBuffer {
    inner: Mutex<Characters>,
}

impl StringBuffer {
    fn of(text: &str) -> Self {
        let inner = Characters { count: text.len(), value: text.as_bytes().into() };
        Self { inner: Mutex::new(inner) }
    }

    fn length(&self) -> usize {
        let inner = self.inner.lock().unwrap();
        inner.count /* BUG: 1 */
    }

    fn get_chars(&self, from: usize, to: usize, into: &mut Vec<u8>) -> bool {
        let inner = self.inner.lock().unwrap();
        let characters = inner.value.get(from..to); /* BUG: 4 */
        into.extend_from_slice(characters.unwrap_or_default());
        characters.is_some()
    }

    /// Empties the string; the characters' room is given back.
    fn clear_and_trim(&self) {
        let _step = step!(Breakpoint::atomicity("emptied-while-appended", self).intruder());
        let mut inner = self.inner.lock().unwrap();
        inner.count = 0; /* BUG: 2 */
        inner.value = Box::default(); /* BUG: 3 */
    }

    /// Appends all of `other`. False if `other` has no such characters.
    #[cfg(not(feature = "fixed"))]
    fn append(&self, other: &Self) -> bool {
        let length = other.length();
        unpick_breakpoint::trigger!(Breakpoint::atomicity("emptied-while-appended", other).gap());
        self.ensure_capacity(length);
        let mut characters = Vec::with_capacity(length);
        let sound = other.get_chars(0, length, &mut characters);
        self.push(&characters);
        sound
    }

    #[cfg(feature = "fixed")]
    fn append(&self, other: &Self) -> bool {
        self.ensure_capacity(1);
        let characters = {
            let other = other.inner.lock().unwrap();
            other.value[..other.count].to_vec()
        };
        self.push(&characters);
        true
    }

    /// Makes room for so many more characters.
    fn ensure_capacity(&self, more: usize) {
        let mut inner = self.inner.lock().unwrap();
        let mut value = Vec::with_capacity(inner.count + more);
        value.extend_from_slice(&inner.value[..inner.count]);
        value.resize(inner.count + more, b' ');
        inner.value = value.into_boxed_slice();
    }

    fn push(&self, characters: &[u8]) {
        let mut inner = self.inner.lock().unwrap();
        let mut value = inner.value[..inner.count].to_vec();
        value.extend_from_slice(characters);
        inner.count = value.len();
        inner.value = value.into_boxed_slice();
    }
}

/// What both threads have to do before they come to the string.
fn render(rounds: u32) -> u32 {
    let mut hash = 2_166_136_261u32;
    for round in 0..rounds {
        hash = (hash ^ (round & 0xff)).wrapping_mul(16_777_619);
    }
    std::hint::black_box(hash)
}

fn main() {
    let rounds = std::env::args().nth(1).map_or(40_000, |text| text.parse().expect("a number"));
    let page = StringBuffer::of(&"<p>some text that was there before</p>".repeat(1500));
    let paragraph = StringBuffer::of(&"lorem ipsum dolor sit amet ".repeat(20));
    let sound = thread::scope(|threads| {
        let writer = threads.spawn(|| {
            render(rounds);
            page.append(&paragraph)
        });
        threads.spawn(|| {
            render(rounds);
            paragraph.clear_and_trim();
        });
        writer.join().unwrap()
    });
    println!("{} characters on the page", page.length());
    if !sound {
        eprintln!("FAILED: characters were asked for that are not there");
        std::process::exit(1);
    }
    // The string's own methods stay in use in both twins.
    assert!(page.get_chars(0, 3, &mut Vec::new()));
}
