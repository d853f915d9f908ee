//! Global and static variables are named down to the member: the program itself says which is where.

mod toolchain;

use toolchain::{Compiler, Recorded, Workshop, line_of};
use unpick_symbols::{Symbols, Variable};

fn variable_at(symbols: &Symbols, address: u64) -> Option<Variable> {
    symbols.variable(address, 1, None)
}

/// Every note that is an expression names what is there; the others have their own checks.
fn check_notes(recorded: &Recorded, special: &[&str], is_same: impl Fn(&str, &str) -> bool) {
    let symbols = recorded.symbols();
    let mut checked = 0;
    for (expression, address) in recorded.notes() {
        if special.contains(&expression) {
            continue;
        }
        let found = variable_at(&symbols, address).map(|variable| variable.path);
        let same = found.as_deref().is_some_and(|found| is_same(found, expression));
        assert!(same, "{expression} is named {found:?}");
        checked += 1;
    }
    assert!(checked > 5);
}

fn noted(recorded: &Recorded, expression: &str) -> u64 {
    recorded.notes().iter().find(|(noted, _)| *noted == expression).unwrap().1
}

const C: &str = include_str!("programs/globals.c");

fn check_c(compiler: Compiler, options: &[&str]) {
    let workshop = Workshop::new();
    let path = workshop.write("globals.c", C);
    let recorded = workshop.instrumented(compiler, "globals.c", options);
    check_notes(&recorded, &["thread-local", "union"], |found, expression| found == expression);

    let symbols = recorded.symbols();
    let calls = variable_at(&symbols, noted(&recorded, "calls.max")).unwrap();
    assert_eq!(calls.to_string(), "calls.max (static in next)");
    if !options.contains(&"-gsplit-dwarf") {
        assert_eq!(calls.declared, Some(("globals.c".to_owned(), line_of(C, "static") - 2)));
    }
    assert_eq!(variable_at(&symbols, noted(&recorded, "thread-local")), None);

    let value = noted(&recorded, "union");
    let unknown = symbols.variable(value, 4, None).unwrap();
    assert_eq!(unknown.path, "config.inner.value.{number, fraction}");
    let site = recorded.places_at(&symbols, &path, line_of(C, "fraction"));
    let known = symbols.variable(value, 4, site.last().map(|place| &**place)).unwrap();
    assert_eq!(known.path, "config.inner.value.fraction");

    let config = noted(&recorded, "config.mode");
    assert_eq!(
        symbols.variable(config, 64, None).unwrap().path,
        "config",
        "several members at once"
    );
    assert_eq!(symbols.problems(), []);
}

#[test]
fn members_of_c_globals_are_named() {
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        if !compiler.is_here() {
            continue;
        }
        check_c(compiler, &["-O0", "-fPIE", "-pie"]);
        check_c(compiler, &["-O1", "-fno-pie", "-no-pie"]);
        check_c(compiler, &["-O2", "-gdwarf-4"]);
        check_c(compiler, &["-O1", "-gdwarf-5"]);
    }
}

#[test]
fn compressed_split_and_separate_type_units_are_read() {
    check_c(Compiler::Gcc, &["-O1", "-gz"]);
    check_c(Compiler::Gcc, &["-O1", "-gsplit-dwarf"]);
    check_c(Compiler::Gcc, &["-O1", "-fdebug-types-section"]);
    if Compiler::Clang.is_here() {
        check_c(Compiler::Clang, &["-O1", "-gsplit-dwarf"]);
    }
}

#[test]
fn members_of_cpp_globals_are_named_with_their_namespaces() {
    for compiler in [Compiler::Gxx, Compiler::Clangxx] {
        if !compiler.is_here() {
            continue;
        }
        for level in ["-O0", "-O2"] {
            let workshop = Workshop::new();
            workshop.write("globals.cpp", include_str!("programs/globals.cpp"));
            let recorded = workshop.instrumented(compiler, "globals.cpp", &[level]);
            check_notes(&recorded, &["hidden.balance"], |found, expression| found == expression);
            let hidden =
                variable_at(&recorded.symbols(), noted(&recorded, "hidden.balance")).unwrap();
            assert_eq!(hidden.path, "bank::(anonymous namespace)::hidden.balance");
        }
    }
}

#[test]
fn members_of_rust_statics_are_named_with_their_modules() {
    for level in ["0", "1"] {
        let workshop = Workshop::new();
        workshop.write("globals.rs", include_str!("programs/globals.rs"));
        let level = format!("-Copt-level={level}");
        let recorded = workshop.instrumented(Compiler::Rustc, "globals.rs", &[&level]);
        check_notes(&recorded, &["SHAPE"], |found, expression| {
            found == format!("globals::{expression}")
                || found == format!("globals::next::{expression}")
        });
        let shape = noted(&recorded, "SHAPE");
        let symbols = recorded.symbols();
        let names: Vec<String> = [0, 4, 8]
            .iter()
            .map(|at| symbols.variable(shape + at, 4, None).unwrap().path)
            .collect();
        assert_eq!(
            names,
            [
                "globals::SHAPE.<tag>",
                "globals::SHAPE.Square.0",
                "globals::SHAPE.{Circle.radius, Square.1}"
            ]
        );
    }
}

#[test]
fn bytes_of_statics_belong_to_fields_of_types_that_somebody_wrote() {
    let workshop = Workshop::new();
    workshop.write("globals.rs", include_str!("programs/globals.rs"));
    let recorded = workshop.instrumented(Compiler::Rustc, "globals.rs", &["-Copt-level=1"]);
    let symbols = recorded.symbols();
    let belonging = |expression: &str| {
        let found = symbols.belonging_of_static(noted(&recorded, expression), 1).unwrap();
        let fields = found.members.iter().map(|one| format!("{}::{}", one.owner, one.member));
        (found.global.unwrap(), fields.collect::<Vec<_>>())
    };
    let of = |global: &str, fields: &[&str]| {
        (global.to_owned(), fields.iter().map(|field| (*field).to_owned()).collect::<Vec<_>>())
    };
    // Through a lock of the library, to a tuple without a name.
    assert_eq!(belonging("LOCKED.data.y.1"), of("globals::LOCKED", &["Point::y"]));
    assert_eq!(belonging("TABLE[2].x"), of("globals::TABLE", &["Point::x"]));
    assert_eq!(belonging("HITS"), of("globals::HITS", &[]));
    // The tag of an enumeration is nobody's field, and its variants lie over each other.
    assert_eq!(belonging("SHAPE").0, "globals::SHAPE");
}

#[test]
fn members_of_library_types_are_left_out_in_the_users_words() {
    let workshop = Workshop::new();
    workshop.write(
        "sessions.rs",
        "use std::collections::BTreeMap;
         use std::sync::Mutex;
         struct Sessions { limit: usize, open: Mutex<BTreeMap<u64, u64>> }
         static SESSIONS: Sessions = Sessions { limit: 2, open: Mutex::new(BTreeMap::new()) };
         unsafe extern \"C\" { fn note(expression: *const u8, address: *const u8); }
         fn main() {
             let open = SESSIONS.open.lock().unwrap();
             unsafe { note(\"open\\0\".as_ptr(), (&raw const *open).cast()) };
             unsafe { note(\"limit\\0\".as_ptr(), (&raw const SESSIONS.limit).cast()) };
         }",
    );
    let recorded = workshop.instrumented(Compiler::Rustc, "sessions.rs", &["-Copt-level=0"]);
    let symbols = recorded.symbols();
    let variable = |noted_as: &str, offset: u64| {
        symbols.variable(noted(&recorded, noted_as) + offset, 8, None).unwrap()
    };
    assert_eq!(variable("limit", 0).in_users_words(), "sessions::SESSIONS.limit");
    for offset in [0, 8, 16] {
        let found = variable("open", offset);
        assert!(found.path.starts_with("sessions::SESSIONS.open.data."), "{}", found.path);
        assert_eq!(found.in_users_words(), "sessions::SESSIONS.open");
    }
}

#[test]
fn what_a_lock_of_the_library_guards_keeps_the_users_members() {
    let workshop = Workshop::new();
    workshop.write("globals.rs", include_str!("programs/globals.rs"));
    let recorded = workshop.instrumented(Compiler::Rustc, "globals.rs", &["-Copt-level=1"]);
    let at = noted(&recorded, "LOCKED.data.y.1");
    let found = recorded.symbols().variable(at, 8, None).unwrap();
    assert_eq!(found.path, "globals::LOCKED.data.y.1");
    assert_eq!(found.in_users_words(), "globals::LOCKED.y.1");
}

#[test]
fn a_variable_copied_from_a_library_is_named_by_the_librarys_debug_info() {
    let workshop = Workshop::new();
    workshop.write("lib.c", "struct Pair { int first; int second; } shared_pair = {1, 2};");
    workshop.write(
        "main.c",
        "void note(const char *, const void *); void __tsan_init(void);
         extern struct Pair { int first; int second; } shared_pair;
         int main(void) { __tsan_init(); note(\"second\", &shared_pair.second); return 0; }",
    );
    workshop.hooks();
    workshop.compile(Compiler::Gcc, &["-g", "-shared", "-fPIC", "lib.c", "-o", "libpair.so"]);
    let link = [
        "-no-pie",
        "-fno-pie",
        "main.c",
        "hooks.o",
        "-L.",
        "-lpair",
        "-Wl,-rpath,$ORIGIN",
        "-o",
        "program",
    ];
    workshop.compile(Compiler::Gcc, &link);
    let recorded = workshop.record();
    let found = variable_at(&recorded.symbols(), noted(&recorded, "second")).unwrap();
    assert_eq!((found.path.as_str(), found.module.as_str()), ("shared_pair.second", "libpair.so"));
}

#[test]
fn without_debug_info_a_variable_is_its_symbol_and_an_offset() {
    let workshop = Workshop::new();
    workshop.write(
        "main.c",
        "void note(const char *, const void *); void __tsan_init(void); int table[8];
         int main(void) { __tsan_init(); note(\"table\", &table[3]); return 0; }",
    );
    workshop.hooks();
    workshop.compile(Compiler::Gcc, &["main.c", "hooks.o", "-o", "program"]);
    let recorded = workshop.record();
    let found = variable_at(&recorded.symbols(), noted(&recorded, "table")).unwrap();
    assert_eq!(found.to_string(), "table+12");
}
