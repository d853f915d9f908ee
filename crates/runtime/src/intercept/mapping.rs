//! Mappings: memory that is mapped or unmapped begins a new life.
//!
//! Thread stacks are the business of `threads`; mappings the C library makes for itself do not come here.

use core::sync::atomic::Ordering::Relaxed;
use libc::{c_int, c_void, off_t, size_t};
use unpick_events::Kind;

use super::caller::allocating_thread;
use super::{intercepts, real_address, weakened};
use crate::heap;
use crate::shadow::region::{self, BYTES_PER_PAGE};
use crate::sync;

intercepts! {
    "rdx": fn munmap(address: *mut c_void, bytes: size_t) -> c_int => unmap;
}

/// What was in a range is gone. If anybody has touched it, the recording says so.
fn forget(address: *mut c_void, bytes: size_t) {
    let (address, bytes) = (address as u64, bytes as u64);
    let Some(thread) = allocating_thread() else { return };
    if is_touched(address, bytes) {
        sync::record_for(thread, Kind::StackGone, 0, address, 0, &[bytes]);
    }
    if let Some(_busy) = thread.enter() {
        heap::forget_range(thread, address, bytes);
    }
}

/// A longer mapping cannot be meant: the call is about to fail.
const LONGEST: u64 = 1 << 40;

/// Whether anything is known of a range; with some of its neighbours, where it does not begin and end with a page.
fn is_touched(address: u64, bytes: u64) -> bool {
    if bytes > LONGEST {
        return false;
    }
    let end = address.saturating_add(bytes);
    let mut at = address & !(BYTES_PER_PAGE - 1);
    while at < end {
        let (word, bit) = region::touched_bit(at);
        let pages = (end - at).div_ceil(BYTES_PER_PAGE).min(64 - bit as u64);
        let mask = (u64::MAX >> (64 - pages)) << bit;
        if word.load(Relaxed) & mask != 0 {
            return true;
        }
        at += pages * BYTES_PER_PAGE;
    }
    false
}

/// Forgets before the call: afterwards somebody else may already have mapped something there.
extern "C" fn unmap(address: *mut c_void, bytes: size_t, _return_address: u64) -> c_int {
    forget(address, bytes);
    // SAFETY: the program's own arguments.
    unsafe { real::munmap(address, bytes) }
}

/// The return address is of no interest here, so these are plain functions of six arguments.
macro_rules! plain_intercepts {
    ($($name:ident => $target:ident;)*) => {$(
        #[cfg_attr(not(feature = "static-target"), unsafe(export_name = stringify!($name)))]
        #[cfg_attr(feature = "static-target", unsafe(export_name = concat!("__wrap_", stringify!($name))))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            core::arch::naked_asm!(weakened!($name), "jmp {target}", target = sym $target)
        }
    )*};
}

plain_intercepts! {
    mmap => map;
    mmap64 => map;
    mremap => remap;
}

mod address_of {
    use super::real_address;
    real_address! { pub mmap }
    real_address! { pub mremap }
}

type Map = unsafe extern "C" fn(*mut c_void, size_t, c_int, c_int, c_int, off_t) -> *mut c_void;
type Remap = unsafe extern "C" fn(*mut c_void, size_t, size_t, c_int, *mut c_void) -> *mut c_void;

extern "C" fn map(
    wanted: *mut c_void,
    bytes: size_t,
    protection: c_int,
    flags: c_int,
    file: c_int,
    offset: off_t,
) -> *mut c_void {
    // SAFETY: the C library's function of this name, with the program's own arguments.
    let address = unsafe {
        let function = core::mem::transmute::<*const c_void, Map>(address_of::mmap());
        function(wanted, bytes, protection, flags, file, offset)
    };
    if address != libc::MAP_FAILED {
        forget(address, bytes);
    }
    address
}

/// The fifth argument is only there with some flags; passing on what its register holds does no harm.
extern "C" fn remap(
    old: *mut c_void,
    old_bytes: size_t,
    bytes: size_t,
    flags: c_int,
    wanted: *mut c_void,
) -> *mut c_void {
    // SAFETY: as in `map`.
    let address = unsafe {
        let function = core::mem::transmute::<*const c_void, Remap>(address_of::mremap());
        function(old, old_bytes, bytes, flags, wanted)
    };
    if address != libc::MAP_FAILED {
        forget_what_moved(old, old_bytes, address, bytes);
    }
    address
}

fn forget_what_moved(old: *mut c_void, old_bytes: size_t, new: *mut c_void, bytes: size_t) {
    if new == old {
        let (shorter, longer) = (old_bytes.min(bytes), old_bytes.max(bytes));
        forget(old.wrapping_byte_add(shorter), longer - shorter);
    } else {
        forget(old, old_bytes);
        forget(new, bytes);
    }
}
