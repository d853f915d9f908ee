//! Places in the code: function, file, line, column and inlined frames, for every way a program is built.

mod toolchain;

use toolchain::{Compiler, Event, Recorded, Workshop, line_of};
use unpick_symbols::{ModuleInfo, Place, Symbols};

const INLINED: &str = include_str!("programs/inlined.c");

fn functions(place: &Place) -> Vec<&str> {
    place.frames.iter().map(|frame| frame.function.as_deref().unwrap_or("?")).collect()
}

fn lines(place: &Place) -> Vec<u32> {
    place.frames.iter().map(|frame| frame.line.unwrap_or(0)).collect()
}

fn check_inlined(recorded: &Recorded, file: &std::path::Path) {
    let symbols = recorded.symbols();
    let mark = |mark| line_of(INLINED, mark);
    let places = recorded.places_at(&symbols, file, mark("innermost"));
    assert!(!places.is_empty());
    for place in places {
        assert_eq!(functions(&place), ["add", "deposit", "run"]);
        assert_eq!(lines(&place), [mark("innermost"), mark("middle"), mark("outermost")]);
        assert!(place.column().is_some());
    }
    let plain = recorded.places_at(&symbols, file, mark("plain"));
    assert!(plain.iter().all(|place| functions(place) == ["run"]));
    assert_eq!(symbols.problems(), []);
    assert_eq!(symbols.notes(), [""; 0]);
}

#[test]
fn inlined_frames_are_listed_innermost_first_at_every_level() {
    for compiler in [Compiler::Gcc, Compiler::Clang] {
        if !compiler.is_here() {
            continue;
        }
        for level in ["-O0", "-O1", "-O2"] {
            for pie in [["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]] {
                let workshop = Workshop::new();
                let file = workshop.write("inlined.c", INLINED);
                let options = [level, pie[0], pie[1]];
                check_inlined(&workshop.instrumented(compiler, "inlined.c", &options), &file);
            }
        }
    }
}

#[test]
fn compressed_and_split_debug_info_is_found() {
    for option in ["-gz", "-gsplit-dwarf", "-gdwarf-4", "-fdebug-types-section"] {
        let workshop = Workshop::new();
        let file = workshop.write("inlined.c", INLINED);
        check_inlined(&workshop.instrumented(Compiler::Gcc, "inlined.c", &["-O1", option]), &file);
    }
}

#[test]
fn debug_info_in_a_linked_file_is_found() {
    let workshop = Workshop::new();
    let file = workshop.write("inlined.c", INLINED);
    let recorded = workshop.instrumented(Compiler::Gcc, "inlined.c", &["-O1"]);
    workshop.run("objcopy", &["--only-keep-debug", "program", "program.debug"]);
    workshop.run("strip", &["program"]);
    workshop.run("objcopy", &["--add-gnu-debuglink=program.debug", "program"]);
    check_inlined(&recorded, &file);
    // A linked file of another build is not believed.
    workshop.write("inlined.c", &format!("\n\n{INLINED}"));
    workshop.compile(Compiler::Gcc, &["-g", "-O1", "inlined.c", "-o", "other"]);
    workshop.run("objcopy", &["--only-keep-debug", "other", "program.debug"]);
    assert!(
        recorded.places_at(&recorded.symbols(), &file, line_of(INLINED, "innermost")).is_empty()
    );
}

#[test]
fn without_a_build_id_the_checksum_of_the_linked_file_must_be_right() {
    let workshop = Workshop::new();
    let file = workshop.write("inlined.c", INLINED);
    workshop.hooks();
    let compile = ["-g", "-O1", "-fsanitize=thread", "-c", "inlined.c", "-o", "inlined.o"];
    workshop.compile(Compiler::Gcc, &compile);
    workshop
        .compile(Compiler::Gcc, &["inlined.o", "hooks.o", "-Wl,--build-id=none", "-o", "program"]);
    workshop.run("objcopy", &["--only-keep-debug", "program", "program.debug"]);
    workshop.run("strip", &["program"]);
    workshop.run("objcopy", &["--add-gnu-debuglink=program.debug", "program"]);
    let recorded = workshop.record();
    check_inlined(&recorded, &file);
    let mut debug = std::fs::read(workshop.path("program.debug")).unwrap();
    debug.push(0);
    std::fs::write(workshop.path("program.debug"), debug).unwrap();
    assert!(
        recorded.places_at(&recorded.symbols(), &file, line_of(INLINED, "innermost")).is_empty()
    );
}

#[test]
fn shared_and_later_loaded_libraries_are_named() {
    let workshop = Workshop::new();
    let source = |name: &str| {
        format!("int {name}_count;\nvoid {name}(void) {{ {name}_count++; }} // {name}\n")
    };
    let linked = workshop.write("linked.c", &source("linked"));
    let loaded = workshop.write("loaded.c", &source("loaded"));
    workshop.write(
        "main.c",
        "#include <dlfcn.h>
         void linked(void); void say_modules(void);
         int main(void) {
             linked();
             void *library = dlopen(\"./libloaded.so\", RTLD_NOW);
             if (!library) return 1;
             say_modules();
             ((void (*)(void))dlsym(library, \"loaded\"))();
             return 0;
         }",
    );
    workshop.hooks();
    for name in ["linked", "loaded"] {
        let (source, library) = (format!("{name}.c"), format!("lib{name}.so"));
        let object = format!("{name}.o");
        workshop.compile(
            Compiler::Gcc,
            &["-g", "-O1", "-fPIC", "-fsanitize=thread", "-c", &source, "-o", &object],
        );
        workshop.compile(Compiler::Gcc, &["-shared", &object, "-o", &library]);
    }
    workshop.compile(
        Compiler::Gcc,
        &["-g", "-O1", "-fsanitize=thread", "-c", "main.c", "-o", "main.o"],
    );
    let link = [
        "main.o",
        "hooks.o",
        "-rdynamic",
        "-L.",
        "-llinked",
        "-ldl",
        "-Wl,-rpath,$ORIGIN",
        "-o",
        "program",
    ];
    workshop.compile(Compiler::Gcc, &link);

    let recorded = workshop.record();
    let symbols = recorded.symbols();
    for (name, file) in [("linked", linked), ("loaded", loaded)] {
        let places = recorded.places_at(&symbols, &file, 2);
        assert_eq!(places.first().and_then(|place| place.function()), Some(name));
        assert_eq!(places[0].module.as_deref(), Some(format!("lib{name}.so").as_str()));
        let count = recorded.events.iter().find_map(|event| match event {
            Event::Access { site, address, .. } if *site == places[0].address => Some(*address),
            _ => None,
        });
        let variable = symbols.variable(count.unwrap(), 4, None).unwrap();
        assert_eq!(variable.path, format!("{name}_count"));
    }
}

#[test]
fn names_of_cpp_and_rust_are_demangled() {
    let workshop = Workshop::new();
    let text = "namespace bank { template <typename T> struct Box { T value;
        __attribute__((noinline)) void put(T v) { value = v; } // put
        }; }
        bank::Box<int> box;
        int main() { box.put(3); return 0; }";
    let file = workshop.write("box.cpp", text);
    let recorded = workshop.instrumented(Compiler::Gxx, "box.cpp", &["-O1"]);
    let places = recorded.places_at(&recorded.symbols(), &file, line_of(text, "put"));
    assert_eq!(places[0].function(), Some("bank::Box<int>::put"));

    let text = "pub struct Bank { n: u32 }
        impl Bank { #[inline(never)] fn put(&mut self, n: u32) { self.n = n; } // put
        }
        fn main() { let mut b = Box::new(Bank { n: 0 }); b.put(3); std::hint::black_box(b.n); }";
    let file = workshop.write("rusty.rs", text);
    let recorded = workshop.instrumented(Compiler::Rustc, "rusty.rs", &[]);
    let places = recorded.places_at(&recorded.symbols(), &file, line_of(text, "put"));
    assert_eq!(places[0].function(), Some("rusty::Bank::put"));
}

#[test]
fn a_site_is_found_by_its_low_bits() {
    let workshop = Workshop::new();
    workshop.write("inlined.c", INLINED);
    let recorded = workshop.instrumented(Compiler::Gcc, "inlined.c", &["-O1"]);
    let symbols = recorded.symbols();
    let mut checked = 0;
    for event in &recorded.events {
        if let Event::Access { site, .. } = event {
            assert_eq!(symbols.resolve_site(*site as u32), Some(*site));
            assert!(!symbols.site_candidates(*site as u32).ambiguous());
            checked += 1;
        }
    }
    assert!(checked > 0);
    assert_eq!(symbols.resolve_site(0), None);
}

#[test]
fn of_several_addresses_with_the_same_low_bits_the_instrumented_one_comes_first() {
    let workshop = Workshop::new();
    workshop.write("inlined.c", INLINED);
    let recorded = workshop.instrumented(Compiler::Gcc, "inlined.c", &["-O1"]);
    workshop
        .write("other.c", "__asm__(\".text; .skip 0x8000, 0x90\"); int main(void) { return 0; }");
    workshop.compile(Compiler::Gcc, &["other.c", "-o", "other"]);
    let program = recorded.modules[0].clone();
    let moved = |path, by: u64| ModuleInfo {
        path,
        bias: program.bias + by,
        start: program.start + by,
        ..program.clone()
    };
    let site = recorded.events.iter().find_map(|event| match event {
        Event::Access { site, .. } => Some(*site),
        _ => None,
    });
    let site = site.unwrap();
    let other = moved(workshop.path("other"), 1 << 32);
    let symbols = Symbols::load(&[other, program.clone()]);
    let candidates = symbols.site_candidates(site as u32);
    assert_eq!((candidates.best(), candidates.addresses.len()), (Some(site), 2));
    assert!(!candidates.ambiguous());
    let twice = Symbols::load(&[moved(program.path.clone(), 1 << 32), program.clone()]);
    assert!(twice.site_candidates(site as u32).ambiguous());
}

#[test]
fn an_address_outside_all_modules_is_shown_as_it_is() {
    let symbols = Symbols::load(&[]);
    assert_eq!(symbols.place(0x1234).to_string(), "0x1234");
    assert_eq!(symbols.place(0).to_string(), "0x0");
    assert_eq!(symbols.resolve_site(0x1234), None);
    assert_eq!(symbols.variable(0x1234, 4, None), None);
}

#[test]
fn a_module_knows_the_sources_it_was_made_of() {
    let workshop = Workshop::new();
    workshop.write("inlined.c", INLINED);
    let recorded = workshop.instrumented(Compiler::Gcc, "inlined.c", &["-O1"]);
    let own = recorded.symbols().own_sources(recorded.modules[0].start);
    // The hooks that the test puts in are a file of this project's, and as much the user's.
    let names: Vec<_> = own.iter().map(|file| file.file_name().unwrap()).collect();
    assert_eq!(names.iter().filter(|name| **name == "inlined.c").count(), 1, "{own:?}");
    assert!(own.iter().all(|file| file.is_absolute() && file.is_file()), "{own:?}");
    std::fs::remove_file(workshop.path("inlined.c")).unwrap();
    let left = recorded.symbols().own_sources(recorded.modules[0].start);
    assert_eq!(left.len() + 1, own.len(), "what is gone is left out");
}

#[test]
fn a_module_of_rust_knows_all_files_but_those_of_the_library() {
    let workshop = Workshop::new();
    workshop.write("part.rs", "pub fn double(value: u32) -> u32 { value * 2 }");
    let main =
        "mod part; fn main() { assert_eq!(part::double(std::env::args().count() as u32) % 2, 0); }";
    workshop.write("main.rs", main);
    let recorded = workshop.instrumented(Compiler::Rustc, "main.rs", &[]);
    let own = recorded.symbols().own_sources(recorded.modules[0].start);
    let rust = own.iter().filter(|file| file.extension().is_some_and(|ending| ending == "rs"));
    let names: Vec<_> = rust.map(|file| file.file_name().unwrap().to_owned()).collect();
    assert_eq!(names, ["main.rs", "part.rs"]);
}
