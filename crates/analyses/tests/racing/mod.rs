//! Random programs of a few threads, and what happens when they run: a trace that could have been, and its recording.
#![allow(dead_code, reason = "each test file uses what it needs")]

use std::collections::{BTreeSet, HashMap};

use proptest::prelude::*;
use unpick_analyses::races::RacingPairs;
use unpick_events::kind::lock_flags;
use unpick_events::{Kind, MemoryOrder, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

pub const THREADS: u16 = 3;
/// Uses of a barrier are by the first two threads, so that it is clear who belongs to a round.
const AT_BARRIER: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Deed {
    /// Bytes at an offset of the one variable that all share; plain if there is no order.
    Access {
        kind: AccessKind,
        offset: u64,
        length: u64,
        order: Option<MemoryOrder>,
    },
    Lock {
        lock: u8,
        shared: bool,
    },
    Unlock {
        lock: u8,
        shared: bool,
    },
    Post,
    Wait,
    Before,
    After,
    Done,
    Arrive,
    Leave,
    Fence(MemoryOrder),
    Create(u16),
    Join(u16),
    Gone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AccessKind {
    Read,
    Write,
    Update,
}

/// What happened, in order.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    pub thread: u16,
    pub site: u32,
    pub deed: Deed,
}

impl Step {
    /// Kind, bytes and order, if it is an access.
    pub fn access(&self) -> Option<(AccessKind, std::ops::Range<u64>, Option<MemoryOrder>)> {
        match self.deed {
            Deed::Access { kind, offset, length, order } => {
                Some((kind, offset..offset + length, order))
            }
            _ => None,
        }
    }

    pub fn writes(&self) -> bool {
        self.access().is_some_and(|(kind, ..)| kind != AccessKind::Read)
    }

    pub fn is_atomic(&self) -> bool {
        self.access().is_some_and(|(_, _, order)| order.is_some())
    }
}

fn order() -> impl Strategy<Value = MemoryOrder> {
    use MemoryOrder::*;
    prop::sample::select(vec![Relaxed, Acquire, Release, AcquireRelease, SequentiallyConsistent])
}

fn access_kind() -> impl Strategy<Value = AccessKind> {
    prop::sample::select(vec![AccessKind::Read, AccessKind::Write])
}

fn deed() -> impl Strategy<Value = Deed> {
    let plain = (access_kind(), 0..3_u64, prop::sample::select(vec![1, 2, 4_u64])).prop_map(
        |(kind, word, length)| Deed::Access { kind, offset: 4 * word, length, order: None },
    );
    let kinds = vec![AccessKind::Read, AccessKind::Write, AccessKind::Update];
    let atomic =
        (prop::sample::select(kinds), 2..4_u64, order()).prop_map(|(kind, word, order)| {
            Deed::Access { kind, offset: 4 * word, length: 4, order: Some(order) }
        });
    let lock = (0..2_u8, any::<bool>());
    prop_oneof![
        8 => plain,
        6 => atomic,
        4 => lock.clone().prop_map(|(lock, shared)| Deed::Lock { lock, shared: shared && lock == 1 }),
        4 => lock.prop_map(|(lock, _)| Deed::Unlock { lock, shared: false }),
        1 => prop::sample::select(vec![Deed::Post, Deed::Wait, Deed::Before, Deed::After, Deed::Done]),
        1 => Just(Deed::Arrive),
        2 => order().prop_map(Deed::Fence),
        1 => (2..=THREADS).prop_map(Deed::Create),
        1 => (2..=THREADS).prop_map(Deed::Join),
        1 => Just(Deed::Gone),
    ]
}

/// A trace of random programs, scheduled at random.
pub fn traces() -> impl Strategy<Value = Vec<Step>> {
    let program = || prop::collection::vec(deed(), 4..20);
    let programs = prop::collection::vec(program(), usize::from(THREADS));
    (programs, prop::collection::vec(1..=THREADS, 60)).prop_map(|(mut programs, schedule)| {
        // Without this most programs would have one thread.
        programs[0].insert(1, Deed::Create(2));
        programs[0].insert(3, Deed::Create(3));
        Machine::new(programs).run(&schedule)
    })
}

/// The bytes that threads of `hand_overs` access without a lock.
const DATA: u64 = 12;

/// A critical section with accesses to what others access in theirs, or an access to data.
fn section_or_data() -> impl Strategy<Value = Vec<Deed>> {
    let access = |kind, word: u64| Deed::Access { kind, offset: 4 * word, length: 4, order: None };
    let inside = prop::collection::vec((access_kind(), 0..2_u64), 0..3);
    let section = (0..2_u8, any::<bool>(), inside).prop_map(move |(lock, shared, inside)| {
        let lock_it = Deed::Lock { lock, shared: shared && lock == 1 };
        let inside = inside.into_iter().map(|(kind, word)| access(kind, word));
        let unlock = Deed::Unlock { lock, shared: false };
        std::iter::once(lock_it).chain(inside).chain([unlock]).collect()
    });
    let data = access_kind().prop_map(move |kind| vec![access(kind, DATA / 4)]);
    prop_oneof![2 => section, 3 => data]
}

/// A trace of threads that hand something over under locks, or do not, and access data in between, at two places in the code of each.
pub fn hand_overs() -> impl Strategy<Value = Vec<Step>> {
    let program = || prop::collection::vec(section_or_data(), 4..12);
    let programs = prop::collection::vec(program(), usize::from(THREADS));
    (programs, prop::collection::vec(1..=THREADS, 90)).prop_map(|(programs, schedule)| {
        let mut programs: Vec<Vec<Deed>> =
            programs.into_iter().map(|program| program.concat()).collect();
        programs[0].splice(..0, [Deed::Create(2), Deed::Create(3)]);
        let mut steps = Machine::new(programs).run(&schedule);
        for step in steps.iter_mut().filter(|step| is_to_data(step)) {
            step.site = u32::from(step.thread) * 1000 + 500 + step.site % 2;
        }
        steps
    })
}

fn is_to_data(step: &Step) -> bool {
    matches!(step.deed, Deed::Access { offset: DATA, .. })
}

/// Runs programs; who cannot go on is passed over.
struct Machine {
    programs: Vec<Vec<Deed>>,
    next: Vec<usize>,
    created: Vec<bool>,
    /// By lock: who holds it alone, and who shares it.
    owners: [Option<u16>; 2],
    sharers: [Vec<u16>; 2],
    count: u32,
    arrived: Vec<u16>,
    /// Threads that may leave the barrier.
    let_go: Vec<u16>,
    steps: Vec<Step>,
}

impl Machine {
    fn new(programs: Vec<Vec<Deed>>) -> Machine {
        let threads = programs.len();
        let mut created = vec![false; threads];
        created[0] = true;
        Machine {
            programs,
            next: vec![0; threads],
            created,
            owners: [None; 2],
            sharers: Default::default(),
            count: 0,
            arrived: Vec::new(),
            let_go: Vec::new(),
            steps: Vec::new(),
        }
    }

    fn run(mut self, schedule: &[u16]) -> Vec<Step> {
        for &thread in schedule {
            self.step(thread);
        }
        self.steps
    }

    fn step(&mut self, thread: u16) {
        let at = usize::from(thread) - 1;
        if !self.created[at] {
            return;
        }
        if let Some(place) = self.let_go.iter().position(|waiting| *waiting == thread) {
            self.let_go.remove(place);
            return self.happen(thread, Deed::Leave);
        }
        let waits = self.arrived.contains(&thread);
        let Some(&deed) = self.programs[at].get(self.next[at]).filter(|_| !waits) else { return };
        match self.possible(thread, deed) {
            Possible::Now(deed) => {
                self.next[at] += 1;
                self.happen(thread, deed);
            }
            Possible::Later => {}
            Possible::Never => self.next[at] += 1,
        }
    }

    fn possible(&mut self, thread: u16, deed: Deed) -> Possible {
        let now = Possible::Now(deed);
        match deed {
            Deed::Lock { lock, shared } => self.lock(thread, usize::from(lock), shared, now),
            Deed::Unlock { lock, .. } => self.unlock(thread, lock),
            Deed::Post => {
                self.count += 1;
                now
            }
            Deed::Wait if self.count == 0 => Possible::Later,
            Deed::Wait => {
                self.count -= 1;
                now
            }
            Deed::Create(other)
                if std::mem::replace(&mut self.created[usize::from(other) - 1], true) =>
            {
                Possible::Never
            }
            Deed::Join(other) if other == thread => Possible::Never,
            Deed::Join(other) => {
                let at = usize::from(other) - 1;
                let is_inside = self.arrived.contains(&other) || self.let_go.contains(&other);
                let has_ended =
                    self.created[at] && self.next[at] == self.programs[at].len() && !is_inside;
                if has_ended { now } else { Possible::Later }
            }
            Deed::Arrive if usize::from(thread) > AT_BARRIER => Possible::Never,
            _ => now,
        }
    }

    fn lock(&mut self, thread: u16, lock: usize, shared: bool, now: Possible) -> Possible {
        let is_mine = self.owners[lock] == Some(thread) || self.sharers[lock].contains(&thread);
        match () {
            () if is_mine => Possible::Never,
            () if self.owners[lock].is_some() => Possible::Later,
            () if shared => {
                self.sharers[lock].push(thread);
                now
            }
            () if !self.sharers[lock].is_empty() => Possible::Later,
            () => {
                self.owners[lock] = Some(thread);
                now
            }
        }
    }

    fn unlock(&mut self, thread: u16, lock: u8) -> Possible {
        let at = usize::from(lock);
        if self.owners[at] == Some(thread) {
            self.owners[at] = None;
            return Possible::Now(Deed::Unlock { lock, shared: false });
        }
        match self.sharers[at].iter().position(|sharer| *sharer == thread) {
            Some(place) => {
                self.sharers[at].remove(place);
                Possible::Now(Deed::Unlock { lock, shared: true })
            }
            None => Possible::Never,
        }
    }

    fn happen(&mut self, thread: u16, deed: Deed) {
        let site = u32::from(thread) * 1000 + self.steps.len() as u32;
        self.steps.push(Step { thread, site, deed });
        if deed == Deed::Arrive {
            self.arrived.push(thread);
            if self.arrived.len() == AT_BARRIER {
                self.let_go.append(&mut self.arrived);
            }
        }
    }
}

enum Possible {
    Now(Deed),
    Later,
    Never,
}

pub const VARIABLE: u64 = 0x10_0000;
pub const VARIABLE_BYTES: u64 = 16;
const LOCKS: u64 = 0x20_0000;
const OBJECTS: u64 = 0x30_0000;

fn draft(deed: Deed) -> Draft {
    let object = |kind, number: u64| Draft::new(kind).object(OBJECTS + 0x100 * number);
    let lock = |kind, lock: u8, shared: bool| {
        let flags = if lock == 1 { lock_flags::IS_RWLOCK } else { lock_flags::IS_MUTEX };
        let flags = if shared { flags | lock_flags::SHARED } else { flags };
        Draft::new(kind).object(LOCKS + 0x100 * u64::from(lock)).flags(flags)
    };
    match deed {
        Deed::Access { kind, offset, length, order } => {
            let kind = match kind {
                AccessKind::Read => Kind::Read,
                AccessKind::Write => Kind::Write,
                AccessKind::Update => Kind::ReadWrite,
            };
            let flags = order.map_or(0, |order| order as u16);
            Draft::access(kind, VARIABLE + offset, length).flags(flags)
        }
        Deed::Lock { lock: which, shared } => lock(Kind::Acquire, which, shared),
        Deed::Unlock { lock: which, shared } => lock(Kind::Release, which, shared),
        Deed::Post => object(Kind::SemaphorePost, 0),
        Deed::Wait => object(Kind::SemaphoreWait, 0),
        Deed::Before => object(Kind::HappensBefore, 1),
        Deed::After => object(Kind::HappensAfter, 1),
        Deed::Done => object(Kind::OnceDone, 2),
        Deed::Arrive => object(Kind::BarrierArrive, 3),
        Deed::Leave => object(Kind::BarrierLeave, 3),
        Deed::Fence(order) => Draft::new(Kind::Fence).flags(order as u16),
        Deed::Create(other) => Draft::new(Kind::ThreadCreate).object(other.into()),
        Deed::Join(other) => Draft::new(Kind::ThreadJoin).object(other.into()),
        Deed::Gone => Draft::new(Kind::StackGone).object(VARIABLE).word(VARIABLE_BYTES),
    }
}

/// All that threads do is in one function.
const FUNCTION: u32 = 1;

pub fn record(steps: &[Step]) -> Recording {
    let mut writer = Writer::new();
    let stack = Draft::new(Kind::Stack).context(FUNCTION).call_sites(&[1]);
    writer.write(ThreadId(1), stack.unstamped());
    for step in steps {
        let draft = draft(step.deed).site(step.site).context(FUNCTION);
        writer.write(ThreadId(step.thread), draft);
    }
    Recording::from_bytes(&writer.to_bytes(), "trace").unwrap()
}

/// How many accesses of each byte's present life came before each step: lives end where the memory is gone.
pub fn life_at(steps: &[Step]) -> Vec<usize> {
    let mut life = 0;
    steps
        .iter()
        .map(|step| {
            life += usize::from(step.deed == Deed::Gone);
            life
        })
        .collect()
}

/// For each step, the steps that come before it by the order of its thread.
pub fn of_same_thread(steps: &[Step]) -> HashMap<u16, Vec<usize>> {
    let mut threads: HashMap<u16, Vec<usize>> = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        threads.entry(step.thread).or_default().push(at);
    }
    threads
}

/// Two places of code, the lower number first.
pub type SitePair = [u32; 2];

/// What a detector finds in the recording of such a trace.
pub fn site_pairs(
    steps: &[Step],
    detector: impl Fn(&Recording) -> RacingPairs,
) -> BTreeSet<SitePair> {
    let pairs = detector(&record(steps)).into_pairs();
    pairs.iter().map(|pair| sorted([pair.first.site.0, pair.second.site.0])).collect()
}

pub fn sorted(mut sites: SitePair) -> SitePair {
    sites.sort_unstable();
    sites
}
