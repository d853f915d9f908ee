//! In which ways the runs of a hunt failed: a forced run that fails in another way is no sign of the same bug.

use std::collections::HashSet;

use unpick_events::Label;
use unpick_run_store::StoredRun;

/// The ways in which runs failed; empty: any counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Failures(HashSet<String>);

impl Failures {
    pub fn of_runs(runs: &[StoredRun]) -> Failures {
        let failing = runs.iter().filter(|run| run.label() == Label::Fail);
        Failures(failing.filter_map(|run| run.info.why.as_deref()).map(kind).collect())
    }

    /// Whether a run that failed for this reason failed as runs of the hunt did.
    pub fn has(&self, why: &str) -> bool {
        self.0.is_empty() || self.0.contains(&kind(why))
    }
}

/// Exit codes and what a condition found in the output are kept apart. Which signal kills a program that has damaged its memory is
/// chance, and a hang is a hang whatever its limit was.
fn kind(why: &str) -> String {
    if why.starts_with("exit ") || why.starts_with("standard ") || why.starts_with("the oracle") {
        why.to_owned()
    } else if why.starts_with("panicked") {
        // It would have ended so, had it not been slow to print why.
        "exit 101".to_owned()
    } else if why.starts_with("killed by signal") {
        "signal".to_owned()
    } else {
        "hang".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failures(reasons: &[&str]) -> Failures {
        Failures(reasons.iter().map(|why| kind(why)).collect())
    }

    #[test]
    fn the_same_exit_code_or_hang_is_the_same_failure() {
        let seen = failures(&["exit 1", "did not end within 2 s"]);
        assert!(seen.has("exit 1") && !seen.has("exit 2"));
        assert!(seen.has("did not end within 0.5 s"));
        assert!(!seen.has("killed by signal 11"));
        assert!(failures(&["killed by signal 6"]).has("killed by signal 11"));
        assert!(failures(&[]).has("anything"));
    }
}
