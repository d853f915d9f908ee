//! Locks held at accesses, and what an example keeps of its surroundings.

use unpick_analyses::interleaving_patterns::{Memory, Touch};
use unpick_analyses::locks_held::{LockChange, Moment, locks_held, recorded_change};
use unpick_analyses::{Collector, Knowledge, Options, RunPatterns, State};
use unpick_events::kind::{access_flags, lock_flags};
use unpick_events::{Address, Kind, Past, Site, ThreadId, access::PastKind};
use unpick_recording::writer::{Draft, Writer};
use unpick_recording::{Event, Recording};

const LOCK_A: u64 = 0x5000;
const LOCK_B: u64 = 0x6000;
const X: u64 = 0x40_1010;

fn write(writer: &mut Writer, thread: u16, draft: Draft) {
    writer.write(ThreadId(thread), draft);
}

fn lock(kind: Kind, lock: u64) -> Draft {
    Draft::new(kind).object(lock).site(0x77)
}

fn opened(writer: &Writer) -> Recording {
    Recording::from_bytes(&writer.to_bytes(), "locks").unwrap()
}

fn held_before(recording: &Recording, ordinals: &[u64]) -> Vec<Vec<u64>> {
    let moments: Vec<Moment> =
        ordinals.iter().map(|&ordinal| Moment { thread: ThreadId(1), ordinal }).collect();
    let held = locks_held(recording, recording, &moments);
    held.into_iter().map(|locks| locks.iter().map(|held| held.lock.0).collect()).collect()
}

#[test]
fn locks_are_held_from_acquire_to_release() {
    let mut writer = Writer::new();
    write(&mut writer, 1, lock(Kind::Acquire, LOCK_A));
    write(&mut writer, 1, lock(Kind::Acquire, LOCK_B));
    write(&mut writer, 2, lock(Kind::Release, LOCK_B));
    write(&mut writer, 1, lock(Kind::Release, LOCK_A));
    write(&mut writer, 1, lock(Kind::Release, LOCK_B));
    let held = held_before(&opened(&writer), &[0, 1, 2, 3, 4, 9]);
    let none = Vec::new();
    assert_eq!(
        held,
        [none.clone(), vec![LOCK_A], vec![LOCK_A, LOCK_B], vec![LOCK_B], none.clone(), none]
    );
}

#[test]
fn a_recursive_lock_is_held_until_its_last_release() {
    let mut writer = Writer::new();
    for kind in [Kind::Acquire, Kind::Acquire, Kind::Release, Kind::Release] {
        write(&mut writer, 1, lock(kind, LOCK_A).flags(lock_flags::RECURSIVE));
    }
    let held = held_before(&opened(&writer), &[2, 3, 4]);
    assert_eq!(held, [vec![LOCK_A, LOCK_A], vec![LOCK_A], vec![]]);
}

/// Knows two sites at which a lock is upgraded and downgraded.
struct Knowing<'r>(&'r Recording);

const UPGRADE: u32 = 0x88;
const DOWNGRADE: u32 = 0x99;

impl Knowledge for Knowing<'_> {
    fn return_address(&self, site: Site) -> Option<u64> {
        self.0.return_address(site)
    }

    fn lock_change(&self, event: &Event<'_>) -> Option<LockChange> {
        let lock = Address(LOCK_A);
        match event.site {
            Site(UPGRADE) => Some(LockChange::Upgraded { lock }),
            Site(DOWNGRADE) => Some(LockChange::Downgraded { lock }),
            _ => recorded_change(&event.action),
        }
    }
}

#[test]
fn a_lock_that_is_upgraded_is_shared_no_longer_and_held_once() {
    let mut writer = Writer::new();
    write(&mut writer, 1, lock(Kind::Acquire, LOCK_A).flags(lock_flags::SHARED));
    for site in [UPGRADE, DOWNGRADE] {
        write(&mut writer, 1, Draft::access(Kind::Write, X, 8).site(site));
    }
    write(&mut writer, 1, lock(Kind::Release, LOCK_A));
    let recording = opened(&writer);
    let moments: Vec<Moment> =
        (1..=4).map(|ordinal| Moment { thread: ThreadId(1), ordinal }).collect();
    let held = locks_held(&recording, &Knowing(&recording), &moments);
    let shared: Vec<Vec<bool>> =
        held.iter().map(|locks| locks.iter().map(|held| held.shared).collect()).collect();
    assert_eq!(shared, [vec![true], vec![false], vec![true], vec![]]);
}

fn module(build_id: &str) -> Draft {
    Draft::new(Kind::Module)
        .object(0x40_0000)
        .word(0x40_0000)
        .word(0x2000)
        .text(build_id)
        .text("/bin/bank")
}

fn collected(recording: &Recording) -> RunPatterns {
    let mut collector = Collector::new(Options::default());
    collector.add(recording, recording);
    collector.finish()
}

#[test]
fn an_example_knows_locks_stacks_threads_and_bytes() {
    let mut writer = Writer::new();
    write(&mut writer, 1, module("abc"));
    write(&mut writer, 1, Draft::new(Kind::Stack).context(9).call_sites(&[0x40_0100, 0x40_0200]));
    write(&mut writer, 1, lock(Kind::Acquire, LOCK_A));
    write(&mut writer, 1, Draft::access(Kind::Write, X, 4).site(0x40_0300).context(9));
    write(&mut writer, 1, lock(Kind::Release, LOCK_A));
    write(&mut writer, 2, Draft::access(Kind::Read, X, 4).site(0x40_0400).flags(3));
    let run = collected(&opened(&writer));
    let [found] = run.patterns[..] else { panic!("{:?}", run.patterns) };
    let [first, second] = run.example(&found).copied().collect::<Vec<_>>()[..] else { panic!() };
    assert_eq!((first.thread, first.touch, first.length), (1, Touch::Write, 4));
    assert_eq!(first.memory, Memory::Static { module: 0, offset: 0x1010 });
    assert_eq!(run.modules[0].build_id, "abc");
    assert_eq!(run.sites[first.site as usize].offset, 0x300);
    let stack =
        run.stacks[first.stack as usize].iter().map(|&site| run.sites[site as usize].offset);
    assert_eq!(stack.collect::<Vec<_>>(), [0x100, 0x200]);
    let locks = &run.lock_sets[first.lock_set as usize];
    assert_eq!(locks.len(), 1);
    assert_eq!(run.locks[locks[0].lock as usize].memory, Memory::Other { address: LOCK_A });
    assert_eq!(run.locks[locks[0].lock as usize].kind, "mutex");
    assert!(run.lock_sets[second.lock_set as usize].is_empty());
    assert!(second.atomic && !first.atomic);
    assert!(first.index < second.index);
}

#[test]
fn heap_memory_is_known_by_its_allocation() {
    let mut writer = Writer::new();
    write(&mut writer, 1, module("abc"));
    let allocated_by = 1 | 7 << 32;
    write(
        &mut writer,
        1,
        Draft::new(Kind::Block).object(0x9000).site(0x40_0500).word(64).word(allocated_by),
    );
    let past =
        Past { kind: PastKind::Write, thread: ThreadId(1), site: Site(0x40_0300), ordinal: 2 };
    write(&mut writer, 2, Draft::access(Kind::Read, 0x9008, 8).site(0x40_0400).past(past));
    let free = Draft::access(Kind::Write, 0x9000, 64).site(0x40_0600).flags(access_flags::FREE);
    write(&mut writer, 1, free);
    let run = collected(&opened(&writer));
    let freed = run.accesses.iter().find(|access| access.touch == Touch::Free).unwrap();
    let Memory::Heap { block, offset } = freed.memory else { panic!("{freed:?}") };
    assert_eq!((offset, freed.length), (8, 8), "the bytes the accesses have in common");
    assert_eq!(run.blocks[block as usize].size, 64);
    assert_eq!(run.sites[run.blocks[block as usize].site as usize].offset, 0x500);
}

/// A lock at byte 16 of heap blocks that were allocated at these sites, one after the other at one address.
fn memory_of_lock_in_blocks(allocated_at: &[u32]) -> Memory {
    let mut writer = Writer::new();
    write(&mut writer, 1, module("abc"));
    for (&site, serial) in allocated_at.iter().zip(1..) {
        let block = Draft::new(Kind::Block).object(0x9000).site(site).word(64);
        write(&mut writer, 1, block.word(1 | serial << 32));
    }
    write(&mut writer, 1, lock(Kind::Acquire, 0x9010));
    write(&mut writer, 1, Draft::access(Kind::Write, X, 4).site(0x40_0300));
    write(&mut writer, 2, Draft::access(Kind::Read, X, 4).site(0x40_0400));
    let run = collected(&opened(&writer));
    assert_eq!(run.locks.len(), 1);
    run.locks[0].memory
}

#[test]
fn a_lock_is_in_a_heap_block_only_where_no_other_block_was() {
    let in_block = Memory::Heap { block: 0, offset: 16 };
    assert_eq!(memory_of_lock_in_blocks(&[0x40_0500]), in_block);
    assert_eq!(memory_of_lock_in_blocks(&[0x40_0500, 0x40_0500]), in_block, "blocks alike");
    let unknown = Memory::Other { address: 0x9010 };
    assert_eq!(memory_of_lock_in_blocks(&[0x40_0500, 0x40_0600]), unknown);
    assert_eq!(memory_of_lock_in_blocks(&[]), unknown);
}

/// Knows that site 0x77 is in a function of a lock.
struct OneLock<'r>(&'r Recording);

impl Knowledge for OneLock<'_> {
    fn return_address(&self, site: Site) -> Option<u64> {
        self.0.return_address(site)
    }

    fn state_of(&self, site: Site) -> State {
        if site == Site(0x77) { State::OfLibrary } else { State::OfUser }
    }
}

#[test]
fn the_word_of_a_lock_is_no_variable() {
    let mut writer = Writer::new();
    for thread in [1, 2] {
        let take = Draft::access(Kind::ReadWrite, LOCK_A, 4).site(0x77).flags(3);
        write(&mut writer, thread, take);
        write(&mut writer, thread, Draft::access(Kind::Write, X, 4).site(0x40_0300));
        // The word is looked at elsewhere too.
        write(&mut writer, thread, Draft::access(Kind::Read, LOCK_A, 4).site(0x78).flags(1));
    }
    let recording = opened(&writer);
    let mut collector = Collector::new(Options::default());
    collector.add(&recording, &OneLock(&recording));
    let run = collector.finish();
    assert!(!run.patterns.is_empty());
    assert!(run.accesses.iter().all(|access| access.memory == Memory::Other { address: X }));
    assert!(collected(&recording).patterns.len() > run.patterns.len(), "unless nobody knows");
}

#[test]
fn processes_are_counted_together_but_never_joined() {
    let process = |thread: u16| {
        let mut writer = Writer::new();
        write(&mut writer, 1, Draft::access(Kind::Write, X, 4).site(0x10));
        write(&mut writer, thread, Draft::access(Kind::Read, X, 4).site(0x20));
        opened(&writer)
    };
    let (alone, together) = (process(1), process(2));
    let mut collector = Collector::new(Options::default());
    for recording in [&alone, &alone, &together, &together] {
        collector.add(recording, recording);
    }
    let run = collector.finish();
    assert_eq!(run.patterns.len(), 1);
    assert_eq!((run.patterns[0].count, run.processes, run.pairs), (2, 4, 2));
}

#[test]
fn an_access_tells_whether_a_lock_was_given_back_since_the_one_before() {
    let mut writer = Writer::new();
    write(&mut writer, 1, lock(Kind::Acquire, LOCK_A));
    write(&mut writer, 1, lock(Kind::Acquire, LOCK_B));
    write(&mut writer, 1, lock(Kind::Release, LOCK_B));
    write(&mut writer, 1, lock(Kind::Acquire, LOCK_B));
    let recording = opened(&writer);
    let moments = [2, 4].map(|ordinal| Moment { thread: ThreadId(1), ordinal });
    let held = locks_held(&recording, &recording, &moments);
    let acquisitions: Vec<Vec<u64>> =
        held.iter().map(|locks| locks.iter().map(|lock| lock.acquisition).collect()).collect();
    assert_eq!(acquisitions, [vec![0, 1], vec![0, 3]], "A is still the same, B is not");
}
