//! Shared objects loaded and unloaded while the program runs.
//!
//! The dynamic linker looks at who calls `dlopen`: for its search path, and for the set of objects that belong
//! together. So we take notice, jump there, and look for the new module later: see `start::modules`.

use libc::{c_int, c_void};

use super::{intercepts, notices};
use crate::local;
use crate::start::modules;

notices! {
    fn dlopen => opening;
    fn dlmopen => opening;
}

intercepts! {
    "rsi": fn dlclose(handle: *mut c_void) -> c_int => close;
}

fn opening(_site: u64, _arguments: &mut [u64; 6]) {
    modules::expect_new();
}

extern "C" fn close(handle: *mut c_void, _site: u64) -> c_int {
    // A module that was just loaded must be told before it goes.
    look();
    // SAFETY: the program's own argument.
    let answer = unsafe { real::dlclose(handle) };
    look();
    answer
}

fn look() {
    if let Some(thread) = local::thread_that_may_ignore() {
        modules::look(thread);
    }
}
