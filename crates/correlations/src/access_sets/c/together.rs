//! Several sources as one translation unit, so that the headers they share are read once.
//!
//! Each file begins with the macros it would begin with alone: what another one defines is put back behind it. Headers without a
//! guard, which no two files of a unit could include, get one.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clang::Unsaved;

/// A file that includes all of them, one after the other.
pub fn unit_of(files: &[PathBuf]) -> String {
    let mut unit = String::new();
    for file in files {
        let text = std::fs::read(file).unwrap_or_default();
        let macros = defined_in(&text);
        for name in &macros {
            let _ = writeln!(unit, "#pragma push_macro(\"{name}\")");
        }
        let _ = writeln!(unit, "#include \"{}\"", file.display());
        for name in &macros {
            let _ = writeln!(unit, "#pragma pop_macro(\"{name}\")");
        }
    }
    unit
}

/// The unit's name: beside no source, so that nothing is included by accident.
pub fn unit_name(first: &Path) -> PathBuf {
    let extension = first.extension().unwrap_or_default();
    Path::new("/unpick-together").join("unit").with_extension(extension)
}

/// The header as it is, but read once only. The guard is at its end: no line moves.
pub fn read_once(header: &Path) -> Option<Unsaved> {
    let text = std::fs::read_to_string(header).ok().filter(|text| !text.contains('\0'))?;
    Some(Unsaved::new(header, format!("{text}\n#pragma once\n")))
}

fn defined_in(text: &[u8]) -> BTreeSet<String> {
    let names = text.split(|&byte| byte == b'\n').filter_map(|line| {
        let directive = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start();
        let rest =
            directive.strip_prefix(b"define").or_else(|| directive.strip_prefix(b"undef"))?;
        let name = rest.trim_ascii_start();
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let end = name.iter().position(|byte| !is_word(byte)).unwrap_or(name.len());
        (end > 0 && name.len() < rest.len()).then(|| String::from_utf8_lossy(&name[..end]).into())
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::defined_in;

    #[test]
    fn macros_are_found_by_the_lines_that_define_them() {
        let text =
            b"#define A 1\n  #  define B(x) x\n#undef C\n#defined D\nint define E;\n#define\n";
        let names: Vec<String> = defined_in(text).into_iter().collect();
        assert_eq!(names, ["A", "B", "C"]);
    }
}
