//! What code touches which memory, as a recording observed it: for whoever knows the sources and misses types.
//!
//! Takes   one recording, best a full one.
//! Gives   each kind of access once: by its site, the calls that led there, the place in its object, and whether it reads or writes.
//! Misses  memory that no two threads touched, and what the run did not execute.
//! Cost    one walk over the events.

use rustc_hash::FxHashMap;
use unpick_events::{Context, Site};
use unpick_recording::{AccessKind, Action, Event, Recording};

use crate::access_pairs::LivedBytes;
use crate::code_tables::{CodeTables, LockTables, Process, Table};
use crate::interleaving_patterns::{Access, touch_of};
use crate::knowledge::Knowledge;
use crate::races::{Lives, RaceAccess, code_of, stretches};
use crate::ranking::{CodeBook, ExampleAccess, accesses_of};

/// Places in objects that are kept of a site as it is reached one way: beyond, they are elements of one array.
const MOST_PLACES: u32 = 64;

/// What was observed in a recording.
#[derive(Debug, Default)]
pub struct Observed {
    pub code: CodeBook,
    /// Their indices are the numbers of the heap blocks they are to; 0: none.
    pub accesses: Vec<ExampleAccess>,
}

/// All accesses of a recording but those that locks consist of.
pub fn observe(recording: &Recording, knowledge: &dyn Knowledge) -> Observed {
    let mut observer = Observer {
        process: Process::new(recording, knowledge, 0),
        lives: Lives::default(),
        code: CodeTables::new(),
        accesses: Table::new([]),
        objects: Table::new([(0, 0)]),
        places: FxHashMap::default(),
    };
    recording.events().for_each(|event| observer.take_in(&event));
    let run = code_of(observer.code, LockTables::new(), observer.accesses, 1);
    let mut code = CodeBook::default();
    let accesses = accesses_of(&run, &mut code);
    Observed { code, accesses }
}

struct Observer<'r> {
    process: Process<'r>,
    lives: Lives,
    code: CodeTables,
    accesses: Table<Access>,
    /// Heap blocks by address and serial number; the first is none.
    objects: Table<(u64, u32)>,
    places: FxHashMap<(Site, Context), u32>,
}

impl Observer<'_> {
    fn take_in(&mut self, event: &Event<'_>) {
        self.lives.ended_by(event);
        let Action::Access { kind, flags, pasts, .. } = event.action else { return };
        for past in pasts.iter() {
            self.access(event, &RaceAccess::of_past(&past));
        }
        if flags.is_free() {
            return;
        }
        if kind == AccessKind::ReadWrite {
            self.access(event, &RaceAccess::of_event(event, AccessKind::Read, flags));
        }
        self.access(event, &RaceAccess::of_event(event, kind, flags));
    }

    fn access(&mut self, event: &Event<'_>, access: &RaceAccess) {
        let places = self.places.entry((access.site, access.context)).or_default();
        if *places >= MOST_PLACES || self.process.knowledge.is_lock_code(access.site) {
            return;
        }
        let Some((address, length)) = stretches(event).next() else { return };
        let bytes = address..address.saturating_add(length);
        let block = self.lives.block_at(address);
        let object = block.map_or(0, |one| self.objects.number_of((one.address.0, one.serial)));
        let lived = LivedBytes { bytes, block };
        let before = self.accesses.things.len();
        // Threads, locks and times are left out: they would make one kind of access many.
        self.accesses.number_of(Access {
            process: 0,
            thread: 0,
            touch: touch_of(access.kind()),
            atomic: access.is_atomic(),
            library: access.is_library(),
            site: self.code.site(&mut self.process, access.site),
            stack: self.code.stack(&mut self.process, access.context),
            lock_set: 0,
            index: object,
            memory: self.code.memory_of(&mut self.process, &lived),
            length,
            whole_length: 0,
        });
        *places += u32::from(self.accesses.things.len() > before);
    }
}
