//! Allocation: blocks begin and end their lives.
//!
//! The allocator stays the program's own: glibc's, or whatever comes after us in the order of libraries. Facts about
//! blocks are kept only for glibc's, whose layout has room for them (see `heap::facts`). `strdup`, `operator new`,
//! Rust's allocator and the like all come here through `malloc`.

use core::ptr::null_mut;
use libc::{c_int, c_void, size_t};

use super::caller::{Call, allocating_thread, site};
use super::intercepts;
use crate::heap;
use crate::start;
use crate::sys;
use crate::thread::Thread;

intercepts! {
    "rsi": fn malloc(bytes: size_t) -> *mut c_void => allocate;
    "rdx": fn calloc(count: size_t, bytes: size_t) -> *mut c_void => allocate_zeroed;
    "rdx": fn realloc(block: *mut c_void, bytes: size_t) -> *mut c_void => resize;
    "rcx": fn reallocarray(block: *mut c_void, count: size_t, bytes: size_t) -> *mut c_void => resize_array;
    "rsi": fn free(block: *mut c_void) => release;
    "rdx": fn memalign(alignment: size_t, bytes: size_t) -> *mut c_void => allocate_aligned;
    "rdx": fn aligned_alloc(alignment: size_t, bytes: size_t) -> *mut c_void => allocate_aligned_as_standard;
    "rcx": fn posix_memalign(answer: *mut *mut c_void, alignment: size_t, bytes: size_t) -> c_int => allocate_aligned_as_posix;
    "rsi": fn valloc(bytes: size_t) -> *mut c_void => allocate_page_aligned;
    "rsi": fn pvalloc(bytes: size_t) -> *mut c_void => allocate_pages;
}

extern "C" fn allocate(bytes: size_t, return_address: u64) -> *mut c_void {
    // SAFETY: asks for memory as the program does.
    begins(unsafe { underlying::malloc(bytes) }, bytes, return_address)
}

extern "C" fn allocate_zeroed(count: size_t, bytes: size_t, return_address: u64) -> *mut c_void {
    // SAFETY: as above.
    let block = unsafe { underlying::calloc(count, bytes) };
    begins(block, count.saturating_mul(bytes), return_address)
}

extern "C" fn allocate_aligned(
    alignment: size_t,
    bytes: size_t,
    return_address: u64,
) -> *mut c_void {
    // SAFETY: as above.
    begins(unsafe { underlying::memalign(alignment, bytes) }, bytes, return_address)
}

extern "C" fn allocate_aligned_as_standard(
    alignment: size_t,
    bytes: size_t,
    return_address: u64,
) -> *mut c_void {
    // SAFETY: as above.
    begins(unsafe { real::aligned_alloc(alignment, bytes) }, bytes, return_address)
}

extern "C" fn allocate_aligned_as_posix(
    answer: *mut *mut c_void,
    alignment: size_t,
    bytes: size_t,
    return_address: u64,
) -> c_int {
    // SAFETY: the program's own arguments.
    let result = unsafe { real::posix_memalign(answer, alignment, bytes) };
    if result == 0 {
        // SAFETY: the call has just stored the block there.
        begins(unsafe { *answer }, bytes, return_address);
    }
    result
}

extern "C" fn allocate_page_aligned(bytes: size_t, return_address: u64) -> *mut c_void {
    // SAFETY: as above.
    begins(unsafe { real::valloc(bytes) }, bytes, return_address)
}

extern "C" fn allocate_pages(bytes: size_t, return_address: u64) -> *mut c_void {
    // SAFETY: as above.
    begins(unsafe { real::pvalloc(bytes) }, bytes, return_address)
}

extern "C" fn release(block: *mut c_void, return_address: u64) {
    ends(block, return_address);
    // SAFETY: the program's own argument.
    unsafe { underlying::free(block) };
}

/// Growth beyond what the block has is always a move: a block that glibc had moved itself could be somebody else's
/// before the end of its life is noted.
extern "C" fn resize(block: *mut c_void, bytes: size_t, return_address: u64) -> *mut c_void {
    if block.is_null() {
        return allocate(bytes, return_address);
    }
    if bytes == 0 {
        ends(block, return_address);
        // SAFETY: frees the block, as the program asked.
        return unsafe { underlying::realloc(block, 0) };
    }
    let known =
        allocating_thread().and_then(|thread| Some((thread, heap::size_of_block(block as u64)?)));
    let Some((thread, old_bytes)) = known else {
        return resize_unknown(block, bytes, return_address);
    };
    // SAFETY: a block of the allocator that is in use.
    if bytes <= unsafe { malloc_usable_size(block) } {
        return shrink(thread, block, bytes, return_address);
    }
    move_block(block, bytes.min(old_bytes as usize), bytes, return_address)
}

extern "C" fn resize_array(
    block: *mut c_void,
    count: size_t,
    bytes: size_t,
    return_address: u64,
) -> *mut c_void {
    match count.checked_mul(bytes) {
        Some(bytes) => resize(block, bytes, return_address),
        None => {
            // SAFETY: the running thread's errno.
            unsafe { *libc::__errno_location() = libc::ENOMEM };
            null_mut()
        }
    }
}

/// A block nobody is recorded for, or of an allocator of which only the new life of bytes is known.
fn resize_unknown(block: *mut c_void, bytes: size_t, return_address: u64) -> *mut c_void {
    // SAFETY: the program's own arguments.
    let resized = unsafe { underlying::realloc(block, bytes) };
    if resized == block { block } else { begins(resized, bytes, return_address) }
}

/// The block has room enough: glibc leaves it where it is. Should it not, the block has moved without a trace.
fn shrink(thread: &Thread, block: *mut c_void, bytes: size_t, return_address: u64) -> *mut c_void {
    heap::resized_in_place(thread, block as u64, bytes as u64);
    // SAFETY: the program's own arguments.
    let resized = unsafe { underlying::realloc(block, bytes) };
    if resized == block { block } else { begins(resized, bytes, return_address) }
}

fn move_block(block: *mut c_void, kept: usize, bytes: size_t, return_address: u64) -> *mut c_void {
    let moved = allocate(bytes, return_address);
    if moved.is_null() {
        return moved;
    }
    if let Some(call) = Call::returning_to(return_address) {
        call.reads(block, kept);
        call.writes(moved, kept);
    }
    // SAFETY: both blocks have at least `kept` bytes and are different blocks.
    unsafe { sys::copy_bytes(moved.cast(), block.cast(), kept) };
    release(block, return_address);
    moved
}

/// A block has been allocated (unless it is null).
#[inline]
fn begins(block: *mut c_void, bytes: size_t, return_address: u64) -> *mut c_void {
    let Some(thread) = allocating_thread() else { return block };
    if !block.is_null() {
        if underlying::is_of_glibc() {
            heap::allocated(thread, block as u64, bytes as u64, site(thread, return_address));
        } else {
            heap::allocated_elsewhere(thread, block as u64, bytes as u64);
        }
    }
    block
}

/// A block is about to be freed.
#[inline]
fn ends(block: *mut c_void, return_address: u64) {
    if let Some(thread) = allocating_thread() {
        heap::freed(thread, block as u64, site(thread, return_address));
    } else if start::recorder().is_on() {
        heap::freed_by_nobody(block as u64);
    }
}

unsafe extern "C" {
    fn malloc_usable_size(block: *mut c_void) -> size_t;
}

/// The allocator behind us.
#[cfg(not(feature = "static-target"))]
mod underlying {
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

    use super::*;
    use crate::real::Real;

    const UNKNOWN: u32 = 0;
    const LOOKING: u32 = 1;
    const GLIBC: u32 = 2;
    const OTHER: u32 = 3;
    static WHICH: AtomicU32 = AtomicU32::new(UNKNOWN);

    unsafe extern "C" {
        fn __libc_malloc(bytes: size_t) -> *mut c_void;
        fn __libc_calloc(count: size_t, bytes: size_t) -> *mut c_void;
        fn __libc_realloc(block: *mut c_void, bytes: size_t) -> *mut c_void;
        fn __libc_free(block: *mut c_void);
        fn __libc_memalign(alignment: size_t, bytes: size_t) -> *mut c_void;
    }

    /// Whether blocks are glibc's; so they are while we are still looking.
    #[inline]
    pub fn is_of_glibc() -> bool {
        match WHICH.load(Relaxed) {
            UNKNOWN => look(),
            which => which != OTHER,
        }
    }

    #[cold]
    fn look() -> bool {
        // The dynamic linker may itself allocate in between.
        WHICH.store(LOOKING, Relaxed);
        static NEXT: Real = Real::new(c"malloc", None);
        let next = NEXT.address();
        let is_glibc = next.is_null() || core::ptr::addr_eq(next, __libc_malloc as *const c_void);
        if !is_glibc {
            // All of it now: a search for `free` that is itself to free something would never end.
            let _ = [
                address::malloc(),
                address::calloc(),
                address::realloc(),
                address::free(),
                address::memalign(),
            ];
        }
        WHICH.store(if is_glibc { GLIBC } else { OTHER }, Relaxed);
        is_glibc
    }

    macro_rules! forward {
        ($($name:ident = $of_glibc:ident($($argument:ident: $type:ty),*) $(-> $answer:ty)?;)*) => {$(
            /// # Safety
            /// As for the allocator's function of this name.
            #[inline]
            pub unsafe fn $name($($argument: $type),*) $(-> $answer)? {
                // SAFETY: the caller vouches for the arguments.
                unsafe { if is_of_glibc() { $of_glibc($($argument),*) } else { real::$name($($argument),*) } }
            }
        )*};
    }

    forward! {
        malloc = __libc_malloc(bytes: size_t) -> *mut c_void;
        calloc = __libc_calloc(count: size_t, bytes: size_t) -> *mut c_void;
        realloc = __libc_realloc(block: *mut c_void, bytes: size_t) -> *mut c_void;
        free = __libc_free(block: *mut c_void);
        memalign = __libc_memalign(alignment: size_t, bytes: size_t) -> *mut c_void;
    }
}

/// In programs linked statically there is only glibc's, unless the program brings its own; then its blocks are
/// treated like glibc's.
#[cfg(feature = "static-target")]
mod underlying {
    pub use super::real::{calloc, free, malloc, memalign, realloc};

    pub fn is_of_glibc() -> bool {
        true
    }
}
