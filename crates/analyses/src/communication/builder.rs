//! Builds the communication graph of one process, access by access.
//!
//! Takes   accesses in the order they happened, locations and code by number.
//! Gives   nodes and edges with their times, and for every access site whether the access before was another thread's.

use rustc_hash::{FxHashMap, FxHashSet};

use super::context::{CommunicationContext, Happening};
use super::{GraphOptions, SeenAccess};

/// More edges than anybody can rank; further ones are counted and left out.
const MOST_EDGES: usize = 1_000_000;

/// An access to bytes that threads share.
#[derive(Debug, Clone, Copy)]
pub struct SharedAccess<'a> {
    pub thread: u16,
    pub site: u32,
    pub is_write: bool,
    /// Numbers of all locations it touches.
    pub locations: &'a [u32],
}

/// A node while the graph is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftNode {
    pub site: u32,
    pub context: CommunicationContext,
    /// When it last happened, as part of an edge: number of the access among all.
    pub time: u32,
    /// Of that time.
    pub thread: u16,
    pub is_write: bool,
    pub location: u32,
    /// It is part of an edge; else only a neighbour of one.
    pub communicates: bool,
}

/// What is known of an edge of when it last occurred, and how often it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DraftEdge {
    pub source_time: u32,
    pub sink_time: u32,
    pub source_thread: u16,
    pub sink_thread: u16,
    pub count: u64,
    /// The node of the sink's thread before the source at the same location.
    pub before: Option<u32>,
    /// The node of the source's thread after the sink at the same location.
    pub after: Option<u32>,
}

/// An access to a location that has happened.
#[derive(Debug, Clone, Copy)]
struct PastAccess {
    thread: u16,
    site: u32,
    context: CommunicationContext,
    time: u32,
    is_write: bool,
}

impl PastAccess {
    fn node(self, location: u32, communicates: bool) -> DraftNode {
        let PastAccess { thread, site, context, time, is_write } = self;
        DraftNode { site, context, time, thread, is_write, location, communicates }
    }
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
    open_edges: Vec<(u16, (u32, u32))>,
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
    node_numbers: FxHashMap<(u32, CommunicationContext), u32>,
    pub nodes: Vec<DraftNode>,
    pub edges: FxHashMap<(u32, u32), DraftEdge>,
    pub seen: FxHashSet<SeenAccess>,
    /// How often a write reached another thread's access.
    pub communications: u64,
    /// Those whose edge was left out.
    pub left_out: u64,
}

impl GraphBuilder {
    pub fn new(options: GraphOptions) -> GraphBuilder {
        GraphBuilder {
            options,
            time: 0,
            locations: Vec::new(),
            contexts: Vec::new(),
            node_numbers: FxHashMap::default(),
            nodes: Vec::new(),
            edges: FxHashMap::default(),
            seen: FxHashSet::default(),
            communications: 0,
            left_out: 0,
        }
    }

    /// Takes in the next access. Says when it happened.
    pub fn take_in(&mut self, access: &SharedAccess<'_>) -> u32 {
        self.time += 1;
        let mut told = Told::default();
        for &location in access.locations {
            let mut metadata = std::mem::take(self.location(location));
            let now = self.now(access);
            self.note_previous(now, location, &mut metadata);
            self.come_back(now, location, &mut metadata);
            match access.is_write {
                true => self.write(now, location, &mut metadata, &mut told),
                false => self.read(now, location, &mut metadata, &mut told),
            }
            note_last(&mut metadata.last_accesses, now);
            *self.location(location) = metadata;
        }
        self.tell(access, &told);
        self.time
    }

    fn location(&mut self, number: u32) -> &mut Metadata {
        let number = number as usize;
        if number >= self.locations.len() {
            self.locations.resize_with(number + 1, Metadata::default);
        }
        &mut self.locations[number]
    }

    fn context(&mut self, thread: u16) -> &mut CommunicationContext {
        let thread = usize::from(thread);
        if thread >= self.contexts.len() {
            self.contexts.resize(thread + 1, CommunicationContext::default());
        }
        &mut self.contexts[thread]
    }

    /// An access after one of another thread, one of them a write: both may stand beside an edge, though neither be part of one.
    fn note_previous(&mut self, now: PastAccess, location: u32, metadata: &mut Metadata) {
        let Some(previous) = metadata.last_access.replace(now) else { return };
        let remote = previous.thread != now.thread;
        self.seen.insert(SeenAccess { site: now.site, remote });
        if remote && (previous.is_write || now.is_write) {
            self.node(previous.node(location, false));
            self.node(now.node(location, false));
        }
    }

    fn now(&mut self, access: &SharedAccess<'_>) -> PastAccess {
        let SharedAccess { thread, site, is_write, .. } = *access;
        PastAccess { thread, site, context: *self.context(thread), time: self.time, is_write }
    }

    /// Edges from this thread learn what it does after their sinks.
    fn come_back(&mut self, now: PastAccess, location: u32, metadata: &mut Metadata) {
        if metadata.open_edges.iter().all(|(thread, _)| *thread != now.thread) {
            return;
        }
        let node = self.node(now.node(location, false));
        let edges = &mut self.edges;
        metadata.open_edges.retain(|(thread, ends)| {
            let is_own = *thread == now.thread;
            if let Some(edge) = edges.get_mut(ends).filter(|_| is_own) {
                edge.after = Some(node);
            }
            !is_own
        });
    }

    fn read(
        &mut self,
        access: PastAccess,
        location: u32,
        metadata: &mut Metadata,
        told: &mut Told,
    ) {
        let is_further = !insert(&mut metadata.up_to_date, access.thread);
        if self.takes_itself_for_last(access, metadata)
            || (self.options.first_read_only && is_further)
        {
            return;
        }
        if let Some(write) = metadata.last_write {
            told.communicates = true;
            insert(&mut told.others, write.thread);
            self.communicate(write, access, location, metadata);
        }
        insert(&mut metadata.sharers, access.thread);
    }

    fn write(
        &mut self,
        access: PastAccess,
        location: u32,
        metadata: &mut Metadata,
        told: &mut Told,
    ) {
        metadata.up_to_date.clear();
        metadata.up_to_date.push(access.thread);
        if !self.takes_itself_for_last(access, metadata) {
            self.write_after_others(access, location, metadata, told);
        } else if self.options.first_write_only {
            return;
        }
        metadata.last_write = Some(access);
    }

    fn write_after_others(
        &mut self,
        access: PastAccess,
        location: u32,
        metadata: &mut Metadata,
        told: &mut Told,
    ) {
        metadata.sharers.retain(|&sharer| sharer != access.thread);
        told.communicates |= !metadata.sharers.is_empty();
        metadata.sharers.drain(..).for_each(|sharer| {
            insert(&mut told.others, sharer);
        });
        if let Some(write) = metadata.last_write {
            told.communicates = true;
            metadata.former_writer = Some((write.thread, self.time));
            self.communicate(write, access, location, metadata);
        }
    }

    /// Whether a thread finds itself to be the last writer: if it is, or if it looks without a lock at what it knew.
    fn takes_itself_for_last(&self, access: PastAccess, metadata: &Metadata) -> bool {
        let is_last = metadata.last_write.is_some_and(|write| write.thread == access.thread);
        let seems = metadata.former_writer.is_some_and(|(thread, until)| {
            thread == access.thread && self.time - until <= self.options.racy_lookup
        });
        is_last || seems
    }

    fn communicate(
        &mut self,
        write: PastAccess,
        access: PastAccess,
        location: u32,
        metadata: &mut Metadata,
    ) {
        self.communications += 1;
        let source = self.node(write.node(location, true));
        let sink = self.node(access.node(location, true));
        let ends = (source, sink);
        if self.edges.len() >= MOST_EDGES && !self.edges.contains_key(&ends) {
            self.left_out += 1;
            return;
        }
        let before = metadata.last_accesses.iter().find(|past| past.thread == access.thread);
        let before = before.filter(|past| past.time < write.time);
        let before = before.map(|past| self.node(past.node(location, false)));
        let edge = self.edges.entry(ends).or_default();
        edge.count += 1;
        if (edge.sink_time, edge.source_time) <= (access.time, write.time) {
            (edge.source_time, edge.sink_time) = (write.time, access.time);
            (edge.source_thread, edge.sink_thread) = (write.thread, access.thread);
            (edge.before, edge.after) = (before, None);
            let open = (write.thread, ends);
            if !metadata.open_edges.contains(&open) {
                metadata.open_edges.push(open);
            }
        }
    }

    /// The number of a node, which has happened again.
    fn node(&mut self, node: DraftNode) -> u32 {
        let next = self.nodes.len() as u32;
        let number = *self.node_numbers.entry((node.site, node.context)).or_insert(next);
        match self.nodes.get_mut(number as usize) {
            None => self.nodes.push(node),
            // Neighbours do not change when a node of an edge last happened.
            Some(known) if known.communicates && !node.communicates => {}
            Some(known) if known.time < node.time || !known.communicates => *known = node,
            Some(_) => {}
        }
        number
    }

    fn tell(&mut self, access: &SharedAccess<'_>, told: &Told) {
        let (local, remote) = match access.is_write {
            true => (Happening::LocalWrite, Happening::RemoteWrite),
            false => (Happening::LocalRead, Happening::RemoteRead),
        };
        if told.communicates {
            let context = self.context(access.thread);
            *context = context.with(local);
        }
        for &other in &told.others {
            let context = self.context(other);
            *context = context.with(remote);
        }
    }
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
