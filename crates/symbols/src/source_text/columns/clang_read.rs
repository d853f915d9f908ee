//! Reads of clang.

use super::super::expression::{Chain, Step};
use super::{Candidate, Dialect, Reader, is_compound_assignment};

impl Reader<'_> {
    pub(super) fn clang_read(&self) -> Option<Vec<Candidate>> {
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
    pub(super) fn member_name(&self) -> Option<Vec<Candidate>> {
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
}
