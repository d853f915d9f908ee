//! Rust that is nested deeply: read as long as the stack is enough for it, and told if it may not be.

mod rust_support;

use std::fs;
use std::path::Path;

use rust_support::read_folder;
use unpick_correlations::Sources;

/// A file with something that is nested, by how deep.
type Nested = fn(usize) -> String;

/// A function with a value in it.
fn value(value: impl AsRef<str>) -> String {
    format!("struct S {{ x: u32, y: T }}\nfn f(s: &mut S) {{ s.x = 1; s.x = {}; }}", value.as_ref())
}

/// A function with a statement in it.
fn statement(statement: impl AsRef<str>) -> String {
    format!("struct S {{ x: u32, y: T }}\nfn f(s: &mut S) {{ s.x = 1; {} }}", statement.as_ref())
}

/// A field with a type, and a function.
fn of_type(of: impl AsRef<str>) -> String {
    format!("struct S {{ x: u32, y: {} }}\nfn f(s: &mut S) {{ s.x = 1; }}", of.as_ref())
}

/// What is before, what it is around, and what is behind, so many times.
fn around(before: &str, inside: &str, behind: &str, depth: usize) -> String {
    before.repeat(depth) + inside + &behind.repeat(depth)
}

/// What syn goes some calls deeper for.
const COSTLY: [(&str, Nested); 40] = [
    ("brackets", |depth| value(around("(", "s.x", ")", depth))),
    ("arrays", |depth| value(around("[", "s.x", "]", depth))),
    ("blocks", |depth| statement(around("{", "s.x = 2;", "}", depth))),
    ("calls in calls", |depth| value(around("f(", "s.x", ")", depth))),
    ("macros in macros", |depth| value(around("vec![", "s.x", "]", depth))),
    ("modules", |depth| statement("") + &around("mod m {", "", "}", depth)),
    ("functions", |depth| statement("") + &around("fn g() {", "", "}", depth)),
    ("!", |depth| value(around("!", "s.x", "", depth))),
    ("*", |depth| value(around("*", "s.x", "", depth))),
    ("&", |depth| value(around("&", "s.x", "", depth))),
    ("&mut", |depth| value(around("&mut ", "s.x", "", depth))),
    ("-", |depth| value(around("- ", "s.x", "", depth))),
    ("- with comments", |depth| value(around("- /* ; */ // }\n", "s.x", "", depth))),
    ("signs in turns", |depth| value(around("&*!-", "s.x", "", depth / 4))),
    ("=", |depth| value(around("s.x = ", "1", "", depth))),
    ("+=", |depth| value(around("s.x += ", "1", "", depth))),
    ("..", |depth| value(around(".. ", "s.x", "", depth))),
    ("closures", |depth| value(around("|| ", "s.x", "", depth))),
    ("closures with arguments", |depth| value(around("|a, b| ", "s.x", "", depth))),
    ("returned closures", |depth| value(around("return |a, b| ", "s.x", "", depth / 2))),
    ("closures with attributes", |depth| value(around("#[a] |a, b| ", "s.x", "", depth))),
    ("compared closures", |depth| value(around("1 > |a, b| ", "s.x", "", depth))),
    ("return", |depth| value(around("return ", "s.x", "", depth))),
    ("break", |depth| value(around("break ", "s.x", "", depth))),
    ("break with a label", |depth| value(around("break 'a |a, b| ", "s.x", "", depth / 2))),
    ("if as a condition", |depth| statement(around("if ", "s.x", " {}", depth))),
    ("match as a value", |depth| statement(around("match ", "s.x", " {}", depth))),
    ("while as a condition", |depth| statement(around("while ", "s.x", " {}", depth))),
    ("for as a value", |depth| statement(around("for S {} in ", "s.x", " {}", depth))),
    ("let as a value", |depth| statement(around("if let a = ", "s.x", " {}", depth / 2))),
    ("references to references", |depth| of_type(around("&", "u8", "", depth))),
    ("&mut of &mut", |depth| of_type(around("&'a mut ", "u8", "", depth))),
    ("pointers to pointers", |depth| of_type(around("*const ", "u8", "", depth))),
    ("tuples", |depth| of_type(around("(", "u8", ",)", depth))),
    ("functions that give functions", |depth| of_type(around("fn() -> ", "u8", "", depth))),
    ("types of types", |depth| of_type(around("A<", "u8", ">", depth))),
    ("types of types behind others", |depth| of_type(around("A<u8, ", "u8", ">", depth))),
    ("types of traits", |depth| of_type(around("<", "u8", " as B>::C", depth))),
    ("types in values", |depth| value(around("A::<u8, ", "u8", ">", depth) + "::new()")),
    ("patterns", |depth| statement(format!("let {}a = s;", "&".repeat(depth)))),
];

/// What only makes trees that are as deep.
const CHEAP: [(&str, Nested); 14] = [
    ("methods", |depth| value(around("", "s.y", ".b()", depth))),
    ("methods that pass on", |depth| value(around("", "s.y", ".unwrap()", depth))),
    ("fields", |depth| value(around("", "s", ".y", depth))),
    ("?", |depth| value(around("", "s.y", "?", depth))),
    ("await", |depth| value(around("", "s.y", ".await", depth))),
    ("index", |depth| value(around("", "s.y", "[0]", depth))),
    ("calls of results", |depth| value(around("", "f", "(0)", depth))),
    ("+", |depth| value(around("", "s.x", " + s.x", depth))),
    ("-", |depth| value(around("", "s.x", " - s.x", depth))),
    ("&&", |depth| value(around("", "s.x", " && s.x", depth))),
    ("as", |depth| value(around("", "s.x", " as u8", depth))),
    ("else if", |depth| statement(around("", "if s.x == 1 {}", " else if s.x == 1 {}", depth))),
    ("use", |depth| statement("") + &around("", "use a", "::a", depth) + ";"),
    ("names of names", |depth| statement(format!("let {}b = s;", "a @ ".repeat(depth)))),
];

/// The file, and one more that everybody can read.
fn read_with_another(text: &str, cache: &Path) -> Sources {
    let folder = cache.join("sources");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("deep.rs"), text).unwrap();
    fs::write(folder.join("other.rs"), "struct O { z: u8 } fn g(o: &mut O) { o.z = 1; }").unwrap();
    read_folder(&folder, Some(cache), 2)
}

#[track_caller]
fn assert_read(what: &str, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    for unchanged in [0, 2] {
        let sources = read_with_another(text, folder.path());
        assert_eq!(sources.missing, Vec::<String>::new(), "{what}");
        assert_eq!((sources.sets.len(), sources.files_unchanged), (2, unchanged), "{what}");
        assert!(sources.sets[0].variables.contains(&"S::x".to_owned()), "{what}");
    }
}

#[track_caller]
fn assert_told(what: &str, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    for unchanged in [0, 2] {
        let sources = read_with_another(text, folder.path());
        assert_eq!(sources.missing.len(), 1, "{what}: {:?}", sources.missing);
        let told = &sources.missing[0];
        assert!(told.ends_with("deep.rs: not read: it is nested too deeply"), "{what}: {told}");
        assert_eq!((sources.sets.len(), sources.files_unchanged), (1, unchanged), "{what}");
    }
}

#[test]
fn what_the_stack_is_enough_for_is_read() {
    for (what, nested) in COSTLY {
        assert_read(what, &nested(1_500));
    }
    for (what, nested) in CHEAP {
        assert_read(what, &nested(4_000));
    }
}

#[test]
fn what_it_may_not_be_enough_for_is_told_and_the_others_are_read() {
    for (what, nested) in COSTLY.into_iter().chain(CHEAP) {
        assert_told(what, &nested(25_000));
    }
}

#[test]
fn what_is_outside_of_brackets_counts_inside_of_them() {
    for (what, nested) in [
        ("not", around(&("!".repeat(1_000) + "("), "s.x", ")", 10)),
        ("argument", around(&("!".repeat(1_000) + "f("), "s.x", ")", 10)),
        ("closure", around(&("|a, b| ".repeat(1_000) + "{"), "s.x", "}", 10)),
    ] {
        assert_told(what, &value(nested));
    }
}

#[test]
fn long_lists_are_not_deep() {
    const MANY: usize = 6_000;
    for (what, long) in [
        ("statements", statement("s.x = -s.x; ".repeat(MANY))),
        ("blocks", statement("if s.x < 1 {} ".repeat(MANY))),
        ("loops", statement("for a in -s.x {} ".repeat(MANY))),
        ("numbers", value(format!("[{}]", "-1, ".repeat(MANY)))),
        ("shifts", value(format!("[{}]", "1 << 2, ".repeat(MANY)))),
        ("flags", value(format!("[{}]", "A | B, ".repeat(4 * MANY)))),
        ("types in values", value(format!("[{}]", "A::<u8>::B, ".repeat(MANY)))),
        ("calls", value(format!("f({})", "f(-s.x), ".repeat(MANY)))),
        (
            "arms",
            statement(format!("match s.x {{ {} _ => {{}} }}", "A::B => -1 << b, ".repeat(MANY))),
        ),
        (
            "arms without commas",
            statement(format!("match s.x {{ {} _ => {{}} }}", "-1 => {} &b => {} ".repeat(MANY))),
        ),
        (
            "fields",
            statement("") + &format!("struct L {{ {} }}", "a: Option<&'a B<C>>, ".repeat(MANY)),
        ),
        (
            "functions",
            statement("")
                + &"/// It is.\n#[must_use] fn a<T: B<C>>(a: &D) -> E<&F> { -1 } ".repeat(MANY),
        ),
        ("constants", statement("") + &"pub const A: B<C> = -D; ".repeat(MANY)),
        (
            "implementations",
            statement("") + &"impl<T: B> A<T> for C<T> where T: D<E> {} ".repeat(MANY),
        ),
    ] {
        assert_read(what, &long);
    }
}

#[test]
fn brackets_in_strings_and_comments_are_none() {
    let brackets = "[".repeat(100_000);
    let text = format!("// {brackets}\n/* {brackets} */\n") + &value(format!("{brackets:?}"));
    assert_read("brackets", &text);
}

/// Parts of a file that does not parse are tried one by one, each as if it were a file.
#[test]
fn a_part_that_is_nested_too_deeply_is_left_out() {
    let deep = value("!".repeat(100_000) + "1").replace("fn f", "fn deep");
    let hidden = format!("/*\n{deep}\n*/\nfn broken( {{\n");
    let text = statement("") + "\n" + &hidden;
    let folder = tempfile::tempdir().unwrap();
    let sources = read_with_another(&text, folder.path());
    assert_eq!((sources.missing.len(), sources.sets.len()), (1, 2), "{:?}", sources.missing);
}

#[test]
fn brackets_that_nothing_closes_are_an_error_like_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let text = "fn f() { ".to_owned() + &"[".repeat(1_000_000);
    let sources = read_with_another(&text, folder.path());
    assert_eq!((sources.missing.len(), sources.sets.len()), (1, 1));
    assert!(sources.missing[0].contains("deep.rs: not read: line "), "{:?}", sources.missing);
}

#[test]
fn the_line_of_an_interpreter_is_passed_over() {
    for first in ["#!/usr/bin/env it's", "\u{feff}#! [deny(unused)]", "#![deny(unused)]"] {
        let folder = tempfile::tempdir().unwrap();
        let sources = read_with_another(&(first.to_owned() + "\n" + &value("1")), folder.path());
        assert_eq!(sources.missing, Vec::<String>::new(), "{first}");
        assert_eq!(sources.sets[0].functions[0].line, 3, "{first}");
    }
}
