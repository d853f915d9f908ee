//! Builds the communication graph of one process, access by access.
//!
//! Takes   accesses in the order they happened, locations and code by number.
//! Gives   nodes and edges with their times, and for every access site whether the access before was another thread's.

use rustc_hash::{FxHashMap, FxHashSet};

use super::context::{CommunicationContext, Happening};
use super::{GraphOptions, SeenAccess};

/// More edges than anybody can rank; further ones are counted and left out.
const MOST_EDGES: usize = 1_000_000;
/// Edges from a location that wait for their source's thread to come back.
const MOST_OPEN: usize = 8;

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
    /// When it last happened, as part of an edge: number of the access among all. 0: it is not told.
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
    /// Numbers of its nodes.
    pub source: u32,
    pub sink: u32,
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
    time: u32,
    is_write: bool,
    /// Number of its node.
    node: u32,
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
    node_numbers: FxHashMap<(u32, CommunicationContext), u32>,
    pub nodes: Vec<DraftNode>,
    edge_numbers: FxHashMap<(u32, u32), u32>,
    pub edges: Vec<DraftEdge>,
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
            edge_numbers: FxHashMap::default(),
            edges: Vec::new(),
            seen: FxHashSet::default(),
            communications: 0,
            left_out: 0,
        }
    }

    /// Takes in the next access. Says when it happened.
    pub fn take_in(&mut self, access: &SharedAccess<'_>) -> u32 {
        self.time += 1;
        let mut told = Told::default();
        let now = self.now(access);
        for &location in access.locations {
            let mut metadata = std::mem::take(self.location(location));
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
        let site = self.nodes[now.node as usize].site;
        self.seen.insert(SeenAccess { site, remote });
        if remote && (previous.is_write || now.is_write) {
            self.note(previous, location, false);
            self.note(now, location, false);
        }
    }

    fn now(&mut self, access: &SharedAccess<'_>) -> PastAccess {
        let SharedAccess { thread, site, is_write, .. } = *access;
        let context = *self.context(thread);
        let next = self.nodes.len() as u32;
        let node = *self.node_numbers.entry((site, context)).or_insert(next);
        if node == next {
            let (time, location, communicates) = (0, 0, false);
            self.nodes.push(DraftNode {
                site,
                context,
                time,
                thread,
                is_write,
                location,
                communicates,
            });
        }
        PastAccess { thread, time: self.time, is_write, node }
    }

    /// Edges from this thread learn what it does after their sinks.
    fn come_back(&mut self, now: PastAccess, location: u32, metadata: &mut Metadata) {
        if metadata.open_edges.iter().all(|(thread, _)| *thread != now.thread) {
            return;
        }
        self.note(now, location, false);
        let edges = &mut self.edges;
        metadata.open_edges.retain(|&(thread, edge)| {
            let is_own = thread == now.thread;
            if is_own {
                edges[edge as usize].after = Some(now.node);
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
        self.note(write, location, true);
        self.note(access, location, true);
        let Some(number) = self.edge(write.node, access.node) else {
            self.left_out += 1;
            return;
        };
        let before = metadata.last_accesses.iter().find(|past| past.thread == access.thread);
        let before = before.filter(|past| past.time < write.time).copied();
        if let Some(past) = before {
            self.note(past, location, false);
        }
        let edge = &mut self.edges[number as usize];
        edge.count += 1;
        if (edge.sink_time, edge.source_time) <= (access.time, write.time) {
            (edge.source_time, edge.sink_time) = (write.time, access.time);
            (edge.source_thread, edge.sink_thread) = (write.thread, access.thread);
            (edge.before, edge.after) = (before.map(|past| past.node), None);
            open(&mut metadata.open_edges, (write.thread, number));
        }
    }

    /// The number of an edge; none if there are too many.
    fn edge(&mut self, source: u32, sink: u32) -> Option<u32> {
        if let Some(&number) = self.edge_numbers.get(&(source, sink)) {
            return Some(number);
        }
        let number = self.edges.len() as u32;
        if self.edges.len() >= MOST_EDGES {
            return None;
        }
        self.edges.push(DraftEdge { source, sink, ..DraftEdge::default() });
        self.edge_numbers.insert((source, sink), number);
        Some(number)
    }

    /// The node of an access is told, and has happened again.
    fn note(&mut self, access: PastAccess, location: u32, communicates: bool) {
        let node = &mut self.nodes[access.node as usize];
        // Neighbours do not change when a node of an edge last happened.
        let is_news = match (node.communicates, communicates) {
            (true, false) => false,
            (false, true) => true,
            _ => node.time < access.time,
        };
        if is_news {
            let PastAccess { thread, time, is_write, .. } = access;
            *node = DraftNode { time, thread, is_write, location, communicates, ..*node };
        }
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
