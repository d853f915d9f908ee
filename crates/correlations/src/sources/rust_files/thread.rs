//! What one thread does: it takes files until there are no more, once for outlines and once for bodies.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use serde::{Deserialize, Serialize};

use super::{CodeBase, Earlier, Look, Read, Reading};
use crate::access_sets::FileSets;
use crate::access_sets::c::hash;
use crate::access_sets::rust::{Outline, Parsed, Reliance, access_sets};
use crate::sources::cache::Kept;

/// What is kept of a file, for its bytes.
#[derive(Serialize, Deserialize)]
struct KnownFile<'a> {
    outline: Cow<'a, Outline>,
    sets: Cow<'a, FileSets>,
    /// Of the types of all files.
    relies_on: Reliance,
}

impl Kept for KnownFile<'static> {
    fn is_sound(&self) -> bool {
        self.sets.is_sound()
    }
}

/// A thread, and the files that it has parsed and kept.
pub struct Thread<'a> {
    reading: &'a Reading<'a>,
    pub(super) parsed: Vec<(usize, Parsed)>,
}

impl<'a> Thread<'a> {
    pub fn new(reading: &'a Reading<'a>) -> Self {
        Self { reading, parsed: Vec::new() }
    }

    /// The first step; and the second, once somebody says what came of the first.
    pub fn live(
        mut self,
        found: Sender<(usize, Look)>,
        may_go_on: &Receiver<Arc<CodeBase>>,
    ) -> Vec<Read> {
        self.look_at_files(&found);
        drop(found);
        may_go_on.recv().map_or_else(|_| Vec::new(), |code_base| self.read_bodies(&code_base))
    }

    fn look_at_files(&mut self, found: &Sender<(usize, Look)>) {
        loop {
            let at = self.reading.next.next();
            let Some(path) = self.reading.files.get(at) else { break };
            let look = self.look_at(at, path);
            self.reading.tell_progress();
            if found.send((at, look)).is_err() {
                break;
            }
        }
    }

    pub(super) fn look_at(&mut self, at: usize, path: &Path) -> Look {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) => {
                let outline = Outline::lost(error);
                return Look { outline, key: 0, bytes: None, earlier: None };
            }
        };
        let key = hash(&bytes);
        let known = self.reading.cache.get::<KnownFile<'static>>(&self.reading.name(at), key);
        if let Some(KnownFile { outline, sets, relies_on }) = known {
            let earlier = Some(Earlier { sets: sets.into_owned(), relies_on });
            return Look { outline: outline.into_owned(), key, bytes: Some(bytes), earlier };
        }
        let (outline, parsed) = Outline::of(&bytes);
        if outline.is_lost {
            self.keep(at, key, &outline, &FileSets::default(), Reliance::default());
        }
        let is_dropped = parsed.is_some() && !self.reading.room.take(bytes.len());
        if !is_dropped {
            self.parsed.extend(parsed.map(|parsed| (at, parsed)));
        }
        Look { outline, key, bytes: is_dropped.then_some(bytes), earlier: None }
    }

    /// The files whose syntax trees this thread has, then of those whose trees nobody has whichever is next.
    fn read_bodies(&mut self, code_base: &CodeBase) -> Vec<Read> {
        let mut read = Vec::new();
        for (at, parsed) in std::mem::take(&mut self.parsed) {
            read.push(self.read_body(at, &parsed, code_base));
            self.reading.tell_progress();
        }
        loop {
            let at = code_base.next.next();
            let Some(look) = code_base.looks.get(at) else { break };
            if let Some(bytes) = &look.bytes {
                let (_, parsed) = Outline::of(bytes);
                read.extend(parsed.map(|parsed| self.read_body(at, &parsed, code_base)));
                forget_texts();
                self.reading.tell_progress();
            }
        }
        read
    }

    fn read_body(&self, at: usize, parsed: &Parsed, code_base: &CodeBase) -> Read {
        let Look { outline, key, .. } = &code_base.looks[at];
        let (sets, relies_on) = access_sets(parsed, &code_base.types, &self.reading.files[at]);
        self.keep(at, *key, outline, &sets, relies_on);
        Read { at, sets }
    }

    fn keep(&self, at: usize, key: u64, outline: &Outline, sets: &FileSets, relies_on: Reliance) {
        let (outline, sets) = (Cow::Borrowed(outline), Cow::Borrowed(sets));
        let known = KnownFile { outline, sets, relies_on };
        self.reading.cache.keep(&self.reading.name(at), key, &known);
    }
}

/// Each text that is parsed stays in memory, for spans to be looked up in; here no more will be.
fn forget_texts() {
    proc_macro2::extra::invalidate_current_thread_spans();
}
