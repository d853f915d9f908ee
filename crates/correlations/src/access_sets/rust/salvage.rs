//! What can be read of a file that does not parse: its parts one by one, as the indentation shows them.
//!
//! Takes   the text.      Gives  the items that parse, with their lines; of an `impl`, `trait` or `mod` the parts that do.
//! Misses  items that do not begin at the margin (of the file, or of what encloses them).

use syn::Item;

use super::parsing::items_of;

/// Words with which items begin.
const BEGINNINGS: [&str; 17] = [
    "pub",
    "fn",
    "struct",
    "enum",
    "union",
    "impl",
    "trait",
    "mod",
    "use",
    "static",
    "const",
    "type",
    "unsafe",
    "async",
    "extern",
    "macro_rules",
    "thread_local",
];

/// Levels of indentation that are looked at.
const DEEPEST: usize = 3;

/// What came of it.
#[derive(Default)]
pub struct Salvaged {
    pub items: Vec<Item>,
    /// Parts that were tried, and those that do not parse.
    pub parts: usize,
    pub lost: usize,
}

pub fn salvage(text: &str) -> Salvaged {
    let lines: Vec<&str> = text.lines().collect();
    let mut saved = Salvaged::default();
    let kept = sound_lines(&lines, 0, 0, &mut saved);
    if let Ok(items) = items_of(&kept.join("\n")) {
        saved.items = items;
    }
    saved
}

/// The lines, with those of parts that do not parse left empty: the others keep their numbers.
fn sound_lines<'t>(
    lines: &[&'t str],
    indentation: usize,
    depth: usize,
    saved: &mut Salvaged,
) -> Vec<&'t str> {
    let mut kept = vec![""; lines.len()];
    for (from, to) in parts(lines, indentation) {
        let part = &lines[from..to];
        saved.parts += 1;
        if is_sound(part, depth > 0) {
            kept[from..to].copy_from_slice(part);
        } else if let Some(inside) = inside(part).filter(|_| depth < DEEPEST) {
            let deeper = indentation_of(&part[inside.0..inside.1]).unwrap_or(indentation + 4);
            let sound = sound_lines(&part[inside.0..inside.1], deeper, depth + 1, saved);
            let mut whole: Vec<&str> = part.to_vec();
            whole[inside.0..inside.1].copy_from_slice(&sound);
            if is_sound(&whole, depth > 0) {
                kept[from..to].copy_from_slice(&whole);
            }
        } else {
            saved.lost += 1;
        }
    }
    kept
}

/// Where parts begin and end: with a line at the margin that begins an item, or with its attributes and comments.
fn parts(lines: &[&str], indentation: usize) -> Vec<(usize, usize)> {
    let mut beginnings: Vec<usize> = Vec::new();
    let mut announced = None;
    for (at, line) in lines.iter().enumerate() {
        let rest = line.trim_start();
        if rest.is_empty() || line.len() - rest.len() != indentation {
            continue;
        }
        let is_announcement = rest.starts_with("#[") || rest.starts_with("//");
        let word = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(rest);
        if is_announcement {
            announced = announced.or(Some(at));
        } else if BEGINNINGS.contains(&word) {
            beginnings.push(announced.take().unwrap_or(at));
        } else {
            announced = None;
        }
    }
    let ends = beginnings.iter().skip(1).copied().chain([lines.len()]);
    beginnings.iter().copied().zip(ends).collect()
}

/// The lines between the first with an opening brace at its end and the last with a closing one at its beginning.
fn inside(part: &[&str]) -> Option<(usize, usize)> {
    let holds_parts = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().take(3).collect();
        words.iter().any(|word| ["impl", "trait", "mod"].iter().any(|one| word.starts_with(one)))
    };
    part.iter().find(|line| holds_parts(line))?;
    let from = part.iter().position(|line| line.trim_end().ends_with('{'))? + 1;
    let to = part.iter().rposition(|line| line.trim() == "}")?;
    (from < to).then_some((from, to))
}

fn indentation_of(lines: &[&str]) -> Option<usize> {
    let first = lines.iter().find(|line| !line.trim().is_empty())?;
    Some(first.len() - first.trim_start().len())
}

fn is_sound(part: &[&str], is_inside: bool) -> bool {
    let text = part.join("\n");
    items_of(&text).is_ok() || is_inside && items_of(&format!("impl X {{\n{text}\n}}")).is_ok()
}
