//! What all benchmarks need to publish results.
//!
//! Takes   rows of text, a section of Markdown.
//! Gives   tables that read well on a terminal too, facts about the machine, the command to run again, and the
//!         benchmark's own section of `docs/RESULTS.md`.
#![forbid(unsafe_code)]

mod ending;
mod figures;
pub mod machine;
mod section;
mod table;

pub use ending::ended;
pub use figures::{Figure, figures_table, geometric_mean, setting, verdict};
pub use section::{write_section, write_whole};
pub use table::table;

/// How to get the same results again, from the arguments a benchmark was called with.
pub fn command_line(package: &str, arguments: impl Iterator<Item = String>) -> String {
    let given: Vec<_> = arguments.skip(1).collect();
    let separator = if given.is_empty() { "" } else { " -- " };
    format!("cargo run --release -p {package}{separator}{}", given.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_pasted() {
        let line =
            |given: &[&str]| command_line("bench-x", given.iter().map(|&word| word.to_owned()));
        assert_eq!(line(&["bench"]), "cargo run --release -p bench-x");
        assert_eq!(
            line(&["bench", "--repeat", "3"]),
            "cargo run --release -p bench-x -- --repeat 3"
        );
    }
}
