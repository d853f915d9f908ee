//! The subjects with breakpoints, and what BTrigger's Tables 1 and 2 say of the programs they are named after.

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    pub subject: &'static str,
    /// The paper's name for program and breakpoint.
    pub original: &'static str,
    /// The probability to hit it; None where the paper has none.
    pub probability: Option<f64>,
    /// What was done to get there.
    pub remark: &'static str,
    /// Of several breakpoints in the source.
    pub only: Option<&'static str>,
}

const fn case(
    subject: &'static str,
    original: &'static str,
    percent: u32,
    remark: &'static str,
) -> Case {
    Case { subject, original, probability: Some(percent as f64 / 100.0), remark, only: None }
}

pub const CASES: [Case; 13] = [
    case("array-list", "synchronizedList atomicity1", 100, "ignore_first, bound 1"),
    case("cache4j", "cache4j race1", 100, "ignore_first, bound 1"),
    case("hash-set", "synchronizedSet atomicity1", 100, "when, bound 1"),
    case("hedc", "hedc race1", 87, "bound 1"),
    case("jigsaw", "jigsaw deadlock1", 100, ""),
    case("jigsaw-rust", "jigsaw deadlock1", 100, ""),
    Case { only: Some("236-309"), ..case("log4j", "log4j missed-notify1", 100, "bound 1") },
    case("moldyn", "moldyn race2", 100, "bound 10"),
    Case { probability: None, ..case("pbzip2", "pbzip2 crash", 0, "when, bound 1") },
    case("ray-tracer", "raytracer race1", 100, "bound 1"),
    case("string-buffer", "stringbuffer atomicity1", 100, ""),
    case("swing", "swing deadlock1", 63, "lock_held, when"),
    Case { probability: None, ..case("vector", "", 0, "") },
];
