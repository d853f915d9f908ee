//! All events of a process in the order they happened.
//!
//! Takes   the streams of its threads.      Gives  one stream, by `Order`.
//! Cost    memory per thread, not per event; one step of a heap where the thread changes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::event::{Event, Order};
use crate::stream::Stream;
use crate::walk_limit::{STEP, WalkLimit};

/// Iterates over the events of all threads in the order of their stamps.
#[derive(Debug)]
pub struct Merged<'r> {
    streams: Vec<Stream<'r>>,
    /// The next event of each waiting stream.
    heads: Vec<Option<Event<'r>>>,
    /// Where those events stand, and which stream each is of; the current stream is not in it.
    waiting: BinaryHeap<Reverse<(Order, usize)>>,
    current: Option<usize>,
    limit: &'r WalkLimit,
    /// Events so far.
    seen: u64,
}

impl<'r> Merged<'r> {
    pub(crate) fn new(mut streams: Vec<Stream<'r>>, limit: &'r WalkLimit) -> Self {
        let heads: Vec<_> = streams.iter_mut().map(Iterator::next).collect();
        let waiting = heads
            .iter()
            .enumerate()
            .filter_map(|(index, head)| Some(Reverse((head.as_ref()?.order, index))))
            .collect();
        Self { streams, heads, waiting, current: None, limit, seen: 0 }
    }

    /// Counts one more event; not if the walk ends here.
    fn may_go_on(&mut self) -> bool {
        let may = !self.seen.is_multiple_of(STEP) || self.limit.allows_more_than(self.seen);
        self.seen += u64::from(may);
        may
    }

    /// Stays with the current stream while its next event comes first; else takes the stream whose does.
    fn choose(&mut self) -> Option<usize> {
        let current = self.current.take().and_then(|index| Some((self.heads[index]?.order, index)));
        let first = self.waiting.peek().map(|Reverse(first)| *first);
        match (current, first) {
            (Some(current), Some(first)) if first < current => {
                self.waiting.pop();
                self.waiting.push(Reverse(current));
                Some(first.1)
            }
            (Some(current), _) => Some(current.1),
            (None, _) => self.waiting.pop().map(|Reverse((_, index))| index),
        }
    }
}

impl<'r> Iterator for Merged<'r> {
    type Item = Event<'r>;

    fn next(&mut self) -> Option<Event<'r>> {
        if !self.may_go_on() {
            return None;
        }
        let index = self.choose()?;
        self.current = Some(index);
        std::mem::replace(&mut self.heads[index], self.streams[index].next())
    }

    /// A whole walk, such as `for_each`: events of the stream that comes first are not put aside one by one.
    fn fold<T, F: FnMut(T, Event<'r>) -> T>(mut self, first: T, mut take_in: F) -> T {
        let mut folded = first;
        while let Some(index) = self.choose() {
            let waiting = self.waiting.peek().map(|Reverse(first)| *first);
            let comes_first = |event: &mut Event<'r>| {
                waiting.is_none_or(|waiting| (event.order, index) < waiting)
            };
            let mut head = self.heads[index].take();
            while let Some(event) = head.take_if(comes_first) {
                if !self.may_go_on() {
                    return folded;
                }
                folded = take_in(folded, event);
                head = self.streams[index].next();
            }
            self.heads[index] = head;
            self.current = Some(index);
        }
        folded
    }
}
