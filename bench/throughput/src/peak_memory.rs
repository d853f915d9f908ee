//! The memory a benchmark takes.

/// The most memory this process has had.
pub fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("a Linux kernel");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().split(' ').next()?.parse::<u64>().ok());
    kilobytes.expect("a number of kilobytes") / 1000
}
