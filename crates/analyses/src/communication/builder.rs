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
}

/// The times an edge last had, and how often it occurred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EdgeTimes {
    pub source: u32,
    pub sink: u32,
    pub count: u64,
}

/// The last write to a location.
#[derive(Debug, Clone, Copy)]
struct LastWrite {
    thread: u16,
    site: u32,
    context: CommunicationContext,
    time: u32,
}

/// What is known of a location.
#[derive(Debug, Clone, Default)]
struct Metadata {
    last_write: Option<LastWrite>,
    /// Who wrote last before that, and until when.
    former_writer: Option<(u16, u32)>,
    /// Threads that have read what is there.
    sharers: Vec<u16>,
    /// Threads that have accessed it since anybody else wrote.
    up_to_date: Vec<u16>,
    last_thread: Option<u16>,
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
    pub edges: FxHashMap<(u32, u32), EdgeTimes>,
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
            self.note_previous(access, &mut metadata);
            match access.is_write {
                true => self.write(access, location, &mut metadata, &mut told),
                false => self.read(access, location, &mut metadata, &mut told),
            }
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

    fn note_previous(&mut self, access: &SharedAccess<'_>, metadata: &mut Metadata) {
        let previous = metadata.last_thread.replace(access.thread);
        if let Some(previous) = previous {
            self.seen.insert(SeenAccess { site: access.site, remote: previous != access.thread });
        }
    }

    fn read(
        &mut self,
        access: &SharedAccess<'_>,
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
            self.communicate(write, access, location);
        }
        insert(&mut metadata.sharers, access.thread);
    }

    fn write(
        &mut self,
        access: &SharedAccess<'_>,
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
        let (thread, site, time) = (access.thread, access.site, self.time);
        let context = *self.context(thread);
        metadata.last_write = Some(LastWrite { thread, site, context, time });
    }

    fn write_after_others(
        &mut self,
        access: &SharedAccess<'_>,
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
            self.communicate(write, access, location);
        }
    }

    /// Whether a thread finds itself to be the last writer: if it is, or if it looks without a lock at what it knew.
    fn takes_itself_for_last(&self, access: &SharedAccess<'_>, metadata: &Metadata) -> bool {
        let is_last = metadata.last_write.is_some_and(|write| write.thread == access.thread);
        let seems = metadata.former_writer.is_some_and(|(thread, until)| {
            thread == access.thread && self.time - until <= self.options.racy_lookup
        });
        is_last || seems
    }

    fn communicate(&mut self, write: LastWrite, access: &SharedAccess<'_>, location: u32) {
        self.communications += 1;
        let source = self.node(DraftNode {
            site: write.site,
            context: write.context,
            time: write.time,
            thread: write.thread,
            is_write: true,
            location,
        });
        let context = *self.context(access.thread);
        let sink = self.node(DraftNode {
            site: access.site,
            context,
            time: self.time,
            thread: access.thread,
            is_write: access.is_write,
            location,
        });
        if self.edges.len() >= MOST_EDGES && !self.edges.contains_key(&(source, sink)) {
            self.left_out += 1;
            return;
        }
        let edge = self.edges.entry((source, sink)).or_default();
        let (sink, source) = (edge.sink, edge.source).max((self.time, write.time));
        *edge = EdgeTimes { source, sink, count: edge.count + 1 };
    }

    /// The number of a node, which has happened again.
    fn node(&mut self, node: DraftNode) -> u32 {
        let next = self.nodes.len() as u32;
        let number = *self.node_numbers.entry((node.site, node.context)).or_insert(next);
        match self.nodes.get_mut(number as usize) {
            None => self.nodes.push(node),
            Some(known) if known.time < node.time => *known = node,
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

/// Puts a thread into a small set; says whether it was not there.
fn insert(set: &mut Vec<u16>, thread: u16) -> bool {
    let is_new = !set.contains(&thread);
    if is_new {
        set.push(thread);
    }
    is_new
}
