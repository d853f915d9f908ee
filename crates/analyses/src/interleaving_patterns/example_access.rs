//! An access of an example, of what is recorded about it.

use unpick_events::access::PastKind;
use unpick_recording::Access as RecordedAccess;

use crate::access_pairs::LivedBytes;
use crate::code_tables::{CodeTables, Process};

use super::result::{Access, Touch};

impl Access {
    /// Its locks, and its place among others, are for the caller to say.
    pub(crate) fn of_recorded(
        recorded: &RecordedAccess,
        lived: &LivedBytes,
        process: &mut Process<'_>,
        code: &mut CodeTables,
    ) -> Access {
        Access {
            process: process.number,
            thread: recorded.thread.0,
            touch: touch_of(recorded.kind),
            atomic: recorded.flags.is_atomic(),
            library: recorded.flags.is_library(),
            site: code.site(process, recorded.site),
            stack: code.stack(process, recorded.context),
            lock_set: 0,
            index: 0,
            memory: code.memory_of(process, lived),
            length: lived.bytes.end - lived.bytes.start,
            whole_length: recorded.length,
        }
    }
}

pub(crate) fn touch_of(kind: PastKind) -> Touch {
    match kind {
        PastKind::Read => Touch::Read,
        PastKind::Write => Touch::Write,
        PastKind::Free => Touch::Free,
    }
}
