//! Source text cut into tokens, each findable by line and column.
//!
//! Takes   the text of a C, C++ or Rust file.      Gives  tokens without comments and preprocessor lines.
//! Misses  columns inside macro definitions: compilers point at the use of a macro instead.
//! Cost    one pass per file. Columns count bytes, as gcc, clang and rustc do.

/// What a token is, as far as naming an access needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A name or keyword.
    Word,
    Number,
    /// A string, character or Rust lifetime.
    Literal,
    Punctuation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
    /// From 1.
    pub line: u32,
    /// From 1, in bytes.
    pub column: u32,
}

/// A source file and its tokens.
pub struct Source {
    text: String,
    tokens: Vec<Token>,
    pub is_rust: bool,
}

impl Source {
    pub fn new(text: String, is_rust: bool) -> Source {
        let mut lexer = Lexer::new(&text, is_rust);
        lexer.run();
        let tokens = lexer.tokens;
        Source { text, tokens, is_rust }
    }

    /// The text of a line, from 1.
    pub fn line(&self, line: u32) -> Option<&str> {
        self.text.lines().nth((line as usize).checked_sub(1)?)
    }

    /// The token that begins exactly there.
    pub fn token_at(&self, line: u32, column: u32) -> Option<usize> {
        self.tokens.binary_search_by_key(&(line, column), |token| (token.line, token.column)).ok()
    }

    /// The first token of a line and those behind it.
    pub fn first_of_line(&self, line: u32) -> usize {
        self.tokens.partition_point(|token| token.line < line)
    }

    pub fn get(&self, index: usize) -> Option<&Token> {
        self.tokens.get(index)
    }

    /// The text of a token; empty beyond the end, so that rules need no special case there.
    pub fn word(&self, index: usize) -> &str {
        self.tokens.get(index).map_or("", |token| &self.text[token.start..token.end])
    }

    pub fn kind(&self, index: usize) -> Option<Kind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    /// The tokens of a range as one line: blanks survive only inside brackets and between words.
    pub fn joined(&self, first: usize, end: usize) -> String {
        let mut text = String::new();
        let mut open = 0_i32;
        for index in first..end {
            let word = self.word(index);
            let closes = matches!(word, ")" | "]" | "}");
            open -= i32::from(closes);
            if index > first && self.blank_before(index, open, closes) {
                text.push(' ');
            }
            open += i32::from(matches!(word, "(" | "[" | "{"));
            text.push_str(word);
        }
        text
    }

    fn blank_before(&self, index: usize, open: i32, closes: bool) -> bool {
        let is_word = |index| matches!(self.kind(index), Some(Kind::Word | Kind::Number));
        let apart = self.tokens[index - 1].end < self.tokens[index].start;
        let after_opening = matches!(self.word(index - 1), "(" | "[" | "{");
        apart && ((open > 0 && !closes && !after_opening) || (is_word(index - 1) && is_word(index)))
    }
}

const LONG_PUNCTUATION: [&str; 27] = [
    "<<=", ">>=", "...", "..=", "->", "++", "--", "::", "==", "!=", "<=", ">=", "&&", "||", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "=>", "<<", ">>", "..", "##",
];

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    line_start: usize,
    is_rust: bool,
    tokens: Vec<Token>,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str, is_rust: bool) -> Self {
        let bytes = text.as_bytes();
        Lexer { text, bytes, at: 0, line: 1, line_start: 0, is_rust, tokens: Vec::new() }
    }

    fn run(&mut self) {
        while self.at < self.bytes.len() {
            let start = self.at;
            let (line, line_start) = (self.line, self.line_start);
            if let Some(kind) = self.step() {
                let column = u32::try_from(start - line_start + 1).unwrap_or(u32::MAX);
                self.tokens.push(Token { kind, start, end: self.at, line, column });
            }
        }
    }

    /// Moves over one token or over something that is none.
    fn step(&mut self) -> Option<Kind> {
        let rest = &self.bytes[self.at..];
        match rest {
            [b'/', b'/', ..] => self.skip_line(false),
            [b'/', b'*', ..] => self.skip_block_comment(),
            [b'#', ..] if !self.is_rust && self.is_first_on_line() => self.skip_line(true),
            [b'"', ..] => return self.string(),
            [b'\'', ..] => return self.quote(),
            [byte, ..] if byte.is_ascii_digit() => return self.number(),
            [byte, ..] if is_word_byte(*byte) => return self.word(),
            [byte, ..] if byte.is_ascii_whitespace() => self.advance(1),
            _ => return self.punctuation(),
        }
        None
    }

    fn advance(&mut self, count: usize) {
        for _ in 0..count {
            if self.bytes.get(self.at) == Some(&b'\n') {
                self.line = self.line.saturating_add(1);
                self.line_start = self.at + 1;
            }
            self.at = (self.at + 1).min(self.bytes.len());
        }
    }

    fn is_first_on_line(&self) -> bool {
        self.bytes[self.line_start..self.at].iter().all(u8::is_ascii_whitespace)
    }

    fn skip_line(&mut self, continued: bool) {
        while let Some(&byte) = self.bytes.get(self.at) {
            let escaped = continued && byte == b'\\';
            let comment = continued && self.bytes[self.at..].starts_with(b"/*");
            match byte {
                b'\n' => return,
                _ if comment => self.skip_block_comment(),
                _ => self.advance(if escaped { 2 } else { 1 }),
            }
        }
    }

    fn skip_block_comment(&mut self) {
        let mut depth = 0;
        loop {
            let rest = &self.bytes[self.at..];
            if rest.starts_with(b"/*") && (depth == 0 || self.is_rust) {
                depth += 1;
                self.advance(2);
            } else if rest.starts_with(b"*/") {
                depth -= 1;
                self.advance(2);
            } else {
                self.advance(1);
            }
            if depth == 0 || self.at == self.bytes.len() {
                return;
            }
        }
    }

    fn string(&mut self) -> Option<Kind> {
        self.advance(1);
        self.skip_to_quote(b'"');
        Some(Kind::Literal)
    }

    fn skip_to_quote(&mut self, quote: u8) {
        while let Some(&byte) = self.bytes.get(self.at) {
            self.advance(if byte == b'\\' { 2 } else { 1 });
            // A string that is not closed ends with its line, except in Rust.
            if byte == quote || byte == b'\n' && !self.is_rust {
                return;
            }
        }
    }

    /// A character, or in Rust a lifetime.
    fn quote(&mut self) -> Option<Kind> {
        let mut rest = self.text[self.at + 1..].chars();
        let (first, second) = (rest.next(), rest.next());
        let is_lifetime = self.is_rust
            && first.is_some_and(|c| c.is_alphabetic() || c == '_')
            && second != Some('\'');
        self.advance(1);
        match is_lifetime {
            true => self.skip_word(),
            false => self.skip_to_quote(b'\''),
        }
        Some(Kind::Literal)
    }

    fn number(&mut self) -> Option<Kind> {
        let is_tuple_index = self.is_rust && self.last_is(".");
        while let Some(&byte) = self.bytes.get(self.at) {
            let is_fraction = byte == b'.'
                && !is_tuple_index
                && self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit);
            let is_separator = byte == b'\'' && !self.is_rust;
            if !is_word_byte(byte) && !is_fraction && !is_separator {
                break;
            }
            self.advance(1);
        }
        Some(Kind::Number)
    }

    fn last_is(&self, punctuation: &str) -> bool {
        self.tokens.last().is_some_and(|token| &self.text[token.start..token.end] == punctuation)
    }

    fn skip_word(&mut self) {
        while self.bytes.get(self.at).is_some_and(|&byte| is_word_byte(byte)) {
            self.advance(1);
        }
    }

    fn word(&mut self) -> Option<Kind> {
        let start = self.at;
        self.skip_word();
        let word = &self.text[start..self.at];
        let next = self.bytes.get(self.at).copied();
        match (word, next) {
            ("R" | "LR" | "uR" | "UR" | "u8R", Some(b'"')) if !self.is_rust => {
                self.raw_string_of_cpp()
            }
            ("r" | "br" | "cr", Some(b'"' | b'#')) if self.is_rust => self.raw_string_of_rust(),
            ("b" | "c", Some(b'"')) if self.is_rust => self.string(),
            ("L" | "u" | "U" | "u8", Some(b'"')) if !self.is_rust => self.string(),
            ("b", Some(b'\'')) if self.is_rust => {
                self.advance(1);
                self.skip_to_quote(b'\'');
                Some(Kind::Literal)
            }
            _ => Some(Kind::Word),
        }
    }

    fn raw_string_of_cpp(&mut self) -> Option<Kind> {
        let rest = &self.text[self.at + 1..];
        let delimiter = rest.split('(').next().unwrap_or_default();
        let closing = format!("){delimiter}\"");
        self.skip_behind(&closing);
        Some(Kind::Literal)
    }

    fn raw_string_of_rust(&mut self) -> Option<Kind> {
        let hashes = self.bytes[self.at..].iter().take_while(|&&byte| byte == b'#').count();
        if self.bytes.get(self.at + hashes) != Some(&b'"') {
            self.advance(hashes); // r#type
            self.skip_word();
            return Some(Kind::Word);
        }
        self.advance(hashes + 1);
        self.skip_behind(&format!("\"{}", "#".repeat(hashes)));
        Some(Kind::Literal)
    }

    fn skip_behind(&mut self, closing: &str) {
        let rest = &self.text[self.at..];
        let length = rest.find(closing).map_or(rest.len(), |at| at + closing.len());
        self.advance(length);
    }

    fn punctuation(&mut self) -> Option<Kind> {
        let rest = &self.text[self.at..];
        let long = LONG_PUNCTUATION.iter().find(|long| rest.starts_with(**long));
        let length =
            long.map_or_else(|| rest.chars().next().map_or(1, char::len_utf8), |long| long.len());
        self.advance(length);
        Some(Kind::Punctuation)
    }
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, is_rust: bool) -> Vec<String> {
        let source = Source::new(text.to_owned(), is_rust);
        (0..source.tokens.len()).map(|index| source.word(index).to_owned()).collect()
    }

    #[test]
    fn comments_strings_and_directives_hide_what_is_in_them() {
        let text = "#define X a\\\n b\nx /* y */ = \"->\"; // z\n'\\''";
        assert_eq!(words(text, false), ["x", "=", "\"->\"", ";", "'\\''"]);
    }

    #[test]
    fn rust_has_lifetimes_nested_comments_raw_strings_and_tuple_indices() {
        let text = "/* /* */ */ &'a self.0.1 'x' r#\"a\"b\"# r#type";
        assert_eq!(
            words(text, true),
            ["&", "'a", "self", ".", "0", ".", "1", "'x'", "r#\"a\"b\"#", "r#type"]
        );
    }

    #[test]
    fn raw_strings_of_cpp_end_at_their_delimiter() {
        assert_eq!(words("R\"x(a)\"b)x\" c", false), ["R\"x(a)\"b)x\"", "c"]);
    }

    #[test]
    fn tokens_are_found_by_line_and_byte_column() {
        let source = Source::new("int a;\n  é->b = 1;".to_owned(), false);
        let index = source.token_at(2, 5).unwrap();
        assert_eq!(source.word(index), "->");
        assert_eq!(source.token_at(2, 6), None, "inside a token");
    }

    #[test]
    fn no_text_makes_the_lexer_panic() {
        for text in ["'", "\"", "/*", "R\"", "r#", "#\\", "1.", "b'", "'\\", "é'é"] {
            words(text, false);
            words(text, true);
        }
    }
}
