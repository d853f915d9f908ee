//! The expression found for an access is the right one: the program itself says where each expression is.
//!
//! At every level no name may be wrong; without optimisation, most must be found.

mod toolchain;

use std::collections::BTreeSet;

use toolchain::{Compiler, NamedAccess, Workshop};
use unpick_symbols::{Access, Memory};

struct Checked {
    named: usize,
    nameless: Vec<String>,
    found: BTreeSet<(bool, String)>,
}

fn check(compiler: Compiler, source: &str, text: &str, options: &[&str]) -> Checked {
    let workshop = Workshop::new();
    let path = workshop.write(source, text);
    let recorded = workshop.instrumented(compiler, source, options);
    let mut checked = Checked { named: 0, nameless: Vec::new(), found: BTreeSet::new() };
    for access in recorded.named_accesses(&path) {
        let Some(name) = &access.text else {
            checked.nameless.push(shown(text, &access));
            continue;
        };
        if cannot_be_noted(name, recorded.memory(access.address))
            || is_marked_unnoted(text, &access)
        {
            continue;
        }
        let complaint = format!("{compiler:?} {options:?}: {}", shown(text, &access));
        assert_eq!(access.truth, Some(access.address), "{complaint}");
        checked.named += 1;
        checked.found.insert((access.access == Access::Write, name.clone()));
    }
    checked
}

/// A local variable is known by its name alone; a bit field has no address.
fn cannot_be_noted(name: &str, memory: Memory) -> bool {
    let is_bare = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_bare && memory == Memory::Stack || name.contains("->flag_")
}

fn is_marked_unnoted(text: &str, access: &NamedAccess) -> bool {
    let line = text.lines().nth(access.place.line().unwrap_or(1) as usize - 1);
    line.is_some_and(|line| line.ends_with("// unnoted"))
}

fn shown(text: &str, access: &NamedAccess) -> String {
    let line = access.place.line().unwrap_or(1) as usize;
    let column = access.place.column().unwrap_or(1) as usize;
    let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    format!(
        "{:?} at {:#x} named {:?}\n  {line}\n  {}^",
        access.access,
        access.address,
        access.text,
        " ".repeat(column.saturating_sub(1))
    )
}

fn expect(checked: &Checked, access: Access, names: &[&str]) {
    for name in names {
        let wanted = (access == Access::Write, (*name).to_owned());
        let nameless = checked.nameless.join("\n");
        assert!(
            checked.found.contains(&wanted),
            "{access:?} of {name} has no name; nameless:\n{nameless}"
        );
    }
}

const LEVELS: [&str; 4] = ["-O0", "-O1", "-O2", "-O3"];

const C: &str = include_str!("programs/fields.c");
const CPP: &str = include_str!("programs/fields.cpp");
const RUST: &str = include_str!("programs/fields.rs");

const C_WRITES: [&str; 17] = [
    "c->mode",
    "c->limits[i & 3].max",
    "c->next",
    "c->next->mode",
    "c->next->limits[1].max",
    "c->big[1]",
    "*c->data",
    "c->limits[1].max",
    "config.mode",
    "config.limits[2].min",
    "counter",
    "table[i & 7]",
    "table[2]",
    "*cursor",
    "cursor",
    "q[i & 1]",
    "c->rows[0]->mode",
];
const C_READS: [&str; 15] = [
    "c->mode",
    "c->limits[i & 3].max",
    "c->limits[0].min",
    "c->big[0]",
    "c->data",
    "c->data[i & 1]",
    "c->next->next",
    "c->next->next->mode",
    "c->big[counter & 1]",
    "*q",
    "q[1]",
    "(*pp)->mode",
    "counter",
    "cursor",
    "*cursor",
];

fn c_accesses_are_named_right(compiler: Compiler) {
    if !compiler.is_here() {
        return;
    }
    for level in LEVELS {
        for pie in [&["-fPIE", "-pie"], &["-fno-pie", "-no-pie"]] {
            let checked = check(compiler, "fields.c", C, &[&[level], &pie[..]].concat());
            assert!(checked.named > 20);
            if level == "-O0" {
                expect(&checked, Access::Write, &C_WRITES);
                expect(&checked, Access::Read, &C_READS);
            }
        }
    }
}

#[test]
fn accesses_of_gcc_are_named_right() {
    c_accesses_are_named_right(Compiler::Gcc);
}

#[test]
fn accesses_of_clang_are_named_right() {
    c_accesses_are_named_right(Compiler::Clang);
}

const CPP_WRITES: [&str; 14] = [
    "balance",
    "total",
    "peer->balance",
    "this->balance",
    "id",
    "arr[i]",
    "r.balance",
    "all[0]->balance",
    "b->balance",
    "a->balance",
    "(*a).balance",
    "a->peer->peer->balance",
    "cache->items[0]",
    "cache->empty",
];
const CPP_READS: [&str; 9] = [
    "balance",
    "arr[i]",
    "peer",
    "r.balance",
    "a->balance",
    "all[0]->balance",
    "cache->empty",
    "cache",
    "a->peer->peer",
];

fn cpp_accesses_are_named_right(compiler: Compiler) {
    if !compiler.is_here() {
        return;
    }
    for level in LEVELS {
        let checked = check(compiler, "fields.cpp", CPP, &[level, "-std=c++17"]);
        assert!(checked.named > 10);
        if level == "-O0" {
            expect(&checked, Access::Write, &CPP_WRITES);
            expect(&checked, Access::Read, &CPP_READS);
        }
    }
}

#[test]
fn accesses_of_gxx_are_named_right() {
    cpp_accesses_are_named_right(Compiler::Gxx);
}

#[test]
fn accesses_of_clangxx_are_named_right() {
    cpp_accesses_are_named_right(Compiler::Clangxx);
}

#[test]
fn accesses_of_rustc_are_named_right() {
    if !Compiler::Rustc.is_here() {
        return;
    }
    for level in ["0", "1", "2"] {
        let option = format!("-Copt-level={level}");
        let checked = check(Compiler::Rustc, "fields.rs", RUST, &[&option]);
        assert!(checked.named > 10);
        if level == "0" {
            let writes = [
                "self.len",
                "self.items[i].count",
                "self.table[i]",
                "self.inner.depth",
                "self.inner.level",
                "self.pair.1",
                "self.small",
                "*p",
                "*q",
                "COUNTER",
                "guard.1",
                "guard.0",
            ];
            let reads = [
                "self.len",
                "self.items[i].count",
                "self.table[i]",
                "self.pair.1",
                "self.small",
                "it.count",
                "*p",
            ];
            expect(&checked, Access::Write, &writes);
            expect(&checked, Access::Read, &reads);
        }
    }
}
