//! The command that runs a program again with the settings of an earlier run.
//!
//! Takes   what `run.json` says.      Gives  a line for a shell.
//! Misses  the machine's own timing: the same delays need not give the same order.

use std::path::Path;

use unpick_events::schedule;
use unpick_recording::{RunInfo, RunOptions};

use crate::hunt::DELAY_PLAN;
use crate::program::{end_of_command_line, stdin_option};
use crate::record::quoted;

/// `unpick record --seed 7 --delay-sync 20% --delay-min 1us --delay-max 1ms -- ./bank 100`. Delays at chosen sites are repeated by the
/// delay plan in the folder of the run.
pub fn repeat_command(info: &RunInfo, folder: &Path) -> String {
    let program = end_of_command_line(&info.command, info.written_as.as_deref());
    let stdin = stdin_option(info.stdin.as_deref());
    let record = "unpick record --seed";
    if info.options.delay_targets > 0 {
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let plan = quoted(&folder.join(DELAY_PLAN).to_string_lossy());
        return format!("{}={plan} {record} {}{stdin} {program}", schedule::VARIABLE, info.seed);
    }
    format!("{record} {}{}{stdin} {program}", info.seed, delays(&info.options))
}

/// The options that ask for these delays, or a description of delays at chosen sites; empty for none.
pub fn delays(options: &RunOptions) -> String {
    if options.delay_targets > 0 {
        let (shortest, longest) = (options.delay_shortest_ns, options.delay_longest_ns);
        return format!(" delays of {} to {} at chosen sites", time(shortest), time(longest));
    }
    let places = [
        ("access", options.delay_access_ppm),
        ("sync", options.delay_sync_ppm),
        ("start", options.delay_start_ppm),
    ];
    let mut text = String::new();
    for (place, parts) in places.into_iter().filter(|(_, parts)| *parts > 0) {
        text += &format!(" --delay-{place} {}%", f64::from(parts) / 10_000.0);
    }
    if !text.is_empty() {
        let (shortest, longest) = (options.delay_shortest_ns, options.delay_longest_ns);
        text += &format!(" --delay-min {} --delay-max {}", time(shortest), time(longest));
    }
    text
}

/// As `unpick record` reads it.
fn time(nanoseconds: u64) -> String {
    let units = [("ms", 1_000_000), ("us", 1_000)];
    match units.iter().find(|(_, unit)| nanoseconds > 0 && nanoseconds.is_multiple_of(*unit)) {
        Some((name, unit)) => format!("{}{name}", nanoseconds / unit),
        None => format!("{nanoseconds}ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_told_as_record_reads_them() {
        let options = RunOptions {
            delay_sync_ppm: 200_000,
            delay_start_ppm: 1,
            delay_shortest_ns: 1_500,
            delay_longest_ns: 30_000_000,
            ..RunOptions::default()
        };
        let expected =
            " --delay-sync 20% --delay-start 0.0001% --delay-min 1500ns --delay-max 30ms";
        assert_eq!(delays(&options), expected);
        assert_eq!(delays(&RunOptions::default()), "");
        let targeted = RunOptions { delay_targets: 3, delay_sync_ppm: 0, ..options };
        assert_eq!(delays(&targeted), " delays of 1500ns to 30ms at chosen sites");
        assert_eq!(crate::quantities::parts_per_million("0.0001%"), Ok(1));
        assert_eq!(time(0), "0ns");
    }
}
