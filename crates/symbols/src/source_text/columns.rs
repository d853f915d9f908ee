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

use super::Access;
use super::expression::{Chain, Step};
use super::tokens::{Kind, Source};

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

    // ---- writes of gcc and clang -----------------------------------------------------------------------

    fn write(&self) -> Option<Vec<Candidate>> {
        match self.word() {
            word if is_assignment(word) => Some(vec![self.assigned()?]),
            "++" | "--" => Some(vec![self.counted()?]),
            _ if self.is_declared_here() => Some(vec![self.text(self.token, self.token + 1)]),
            _ => None,
        }
    }

    /// The left side of the assignment at the token.
    fn assigned(&self) -> Option<Candidate> {
        let chain = self.left_side()?;
        if self.is_declaration(&chain) {
            let name = chain.steps.first()?.1;
            return Some(self.text(chain.first, name));
        }
        let mut first = chain.first;
        while first > 0 && self.source.word(first - 1) == "*" {
            first -= 1;
        }
        Some(self.text(first, self.token))
    }

    /// Also behind `++`: `*p++ = 1`.
    fn left_side(&self) -> Option<Chain> {
        let counted = matches!(self.before(), "++" | "--");
        self.source.chain_until(if counted { self.token - 1 } else { self.token })
    }

    /// `int *p = …`, `auto &x = …`, `T<U> x = …`; not `if (a) *p = …`.
    fn is_declaration(&self, chain: &Chain) -> bool {
        let mut before = chain.first;
        while before > 0 && matches!(self.source.word(before - 1), "*" | "&" | "&&" | "const") {
            before -= 1;
        }
        before > 0
            && chain.steps.iter().skip(1).all(|&(step, _)| step == Step::Subscript)
            && (self.source.is_name(before - 1) || matches!(self.source.word(before - 1), ">"))
    }

    /// A name that is being initialised: `int x = …`, or a member with a default.
    fn is_declared_here(&self) -> bool {
        let source = self.source;
        source.is_name(self.token)
            && source.word(self.token + 1) == "="
            && self.token.checked_sub(1).is_some_and(|before| {
                source.is_name(before) || matches!(source.word(before), "*" | "&" | ">")
            })
    }

    /// The operand of the `++` or `--` at the token.
    fn counted(&self) -> Option<Candidate> {
        let source = self.source;
        let is_postfix =
            self.token.checked_sub(1).is_some_and(|before| source.ends_operand(before));
        let starts_operand =
            source.is_name(self.token + 1) || matches!(source.word(self.token + 1), "(" | "*");
        let is_prefix = starts_operand && (!is_postfix || self.before() == ")");
        if is_prefix {
            return self.operand(self.token + 1);
        }
        let chain = source.chain_until(self.token)?;
        Some(self.text(chain.first, chain.end()))
    }

    /// An operand that begins at `first`: a chain, perhaps behind `*`.
    fn operand(&self, first: usize) -> Option<Candidate> {
        let chain = self.source.chain_from(self.behind_stars(first))?;
        Some(self.text(first, chain.end()))
    }

    fn behind_stars(&self, first: usize) -> usize {
        let mut start = first;
        while self.source.word(start) == "*" {
            start += 1;
        }
        start
    }

    // ---- reads of clang --------------------------------------------------------------------------------

    fn clang_read(&self) -> Option<Vec<Candidate>> {
        match self.word() {
            word if is_compound_assignment(word) => Some(vec![self.assigned()?]),
            "++" | "--" => Some(vec![self.counted()?]),
            "*" if self.source.is_dereference(self.token) => Some(vec![self.operand(self.token)?]),
            _ if !self.source.is_name(self.token) => None,
            _ if matches!(self.before(), "." | "->") => self.member_name(),
            _ => self.clang_start(),
        }
    }

    /// The token is the name of a member: the chain up to it.
    fn member_name(&self) -> Option<Vec<Candidate>> {
        if self.source.word(self.token + 1) == "(" {
            return None; // a member function, or a macro
        }
        let chain = self.source.chain_until(self.token + 1)?;
        if self.is_deleted(&chain) {
            return None; // or the vtable pointer of what it points to
        }
        let mut found = vec![self.text(chain.first, chain.end())];
        if self.dialect == Dialect::GccCpp {
            found.extend(self.what_the_arrow_follows());
        }
        Some(found)
    }

    fn is_deleted(&self, chain: &Chain) -> bool {
        chain
            .first
            .checked_sub(1)
            .is_some_and(|before| matches!(self.source.word(before), "delete" | "]"))
    }

    /// A chain begins at the token: the variable itself, or any subscript or call that clang places here.
    fn clang_start(&self) -> Option<Vec<Candidate>> {
        let chain = self.source.chain_from(self.token)?;
        let mut found = Vec::new();
        for (index, &(step, end)) in chain.steps.iter().enumerate() {
            let next = chain.steps.get(index + 1).map(|&(next, _)| next);
            match (step, next) {
                (Step::Start, Some(Step::Call)) if index == 0 => return None, // perhaps a macro
                (Step::Call, _) => {
                    // What a call refers to, or the vtable pointer that the call itself reads.
                    found.push(self.text(chain.first, end));
                    found.push(Candidate {
                        text: "vtable".to_owned(),
                        ..self.pointer(chain.first, end)
                    });
                }
                (Step::Start | Step::Subscript, None) => found.push(self.text(chain.first, end)),
                (
                    Step::Start | Step::Subscript,
                    Some(Step::Arrow | Step::Subscript | Step::Dot),
                ) => {
                    found.push(self.pointer(chain.first, end));
                }
                _ => {}
            }
        }
        Some(found)
    }

    // ---- reads of gcc ----------------------------------------------------------------------------------

    fn gcc_read(&self) -> Option<Vec<Candidate>> {
        match (self.word(), self.dialect) {
            ("=", _) => self.right_side(),
            (word, _) if is_compound_assignment(word) => Some(self.both_sides()),
            ("++" | "--", _) => Some(vec![self.counted()?]),
            ("*", _) if self.source.is_dereference(self.token) => self.dereferenced(),
            ("->" | ".", Dialect::GccC) => self.member_behind(),
            ("[", Dialect::GccC) => self.subscripted(self.token),
            ("]", Dialect::GccCpp) => self.subscripted(self.source.opening(self.token)?),
            _ if !self.source.is_name(self.token) => None,
            _ if matches!(self.before(), "." | "->") => self.member_name(),
            _ => self.gcc_name(),
        }
    }

    /// The right side of `x = …;`, if it is one expression without calculation.
    fn right_side(&self) -> Option<Vec<Candidate>> {
        self.simple_value(self.token + 1)
    }

    fn simple_value(&self, first: usize) -> Option<Vec<Candidate>> {
        let start = self.behind_stars(first);
        let chain = self.source.chain_from(start)?;
        if !matches!(self.source.word(chain.end()), ";" | "," | ")" | "}") {
            return None;
        }
        if chain.is_bare() && start == first {
            // A reference in C++ may well be on the heap.
            return Some(vec![match self.dialect {
                Dialect::GccC => self.variable(&chain),
                _ => self.text(first, chain.end()),
            }]);
        }
        if chain.has_call() && self.dialect == Dialect::GccC {
            return None; // a call in C gives no place in memory: this is a macro
        }
        let mut found = vec![self.text(first, chain.end())];
        if chain.is_bare() && self.dialect == Dialect::GccCpp {
            found.push(self.pointer_variable(&chain));
        }
        Some(found)
    }

    /// At `+=` gcc places variables on either side, and in C++ what a call on either side refers to.
    fn both_sides(&self) -> Vec<Candidate> {
        let left = self.source.chain_until(self.token);
        let right = self.source.chain_from(self.token + 1);
        [left, right]
            .into_iter()
            .flatten()
            .filter_map(|chain| self.without_column(&chain))
            .collect()
    }

    fn without_column(&self, chain: &Chain) -> Option<Candidate> {
        let is_call = matches!(chain.last_step(), Some(Step::Call | Step::Subscript));
        if chain.is_bare() {
            return Some(self.variable(chain));
        }
        (is_call && self.dialect == Dialect::GccCpp).then(|| self.text(chain.first, chain.end()))
    }

    fn dereferenced(&self) -> Option<Vec<Candidate>> {
        let chain = self.source.chain_from(self.behind_stars(self.token))?;
        let mut found = vec![self.text(self.token, chain.end())];
        if chain.is_bare() {
            found.push(self.pointer_variable(&chain));
        }
        Some(found)
    }

    /// The token is `->` or `.`: the chain up to the member behind it.
    fn member_behind(&self) -> Option<Vec<Candidate>> {
        let chain = self.source.chain_until(self.token + 2)?;
        let mut found = vec![self.text(chain.first, chain.end())];
        let base = self.source.chain_until(self.token)?;
        if self.word() == "->" && base.is_bare() {
            found.push(self.pointer_variable(&base));
        }
        Some(found)
    }

    /// In C++ the column of the member also stands for the pointer before the arrow.
    fn what_the_arrow_follows(&self) -> Option<Candidate> {
        let base = self.source.chain_until(self.token.checked_sub(1)?)?;
        if self.before() != "->" {
            return None;
        }
        match base.last_step()? {
            Step::Subscript | Step::Call => Some(self.pointer(base.first, base.end())),
            _ => self.first_variable(&base),
        }
    }

    /// The variable a chain begins with, which gcc may read at any column of the chain.
    fn first_variable(&self, chain: &Chain) -> Option<Candidate> {
        let start = Chain { first: chain.first, steps: vec![*chain.steps.first()?] };
        let names_a_variable = start.is_bare() && self.source.word(start.first) != "this";
        names_a_variable.then(|| self.pointer_variable(&start))
    }

    /// The subscript that opens at `open`; its column also stands for variables in it.
    fn subscripted(&self, open: usize) -> Option<Vec<Candidate>> {
        let close = self.source.closing(open)?;
        let base = self.source.chain_until(open)?;
        let mut found = vec![self.text(base.first, close + 1)];
        found.extend(self.first_variable(&base));
        let bare_in_index = (open + 1..close).filter(|&index| self.is_lone_name(index));
        found.extend(
            bare_in_index
                .map(|index| Candidate { is_variable: true, ..self.text(index, index + 1) }),
        );
        Some(found)
    }

    fn is_lone_name(&self, index: usize) -> bool {
        self.source.is_name(index)
            && !matches!(self.source.word(index - 1), "." | "->" | "::")
            && !matches!(self.source.word(index + 1), "." | "->" | "::" | "(" | "[")
    }

    /// A name that is no member: declared here and set to what was read, or read itself.
    fn gcc_name(&self) -> Option<Vec<Candidate>> {
        let source = self.source;
        match source.word(self.token + 1) {
            "(" | "{" => None,                 // a macro, a function, a class
            _ if self.before() == ":" => None, // the elements of a range loop are read here
            "=" if self.is_declared_here() => self.simple_value(self.token + 2),
            _ if self.dialect == Dialect::GccC => {
                Some(vec![self.variable(&source.chain_from(self.token)?)])
                    .filter(|found| found.iter().all(|one| one.text == self.word()))
            }
            _ => Some(vec![self.text(self.token, self.token + 1)]),
        }
    }

    // ---- rustc -----------------------------------------------------------------------------------------

    /// rustc gives the start of the whole place: `self.items[i].count`.
    fn rust(&self, access: Access) -> Option<Vec<Candidate>> {
        let start = self.behind_stars(self.token);
        if start > self.token && !self.source.is_dereference(self.token) {
            return None;
        }
        if !self.source.is_name(start) {
            return None;
        }
        let chain = self.without_method(self.source.chain_from(start)?)?;
        if self.source.word(chain.end()) == "!" || self.is_rust_literal(&chain) {
            return None;
        }
        match (access, self.source.word(chain.end())) {
            (Access::Write, word) if is_assignment(word) => {
                Some(vec![self.text(self.token, chain.end())])
            }
            (Access::Write, _) | (Access::Read, "=") => None,
            (Access::Read, _) => Some(self.rust_reads(start, &chain)),
        }
    }

    /// `Account { … }`, `Some(…)`: made here, not read.
    fn is_rust_literal(&self, chain: &Chain) -> bool {
        let last = self.source.word(chain.end() - 1);
        chain.steps.len() == 1
            && last.starts_with(char::is_uppercase)
            && matches!(self.source.word(chain.end()), "{" | "(")
    }

    /// `self.items.len()` reads no more than `self.items`.
    fn without_method(&self, mut chain: Chain) -> Option<Chain> {
        let call = chain.steps.iter().position(|&(step, _)| step == Step::Call);
        if let Some(call) = call {
            chain.steps.truncate(call.checked_sub(1)?);
        }
        (!chain.steps.is_empty()).then_some(chain)
    }

    /// The place itself, and every reference or box on the way to it, which are read at the same column.
    fn rust_reads(&self, start: usize, chain: &Chain) -> Vec<Candidate> {
        let mut found = vec![self.text(self.token, chain.end())];
        let is_behind_star = start > self.token;
        for (index, &(_, end)) in chain.steps.iter().enumerate() {
            let is_last = index + 1 == chain.steps.len();
            if is_last && !is_behind_star {
                break;
            }
            let on_the_way = self.pointer(start, end);
            let is_variable = index == 0 && self.source.kind(start) == Some(Kind::Word);
            found.push(Candidate { is_variable, ..on_the_way });
        }
        found
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
