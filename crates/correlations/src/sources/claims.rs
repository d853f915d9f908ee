//! What files define for themselves, by their text: two that define the same cannot be read as one translation unit.
//!
//! Takes   lines of sources and headers.      Gives  numbers of the names of statics and types, and of what macros define.
//! Misses  what stands further to the right, enumerators, what comes of macros with other arguments: such files are read twice.
//! Invents names that conditions leave out: such files are only read with others.

use std::path::Path;

use rustc_hash::{FxHashMap, FxHashSet};

use super::includes::{Includes, Open};
use super::queue::Unit;
use crate::access_sets::c::hash;

/// A name that a file defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Claim {
    pub name: u64,
    /// Who defines it: no two owners get on.
    pub owner: u64,
}

/// The file whose text it is.
const THIS_FILE: u64 = 0;

/// For each unit, what it and its headers define of all that several files do.
pub fn contested(
    units: &[Unit],
    files: &FxHashSet<&Path>,
    open: &Open,
    includes: &mut Includes,
) -> Vec<Vec<Claim>> {
    let contested = with_several_owners(files, includes);
    let mut by_file: FxHashMap<&Path, Vec<Claim>> = FxHashMap::default();
    for &file in files {
        let claims: Vec<Claim> =
            claims_of(file, includes).filter(|claim| contested.contains(&claim.name)).collect();
        if !claims.is_empty() {
            by_file.insert(file, claims);
        }
    }
    let of_unit = |unit: &Unit| {
        let own = unit.all_files().filter_map(|file| by_file.get(file)).flatten().copied();
        without_alternatives(own.collect()).into_iter().chain(for_itself(unit, open)).collect()
    };
    units.iter().map(of_unit).collect()
}

/// What several headers of one unit define, conditions choose among.
fn without_alternatives(mut claims: Vec<Claim>) -> Vec<Claim> {
    claims.sort_unstable_by_key(|claim| claim.name);
    let alone = claims.chunk_by(|one, other| one.name == other.name).filter(|same| same.len() == 1);
    alone.flatten().copied().collect()
}

fn with_several_owners(files: &FxHashSet<&Path>, includes: &mut Includes) -> FxHashSet<u64> {
    let (mut owners, mut several) = (FxHashMap::default(), FxHashSet::default());
    for file in files {
        for claim in claims_of(file, includes) {
            if *owners.entry(claim.name).or_insert(claim.owner) != claim.owner {
                several.insert(claim.name);
            }
        }
    }
    several
}

fn claims_of(file: &Path, includes: &mut Includes) -> impl Iterator<Item = Claim> + use<> {
    let (text, this) = (includes.text(file), number_of(file));
    let claims = text.claims.clone().into_iter();
    claims.map(move |claim| match claim.owner {
        THIS_FILE => Claim { owner: this, ..claim },
        _ => claim,
    })
}

/// What a file without a guard defines, it defines for each of its includers.
fn for_itself<'a>(unit: &'a Unit, open: &'a Open) -> impl Iterator<Item = Claim> + 'a {
    let owner = number_of(&unit.file);
    let included = unit.closure.iter().filter(|header| open.for_each.contains(header.as_ref()));
    included.map(move |header| Claim { name: number_of(header), owner })
}

fn number_of(file: &Path) -> u64 {
    hash(file.as_os_str().as_encoded_bytes())
}

/// The names, as the lines come.
#[derive(Default)]
pub struct Claims {
    found: Vec<Claim>,
    /// What the last line began, and did not name.
    open: Option<Beginning>,
}

/// How a line begins that defines something.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beginning {
    /// `static int x`, `typedef int x`
    Named,
    /// `} x;`, but not `} END_OF_ITEM(x)`
    Behind,
    /// `struct x {`: no definition unless there is a bracket.
    Type,
}

impl Beginning {
    fn is_named_before(self, sign: u8) -> bool {
        match self {
            Self::Named => true,
            Self::Behind => sign != b'(',
            Self::Type => sign == b'{',
        }
    }
}

impl Claims {
    pub fn see(&mut self, line: &[u8]) {
        let line = line.trim_ascii_end();
        let (beginning, rest) = match (self.open.take(), beginning_of(line)) {
            (_, Some(found)) => found,
            (Some(open), None) if line.first().is_some_and(|&byte| is_of_word(byte)) => {
                (open, line)
            }
            (Some(Beginning::Type), None) if line.starts_with(b"{") => return,
            _ => {
                if is_macro(line) {
                    self.claim(line, THIS_FILE);
                }
                return;
            }
        };
        match name_in(rest) {
            Named::Yes(name, end) if beginning.is_named_before(end) => {
                self.claim(name, owner_of(line));
            }
            Named::NotYet(name) if beginning == Beginning::Type => self.claim(name, THIS_FILE),
            Named::NotYet(_) => self.open = Some(beginning),
            Named::Yes(..) | Named::No => {}
        }
    }

    fn claim(&mut self, name: &[u8], owner: u64) {
        self.found.push(Claim { name: hash(name), owner });
    }

    pub fn all(mut self) -> Vec<Claim> {
        self.found.sort_unstable();
        self.found.dedup();
        self.found
    }
}

/// `typedef int word;` may be said again, in the same words.
fn owner_of(line: &[u8]) -> u64 {
    if line.starts_with(b"typedef ") && line.ends_with(b";") { hash(line) } else { THIS_FILE }
}

fn beginning_of(line: &[u8]) -> Option<(Beginning, &[u8])> {
    const BEGINNINGS: [(&[u8], Beginning); 7] = [
        (b"static ", Beginning::Named),
        (b"typedef ", Beginning::Named),
        (b"} ", Beginning::Behind),
        (b"struct ", Beginning::Type),
        (b"union ", Beginning::Type),
        (b"enum ", Beginning::Type),
        (b"class ", Beginning::Type),
    ];
    BEGINNINGS.iter().find_map(|(words, beginning)| Some((*beginning, line.strip_prefix(*words)?)))
}

/// What a line calls what it defines.
enum Named<'a> {
    /// With the sign behind it.
    Yes(&'a [u8], u8),
    /// The last word, with nothing behind it.
    NotYet(&'a [u8]),
    No,
}

/// The word before the first sign that ends a name: `static STACK_OF(X) *name(`, `typedef int (*name)(`.
fn name_in(line: &[u8]) -> Named<'_> {
    let mut rest = line;
    loop {
        let Some(end) = rest.iter().position(|byte| b"([={;".contains(byte)) else {
            return Named::NotYet(last_word(rest));
        };
        let (name, sign) = (last_word(&rest[..end]), rest[end]);
        let behind = &rest[end + 1..];
        if sign == b'(' && behind.trim_ascii_start().starts_with(b"*") {
            let star = behind.trim_ascii_start()[1..].trim_ascii_start();
            let length = star.iter().position(|&byte| !is_of_word(byte)).unwrap_or(star.len());
            return Named::Yes(&star[..length], sign);
        }
        if sign == b'(' && (is_of_capitals(name) || name.starts_with(b"__")) {
            match behind_bracket(behind) {
                Some(inner) => rest = inner,
                None => return Named::No,
            }
        } else if name.is_empty() || is_keyword(name) {
            return Named::No;
        } else {
            return Named::Yes(name, sign);
        }
    }
}

/// What stands behind the bracket that ends what stands here.
fn behind_bracket(text: &[u8]) -> Option<&[u8]> {
    let mut depth = 1;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&text[at + 1..]);
        }
    }
    None
}

fn last_word(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    let begin = text.iter().rposition(|&byte| !is_of_word(byte)).map_or(0, |at| at + 1);
    &text[begin..]
}

/// `DEFINE_STACK_OF(BIGNUM)`
fn is_macro(line: &[u8]) -> bool {
    line.iter().position(|&byte| byte == b'(').is_some_and(|end| is_of_capitals(&line[..end]))
}

fn is_of_capitals(word: &[u8]) -> bool {
    word.first().is_some_and(u8::is_ascii_uppercase)
        && word.iter().all(|&byte| is_of_word(byte) && !byte.is_ascii_lowercase())
}

/// Words before a sign that are not the name.
fn is_keyword(word: &[u8]) -> bool {
    const WORDS: [&[u8]; 8] =
        [b"struct", b"union", b"enum", b"class", b"else", b"while", b"do", b"int"];
    WORDS.contains(&word)
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests {
    use super::{Claim, Claims, without_alternatives};
    use crate::access_sets::c::hash;

    fn all_claims(text: &str) -> Vec<Claim> {
        let mut claims = Claims::default();
        text.lines().for_each(|line| claims.see(line.as_bytes()));
        claims.all()
    }

    fn claims(text: &str) -> Vec<u64> {
        all_claims(text).into_iter().map(|claim| claim.name).collect()
    }

    #[test]
    fn what_a_file_defines_for_itself_is_named() {
        for (text, name) in [
            ("static int count;", "count"),
            ("static const char *names[] = {", "names"),
            ("static void visit(struct node *n)", "visit"),
            ("static int\nvisit(struct node *n)\n{", "visit"),
            ("static STACK_OF(X509) *certs(void)", "certs"),
            ("static __attribute__((unused)) int spare(void)", "spare"),
            ("static int (*hook)(void) = 0;", "hook"),
            ("typedef unsigned long word;", "word"),
            ("typedef int (*compare)(const void *);", "compare"),
            ("typedef struct node_st {\n", "node_st"),
            ("} NODE;", "NODE"),
            ("struct node {", "node"),
            ("struct node\n{", "node"),
            ("enum colour {", "colour"),
            ("DEFINE_STACK_OF(X509)", "DEFINE_STACK_OF(X509)"),
        ] {
            assert_eq!(claims(text), [hash(name.as_bytes())], "{text}");
        }
    }

    #[test]
    fn what_others_may_say_too_is_no_claim() {
        for text in [
            "struct node;",
            "struct node *first(void);",
            "extern int count;",
            "int visit(void)",
            "    static int count;",
            "} else {",
            "} item_end(X509)",
            "static struct {",
            "call(x);",
            "/* static int x; */",
            "",
        ] {
            assert!(claims(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn who_says_the_same_of_a_name_gets_on() {
        let word = all_claims("typedef unsigned long word;");
        assert_eq!(word, all_claims("int x;\ntypedef unsigned long word;"));
        let other = all_claims("typedef unsigned int word;");
        assert!(word[0].name == other[0].name && word[0].owner != other[0].owner);
    }

    #[test]
    fn what_conditions_choose_among_is_no_claim() {
        let claim = |name, owner| Claim { name, owner };
        let found = without_alternatives(vec![claim(1, 1), claim(2, 1), claim(1, 2)]);
        assert_eq!(found, [claim(2, 1)]);
    }

    #[test]
    fn a_line_without_a_name_does_not_take_that_of_the_next_sentence() {
        assert!(claims("static int\n\nint visit(void)").is_empty());
        assert!(claims("static int\n#ifdef X\n  visit(void)").is_empty());
    }
}
