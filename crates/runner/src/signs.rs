//! Signs of life of a run, as they are to be seen from outside.
//!
//! Takes   the process group of a run and its folder.      Gives  `Signs`.
//! Misses  fewer events than fill a page of an event file.
//! Cost    one look through /proc and the folder of the run.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use unpick_recording::event_files;

use crate::event_file::read_header;
use crate::group::Group;
use crate::patience::Signs;

pub fn signs_of_life(group: &Group, folder: &Path) -> Signs {
    let mut signs = Signs::default();
    for process in group.running() {
        let tasks = fs::read_dir(format!("/proc/{process}/task")).into_iter().flatten().flatten();
        for task in tasks {
            let stat = fs::read(task.path().join("stat")).unwrap_or_default();
            if let Some((state, ticks)) = state_and_ticks(&String::from_utf8_lossy(&stat)) {
                signs.is_running |= state == 'R';
                signs.processor = signs.processor.wrapping_add(ticks);
            }
        }
    }
    for file in event_files(folder).unwrap_or_default() {
        // Its length is that of the limit, but space is taken only for what is written.
        let blocks = fs::metadata(&file).map_or(0, |about| about.blocks());
        signs.recorded = signs.recorded.wrapping_add(blocks);
        if let Ok(Some(header)) = read_header(&file) {
            signs.recorded = signs.recorded.wrapping_add(header.chunks_end);
            signs.delayed = signs.delayed.wrapping_add(header.delayed);
        }
    }
    signs
}

/// The state and the processor time of a thread, from its `stat`.
fn state_and_ticks(stat: &str) -> Option<(char, u64)> {
    const USER_AFTER_STATE: usize = 10;
    let mut fields = stat.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?.chars().next()?;
    let user: u64 = fields.nth(USER_AFTER_STATE)?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some((state, user + system))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_that_of_the_user_and_of_the_system() {
        let stat = "17 (a) b) R 1 17 8 0 -1 4194304 126 0 0 0 30 12 99 99 20 0 1";
        assert_eq!(state_and_ticks(stat), Some(('R', 42)));
        assert_eq!(state_and_ticks("17 (a) R 1 17"), None);
    }
}
