//! Builds the communication graph of one process, access by access.
//!
//! Takes   accesses in the order they happened, locations and code by number.
//! Gives   nodes and edges with their times, and for every access site whether the access before was another thread's.
//! Cost    no memory per access: what is known of a location grows with the threads that touch it.

use unpick_events::Context;
use unpick_events::access::PastKind;

use super::context::{CommunicationContext, Happening};
use super::draft::{DraftGraph, PastAccess};
use super::{GraphOptions, SeenAccess};

/// Edges from a location that wait for their source's thread to come back.
const MOST_OPEN: usize = 8;

/// An access to bytes that threads share.
#[derive(Debug, Clone, Copy)]
pub struct SharedAccess<'a> {
    pub thread: u16,
    pub site: u32,
    pub stack: Context,
    pub kind: PastKind,
    /// Numbers of all locations it touches.
    pub locations: &'a [u32],
}

/// What is known of a location.
#[derive(Debug, Clone, Default)]
struct Metadata {
    last_write: Option<PastAccess>,
    /// Who wrote last before that, and until when.
    former_writer: Option<(u16, u32)>,
    /// Threads that have read what is there.
    sharers: Vec<u16>,
    /// Threads that have accessed it since anybody else wrote.
    up_to_date: Vec<u16>,
    last_access: Option<PastAccess>,
    /// The last access of each thread.
    last_accesses: Vec<PastAccess>,
    /// Edges from here whose source's thread has not come back yet.
    open_edges: Vec<(u16, u32)>,
}

/// What an access did to the contexts of threads.
#[derive(Debug, Default)]
struct Told {
    communicates: bool,
    others: Vec<u16>,
}

/// Builds a graph.
#[derive(Debug)]
pub struct GraphBuilder {
    options: GraphOptions,
    time: u32,
    locations: Vec<Metadata>,
    contexts: Vec<CommunicationContext>,
    pub(super) graph: DraftGraph,
    /// By site: whether an access came after one of its own thread, and after one of another.
    seen: Vec<[bool; 2]>,
    /// Of the present access: kept for its memory.
    told: Told,
}

impl GraphBuilder {
    pub fn new(options: GraphOptions) -> GraphBuilder {
        GraphBuilder {
            options,
            time: 0,
            locations: Vec::new(),
            contexts: Vec::new(),
            graph: DraftGraph::default(),
            seen: Vec::new(),
            told: Told::default(),
        }
    }

    /// Takes in the next access. Says when it happened.
    pub fn take_in(&mut self, access: &SharedAccess<'_>) -> u32 {
        self.time += 1;
        let now = self.now(access);
        self.told.communicates = false;
        self.told.others.clear();
        for &location in access.locations {
            let metadata = at(&mut self.locations, location as usize);
            if let Some(previous) = metadata.last_access {
                let remote = previous.thread != now.thread;
                at(&mut self.seen, access.site as usize)[usize::from(remote)] = true;
            }
            let (options, graph, told) = (self.options, &mut self.graph, &mut self.told);
            Meeting { options, now, location, metadata, graph, told }.take_in();
        }
        self.tell(now);
        self.time
    }

    /// What was seen of accesses by their sites alone.
    pub fn seen(&self) -> impl Iterator<Item = SeenAccess> {
        self.seen.iter().zip(0..).flat_map(|(seen, site)| {
            let both = [false, true].map(|remote| SeenAccess { site, remote });
            both.into_iter().filter(|access| seen[usize::from(access.remote)])
        })
    }

    fn now(&mut self, access: &SharedAccess<'_>) -> PastAccess {
        let SharedAccess { thread, site, kind, stack, .. } = *access;
        let context = *at(&mut self.contexts, thread.into());
        let node = self.graph.node(site, context);
        PastAccess { thread, kind, time: self.time, stack, node }
    }

    fn tell(&mut self, now: PastAccess) {
        let (local, remote) = match now.is_write() {
            true => (Happening::LocalWrite, Happening::RemoteWrite),
            false => (Happening::LocalRead, Happening::RemoteRead),
        };
        if self.told.communicates {
            let context = at(&mut self.contexts, now.thread.into());
            *context = context.with(local);
        }
        for &other in &self.told.others {
            let context = at(&mut self.contexts, other.into());
            *context = context.with(remote);
        }
    }
}

/// An access meets what was before at a location.
struct Meeting<'b> {
    options: GraphOptions,
    now: PastAccess,
    location: u32,
    metadata: &'b mut Metadata,
    graph: &'b mut DraftGraph,
    told: &'b mut Told,
}

impl Meeting<'_> {
    fn take_in(&mut self) {
        self.note_previous();
        self.come_back();
        match self.now.is_write() {
            true => self.write(),
            false => self.read(),
        }
        note_last(&mut self.metadata.last_accesses, self.now);
    }

    /// An access after one of another thread, one of them a write: both may stand beside an edge, though neither be part of one.
    fn note_previous(&mut self) {
        let now = self.now;
        let Some(previous) = self.metadata.last_access.replace(now) else { return };
        if previous.thread != now.thread && (previous.is_write() || now.is_write()) {
            self.graph.note(previous, self.location, false);
            self.graph.note(now, self.location, false);
        }
    }

    /// Edges from this thread learn what it does after their sinks.
    fn come_back(&mut self) {
        let now = self.now;
        if self.metadata.open_edges.iter().all(|(thread, _)| *thread != now.thread) {
            return;
        }
        self.graph.note(now, self.location, false);
        let graph = &mut *self.graph;
        self.metadata.open_edges.retain(|&(thread, edge)| {
            let is_own = thread == now.thread;
            if is_own {
                graph.come_back(edge, now.node);
            }
            !is_own
        });
    }

    fn read(&mut self) {
        let thread = self.now.thread;
        let is_further = !insert(&mut self.metadata.up_to_date, thread);
        if self.takes_itself_for_last() || (self.options.first_read_only && is_further) {
            return;
        }
        if let Some(write) = self.metadata.last_write {
            self.told.communicates = true;
            insert(&mut self.told.others, write.thread);
            self.communicate(write);
        }
        insert(&mut self.metadata.sharers, thread);
    }

    fn write(&mut self) {
        self.metadata.up_to_date.clear();
        self.metadata.up_to_date.push(self.now.thread);
        if !self.takes_itself_for_last() {
            self.write_after_others();
        } else if self.options.first_write_only {
            return;
        }
        self.metadata.last_write = Some(self.now);
    }

    fn write_after_others(&mut self) {
        let writer = self.now.thread;
        for sharer in self.metadata.sharers.drain(..).filter(|&sharer| sharer != writer) {
            self.told.communicates = true;
            insert(&mut self.told.others, sharer);
        }
        if let Some(write) = self.metadata.last_write {
            self.told.communicates = true;
            self.metadata.former_writer = Some((write.thread, self.now.time));
            self.communicate(write);
        }
    }

    /// Whether a thread finds itself to be the last writer: if it is, or if it looks without a lock at what it knew.
    fn takes_itself_for_last(&self) -> bool {
        let now = self.now;
        let is_last = self.metadata.last_write.is_some_and(|write| write.thread == now.thread);
        let seems = self.metadata.former_writer.is_some_and(|(thread, until)| {
            thread == now.thread && now.time - until <= self.options.racy_lookup
        });
        is_last || seems
    }

    fn communicate(&mut self, write: PastAccess) {
        let now = self.now;
        let before = self.metadata.last_accesses.iter().find(|past| past.thread == now.thread);
        let before = before.filter(|past| past.time < write.time).copied();
        if let Some(edge) = self.graph.communicate(write, now, before, self.location) {
            open(&mut self.metadata.open_edges, (write.thread, edge));
        }
    }
}

/// What has a number, begun where there was nothing.
fn at<T: Default>(things: &mut Vec<T>, number: usize) -> &mut T {
    if number >= things.len() {
        things.resize_with(number + 1, T::default);
    }
    &mut things[number]
}

/// Who does not come back for long is forgotten.
fn open(edges: &mut Vec<(u16, u32)>, edge: (u16, u32)) {
    if edges.contains(&edge) {
        return;
    }
    if edges.len() >= MOST_OPEN {
        edges.remove(0);
    }
    edges.push(edge);
}

/// Keeps the last access of each thread.
fn note_last(last: &mut Vec<PastAccess>, access: PastAccess) {
    match last.iter_mut().find(|past| past.thread == access.thread) {
        Some(past) => *past = access,
        None => last.push(access),
    }
}

/// Puts a thread into a small set; says whether it was not there.
fn insert(set: &mut Vec<u16>, thread: u16) -> bool {
    let is_new = !set.contains(&thread);
    if is_new {
        set.push(thread);
    }
    is_new
}
