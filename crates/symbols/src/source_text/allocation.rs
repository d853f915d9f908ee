//! What the text of a line says about the type it allocates.
//!
//! Takes   a line.      Gives  type names and expressions whose type or target may be what is allocated.

use super::tokens::{Kind, Source};

/// A statement is read this far.
const MOST_TOKENS: usize = 80;

/// Hints found on a line; the debug info decides which are types, and whether they fit.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct AllocationWords {
    /// `Account` of `new Account`, `sizeof(struct Account)`, `make_unique<Account>`.
    pub type_names: Vec<String>,
    /// `*a` of `sizeof *a`.
    pub expressions: Vec<String>,
    /// `bank->accounts` of `bank->accounts = malloc(…)`.
    pub pointers: Vec<String>,
}

pub fn allocation_words(source: &Source, line: u32) -> AllocationWords {
    let mut words = AllocationWords::default();
    let first = source.first_of_line(line);
    for index in first..first + MOST_TOKENS {
        let is_later_statement = index > first && matches!(source.word(index - 1), ";" | "}");
        let on_line = source.get(index).is_some_and(|token| token.line == line);
        if source.word(index).is_empty() || is_later_statement && !on_line {
            break;
        }
        words.look_at(source, index);
    }
    words
}

impl AllocationWords {
    fn look_at(&mut self, source: &Source, index: usize) {
        match source.word(index) {
            "new" if !source.is_rust => self.type_names.extend(type_name(source, index + 1)),
            "sizeof" => self.add_sizeof(source, index + 1),
            "<" => self.type_names.extend(type_name(source, index + 1)),
            "=" => self.pointers.extend(assigned(source, index)),
            "{" if source.is_rust => self.type_names.extend(type_before(source, index)),
            _ => {}
        }
    }

    fn add_sizeof(&mut self, source: &Source, index: usize) {
        let (first, end) = match source.word(index) {
            "(" => (index + 1, source.closing(index)),
            _ => (index, operand_end(source, index)),
        };
        let Some(end) = end else { return };
        self.type_names.extend(type_name(source, first));
        self.expressions.push(source.joined(first, end));
    }
}

fn operand_end(source: &Source, first: usize) -> Option<usize> {
    let stars = (first..).take_while(|&index| source.word(index) == "*").count();
    Some(source.chain_from(first + stars)?.end())
}

/// `bank::Account` at `first`; `struct` and the like are left out, namespaces too: names are compared by
/// their last part.
fn type_name(source: &Source, first: usize) -> Option<String> {
    let is_filler =
        |index| matches!(source.word(index), "struct" | "class" | "union" | "const" | "unsigned");
    let mut index = first;
    while is_filler(index) {
        index += 1;
    }
    while source.word(index + 1) == "::" {
        index += 2;
    }
    (source.kind(index) == Some(Kind::Word)).then(|| source.word(index).to_owned())
}

/// `Account` of `Box::new(Account { … })`.
fn type_before(source: &Source, brace: usize) -> Option<String> {
    let name = brace.checked_sub(1)?;
    source.is_name(name).then(|| source.word(name).to_owned())
}

fn assigned(source: &Source, equals: usize) -> Option<String> {
    let chain = source.chain_until(equals)?;
    Some(source.joined(chain.first, chain.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, is_rust: bool) -> AllocationWords {
        allocation_words(&Source::new(text.to_owned(), is_rust), 1)
    }

    #[test]
    fn the_ways_to_allocate_in_c_are_known() {
        let found = words("struct Account *a = malloc(n * sizeof(struct Account));", false);
        assert_eq!(found.type_names, ["Account"]);
        assert_eq!(found.pointers, ["a"]);
        assert_eq!(words("b->a = malloc(sizeof *b->a);", false).expressions, ["*b->a"]);
        assert_eq!(words("b->a = malloc(sizeof(*b->a));", false).pointers, ["b->a"]);
    }

    #[test]
    fn the_ways_to_allocate_in_cpp_and_rust_are_known() {
        assert_eq!(words("auto a = new bank::Account(1);", false).type_names, ["Account"]);
        assert_eq!(
            words("auto a = std::make_unique<bank::Account>();", false).type_names,
            ["Account"]
        );
        assert_eq!(words("let a = Box::new(Account { x: 1 });", true).type_names, ["Account"]);
    }
}
