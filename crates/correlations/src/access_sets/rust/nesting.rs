//! How deep a file is nested. syn, and whoever walks its trees or drops them, goes some calls deeper for each level, on a stack
//! that has an end; so this must be known before.
//!
//! Takes   the tokens of a file.
//! Gives   whether what nests, by brackets or without them (`!!!x`, `a.b().c()`, `else if`, `A<A<T>>`), is too much for the stack.
//! Misses  nothing: a sign counts as open until something follows that syn cannot read inside of what it opened.
//! Invents depth where no such thing follows: in a macro's list of thousands without commas.
//! Cost    one step per token, none of them deeper than the one before.

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, TokenStream, TokenTree};

/// What may be open at a time, in KiB of stack. Threads have 256 MiB.
const MOST: usize = 160 << 10;

/// The stack that a level takes, in KiB, at most: measured without optimization, with which it is a fraction.
const BRACKETS: usize = 32;
/// Types in types: `A<A<T>>`.
const ANGLE: usize = 52;
/// All others that syn itself goes deeper for.
const COSTLY: usize = 32;
/// Those that it does not, like operands on the left and `else if`, but whoever walks its trees: 2 KiB at most. Some ways go through all
/// levels once for each of them, so that thousands of them should be the end.
const CHEAP: usize = 8;

/// Words that something nests behind.
const NESTING: [&str; 9] =
    ["if", "match", "while", "for", "return", "break", "yield", "become", "box"];

/// Other words that are no value's end.
const NO_VALUES: [&str; 27] = [
    "as", "async", "const", "continue", "crate", "do", "dyn", "else", "enum", "extern", "fn",
    "impl", "in", "let", "loop", "mod", "move", "mut", "pub", "ref", "static", "struct", "try",
    "type", "unsafe", "use", "where",
];

/// Signs that are one with a `=` behind them.
const WITH_EQUALS: &str = "=!<>+-*/%^&|";

/// Whether it must not be parsed.
pub fn is_too_deep(tokens: &TokenStream) -> bool {
    deepest(tokens) > MOST
}

/// What is open where most is; where that is too much, how much there was to be seen.
fn deepest(tokens: &TokenStream) -> usize {
    let mut levels = vec![Level::of(tokens.clone())];
    // What is open outside of the innermost brackets.
    let (mut outside, mut deepest) = (0, 0);
    while let Some(level) = levels.last_mut()
        && deepest <= MOST
    {
        let Some(token) = level.tokens.next() else {
            levels.pop();
            outside -= levels.last().map_or(0, |around| around.open + BRACKETS);
            continue;
        };
        level.take(&token);
        deepest = deepest.max(outside + level.open);
        if let TokenTree::Group(group) = token {
            outside += level.open + BRACKETS;
            levels.push(Level::of(group.stream()));
        }
    }
    deepest
}

/// What a token stands behind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// A sign, a word that is no value, or nothing: a value begins.
    Sign,
    /// A name. Brackets behind it are its arguments.
    Name,
    /// The end of a value. Brackets behind it go one deeper.
    Value,
    /// The same; no type ends like this, so that a `<` behind it compares.
    Literal,
    /// `>`, which may have ended a type or compare.
    Angle,
    /// Braces.
    Block,
    /// `else`.
    Else,
    /// `=>`, and braces behind that.
    Arrow,
    Arm,
    /// `#` or `#!`.
    Hash,
    /// `'`.
    Quote,
}

impl Behind {
    /// Whether a sign behind it has something on its left.
    fn is_value(self) -> bool {
        matches!(self, Self::Name | Self::Value | Self::Literal)
    }
}

/// What is inside of one pair of brackets, apart from what is in brackets there.
struct Level {
    tokens: IntoIter,
    behind: Behind,
    /// A sign that may be one with the next, and what it is behind.
    joint: Option<(char, Behind)>,
    /// What may be inside of each other at this place, in KiB.
    open: usize,
    /// What was open behind each `<`. A comma ends what was opened since, but not the `<`.
    angles: Vec<usize>,
    /// The same for the last closure that began: its arguments have commas.
    closure: usize,
    /// The same for the last `if`: behind its braces, `else` is inside of it, but not inside of its condition.
    condition: usize,
}

impl Level {
    fn of(tokens: TokenStream) -> Self {
        Self {
            tokens: tokens.into_iter(),
            behind: Behind::Sign,
            joint: None,
            open: 0,
            angles: Vec::new(),
            closure: 0,
            condition: 0,
        }
    }

    fn take(&mut self, token: &TokenTree) {
        if self.is_over_before(token) {
            self.end_all();
        }
        let joint = self.joint.take();
        self.behind = match token {
            TokenTree::Group(group) => self.group(group),
            TokenTree::Ident(word) => self.word(word),
            TokenTree::Literal(_) => Behind::Literal,
            TokenTree::Punct(sign) => self.sign(sign, joint),
        };
    }

    /// Whether braces were the end of a statement, an item or an arm: what could go on behind them does not begin like this.
    fn is_over_before(&self, token: &TokenTree) -> bool {
        match (self.behind, token) {
            (Behind::Block, TokenTree::Ident(word)) => !is_one_of(word, &["else", "as", "in"]),
            (Behind::Block, TokenTree::Punct(sign)) => matches!(sign.as_char(), '#' | '\''),
            (Behind::Block, TokenTree::Literal(_)) => true,
            (Behind::Arm, TokenTree::Punct(sign)) => !matches!(sign.as_char(), '.' | '?'),
            (Behind::Arm, _) => true,
            _ => false,
        }
    }

    fn end_all(&mut self) {
        (self.open, self.closure, self.condition) = (0, 0, 0);
        self.angles.clear();
    }

    fn group(&mut self, group: &Group) -> Behind {
        let is_braces = group.delimiter() == Delimiter::Brace;
        match self.behind {
            Behind::Arrow if is_braces => Behind::Arm,
            _ if is_braces => Behind::Block,
            // An attribute, behind which a value begins.
            Behind::Hash => Behind::Sign,
            Behind::Value | Behind::Literal | Behind::Angle | Behind::Block => {
                self.open += CHEAP;
                Behind::Value
            }
            // An index: it is one deeper than the name, which may be a field with a `.` of its own.
            Behind::Name if group.delimiter() == Delimiter::Bracket => {
                self.open += CHEAP;
                Behind::Value
            }
            _ => Behind::Value,
        }
    }

    fn word(&mut self, word: &Ident) -> Behind {
        if self.behind == Behind::Else && word == "if" {
            // syn goes no deeper for it.
            self.open += CHEAP;
            self.condition = self.open;
            Behind::Sign
        } else if is_one_of(word, &NESTING) {
            self.open += COSTLY;
            if word == "if" {
                self.condition = self.open;
            }
            Behind::Sign
        } else if self.behind == Behind::Block && word == "else" {
            self.open = self.open.min(self.condition);
            Behind::Else
        } else if word == "as" {
            self.open += CHEAP;
            Behind::Sign
        } else if self.behind == Behind::Quote || is_one_of(word, &NO_VALUES) {
            Behind::Sign
        } else if word == "await" {
            // No name: brackets behind it are a call of what was awaited.
            Behind::Value
        } else {
            Behind::Name
        }
    }

    fn sign(&mut self, sign: &Punct, joint: Option<(char, Behind)>) -> Behind {
        let (sign, is_joint) = (sign.as_char(), sign.spacing() == Spacing::Joint);
        let first = joint.map(|(first, _)| first);
        let mut behind = self.behind;
        match (joint, sign) {
            (Some(('=', _)), '>') => {
                self.end_all();
                return Behind::Arrow;
            }
            (Some(('|', _)), '|') => return Behind::Sign,
            // A type behind `->`, or a range.
            (Some(('-', _)), '>') | (Some(('.', _)), '.') => {
                self.open += COSTLY;
                return Behind::Sign;
            }
            (Some((first, _)), '=') if WITH_EQUALS.contains(first) => {
                return self.with_equals(first);
            }
            // Two signs, or one that is as a whole behind what its first half is behind.
            (Some(('<', before)), '<') | (Some(('&', before)), '&') => behind = before,
            _ => self.joint = is_joint.then_some((sign, behind)),
        }
        self.count(sign, first, behind);
        self.keep_from_commas(sign, behind);
        match sign {
            '#' => Behind::Hash,
            '!' if behind == Behind::Hash => Behind::Hash,
            '\'' => Behind::Quote,
            '>' => Behind::Angle,
            '?' => Behind::Literal,
            _ => Behind::Sign,
        }
    }

    fn with_equals(&mut self, first: char) -> Behind {
        match first {
            '<' => drop(self.angles.pop()),
            '=' | '!' | '>' => {}
            // It assigns: what it assigns may do so, too.
            _ => self.open += COSTLY,
        }
        Behind::Sign
    }

    fn count(&mut self, sign: char, first: Option<char>, behind: Behind) {
        self.open += match sign {
            ';' => return self.end_all(),
            ',' => {
                self.open = self.open.min(self.kept_at_commas());
                0
            }
            '#' | '$' | '\'' => 0,
            '!' if behind == Behind::Hash => 0,
            ':' if first != Some(':') => 0,
            // It ends a type, or compares what can be compared only once.
            '>' => 0,
            '<' => ANGLE,
            '.' | '?' | ':' => CHEAP,
            '=' => COSTLY,
            _ if behind.is_value() => CHEAP,
            _ => COSTLY,
        };
    }

    fn kept_at_commas(&self) -> usize {
        self.closure.max(self.angles.last().copied().unwrap_or(0))
    }

    /// Parameters of types and arguments of closures have commas between them.
    fn keep_from_commas(&mut self, sign: char, behind: Behind) {
        match sign {
            '<' if behind != Behind::Literal => self.angles.push(self.open),
            '|' if !behind.is_value() => self.closure = self.open,
            '>' => drop(self.angles.pop()),
            _ => {}
        }
    }
}

fn is_one_of(word: &Ident, words: &[&str]) -> bool {
    words.iter().any(|one| word == one)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use syn::visit::{self, Visit};
    use syn::{Expr, Pat, Type};

    use super::*;

    /// How many values, types and patterns of a tree are inside of each other.
    #[derive(Default)]
    struct Depth {
        now: usize,
        most: usize,
    }

    impl Depth {
        fn inside(&mut self, visit: impl FnOnce(&mut Self)) {
            self.now += 1;
            self.most = self.most.max(self.now);
            visit(self);
            self.now -= 1;
        }
    }

    impl Visit<'_> for Depth {
        fn visit_expr(&mut self, value: &Expr) {
            self.inside(|depth| visit::visit_expr(depth, value));
        }

        fn visit_type(&mut self, of: &Type) {
            self.inside(|depth| visit::visit_type(depth, of));
        }

        fn visit_pat(&mut self, pattern: &Pat) {
            self.inside(|depth| visit::visit_pat(depth, pattern));
        }
    }

    /// Forms of values, with others in place of `_`, and types in place of `T`.
    const VALUES: [&str; 46] = [
        "! _",
        "!_",
        "-_",
        "& _",
        "&&_",
        "&mut _",
        "*_",
        "(_)",
        "[_, _]",
        "[_; 2]",
        "f(_, _)",
        "_.b(_)",
        "_.c",
        "_?",
        "_.await",
        "_[_]",
        "_(_)",
        "_ + _",
        "_ - _",
        "_ && _",
        "_ & _",
        "_ | _",
        "_ || _",
        "_ < _",
        "_ > _",
        "_ << _",
        "_ == _",
        "_ as T",
        "|a, b| _",
        "|a: T, b| _",
        "|| _",
        "#[a] |a, b| _",
        "move |a| _",
        "return _",
        "break 'a _",
        "_ = _",
        "_ += _",
        ".._",
        "_.._",
        "A::<T, T>::c(_)",
        "if _ { _ } else if _ { _ } else { _ }",
        "if let S { a, b } = _ {} else {}",
        "match _ { S {} if _ => _, &a => { _ } -1 => {} _ => _ }",
        "for S {} in _ { _; _ }",
        "{ _; if _ {} _ }",
        "while _ {}",
    ];
    const TYPES: [&str; 11] = [
        "&T",
        "&'a mut T",
        "*const T",
        "A<T>",
        "A<T, T>",
        "fn(T, T) -> T",
        "impl Fn(T) -> T",
        "[T; 2]",
        "(T, T)",
        "<T as B<T>>::C",
        "dyn A<B = T>",
    ];

    /// Words for the places that are not nested.
    const WORDS: [&str; 5] = ["a", "1", "s.x", "S {}", "m!(a)"];

    /// A form with something at one of its places, and words at the others.
    fn filled(form: &str, place: char, at: usize, with: &str, word: &str) -> String {
        let places = form.matches(place).count();
        let (mut text, mut seen) = (String::new(), 0);
        for letter in form.chars() {
            if letter == place {
                text += if seen == at % places { with } else { word };
                seen += 1;
            } else {
                text.push(letter);
            }
        }
        text
    }

    /// A few forms in turns, many times inside of each other.
    fn nested(forms: &[&str], place: char, chosen: &[(usize, usize)], word: &str) -> String {
        let in_turns = chosen.iter().cycle().take(20);
        in_turns.fold(word.to_owned(), |inside, (form, at)| {
            filled(forms[form % forms.len()], place, *at, &inside, word)
        })
    }

    fn chosen() -> impl Strategy<Value = Vec<(usize, usize)>> {
        prop::collection::vec((0_usize..1_000, 0_usize..12), 1..4)
    }

    #[test]
    fn an_index_of_a_field_or_of_what_was_awaited_is_one_deeper() {
        for link in [".await[a]", ".await(a)", ".c[a]"] {
            let tokens: TokenStream = format!("{{ a{} }}", link.repeat(20)).parse().unwrap();
            assert!(deepest(&tokens) >= 40 * CHEAP, "{link}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

        #[test]
        fn no_tree_is_deeper_than_its_tokens_say(
            values in chosen(),
            types in chosen(),
            word in prop::sample::select(&WORDS[..]),
        ) {
            let value = nested(&VALUES, '_', &values, word).replace('T', "u8");
            let of = nested(&TYPES, 'T', &types, "u8");
            for text in [format!("{{ {value} }}"), format!("{{ let a: {of} = a; }}")] {
                let tokens: TokenStream = text.parse().unwrap();
                if let Ok(block) = syn::parse2::<syn::Block>(tokens.clone()) {
                    let mut depth = Depth::default();
                    depth.visit_block(&block);
                    // A name, and its arguments, need no sign.
                    prop_assert!(deepest(&tokens) + 3 * CHEAP >= depth.most * CHEAP, "{text}");
                }
            }
        }
    }
}
