//! The user's call behind code of a library, found in the program's code without a call stack.

mod toolchain;

use std::collections::BTreeSet;

use toolchain::{Compiler, Event, Recorded, Workshop, line_of};
use unpick_symbols::{Place, UsersCall};

/// What lies in such a folder is a library's.
const LIBRARY: &str = "include/c++/shelf.h";
const SHELF: &str = "
#define APART __attribute__((noinline, noclone))
static int shelf_items, shelf_size;
static APART void shelf_grow(void) { shelf_size += 8; }
static APART void shelf_put(void) {
    if (shelf_items == shelf_size) shelf_grow();
    shelf_items++;
}
";

const RUST: &str = "
use std::collections::HashMap;
#[inline(never)]
fn first(map: &mut HashMap<u32, String>, key: u32) {
    map.insert(key, String::new()); // first
}
#[inline(never)]
fn second(map: &mut HashMap<u64, String>, key: u64) {
    map.insert(key, String::new()); // second
}
#[inline(never)]
fn third(map: &mut HashMap<u64, String>, key: u64) {
    map.insert(key, String::from(\"third\")); // third
}
fn main() {
    let (mut small, mut large) = (HashMap::new(), HashMap::new());
    for key in 0..9 {
        first(&mut small, key);
        second(&mut large, key.into());
        third(&mut large, key.into());
    }
    assert_eq!((small.len(), large.len()), (9, 9));
}
";

fn sites(recorded: &Recorded) -> impl Iterator<Item = u64> {
    recorded.events.iter().filter_map(|event| match event {
        Event::Access { site, .. } => Some(*site),
        _ => None,
    })
}

fn own_line(place: &Place) -> Option<u32> {
    place.own_frame().and_then(|own| place.frames[own].line)
}

/// The calls behind the accesses of a library's functions, each with its line.
fn calls_behind(recorded: &Recorded, function: &str) -> BTreeSet<Option<(u32, bool)>> {
    let symbols = recorded.symbols();
    let is_inside = |site: &u64| {
        let place = symbols.place(*site);
        let outermost = place.frames.last().and_then(|frame| frame.function.as_deref());
        place.own_frame().is_none() && outermost.is_some_and(|name| name.contains(function))
    };
    let line = |call: UsersCall| {
        let line = own_line(&symbols.place(call.return_address))?;
        Some((line, call.is_exact))
    };
    let calls = sites(recorded).filter(is_inside).map(|site| symbols.users_call(site));
    calls.map(|call| call.and_then(line)).collect()
}

fn shelf_program(workshop: &Workshop, main: &str, options: &[&str]) -> Recorded {
    std::fs::create_dir_all(workshop.path("include/c++")).unwrap();
    workshop.write(LIBRARY, SHELF);
    workshop.write("main.c", main);
    workshop.instrumented(Compiler::Gcc, "main.c", &[&["-O1"], options].concat())
}

/// What is known about both functions of the shelf.
fn behind_the_shelf(main: &str, options: &[&str]) -> [BTreeSet<Option<(u32, bool)>>; 2] {
    let workshop = Workshop::new();
    let main = format!("#include \"{LIBRARY}\"\n{main}");
    let recorded = shelf_program(&workshop, &main, options);
    ["shelf_put", "shelf_grow"].map(|function| calls_behind(&recorded, function))
}

fn only(call: Option<(u32, bool)>) -> [BTreeSet<Option<(u32, bool)>>; 2] {
    [BTreeSet::from([call]), BTreeSet::from([call])]
}

#[test]
fn the_only_call_of_a_library_is_found_through_its_functions() {
    for options in [["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]] {
        let found = behind_the_shelf("int main(void) { shelf_put(); return 0; }", &options);
        assert_eq!(found, only(Some((2, true))), "{options:?}");
    }
}

#[test]
fn two_lines_that_call_a_library_leave_it_open() {
    let main = "int main(void) {\n shelf_put();\n shelf_put();\n return 0; }";
    assert_eq!(behind_the_shelf(main, &[]), only(None));
}

#[test]
fn copies_of_one_line_are_one_call_with_less_known() {
    let main = "static inline void twice(void) { shelf_put(); }
        int main(void) {\n twice();\n twice();\n return 0; }";
    assert_eq!(behind_the_shelf(main, &["-O2"]), only(Some((2, false))));
}

#[test]
fn what_may_be_called_through_a_pointer_is_left_open() {
    let in_data = "void (*volatile pointer)(void) = shelf_put;
        int main(void) { shelf_put(); pointer(); return 0; }";
    let in_code = "int main(void) { void (*volatile pointer)(void) = shelf_put;
        shelf_put(); pointer(); return 0; }";
    for main in [in_data, in_code] {
        for options in [["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]] {
            assert_eq!(behind_the_shelf(main, &options), only(None), "{main} {options:?}");
        }
    }
}

#[test]
fn a_jump_to_a_library_is_a_call_of_it() {
    let main = "APART void last(void) { shelf_put(); }
        int main(void) { last(); return 0; }";
    // Hooks at the end of a function keep the call from being its last step.
    let options = ["-O2", "--param=tsan-instrument-func-entry-exit=0"];
    assert_eq!(behind_the_shelf(main, &options), only(Some((2, true))));
}

#[test]
fn an_insertion_into_a_map_is_found_where_one_line_makes_it() {
    if !Compiler::Rustc.is_here() {
        return;
    }
    let workshop = Workshop::new();
    workshop.write("main.rs", RUST);
    // More would inline a function that is called once.
    let recorded = workshop.instrumented(Compiler::Rustc, "main.rs", &["-Copt-level=0"]);
    let of = |key: &str| calls_behind(&recorded, &format!("hashbrown::map::HashMap<{key}, "));
    assert_eq!(of("u32"), BTreeSet::from([Some((line_of(RUST, "first"), true))]));
    assert_eq!(of("u64"), BTreeSet::from([None]));
}
