//! The nodes of a graph while it is built, by site and context.
//!
//! Takes   a site and a context.      Gives  the number of their node, which is where in memory it is.
//! Cost    one look-up in a table that is small enough for a near cache; no other memory is touched before a node is told.

use std::num::NonZeroU32;

use unpick_events::Context;
use unpick_events::access::PastKind;

use super::super::context::CommunicationContext;

/// The number of a page of nodes, counted from 1, times the nodes of a page, and the place in it: never 0.
pub type NodeNumber = NonZeroU32;

/// What is known of a node from the last time it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftNode {
    /// Number of the access among all. 0: it is not told.
    pub time: u32,
    pub stack: Context,
    pub location: u32,
    pub thread: u16,
    pub kind: PastKind,
    /// It is part of an edge; else only a neighbour of one.
    pub communicates: bool,
}

// Four in a cache line: a graph of many contexts is larger than caches, and every communication tells of two nodes.
const _: () = assert!(size_of::<DraftNode>() == 16);

impl DraftNode {
    const NOT_TOLD: DraftNode = DraftNode {
        time: 0,
        stack: Context(0),
        location: 0,
        thread: 0,
        kind: PastKind::Read,
        communicates: false,
    };
}

/// Contexts of a page.
const PAGE: usize = 32;
const PAGES: usize = CommunicationContext::COUNT.div_ceil(PAGE);

/// All nodes, those of a site and similar contexts side by side.
#[derive(Debug, Default)]
pub struct Nodes {
    /// By site: for each part of its contexts the number of their page; 0 if there is none yet.
    sites: Vec<[u32; PAGES]>,
    pages: Vec<[DraftNode; PAGE]>,
}

impl Nodes {
    pub fn number_of(&mut self, site: u32, context: CommunicationContext) -> NodeNumber {
        let (site, context) = (site as usize, context.number());
        if site >= self.sites.len() {
            self.sites.resize(site + 1, [0; PAGES]);
        }
        let page = &mut self.sites[site][context / PAGE];
        if *page == 0 {
            self.pages.push([DraftNode::NOT_TOLD; PAGE]);
            *page = self.pages.len() as u32;
        }
        node_number(*page, context % PAGE)
    }

    pub fn get_mut(&mut self, number: NodeNumber) -> &mut DraftNode {
        let number = number.get() as usize;
        &mut self.pages[number / PAGE - 1][number % PAGE]
    }

    /// Above every number that was given.
    pub fn bound(&self) -> usize {
        (self.pages.len() + 1) * PAGE
    }

    /// All that are told, with number, site and context.
    pub fn told(
        &self,
    ) -> impl Iterator<Item = (NodeNumber, u32, CommunicationContext, &DraftNode)> {
        let pages = self.sites.iter().zip(0..).flat_map(|(parts, site)| {
            let begun = parts.iter().enumerate().filter(|(_, page)| **page != 0);
            begun.map(move |(part, &page)| (site, part, page))
        });
        pages.flat_map(|(site, part, page)| {
            let nodes = self.pages[page as usize - 1].iter().enumerate();
            nodes.filter(|(_, node)| node.time > 0).map(move |(place, node)| {
                let context = CommunicationContext::of_number(part * PAGE + place);
                (node_number(page, place), site, context, node)
            })
        })
    }
}

fn node_number(page: u32, place: usize) -> NodeNumber {
    NonZeroU32::new(page * PAGE as u32 + place as u32).expect("pages are counted from 1")
}

#[cfg(test)]
mod tests {
    use super::super::super::context::Happening;
    use super::*;

    #[test]
    fn only_what_was_told_is_listed_with_its_site_and_context() {
        let mut nodes = Nodes::default();
        let empty = CommunicationContext::default();
        let full = [Happening::RemoteWrite; 5].into_iter().fold(empty, CommunicationContext::with);
        let told = nodes.number_of(7, full);
        let silent = nodes.number_of(7, empty);
        assert_ne!(told, silent);
        assert_eq!(nodes.number_of(7, full), told, "the same each time");
        nodes.get_mut(told).time = 3;
        let listed: Vec<_> = nodes
            .told()
            .map(|(number, site, context, node)| (number, site, context, node.time))
            .collect();
        assert_eq!(listed, [(told, 7, full, 3)]);
        assert!(nodes.bound() > told.get() as usize && nodes.bound() > silent.get() as usize);
    }
}
