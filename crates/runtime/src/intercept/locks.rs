//! Locks: mutexes, reader-writer locks, spin locks, and the mutexes of C11.
//!
//! A lock is first tried; only if it is taken by somebody else is a `LockWait` recorded, and then the real function
//! called that may block: a deadlock shows who waits for what. Error codes are always those of the real functions.
//!
//! A release is recorded before it happens. The C library refuses to unlock some kinds of mutex for a thread that does
//! not own them: then nothing is recorded.

use libc::{EBUSY, EOWNERDEAD, c_int, c_uint, c_void, timespec};
use unpick_events::Kind;
use unpick_events::kind::lock_flags::{
    IS_MUTEX, IS_RWLOCK, IS_SPIN, RECURSIVE, SHARED, TIMED, TRY,
};

use super::intercepts;
use super::objects::{self, destroyed, initialised};
use crate::breakpoints;
use crate::local;
use crate::sync;

intercepts! {
    "rdx": fn pthread_mutex_init(mutex: Mutex, attributes: *const c_void) -> c_int => mutex_init;
    "rsi": fn pthread_mutex_destroy(mutex: Mutex) -> c_int => mutex_destroy;
    "rsi": fn pthread_mutex_lock(mutex: Mutex) -> c_int => mutex_lock;
    "rsi": fn pthread_mutex_trylock(mutex: Mutex) -> c_int => mutex_trylock;
    "rdx": fn pthread_mutex_timedlock(mutex: Mutex, limit: *const timespec) -> c_int => mutex_timedlock;
    "rcx": fn pthread_mutex_clocklock(mutex: Mutex, clock: c_int, limit: *const timespec) -> c_int => mutex_clocklock;
    "rsi": fn pthread_mutex_unlock(mutex: Mutex) -> c_int => mutex_unlock;

    "rdx": fn mtx_init(mutex: Mutex, kind: c_int) -> c_int => c11_init;
    "rsi": fn mtx_destroy(mutex: Mutex) => c11_destroy;
    "rsi": fn mtx_lock(mutex: Mutex) -> c_int => c11_lock;
    "rsi": fn mtx_trylock(mutex: Mutex) -> c_int => c11_trylock;
    "rdx": fn mtx_timedlock(mutex: Mutex, limit: *const timespec) -> c_int => c11_timedlock;
    "rsi": fn mtx_unlock(mutex: Mutex) -> c_int => c11_unlock;

    "rdx": fn pthread_rwlock_init(lock: RwLock, attributes: *const c_void) -> c_int => rwlock_init;
    "rsi": fn pthread_rwlock_destroy(lock: RwLock) -> c_int => rwlock_destroy;
    "rsi": fn pthread_rwlock_rdlock(lock: RwLock) -> c_int => read_lock;
    "rsi": fn pthread_rwlock_tryrdlock(lock: RwLock) -> c_int => try_read_lock;
    "rdx": fn pthread_rwlock_timedrdlock(lock: RwLock, limit: *const timespec) -> c_int => timed_read_lock;
    "rcx": fn pthread_rwlock_clockrdlock(lock: RwLock, clock: c_int, limit: *const timespec) -> c_int => clock_read_lock;
    "rsi": fn pthread_rwlock_wrlock(lock: RwLock) -> c_int => write_lock;
    "rsi": fn pthread_rwlock_trywrlock(lock: RwLock) -> c_int => try_write_lock;
    "rdx": fn pthread_rwlock_timedwrlock(lock: RwLock, limit: *const timespec) -> c_int => timed_write_lock;
    "rcx": fn pthread_rwlock_clockwrlock(lock: RwLock, clock: c_int, limit: *const timespec) -> c_int => clock_write_lock;
    "rsi": fn pthread_rwlock_unlock(lock: RwLock) -> c_int => rwlock_unlock;

    "rdx": fn pthread_spin_init(lock: Spin, shared: c_int) -> c_int => spin_init;
    "rsi": fn pthread_spin_destroy(lock: Spin) -> c_int => spin_destroy;
    "rsi": fn pthread_spin_lock(lock: Spin) -> c_int => spin_lock;
    "rsi": fn pthread_spin_trylock(lock: Spin) -> c_int => spin_trylock;
    "rsi": fn pthread_spin_unlock(lock: Spin) -> c_int => spin_unlock;
}

type Mutex = *mut MutexFields;
type RwLock = *mut RwLockFields;
type Spin = *mut c_int;

/// A mutex of glibc, as far as we look into it. A `mtx_t` is the same.
#[repr(C)]
pub struct MutexFields {
    lock: c_int,
    count: c_uint,
    owner: c_uint,
    users: c_uint,
    kind: c_int,
}

/// A reader-writer lock of glibc, as far as we look into it.
#[repr(C)]
pub struct RwLockFields {
    before: [c_uint; 6],
    writer: c_uint,
}

const MUTEX_BYTES: u64 = size_of::<libc::pthread_mutex_t>() as u64;
const RWLOCK_BYTES: u64 = size_of::<libc::pthread_rwlock_t>() as u64;
const SPIN_BYTES: u64 = size_of::<c_int>() as u64;

/// What the `try` functions of C11 answer for a lock that is taken.
const C11_BUSY: c_int = 1;

/// Bits of a mutex's kind. Above them glibc only keeps whether to elide the lock.
mod kind {
    pub const TYPE: i32 = 3;
    pub const ROBUST: i32 = 16;
    pub const INHERITING: i32 = 32;
    pub const TYPE_AND_PROTOCOL: i32 = 0x7f;
}

/// A mutex that is robust or inherits priority has its owner here in the lock word, and a mark if that died.
const OWNER_IN_LOCK: u32 = libc::FUTEX_TID_MASK;
const OWNER_DIED: u32 = libc::FUTEX_OWNER_DIED;

fn kind_of(mutex: Mutex) -> c_int {
    // SAFETY: the program passes a valid mutex.
    unsafe { (&raw const (*mutex).kind).read_volatile() }
}

/// The event flags of a mutex.
pub(super) fn mutex_flags(mutex: Mutex) -> u16 {
    let is_recursive = kind_of(mutex) & kind::TYPE == libc::PTHREAD_MUTEX_RECURSIVE;
    if is_recursive { IS_MUTEX | RECURSIVE } else { IS_MUTEX }
}

/// Whether an unlock by the running thread will succeed. Kinds that do not check are unlocked by whoever asks.
pub(super) fn may_unlock(mutex: Mutex) -> bool {
    let kind = kind_of(mutex) & kind::TYPE_AND_PROTOCOL;
    if matches!(kind, libc::PTHREAD_MUTEX_NORMAL | libc::PTHREAD_MUTEX_ADAPTIVE_NP) {
        return true;
    }
    // SAFETY: the program passes a valid mutex. Other threads write neither our number nor over it.
    let (lock, owner) = unsafe {
        ((&raw const (*mutex).lock).read_volatile(), (&raw const (*mutex).owner).read_volatile())
    };
    let is_in_lock = kind & (kind::ROBUST | kind::INHERITING) != 0;
    let owner = if is_in_lock { lock as u32 & OWNER_IN_LOCK } else { owner };
    owner == local::cold().kernel_id()
}

/// An attempt was not made; the blocking function shall decide.
const NOT_TRIED: c_int = -1;

/// Tries to get a mutex. A robust one is only looked at: a try at one that is lost for good leaves it locked.
fn attempt(mutex: Mutex, try_lock: impl FnOnce() -> c_int, busy: c_int) -> c_int {
    if kind_of(mutex) & kind::ROBUST == 0 {
        return try_lock();
    }
    // SAFETY: the program passes a valid mutex.
    let lock = unsafe { (&raw const (*mutex).lock).read_volatile() } as u32;
    let is_held = lock & OWNER_IN_LOCK != 0 && lock & OWNER_DIED == 0;
    if is_held { busy } else { NOT_TRIED }
}

/// A robust mutex is also got from an owner that died.
fn is_got(answer: c_int) -> bool {
    answer == 0 || answer == EOWNERDEAD
}

/// A lock and how it is asked for.
#[derive(Clone, Copy)]
struct Wanted {
    address: u64,
    /// `lock_flags`.
    flags: u16,
    site: u64,
}

impl Wanted {
    fn record(&self, kind: Kind) {
        sync::record(kind, self.flags, self.address, self.site as u32, &[]);
    }

    /// Gets the lock by `attempt`, or, if that answers `busy`, by `block`. Any other failure is what `block` would
    /// answer, too.
    fn acquire(
        &self,
        busy: c_int,
        attempt: impl FnOnce() -> c_int,
        block: impl FnOnce() -> c_int,
    ) -> c_int {
        objects::look_at(self.address, self.site);
        sync::perturb();
        let mut answer = attempt();
        if answer == busy {
            self.record(Kind::LockWait);
        }
        if answer == busy || answer == NOT_TRIED {
            answer = block();
        }
        if is_got(answer) {
            self.record(Kind::Acquire);
        }
        answer
    }

    fn try_acquire(&self, attempt: impl FnOnce() -> c_int) -> c_int {
        objects::look_at(self.address, self.site);
        sync::perturb();
        let answer = attempt();
        if is_got(answer) {
            self.record(Kind::Acquire);
        }
        answer
    }

    fn release(&self, release: impl FnOnce() -> c_int) -> c_int {
        objects::look_at(self.address, self.site);
        self.record(Kind::Release);
        let answer = release();
        sync::perturb();
        breakpoints::after_unlock();
        answer
    }
}

fn a_mutex(mutex: Mutex, more_flags: u16, site: u64) -> Wanted {
    Wanted { address: mutex as u64, flags: mutex_flags(mutex) | more_flags, site }
}

fn an_rwlock(lock: RwLock, more_flags: u16, site: u64) -> Wanted {
    Wanted { address: lock as u64, flags: IS_RWLOCK | more_flags, site }
}

fn a_spin(lock: Spin, more_flags: u16, site: u64) -> Wanted {
    Wanted { address: lock as u64, flags: IS_SPIN | more_flags, site }
}

// The real functions below get the program's own arguments; that is what "as said above" refers to.

extern "C" fn mutex_init(mutex: Mutex, attributes: *const c_void, site: u64) -> c_int {
    // SAFETY: as said above.
    initialised(
        unsafe { real::pthread_mutex_init(mutex, attributes) },
        mutex as u64,
        MUTEX_BYTES,
        site,
    )
}

extern "C" fn mutex_destroy(mutex: Mutex, site: u64) -> c_int {
    // SAFETY: as said above.
    destroyed(unsafe { real::pthread_mutex_destroy(mutex) }, mutex as u64, MUTEX_BYTES, site)
}

fn acquire_mutex(mutex: Mutex, flags: u16, site: u64, block: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: as said above.
    let try_lock = || unsafe { real::pthread_mutex_trylock(mutex) };
    a_mutex(mutex, flags, site).acquire(EBUSY, || attempt(mutex, try_lock, EBUSY), block)
}

fn release_mutex(mutex: Mutex, site: u64, unlock: impl FnOnce() -> c_int) -> c_int {
    if may_unlock(mutex) {
        return a_mutex(mutex, 0, site).release(unlock);
    }
    // Another thread's mutex, or none any more: that it is destroyed or freed may be why.
    objects::look_at(mutex as u64, site);
    unlock()
}

extern "C" fn mutex_lock(mutex: Mutex, site: u64) -> c_int {
    // SAFETY: as said above.
    acquire_mutex(mutex, 0, site, || unsafe { real::pthread_mutex_lock(mutex) })
}

extern "C" fn mutex_trylock(mutex: Mutex, site: u64) -> c_int {
    // SAFETY: as said above.
    a_mutex(mutex, TRY, site).try_acquire(|| unsafe { real::pthread_mutex_trylock(mutex) })
}

extern "C" fn mutex_timedlock(mutex: Mutex, limit: *const timespec, site: u64) -> c_int {
    // SAFETY: as said above.
    acquire_mutex(mutex, TIMED, site, || unsafe { real::pthread_mutex_timedlock(mutex, limit) })
}

extern "C" fn mutex_clocklock(
    mutex: Mutex,
    clock: c_int,
    limit: *const timespec,
    site: u64,
) -> c_int {
    // SAFETY: as said above.
    let block = || unsafe { real::pthread_mutex_clocklock(mutex, clock, limit) };
    if is_lock_clock(clock) { acquire_mutex(mutex, TIMED, site, block) } else { block() }
}

extern "C" fn mutex_unlock(mutex: Mutex, site: u64) -> c_int {
    // SAFETY: as said above.
    let unlock = || unsafe { real::pthread_mutex_unlock(mutex) };
    release_mutex(mutex, site, unlock)
}

extern "C" fn c11_init(mutex: Mutex, kind: c_int, site: u64) -> c_int {
    // SAFETY: as said above.
    initialised(unsafe { real::mtx_init(mutex, kind) }, mutex as u64, MUTEX_BYTES, site)
}

extern "C" fn c11_destroy(mutex: Mutex, site: u64) {
    // SAFETY: as said above.
    unsafe { real::mtx_destroy(mutex) };
    objects::end(mutex as u64, MUTEX_BYTES, site);
}

extern "C" fn c11_lock(mutex: Mutex, site: u64) -> c_int {
    // SAFETY: as said above.
    let (attempt, block) =
        (|| unsafe { real::mtx_trylock(mutex) }, || unsafe { real::mtx_lock(mutex) });
    a_mutex(mutex, 0, site).acquire(C11_BUSY, attempt, block)
}

extern "C" fn c11_trylock(mutex: Mutex, site: u64) -> c_int {
    // SAFETY: as said above.
    a_mutex(mutex, TRY, site).try_acquire(|| unsafe { real::mtx_trylock(mutex) })
}

extern "C" fn c11_timedlock(mutex: Mutex, limit: *const timespec, site: u64) -> c_int {
    // SAFETY: as said above.
    let (attempt, block) =
        (|| unsafe { real::mtx_trylock(mutex) }, || unsafe { real::mtx_timedlock(mutex, limit) });
    a_mutex(mutex, TIMED, site).acquire(C11_BUSY, attempt, block)
}

extern "C" fn c11_unlock(mutex: Mutex, site: u64) -> c_int {
    // SAFETY: as said above.
    let unlock = || unsafe { real::mtx_unlock(mutex) };
    release_mutex(mutex, site, unlock)
}

extern "C" fn rwlock_init(lock: RwLock, attributes: *const c_void, site: u64) -> c_int {
    // SAFETY: as said above.
    initialised(
        unsafe { real::pthread_rwlock_init(lock, attributes) },
        lock as u64,
        RWLOCK_BYTES,
        site,
    )
}

extern "C" fn rwlock_destroy(lock: RwLock, site: u64) -> c_int {
    // SAFETY: as said above.
    destroyed(unsafe { real::pthread_rwlock_destroy(lock) }, lock as u64, RWLOCK_BYTES, site)
}

/// For the functions with a clock: an invalid one is an error even if the lock is free.
fn is_lock_clock(clock: c_int) -> bool {
    matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC)
}

fn acquire_to_read(lock: RwLock, flags: u16, site: u64, block: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: as said above.
    an_rwlock(lock, SHARED | flags, site).acquire(
        EBUSY,
        || unsafe { real::pthread_rwlock_tryrdlock(lock) },
        block,
    )
}

fn acquire_to_write(lock: RwLock, flags: u16, site: u64, block: impl FnOnce() -> c_int) -> c_int {
    // SAFETY: as said above.
    an_rwlock(lock, flags, site).acquire(
        EBUSY,
        || unsafe { real::pthread_rwlock_trywrlock(lock) },
        block,
    )
}

extern "C" fn read_lock(lock: RwLock, site: u64) -> c_int {
    // SAFETY: as said above.
    acquire_to_read(lock, 0, site, || unsafe { real::pthread_rwlock_rdlock(lock) })
}

extern "C" fn try_read_lock(lock: RwLock, site: u64) -> c_int {
    // SAFETY: as said above.
    an_rwlock(lock, SHARED | TRY, site)
        .try_acquire(|| unsafe { real::pthread_rwlock_tryrdlock(lock) })
}

extern "C" fn timed_read_lock(lock: RwLock, limit: *const timespec, site: u64) -> c_int {
    if !is_valid(limit) {
        // SAFETY: as said above.
        return unsafe { real::pthread_rwlock_timedrdlock(lock, limit) };
    }
    // SAFETY: as said above.
    acquire_to_read(lock, TIMED, site, || unsafe { real::pthread_rwlock_timedrdlock(lock, limit) })
}

extern "C" fn clock_read_lock(
    lock: RwLock,
    clock: c_int,
    limit: *const timespec,
    site: u64,
) -> c_int {
    // SAFETY: as said above.
    let block = || unsafe { real::pthread_rwlock_clockrdlock(lock, clock, limit) };
    if is_lock_clock(clock) && is_valid(limit) {
        acquire_to_read(lock, TIMED, site, block)
    } else {
        block()
    }
}

extern "C" fn write_lock(lock: RwLock, site: u64) -> c_int {
    // SAFETY: as said above.
    acquire_to_write(lock, 0, site, || unsafe { real::pthread_rwlock_wrlock(lock) })
}

extern "C" fn try_write_lock(lock: RwLock, site: u64) -> c_int {
    // SAFETY: as said above.
    an_rwlock(lock, TRY, site).try_acquire(|| unsafe { real::pthread_rwlock_trywrlock(lock) })
}

extern "C" fn timed_write_lock(lock: RwLock, limit: *const timespec, site: u64) -> c_int {
    if !is_valid(limit) {
        // SAFETY: as said above.
        return unsafe { real::pthread_rwlock_timedwrlock(lock, limit) };
    }
    // SAFETY: as said above.
    acquire_to_write(lock, TIMED, site, || unsafe { real::pthread_rwlock_timedwrlock(lock, limit) })
}

extern "C" fn clock_write_lock(
    lock: RwLock,
    clock: c_int,
    limit: *const timespec,
    site: u64,
) -> c_int {
    // SAFETY: as said above.
    let block = || unsafe { real::pthread_rwlock_clockwrlock(lock, clock, limit) };
    if is_lock_clock(clock) && is_valid(limit) {
        acquire_to_write(lock, TIMED, site, block)
    } else {
        block()
    }
}

/// glibc refuses an impossible time limit of a reader-writer lock even if the lock is free.
fn is_valid(limit: *const timespec) -> bool {
    // SAFETY: the program passes a valid pointer.
    (0..1_000_000_000).contains(&unsafe { (*limit).tv_nsec })
}

extern "C" fn rwlock_unlock(lock: RwLock, site: u64) -> c_int {
    // SAFETY: the program passes a valid lock. Other threads do not write our number there, nor remove it.
    let writer = unsafe { (&raw const (*lock).writer).read_volatile() };
    let flags = if writer == local::cold().kernel_id() { 0 } else { SHARED };
    // SAFETY: as said above.
    an_rwlock(lock, flags, site).release(|| unsafe { real::pthread_rwlock_unlock(lock) })
}

extern "C" fn spin_init(lock: Spin, shared: c_int, site: u64) -> c_int {
    // SAFETY: as said above.
    initialised(unsafe { real::pthread_spin_init(lock, shared) }, lock as u64, SPIN_BYTES, site)
}

extern "C" fn spin_destroy(lock: Spin, site: u64) -> c_int {
    // SAFETY: as said above.
    destroyed(unsafe { real::pthread_spin_destroy(lock) }, lock as u64, SPIN_BYTES, site)
}

extern "C" fn spin_lock(lock: Spin, site: u64) -> c_int {
    // SAFETY: as said above.
    let (attempt, block) = (
        || unsafe { real::pthread_spin_trylock(lock) },
        || unsafe { real::pthread_spin_lock(lock) },
    );
    a_spin(lock, 0, site).acquire(EBUSY, attempt, block)
}

extern "C" fn spin_trylock(lock: Spin, site: u64) -> c_int {
    // SAFETY: as said above.
    a_spin(lock, TRY, site).try_acquire(|| unsafe { real::pthread_spin_trylock(lock) })
}

extern "C" fn spin_unlock(lock: Spin, site: u64) -> c_int {
    // SAFETY: as said above.
    a_spin(lock, 0, site).release(|| unsafe { real::pthread_spin_unlock(lock) })
}
