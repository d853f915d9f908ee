//! What the papers saw in the programs that the subjects are named after.

/// A row of UNICORN's Table IV.
pub struct Unicorn {
    pub subject: &'static str,
    pub first_pair: f64,
    pub second_pair: Option<f64>,
    pub pattern: f64,
    pub rank: u32,
    pub at_rank_1: u32,
    pub pairs: u32,
    pub patterns: u32,
    pub distances: Option<[u32; 2]>,
}

const fn unicorn(
    subject: &'static str,
    scores: (f64, Option<f64>, f64),
    counts: [u32; 4],
    distances: Option<[u32; 2]>,
) -> Unicorn {
    let (first_pair, second_pair, pattern) = scores;
    let [rank, at_rank_1, pairs, patterns] = counts;
    Unicorn {
        subject,
        first_pair,
        second_pair,
        pattern,
        rank,
        at_rank_1,
        pairs,
        patterns,
        distances,
    }
}

/// Mysql-791 is the bug that MysqlLog was extracted from.
pub const UNICORN: [Unicorn; 11] = [
    unicorn("timer-thread", (1.0, None, 1.0), [1, 3, 6, 7], None),
    unicorn("load-script", (0.86, Some(1.0), 1.0), [1, 2, 3, 4], Some([2, 2])),
    unicorn("mysql-log", (0.02, Some(1.0), 1.0), [1, 2, 4, 5], Some([2, 2])),
    unicorn("js-string", (0.04, Some(1.0), 1.0), [1, 3, 5, 8], Some([3, 3])),
    unicorn("mysql-delete", (0.04, Some(0.27), 1.0), [1, 1, 7, 1], Some([2, 2])),
    unicorn("mysql-slave", (0.01, Some(0.66), 1.0), [1, 1, 6, 11], Some([2, 2])),
    unicorn("pbzip2", (0.42, None, 0.42), [1, 6, 59, 333], None),
    unicorn("aget", (0.51, Some(0.50), 0.70), [1, 1, 37, 94], Some([2, 3])),
    unicorn("mysql-169", (0.63, Some(0.63), 1.0), [1, 7, 894, 9051], Some([41, 41])),
    unicorn("string-buffer", (0.58, Some(1.0), 1.0), [1, 3, 8, 18], Some([4, 5])),
    unicorn("vector", (1.0, Some(1.0), 1.0), [1, 4, 11, 25], Some([2, 2])),
];

/// A row of Falcon's Table 4.
pub struct Falcon {
    pub subject: &'static str,
    /// The highest of all patterns.
    pub score: f64,
    pub patterns: u32,
    /// 0: not found.
    pub rank: u32,
}

const fn falcon(subject: &'static str, score: f64, patterns: u32, rank: u32) -> Falcon {
    Falcon { subject, score, patterns, rank }
}

pub const FALCON: [Falcon; 17] = [
    falcon("account", 0.8, 11, 2),
    falcon("airlines-tickets", 0.33, 4, 1),
    falcon("bubble-sort2", 1.0, 4, 1),
    falcon("buf-writer", 0.33, 105, 1),
    falcon("lottery", 0.1, 4, 1),
    falcon("merge-sort", 0.9, 76, 1),
    falcon("shop", 0.16, 10, 2),
    falcon("array-list", 1.0, 1, 1),
    falcon("hash-set", 1.0, 7, 1),
    falcon("string-buffer", 1.0, 2, 1),
    falcon("tree-set", 1.0, 9, 2),
    falcon("vector", 1.0, 1, 1),
    falcon("cache4j", 0.51, 23, 1),
    falcon("hedc", 0.01, 2, 0),
    falcon("philo", 0.0, 9, 0),
    falcon("ray-tracer", 1.0, 14, 2),
    falcon("tsp", 0.0, 24, 0),
];

/// A row of Recon's Table 3.
pub struct Recon {
    pub subject: &'static str,
    pub rank: u32,
    pub relevant: u32,
    pub irrelevant: u32,
    pub missing: u32,
    pub with_5: u32,
    pub with_15: u32,
}

const fn recon(subject: &'static str, points: [u32; 3], fewer: [u32; 2]) -> Recon {
    let [relevant, irrelevant, missing] = points;
    let [with_5, with_15] = fewer;
    Recon { subject, rank: 1, relevant, irrelevant, missing, with_5, with_15 }
}

pub const RECON: [Recon; 11] = [
    recon("logandswp", [6, 1, 0], [1, 1]),
    recon("circlist", [3, 3, 0], [1, 1]),
    recon("textreflow", [8, 0, 0], [1, 1]),
    recon("jsstrlen", [7, 0, 0], [1, 1]),
    recon("apache-log", [5, 5, 0], [1, 1]),
    recon("mysql-log", [8, 7, 0], [34, 9]),
    recon("pbzip2", [11, 0, 1], [2, 1]),
    recon("aget", [4, 2, 0], [8, 1]),
    recon("string-buffer", [6, 0, 0], [1, 1]),
    recon("vector", [6, 0, 0], [1, 1]),
    recon("weblech", [6, 28, 0], [4, 1]),
];
