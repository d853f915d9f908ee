//! Graphs for Graphviz: who communicated with whom, and the order of a finding.
//!
//! Takes   reconstructions, or a finding.      Gives  text that `dot -Tsvg` draws.
//! Misses  code points beyond the first 50: more cannot be read.

use std::collections::BTreeMap;
use std::fmt::Write;

use unpick_findings::{CodePoint, Finding, Frame, PointPlace, Reconstruction};

use crate::layout::{cut, printable};
use crate::words;

/// More nodes than this nobody can read.
const MOST_NODES: usize = 50;
/// Longest text in a node.
const COLUMNS: usize = 48;

/// What stands for a node: function, file, line.
type Place = (String, String, u32);

/// The communication graph of some reconstructions: a node per line, a box per function, an edge from each write to the access that met it.
pub fn communication(reconstructions: &[Reconstruction]) -> String {
    let mut graph = Drawing::default();
    for one in reconstructions {
        let end = |place: PointPlace| one.points.iter().find(|point| point.place == place);
        let (Some(source), Some(sink)) = (end(PointPlace::Source), end(PointPlace::Sink)) else {
            continue;
        };
        let nodes = [source, sink].map(|point| graph.node(point));
        let [Some(source), Some(sink)] = nodes else { continue };
        let label = format!("{}: {}/{}", one.rank, one.failed_runs, one.passed_runs);
        let width = if one.rank == 1 { ", penwidth=2.5, color=red" } else { "" };
        graph.edges.push(format!("  n{source} -> n{sink} [label=\"{}\"{width}];", escaped(&label)));
    }
    graph.text("communication", "edges: rank: failing/passing runs that have it")
}

/// The order of a finding: a box per thread, accesses numbered as they were executed, in red what passed from one thread to the other.
pub fn pattern(finding: &Finding) -> String {
    let mut text = head(&finding.pattern, &printable(&finding.sentence));
    for role in [1, 2] {
        let _ = writeln!(text, "  subgraph cluster_{role} {{\n    label=\"thread {role}\";");
        for (access, at) in finding.accesses.iter().zip(1..) {
            if access.role == role {
                let does = format!(
                    "{at}. {} {}",
                    words::does(access),
                    words::variable(access.variable.as_ref(), COLUMNS)
                );
                let label = label(&does, access.text.as_deref(), &access.frame);
                let _ = writeln!(text, "    n{at} [label=\"{label}\"];");
            }
        }
        text.push_str("  }\n");
    }
    for (two, at) in finding.accesses.windows(2).zip(1..) {
        let crossing = if two[0].role == two[1].role { "" } else { " [color=red, penwidth=2]" };
        let _ = writeln!(text, "  n{at} -> n{}{crossing};", at + 1);
    }
    text + "}\n"
}

/// Nodes by place, and edges between them.
#[derive(Default)]
struct Drawing {
    numbers: BTreeMap<Place, usize>,
    labels: Vec<String>,
    edges: Vec<String>,
    left_out: usize,
}

impl Drawing {
    /// None if there are enough.
    fn node(&mut self, point: &CodePoint) -> Option<usize> {
        let frame = &point.frame;
        let function = frame.function.clone().unwrap_or_default();
        let file = frame.file.clone().unwrap_or_else(|| point.code.offset.clone());
        let place = (file, function, frame.line.unwrap_or(0));
        if let Some(&number) = self.numbers.get(&place) {
            return Some(number);
        }
        if self.labels.len() >= MOST_NODES {
            self.left_out += 1;
            return None;
        }
        let number = self.labels.len();
        let variable = words::variable(point.variable.as_ref(), COLUMNS);
        let does = format!("{} {variable}", words::does_kind(point.kind));
        self.labels.push(label(&does, point.text.as_deref(), frame));
        self.numbers.insert(place, number);
        Some(number)
    }

    fn text(&self, name: &str, legend: &str) -> String {
        let left_out = match self.left_out {
            0 => String::new(),
            left_out => format!("; {left_out} ends of edges left out"),
        };
        let mut text = head(name, &format!("{legend}{left_out}"));
        let mut functions: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        for ((file, function, _), &number) in &self.numbers {
            functions.entry((file, function)).or_default().push(number);
        }
        for (((file, function), nodes), cluster) in functions.iter().zip(0..) {
            let title = cut(&printable(&format!("{function} ({file})")), COLUMNS);
            let _ = writeln!(
                text,
                "  subgraph cluster_{cluster} {{\n    label=\"{}\";",
                escaped(&title)
            );
            for node in nodes {
                let _ = writeln!(text, "    n{node} [label=\"{}\"];", self.labels[*node]);
            }
            text.push_str("  }\n");
        }
        self.edges.iter().for_each(|edge| text += &format!("{edge}\n"));
        text + "}\n"
    }
}

fn head(name: &str, legend: &str) -> String {
    format!(
        "digraph \"{}\" {{\n  label=\"{}\";\n  node [shape=box, fontname=\"monospace\", fontsize=10];\n  edge [fontsize=9];\n",
        escaped(name),
        escaped(legend)
    )
}

/// What it does, the line of source, where it is.
fn label(does: &str, text: Option<&str>, frame: &Frame) -> String {
    let place = words::brief_place(frame);
    let lines = [Some(does.to_owned()), text.map(str::to_owned), place].into_iter().flatten();
    let lines = lines.map(|line| escaped(&cut(&printable(&line), COLUMNS)));
    lines.collect::<Vec<_>>().join("\\n")
}

/// Nothing from a file can end a text of the graph.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
