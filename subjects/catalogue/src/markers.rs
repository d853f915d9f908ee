//! Markers: a comment like `/* BUG: 1 */` or `/* BUG: 2, 3 */` at the end of a source line says which accesses of
//! the true pattern are made there. Lines may move, markers move with them.

use std::collections::BTreeMap;

/// The line (from 1) of every marker.
///
/// # Panics
/// If a marker is no number, or stands on two lines.
#[must_use]
pub fn lines_of_markers(source: &str) -> BTreeMap<u32, u32> {
    let mut lines = BTreeMap::new();
    for (text, line) in source.lines().zip(1..) {
        for marker in markers_in(text) {
            let before = lines.insert(marker, line);
            assert_eq!(before, None, "marker {marker} is there twice, again in line {line}");
        }
    }
    lines
}

fn markers_in(line: &str) -> Vec<u32> {
    let Some((_, rest)) = line.split_once("/* BUG:") else { return Vec::new() };
    let list = rest.split("*/").next().unwrap_or_default();
    let number = |text: &str| text.trim().parse().unwrap_or_else(|_| panic!("no marker: {line}"));
    list.split(',').map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::lines_of_markers;

    #[test]
    fn one_line_can_carry_several_markers() {
        let source = "a = b; /* BUG: 1 */\n\nc++; /* BUG: 2, 3 */\n";
        assert_eq!(
            lines_of_markers(source).into_iter().collect::<Vec<_>>(),
            [(1, 1), (2, 3), (3, 3)]
        );
    }

    #[test]
    #[should_panic(expected = "marker 1 is there twice")]
    fn a_marker_on_two_lines_is_refused() {
        let _ = lines_of_markers("a; /* BUG: 1 */\nb; /* BUG: 1 */");
    }
}
