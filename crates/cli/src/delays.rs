//! The options for delays, which `record`, `hunt` and `watch` share.

use unpick_problem::Problem;
use unpick_recording::RunOptions;

use crate::quantities::{nanoseconds, parts_per_million};

/// Which delays are asked for.
#[derive(clap::Args)]
pub struct DelayOptions {
    /// How often an access to shared bytes is delayed: 0.01 or 1%
    #[arg(long, value_name = "P", default_value = "0", value_parser = parts_per_million)]
    pub delay_access: u32,
    /// How often synchronisation is delayed
    #[arg(long, value_name = "P", default_value = "0", value_parser = parts_per_million)]
    pub delay_sync: u32,
    /// How often the start of a thread is delayed
    #[arg(long, value_name = "P", default_value = "0", value_parser = parts_per_million)]
    pub delay_start: u32,
    /// Shortest delay; 0 only lets other threads run
    #[arg(long, value_name = "TIME", default_value = "1us", value_parser = nanoseconds)]
    pub delay_min: u64,
    /// Longest delay
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = nanoseconds)]
    pub delay_max: u64,
}

impl DelayOptions {
    /// The options of a run, with these delays.
    pub fn applied_to(&self, options: RunOptions) -> RunOptions {
        RunOptions {
            delay_access_ppm: self.delay_access,
            delay_sync_ppm: self.delay_sync,
            delay_start_ppm: self.delay_start,
            delay_shortest_ns: self.delay_min,
            delay_longest_ns: self.delay_max,
            ..options
        }
    }

    /// `next` is a command that would do.
    pub fn check(&self, next: &str) -> Result<(), Problem> {
        if self.delay_min <= self.delay_max {
            return Ok(());
        }
        Err(Problem::usage("the shortest delay is longer than the longest")
            .at("option", "--delay-min, --delay-max")
            .next(next))
    }
}
