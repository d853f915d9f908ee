//! What a lock is called: by its own name, not by that of a member of its type.

use unpick_recording::LockKind;

const WORD: u64 = 4;
/// Sizes of the types of pthread.h on x86-64 with glibc.
const MUTEX: u64 = 40;
const READ_WRITE_LOCK: u64 = 56;
const CONDITION: u64 = 48;
const BARRIER_OR_SEMAPHORE: u64 = 32;

/// How many bytes to name: with all bytes of a lock it is called by its own name, not by that of its first member.
pub fn bytes_of_lock(kind: LockKind) -> u64 {
    match kind {
        LockKind::Mutex => MUTEX,
        LockKind::ReadWriteLock => READ_WRITE_LOCK,
        LockKind::Spin | LockKind::Rust => WORD,
        LockKind::Annotated | LockKind::Other => 1,
    }
}

/// As `bytes_of_lock`, also for the other objects that threads wait for.
pub fn bytes_of_object(kind: &str) -> u64 {
    match kind {
        "condition" => CONDITION,
        "barrier" | "semaphore" => BARRIER_OR_SEMAPHORE,
        "once" | "futex" => WORD,
        lock => bytes_of_lock(kind_called(lock)),
    }
}

/// The kind of lock that has this name in what is stored.
pub fn kind_called(name: &str) -> LockKind {
    let kinds = [
        LockKind::Mutex,
        LockKind::ReadWriteLock,
        LockKind::Spin,
        LockKind::Rust,
        LockKind::Annotated,
    ];
    kinds.into_iter().find(|kind| kind.name() == name).unwrap_or(LockKind::Other)
}

/// `queue.lock.{__data, __size}` is `queue.lock`: what the types of glibc and libstdc++ are made of says nothing to anybody.
pub fn without_inner_members(mut name: String) -> String {
    for (opening, closing) in [(".{__", '}'), (".__", ' '), ("._M_", ' ')] {
        if let Some(start) = name.find(opening) {
            let end = name[start..].find(closing).map_or(name.len(), |length| start + length);
            let keep_closing = closing == ' ' || end == name.len();
            name.replace_range(start..end + usize::from(!keep_closing), "");
        }
    }
    name
}

/// `ACCOUNT` for `ACCOUNT.inner`: the word of a Rust lock is a member of it, of std's `inner`, of parking_lot's `raw`.
pub fn without_lock_word(name: String) -> String {
    let (path, origin) = match name.find(" (") {
        Some(at) => name.split_at(at),
        None => (name.as_str(), ""),
    };
    let lock = [".inner", ".raw"].iter().filter_map(|member| path.rfind(member)).max();
    match lock {
        Some(at) if at > 0 => format!("{}{origin}", &path[..at]),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_called_by_its_own_name() {
        let shortened = |name: &str| without_inner_members(name.to_owned());
        assert_eq!(shortened("lock.{__data, __size}"), "lock");
        assert_eq!(
            shortened("queue.lock.{__data, __size} (static in f)"),
            "queue.lock (static in f)"
        );
        assert_eq!(
            shortened("queue.lock.__data (heap, allocated at a.c:3)"),
            "queue.lock (heap, allocated at a.c:3)"
        );
        assert_eq!(shortened("cache.guard._M_mutex.{__data, __size}"), "cache.guard");
        assert_eq!(shortened("plain"), "plain");
    }

    #[test]
    fn a_lock_of_rust_is_not_called_by_its_word() {
        let shortened = |name: &str| without_lock_word(name.to_owned());
        assert_eq!(shortened("bank::ACCOUNT.inner.futex"), "bank::ACCOUNT");
        assert_eq!(
            shortened("Bank.inner.total.inner (heap, allocated at bank.rs:3)"),
            "Bank.inner.total (heap, allocated at bank.rs:3)"
        );
        assert_eq!(shortened("Bank.total.raw.state"), "Bank.total");
        assert_eq!(shortened("WORD"), "WORD");
    }

    #[test]
    fn kinds_are_found_by_their_names() {
        for kind in [LockKind::Mutex, LockKind::ReadWriteLock, LockKind::Rust, LockKind::Other] {
            assert_eq!(kind_called(kind.name()), kind);
        }
        assert_eq!(kind_called("something new"), LockKind::Other);
    }
}
