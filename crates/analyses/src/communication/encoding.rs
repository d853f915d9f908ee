//! `RunGraphs` as bytes, and back without trust. `stored_tables` has the form.

use unpick_problem::Problem;

use crate::stored_tables::{Magic, framed, have_memory, is_in, unframed};

use super::result::{Graph, Node, RunGraphs};

const MAGIC: Magic = *b"UNPIGRPH";
const VERSION: u8 = 1;

impl RunGraphs {
    /// The bytes to store.
    ///
    /// # Panics
    /// Never: there is nothing in it that cannot be written.
    pub fn to_bytes(&self) -> Vec<u8> {
        let tables = postcard::to_allocvec(self).expect("plain tables can always be encoded");
        framed(MAGIC, VERSION, &tables)
    }

    /// Reads what `to_bytes` wrote; `name` says in problems where it came from.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<RunGraphs, Problem> {
        let (version, tables) = unframed(MAGIC, bytes).map_err(|why| damaged(name, why))?;
        if version != VERSION {
            return Err(other_version(name, version));
        }
        let (read, left): (RunGraphs, &[u8]) =
            postcard::take_from_bytes(tables).map_err(|error| damaged(name, error))?;
        if !left.is_empty() || !read.is_consistent() {
            return Err(damaged(name, "its tables do not fit together"));
        }
        Ok(read)
    }

    /// Every number in it names something, and what should be in order is.
    fn is_consistent(&self) -> bool {
        let has_module = |module: u32| is_in(module, &self.modules);
        let has_site = |site: u32| is_in(site, &self.sites);
        !self.stacks.is_empty()
            && self.sites.iter().all(|site| site.module.is_none_or(has_module))
            && self.stacks.iter().flatten().all(|&site| has_site(site))
            && self
                .blocks
                .iter()
                .all(|block| has_site(block.site) && is_in(block.stack, &self.stacks))
            && self.seen.iter().all(|seen| has_site(seen.site))
            && self.graphs.iter().all(|graph| self.has_parts_of(graph))
    }

    fn has_parts_of(&self, graph: &Graph) -> bool {
        graph.nodes.iter().all(|node| self.has_parts_of_node(node))
            && graph.nodes.is_sorted_by_key(|node| node.time)
            && graph.edges.iter().all(|edge| {
                is_in(edge.source, &graph.nodes)
                    && is_in(edge.sink, &graph.nodes)
                    && edge.before.is_none_or(|node| is_in(node, &graph.nodes))
                    && edge.after.is_none_or(|node| is_in(node, &graph.nodes))
                    && edge.source_time < edge.sink_time
            })
    }

    fn has_parts_of_node(&self, node: &Node) -> bool {
        is_in(node.site, &self.sites)
            && is_in(node.stack, &self.stacks)
            && node.context.is_sound()
            && have_memory(&self.modules, &self.blocks, node.memory)
    }
}

fn damaged(name: &str, why: impl std::fmt::Display) -> Problem {
    Problem::own_fault("the communication graphs of a run cannot be read")
        .at("file", name)
        .why(why)
        .next("remove the file: if the run's recording is still there, the graphs are made again")
}

fn other_version(name: &str, version: u8) -> Problem {
    Problem::usage(format!(
        "the communication graphs of a run have version {version}, this build reads version {VERSION}"
    ))
    .at("file", name)
    .why("they were made by another version of unpick")
    .next("remove the file, or use the version of unpick that made it")
}

#[cfg(test)]
mod tests {
    use super::super::{Collector, GraphOptions};
    use super::*;

    #[test]
    fn a_version_that_is_not_known_is_named() {
        let problem = RunGraphs::from_bytes(&framed(MAGIC, 9, &[0]), "stored").unwrap_err();
        assert!(problem.to_string().contains("version 9, this build reads version 1"));
    }

    #[test]
    fn what_follows_the_tables_is_not_overlooked() {
        let empty = Collector::new(GraphOptions::default()).finish();
        let bytes = empty.to_bytes();
        assert_eq!(RunGraphs::from_bytes(&bytes, "stored").unwrap(), empty);
        let longer = framed(MAGIC, VERSION, &[&bytes[17..], &[0]].concat());
        assert!(RunGraphs::from_bytes(&longer, "stored").is_err());
    }
}
