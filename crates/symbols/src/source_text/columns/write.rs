//! Writes of gcc and clang: both give the operator.

use super::super::expression::{Chain, Step};
use super::{Candidate, Reader, is_assignment};

impl Reader<'_> {
    pub(super) fn write(&self) -> Option<Vec<Candidate>> {
        match self.word() {
            word if is_assignment(word) => Some(vec![self.assigned()?]),
            "++" | "--" => Some(vec![self.counted()?]),
            _ if self.is_declared_here() => Some(vec![self.text(self.token, self.token + 1)]),
            _ => None,
        }
    }

    /// The left side of the assignment at the token.
    pub(super) fn assigned(&self) -> Option<Candidate> {
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
    pub(super) fn is_declared_here(&self) -> bool {
        let source = self.source;
        source.is_name(self.token)
            && source.word(self.token + 1) == "="
            && self.token.checked_sub(1).is_some_and(|before| {
                source.is_name(before) || matches!(source.word(before), "*" | "&" | ">")
            })
    }

    /// The operand of the `++` or `--` at the token.
    pub(super) fn counted(&self) -> Option<Candidate> {
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
    pub(super) fn operand(&self, first: usize) -> Option<Candidate> {
        let chain = self.source.chain_from(self.behind_stars(first))?;
        Some(self.text(first, chain.end()))
    }

    pub(super) fn behind_stars(&self, first: usize) -> usize {
        let mut start = first;
        while self.source.word(start) == "*" {
            start += 1;
        }
        start
    }
}
