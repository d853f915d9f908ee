//! Who communicated with whom, as a graph.

use std::collections::BTreeMap;
use std::fmt::Write;

use unpick_findings::{CodePoint, PointPlace, Reconstruction};

use super::{COLUMNS, box_head, head, label};
use crate::layout::{cut_front, printable};
use crate::short_names::shortened;
use crate::words;

/// More nodes than this nobody can read.
const MOST_NODES: usize = 50;
/// Lines of edges that no and that all failing runs have.
const THINNEST: f64 = 0.6;
const THICKEST: f64 = 3.0;

/// What stands for a node: file, function, line.
type Place = (String, String, u32);

/// The communication graph of some reconstructions: a node per line, a box per function, an edge from each write to the access that
/// met it. Of several between the same two lines the most suspicious stands for all.
pub fn communication(reconstructions: &[Reconstruction]) -> String {
    let mut graph = Drawing::default();
    for one in reconstructions {
        let end = |place: PointPlace| one.points.iter().find(|point| point.place == place);
        let (Some(source), Some(sink)) = (end(PointPlace::Source), end(PointPlace::Sink)) else {
            continue;
        };
        if let [Some(source), Some(sink)] = [source, sink].map(|point| graph.node(point)) {
            graph.edges.entry((source, sink)).or_default().push(one);
        }
    }
    graph.text()
}

/// Nodes by place, and edges between them.
#[derive(Default)]
struct Drawing<'r> {
    numbers: BTreeMap<Place, usize>,
    labels: Vec<String>,
    edges: BTreeMap<(usize, usize), Vec<&'r Reconstruction>>,
    left_out: usize,
}

impl Drawing<'_> {
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

    fn text(&self) -> String {
        let mut text = head("communication", &self.legend(), true);
        text += &self.boxes();
        let shown = || self.edges.values().flatten();
        let best = shown().map(|one| one.rank).min().unwrap_or(0);
        let most = shown().map(|one| one.failed_runs).max().unwrap_or(0);
        for ((source, sink), all) in &self.edges {
            let _ = writeln!(text, "  n{source} -> n{sink} [{}];", edge(all, best, most));
        }
        text + "}\n"
    }

    fn legend(&self) -> String {
        let left_out = match self.left_out {
            0 => String::new(),
            left_out => format!(" {left_out} ends of edges left out."),
        };
        format!(
            "From each write to the access that met it. On an edge: its rank, then how many failing/passing runs have it, \
             then (+n) how many more there are between the same two lines; red for the best rank, the thicker the more \
             failing runs.{left_out}"
        )
    }

    fn boxes(&self) -> String {
        let mut functions: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
        for ((file, function, _), &number) in &self.numbers {
            functions.entry((file, function)).or_default().push(number);
        }
        let mut text = String::new();
        for (((file, function), nodes), number) in functions.iter().zip(0..) {
            let title =
                [shortened(&printable(function), COLUMNS), cut_front(&printable(file), COLUMNS)];
            text += &box_head(number, title);
            for node in nodes {
                let _ = writeln!(text, "    n{node} [label=\"{}\"];", self.labels[*node]);
            }
            text.push_str("  }\n");
        }
        text
    }
}

/// How an edge is drawn that stands for all of these; of all edges the best rank and the most failing runs.
fn edge(all: &[&Reconstruction], best: u32, most: u32) -> String {
    let Some(first) = all.iter().min_by_key(|one| one.rank) else { return String::new() };
    let further = match all.len() - 1 {
        0 => String::new(),
        further => format!(" (+{further})"),
    };
    let share = f64::from(first.failed_runs) / f64::from(most.max(1));
    let colour = if first.rank == best { ", color=red, fontcolor=red" } else { "" };
    format!(
        "label=\"{}: {}/{}{further}\", penwidth={:.1}, weight={}{colour}",
        first.rank,
        first.failed_runs,
        first.passed_runs,
        THINNEST + (THICKEST - THINNEST) * share,
        1 + (9.0 * share) as u32
    )
}
