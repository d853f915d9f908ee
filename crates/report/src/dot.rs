//! Graphs for Graphviz: who communicated with whom, and the order of a finding.
//!
//! Takes   reconstructions, or a finding.      Gives  text that `dot -Tsvg` draws.
//! Misses  code points beyond the first 50: more cannot be read.

mod communication;
mod pattern;

pub use communication::communication;
pub use pattern::pattern;

use unpick_findings::Frame;

use crate::layout::{cut, printable, wrapped_at_most};
use crate::words;

/// Longest line in a node, and in the title of a box.
const COLUMNS: usize = 36;
/// Longest line of the text above a graph.
const LEGEND_COLUMNS: usize = 90;
const LEGEND_LINES: usize = 6;
/// Most lines that say what a node does; names of heap blocks are long.
const MOST_LINES: usize = 2;

/// The beginning of a graph: `across` if it grows from left to right, which keeps wide nodes from standing side by side.
fn head(name: &str, legend: &str, across: bool) -> String {
    let direction = if across { "LR" } else { "TB" };
    let legend = wrapped_at_most(&printable(legend), LEGEND_COLUMNS, LEGEND_LINES);
    format!(
        "digraph \"{}\" {{\n  rankdir={direction};\n  nodesep=0.15;\n  ranksep=0.5;\n  labelloc=t;\n  labeljust=l;\n  \
         fontname=\"sans-serif\";\n  label=\"{}\";\n  \
         node [shape=box, style=filled, fillcolor=white, fontname=\"monospace\", fontsize=10, margin=\"0.08,0.04\"];\n  \
         edge [fontname=\"sans-serif\", fontsize=9, color=\"#666666\", arrowsize=0.7];\n",
        escaped(&printable(name)),
        lines_of(legend)
    )
}

/// The beginning of a box around nodes.
fn box_head(number: usize, title: impl IntoIterator<Item = String>) -> String {
    format!(
        "  subgraph cluster_{number} {{\n    style=\"filled,rounded\";\n    color=\"#cccccc\";\n    fillcolor=\"#f4f4f4\";\n    \
         fontsize=11;\n    labeljust=l;\n    label=\"{}\";\n",
        lines_of(title)
    )
}

/// What it does, the line of source, where it is.
fn label(does: &str, text: Option<&str>, frame: &Frame) -> String {
    let does = wrapped_at_most(&printable(does), COLUMNS, MOST_LINES);
    let text = text.map(|text| cut(&printable(text), COLUMNS));
    let place = words::brief_place(frame).map(|place| cut(&place, COLUMNS));
    lines_of(does.into_iter().chain(text).chain(place))
}

/// Lines of a label, each flush left.
fn lines_of(lines: impl IntoIterator<Item = String>) -> String {
    lines.into_iter().map(|line| escaped(&line) + "\\l").collect()
}

/// Nothing from a file can end a text of the graph, or be taken for one of Graphviz's own escapes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
