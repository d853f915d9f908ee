//! One call of `unpick correlate`, with the processor time and memory of all its processes.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use unpick_correlations::CorrelationList;
use unpick_problem::Problem;

use crate::failed;

pub struct Measured {
    pub list: CorrelationList,
    pub wall: Duration,
    /// User and system, of `unpick` and its workers.
    pub processor: f64,
    /// The largest that any of the processes became.
    pub peak_kib: u64,
}

/// How often a code base is read with an empty cache. What other processes do makes it slower, and never faster.
pub const TIMES: usize = 3;

/// Reads a code base with an empty cache; gives the time that took the least of the processors.
pub fn correlate(unpick: &Path, base: &Path, folder: &Path) -> Result<Measured, Problem> {
    let mut best = correlate_once(unpick, base, folder)?;
    for _ in 1..TIMES {
        let other = correlate_once(unpick, base, folder)?;
        if other.processor < best.processor {
            best = other;
        }
    }
    Ok(best)
}

fn correlate_once(unpick: &Path, base: &Path, folder: &Path) -> Result<Measured, Problem> {
    put_store_aside(folder).map_err(|error| failed("the store stays", error))?;
    correlate_again(unpick, base, folder)
}

/// What was read an earlier time would not be measured. It is not removed yet: ext4 is slow to make files for minutes after many were.
fn put_store_aside(folder: &Path) -> io::Result<()> {
    let (store, aside) = (store_in(folder), aside_in(folder));
    if !store.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(&aside)?;
    let number = fs::read_dir(&aside)?.count();
    fs::rename(store, aside.join(number.to_string()))
}

/// Removes what was put aside.
pub fn tidy_up(folder: &Path) {
    // It costs room only.
    let _ = fs::remove_dir_all(aside_in(folder));
}

fn aside_in(folder: &Path) -> PathBuf {
    folder.join("earlier-stores")
}

fn store_in(folder: &Path) -> PathBuf {
    folder.join("store")
}

/// Reads a code base with the cache as it is.
pub fn correlate_again(unpick: &Path, base: &Path, folder: &Path) -> Result<Measured, Problem> {
    let (json, store) = (folder.join("list.json"), store_in(folder));
    let begin = Instant::now();
    // The shell's `times` has those of all processes that ended.
    let mut child = Command::new("sh")
        .args(["-c", "\"$@\" >/dev/null 2>&1; times", "sh"])
        .arg(unpick)
        .args(["correlate", "--json"])
        .args([&json, base])
        .arg("--store")
        .arg(&store)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed("unpick does not start", error))?;
    let (is_over, peak) = (AtomicBool::new(false), AtomicU64::new(0));
    let id = child.id();
    let output = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Relaxed) {
                peak.fetch_max(largest_below(id), Relaxed);
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        let mut text = String::new();
        let read =
            child.stdout.take().map(|mut output| io::Read::read_to_string(&mut output, &mut text));
        let ended = child.wait();
        is_over.store(true, Relaxed);
        read.transpose().and(ended).map(|_| text)
    });
    let wall = begin.elapsed();
    let output = output.map_err(|error| failed("unpick cannot be waited for", error))?;
    let text = fs::read_to_string(&json).map_err(|error| failed("no list", error))?;
    let list = CorrelationList::from_json(&text).map_err(|error| failed("no list", error))?;
    Ok(Measured { list, wall, processor: seconds(&output), peak_kib: peak.load(Relaxed) })
}

/// The last line of `times`: `0m1.230s 0m0.120s`, of all children.
fn seconds(times: &str) -> f64 {
    let last = times.lines().last().unwrap_or_default();
    let one = |word: &str| {
        let (minutes, seconds) = word.trim_end_matches('s').split_once('m')?;
        Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
    };
    last.split_whitespace().filter_map(one).sum()
}

/// High-water mark of the largest process below this one, in KiB.
fn largest_below(ancestor: u32) -> u64 {
    let mut known = vec![ancestor];
    let mut largest = 0;
    // Children have mostly larger numbers, and are listed later.
    for (process, parent, peak) in processes() {
        if known.contains(&parent) {
            known.push(process);
            largest = largest.max(peak);
        }
    }
    largest
}

fn processes() -> Vec<(u32, u32, u64)> {
    let mut found: Vec<(u32, u32, u64)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let process = entry.file_name().to_str()?.parse().ok()?;
            let status = fs::read_to_string(entry.path().join("status")).ok()?;
            let field = |name: &str| {
                let line = status.lines().find_map(|line| line.strip_prefix(name))?;
                line.split_whitespace().next()?.parse::<u64>().ok()
            };
            Some((process, field("PPid:")? as u32, field("VmHWM:").unwrap_or(0)))
        })
        .collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_of_children_are_added() {
        assert_eq!(seconds("0m0.001s 0m0.002s\n1m1.500s 0m0.250s\n"), 61.75);
    }
}
