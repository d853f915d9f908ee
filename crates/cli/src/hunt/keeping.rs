//! Which recordings of a hunt are kept.

use unpick_events::Label;
use unpick_problem::Problem;
use unpick_run_store::{Keep, drop_recordings};
use unpick_runner::Judged;

/// Recordings of passing runs beyond this are dropped, whatever is to be kept: a hunt must not fill the disk.
const MAX_KEPT_BYTES: u64 = 4 << 30;

#[derive(Debug)]
pub struct Keeping {
    keep: Keep,
    kept_bytes: u64,
    dropped_for_space: bool,
}

impl Keeping {
    pub fn new(keep: Keep) -> Keeping {
        Keeping { keep, kept_bytes: 0, dropped_for_space: false }
    }

    /// Of a run that has been read.
    pub fn keep_or_drop(&mut self, judged: &Judged) -> Result<(), Problem> {
        let (bytes, label) = (judged.recorded_bytes(), judged.label());
        let too_much = label == Label::Pass && self.kept_bytes + bytes > MAX_KEPT_BYTES;
        if self.keep.keeps(label) && !too_much {
            self.kept_bytes += bytes;
            return Ok(());
        }
        self.dropped_for_space |= too_much && self.keep.keeps(label);
        drop_recordings(&judged.run.folder)
    }

    /// Recordings were not kept although they should have been: there were too many.
    pub fn has_dropped_for_space(&self) -> bool {
        self.dropped_for_space
    }
}
