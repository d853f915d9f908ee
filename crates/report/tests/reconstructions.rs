//! Reconstructions as text and as graphs, hand-made.

mod dot_grammar;

use std::io::Write;
use std::process::{Command, Stdio};

use dot_grammar::graphs;
use unpick_findings::{
    AccessKind, CodePlace, CodePoint, Frame, PointPlace, PointThread, RECONSTRUCTIONS_SCHEMA,
    Reconstruction, ReconstructionList, Runs,
};
use unpick_report::{Style, dot, reconstructions};

fn style(width: usize) -> Style {
    let (folder, kept_lines, command_options) = Default::default();
    Style { width, colour: false, folder, kept_lines, command_options }
}

fn point(place: PointPlace, thread: PointThread, function: &str, line: u32) -> CodePoint {
    let frame = Frame {
        function: Some(function.to_owned()),
        file: Some("src/bank.c".to_owned()),
        line: Some(line),
        column: Some(3),
    };
    let is_look = function == "look";
    CodePoint {
        place,
        thread,
        confidence: if place == PointPlace::Prefix { 0.96 } else { 1.0 },
        kind: if is_look { AccessKind::Read } else { AccessKind::Write },
        variable: Some("account.balance".to_owned()),
        frame,
        text: Some(format!("balance = \"{line}\";\t// \\ ")),
        code: CodePlace { module: None, build_id: None, offset: "0x10".to_owned() },
    }
}

fn reconstruction(first_line: u32) -> Reconstruction {
    use PointPlace::{Body, Prefix, Sink, Source, Suffix};
    Reconstruction {
        rank: 1,
        score: 24.5,
        buggy_frequency: 26.0,
        context_variation: 1.0,
        consistency: 0.94,
        earliness: 1.0,
        overlap: 1.0,
        failed_runs: 25,
        passed_runs: 0,
        source_context: Vec::new(),
        sink_context: vec!["rw".to_owned()],
        points: vec![
            point(Prefix, PointThread::Sink, "look", first_line),
            point(Source, PointThread::Source, "put", first_line + 1),
            point(Body, PointThread::Another, "look", first_line + 2),
            point(Sink, PointThread::Sink, "put", first_line + 3),
            point(Suffix, PointThread::Source, "look", first_line + 4),
        ],
    }
}

fn list(count: u32) -> ReconstructionList {
    ReconstructionList {
        schema: RECONSTRUCTIONS_SCHEMA.to_owned(),
        runs: Runs { total: 51, passed: 25, failed: 25, unusable: 1 },
        reconstructed: 12,
        reconstructions: (0..count).map(|number| reconstruction(10 + 10 * number)).collect(),
    }
}

#[test]
fn a_reconstruction_tells_before_between_and_after_in_the_column_of_each_thread() {
    let text = reconstructions(&list(1), &style(80));
    let column = |words: &str| {
        let line = text.lines().find(|line| line.contains(words)).expect(words);
        line.split(" | ").position(|cell| cell.contains(words)).unwrap()
    };
    assert_eq!(column("balance = \"10\""), 2, "the thread that met it");
    assert_eq!(column("balance = \"11\""), 1, "the thread that wrote");
    assert_eq!(column("another thread reads"), 1);
    let places = ["before", "the write", "between", "what met it", "after"];
    let at = places.map(|place| text.lines().position(|line| line == place).expect(place));
    assert!(at.is_sorted(), "{text}");
    assert!(text.contains("   96%  |"), "{text}");
    assert!(text.contains("in 25 of 25 failing and 0 of 25 passing runs"));
    assert!(text.ends_with("next: unpick reconstruct --dot graph.dot\n"));
    for width in [60, 80, 120] {
        let text = reconstructions(&list(2), &style(width));
        let table = text.lines().filter(|line| line.contains(" | "));
        assert!(table.into_iter().all(|line| line.chars().count() <= width), "{text}");
    }
}

#[test]
fn without_reconstructions_the_next_command_leads_elsewhere() {
    let text = reconstructions(&list(0), &style(80));
    assert!(text.contains("12 pairs of code points reconstructed, 0 shown."));
    assert!(text.ends_with("next: unpick show\n"));
}

#[test]
fn a_graph_has_a_box_per_function_and_no_more_nodes_than_can_be_read() {
    let text = dot::communication(&list(2).reconstructions);
    let [graph] = graphs(&text).try_into().unwrap();
    assert_eq!(graph.name, "communication");
    assert_eq!(
        (graph.boxes, graph.nodes.len(), graph.edges.len()),
        (1, 4, 2),
        "both ends are in put"
    );
    let expected = "writes account.balance\\lbalance = \\\"11\\\"; // \\\\\\lbank.c:11\\l";
    assert_eq!(graph.nodes[0].1, expected, "flush left, and escaped");
    let text = dot::communication(&list(60).reconstructions);
    let [large] = graphs(&text).try_into().unwrap();
    assert_eq!((large.nodes.len(), large.edges.len()), (50, 25));
    let legend = text.replace("\\l", " ");
    assert!(legend.contains("70 ends of edges left out"), "{text}");
}

#[test]
fn several_edges_between_two_lines_are_drawn_as_one() {
    let second = Reconstruction { rank: 7, failed_runs: 5, passed_runs: 2, ..reconstruction(10) };
    let other = Reconstruction { rank: 3, failed_runs: 5, ..reconstruction(20) };
    let text = dot::communication(&[reconstruction(10), second, other]);
    let [graph] = graphs(&text).try_into().unwrap();
    assert_eq!(graph.edges.len(), 2);
    assert!(
        text.contains(
            "[label=\"1: 25/0 (+1)\", penwidth=3.0, weight=10, color=red, fontcolor=red];"
        ),
        "{text}"
    );
    assert!(text.contains("[label=\"3: 5/0\", penwidth=1.1, weight=2];"), "{text}");
}

/// Texts that files can have in them, and that mean something to Graphviz.
const NASTY: [&str; 9] = [
    "\"",
    "\\",
    "\\\"",
    "\\l",
    "\"; }\ndigraph \"x\" {",
    "<b>x</b>",
    "\u{1b}[31m\r\n\t",
    "// /* # */",
    "äß\u{202e}…",
];

#[test]
fn nothing_in_names_and_lines_of_source_can_leave_its_place() {
    for nasty in NASTY {
        let mut one = reconstruction(10);
        for point in &mut one.points {
            point.text = Some(nasty.to_owned());
            point.variable = Some(nasty.repeat(30));
            point.frame.function = Some(nasty.to_owned());
            point.frame.file = Some(format!("src/{nasty}"));
        }
        let [graph] = graphs(&dot::communication(&[one])).try_into().unwrap();
        assert_eq!((graph.boxes, graph.nodes.len(), graph.edges.len()), (1, 2, 1), "{nasty:?}");
    }
}

/// Graphviz itself, where it is installed.
#[test]
fn graphviz_draws_what_the_strict_reader_accepts() {
    let text = dot::communication(&list(60).reconstructions);
    let Ok(mut drawing) = Command::new("dot")
        .arg("-Tplain")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
    else {
        return;
    };
    drawing.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = drawing.wait_with_output().unwrap();
    let plain = String::from_utf8(output.stdout).unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !told.contains("rror"), "{told}");
    assert_eq!(plain.lines().filter(|line| line.starts_with("node ")).count(), 50);
    assert_eq!(plain.lines().filter(|line| line.starts_with("edge ")).count(), 25);
}
