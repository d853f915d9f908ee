//! Lines of source: those that a report names, and those that the truth demands.

use std::path::Path;

use serde_json::Value;

/// Folders in the paths of code that is not the program's own.
const FOREIGN: [&str; 3] = ["/registry/src/", "/rustc/", "/rustlib/"];

/// A line of a file. In a truth the file is the end of a path: `main.c`, or `lasso-0.6.0/src/lib.rs` of a published crate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    pub line: u64,
}

impl Place {
    /// Whether this line of the truth is the one that a report names.
    pub fn is(&self, reported: &Place) -> bool {
        let (wanted, path) = (Path::new(&self.file), Path::new(&reported.file));
        // Many crates have a `lib.rs`: a name without folders stands for a file of the program itself.
        let is_bare = wanted.components().count() == 1;
        let is_foreign = is_bare && FOREIGN.iter().any(|folder| reported.file.contains(folder));
        self.line == reported.line && path.ends_with(wanted) && !is_foreign
    }

    /// The `file` and `line` of a JSON object, if it has both.
    pub fn of(frame: &Value) -> Option<Place> {
        let file = frame.get("file")?.as_str()?.to_owned();
        Some(Place { file, line: frame.get("line")?.as_u64()? })
    }
}

/// The places of all objects anywhere in a JSON value.
pub fn all_in(value: &Value) -> Vec<Place> {
    let mut places: Vec<Place> = Place::of(value).into_iter().collect();
    match value {
        Value::Array(parts) => places.extend(parts.iter().flat_map(all_in)),
        Value::Object(parts) => places.extend(parts.values().flat_map(all_in)),
        _ => {}
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn place(file: &str, line: u64) -> Place {
        Place { file: file.to_owned(), line }
    }

    #[test]
    fn a_bare_name_is_any_file_of_that_name_in_the_program_itself() {
        let wanted = place("main.c", 7);
        assert!(wanted.is(&place("/tmp/x/main.c", 7)));
        assert!(wanted.is(&place("main.c", 7)));
        assert!(!wanted.is(&place("main.c", 8)));
        assert!(!wanted.is(&place("domain.c", 7)));
        let lib = place("lib.rs", 7);
        assert!(!lib.is(&place("/home/me/.cargo/registry/src/index-01/a-1.0.0/src/lib.rs", 7)));
        assert!(!lib.is(&place("/rustc/0123/library/alloc/src/lib.rs", 7)));
    }

    #[test]
    fn a_file_of_a_crate_is_that_of_the_package_and_version() {
        let wanted = place("lasso-0.6.0/src/lib.rs", 7);
        assert!(
            wanted.is(&place("/home/me/.cargo/registry/src/index-01/lasso-0.6.0/src/lib.rs", 7))
        );
        assert!(
            !wanted.is(&place("/home/me/.cargo/registry/src/index-01/lasso-0.4.1/src/lib.rs", 7))
        );
        assert!(!wanted.is(&place("src/lib.rs", 7)));
    }

    #[test]
    fn places_are_found_at_any_depth_and_frames_without_line_are_left_out() {
        let value = json!({
            "file": "a.c", "line": 1,
            "stack": [{ "file": "b.c", "line": 2 }, { "file": null, "line": 3 }, { "file": "c.c", "line": null }],
        });
        assert_eq!(all_in(&value), [place("a.c", 1), place("b.c", 2)]);
    }
}
