//! Files of every format version there was, and what must be read from them.
//!
//! `UNPICK_BLESS=1 cargo test -p unpick-recording --test golden` writes the expected texts anew: only for new
//! files. An event file in `golden/` never changes; programs in the field have written such files.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use unpick_recording::{Histories, Recording};

#[test]
fn files_of_every_version_read_as_they_always_did() {
    let files = golden_files();
    assert!(!files.is_empty());
    for path in files {
        let recording = Recording::open(&path).unwrap_or_else(|problem| panic!("{problem}"));
        let shown = show(&recording);
        let expected_path = path.with_extension("txt");
        if std::env::var_os("UNPICK_BLESS").is_some() {
            fs::write(&expected_path, &shown).unwrap();
        }
        let expected = fs::read_to_string(&expected_path).unwrap_or_default();
        let differing =
            shown.lines().zip(expected.lines()).find(|(shown, expected)| shown != expected);
        assert_eq!(differing, None, "first difference in {}", path.display());
        assert_eq!(shown.lines().count(), expected.lines().count(), "{}", path.display());
    }
}

fn golden_files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "events"))
        .collect();
    files.sort();
    files
}

/// Everything the reader gives, as text.
fn show(recording: &Recording) -> String {
    let mut text = String::new();
    writeln!(text, "{:#?}", recording.header()).unwrap();
    writeln!(text, "missing: {:#?}", recording.incompleteness()).unwrap();
    writeln!(text, "damage: {:#?}", recording.damage()).unwrap();
    writeln!(text, "facts: {:#?}", recording.facts()).unwrap();
    writeln!(text, "threads: {:#?}", recording.threads()).unwrap();
    writeln!(text, "modules: {:#?}", recording.modules()).unwrap();
    for event in recording.events() {
        writeln!(
            text,
            "{} T{} #{} site {:#x} context {:#x} {:x?}",
            event.stamp, event.thread.0, event.ordinal, event.site.0, event.context.0, event.action
        )
        .unwrap();
    }
    for location in Histories::of(recording).locations() {
        show_location(&mut text, &location);
    }
    text
}

fn show_location(text: &mut String, location: &unpick_recording::Location) {
    for life in &location.lives {
        writeln!(
            text,
            "{:#x?} of block {:?}",
            location.bytes,
            life.block.map(|block| block.serial)
        )
        .unwrap();
        for access in &life.accesses {
            let order = access.order;
            writeln!(
                text,
                "  T{} {:?} at {:#x}, stamp {} before event {}",
                access.thread.0,
                access.kind,
                access.site.0,
                order.stamp,
                order.ordinal()
            )
            .unwrap();
        }
    }
}
