//! What the runtime is asked to do, and how it is told: the variables `UNPICK_RUN_DIR` and `UNPICK_OPTIONS`.

use std::path::Path;

use unpick_recording::RunOptions;

/// Names the run folder, and thereby switches recording on.
const RUN_FOLDER_VARIABLE: &str = "UNPICK_RUN_DIR";
const OPTIONS_VARIABLE: &str = "UNPICK_OPTIONS";

/// What the runtime is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choices {
    pub options: RunOptions,
    pub seed: u64,
}

impl Choices {
    /// The environment variables that tell the runtime.
    pub fn environment(&self, run_folder: &Path) -> [(&'static str, std::ffi::OsString); 2] {
        [
            (RUN_FOLDER_VARIABLE, run_folder.as_os_str().to_owned()),
            (OPTIONS_VARIABLE, self.as_text().into()),
        ]
    }

    fn as_text(&self) -> String {
        let options = &self.options;
        let full = if options.full { "full " } else { "" };
        format!(
            "{full}limit={} seed={} access={} sync={} start={} shortest={} longest={} targets={} budget={}",
            options.limit,
            self.seed,
            options.delay_access_ppm,
            options.delay_sync_ppm,
            options.delay_start_ppm,
            options.delay_shortest_ns,
            options.delay_longest_ns,
            options.delay_targets,
            options.delay_budget_ns
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_told_in_its_own_words() {
        let options = RunOptions {
            full: true,
            limit: 4096,
            delay_access_ppm: 10,
            delay_sync_ppm: 20,
            delay_start_ppm: 30,
            delay_shortest_ns: 0,
            delay_longest_ns: 1000,
            delay_targets: 3,
            delay_budget_ns: 9000,
        };
        let text = Choices { options, seed: 7 }.as_text();
        assert_eq!(
            text,
            "full limit=4096 seed=7 access=10 sync=20 start=30 shortest=0 longest=1000 targets=3 budget=9000"
        );
    }
}
