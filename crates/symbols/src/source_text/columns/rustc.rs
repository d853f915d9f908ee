//! Accesses by rustc, which gives the start of the whole place.

use super::super::Access;
use super::super::expression::{Chain, Step};
use super::super::tokens::Kind;
use super::{Candidate, Reader, is_assignment};

impl Reader<'_> {
    /// rustc gives the start of the whole place: `self.items[i].count`.
    pub(super) fn rust(&self, access: Access) -> Option<Vec<Candidate>> {
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
