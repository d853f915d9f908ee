//! One generated section of a results file that several benchmarks share: each owns what is between its markers.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use unpick_problem::Problem;

/// Puts `section` in place of the last one of this benchmark (`bench/overhead`), or at the end of the file.
pub fn write_section(file: &Path, benchmark: &str, section: &str) -> Result<(), Problem> {
    let before = match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => "# Results\n".to_owned(),
        read => read.map_err(|error| cannot_write(file, error))?,
    };
    write_whole(file, &with_section(&before, benchmark, section))
}

pub fn write_whole(file: &Path, text: &str) -> Result<(), Problem> {
    fs::write(file, text).map_err(|error| cannot_write(file, error))
}

fn cannot_write(file: &Path, error: std::io::Error) -> Problem {
    Problem::own_fault("the results cannot be written").at("file", file.display()).why(error)
}

fn begin(benchmark: &str) -> String {
    format!("<!-- begin {benchmark} (generated, do not edit) -->")
}

fn end(benchmark: &str) -> String {
    format!("<!-- end {benchmark} -->")
}

fn with_section(before: &str, benchmark: &str, section: &str) -> String {
    let marked = format!("{}\n{}\n{}", begin(benchmark), section.trim(), end(benchmark));
    match own_range(before, benchmark) {
        Some(range) => format!("{}{marked}{}", &before[..range.start], &before[range.end..]),
        None => format!("{}\n\n{marked}\n", before.trim_end()),
    }
}

fn own_range(text: &str, benchmark: &str) -> Option<std::ops::Range<usize>> {
    let (begin, end) = (begin(benchmark), end(benchmark));
    let start = text.find(&begin)?;
    let end = start + text[start..].find(&end)? + end.len();
    Some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str) -> String {
        format!("<!-- begin bench/x (generated, do not edit) -->\n{text}\n<!-- end bench/x -->")
    }

    #[test]
    fn a_section_replaces_the_last_one_and_leaves_its_neighbours() {
        let first = with_section("# Results\n\nothers\n", "bench/x", "one");
        assert_eq!(first, format!("# Results\n\nothers\n\n{}\n", marked("one")));
        let second = with_section(&format!("{first}\nmore\n"), "bench/x", "two");
        assert_eq!(second, format!("# Results\n\nothers\n\n{}\n\nmore\n", marked("two")));
    }

    #[test]
    fn a_missing_file_is_created() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("RESULTS.md");
        write_section(&file, "bench/x", "one").unwrap();
        assert_eq!(fs::read_to_string(file).unwrap(), format!("# Results\n\n{}\n", marked("one")));
    }
}
