//! Reads all Rust files, by several threads; what has not changed since an earlier time is not parsed again.
//!
//! Takes   paths, in order; the cache.      Gives  access sets in the order of the paths, whoever read them.
//! Misses  files that are nested deeply.
//! Cost    a file is parsed if it has changed, or if something has that it asks for of the types of all files; twice if there is no
//!         [`ROOM`] for its syntax tree.
//!
//! Two steps, because what a body touches depends on the types of all files. First each file's outline, made anew or known
//! for its bytes; then its access sets, made anew or known, if the types would still answer what they were asked then. Syntax
//! trees cannot leave their thread, so who parsed a file in the first step reads its bodies in the second. Trees are large,
//! and all would have to wait for the last outline: those for which there is no room are dropped, and made again.

#[cfg(test)]
mod tests;
mod thread;

use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{Builder, ScopedJoinHandle};

use super::cache::Cache;
use super::{Request, Sources};
use crate::access_sets::FileSets;
use crate::access_sets::rust::{Outline, Reliance, Types, tell_apart};
use thread::Thread;

/// Of each thread: enough for the deepest file that is read, and then some.
const STACK: usize = 256 << 20;

/// Bytes of sources whose syntax trees are kept for the second step. What is kept of them has about twenty times as many.
const ROOM: usize = 48 << 20;

/// Adds the access sets of all files to the sources.
pub fn read_all(request: &Request<'_>, files: &[PathBuf], cache: &Cache, sources: &mut Sources) {
    read_all_with(ROOM, request, files, cache, sources);
}

fn read_all_with(
    room: usize,
    request: &Request<'_>,
    files: &[PathBuf],
    cache: &Cache,
    sources: &mut Sources,
) {
    let (next, steps) = Default::default();
    let reading = Reading { request, files, cache, room: Room::of(room), next, steps };
    let (code_base, read) = match reading.read() {
        Ok(read) => read,
        Err(error) => {
            let why = format!("Rust is not read: no thread can be started: {error}");
            return sources.missing.push(why);
        }
    };
    for (path, look) in files.iter().zip(&code_base.looks) {
        let trouble = look.outline.trouble.iter();
        sources.missing.extend(trouble.map(|why| format!("{}: {why}", path.display())));
    }
    sources.files_unchanged += code_base.unchanged;
    let whole = |file: Read| code_base.looks[file.at].outline.completed(file.sets);
    let mut sets: Vec<FileSets> = read.into_iter().map(whole).collect();
    tell_apart(&mut sets);
    sources.lines += sets.iter().map(|sets| sets.lines).sum::<usize>();
    sources.sets.extend(sets);
}

/// Gives each number to one thread only.
#[derive(Default)]
struct Counter(AtomicUsize);

impl Counter {
    fn next(&self) -> usize {
        self.0.fetch_add(1, Relaxed)
    }

    fn skip(&self, numbers: usize) {
        self.0.fetch_add(numbers, Relaxed);
    }
}

/// What is left of the bytes whose syntax trees may be kept.
struct Room(AtomicUsize);

impl Room {
    fn of(bytes: usize) -> Self {
        Self(AtomicUsize::new(bytes))
    }

    /// Whether there was enough left.
    fn take(&self, bytes: usize) -> bool {
        self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(bytes)).is_ok()
    }
}

/// What the first step knows of a file.
struct Look {
    outline: Outline,
    /// Of its bytes.
    key: u64,
    /// If no thread has its syntax tree, and somebody may need it.
    bytes: Option<Vec<u8>>,
    /// If it was known.
    earlier: Option<Earlier>,
}

/// What came of a file that has not changed.
struct Earlier {
    sets: FileSets,
    /// The sets are as they were if it holds.
    relies_on: Reliance,
}

/// What came of a file.
struct Read {
    at: usize,
    /// Without what its outline says.
    sets: FileSets,
}

/// What the second step must know: all that the first found out.
struct CodeBase {
    looks: Vec<Look>,
    types: Types,
    /// Files that need no second step, because they and what they rely on are as they were.
    unchanged: usize,
    /// File to read if nobody has its syntax tree.
    next: Counter,
}

impl CodeBase {
    /// With the files that need no second step.
    fn of(mut looks: Vec<Look>) -> (Self, Vec<Read>) {
        let types = Types::of_outlines(looks.iter().map(|look| &look.outline));
        let (mut unchanged, mut read) = (0, Vec::new());
        for (at, look) in looks.iter_mut().enumerate() {
            let is_lost = look.outline.is_lost;
            let is_same = |earlier: &mut Earlier| is_lost || earlier.relies_on.holds_for(&types);
            if let Some(earlier) = look.earlier.take_if(is_same) {
                unchanged += 1;
                look.bytes = None;
                read.extend((!is_lost).then_some(Read { at, sets: earlier.sets }));
            }
        }
        (Self { looks, types, unchanged, next: Counter::default() }, read)
    }

    /// Files of which nothing can be read: there is no second step for them, either.
    fn lost(&self) -> usize {
        self.looks.iter().filter(|look| look.outline.is_lost).count()
    }
}

/// What all threads share.
struct Reading<'a> {
    request: &'a Request<'a>,
    files: &'a [PathBuf],
    cache: &'a Cache,
    room: Room,
    /// File to look at.
    next: Counter,
    /// Two per file.
    steps: Counter,
}

impl Reading<'_> {
    /// Both steps, by several threads; fails if not even one can be started. The files that could be read, in order.
    fn read(&self) -> std::io::Result<(Arc<CodeBase>, Vec<Read>)> {
        let (found, looks) = channel();
        std::thread::scope(|scope| {
            let (mut threads, mut second_step) = (Vec::new(), Vec::new());
            for _ in 0..self.request.jobs.clamp(1, self.files.len().max(1)) {
                let (go_on, may_go_on) = channel();
                let found = found.clone();
                let life = move || Thread::new(self).live(found, &may_go_on);
                match Builder::new().stack_size(STACK).spawn_scoped(scope, life) {
                    Ok(thread) => threads.push(thread),
                    // Fewer threads do it, too.
                    Err(error) if threads.is_empty() => return Err(error),
                    Err(_) => break,
                }
                second_step.push(go_on);
            }
            // The first step is over when nobody can find anything more.
            drop(found);
            let (code_base, mut read) = CodeBase::of(in_order(looks));
            self.steps.skip(read.len() + code_base.lost());
            let code_base = Arc::new(code_base);
            for go_on in second_step {
                // A file is missing if its thread panicked, and that is told when it is joined.
                if code_base.looks.len() == self.files.len() {
                    let _ = go_on.send(code_base.clone());
                }
            }
            read.extend(threads.into_iter().flat_map(joined));
            read.sort_by_key(|file| file.at);
            Ok((code_base, read))
        })
    }

    fn name(&self, at: usize) -> String {
        self.files[at].display().to_string()
    }

    fn tell_progress(&self) {
        let steps = self.steps.next() + 1;
        (self.request.progress)(steps / 2, self.files.len());
    }
}

fn in_order(looks: Receiver<(usize, Look)>) -> Vec<Look> {
    let mut looks: Vec<(usize, Look)> = looks.into_iter().collect();
    looks.sort_by_key(|(at, _)| *at);
    looks.into_iter().map(|(_, look)| look).collect()
}

fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}
