//! Time on a processor, in which other work on the machine does not count.
/// Processor time this thread has had.
pub fn processor_seconds() -> f64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").expect("a Linux kernel");
    let nanoseconds = times.split(' ').next().and_then(|time| time.parse::<f64>().ok());
    nanoseconds.expect("the first number is the time on a processor") / 1e9
}
