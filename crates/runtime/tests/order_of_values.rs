//! The order recorded for a location agrees with the values the program read there.
//!
//! In the history of a location, the last write before a read is the one whose value was read, for each read that is
//! recorded, whether it had an event or is the past of one. A read of a value that another thread wrote is recorded, and
//! so is that write. In a full recording every operation on shared bytes is there, exactly once.

mod script;
mod support;

use std::collections::{BTreeSet, HashMap};

use script::{Done, Log, SLOTS, Script, operations_of_sites, write_source};
use support::Program;
use unpick_recording::events::Site;
use unpick_recording::{Access, Histories, Recording};

const IS_READ: bool = false;
const IS_WRITE: bool = true;

struct Checked<'a> {
    script: &'a Script,
    log: &'a Log,
    operations: HashMap<Site, usize>,
    is_full: bool,
}

impl Checked<'_> {
    fn done(&self, round: usize, operation: usize) -> Done {
        self.log.done[round][operation]
    }

    /// Walks the history of one slot in one round.
    fn walk(&self, round: usize, slot: usize, accesses: &[Access]) {
        let mut recorded = BTreeSet::new();
        let mut present = None;
        for access in accesses {
            let operation = self.operations.get(&access.site);
            let operation =
                *operation.unwrap_or_else(|| panic!("an access out of nowhere: {access:?}"));
            assert_eq!(self.script.operations[operation].slot, slot, "{access:?}");
            let done = self.done(round, operation);
            let is_write = access.is_write();
            if is_write {
                assert!(
                    done.left.is_some(),
                    "round {round}: operation {operation} wrote nothing: {access:?}"
                );
                present = done.left;
            } else if self.is_full || !access.flags.is_repeated() {
                // Between two steps of what may be a lock, a thread's own writes are silent.
                assert_eq!(
                    done.found,
                    present,
                    "round {round}, operation {operation}\n{}",
                    self.shown(round, accesses)
                );
            }
            let is_new = recorded.insert((operation, is_write));
            assert!(
                is_new,
                "round {round}: operation {operation} twice\n{}",
                self.shown(round, accesses)
            );
        }
        self.check_nothing_is_missing(round, slot, &recorded, accesses);
    }

    fn check_nothing_is_missing(
        &self,
        round: usize,
        slot: usize,
        recorded: &BTreeSet<(usize, bool)>,
        accesses: &[Access],
    ) {
        for expected in self.expected(round, slot) {
            assert!(
                recorded.contains(&expected),
                "round {round}: {expected:?} is missing\n{}",
                self.shown(round, accesses)
            );
        }
    }

    /// What must be recorded: everything in a full recording, else reads of what another thread wrote, and those writes.
    fn expected(&self, round: usize, slot: usize) -> Vec<(usize, bool)> {
        let of_slot: Vec<usize> = (0..self.script.operations.len())
            .filter(|operation| self.script.operations[*operation].slot == slot)
            .collect();
        let writers: HashMap<u64, usize> = of_slot
            .iter()
            .filter_map(|operation| Some((self.done(round, *operation).left?, *operation)))
            .collect();
        let thread = |operation: usize| self.script.operations[operation].thread;
        let mut first_reads = BTreeSet::new();
        let mut expected = Vec::new();
        for operation in of_slot {
            let done = self.done(round, operation);
            if self.is_full {
                expected.extend(done.found.map(|_| (operation, IS_READ)));
                expected.extend(done.left.map(|_| (operation, IS_WRITE)));
            } else if let Some(value) = done.found {
                let writer = writers[&value];
                if thread(writer) != thread(operation)
                    && first_reads.insert((thread(operation), value))
                {
                    expected.push((operation, IS_READ));
                    expected.push((writer, IS_WRITE));
                }
            }
        }
        expected
    }

    fn shown(&self, round: usize, accesses: &[Access]) -> String {
        let line = |access: &Access| {
            let operation = self.operations.get(&access.site).copied();
            let text = operation.map(|operation| {
                (&self.script.operations[operation].text, self.done(round, operation))
            });
            format!(
                "{} {:?} {:?} {operation:?} {text:?}\n",
                access.thread.0, access.kind, access.order
            )
        };
        accesses.iter().map(line).collect()
    }
}

fn sites_of(histories: &Histories) -> Vec<Site> {
    let lives = histories.locations().flat_map(|location| location.lives);
    let sites: BTreeSet<Site> =
        lives.flat_map(|life| life.accesses).map(|access| access.site).collect();
    sites.into_iter().collect()
}

fn check_recording(script: &Script, log: &Log, recording: &Recording, is_full: bool) {
    assert_eq!(recording.incompleteness(), [""; 0]);
    let end = log.memory + log.bytes_per_round * script.rounds as u64;
    let histories = Histories::within(recording, log.memory..end);
    let operations = operations_of_sites(recording, &sites_of(&histories));
    let checked = Checked { script, log, operations, is_full };
    let locations: Vec<_> = histories.locations().collect();
    for round in 0..script.rounds {
        for (slot, about) in SLOTS.iter().enumerate() {
            let start = log.address(round, slot);
            let bytes = start..start + u64::from(about.bits / 8);
            let mut at = start;
            let first = locations.partition_point(|location| location.bytes.end <= start);
            for location in
                locations[first..].iter().take_while(|location| location.bytes.start < bytes.end)
            {
                // The bytes of a slot may be told one by one, but not together with a neighbour's.
                assert!(
                    location.bytes.start == at && location.bytes.end <= bytes.end,
                    "{}",
                    about.name
                );
                assert_eq!(location.lives.len(), 1);
                checked.walk(round, slot, &location.lives[0].accesses);
                at = location.bytes.end;
            }
            assert_eq!(at, bytes.end, "{} is known", about.name);
        }
    }
}

/// Builds one random program and checks it under each of `options`.
fn check(
    compiler: &str,
    optimisation: &str,
    seed: u64,
    threads: u32,
    rounds: usize,
    options: &[&str],
) {
    let script = Script::random(seed, threads, rounds);
    let folder = tempfile::tempdir().expect("a folder");
    let source = write_source(folder.path(), &script);
    let program = Program::build_using(
        compiler,
        &source,
        &[&[optimisation], support::needed_by(compiler)].concat(),
    );
    for options in options {
        let run = program.record(&[], options);
        let log = Log::read(&script, &run.output);
        check_recording(&script, &log, &run.recording(), options.contains("full"));
    }
}

const DELAYED: &str = "seed=1 access=20000 sync=20000 start=500000 shortest=0 longest=30000";
const DELAYED_OTHERWISE: &str = "seed=2 access=100000 shortest=0 longest=0";

#[test]
fn the_last_write_before_each_recorded_read_is_the_one_whose_value_it_returned() {
    for (seed, threads) in [(1, 2), (2, 3), (3, 4)] {
        check("gcc", "-O1", seed, threads, 150, &["", DELAYED, DELAYED_OTHERWISE]);
    }
}

#[test]
fn so_it_is_with_clang_and_without_optimisation() {
    if !support::is_installed("clang") {
        return;
    }
    check("clang", "-O2", 4, 3, 150, &["", DELAYED_OTHERWISE]);
    check("gcc", "-O0", 5, 2, 150, &["", DELAYED_OTHERWISE]);
}

#[test]
fn a_full_recording_has_every_operation_once_and_in_the_order_of_the_values() {
    check("gcc", "-O1", 6, 3, 150, &["full", "full seed=3 access=20000 longest=20000"]);
    if support::is_installed("clang") {
        check("clang", "-O1", 7, 2, 150, &["full"]);
    }
}
