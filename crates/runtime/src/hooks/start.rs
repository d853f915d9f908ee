//! Hooks that compiled modules call when they are loaded.

use crate::start;

#[unsafe(no_mangle)]
pub extern "C" fn __tsan_init() {
    start::module_begins();
}
