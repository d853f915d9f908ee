//! Reads of gcc, whose columns differ between C and C++.

use super::super::expression::{Chain, Step};
use super::{Candidate, Dialect, Reader, is_compound_assignment};

impl Reader<'_> {
    pub(super) fn gcc_read(&self) -> Option<Vec<Candidate>> {
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
    pub(super) fn what_the_arrow_follows(&self) -> Option<Candidate> {
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
}
