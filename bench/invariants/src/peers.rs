//! Race detectors on the same programs.

use std::path::Path;

use unpick_problem::Problem;

use crate::command::output;

/// How many different reports a detector gave, at most in one run; none: it did not run.
pub type Reports = Option<u32>;

/// What each detector says about a program.
#[derive(Debug, Clone, Copy)]
pub struct Peers {
    pub helgrind: Reports,
    pub drd: Reports,
    pub tsan: Reports,
}

impl Peers {
    pub fn are_silent(&self) -> bool {
        [self.helgrind, self.drd, self.tsan].iter().all(|reports| *reports == Some(0))
    }

    /// `bare` is the program as it is, `tsan` the one built with ThreadSanitizer.
    pub fn of(bare: &Path, tsan: &Path, arguments: &[String], runs: u32) -> Result<Peers, Problem> {
        let most = |command: &[&str], program: &Path, count: fn(&str) -> Reports| {
            let mut most: Reports = None;
            for _ in 0..runs {
                let output = output(command, program, arguments)?;
                most = most.max(count(&String::from_utf8_lossy(&output.stderr)));
            }
            Ok::<Reports, Problem>(most)
        };
        Ok(Peers {
            helgrind: most(&["valgrind", "--tool=helgrind"], bare, valgrind_reports)?,
            drd: most(&["valgrind", "--tool=drd"], bare, valgrind_reports)?,
            tsan: most(&[], tsan, tsan_reports)?,
        })
    }
}

/// `ERROR SUMMARY: 12 errors from 3 contexts`.
fn valgrind_reports(text: &str) -> Reports {
    let summary = text.lines().rfind(|line| line.contains("ERROR SUMMARY"))?;
    let contexts = summary.split(" from ").nth(1)?;
    contexts.split_whitespace().next()?.parse().ok()
}

fn tsan_reports(text: &str) -> Reports {
    if text.contains("FATAL: ThreadSanitizer") {
        return None;
    }
    Some(text.matches("WARNING: ThreadSanitizer").count() as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_are_counted_by_what_the_detectors_print() {
        let summary = "==7== ERROR SUMMARY: 12 errors from 3 contexts (suppressed: 0 from 0)\n";
        assert_eq!(valgrind_reports(summary), Some(3));
        assert_eq!(valgrind_reports("killed"), None);
        assert_eq!(tsan_reports("WARNING: ThreadSanitizer: data race\n"), Some(1));
        assert_eq!(tsan_reports("all is well"), Some(0));
        assert_eq!(tsan_reports("FATAL: ThreadSanitizer: unexpected memory mapping"), None);
    }
}
