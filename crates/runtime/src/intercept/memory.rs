//! Functions that copy, fill, compare and search memory and strings: accesses at their call site.
//!
//! Calls inside the C library do not come here; calls from other libraries do, and count as made where the program
//! called that library.

use libc::{c_char, c_int, c_void, size_t};

use super::caller::Call;
use super::touching;

touching! {
    "rcx": fn memcpy(to: *mut c_void, from: *const c_void, bytes: size_t) -> *mut c_void => copy,
        before |call| call.copies(to, from, bytes);
    "rcx": fn mempcpy(to: *mut c_void, from: *const c_void, bytes: size_t) -> *mut c_void => copy_and_pass,
        before |call| call.copies(to, from, bytes);
    "rcx": fn memmove(to: *mut c_void, from: *const c_void, bytes: size_t) -> *mut c_void => move_bytes,
        before |call| call.copies(to, from, bytes);
    "rcx": fn memset(to: *mut c_void, value: c_int, bytes: size_t) -> *mut c_void => fill,
        before |call| call.writes(to, bytes);
    "rdx": fn bzero(to: *mut c_void, bytes: size_t) -> () => clear,
        before |call| call.writes(to, bytes);
    "rcx": fn memcmp(a: *const c_void, b: *const c_void, bytes: size_t) -> c_int => compare,
        before |call| call.reads_both(a, b, bytes);
    "rcx": fn bcmp(a: *const c_void, b: *const c_void, bytes: size_t) -> c_int => compare_for_equality,
        before |call| call.reads_both(a, b, bytes);
    "rcx": fn memchr(bytes: *const c_void, value: c_int, most: size_t) -> *mut c_void => find,
        after |call, found| call.reads(bytes, bytes_up_to(bytes, found).unwrap_or(most));
    "r8": fn __memcpy_chk(to: *mut c_void, from: *const c_void, bytes: size_t, room: size_t) -> *mut c_void => copy_checked,
        before |call| call.copies(to, from, bytes);
    "r8": fn __memmove_chk(to: *mut c_void, from: *const c_void, bytes: size_t, room: size_t) -> *mut c_void => move_checked,
        before |call| call.copies(to, from, bytes);
    "r8": fn __memset_chk(to: *mut c_void, value: c_int, bytes: size_t, room: size_t) -> *mut c_void => fill_checked,
        before |call| call.writes(to, bytes);

    "rsi": fn strlen(text: *const c_char) -> size_t => length,
        after |call, length| call.reads(text.cast(), length + 1);
    "rdx": fn strnlen(text: *const c_char, most: size_t) -> size_t => length_within,
        before |call| call.reads(text.cast(), length_at_most(text, most));
    "rdx": fn strcmp(a: *const c_char, b: *const c_char) -> c_int => compare_texts,
        before |call| call.compares_texts(a, b, usize::MAX);
    "rcx": fn strncmp(a: *const c_char, b: *const c_char, most: size_t) -> c_int => compare_starts,
        before |call| call.compares_texts(a, b, most);
    "rdx": fn strchr(text: *const c_char, value: c_int) -> *mut c_char => find_first,
        after |call, found| match bytes_up_to(text.cast(), found.cast()) {
            Some(bytes) => call.reads(text.cast(), bytes),
            None => call.reads_text(text),
        };
    "rdx": fn strrchr(text: *const c_char, value: c_int) -> *mut c_char => find_last,
        before |call| call.reads_text(text);
    "rdx": fn strcpy(to: *mut c_char, from: *const c_char) -> *mut c_char => copy_text,
        before |call| call.copies(to.cast(), from.cast(), whole_length(from));
    "rdx": fn stpcpy(to: *mut c_char, from: *const c_char) -> *mut c_char => copy_text_and_pass,
        before |call| call.copies(to.cast(), from.cast(), whole_length(from));
    "rcx": fn strncpy(to: *mut c_char, from: *const c_char, bytes: size_t) -> *mut c_char => copy_start,
        before |call| call.copies_start(to, from, bytes);
    "rdx": fn strcat(to: *mut c_char, from: *const c_char) -> *mut c_char => append,
        before |call| call.appends(to, from, usize::MAX);
    "rcx": fn strncat(to: *mut c_char, from: *const c_char, most: size_t) -> *mut c_char => append_start,
        before |call| call.appends(to, from, most);
    "rcx": fn __strcpy_chk(to: *mut c_char, from: *const c_char, room: size_t) -> *mut c_char => copy_text_checked,
        before |call| call.copies(to.cast(), from.cast(), whole_length(from));
    "rcx": fn __strcat_chk(to: *mut c_char, from: *const c_char, room: size_t) -> *mut c_char => append_checked,
        before |call| call.appends(to, from, usize::MAX);
    "r8": fn __strncpy_chk(to: *mut c_char, from: *const c_char, bytes: size_t, room: size_t) -> *mut c_char => copy_start_checked,
        before |call| call.copies_start(to, from, bytes);
    "rsi": fn strdup(text: *const c_char) -> *mut c_char => duplicate,
        after |call, block| call.duplicates(block, text, usize::MAX);
    "rdx": fn strndup(text: *const c_char, most: size_t) -> *mut c_char => duplicate_start,
        after |call, block| call.duplicates(block, text, most);
}

impl Call {
    fn copies(&self, to: *const c_void, from: *const c_void, bytes: usize) {
        self.reads(from, bytes);
        self.writes(to, bytes);
    }

    /// All bytes count as read, also those behind the first difference: the C standard lets a comparison do so.
    fn reads_both(&self, a: *const c_void, b: *const c_void, bytes: usize) {
        self.reads(a, bytes);
        self.reads(b, bytes);
    }

    pub fn reads_text(&self, text: *const c_char) {
        self.reads(text.cast(), whole_length(text));
    }

    /// Strings are read up to their first difference.
    fn compares_texts(&self, a: *const c_char, b: *const c_char, most: usize) {
        let mut read = 0;
        while read < most {
            // SAFETY: both strings go on at least to here: no difference and no end has come before.
            let (left, right) =
                unsafe { (a.add(read).read_volatile(), b.add(read).read_volatile()) };
            read += 1;
            if left != right || left == 0 {
                break;
            }
        }
        self.reads_both(a.cast(), b.cast(), read);
    }

    /// `strncpy` fills the rest with zero bytes.
    fn copies_start(&self, to: *const c_char, from: *const c_char, bytes: usize) {
        self.reads(from.cast(), length_at_most(from, bytes));
        self.writes(to.cast(), bytes);
    }

    /// Reads both strings and writes behind the first, which is read up to its zero byte.
    fn appends(&self, to: *const c_char, from: *const c_char, most: usize) {
        let before = whole_length(to);
        self.reads(from.cast(), length_at_most(from, most));
        self.reads(to.cast(), before);
        // SAFETY: the program passed it as a string, or as `most` bytes.
        let added = unsafe { real::strnlen(from, most) };
        self.writes(to.wrapping_add(before - 1).cast(), added + 1);
    }

    /// A new block, if there was room for one, was filled with the start of `text`.
    fn duplicates(&self, block: *const c_char, text: *const c_char, most: usize) {
        self.reads(text.cast(), length_at_most(text, most));
        if !block.is_null() {
            self.writes(block.cast(), whole_length(block));
        }
    }
}

/// How many bytes lie between `start` and `found`, which is inside; `None` if nothing was found.
fn bytes_up_to(start: *const c_void, found: *const c_void) -> Option<usize> {
    (!found.is_null()).then(|| (found as usize).wrapping_sub(start as usize).wrapping_add(1))
}

/// The length of a string with its zero byte.
pub(crate) fn whole_length(text: *const c_char) -> usize {
    // SAFETY: the program passed it as a string.
    unsafe { real::strlen(text) + 1 }
}

/// The length of a string with its zero byte, or `most` if that comes first.
fn length_at_most(text: *const c_char, most: usize) -> usize {
    // SAFETY: the program passed it as a string, or as `most` bytes.
    let length = unsafe { real::strnlen(text, most) };
    most.min(length.saturating_add(1))
}
