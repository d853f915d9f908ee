//! The way back: what makes an edge part of a circle.
//!
//! Takes   an edge, and when things happened in its graph.
//! Gives   conflicting accesses near it that go the other way, from the sink's thread to the source's; and which of what is near
//!         has to do with it.
//! Misses  circles over more than three threads, and those whose accesses are far apart. Those over a third thread are told, but do
//!         not tell edges apart.
//! Cost    the product of what is near of both threads: at most a few hundred comparisons per edge.
//!
//! One thread's write reaches another's access in every run that is worth recording. If the other thread's access before, or one after
//! it, also comes before one of the first thread, then neither can have been wholly before the other: no serial order
//! gives that. All atomicity violations are such circles, of one variable or of more. What only goes the edge's own way, or
//! is touched by one of the two threads alone, does not explain anything. Not in the paper.

use crate::interleaving_patterns::Memory;

use super::moments::{Moment, Moments, ends_of, location_of};
use super::regions::Region;
use super::result::{Edge, Graph};

/// What closes the circle; sites are numbered by the code book, or by the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WayBack {
    /// The sink's thread was there before the source, at this site.
    Before(u32),
    /// The source's thread came back after the sink, at this site.
    After(u32),
    /// The sink's thread, then the source's, at other bytes.
    Elsewhere(u32, u32),
}

impl WayBack {
    pub fn sites(self) -> impl Iterator<Item = u32> {
        let (first, second) = match self {
            WayBack::Before(site) | WayBack::After(site) => (site, None),
            WayBack::Elsewhere(first, second) => (first, Some(second)),
        };
        [first].into_iter().chain(second)
    }

    pub(super) fn translated(self, sites: &[u32]) -> WayBack {
        let new = |site: u32| sites[site as usize];
        match self {
            WayBack::Before(site) => WayBack::Before(new(site)),
            WayBack::After(site) => WayBack::After(new(site)),
            WayBack::Elsewhere(first, second) => WayBack::Elsewhere(new(first), new(second)),
        }
    }
}

/// An edge and what is near it.
#[derive(Debug)]
pub struct Scene<'g> {
    graph: &'g Graph,
    edge: &'g Edge,
    location: Option<Memory>,
    ends: Option<[Moment; 2]>,
    pub were_both_at_work: bool,
    /// By region, by time.
    near: [Vec<Moment>; 3],
    moments: &'g Moments,
}

impl<'g> Scene<'g> {
    pub fn of(graph: &'g Graph, moments: &'g Moments, edge: &'g Edge) -> Scene<'g> {
        let location = location_of(graph, edge);
        Scene {
            graph,
            edge,
            location,
            ends: location.map(|memory| ends_of(graph, edge, memory)),
            were_both_at_work: moments.were_both_at_work(edge.source_thread, edge.sink_thread),
            near: Region::ALL.map(|region| moments.nearest(edge, region)),
            moments,
        }
    }

    /// All ways back, with the numbers that sites have in the run.
    pub fn ways_back(&self) -> Vec<WayBack> {
        let site = |node: u32| self.graph.nodes[node as usize].site;
        let before = self.edge.before.map(|node| WayBack::Before(site(node)));
        let after = self.after().map(|moment| WayBack::After(site(moment.node)));
        let mut ways: Vec<WayBack> = before.into_iter().chain(after).collect();
        if self.were_both_at_work {
            ways.extend(
                self.pairs_elsewhere()
                    .map(|(first, second)| WayBack::Elsewhere(site(first.node), site(second.node))),
            );
        }
        ways
    }

    /// The source's thread coming back after the sink; if only to read what was only read, then its next write.
    fn after(&self) -> Option<Moment> {
        let next = Moment::of_node(self.graph, self.edge.after?);
        let sink = Moment::of_node(self.graph, self.edge.sink);
        if sink.is_write || next.is_write {
            return Some(next);
        }
        let suffix = self.near[Region::Suffix as usize].iter();
        let is_back = |moment: &&Moment| {
            moment.is_write
                && moment.thread == self.edge.source_thread
                && Some(moment.memory) == self.location
        };
        suffix.copied().find(|moment| is_back(&moment))
    }

    fn pairs_elsewhere(&self) -> impl Iterator<Item = (&Moment, &Moment)> {
        let elsewhere =
            || self.near.iter().flatten().filter(|moment| Some(moment.memory) != self.location);
        elsewhere().flat_map(move |one| {
            elsewhere().filter(|other| self.is_way_back(one, other)).map(move |other| (one, other))
        })
    }

    /// Whether two accesses go from the sink's thread to the source's.
    fn is_way_back(&self, first: &Moment, second: &Moment) -> bool {
        first.thread == self.edge.sink_thread
            && second.thread == self.edge.source_thread
            && first.time < second.time
            && first.conflicts_with(second)
    }

    /// What has to do with the edge, by region and time: conflicts at its own bytes, ways back at others, and what both threads did
    /// to these bytes before and after it.
    pub fn told(&self) -> [Vec<Moment>; 3] {
        let over_another =
            if self.ways_back().is_empty() { self.way_over_another() } else { Vec::new() };
        Region::ALL.map(|region| {
            let near = self.near[region as usize].iter();
            let mut told: Vec<Moment> =
                near.filter(|moment| self.is_relevant(moment)).copied().collect();
            told.extend(self.own_access(region));
            told.extend(
                over_another.iter().filter(|moment| self.region_of(moment) == Some(region)),
            );
            told.sort_by_key(|moment| moment.time);
            told.dedup_by_key(|moment| moment.time);
            told
        })
    }

    fn is_relevant(&self, moment: &Moment) -> bool {
        let others = self.near.iter().flatten().chain(self.ends.iter().flatten());
        let own = [Region::Prefix, Region::Suffix].into_iter().filter_map(|at| self.own_access(at));
        let own: Vec<Moment> = own.collect();
        let is_here = Some(moment.memory) == self.location;
        others.chain(&own).any(|other| {
            if is_here {
                moment.conflicts_with(other)
            } else {
                self.were_both_at_work
                    && (self.is_way_back(moment, other) || self.is_way_back(other, moment))
            }
        })
    }

    /// A way back over a third thread: it met what the sink's thread had done, and after that the source's met what it had done. The ends
    /// of the edge can be part of it.
    fn way_over_another(&self) -> Vec<Moment> {
        let of_both: Vec<&Moment> =
            self.near.iter().flatten().chain(self.ends.iter().flatten()).collect();
        let times = || of_both.iter().map(|moment| moment.time);
        let (Some(first), Some(last)) = (times().min(), times().max()) else { return Vec::new() };
        let others = self.moments.of_others(self.edge, first, last);
        let meets = |thread: u16, first: &Moment, second: &Moment| {
            [first.thread, second.thread].contains(&thread)
                && first.time < second.time
                && first.conflicts_with(second)
        };
        let (source, sink) = (self.edge.source_thread, self.edge.sink_thread);
        let mut told = Vec::new();
        for begin in &others {
            let Some(from) = of_both.iter().rfind(|from| meets(sink, from, begin)) else {
                continue;
            };
            let after =
                others.iter().filter(|end| end.thread == begin.thread && end.time >= begin.time);
            let back = after
                .into_iter()
                .find_map(|end| Some((end, of_both.iter().find(|to| meets(source, end, to))?)));
            if let Some((end, to)) = back {
                told.extend([**from, *begin, *end, **to]);
            }
        }
        told
    }

    /// None for the ends of the edge.
    fn region_of(&self, moment: &Moment) -> Option<Region> {
        let &Edge { source_time, sink_time, .. } = self.edge;
        match moment.time {
            time if time == source_time || time == sink_time => None,
            time if time < source_time => Some(Region::Prefix),
            time if time < sink_time => Some(Region::Body),
            _ => Some(Region::Suffix),
        }
    }

    /// What the sink's thread did to the bytes before the source, and the source's after the sink.
    fn own_access(&self, region: Region) -> Option<Moment> {
        let node = match region {
            Region::Prefix => self.edge.before,
            Region::Body => None,
            Region::Suffix => self.edge.after,
        };
        node.map(|node| Moment::of_node(self.graph, node))
    }
}
