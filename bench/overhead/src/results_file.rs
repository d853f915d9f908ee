//! One generated section of a results file that several benchmarks share: each owns what is between its markers.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use unpick_problem::Problem;

const BEGIN: &str = "<!-- begin bench/overhead (generated, do not edit) -->";
const END: &str = "<!-- end bench/overhead -->";

/// Puts `section` in place of the last one, or at the end of the file.
pub fn write_section(file: &Path, section: &str) -> Result<(), Problem> {
    let before = match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => "# Results\n".to_owned(),
        read => read.map_err(|error| cannot_write(file, error))?,
    };
    write_whole(file, &with_section(&before, section))
}

pub fn write_whole(file: &Path, text: &str) -> Result<(), Problem> {
    fs::write(file, text).map_err(|error| cannot_write(file, error))
}

fn cannot_write(file: &Path, error: std::io::Error) -> Problem {
    Problem::own_fault("the results cannot be written").at("file", file.display()).why(error)
}

fn with_section(before: &str, section: &str) -> String {
    let marked = format!("{BEGIN}\n{}\n{END}", section.trim());
    match own_range(before) {
        Some(range) => format!("{}{marked}{}", &before[..range.start], &before[range.end..]),
        None => format!("{}\n\n{marked}\n", before.trim_end()),
    }
}

fn own_range(text: &str) -> Option<std::ops::Range<usize>> {
    let start = text.find(BEGIN)?;
    let end = start + text[start..].find(END)? + END.len();
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_replaces_the_last_one_and_leaves_its_neighbours() {
        let first = with_section("# Results\n\nothers\n", "one");
        assert_eq!(first, format!("# Results\n\nothers\n\n{BEGIN}\none\n{END}\n"));
        let second = with_section(&format!("{first}\nmore\n"), "two");
        assert_eq!(second, format!("# Results\n\nothers\n\n{BEGIN}\ntwo\n{END}\n\nmore\n"));
    }

    #[test]
    fn a_missing_file_is_created() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("RESULTS.md");
        write_section(&file, "one").unwrap();
        assert_eq!(
            fs::read_to_string(file).unwrap(),
            format!("# Results\n\n{BEGIN}\none\n{END}\n")
        );
    }
}
