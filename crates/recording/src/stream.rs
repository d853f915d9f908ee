//! The events of one thread, in the order it made them.

use unpick_events::ThreadId;

use crate::cancellation::Cancellation;
use crate::chunk::Chunk;
use crate::decode::{Framed, frame};
use crate::event::{Event, Order};

/// Iterates over the events of one thread. Events whose words make no sense are passed over; they keep
/// their ordinals.
#[derive(Debug, Clone)]
pub struct Stream<'r> {
    thread: ThreadId,
    chunks: std::slice::Iter<'r, Chunk>,
    words: &'r [u64],
    ordinal: u64,
    /// The highest stamp so far.
    stamp: u32,
    cancellation: &'r Cancellation,
}

impl<'r> Stream<'r> {
    pub(crate) fn new(
        thread: ThreadId,
        chunks: &'r [Chunk],
        cancellation: &'r Cancellation,
    ) -> Self {
        Self { thread, chunks: chunks.iter(), words: &[], ordinal: 0, stamp: 0, cancellation }
    }

    pub fn thread(&self) -> ThreadId {
        self.thread
    }

    fn next_framed(&mut self) -> Option<Framed<'r>> {
        loop {
            if let Some(framed) = frame(self.words) {
                self.words = framed.rest;
                return Some(framed);
            }
            let chunk = self.chunks.next()?;
            self.cancellation.check();
            self.words = &chunk.words;
            self.ordinal = chunk.first_ordinal;
        }
    }

    fn event(&mut self, framed: &Framed<'r>) -> Option<Event<'r>> {
        let ordinal = self.ordinal;
        self.ordinal = ordinal.saturating_add(1);
        let action = framed.action()?;
        let header = &framed.header;
        // A signal handler can draw a stamp between the reservation and the stamp of the event it
        // interrupted, so stamps may fall within a stream; the order of the stream then counts.
        self.stamp = self.stamp.max(header.stamp);
        Some(Event {
            thread: self.thread,
            ordinal,
            stamp: header.stamp,
            order: Order::of_event(self.stamp, self.thread, ordinal),
            site: header.site,
            context: header.context,
            action,
        })
    }
}

impl<'r> Iterator for Stream<'r> {
    type Item = Event<'r>;

    fn next(&mut self) -> Option<Event<'r>> {
        loop {
            let framed = self.next_framed()?;
            if let Some(event) = self.event(&framed) {
                return Some(event);
            }
        }
    }
}
