//! Which expression a compiler means by a column. Found by experiment (gcc 12, clang 14 and 16, rustc 1.95); the
//! tests in `tests/columns.rs` repeat it.
//!
//! ```text
//!                        gcc, C              gcc, C++            clang, C and C++        rustc
//! write  a->b = 1        the operator        the operator        the operator            start: a.b = 1
//! write  a->b++          the operator        the operator        the operator            —
//! read   a->b += 1       ->                  b                   the operator            start
//! read   .. + a->b       ->                  b                   b                       start
//! read   x = a->b        =                   b                   b                       start
//! read   T x = a->b      x                   b                   b                       start
//! read   .. + a[i]       [                   ]                   start of a[i]           start
//! read   x = a[i]        =                   ] or =              start of a[i]           start
//! read   .. + *p         *                   *                   *                       *
//! read   .. + v          a nearby operator   v                   v                       v
//! read   v->b (v itself) ->                  b                   v                       start
//! read   v++             the operator        v or the operator   the operator            —
//! macro M(x)             M                   M                   M                       M
//! ```
//!
//! One column can stand for several expressions (`v` and `v->b`): all are candidates, and the caller drops those
//! that do not fit the access. If more than one is left there is no name.

mod clang_read;
mod gcc_read;
mod rustc;
mod write;

use super::Access;
use super::expression::Chain;
use super::tokens::Source;

/// Whose columns they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    GccC,
    GccCpp,
    Clang,
    Rustc,
}

/// An expression that may be what was accessed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub text: String,
    /// It is used as a pointer there, so an access to it has a pointer's length.
    pub is_pointer: bool,
    /// It is a variable the compiler keeps no column for: never on the heap.
    pub is_variable: bool,
}

/// All expressions an access at a token may mean.
pub fn candidates(
    source: &Source,
    token: usize,
    dialect: Dialect,
    access: Access,
) -> Vec<Candidate> {
    let reader = Reader { source, token, dialect };
    let found = match (dialect, access) {
        (Dialect::Rustc, access) => reader.rust(access),
        (_, Access::Write) => reader.write(),
        (Dialect::Clang, Access::Read) => reader.clang_read(),
        (Dialect::GccC | Dialect::GccCpp, Access::Read) => reader.gcc_read(),
    };
    found.unwrap_or_default()
}

struct Reader<'a> {
    source: &'a Source,
    token: usize,
    dialect: Dialect,
}

fn is_assignment(word: &str) -> bool {
    word == "=" || is_compound_assignment(word)
}

fn is_compound_assignment(word: &str) -> bool {
    matches!(word, "+=" | "-=" | "*=" | "/=" | "%=" | "&=" | "|=" | "^=" | "<<=" | ">>=")
}

impl Reader<'_> {
    fn word(&self) -> &str {
        self.source.word(self.token)
    }

    fn before(&self) -> &str {
        self.token.checked_sub(1).map_or("", |index| self.source.word(index))
    }

    fn text(&self, first: usize, end: usize) -> Candidate {
        Candidate { text: self.source.joined(first, end), is_pointer: false, is_variable: false }
    }

    fn pointer(&self, first: usize, end: usize) -> Candidate {
        Candidate { is_pointer: true, ..self.text(first, end) }
    }

    fn variable(&self, chain: &Chain) -> Candidate {
        Candidate { is_variable: true, ..self.text(chain.first, chain.end()) }
    }

    fn pointer_variable(&self, chain: &Chain) -> Candidate {
        Candidate { is_pointer: true, ..self.variable(chain) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The candidates at the place marked `^` in the line below the text.
    fn texts(text: &str, mark: &str, dialect: Dialect, access: Access) -> Vec<String> {
        let column = u32::try_from(mark.find('^').unwrap()).unwrap() + 1;
        let source = Source::new(text.to_owned(), dialect == Dialect::Rustc);
        let token = source.token_at(1, column).unwrap();
        candidates(&source, token, dialect, access).into_iter().map(|one| one.text).collect()
    }

    #[test]
    fn a_write_is_named_by_the_left_side_of_its_operator() {
        for dialect in [Dialect::GccC, Dialect::GccCpp, Dialect::Clang] {
            let write = |text, mark| texts(text, mark, dialect, Access::Write);
            assert_eq!(write("; a->ref() = 9;", "           ^"), ["a->ref()"]);
            assert_eq!(write("if (x) *p = 9;", "          ^"), ["*p"]);
            assert_eq!(write("int *p = 9;", "       ^"), ["p"]);
            assert_eq!(write("int a[3] = {1};", "         ^"), ["a"]);
            assert_eq!(write("if (x) ++p->n;", "       ^"), ["p->n"]);
            assert_eq!(write("x = (*p)++ + 1;", "        ^"), ["(*p)"]);
            assert_eq!(write("memset(c, 0);", "^"), [""; 0]);
        }
    }

    #[test]
    fn columns_that_may_mean_several_things_have_several_candidates() {
        assert_eq!(texts("x + a->b;", "     ^", Dialect::GccC, Access::Read), ["a->b", "a"]);
        assert_eq!(texts("x + a->b;", "       ^", Dialect::Clang, Access::Read), ["a->b"]);
        assert_eq!(texts("x + a[i];", "    ^", Dialect::Clang, Access::Read), ["a", "a[i]"]);
        assert_eq!(texts("x + a[i];", "     ^", Dialect::GccC, Access::Read), ["a[i]", "a", "i"]);
        let rust = texts("let x = self.a.b;", "        ^", Dialect::Rustc, Access::Read);
        assert_eq!(rust, ["self.a.b", "self", "self.a"]);
    }

    #[test]
    fn macros_and_literals_have_no_name() {
        assert_eq!(texts("BUMP(c);", "^", Dialect::GccC, Access::Write), [""; 0]);
        assert_eq!(texts("BUMP(c);", "^", Dialect::Clang, Access::Read), [""; 0]);
        assert_eq!(texts("f(Store { a: 1 })", "  ^", Dialect::Rustc, Access::Read), [""; 0]);
        assert_eq!(texts("println!(x)", "^", Dialect::Rustc, Access::Read), [""; 0]);
    }
}
