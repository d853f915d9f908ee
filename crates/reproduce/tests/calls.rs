//! Calls are found in real programs: whatever a program called when it ran is in its code.

#[path = "../../symbols/tests/toolchain/mod.rs"]
mod toolchain;

use std::collections::BTreeSet;

use toolchain::{Compiler, Event, Recorded, Workshop};
use unpick_reproduce::Program;
use unpick_symbols::Access;

const SOURCES: [(&str, &str, Compiler); 5] = [
    ("fields.c", include_str!("../../symbols/tests/programs/fields.c"), Compiler::Gcc),
    ("fields.c", include_str!("../../symbols/tests/programs/fields.c"), Compiler::Clang),
    ("fields.cpp", include_str!("../../symbols/tests/programs/fields.cpp"), Compiler::Gxx),
    ("fields.cpp", include_str!("../../symbols/tests/programs/fields.cpp"), Compiler::Clangxx),
    ("fields.rs", include_str!("../../symbols/tests/programs/fields.rs"), Compiler::Rustc),
];

/// Every access that was made in the executable is found as the call of a hook of its kind and length.
fn check(workshop: &Workshop, recorded: &Recorded, of: &str) {
    let program = Program::open(&workshop.path("program")).unwrap();
    let executable = recorded.modules.iter().find(|module| module.path == program.path()).unwrap();
    let mut sites = BTreeSet::new();
    for event in &recorded.events {
        let Event::Access { access, site, length, .. } = event else { continue };
        if !executable.addresses().contains(site) {
            continue;
        }
        let callee = program.callee_at(&program.place(site - executable.bias));
        let callee = callee.unwrap_or_else(|| panic!("{of}: no call returns to {site:#x}"));
        let kind = if *access == Access::Read { "read" } else { "write" };
        let atomic = format!("__tsan_atomic{}_", length * 8);
        let fits = callee.contains(&format!("{kind}{length}"))
            || callee.contains("_range")
            || callee.contains("vptr")
            || callee.contains(&format!("read_write{length}"))
            || callee.starts_with("__tsan_mem")
            || callee.starts_with(&atomic);
        assert!(fits, "{of}: {kind} of {length} bytes by {callee}");
        sites.insert(*site);
    }
    assert!(sites.len() > 10, "{of}: {} sites", sites.len());
}

#[test]
fn hooks_in_the_executable_are_called_directly() {
    for (name, source, compiler) in
        SOURCES.into_iter().filter(|(_, _, compiler)| compiler.is_here())
    {
        let levels: &[&[&str]] = match compiler {
            Compiler::Rustc => &[&["-Copt-level=0"], &["-Copt-level=3"]],
            _ => &[&["-O0"], &["-O2", "-fno-plt"], &["-O2", "-fno-pie", "-no-pie"]],
        };
        for options in levels {
            let workshop = Workshop::new();
            workshop.write(name, source);
            let recorded = workshop.instrumented(compiler, name, options);
            check(&workshop, &recorded, &format!("{compiler:?} {options:?}"));
        }
    }
}

#[test]
fn hooks_in_a_library_are_called_through_slots_and_registers() {
    for (name, source, compiler) in
        SOURCES.into_iter().filter(|(_, _, compiler)| compiler.is_here())
    {
        if compiler == Compiler::Rustc {
            continue;
        }
        for options in [&["-O0"][..], &["-O2"], &["-O2", "-fno-plt", "-fPIE"]] {
            let workshop = Workshop::new();
            workshop.write(name, source);
            workshop.hooks();
            let wraps =
                ["malloc", "calloc", "_Znwm", "_Znam"].map(|name| format!("-Wl,--wrap={name}"));
            let wraps: Vec<&str> = wraps.iter().map(String::as_str).collect();
            let library = ["-shared", "hooks.o", "-o", "libhooks.so"];
            workshop.compile(compiler, &[&library[..], &wraps].concat());
            let tsan = ["-g", "-fsanitize=thread", "-c", name, "-o", "program.o"];
            workshop.compile(compiler, &[&tsan[..], options].concat());
            let rpath = format!("-Wl,-rpath,{}", workshop.path("").display());
            let program = ["program.o", "-o", "program", "-L.", "-lhooks", &rpath];
            workshop.compile(compiler, &[&program[..], &wraps].concat());
            check(&workshop, &workshop.record(), &format!("{compiler:?} {options:?}"));
        }
    }
}

#[test]
fn what_is_no_program_is_refused() {
    let workshop = Workshop::new();
    for (name, text) in [("text", "no program"), ("empty", ""), ("elf", "\x7fELF\x02\x01\x01")] {
        let path = workshop.write(name, text);
        let problem = Program::open(&path).err().unwrap().to_string();
        assert!(problem.contains("cannot be looked at"), "{problem}");
    }
    assert!(Program::open(&workshop.path("missing")).is_err());
    assert!(Program::open(&workshop.path("")).is_err());
}
