//! Which operator an expression has: libclang 16 does not say, so the source does.

use std::rc::Rc;

use clang::Entity;
use clang::source::{File, Location, SourceLocation};
use rustc_hash::FxHashMap;

/// Longest stretch between two operands in which an operator is looked for: comments may be there.
const LONGEST_GAP: usize = 2000;

/// Contents of the files that were met.
#[derive(Default)]
pub struct Texts<'tu> {
    known: FxHashMap<File<'tu>, Rc<Vec<u8>>>,
    /// Mostly the same one is asked for again.
    last: Option<(File<'tu>, Rc<Vec<u8>>)>,
}

impl<'tu> Texts<'tu> {
    pub fn of(&mut self, file: File<'tu>) -> Rc<Vec<u8>> {
        if let Some((last, text)) = &self.last
            && *last == file
        {
            return Rc::clone(text);
        }
        let read = || Rc::new(std::fs::read(file.get_path()).unwrap_or_default());
        let text = Rc::clone(self.known.entry(file).or_insert_with(read));
        self.last = Some((file, Rc::clone(&text)));
        text
    }

    /// The operator between two operands: `=`, `==`, `&&`; nothing where a macro hides it.
    pub fn between(&mut self, left: Entity<'tu>, right: Entity<'tu>) -> Option<String> {
        let from = left.get_range()?.get_end().get_spelling_location();
        let to = right.get_range()?.get_start().get_spelling_location();
        let (from_at, to_at) = (from.offset as usize, to.offset as usize);
        if from.file != to.file || from_at > to_at || to_at - from_at > LONGEST_GAP {
            return None;
        }
        let text = self.of(from.file?);
        let sign = operator_in(text.get(from_at..to_at)?)?;
        // Between two arguments of a macro the comma is the macro's, and the operator is hidden in it.
        (sign != "," || !is_argument(left)).then_some(sign)
    }

    /// The operator of an expression with one operand, and whether it comes first.
    pub fn unary(&mut self, expression: Entity<'tu>) -> Option<(String, bool)> {
        let range = expression.get_range()?;
        let start = range.get_start().get_spelling_location();
        let text = self.of(start.file?);
        let first = text.get(start.offset as usize..)?;
        if let Some(prefix) = ["++", "--"].iter().find(|word| first.starts_with(word.as_bytes())) {
            return Some(((*prefix).to_owned(), true));
        }
        if let Some(&byte) = first.first().filter(|byte| b"&*!-+~".contains(byte)) {
            return Some((char::from(byte).to_string(), true));
        }
        let end = range.get_end().get_spelling_location();
        if end.file != start.file {
            return None;
        }
        let last = text.get((end.offset as usize).checked_sub(2)?..end.offset as usize)?;
        let is_step = last == b"++" || last == b"--";
        is_step.then(|| (String::from_utf8_lossy(last).into_owned(), false))
    }

    /// The name that an expression begins with, or that of the macro that writes it.
    pub fn first_word(&mut self, expression: Entity<'tu>) -> Option<String> {
        let at = expression.get_location()?.get_file_location();
        let text = self.of(at.file?);
        let word = text.get(at.offset as usize..)?.iter().take_while(|byte| is_of_word(byte));
        Some(word.map(|&byte| char::from(byte)).collect())
    }

    /// The name that an expression ends with.
    pub fn last_word(&mut self, expression: Entity<'tu>) -> Option<String> {
        let end = expression.get_range()?.get_end().get_file_location();
        let text = self.of(end.file?);
        let before = text.get(..end.offset as usize)?;
        let length = before.iter().rev().take_while(|byte| is_of_word(byte)).count();
        Some(String::from_utf8_lossy(&before[before.len() - length..]).into_owned())
    }

    /// What is written for an expression, if it is a plain constant: a number, a name.
    pub fn constant(&mut self, expression: Entity<'tu>) -> Option<String> {
        let range = expression.get_range()?;
        let (start, end) = (written(range.get_start()), written(range.get_end()));
        if start.file != end.file {
            return None;
        }
        let text = self.of(start.file?);
        let words = text.get(start.offset as usize..end.offset as usize)?;
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_:-'\\".contains(byte);
        let is_short = !words.is_empty() && words.len() <= 40;
        (is_short && words.iter().all(is_plain)).then(|| String::from_utf8_lossy(words).into())
    }
}

fn is_of_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_'
}

/// Whether a macro was given it.
fn is_argument(expression: Entity<'_>) -> bool {
    expression.get_range().is_some_and(|range| {
        let start = range.get_start();
        start.get_expansion_location().offset != start.get_file_location().offset
    })
}

/// Where it stands in the file, even if a macro stands there.
fn written<'tu>(location: SourceLocation<'tu>) -> Location<'tu> {
    location.get_expansion_location()
}

fn operator_in(gap: &[u8]) -> Option<String> {
    let mut rest = gap;
    loop {
        rest = rest.trim_ascii_start();
        if let Some(comment) = rest.strip_prefix(b"/*") {
            let end = comment.windows(2).position(|pair| pair == b"*/")?;
            rest = &comment[end + 2..];
        } else if let Some(comment) = rest.strip_prefix(b"//") {
            let end = comment.iter().position(|&byte| byte == b'\n')?;
            rest = &comment[end..];
        } else if let Some(after) = rest.strip_prefix(b"\\").or_else(|| rest.strip_prefix(b")")) {
            rest = after;
        } else {
            break;
        }
    }
    let is_sign = |byte: &&u8| b"=!<>&|^+-*/%,".contains(byte);
    let sign: Vec<u8> = rest.iter().take_while(is_sign).copied().collect();
    // An operand may begin with a sign of its own: `a = -b`, `a == &b`.
    let known: [&[u8]; 12] =
        [b"<=>", b"==", b"!=", b"<=", b">=", b"&&", b"||", b"<<", b">>", b"=", b"&", b","];
    let found = known.iter().find(|word| sign.starts_with(word));
    match found {
        Some(word) => Some(String::from_utf8_lossy(word).into_owned()),
        None if sign.is_empty() => None,
        None => Some(char::from(sign[0]).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::operator_in;

    #[test]
    fn operators_are_found_behind_comments_and_brackets() {
        for (gap, operator) in [
            (" = ", "="),
            (" == ", "=="),
            (" /* why = */ |= ", "|"),
            (" // note\n  && ", "&&"),
            (")\\\n = ", "="),
            (" <= ", "<="),
            (", ", ","),
            ("=-", "="),
        ] {
            assert_eq!(operator_in(gap.as_bytes()).as_deref(), Some(operator), "{gap}");
        }
        assert_eq!(operator_in(b"  "), None);
    }
}
