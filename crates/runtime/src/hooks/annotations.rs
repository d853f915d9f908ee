//! What programs say themselves about their synchronisation: the annotations that ThreadSanitizer knows.
//!
//! Between the two halves of a mutex annotation the program is inside its own lock: those accesses are not recorded, the
//! annotation stands for them.

pub mod fibers;
mod without_effect;

use unpick_events::Kind;
use unpick_events::kind::lock_flags::{IS_ANNOTATED, RECURSIVE, SHARED, TRY};

use super::hooks;
use crate::intercept::objects;
use crate::local;
use crate::sync;

hooks! { "rsi":
    __tsan_acquire => acquire,
    __tsan_release => release,
}

hooks! { "rdx":
    __tsan_mutex_create => mutex_create,
    __tsan_mutex_destroy => mutex_destroy,
    __tsan_mutex_pre_lock => mutex_pre_lock,
    __tsan_mutex_pre_unlock => mutex_pre_unlock,
}

hooks! { "rcx":
    __tsan_mutex_post_lock => mutex_post_lock,
    __tsan_external_read => external_read,
    __tsan_external_write => external_write,
    AnnotateHappensBefore => happens_before,
    AnnotateHappensAfter => happens_after,
    WTFAnnotateHappensBefore => happens_before,
    WTFAnnotateHappensAfter => happens_after,
    AnnotateRWLockCreate => rwlock_create,
    AnnotateRWLockCreateStatic => rwlock_create,
    AnnotateRWLockDestroy => rwlock_destroy,
}

hooks! { "r8":
    AnnotateRWLockAcquired => rwlock_acquired,
    AnnotateRWLockReleased => rwlock_released,
}

/// Bits of the flags of `__tsan_mutex_…`.
mod mutex_flag {
    pub const LINKER_INIT: u32 = 1 << 0;
    pub const WRITE_REENTRANT: u32 = 1 << 1;
    pub const READ_LOCK: u32 = 1 << 3;
    pub const TRY_LOCK: u32 = 1 << 4;
    pub const TRY_LOCK_FAILED: u32 = 1 << 5;
}

/// How many bytes an annotated lock is taken to have: only its address is known.
const LOCK_BYTES: u64 = 4;

extern "C" fn acquire(object: u64, site: u64) {
    sync::perturb();
    sync::record(Kind::HappensAfter, 0, object, site as u32, &[]);
}

extern "C" fn release(object: u64, site: u64) {
    sync::record(Kind::HappensBefore, 0, object, site as u32, &[]);
    sync::perturb();
}

extern "C" fn happens_before(_file: u64, _line: u64, object: u64, site: u64) {
    release(object, site);
}

extern "C" fn happens_after(_file: u64, _line: u64, object: u64, site: u64) {
    acquire(object, site);
}

fn event_flags(flags: u32) -> u16 {
    let of = |asked: u32, event: u16| if flags & asked != 0 { event } else { 0 };
    IS_ANNOTATED
        | of(mutex_flag::READ_LOCK, SHARED)
        | of(mutex_flag::TRY_LOCK, TRY)
        | of(mutex_flag::WRITE_REENTRANT, RECURSIVE)
}

extern "C" fn mutex_create(mutex: u64, flags: u32, site: u64) {
    if flags & mutex_flag::LINKER_INIT == 0 {
        objects::begin(mutex, LOCK_BYTES, site);
    }
}

extern "C" fn mutex_destroy(mutex: u64, _flags: u32, site: u64) {
    objects::end(mutex, LOCK_BYTES, site);
}

extern "C" fn mutex_pre_lock(_mutex: u64, _flags: u32, _site: u64) {
    sync::perturb();
    begin_ignoring();
}

extern "C" fn mutex_post_lock(mutex: u64, flags: u32, _recursion: i32, site: u64) {
    end_ignoring();
    if flags & mutex_flag::TRY_LOCK_FAILED == 0 {
        sync::record(Kind::Acquire, event_flags(flags), mutex, site as u32, &[]);
    }
}

/// Answers how many levels of recursion the unlock gives up, for the `post_lock` of who re-acquires them: we count none.
extern "C" fn mutex_pre_unlock(mutex: u64, flags: u32, site: u64) -> i32 {
    sync::record(Kind::Release, event_flags(flags), mutex, site as u32, &[]);
    begin_ignoring();
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn __tsan_mutex_post_unlock(_mutex: u64, _flags: u32) {
    end_ignoring();
    sync::perturb();
}

#[unsafe(no_mangle)]
pub extern "C" fn __tsan_mutex_pre_signal(_mutex: u64, _flags: u32) {
    begin_ignoring();
}

#[unsafe(no_mangle)]
pub extern "C" fn __tsan_mutex_post_signal(_mutex: u64, _flags: u32) {
    end_ignoring();
}

/// The lock calls back into code that has nothing to do with it.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_mutex_pre_divert(_mutex: u64, _flags: u32) {
    end_ignoring();
}

#[unsafe(no_mangle)]
pub extern "C" fn __tsan_mutex_post_divert(_mutex: u64, _flags: u32) {
    begin_ignoring();
}

extern "C" fn rwlock_create(_file: u64, _line: u64, lock: u64, site: u64) {
    objects::begin(lock, LOCK_BYTES, site);
}

extern "C" fn rwlock_destroy(_file: u64, _line: u64, lock: u64, site: u64) {
    objects::end(lock, LOCK_BYTES, site);
}

fn rwlock_flags(to_write: u64) -> u16 {
    if to_write != 0 { IS_ANNOTATED } else { IS_ANNOTATED | SHARED }
}

extern "C" fn rwlock_acquired(_file: u64, _line: u64, lock: u64, to_write: u64, site: u64) {
    sync::record(Kind::Acquire, rwlock_flags(to_write), lock, site as u32, &[]);
}

extern "C" fn rwlock_released(_file: u64, _line: u64, lock: u64, to_write: u64, site: u64) {
    sync::record(Kind::Release, rwlock_flags(to_write), lock, site as u32, &[]);
}

/// A library says that its caller reads or writes an object of its own; `_caller` is the call site.
extern "C" fn external_read(object: u64, caller: u64, _tag: u64, _site: u64) {
    objects::look_at(object, caller);
}

extern "C" fn external_write(object: u64, caller: u64, _tag: u64, _site: u64) {
    objects::change(object, caller);
}

/// From now on, until as many `end_ignoring`, the thread's accesses are not recorded; its synchronisation is.
pub(crate) fn begin_ignoring() {
    let ignoring = &local::cold().ignoring;
    ignoring.set(ignoring.get() + 1);
    local::ignore_accesses();
}

pub(crate) fn end_ignoring() {
    let ignoring = &local::cold().ignoring;
    ignoring.set(ignoring.get().saturating_sub(1));
    if ignoring.get() == 0 {
        local::heed_accesses();
    }
}

/// Defines annotations that begin or end ignoring.
macro_rules! ignoring {
    ($($name:ident => $target:ident,)*) => {$(
        #[allow(non_snake_case)]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() {
            $target();
        }
    )*};
}

ignoring! {
    __tsan_ignore_thread_begin => begin_ignoring,
    __tsan_ignore_thread_end => end_ignoring,
    AnnotateIgnoreReadsBegin => begin_ignoring,
    AnnotateIgnoreReadsEnd => end_ignoring,
    AnnotateIgnoreWritesBegin => begin_ignoring,
    AnnotateIgnoreWritesEnd => end_ignoring,
}
