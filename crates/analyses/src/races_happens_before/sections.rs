//! Critical sections: who had which lock from when to when, and what was known at the end.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use unpick_events::{Address, ThreadId};

use super::clocks::VectorClock;

/// Of each lock and thread so many sections are remembered for those that begin later.
const MOST_REMEMBERED: usize = 32;
/// So many sections of a thread, counted back, can an access from before bytes were shared be in.
const DEEPEST: usize = 16;

/// The number of a critical section in its recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SectionNumber(u32);

#[derive(Debug)]
struct Section {
    lock: Address,
    thread: ThreadId,
    shared: bool,
    /// The events by which it began and ended.
    first: u64,
    last: Option<u64>,
    /// In which period of its thread it began.
    began: u32,
    /// What its thread knew at its end; nothing before that.
    given: VectorClock,
}

/// A section that its thread is in.
#[derive(Debug, Clone, Copy)]
pub struct OpenSection {
    pub number: SectionNumber,
    pub lock: Address,
    pub shared: bool,
}

#[derive(Debug, Default)]
pub struct Sections {
    all: Vec<Section>,
    /// In which period of its thread each ended; 0: it has not. Asked for at every access, so apart from the rest.
    ends: Vec<u32>,
    /// By number.
    threads: Vec<OfThread>,
    /// The latest that ended, by lock.
    ended: FxHashMap<Address, Vec<EndedOf>>,
}

#[derive(Debug, Default)]
struct OfThread {
    open: Vec<OpenSection>,
    /// In the order in which they began.
    all: Vec<SectionNumber>,
}

/// The latest sections of a lock by one thread.
#[derive(Debug)]
struct EndedOf {
    thread: ThreadId,
    sections: VecDeque<Ended>,
}

#[derive(Debug, Clone, Copy)]
struct Ended {
    number: SectionNumber,
    shared: bool,
    /// In which periods of its thread.
    began: u32,
    ended: u32,
}

impl EndedOf {
    fn push(&mut self, ended: Ended) {
        if self.sections.len() == MOST_REMEMBERED {
            self.sections.pop_front();
        }
        self.sections.push_back(ended);
    }

    /// The latest section with news for who knows its thread up to this period, and comes after its beginning.
    fn with_news(&self, shared: bool, known: u32) -> Option<SectionNumber> {
        if self.sections.back()?.ended <= known {
            return None;
        }
        let mut latest_first = self.sections.iter().rev();
        let latest = latest_first.find(|one| one.began <= known && !(shared && one.shared))?;
        (latest.ended > known).then_some(latest.number)
    }
}

impl Sections {
    pub fn begin(&mut self, thread: ThreadId, lock: Address, shared: bool, first: u64, began: u32) {
        let number = SectionNumber(self.all.len() as u32);
        let given = VectorClock::default();
        self.all.push(Section { lock, thread, shared, first, last: None, began, given });
        self.ends.push(0);
        let of_thread = self.of_thread(thread);
        of_thread.open.push(OpenSection { number, lock, shared });
        of_thread.all.push(number);
    }

    /// A thread gives a lock back, and knows this of others.
    pub fn end(&mut self, thread: ThreadId, lock: Address, last: u64, knows: VectorClock) {
        let open = &mut self.of_thread(thread).open;
        let Some(at) = open.iter().rposition(|one| one.lock == lock) else { return };
        let OpenSection { number, shared, .. } = open.remove(at);
        let section = &mut self.all[number.0 as usize];
        let (began, ended) = (section.began, knows.of(thread));
        (section.last, section.given) = (Some(last), knows);
        self.ends[number.0 as usize] = ended;
        let of_lock = self.ended.entry(lock).or_default();
        let ended = Ended { number, shared, began, ended };
        match of_lock.iter_mut().find(|one| one.thread == thread) {
            Some(of_thread) => of_thread.push(ended),
            None => of_lock.push(EndedOf { thread, sections: VecDeque::from([ended]) }),
        }
    }

    fn of_thread(&mut self, thread: ThreadId) -> &mut OfThread {
        let number = usize::from(thread.0);
        if self.threads.len() <= number {
            self.threads.resize_with(number + 1, OfThread::default);
        }
        &mut self.threads[number]
    }

    /// Those that a thread is in.
    pub fn open(&self, thread: ThreadId) -> &[OpenSection] {
        self.threads.get(usize::from(thread.0)).map_or(&[], |of_thread| &of_thread.open)
    }

    pub fn lock_of(&self, number: SectionNumber) -> Address {
        self.all[number.0 as usize].lock
    }

    pub fn thread_of(&self, number: SectionNumber) -> ThreadId {
        self.all[number.0 as usize].thread
    }

    /// Whether others may read at the same time.
    pub fn is_shared(&self, number: SectionNumber) -> bool {
        self.all[number.0 as usize].shared
    }

    pub fn has_ended(&self, number: SectionNumber) -> bool {
        self.ends[number.0 as usize] > 0
    }

    /// Whether somebody with this knowledge learns something by coming after a section of a thread, which must have ended: who knows the thread up to
    /// there knows all that it knew then.
    pub fn has_news(&self, number: SectionNumber, of: ThreadId, knows: &VectorClock) -> bool {
        self.ends[number.0 as usize] > knows.of(of)
    }

    /// What was known at the end of a section.
    pub fn take_given(&mut self, number: SectionNumber) -> VectorClock {
        std::mem::take(&mut self.all[number.0 as usize].given)
    }

    pub fn put_back(&mut self, number: SectionNumber, given: VectorClock) {
        self.all[number.0 as usize].given = given;
    }

    /// Of each other thread the latest section of a lock whose beginning a thread with this knowledge comes after, if its end is news. Readers do not
    /// keep each other out.
    pub fn that_began_before(
        &self,
        thread: ThreadId,
        lock: Address,
        shared: bool,
        knows: &VectorClock,
    ) -> Vec<SectionNumber> {
        let of_others = self.ended.get(&lock).into_iter().flatten();
        let of_others = of_others.filter(|of| of.thread != thread);
        of_others.filter_map(|of| of.with_news(shared, knows.of(of.thread))).collect()
    }

    /// The section of a lock in which a thread was just before an event.
    pub fn of_moment(
        &self,
        thread: ThreadId,
        lock: Address,
        ordinal: u64,
    ) -> Option<SectionNumber> {
        let all = &self.threads.get(usize::from(thread.0))?.all;
        let section = |number: &SectionNumber| &self.all[number.0 as usize];
        let begun = all.partition_point(|number| section(number).first < ordinal);
        let nearest = all[..begun].iter().rev().take(DEEPEST);
        let mut around = nearest.filter(|number| {
            let Section { lock: its, last, .. } = section(number);
            *its == lock && last.is_some_and(|last| ordinal <= last)
        });
        around.next().copied()
    }
}
