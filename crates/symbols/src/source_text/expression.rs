//! Postfix expressions around a token: `cache->items[i].count`.
//!
//! Takes   tokens and the place of one.      Gives  the chain of members, subscripts and calls it belongs to.

use super::tokens::{Kind, Source};

/// How one step of a chain continues the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The first name, with its namespaces, or something in parentheses.
    Start,
    /// `.name`
    Dot,
    /// `->name`
    Arrow,
    /// `[…]`
    Subscript,
    /// `(…)`
    Call,
}

/// A chain, with the end (exclusive) of each step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    pub first: usize,
    pub steps: Vec<(Step, usize)>,
}

impl Chain {
    pub fn end(&self) -> usize {
        self.steps.last().map_or(self.first, |&(_, end)| end)
    }

    pub fn last_step(&self) -> Option<Step> {
        self.steps.last().map(|&(step, _)| step)
    }

    /// One name and nothing else.
    pub fn is_bare(&self) -> bool {
        self.steps.len() == 1 && self.end() == self.first + 1
    }

    pub fn has_call(&self) -> bool {
        self.steps.iter().any(|&(step, _)| step == Step::Call)
    }
}

/// Words that look like a name but begin or join statements.
const KEYWORDS_OF_C: &[&str] = &[
    "return",
    "else",
    "do",
    "case",
    "throw",
    "delete",
    "new",
    "sizeof",
    "goto",
    "if",
    "while",
    "for",
    "switch",
    "co_return",
    "co_yield",
    "co_await",
    "and",
    "or",
    "not",
    "typeof",
    "alignof",
    "default",
    "operator",
    "template",
    "typename",
    "using",
    "const",
    "static",
];
const KEYWORDS_OF_RUST: &[&str] = &[
    "return", "else", "if", "while", "for", "in", "match", "let", "mut", "unsafe", "move", "as",
    "await", "loop", "break", "continue", "const", "static", "ref", "fn", "pub", "impl", "where",
    "yield",
];

impl Source {
    pub fn is_name(&self, index: usize) -> bool {
        let keywords = if self.is_rust { KEYWORDS_OF_RUST } else { KEYWORDS_OF_C };
        self.kind(index) == Some(Kind::Word) && !keywords.contains(&self.word(index))
    }

    /// Whether an operand can end with this token: what follows is then a binary or postfix operator.
    pub fn ends_operand(&self, index: usize) -> bool {
        self.is_name(index)
            || matches!(self.kind(index), Some(Kind::Number | Kind::Literal))
            || matches!(self.word(index), ")" | "]")
    }

    /// The token that closes the bracket opened at `index`.
    pub fn closing(&self, index: usize) -> Option<usize> {
        let mut open = 0;
        for at in index..index.saturating_add(MOST_TOKENS) {
            match self.word(at) {
                "" => return None,
                "(" | "[" | "{" => open += 1,
                ")" | "]" | "}" => open -= 1,
                _ => {}
            }
            if open == 0 {
                return Some(at);
            }
        }
        None
    }

    /// The token that opens the bracket closed at `index`.
    pub fn opening(&self, index: usize) -> Option<usize> {
        let mut open = 0;
        for at in (index.saturating_sub(MOST_TOKENS)..=index).rev() {
            match self.word(at) {
                ")" | "]" | "}" => open += 1,
                "(" | "[" | "{" => open -= 1,
                _ => {}
            }
            if open == 0 {
                return Some(at);
            }
        }
        None
    }

    /// The longest chain that begins at `first`.
    pub fn chain_from(&self, first: usize) -> Option<Chain> {
        let start = self.end_of_start(first)?;
        let mut chain = Chain { first, steps: vec![(Step::Start, start)] };
        while let Some(step) = self.next_step(chain.end()) {
            chain.steps.push(step);
            if chain.steps.len() > MOST_STEPS {
                return None;
            }
        }
        Some(chain)
    }

    fn end_of_start(&self, first: usize) -> Option<usize> {
        if self.word(first) == "(" {
            return Some(self.closing(first)? + 1);
        }
        let mut end = first;
        while self.is_name(end) {
            end += 1;
            if self.word(end) != "::" {
                return Some(end);
            }
            end += 1;
        }
        None
    }

    fn next_step(&self, at: usize) -> Option<(Step, usize)> {
        let names_member = || {
            let is_index = self.is_rust && self.kind(at + 1) == Some(Kind::Number);
            (is_index || self.is_name(at + 1)).then_some(at + 2)
        };
        match self.word(at) {
            "." => Some((Step::Dot, names_member()?)),
            "->" if !self.is_rust => Some((Step::Arrow, names_member()?)),
            "[" => Some((Step::Subscript, self.closing(at)? + 1)),
            "(" => Some((Step::Call, self.closing(at)? + 1)),
            _ => None,
        }
    }

    /// The chain whose last token is just before `end`.
    pub fn chain_until(&self, end: usize) -> Option<Chain> {
        let mut first = end;
        loop {
            first = self.one_step_back(first)?;
            match self.word(first.wrapping_sub(1)) {
                "." | "->" | "::" => first -= 1,
                _ if self.continues_backwards(first) => {}
                _ => break,
            }
            if end - first > MOST_TOKENS {
                return None;
            }
        }
        let mut chain = self.chain_from(first)?;
        while chain.end() > end {
            chain.steps.pop();
        }
        (chain.end() == end).then_some(chain)
    }

    /// From behind a name or bracket to its start.
    fn one_step_back(&self, end: usize) -> Option<usize> {
        let last = end.checked_sub(1)?;
        match self.word(last) {
            "]" | ")" => self.opening(last),
            _ if self.is_name(last) => Some(last),
            _ if self.is_rust && self.kind(last) == Some(Kind::Number) => Some(last),
            _ => None,
        }
    }

    /// A bracket belongs to the operand before it: `a[1]`, `f(x)`; not in `if (x)`.
    fn continues_backwards(&self, first: usize) -> bool {
        matches!(self.word(first), "[" | "(")
            && first > 0
            && self.ends_operand(first - 1)
            && !self.ends_condition(first - 1)
    }

    /// The `)` of `if (x)`.
    fn ends_condition(&self, index: usize) -> bool {
        self.word(index) == ")"
            && self.opening(index).and_then(|open| open.checked_sub(1)).is_some_and(|before| {
                matches!(self.word(before), "if" | "while" | "for" | "switch")
            })
    }

    /// Whether the `*` at `index` follows a pointer rather than multiplies.
    pub fn is_dereference(&self, index: usize) -> bool {
        self.word(index) == "*"
            && (index == 0 || !self.ends_operand(index - 1) || self.ends_condition(index - 1))
    }
}

/// Expressions longer than this are not read.
const MOST_TOKENS: usize = 200;
const MOST_STEPS: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    fn until_last_equals(text: &str) -> Option<String> {
        let source = Source::new(text.to_owned(), false);
        let end = (0..200).rfind(|&index| source.word(index) == "=")?;
        let chain = source.chain_until(end)?;
        Some(source.joined(chain.first, chain.end()))
    }

    #[test]
    fn chains_are_read_backwards_over_lines_calls_and_subscripts() {
        assert_eq!(until_last_equals("x; a->b[i + 1]\n .c = 1").as_deref(), Some("a->b[i + 1].c"));
        assert_eq!(
            until_last_equals("if (x) ns::a.f(1, 2)->b = 1").as_deref(),
            Some("ns::a.f(1, 2)->b")
        );
        assert_eq!(until_last_equals("if (x) (*p).b = 1").as_deref(), Some("(*p).b"));
        assert_eq!(until_last_equals("= 1"), None);
        assert_eq!(until_last_equals("] = 1"), None);
    }

    #[test]
    fn chains_are_read_forwards_to_where_the_operand_ends() {
        let source = Source::new("self.items[i].0.count += 1".to_owned(), true);
        let chain = source.chain_from(0).unwrap();
        assert_eq!(source.joined(0, chain.end()), "self.items[i].0.count");
    }
}
