//! The functions behind our intercepts: the C library's own.

use core::sync::atomic::{AtomicPtr, Ordering::*};
use libc::{c_char, c_void};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlvsym(handle: *mut c_void, name: *const c_char, version: *const c_char) -> *mut c_void;
}

/// `RTLD_NEXT`: after the object that asks.
const NEXT: *mut c_void = -1_isize as *mut c_void;

/// A function of the C library, looked up when first needed.
pub struct Real {
    name: &'static core::ffi::CStr,
    /// For functions that exist in several versions: the one to use.
    version: Option<&'static core::ffi::CStr>,
    address: AtomicPtr<c_void>,
}

impl Real {
    pub const fn new(
        name: &'static core::ffi::CStr,
        version: Option<&'static core::ffi::CStr>,
    ) -> Self {
        Self { name, version, address: AtomicPtr::new(core::ptr::null_mut()) }
    }

    /// The function's address; null if the program's C library does not have it.
    #[inline]
    pub fn address(&self) -> *mut c_void {
        let known = self.address.load(Relaxed);
        if known.is_null() { self.look_up() } else { known }
    }

    #[cold]
    fn look_up(&self) -> *mut c_void {
        // SAFETY: names and versions are zero-terminated; the dynamic linker may be asked at any time.
        let found = unsafe {
            match self.version {
                Some(version) => dlvsym(NEXT, self.name.as_ptr(), version.as_ptr()),
                None => dlsym(NEXT, self.name.as_ptr()),
            }
        };
        self.address.store(found, Relaxed);
        found
    }
}

core::arch::global_asm!(
    // The section is there even without a single entry.
    ".section unpick_reals,\"aw\",@progbits",
    ".text",
    ".hidden __start_unpick_reals",
    ".hidden __stop_unpick_reals",
);

unsafe extern "C" {
    static __start_unpick_reals: u8;
    static __stop_unpick_reals: u8;
}

/// Looks up every function behind an intercept. Done at the start, because later it may be needed where the dynamic
/// linker must not be asked: in a signal handler, or in a thread that it waits for.
pub fn look_up_all() {
    let mut entry = (&raw const __start_unpick_reals).cast::<&'static Real>();
    let end = (&raw const __stop_unpick_reals).cast::<&'static Real>();
    while entry < end {
        // SAFETY: the linker makes the section an array of the entries that `look_up_early!` puts there.
        unsafe { (*entry).address() };
        entry = entry.wrapping_add(1);
    }
}
