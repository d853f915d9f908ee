//! How failing runs ended and what they said: runs that failed with the same message are one group.
//!
//! Takes   of each failing run how it ended and the end of its output.      Gives  groups, the most frequent first, each with an excerpt.
//! Misses  messages that differ in more than numbers, addresses and directories although they mean the same.
//! Invents nothing: an excerpt has lines that the program printed, without what would steer a terminal.

mod excerpt;
mod message;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use excerpt::Excerpt;
pub use excerpt::last_lines;

/// The ending of a run that did not end.
pub const HUNG: &str = "hung";

impl FailureGroup {
    /// All that is known is that these runs hung.
    pub fn is_hang_only(&self) -> bool {
        self.ending == HUNG && self.message.is_none()
    }
}

/// Where a program printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    Stderr,
    Stdout,
}

/// A failing run: how it ended, and the end of what it printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRun {
    pub run: u32,
    /// `exit code 1`, `SIGSEGV`, `hung`.
    pub ending: String,
    /// The end of what it printed. Of streams that tell the same the first one counts.
    pub output: Vec<(Stream, String)>,
}

/// Runs that failed in the same way, as far as they say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureGroup {
    /// What they said, with `N` for numbers; none: nothing.
    pub message: Option<String>,
    /// `exit code 1`, `SIGSEGV`, `hung`.
    pub ending: String,
    pub failed_runs: u32,
    /// The first of them.
    pub example_run: u32,
    /// Where the example printed `output`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream: Option<Stream>,
    /// What the example printed when it failed, at most a few lines; free of control characters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<String>,
}

/// Groups failing runs by ending and message.
pub fn group_failures(runs: &[FailedRun]) -> Vec<FailureGroup> {
    let mut groups: BTreeMap<(String, Option<String>), FailureGroup> = BTreeMap::new();
    for run in runs {
        // What a run printed before it hung does not say why, unless it panicked.
        let has_hung = run.ending == HUNG;
        let excerpt =
            most_telling(&run.output).filter(|(_, excerpt)| !has_hung || excerpt.has_beginning);
        let message = excerpt.as_ref().map(|(_, excerpt)| message::normalised(&excerpt.message));
        let key = (run.ending.clone(), message.clone());
        groups
            .entry(key)
            .and_modify(|group| group.failed_runs += 1)
            .or_insert_with(|| new_group(run, message, excerpt));
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort_by_key(|group| (std::cmp::Reverse(group.failed_runs), group.example_run));
    groups
}

/// A stream that shows where a failure begins, else the first that has anything.
fn most_telling(output: &[(Stream, String)]) -> Option<(Stream, Excerpt)> {
    let excerpts = output.iter().filter_map(|(stream, text)| Some((*stream, Excerpt::of(text)?)));
    let mut excerpts: Vec<_> = excerpts.collect();
    excerpts.sort_by_key(|(_, excerpt)| !excerpt.has_beginning);
    excerpts.into_iter().next()
}

fn new_group(
    run: &FailedRun,
    message: Option<String>,
    excerpt: Option<(Stream, Excerpt)>,
) -> FailureGroup {
    FailureGroup {
        message,
        ending: run.ending.clone(),
        failed_runs: 1,
        example_run: run.run,
        stream: excerpt.as_ref().map(|(stream, _)| *stream),
        output: excerpt.map_or_else(Vec::new, |(_, excerpt)| excerpt.lines),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(run: u32, ending: &str, text: &str) -> FailedRun {
        FailedRun {
            run,
            ending: ending.to_owned(),
            output: vec![(Stream::Stderr, text.to_owned())],
        }
    }

    #[test]
    fn runs_with_the_same_message_are_one_group_and_the_largest_comes_first() {
        let groups = group_failures(&[
            run(2, "SIGSEGV", ""),
            run(3, "exit code 1", "starting\nlost job 17\n"),
            run(5, "exit code 1", "starting\nlost job 4\n"),
            run(9, "exit code 1", "lost connection\n"),
        ]);
        let brief: Vec<_> = groups
            .iter()
            .map(|group| {
                (group.failed_runs, group.message.as_deref(), &*group.ending, group.example_run)
            })
            .collect();
        assert_eq!(
            brief,
            [
                (2, Some("lost job N"), "exit code 1", 3),
                (1, None, "SIGSEGV", 2),
                (1, Some("lost connection"), "exit code 1", 9),
            ]
        );
        assert_eq!(groups[0].output, ["starting", "lost job 17"]);
        assert_eq!((groups[1].stream, groups[0].stream), (None, Some(Stream::Stderr)));
    }

    #[test]
    fn a_panic_on_one_stream_tells_more_than_a_log_on_the_other() {
        let panic = "thread 'a' panicked at a.rs:1:2:\nlost".to_owned();
        let run = |output| FailedRun { run: 1, ending: "exit code 101".to_owned(), output };
        let both = [(Stream::Stderr, "log".to_owned()), (Stream::Stdout, panic)];
        let of_both = &group_failures(&[run(both.to_vec())])[0];
        assert_eq!(of_both.message.as_deref(), Some("a.rs:1: lost"));
        assert_eq!(of_both.stream, Some(Stream::Stdout));
        let of_one = &group_failures(&[run(both[..1].to_vec())])[0];
        assert_eq!((of_one.message.as_deref(), of_one.stream), (Some("log"), Some(Stream::Stderr)));
    }

    #[test]
    fn what_a_run_printed_before_it_hung_does_not_count() {
        let groups = group_failures(&[run(1, HUNG, "round 1"), run(2, HUNG, "began")]);
        assert_eq!((groups.len(), groups[0].failed_runs), (1, 2));
        assert!(groups[0].is_hang_only() && groups[0].output.is_empty());
        let groups = group_failures(&[run(1, HUNG, "thread 'a' panicked at a.rs:1:2:\nlost")]);
        assert_eq!(groups[0].message.as_deref(), Some("a.rs:1: lost"));
    }

    #[test]
    fn the_same_message_with_another_ending_is_another_failure() {
        let groups = group_failures(&[run(1, "exit code 1", "lost"), run(2, "SIGABRT", "lost")]);
        assert_eq!(groups.len(), 2);
    }
}
