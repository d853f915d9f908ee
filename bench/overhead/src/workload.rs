//! The workloads: which sources make each of them, and how much work it gets.

use crate::options::Scale;
use crate::third_party::Library;

/// A program that is called as `program THREADS SIZE` and prints one checksum.
#[derive(Debug)]
pub struct Workload {
    pub name: &'static str,
    /// File below `workloads/`.
    pub source: &'static str,
    /// The real program it drives, if any.
    pub library: Option<Library>,
    full: u64,
    small: u64,
}

impl Workload {
    pub fn size(&self, scale: Scale) -> u64 {
        match scale {
            Scale::Small => self.small,
            Scale::Full => self.full,
        }
    }

    const fn own(name: &'static str, source: &'static str, full: u64, small: u64) -> Self {
        Self { name, source, library: None, full, small }
    }

    const fn driving(
        library: Library,
        name: &'static str,
        source: &'static str,
        full: u64,
        small: u64,
    ) -> Self {
        Self { name, source, library: Some(library), full, small }
    }
}

/// Sizes are chosen so that native takes about half a second (full) or 30 to 80 ms (small) with two threads.
pub const WORKLOADS: &[Workload] = &[
    Workload::own("lu", "lu.c", 64, 32),
    Workload::own("fft", "fft.c", 10, 9),
    Workload::own("radix", "radix.c", 12_000_000, 2_000_000),
    Workload::own("barnes", "barnes.c", 20_000, 5_000),
    Workload::own("stencil", "stencil.c", 2_200, 700),
    Workload::own("work_stealing", "work_stealing.cpp", 14, 13),
    Workload::own("hash_map", "hash_map.c", 8_000_000, 1_000_000),
    Workload::own("pipeline", "pipeline.c", 400_000, 50_000),
    Workload::own("counters", "counters.c", 50_000_000, 3_000_000),
    Workload::own("text", "text.c", 30_000_000, 4_000_000),
    Workload::own("table", "table.c", 500_000, 50_000),
    Workload::driving(Library::Zstd, "zstd", "zstd_stream.c", 12_000_000, 2_000_000),
    Workload::driving(Library::Sqlite, "sqlite", "sqlite_shared.c", 2_000, 400),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folders::crate_folder;

    #[test]
    fn every_workload_has_its_source() {
        for workload in WORKLOADS {
            assert!(
                crate_folder().join("workloads").join(workload.source).is_file(),
                "{}",
                workload.source
            );
        }
    }
}
