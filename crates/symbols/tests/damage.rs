//! Files that are gone, changed, stripped or damaged: a clear sentence or a poorer name, never a panic.

mod toolchain;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use proptest::prelude::*;
use toolchain::{Compiler, Event, Recorded, Workshop};
use unpick_symbols::{Access, ModuleInfo, Symbols, Touch};

const SOURCE: &str = include_str!("programs/inlined.c");

fn build(workshop: &Workshop) -> Recorded {
    workshop.write("inlined.c", SOURCE);
    workshop.instrumented(Compiler::Gcc, "inlined.c", &["-O1"])
}

fn first_site(recorded: &Recorded) -> u64 {
    let sites = recorded.events.iter().filter_map(|event| match event {
        Event::Access { site, .. } => Some(*site),
        _ => None,
    });
    sites.into_iter().next().unwrap()
}

fn build_id(workshop: &Workshop, file: &str) -> String {
    let notes = workshop.run("readelf", &["-n", file]);
    notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).unwrap().to_owned()
}

fn with_build_id(recorded: &Recorded, build_id: &str) -> Vec<ModuleInfo> {
    let mut modules = recorded.modules.clone();
    modules[0].build_id = build_id.to_owned();
    modules
}

#[test]
fn a_program_rebuilt_since_the_recording_is_not_believed() {
    let workshop = Workshop::new();
    let recorded = build(&workshop);
    let modules = with_build_id(&recorded, &build_id(&workshop, "program"));
    let site = first_site(&recorded);
    let before = Symbols::load(&modules);
    assert_eq!(before.place(site).function(), Some("add"));
    assert_eq!(before.problems(), []);

    workshop.write("inlined.c", &format!("int extra;\n{SOURCE}"));
    workshop.instrumented(Compiler::Gcc, "inlined.c", &["-O1"]);
    let after = Symbols::load(&modules);
    assert_eq!(after.problems(), [], "nothing was asked yet");
    let place = after.place(site);
    assert_eq!(place.frames, []);
    assert_eq!(place.to_string(), format!("program+{:#x}", site - modules[0].bias));
    let problem = after.problems()[0].to_string();
    assert!(
        problem.starts_with("error: no names can be shown for code in program: its file changed"),
        "{problem}"
    );
    assert!(
        problem.contains("\n  next: rebuild exactly what was recorded, or record again"),
        "{problem}"
    );
}

#[test]
fn a_missing_file_is_reported_once_and_places_keep_their_offset() {
    let module = ModuleInfo {
        path: "/nowhere/bank".into(),
        build_id: "ab".into(),
        bias: 0x1000,
        start: 0x1000,
        length: 0x1000,
    };
    let symbols = Symbols::load(&[module]);
    assert_eq!(symbols.place(0x1234).to_string(), "bank+0x234");
    assert_eq!(symbols.place(0x1235).to_string(), "bank+0x235");
    assert_eq!(symbols.resolve_site(0x1234), Some(0x1234), "the range is known without the file");
    let problems = symbols.problems();
    assert_eq!(problems.len(), 1);
    assert!(problems[0].to_string().contains("file: /nowhere/bank"));
}

#[test]
fn modules_made_by_the_kernel_are_no_problem() {
    let module =
        ModuleInfo { path: "linux-vdso.so.1".into(), length: 0x1000, ..ModuleInfo::default() };
    let symbols = Symbols::load(&[module]);
    assert_eq!(symbols.place(0x10).to_string(), "linux-vdso.so.1+0x10");
    assert_eq!(symbols.problems(), []);
}

#[test]
fn a_stripped_program_shows_module_and_offset_and_says_why() {
    let workshop = Workshop::new();
    let recorded = build(&workshop);
    let site = first_site(&recorded);
    workshop.run("strip", &["program"]);
    let symbols = recorded.symbols();
    assert_eq!(
        symbols.place(site).to_string(),
        format!("program+{:#x}", site - recorded.modules[0].bias)
    );
    let notes = symbols.notes();
    assert!(notes[0].contains("program has no debug info"), "{notes:?}");
    assert_eq!(symbols.problems(), []);
}

#[test]
fn a_program_without_debug_info_shows_its_functions() {
    let workshop = Workshop::new();
    let recorded = build(&workshop);
    let site = first_site(&recorded);
    workshop.run("strip", &["--strip-debug", "program"]);
    let symbols = recorded.symbols();
    let place = symbols.place(site);
    assert_eq!(place.function(), Some("run"));
    assert_eq!(place.to_string(), format!("run (program+{:#x})", site - recorded.modules[0].bias));
    assert_eq!(symbols.notes().len(), 1);
}

#[test]
fn a_source_changed_after_the_build_gives_no_expression() {
    let workshop = Workshop::new();
    let recorded = build(&workshop);
    let site = first_site(&recorded);
    let touch = Touch::new(Access::Write, 4);
    let writes = || {
        recorded.events.iter().filter_map(|event| match event {
            Event::Access { access: Access::Write, site, .. } => Some(*site),
            _ => None,
        })
    };
    let named = |symbols: &Symbols| {
        writes()
            .filter_map(|site| symbols.field_of_access(&symbols.place(site), touch))
            .collect::<Vec<_>>()
    };
    assert!(named(&recorded.symbols()).contains(&"a->balance".to_owned()));
    std::thread::sleep(std::time::Duration::from_millis(20)); // file times are coarse
    workshop.write("inlined.c", &SOURCE.replace("balance", "renamed"));
    assert_eq!(named(&recorded.symbols()), [""; 0]);
    assert_eq!(recorded.symbols().place(site).function(), Some("add"), "lines are still known");
}

/// Asks everything there is to ask.
fn ask(path: &Path) {
    let module = ModuleInfo {
        path: path.to_owned(),
        build_id: String::new(),
        bias: 0,
        start: 0,
        length: 0x6000,
    };
    let symbols = Symbols::load(&[module]);
    for address in (0..0x6000).step_by(0x61) {
        let place = symbols.place(address);
        for access in [Access::Read, Access::Write] {
            symbols
                .field_of_access(&place, Touch { address: Some(address), ..Touch::new(access, 4) });
        }
        symbols.variable(address, 4, Some(&place));
        symbols.heap_name(&[place], 8, 16);
        symbols.resolve_site(address as u32);
        symbols.users_call(address);
    }
    symbols.problems();
    symbols.notes();
}

/// A real program, built once.
fn sample() -> &'static Vec<u8> {
    static SAMPLE: OnceLock<Vec<u8>> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let workshop = Workshop::new();
        workshop.write("globals.cpp", include_str!("programs/globals.cpp"));
        workshop.instrumented(Compiler::Gxx, "globals.cpp", &["-O1"]);
        std::fs::read(workshop.path("program")).unwrap()
    })
}

fn written(folder: &tempfile::TempDir, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join("module");
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Where section headers and debug sections are: a change there does more than one in the code.
fn weak_spots(bytes: &[u8]) -> usize {
    bytes.len() / 3
}

proptest! {
    // Bounded and the same in every run: a failing case is found again.
    #![proptest_config(ProptestConfig {
        cases: 120,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(7),
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), elf in any::<bool>()) {
        let folder = tempfile::tempdir().unwrap();
        let magic: &[u8] = if elf { b"\x7fELF\x02\x01\x01" } else { b"" };
        ask(&written(&folder, &[magic, &bytes].concat()));
    }

    #[test]
    fn a_damaged_program_never_panics(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..60),
        cut in proptest::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut bytes = sample().clone();
        let weak = weak_spots(&bytes);
        for (at, value, anywhere) in changes {
            let at = if anywhere { at.index(bytes.len()) } else { weak + at.index(bytes.len() - weak) };
            bytes[at] = value;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        ask(&written(&folder, &bytes));
    }
}
