//! What an action says, in the words both printers use.

use unpick_events::MemoryOrder;
use unpick_names::{bytes_of_lock, is_step, without_inner_members};
use unpick_recording::{AccessFlags, Action, Event, LockFlags};
use unpick_symbols::{RustLock, rust_lock};

use super::names::Names;

/// The bytes an action is about: address and length (1 for an object whose size is not known).
pub fn bytes_of(action: &Action<'_>) -> Option<(u64, u64)> {
    let object = match *action {
        Action::Access { address, length, .. } => return Some((address.0, length)),
        Action::Block { address, size, .. } => return Some((address.0, size)),
        Action::StackGone { lowest, length } => return Some((lowest.0, length)),
        Action::Module { lowest, length, .. } => return Some((lowest, length)),
        Action::Acquire { lock, .. }
        | Action::Release { lock, .. }
        | Action::LockWait { lock, .. } => lock,
        Action::ConditionWait { condition, .. }
        | Action::ConditionWake { condition }
        | Action::ConditionSignal { condition }
        | Action::ConditionBroadcast { condition } => condition,
        Action::BarrierArrive { barrier } | Action::BarrierLeave { barrier } => barrier,
        Action::SemaphorePost { semaphore }
        | Action::SemaphoreBlock { semaphore }
        | Action::SemaphoreWait { semaphore } => semaphore,
        Action::OnceBegin { once } | Action::OnceWait { once } | Action::OnceDone { once } => once,
        Action::FutexWait { word } | Action::FutexWoken { word } | Action::FutexWake { word } => {
            word
        }
        Action::HappensBefore { object } | Action::HappensAfter { object } => object,
        _ => return None,
    };
    Some((object.0, 1))
}

/// How many bytes to name: with all bytes of a lock it is called by its own name, not by that of its first member.
pub fn bytes_to_name(action: &Action<'_>) -> u64 {
    match *action {
        Action::Acquire { flags, .. }
        | Action::Release { flags, .. }
        | Action::LockWait { flags, .. } => bytes_of_lock(flags.what()),
        Action::ConditionWait { .. }
        | Action::ConditionWake { .. }
        | Action::ConditionSignal { .. }
        | Action::ConditionBroadcast { .. } => size_of_in_glibc::CONDITION,
        Action::BarrierArrive { .. } | Action::BarrierLeave { .. } => size_of_in_glibc::BARRIER,
        Action::SemaphorePost { .. }
        | Action::SemaphoreBlock { .. }
        | Action::SemaphoreWait { .. } => size_of_in_glibc::SEMAPHORE,
        Action::OnceBegin { .. }
        | Action::OnceWait { .. }
        | Action::OnceDone { .. }
        | Action::FutexWait { .. }
        | Action::FutexWoken { .. }
        | Action::FutexWake { .. } => WORD,
        _ => bytes_of(action).map_or(1, |(_, length)| length),
    }
}

const WORD: u64 = 4;

/// Sizes of the types of pthread.h and semaphore.h on x86-64.
mod size_of_in_glibc {
    pub const CONDITION: u64 = 48;
    pub const BARRIER: u64 = 32;
    pub const SEMAPHORE: u64 = 32;
}

/// What the program calls the bytes an action is about.
pub fn name_of(event: &Event<'_>, names: &Names<'_>) -> Option<String> {
    let is_container = matches!(
        event.action,
        Action::Block { .. } | Action::StackGone { .. } | Action::Module { .. }
    );
    let (address, _) = bytes_of(&event.action).filter(|_| !is_container)?;
    let name = names.object(address, bytes_to_name(&event.action), event.site)?;
    Some(if matches!(event.action, Action::Access { .. }) {
        name
    } else {
        without_inner_members(name)
    })
}

/// Whether an action is about the byte at `address`.
pub fn concerns(action: &Action<'_>, address: u64) -> bool {
    let Some((start, length)) = bytes_of(action) else { return false };
    let covers = |start: u64| address.checked_sub(start).is_some_and(|offset| offset < length);
    match *action {
        Action::Access { count, step, .. } if step != 0 => {
            // Only two of the accesses in step can be near the address: the last before it and the first after.
            let number = (address as i64 - start as i64).div_euclid(step.into());
            [number, number + 1]
                .into_iter()
                .filter(|number| (0..i64::from(count)).contains(number))
                .any(|number| covers(start.wrapping_add_signed(number * i64::from(step))))
        }
        _ => covers(start),
    }
}

/// The flags of an action, as words.
pub fn flags_of(action: &Action<'_>) -> Vec<&'static str> {
    match *action {
        Action::Access { flags, .. } => access_flags(flags),
        Action::Acquire { flags, .. }
        | Action::Release { flags, .. }
        | Action::LockWait { flags, .. } => lock_flags(flags),
        Action::Fence { order } => vec![order_name(order)],
        _ => Vec::new(),
    }
}

fn access_flags(flags: AccessFlags) -> Vec<&'static str> {
    let order = flags.is_atomic().then(|| order_name(flags.memory_order()));
    let others = [
        (flags.is_volatile(), "volatile"),
        (flags.is_vptr(), "vptr"),
        (flags.is_library(), "library"),
        (flags.is_free(), "free"),
        (flags.is_repeated(), "repeated"),
        (flags.is_continued(), "continued"),
        (flags.is_failed_exchange(), "failed-exchange"),
    ];
    order.into_iter().chain(set_ones(&others)).collect()
}

fn lock_flags(flags: LockFlags) -> Vec<&'static str> {
    let others = [
        (flags.is_shared(), "shared"),
        (flags.is_try(), "try"),
        (flags.is_timed(), "timed"),
        (flags.is_by_condition(), "by-condition"),
        (flags.is_recursive(), "recursive"),
    ];
    std::iter::once(flags.what().name()).chain(set_ones(&others)).collect()
}

fn set_ones(flags: &[(bool, &'static str)]) -> Vec<&'static str> {
    flags.iter().filter(|(is_set, _)| *is_set).map(|(_, name)| *name).collect()
}

fn order_name(order: MemoryOrder) -> &'static str {
    match order {
        MemoryOrder::Plain => "plain",
        MemoryOrder::Relaxed => "relaxed",
        MemoryOrder::Consume => "consume",
        MemoryOrder::Acquire => "acquire",
        MemoryOrder::Release => "release",
        MemoryOrder::AcquireRelease => "acquire-release",
        MemoryOrder::SequentiallyConsistent => "seq-cst",
    }
}

/// The step of a Rust lock that an atomic access is: known by the function it was inlined into, and by its order.
pub fn lock_step_of(event: &Event<'_>, names: &Names<'_>) -> Option<RustLock> {
    let lock = rust_lock(&*names.place(event.site)?)?;
    is_step(&event.action, lock.step).then_some(lock)
}

/// What an action says besides its bytes and flags: name and value, in the order of the format.
pub fn details_of(action: &Action<'_>) -> Vec<(&'static str, Detail)> {
    use Detail::{Address, Number, Signed, Sites, Words};
    match *action {
        Action::Access { count, step, .. } if step != 0 => {
            vec![("count", Number(count.into())), ("step", Signed(step.into()))]
        }
        Action::Access { unit, length, .. } if u64::from(unit) != length => {
            vec![("unit", Number(unit.into()))]
        }
        Action::ThreadStart { creator, time } => {
            vec![("creator", Number(creator.0.into())), ("time", Number(time))]
        }
        Action::ThreadEnd { time } => vec![("time", Number(time))],
        Action::ThreadCreate { thread }
        | Action::ThreadJoin { thread }
        | Action::ThreadJoinWait { thread }
        | Action::ThreadDetach { thread }
        | Action::FiberSwitch { to: thread } => vec![("other_thread", Number(thread.0.into()))],
        Action::KernelThread { id, calls } => {
            vec![("kernel_id", Number(id.into())), ("calls", Address(calls.0))]
        }
        Action::ConditionWait { mutex, .. } => vec![("mutex", Address(mutex.0))],
        Action::Calls { kept } => vec![("kept", Number(kept))],
        Action::Fork { child } => vec![("child", Number(child.into()))],
        Action::Forked { parent, parent_stamp } => {
            vec![("parent", Number(parent.into())), ("parent_stamp", Number(parent_stamp))]
        }
        Action::Exit { status } => vec![("status", Number(status))],
        Action::Block { thread, serial, .. } => {
            vec![("allocated_by", Number(thread.0.into())), ("serial", Number(serial.into()))]
        }
        Action::Module { bias, build_id, path, .. } => vec![
            ("bias", Address(bias)),
            ("build_id", Words(build_id.to_text())),
            ("path", Words(path.to_text())),
        ],
        Action::ModuleGone { bias } => vec![("bias", Address(bias))],
        Action::Stack { call_sites } => vec![("call_sites", Sites(call_sites.iter().collect()))],
        Action::Fact { name, value } => {
            vec![("name", Words(name.to_text())), ("value", Words(value.to_text()))]
        }
        Action::Delay { nanoseconds } => vec![("nanoseconds", Number(nanoseconds))],
        _ => Vec::new(),
    }
}

/// A value of a detail.
pub enum Detail {
    Number(u64),
    Signed(i64),
    Address(u64),
    Words(String),
    /// Outermost first.
    Sites(Vec<unpick_events::Site>),
}

/// Names come from files: no control character of theirs reaches the terminal.
pub fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}
