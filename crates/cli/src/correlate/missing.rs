//! What could not be read, and what helps.

use unpick_problem::Problem;

/// What helps where headers are not found.
const HEADERS: &str = "unpick: next: say where headers are: a compile_commands.json (cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON, or bear -- make), or compile once by unpick cc";

/// Sentences about what is missing that are printed; JSON has them all.
const MISSING_SHOWN: usize = 8;

pub fn told_missing(missing: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = missing
        .iter()
        .take(MISSING_SHOWN)
        .map(|line| format!("unpick: {}", line.trim_start_matches("error: ")))
        .collect();
    if missing.len() > MISSING_SHOWN {
        let more = missing.len() - MISSING_SHOWN;
        lines.push(format!("unpick: {more} more of this kind: --json FILE has them all"));
    }
    if missing.iter().any(|line| line.contains("file not found")) {
        lines.push(HEADERS.to_owned());
    }
    lines
}

pub fn nothing_read() -> Problem {
    Problem::usage("no source could be read")
        .why("what stands in the way is told above")
        .next("unpick correlate --help says what is needed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_what_is_missing_is_cut() {
        let missing: Vec<String> = (0..20).map(|at| format!("{at}.c: no")).collect();
        let told = told_missing(&missing);
        assert_eq!(told.len(), MISSING_SHOWN + 1);
        assert!(told[MISSING_SHOWN].contains("12 more"));
    }
}
