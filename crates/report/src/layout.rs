//! Text in columns: widths as terminals count them, lines broken or cut to fit.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns a text takes.
pub fn width_of(text: &str) -> usize {
    text.width()
}

/// Texts come from files: no control character of theirs reaches the terminal. Blanks and tabs in a row become one blank.
pub fn printable(text: &str) -> String {
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    let words: Vec<String> =
        text.split_whitespace().map(|word| word.chars().map(shown).collect()).collect();
    words.join(" ")
}

/// Cut at the end so that it fits.
pub fn cut(text: &str, columns: usize) -> String {
    if width_of(text) <= columns {
        return text.to_owned();
    }
    format!("{}…", beginning(text, columns.saturating_sub(1)))
}

/// Cut at the beginning so that it fits: the end of a path says most.
pub fn cut_front(text: &str, columns: usize) -> String {
    if width_of(text) <= columns {
        return text.to_owned();
    }
    let mut left = columns.saturating_sub(1);
    let fitting = text.char_indices().rev().take_while(|(_, c)| {
        let fits = c.width().unwrap_or(0) <= left;
        left = left.saturating_sub(c.width().unwrap_or(0));
        fits
    });
    let start = fitting.last().map_or(text.len(), |(at, _)| at);
    format!("…{}", &text[start..])
}

/// As much of the beginning as fits.
fn beginning(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    let end = text.char_indices().find(|(_, c)| {
        taken += c.width().unwrap_or(0);
        taken > columns
    });
    &text[..end.map_or(text.len(), |(at, _)| at)]
}

/// Filled up with blanks.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width_of(text))))
}

/// Broken into lines between words; words that are too long for a line are broken themselves.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if line.is_empty() {
            line = broken(word, columns, &mut lines).to_owned();
        } else if width_of(&line) + 1 + width_of(word) <= columns {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(line);
            line = broken(word, columns, &mut lines).to_owned();
        }
    }
    lines.push(line);
    lines
}

/// Puts all lines that a long word fills into `lines`, and gives the rest of it.
fn broken<'w>(mut word: &'w str, columns: usize, lines: &mut Vec<String>) -> &'w str {
    while width_of(word) > columns {
        let first = beginning(word, columns);
        if first.is_empty() {
            break; // a wide character in a very narrow column
        }
        lines.push(first.to_owned());
        word = &word[first.len()..];
    }
    word
}

/// Broken into at most so many lines; what is left out shows as `…`.
pub fn wrapped_at_most(text: &str, columns: usize, most: usize) -> Vec<String> {
    let mut lines = wrapped(text, columns);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = cut(&format!("{last} …"), columns);
            if !last.ends_with('…') {
                last.push('…');
            }
        }
    }
    lines
}

/// Lines that all begin with `indent`, ended by line feeds.
pub fn paragraph(text: &str, columns: usize, indent: &str) -> String {
    let lines = wrapped(text, columns.saturating_sub(width_of(indent)));
    lines.iter().map(|line| format!("{indent}{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_as_two_columns() {
        assert_eq!(cut("余额余额", 8), "余额余额");
        assert_eq!(cut("余额余额", 7), "余额余…");
        assert_eq!(cut("余额余额", 6), "余额…");
        assert_eq!(cut_front("余额余额", 6), "…余额");
        assert_eq!(padded("余额", 6), "余额  ");
        assert_eq!(wrapped("余额", 3), ["余", "额"]);
        assert_eq!(wrapped("余额", 1), ["余额"]);
    }

    #[test]
    fn long_words_are_broken_and_long_texts_say_that_there_is_more() {
        assert_eq!(wrapped("a bb ccccc d", 4), ["a bb", "cccc", "c d"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped_at_most("one two three", 5, 2), ["one", "two …"]);
        assert_eq!(wrapped_at_most("one two three", 7, 1), ["one tw…"]);
        assert_eq!(cut_front("/usr/include/vector", 8), "…/vector");
    }

    #[test]
    fn nothing_from_a_file_can_steer_the_terminal() {
        assert_eq!(printable("\tx =\t\x1b[31m1;\r"), "x = \u{fffd}[31m1;");
    }
}
