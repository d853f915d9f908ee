//! From words to an event: every length and number is checked before it is believed.

use unpick_events::access::PAST_WORDS;
use unpick_events::header::HEADER_WORDS;
use unpick_events::{Address, Header, Kind, MemoryOrder, Past, ThreadId};

use crate::action::{AccessFlags, AccessKind, Action, CallSites, LockFlags, Pasts, Text};

/// Addresses of user space have this many bits; no range of bytes reaches beyond.
const ADDRESS_SPACE: u64 = 1 << 48;

/// The words of one event.
pub struct Framed<'r> {
    pub header: Header,
    payload: &'r [u64],
    /// What follows the event.
    pub rest: &'r [u64],
}

/// Cuts the first event off `words`; `None` where no event can begin.
pub fn frame(words: &[u64]) -> Option<Framed<'_>> {
    let header = Header::unpack(*words.first_chunk::<HEADER_WORDS>()?)?;
    let (event, rest) = words.split_at_checked(header.words)?;
    Some(Framed { header, payload: &event[HEADER_WORDS..], rest })
}

impl<'r> Framed<'r> {
    /// What the event says; `None` if its words contradict its kind.
    pub fn action(&self) -> Option<Action<'r>> {
        let header = &self.header;
        let object = header.object;
        Some(match header.kind {
            Kind::Read => self.access(AccessKind::Read)?,
            Kind::Write => self.access(AccessKind::Write)?,
            Kind::ReadWrite => self.access(AccessKind::ReadWrite)?,
            Kind::ThreadStart => {
                Action::ThreadStart { creator: thread(object)?, time: self.word(0)? }
            }
            Kind::ThreadEnd => Action::ThreadEnd { time: self.word(0)? },
            Kind::ThreadCreate => Action::ThreadCreate { thread: thread(object)? },
            Kind::ThreadJoin => Action::ThreadJoin { thread: thread(object)? },
            Kind::ThreadDetach => Action::ThreadDetach { thread: thread(object)? },
            Kind::FiberSwitch => Action::FiberSwitch { to: thread(object)? },
            Kind::ThreadJoinWait => Action::ThreadJoinWait { thread: thread(object)? },
            Kind::KernelThread => {
                Action::KernelThread { id: process(object)?, calls: Address(self.word(0)?) }
            }
            Kind::Acquire => Action::Acquire { lock: object, flags: LockFlags(header.flags) },
            Kind::Release => Action::Release { lock: object, flags: LockFlags(header.flags) },
            Kind::LockWait => Action::LockWait { lock: object, flags: LockFlags(header.flags) },
            Kind::ConditionWait => {
                Action::ConditionWait { condition: object, mutex: Address(self.word(0)?) }
            }
            Kind::ConditionWake => Action::ConditionWake { condition: object },
            Kind::ConditionSignal => Action::ConditionSignal { condition: object },
            Kind::ConditionBroadcast => Action::ConditionBroadcast { condition: object },
            Kind::BarrierArrive => Action::BarrierArrive { barrier: object },
            Kind::BarrierLeave => Action::BarrierLeave { barrier: object },
            Kind::SemaphorePost => Action::SemaphorePost { semaphore: object },
            Kind::SemaphoreWait => Action::SemaphoreWait { semaphore: object },
            Kind::OnceBegin => Action::OnceBegin { once: object },
            Kind::OnceDone => Action::OnceDone { once: object },
            Kind::FutexWait => Action::FutexWait { word: object },
            Kind::FutexWoken => Action::FutexWoken { word: object },
            Kind::FutexWake => Action::FutexWake { word: object },
            Kind::HappensBefore => Action::HappensBefore { object },
            Kind::HappensAfter => Action::HappensAfter { object },
            Kind::Fence => Action::Fence { order: self.fence_order()? },
            Kind::SemaphoreBlock => Action::SemaphoreBlock { semaphore: object },
            Kind::OnceWait => Action::OnceWait { once: object },
            Kind::ParkWait => Action::ParkWait,
            Kind::Fork => Action::Fork { child: process(object)? },
            Kind::Forked => {
                Action::Forked { parent: process(object)?, parent_stamp: self.word(0)? }
            }
            Kind::Exec => Action::Exec,
            Kind::Exit => Action::Exit { status: object.0 },
            Kind::Block => self.block()?,
            Kind::Calls => Action::Calls { kept: object.0 },
            Kind::StackGone => {
                let length = self.word(0)?;
                Action::StackGone { lowest: object, length: length_at(object, length)? }
            }
            Kind::Module => self.module()?,
            Kind::ModuleGone => Action::ModuleGone { bias: object.0 },
            Kind::Stack => Action::Stack { call_sites: CallSites::new(self.payload) },
            Kind::Fact => self.fact()?,
            Kind::Delay => Action::Delay { nanoseconds: object.0 },
        })
    }

    fn word(&self, index: usize) -> Option<u64> {
        self.payload.get(index).copied()
    }

    fn access(&self, kind: AccessKind) -> Option<Action<'r>> {
        let Header { object: address, unit, flags, .. } = self.header;
        let flags = AccessFlags(flags);
        let (extent, pasts) = if flags.is_long() {
            let (&word, pasts) = self.payload.split_first()?;
            (Extent::from_long_word(word, unit), pasts)
        } else {
            (Extent { length: unit.into(), count: 1, step: 0 }, self.payload)
        };
        extent.check(address)?;
        check_pasts(pasts)?;
        let Extent { length, count, step } = extent;
        let pasts = Pasts::new(pasts);
        Some(Action::Access { kind, address, length, unit, count, step, flags, pasts })
    }

    fn fence_order(&self) -> Option<MemoryOrder> {
        MemoryOrder::from_number(AccessFlags(self.header.flags).memory_order() as u8)
    }

    fn block(&self) -> Option<Action<'r>> {
        let address = self.header.object;
        let size = length_at(address, self.word(0)?)?;
        let who = self.word(1)?;
        let thread = thread(Address(who & u64::from(u32::MAX)))?;
        Some(Action::Block { address, size, thread, serial: (who >> 32) as u32 })
    }

    fn module(&self) -> Option<Action<'r>> {
        let (lowest, length) = (self.word(0)?, self.word(1)?);
        lowest.checked_add(length).filter(|&end| end <= ADDRESS_SPACE)?;
        let (build_id, rest) = text(self.payload.get(2..)?)?;
        let (path, rest) = text(rest)?;
        let is_inside = |&(start, code): &(u64, u64)| {
            let end = start.checked_sub(lowest).and_then(|before| before.checked_add(code));
            end.is_some_and(|end| end <= length)
        };
        // In an older recording any of its addresses may be code.
        let code = match *rest {
            [start, code, ..] => Some((start, code)).filter(is_inside)?,
            _ => (lowest, length),
        };
        Some(Action::Module { bias: self.header.object.0, lowest, length, build_id, path, code })
    }

    fn fact(&self) -> Option<Action<'r>> {
        let (name, rest) = text(self.payload)?;
        let (value, _) = text(rest)?;
        Some(Action::Fact { name, value })
    }
}

/// Which bytes an access event tells of, from its address on.
struct Extent {
    length: u64,
    count: u32,
    step: i32,
}

impl Extent {
    /// The low half is a length, or with a step in the high half the number of accesses of `unit` bytes.
    fn from_long_word(word: u64, unit: u8) -> Extent {
        let (low, step) = (word as u32, (word >> 32) as i32);
        if word == 0 {
            // The program died while the event became LONG.
            Extent { length: unit.into(), count: 1, step }
        } else if step == 0 {
            Extent { length: low.into(), count: 1, step }
        } else {
            Extent { length: unit.into(), count: low, step }
        }
    }

    /// All bytes lie in the address space, and there is at least one access.
    fn check(&self, address: Address) -> Option<()> {
        let way = i64::from(self.count.checked_sub(1)?).checked_mul(self.step.into())?;
        let last = address.0.checked_add_signed(way)?;
        length_at(address, self.length)?;
        length_at(Address(last), self.length)?;
        Some(())
    }
}

fn thread(object: Address) -> Option<ThreadId> {
    u16::try_from(object.0).ok().map(ThreadId)
}

fn process(object: Address) -> Option<u32> {
    u32::try_from(object.0).ok()
}

fn length_at(start: Address, length: u64) -> Option<u64> {
    start.0.checked_add(length).filter(|&end| end <= ADDRESS_SPACE)?;
    Some(length)
}

fn check_pasts(words: &[u64]) -> Option<()> {
    let (pairs, rest) = words.as_chunks::<PAST_WORDS>();
    let whole = rest.is_empty() && pairs.iter().all(|&pair| Past::unpack(pair).is_some());
    whole.then_some(())
}

/// A text and the words after it.
fn text(words: &[u64]) -> Option<(Text<'_>, &[u64])> {
    let (&length, words) = words.split_first()?;
    let length = usize::try_from(length).ok()?;
    let (held, rest) = words.split_at_checked(length.div_ceil(8))?;
    Some((Text::new(held, length), rest))
}
