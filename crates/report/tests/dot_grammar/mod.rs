//! A strict reader of Graphviz's language: what it accepts, `dot` accepts, and draws as it is meant.
//!
//! Takes   a text.      Gives  its graphs.
//! Misses  parts of the language that nobody here writes: HTML, ports, attributes in several lists, undirected graphs, comments.
//! Stricter than Graphviz: names of attributes are known ones, a node is told before an edge leads to it, and once.

use std::collections::BTreeSet;

/// Attributes that graphs here may set: Graphviz says nothing about one that is misspelled.
const ATTRIBUTES: [&str; 17] = [
    "arrowsize",
    "color",
    "fillcolor",
    "fontcolor",
    "fontname",
    "fontsize",
    "label",
    "labeljust",
    "labelloc",
    "margin",
    "nodesep",
    "penwidth",
    "rankdir",
    "ranksep",
    "shape",
    "style",
    "weight",
];

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Graph {
    pub name: String,
    /// In the order they are told.
    pub nodes: Vec<(String, String)>,
    pub edges: Vec<(String, String)>,
    pub boxes: usize,
}

/// All graphs of a text; panics where it is not the language.
#[track_caller]
pub fn graphs(text: &str) -> Vec<Graph> {
    read(text).unwrap_or_else(|why| panic!("{why}\n{text}"))
}

pub fn read(text: &str) -> Result<Vec<Graph>, String> {
    let mut reader = Reader { tokens: tokens(text)?, at: 0 };
    let mut graphs = Vec::new();
    while reader.at < reader.tokens.len() {
        graphs.push(reader.graph()?);
    }
    Ok(graphs)
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// A name as it is, or a number.
    Word(String),
    /// A text in quotation marks, without them; escapes are left.
    Quoted(String),
    Mark(&'static str),
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let mark = ["->", "{", "}", "[", "]", "=", ";", ","]
            .into_iter()
            .find(|mark| rest.starts_with(mark));
        let length = if let Some(mark) = mark {
            tokens.push(Token::Mark(mark));
            mark.len()
        } else if first == '"' {
            let inner =
                quoted(&rest[1..]).ok_or_else(|| format!("a text without an end: {rest:.60}"))?;
            tokens.push(Token::Quoted(inner.to_owned()));
            inner.len() + 2
        } else {
            let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
            let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            let word = &rest[..end];
            let is_name = !first.is_ascii_digit() && !word.contains('.');
            if word.is_empty() || !(is_name || word.parse::<f64>().is_ok()) {
                return Err(format!("neither name nor number nor mark: {rest:.60}"));
            }
            tokens.push(Token::Word(word.to_owned()));
            end
        };
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Up to the quotation mark that ends it. Nothing is escaped but what has to be, and ends of lines.
fn quoted(text: &str) -> Option<&str> {
    let mut escapes = false;
    for (at, c) in text.char_indices() {
        match (escapes, c) {
            (true, '\\' | '"' | 'n' | 'l') => escapes = false,
            (true, _) => return None,
            (false, '"') => return Some(&text[..at]),
            (false, '\\') => escapes = true,
            (false, c) if c.is_control() => return None,
            (false, _) => {}
        }
    }
    None
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
}

impl Reader {
    fn next(&mut self) -> Result<Token, String> {
        let token = self.tokens.get(self.at).cloned().ok_or("the text ends in the middle")?;
        self.at += 1;
        Ok(token)
    }

    fn comes(&mut self, mark: &'static str) -> bool {
        let comes = self.tokens.get(self.at) == Some(&Token::Mark(mark));
        self.at += usize::from(comes);
        comes
    }

    fn expect(&mut self, mark: &'static str) -> Result<(), String> {
        if self.comes(mark) { Ok(()) } else { Err(format!("no `{mark}` before token {}", self.at)) }
    }

    fn text(&mut self) -> Result<String, String> {
        match self.next()? {
            Token::Word(text) | Token::Quoted(text) => Ok(text),
            Token::Mark(mark) => Err(format!("`{mark}` in place of a text, token {}", self.at)),
        }
    }

    fn graph(&mut self) -> Result<Graph, String> {
        if self.text()? != "digraph" {
            return Err("no directed graph".to_owned());
        }
        let mut graph = Graph { name: self.text()?, ..Graph::default() };
        self.expect("{")?;
        self.statements(&mut graph)?;
        let known: BTreeSet<&String> = graph.nodes.iter().map(|(name, _)| name).collect();
        if known.len() != graph.nodes.len() {
            return Err("a node is told twice".to_owned());
        }
        Ok(graph)
    }

    /// Up to the brace that ends them.
    fn statements(&mut self, graph: &mut Graph) -> Result<(), String> {
        while !self.comes("}") {
            let first = self.text()?;
            if first == "subgraph" {
                if !self.text()?.starts_with("cluster_") {
                    return Err("a box that is not drawn".to_owned());
                }
                graph.boxes += 1;
                self.expect("{")?;
                self.statements(graph)?;
                continue;
            }
            if self.comes("=") {
                check_attribute(&first)?;
                self.text()?;
            } else if self.comes("->") {
                let sink = self.text()?;
                let is_known = |end: &String| graph.nodes.iter().any(|(name, _)| name == end);
                if !is_known(&first) || !is_known(&sink) {
                    return Err(format!("an edge of unknown nodes: {first} -> {sink}"));
                }
                graph.edges.push((first, sink));
                self.attributes()?;
            } else {
                let attributes = self.attributes()?;
                let label = attributes.into_iter().find(|(name, _)| name == "label");
                if first != "node" && first != "edge" {
                    let (_, label) = label.ok_or_else(|| format!("{first} has no label"))?;
                    graph.nodes.push((first, label));
                }
            }
            self.expect(";")?;
        }
        Ok(())
    }

    fn attributes(&mut self) -> Result<Vec<(String, String)>, String> {
        let mut attributes = Vec::new();
        if !self.comes("[") {
            return Ok(attributes);
        }
        loop {
            let name = self.text()?;
            check_attribute(&name)?;
            self.expect("=")?;
            attributes.push((name, self.text()?));
            if !self.comes(",") {
                self.expect("]")?;
                return Ok(attributes);
            }
        }
    }
}

fn check_attribute(name: &str) -> Result<(), String> {
    if ATTRIBUTES.contains(&name) { Ok(()) } else { Err(format!("unknown attribute {name}")) }
}
