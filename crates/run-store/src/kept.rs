//! What stays of a run once it is condensed.

use std::fs;
use std::path::Path;

use unpick_events::Label;
use unpick_problem::Problem;
use unpick_recording::event_files;

/// Of which runs the recordings are kept; labels and patterns always are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    Failing,
    All,
    None,
}

impl Keep {
    /// Whether the recordings of a run with this label stay.
    pub fn keeps(self, label: Label) -> bool {
        match self {
            Keep::All => true,
            Keep::Failing => label == Label::Fail,
            Keep::None => false,
        }
    }
}

/// Removes the event files of a run.
pub fn drop_recordings(folder: &Path) -> Result<(), Problem> {
    let files = event_files(folder).map_err(|error| cannot_drop(folder, &error))?;
    for file in files {
        fs::remove_file(&file).map_err(|error| cannot_drop(&file, &error))?;
    }
    Ok(())
}

fn cannot_drop(path: &Path, error: &std::io::Error) -> Problem {
    Problem::own_fault("a recording that is not needed any more cannot be removed")
        .at("file", path.display())
        .why(error)
        .next("check that you may write to the store")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_recordings_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["1-0.events", "2-0.events", "run.json", "stdout"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        drop_recordings(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn each_choice_keeps_what_it_says() {
        let kept = |keep: Keep| Label::ALL.map(|label| keep.keeps(label));
        assert_eq!(kept(Keep::All), [true, true, true]);
        assert_eq!(kept(Keep::Failing), [false, true, false]);
        assert_eq!(kept(Keep::None), [false, false, false]);
    }
}
