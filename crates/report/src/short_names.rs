//! Names of C++ templates and Rust generics, short enough to be read.
//!
//! Takes   a demangled name and how many columns there are.
//! Gives   the name as it is if it fits; else less and less of it: first what stands deep in angle brackets goes, then all that stands
//!         in them, then namespaces; at last it is cut.

use crate::layout::{cut, width_of};
use crate::words::name_and_origin;

/// Spelled out, these say less than their short names.
const KNOWN: [(&str, &str); 5] = [
    (
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >",
        "std::string",
    ),
    (
        "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char>>",
        "std::string",
    ),
    ("std::__cxx11::", "std::"),
    (" >", ">"),
    ("alloc::string::String", "String"),
];

/// Operators of C++ with angle brackets that are none, the longest first.
const OPERATORS: [&str; 11] = ["<<=", ">>=", "<=>", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"];

/// At most `columns` wide.
pub fn shortened(name: &str, columns: usize) -> String {
    let name = KNOWN.iter().fold(name.to_owned(), |name, (long, short)| name.replace(long, short));
    let shorter: [fn(&str) -> String; 5] = [
        str::to_owned,
        |name| without_parameters(name, 1),
        |name| without_parameters(name, 0),
        |name| last_parts(&without_parameters(name, 0), 2),
        |name| last_parts(&without_parameters(name, 0), 1),
    ];
    let fitting =
        shorter.iter().map(|shorten| shorten(&name)).find(|short| width_of(short) <= columns);
    fitting.unwrap_or_else(|| cut(&last_parts(&without_parameters(&name, 0), 1), columns))
}

/// Names in backquotes, shortened, and without where they come from.
pub fn with_short_names(sentence: &str, columns: usize) -> String {
    let parts = sentence.split('`').enumerate().map(|(at, part)| match at % 2 {
        0 => part.to_owned(),
        _ => format!("`{}`", shortened(name_and_origin(part).0, columns)),
    });
    parts.collect()
}

/// `<A as B>` at the beginning of a name: what is before and behind `as`, and the rest of the name.
fn qualified(name: &str) -> Option<(&str, &str, &str)> {
    let inner = name.strip_prefix('<')?;
    let end = Pieces::new(inner).find(|piece| piece.depth < 0)?.at;
    let split = Pieces::new(&inner[..end])
        .find(|piece| piece.depth == 0 && inner[piece.at..].starts_with(" as "))?
        .at;
    Some((&inner[..split], &inner[split + " as ".len()..end], &inner[end + 1..]))
}

/// What is in angle brackets deeper than `depth` becomes `…`; a turbofish goes altogether.
fn without_parameters(name: &str, depth: i32) -> String {
    if let Some((of, by, rest)) = qualified(name) {
        let short = |name| without_parameters(name, depth);
        return format!("<{} as {}>{}", short(of), short(by), short(rest));
    }
    let mut text = String::new();
    for piece in Pieces::new(name) {
        if piece.opens && piece.depth == depth + 1 {
            text.push_str("<…");
        }
        if piece.depth <= depth {
            text.push_str(piece.text);
        }
    }
    text.replace("::<…>", "")
}

/// The last parts of a path.
fn last_parts(name: &str, count: usize) -> String {
    if let Some((of, by, rest)) = qualified(name) {
        return format!("<{} as {}>{}", last_parts(of, 1), last_parts(by, 1), rest);
    }
    let mut nested = 0;
    let mut starts = vec![0];
    for piece in Pieces::new(name) {
        match piece.text {
            "(" | "{" | "[" => nested += 1,
            ")" | "}" | "]" => nested -= 1,
            ":" if nested == 0 && piece.depth == 0 && name[..piece.at].ends_with(':') => {
                starts.push(piece.at + 1);
            }
            _ => {}
        }
    }
    name[starts[starts.len().saturating_sub(count)]..].to_owned()
}

/// The characters of a name with the depth of angle brackets around them; operators are one piece.
struct Pieces<'a> {
    name: &'a str,
    at: usize,
    depth: i32,
}

struct Piece<'a> {
    at: usize,
    text: &'a str,
    /// Of an opening bracket the depth behind it, of a closing one that behind it too.
    depth: i32,
    opens: bool,
}

impl<'a> Pieces<'a> {
    fn new(name: &'a str) -> Pieces<'a> {
        Pieces { name, at: 0, depth: 0 }
    }

    fn next_text(&self) -> Option<&'a str> {
        let rest = &self.name[self.at..];
        let after_operator = self.name[..self.at].ends_with("operator");
        if let Some(symbol) = OPERATORS.iter().find(|symbol| rest.starts_with(**symbol)) {
            // An arrow is no bracket wherever it stands.
            if after_operator || *symbol == "->" {
                return Some(&rest[..symbol.len()]);
            }
        }
        let first = rest.chars().next()?;
        Some(&rest[..first.len_utf8()])
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Piece<'a>;

    fn next(&mut self) -> Option<Piece<'a>> {
        let text = self.next_text()?;
        let is_operator = self.name[..self.at].ends_with("operator");
        let opens = text == "<" && !is_operator;
        if opens {
            self.depth += 1;
        } else if text == ">" && !is_operator {
            self.depth -= 1;
        }
        let piece = Piece { at: self.at, text, depth: self.depth, opens };
        self.at += text.len();
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_as_it_is() {
        assert_eq!(shortened("bank::Account<int>::put", 23), "bank::Account<int>::put");
    }

    #[test]
    fn templates_lose_their_parameters_first_and_their_namespaces_then() {
        let name = "store::Cache<std::map<int, long>, store::Lru<int> >::get";
        assert_eq!(shortened(name, 50), "store::Cache<std::map<…>, store::Lru<…>>::get");
        assert_eq!(shortened(name, 24), "store::Cache<…>::get");
        assert_eq!(shortened(name, 15), "Cache<…>::get");
        assert_eq!(shortened(name, 5), "get");
        assert_eq!(shortened(name, 2), "g…");
    }

    #[test]
    fn generics_of_rust_keep_the_type_and_its_trait() {
        let name = "<bank::ledger::Ledger<alloc::string::String> as bank::Post<u64>>::post";
        assert_eq!(shortened(name, 50), "<bank::ledger::Ledger<…> as bank::Post<…>>::post");
        assert_eq!(shortened(name, 40), "<Ledger<…> as Post<…>>::post");
        assert_eq!(
            shortened("bank::run::<fn(u8) -> u8>::{closure#0}", 30),
            "bank::run::{closure#0}"
        );
        assert_eq!(shortened("a::spawn::<core::pin::Pin<Box<F>>>", 20), "a::spawn");
    }

    #[test]
    fn operators_of_cpp_are_no_brackets() {
        assert_eq!(shortened("bank::operator<< <int>", 20), "bank::operator<< <…>");
        assert_eq!(shortened("a::b::Pointer<T>::operator->", 22), "Pointer<…>::operator->");
    }

    #[test]
    fn names_in_sentences_are_shortened() {
        assert_eq!(
            with_short_names("Thread 1 (`a::b<c>`) read `x`.", 4),
            "Thread 1 (`b<…>`) read `x`."
        );
    }

    #[test]
    fn known_spellings_are_told_by_their_short_names() {
        let name = "std::map<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, int>";
        assert_eq!(shortened(name, 80), "std::map<std::string, int>");
    }
}
