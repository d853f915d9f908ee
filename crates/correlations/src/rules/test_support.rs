//! Functions for tests, in a few letters.

use crate::access_sets::{FileSets, SetsBuilder, kind};

/// Functions as words: `w:x r:y;` one statement each; `m1w:x` is written by macro 1.
pub fn sets(functions: &[&str]) -> FileSets {
    let mut sets = SetsBuilder::default();
    let file = sets.file("a.c");
    for (number, function) in functions.iter().enumerate() {
        sets.begin_function(number as u64 + 1, format!("f{number}"), file, number as u32, false);
        for word in function.split_whitespace() {
            sets.next_statement();
            let (how, name) = word.split_once(':').unwrap();
            let (origin, how) = match how.strip_prefix('m') {
                Some(rest) => (rest[..1].parse().unwrap(), &rest[1..]),
                None => (0, how),
            };
            let bits = how.chars().fold(0, |bits, letter| {
                bits | match letter {
                    'r' => kind::READ,
                    'w' => kind::WRITE,
                    _ => kind::ADDRESS,
                }
            });
            if how == "call" {
                sets.call(name.parse().unwrap());
            } else if bits != 0 && how != "-" {
                let variable = sets.variable(&format!("T::{name}"));
                sets.access(variable, bits, (number as u32 * 10, 1), origin);
            }
        }
        sets.end_function();
    }
    sets.finish()
}
