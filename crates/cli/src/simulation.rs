//! AVIO's hardware variant as an option: accesses are seen through simulated caches.
//!
//! Takes   options of `unpick train`.      Gives  which caches; what is said of them in text and JSON.

use serde_json::{Value, json};
use unpick_invariants::Hardware;
use unpick_problem::Problem;

use crate::quantities::bytes;

/// Whether caches are simulated, and which.
#[derive(clap::Args)]
pub struct SimulationOptions {
    /// See accesses as AVIO's hardware would, through a simulated cache per thread: to compare with. Neighbours in a line count as one
    /// variable, and what a cache has displaced is forgotten
    #[arg(long)]
    simulate_hardware: bool,
    /// Size of the lines of simulated caches: a power of two
    #[arg(long, value_name = "SIZE", default_value = "64B", value_parser = bytes, requires = "simulate_hardware")]
    line_size: u64,
    /// Size of the simulated cache of each thread
    #[arg(long, value_name = "SIZE", default_value = "32KiB", value_parser = bytes, requires = "simulate_hardware")]
    cache_size: u64,
}

impl SimulationOptions {
    pub fn hardware(&self) -> Result<Option<Hardware>, Problem> {
        if !self.simulate_hardware {
            return Ok(None);
        }
        let hardware = Hardware { line_size: self.line_size, cache_size: self.cache_size };
        match hardware.shape() {
            Some(_) => Ok(Some(hardware)),
            None => Err(Problem::usage(format!(
                "there is no cache of {} bytes in lines of {}",
                hardware.cache_size, hardware.line_size
            ))
            .why(Hardware::RULE)
            .next("unpick train --simulate-hardware --line-size 64 --cache-size 32KiB -- PROGRAM")),
        }
    }
}

/// A line for people; nothing if no caches are simulated.
pub fn in_words(hardware: Option<Hardware>) -> String {
    hardware.map_or_else(String::new, |Hardware { line_size, cache_size }| {
        format!(
            "through simulated caches of {cache_size} bytes in lines of {line_size}: neighbours in a line count as one variable\n"
        )
    })
}

pub fn as_json(hardware: Option<Hardware>) -> Value {
    hardware.map_or(Value::Null, |Hardware { line_size, cache_size }| {
        json!({ "line_size": line_size, "cache_size": cache_size })
    })
}
