//! What a called function does to memory, as far as its name tells.

use unpick_events::schedule::Operand;

/// What is done by calling a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deed {
    pub reads: bool,
    pub writes: bool,
    /// How many bytes; 0: it depends.
    pub bytes: u64,
}

/// What a hook of the compiler does; none: the function is no hook for an access.
pub fn deed_of(function: &str) -> Option<Deed> {
    let hook = function.strip_prefix("__tsan_")?;
    if let Some(atomic) = hook.strip_prefix("atomic") {
        return of_atomic(atomic);
    }
    let name = hook.trim_start_matches("unaligned_").trim_start_matches("volatile_");
    let name = name.trim_start_matches("unaligned_");
    let (kind, bytes) = with_number(name.trim_end_matches("_pc"));
    let bytes = bytes.unwrap_or(0);
    match kind {
        "read" | "read_range" => Some(Deed { reads: true, writes: false, bytes }),
        "write" | "write_range" => Some(Deed { reads: false, writes: true, bytes }),
        "read_write" => Some(Deed { reads: true, writes: true, bytes }),
        "vptr_update" => Some(Deed { reads: false, writes: true, bytes: 8 }),
        "vptr_read" => Some(Deed { reads: true, writes: false, bytes: 8 }),
        _ => None,
    }
}

/// `64_fetch_add`.
fn of_atomic(rest: &str) -> Option<Deed> {
    let (bits, operation) = rest.split_once('_')?;
    let bytes = bits.parse::<u64>().ok()? / 8;
    let (reads, writes) = match operation {
        "load" => (true, false),
        "store" => (false, true),
        _ => (true, true),
    };
    Some(Deed { reads, writes, bytes })
}

/// `read`, 4 of `read4`.
fn with_number(name: &str) -> (&str, Option<u64>) {
    let kind = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (kind, name[kind.len()..].parse().ok())
}

/// Which argument of a function is the address of what it reads or writes.
pub fn operand_of(function: &str, is_write: bool) -> Operand {
    if deed_of(function).is_some() {
        return Operand::First;
    }
    let name = function.trim_start_matches("__tsan_").trim_start_matches('_');
    let first = if is_write { WRITE_FIRST } else { READ_FIRST };
    let second = if is_write { WRITE_SECOND } else { READ_SECOND };
    match () {
        () if first.contains(&name) => Operand::First,
        () if second.contains(&name) => Operand::Second,
        () => Operand::Unknown,
    }
}

/// Whether a function takes a lock for its caller: which one is called depends on what the compiler inlines.
pub fn takes_lock(function: &str) -> bool {
    let method = function.rsplit("::").next().unwrap_or(function);
    let of_type = |name: &str| function.contains(name);
    match method {
        "lock" | "lock_contended" => of_type("Mutex") || of_type("mutex"),
        "read" | "write" | "read_contended" | "write_contended" | "lock_shared"
        | "lock_exclusive" => of_type("RwLock"),
        "lock_guard" | "unique_lock" | "shared_lock" | "scoped_lock" => of_type("std::"),
        _ => LOCKS.contains(&method),
    }
}

/// Whether the first argument of a function is the lock that it takes: of functions of the system, and of the types inside Rust's locks,
/// which begin with the word that others wait for.
pub fn has_lock_in_front(function: &str) -> bool {
    let method = function.rsplit("::").next().unwrap_or(function);
    let is_inner = INNER_LOCKS.iter().any(|name| function.contains(name));
    LOCKS.contains(&method) || is_inner && takes_inner_lock(method)
}

fn takes_inner_lock(method: &str) -> bool {
    let ways = ["_contended", "_slow"];
    let method = ways.iter().find_map(|way| method.strip_suffix(way)).unwrap_or(method);
    ["lock", "read", "write", "lock_shared", "lock_exclusive"].contains(&method)
}

const INNER_LOCKS: &[&str] = &["futex::Mutex", "futex::RwLock", "RawMutex", "RawRwLock"];

const LOCKS: &[&str] = &[
    "pthread_mutex_lock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_spin_lock",
    "mtx_lock",
    "__gthread_mutex_lock",
];

const WRITE_FIRST: &[&str] = &[
    "memcpy",
    "memmove",
    "memset",
    "bzero",
    "mempcpy",
    "strcpy",
    "strncpy",
    "stpcpy",
    "strcat",
    "strncat",
    "sprintf",
    "snprintf",
    "vsnprintf",
    "fgets",
    "fread",
    "free",
    "realloc",
    "munmap",
    "operator delete",
    "operator delete[]",
    "rust_dealloc",
    "rust_realloc",
];
const WRITE_SECOND: &[&str] = &["read", "pread", "pread64", "recv", "recvfrom", "stat", "fstat"];
const READ_FIRST: &[&str] = &[
    "strlen", "strnlen", "strchr", "strrchr", "memchr", "strdup", "strndup", "fwrite", "puts",
    "fputs", "atoi", "atol", "strtol", "strtoul", "open", "fopen",
];
const READ_SECOND: &[&str] = &[
    "memcpy", "memmove", "mempcpy", "strcpy", "strncpy", "stpcpy", "strcat", "strncat", "write",
    "pwrite", "pwrite64", "send", "sendto",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hooks_tell_what_they_do_by_their_names() {
        let deed = |name| deed_of(name).map(|deed| (deed.reads, deed.writes, deed.bytes));
        assert_eq!(deed("__tsan_read4"), Some((true, false, 4)));
        assert_eq!(deed("__tsan_unaligned_write16"), Some((false, true, 16)));
        assert_eq!(deed("__tsan_volatile_read8"), Some((true, false, 8)));
        assert_eq!(deed("__tsan_unaligned_volatile_write2"), Some((false, true, 2)));
        assert_eq!(deed("__tsan_read_write8"), Some((true, true, 8)));
        assert_eq!(deed("__tsan_write_range"), Some((false, true, 0)));
        assert_eq!(deed("__tsan_atomic32_load"), Some((true, false, 4)));
        assert_eq!(deed("__tsan_atomic64_store"), Some((false, true, 8)));
        assert_eq!(deed("__tsan_atomic8_compare_exchange_val"), Some((true, true, 1)));
        assert_eq!(deed("__tsan_atomic_thread_fence"), None);
        assert_eq!(deed("__tsan_func_entry"), None);
        assert_eq!(deed("pthread_mutex_lock"), None);
    }

    #[test]
    fn functions_that_take_locks_are_known() {
        assert!(takes_lock("pthread_mutex_lock"));
        assert!(takes_lock("std::sync::poison::mutex::Mutex<bank::Account>::lock"));
        assert!(takes_lock("std::sys::sync::mutex::futex::Mutex::lock_contended"));
        assert!(takes_lock("std::sync::poison::rwlock::RwLock<u64>::write"));
        assert!(takes_lock("std::lock_guard<std::mutex>::lock_guard"));
        assert!(!takes_lock("std::io::Write::write"));
        assert!(!takes_lock("pthread_mutex_unlock"));
    }

    #[test]
    fn the_lock_is_in_front_where_it_is_all_there_is_to_say() {
        assert!(has_lock_in_front("pthread_mutex_lock"));
        assert!(has_lock_in_front("std::sys::sync::mutex::futex::Mutex::lock_contended"));
        assert!(has_lock_in_front("std::sys::sync::mutex::futex::Mutex::lock"));
        assert!(has_lock_in_front("parking_lot::raw_mutex::RawMutex::lock_slow"));
        assert!(has_lock_in_front("parking_lot::raw_rwlock::RawRwLock::lock_exclusive"));
        assert!(!has_lock_in_front("parking_lot::raw_mutex::RawMutex::unlock_slow"));
        assert!(!has_lock_in_front("std::sync::poison::mutex::Mutex<bank::Account>::lock"));
        assert!(!has_lock_in_front("std::lock_guard<std::mutex>::lock_guard"));
    }

    #[test]
    fn the_address_is_where_the_function_takes_it() {
        assert_eq!(operand_of("memcpy", true), Operand::First);
        assert_eq!(operand_of("__tsan_memcpy", false), Operand::Second);
        assert_eq!(operand_of("read", true), Operand::Second);
        assert_eq!(operand_of("__tsan_read4", false), Operand::First);
        assert_eq!(operand_of("qsort", true), Operand::Unknown);
    }
}
