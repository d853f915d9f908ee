//! Functions that copy, fill, compare and search memory and strings: accesses at their call site.
//!
//! Calls inside the C library do not come here; calls from other libraries do, and count as made where the program
//! called that library.

use libc::{c_char, c_int, c_void, size_t};

use super::caller::Call;
use super::intercepts;

intercepts! {
    "rcx": fn memcpy(to: *mut c_void, from: *const c_void, bytes: size_t) -> *mut c_void => copy;
    "rcx": fn mempcpy(to: *mut c_void, from: *const c_void, bytes: size_t) -> *mut c_void => copy_and_pass;
    "rcx": fn memmove(to: *mut c_void, from: *const c_void, bytes: size_t) -> *mut c_void => move_bytes;
    "rcx": fn memset(to: *mut c_void, value: c_int, bytes: size_t) -> *mut c_void => fill;
    "rdx": fn bzero(to: *mut c_void, bytes: size_t) => clear;
    "rcx": fn memcmp(a: *const c_void, b: *const c_void, bytes: size_t) -> c_int => compare;
    "rcx": fn bcmp(a: *const c_void, b: *const c_void, bytes: size_t) -> c_int => compare;
    "rcx": fn memchr(text: *const c_void, value: c_int, bytes: size_t) -> *mut c_void => find;
    "r8": fn __memcpy_chk(to: *mut c_void, from: *const c_void, bytes: size_t, room: size_t) -> *mut c_void => copy_checked;
    "r8": fn __memmove_chk(to: *mut c_void, from: *const c_void, bytes: size_t, room: size_t) -> *mut c_void => move_checked;
    "r8": fn __memset_chk(to: *mut c_void, value: c_int, bytes: size_t, room: size_t) -> *mut c_void => fill_checked;

    "rsi": fn strlen(text: *const c_char) -> size_t => length;
    "rdx": fn strnlen(text: *const c_char, most: size_t) -> size_t => length_within;
    "rdx": fn strcmp(a: *const c_char, b: *const c_char) -> c_int => compare_texts;
    "rcx": fn strncmp(a: *const c_char, b: *const c_char, most: size_t) -> c_int => compare_starts;
    "rdx": fn strchr(text: *const c_char, value: c_int) -> *mut c_char => find_first;
    "rdx": fn strrchr(text: *const c_char, value: c_int) -> *mut c_char => find_last;
    "rdx": fn strcpy(to: *mut c_char, from: *const c_char) -> *mut c_char => copy_text;
    "rdx": fn stpcpy(to: *mut c_char, from: *const c_char) -> *mut c_char => copy_text_and_pass;
    "rcx": fn strncpy(to: *mut c_char, from: *const c_char, bytes: size_t) -> *mut c_char => copy_start;
    "rdx": fn strcat(to: *mut c_char, from: *const c_char) -> *mut c_char => append;
    "rcx": fn strncat(to: *mut c_char, from: *const c_char, most: size_t) -> *mut c_char => append_start;
    "rcx": fn __strcpy_chk(to: *mut c_char, from: *const c_char, room: size_t) -> *mut c_char => copy_text_checked;
    "rcx": fn __strcat_chk(to: *mut c_char, from: *const c_char, room: size_t) -> *mut c_char => append_checked;
    "r8": fn __strncpy_chk(to: *mut c_char, from: *const c_char, bytes: size_t, room: size_t) -> *mut c_char => copy_start_checked;
    "rsi": fn strdup(text: *const c_char) -> *mut c_char => duplicate;
    "rdx": fn strndup(text: *const c_char, most: size_t) -> *mut c_char => duplicate_start;
}

fn note_copy(to: *const c_void, from: *const c_void, bytes: size_t, return_address: u64) {
    if let Some(call) = Call::returning_to(return_address) {
        call.reads(from, bytes);
        call.writes(to, bytes);
    }
}

fn note_fill(to: *const c_void, bytes: size_t, return_address: u64) {
    if let Some(call) = Call::returning_to(return_address) {
        call.writes(to, bytes);
    }
}

pub(crate) extern "C" fn copy(
    to: *mut c_void,
    from: *const c_void,
    bytes: size_t,
    return_address: u64,
) -> *mut c_void {
    note_copy(to, from, bytes, return_address);
    // SAFETY: the program's own arguments; so in all of this file where nothing else is said.
    unsafe { real::memcpy(to, from, bytes) }
}

extern "C" fn copy_and_pass(
    to: *mut c_void,
    from: *const c_void,
    bytes: size_t,
    return_address: u64,
) -> *mut c_void {
    note_copy(to, from, bytes, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::mempcpy(to, from, bytes) }
}

pub(crate) extern "C" fn move_bytes(
    to: *mut c_void,
    from: *const c_void,
    bytes: size_t,
    return_address: u64,
) -> *mut c_void {
    note_copy(to, from, bytes, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::memmove(to, from, bytes) }
}

pub(crate) extern "C" fn fill(
    to: *mut c_void,
    value: c_int,
    bytes: size_t,
    return_address: u64,
) -> *mut c_void {
    note_fill(to, bytes, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::memset(to, value, bytes) }
}

extern "C" fn clear(to: *mut c_void, bytes: size_t, return_address: u64) {
    note_fill(to, bytes, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::bzero(to, bytes) }
}

extern "C" fn copy_checked(
    to: *mut c_void,
    from: *const c_void,
    bytes: size_t,
    room: size_t,
    return_address: u64,
) -> *mut c_void {
    note_copy(to, from, bytes, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::__memcpy_chk(to, from, bytes, room) }
}

extern "C" fn move_checked(
    to: *mut c_void,
    from: *const c_void,
    bytes: size_t,
    room: size_t,
    return_address: u64,
) -> *mut c_void {
    note_copy(to, from, bytes, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::__memmove_chk(to, from, bytes, room) }
}

extern "C" fn fill_checked(
    to: *mut c_void,
    value: c_int,
    bytes: size_t,
    room: size_t,
    return_address: u64,
) -> *mut c_void {
    note_fill(to, bytes, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::__memset_chk(to, value, bytes, room) }
}

/// All bytes count as read, also those behind the first difference: the C standard lets the function do so.
extern "C" fn compare(
    a: *const c_void,
    b: *const c_void,
    bytes: size_t,
    return_address: u64,
) -> c_int {
    if let Some(call) = Call::returning_to(return_address) {
        call.reads(a, bytes);
        call.reads(b, bytes);
    }
    // SAFETY: as in `copy`.
    unsafe { real::memcmp(a, b, bytes) }
}

extern "C" fn find(
    text: *const c_void,
    value: c_int,
    bytes: size_t,
    return_address: u64,
) -> *mut c_void {
    // SAFETY: as in `copy`.
    let found = unsafe { real::memchr(text, value, bytes) };
    if let Some(call) = Call::returning_to(return_address) {
        call.reads(text, bytes_up_to(text, found).unwrap_or(bytes));
    }
    found
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

extern "C" fn length(text: *const c_char, return_address: u64) -> size_t {
    // SAFETY: as in `copy`.
    let length = unsafe { real::strlen(text) };
    if let Some(call) = Call::returning_to(return_address) {
        call.reads(text.cast(), length + 1);
    }
    length
}

extern "C" fn length_within(text: *const c_char, most: size_t, return_address: u64) -> size_t {
    if let Some(call) = Call::returning_to(return_address) {
        call.reads(text.cast(), length_at_most(text, most));
    }
    // SAFETY: as in `copy`.
    unsafe { real::strnlen(text, most) }
}

extern "C" fn compare_texts(a: *const c_char, b: *const c_char, return_address: u64) -> c_int {
    if let Some(call) = Call::returning_to(return_address) {
        note_comparison(&call, a, b, usize::MAX);
    }
    // SAFETY: as in `copy`.
    unsafe { real::strcmp(a, b) }
}

extern "C" fn compare_starts(
    a: *const c_char,
    b: *const c_char,
    most: size_t,
    return_address: u64,
) -> c_int {
    if let Some(call) = Call::returning_to(return_address) {
        note_comparison(&call, a, b, most);
    }
    // SAFETY: as in `copy`.
    unsafe { real::strncmp(a, b, most) }
}

/// Strings are read up to their first difference.
fn note_comparison(call: &Call, a: *const c_char, b: *const c_char, most: usize) {
    let mut read = 0;
    while read < most {
        // SAFETY: both strings go on at least to here: no difference and no end has come before.
        let (left, right) = unsafe { (a.add(read).read_volatile(), b.add(read).read_volatile()) };
        read += 1;
        if left != right || left == 0 {
            break;
        }
    }
    call.reads(a.cast(), read);
    call.reads(b.cast(), read);
}

extern "C" fn find_first(text: *const c_char, value: c_int, return_address: u64) -> *mut c_char {
    // SAFETY: as in `copy`.
    let found = unsafe { real::strchr(text, value) };
    if let Some(call) = Call::returning_to(return_address) {
        let bytes = bytes_up_to(text.cast(), found.cast()).unwrap_or_else(|| whole_length(text));
        call.reads(text.cast(), bytes);
    }
    found
}

extern "C" fn find_last(text: *const c_char, value: c_int, return_address: u64) -> *mut c_char {
    if let Some(call) = Call::returning_to(return_address) {
        call.reads(text.cast(), whole_length(text));
    }
    // SAFETY: as in `copy`.
    unsafe { real::strrchr(text, value) }
}

fn note_text_copy(to: *const c_char, from: *const c_char, return_address: u64) {
    if let Some(call) = Call::returning_to(return_address) {
        let bytes = whole_length(from);
        call.reads(from.cast(), bytes);
        call.writes(to.cast(), bytes);
    }
}

extern "C" fn copy_text(to: *mut c_char, from: *const c_char, return_address: u64) -> *mut c_char {
    note_text_copy(to, from, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::strcpy(to, from) }
}

extern "C" fn copy_text_and_pass(
    to: *mut c_char,
    from: *const c_char,
    return_address: u64,
) -> *mut c_char {
    note_text_copy(to, from, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::stpcpy(to, from) }
}

extern "C" fn copy_text_checked(
    to: *mut c_char,
    from: *const c_char,
    room: size_t,
    return_address: u64,
) -> *mut c_char {
    note_text_copy(to, from, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::__strcpy_chk(to, from, room) }
}

/// `strncpy` fills the rest with zero bytes.
fn note_start_copy(to: *const c_char, from: *const c_char, bytes: size_t, return_address: u64) {
    if let Some(call) = Call::returning_to(return_address) {
        call.reads(from.cast(), length_at_most(from, bytes));
        call.writes(to.cast(), bytes);
    }
}

extern "C" fn copy_start(
    to: *mut c_char,
    from: *const c_char,
    bytes: size_t,
    return_address: u64,
) -> *mut c_char {
    note_start_copy(to, from, bytes, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::strncpy(to, from, bytes) }
}

extern "C" fn copy_start_checked(
    to: *mut c_char,
    from: *const c_char,
    bytes: size_t,
    room: size_t,
    return_address: u64,
) -> *mut c_char {
    note_start_copy(to, from, bytes, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::__strncpy_chk(to, from, bytes, room) }
}

/// Reads both strings and writes behind the first, which is read up to its zero byte.
fn note_append(to: *const c_char, from: *const c_char, most: size_t, return_address: u64) {
    if let Some(call) = Call::returning_to(return_address) {
        let before = whole_length(to);
        call.reads(from.cast(), length_at_most(from, most));
        call.reads(to.cast(), before);
        // SAFETY: as in `copy`.
        let added = unsafe { real::strnlen(from, most) };
        call.writes(to.wrapping_add(before - 1).cast(), added + 1);
    }
}

extern "C" fn append(to: *mut c_char, from: *const c_char, return_address: u64) -> *mut c_char {
    note_append(to, from, usize::MAX, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::strcat(to, from) }
}

extern "C" fn append_start(
    to: *mut c_char,
    from: *const c_char,
    most: size_t,
    return_address: u64,
) -> *mut c_char {
    note_append(to, from, most, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::strncat(to, from, most) }
}

extern "C" fn append_checked(
    to: *mut c_char,
    from: *const c_char,
    room: size_t,
    return_address: u64,
) -> *mut c_char {
    note_append(to, from, usize::MAX, return_address);
    // SAFETY: as in `copy`.
    unsafe { real::__strcat_chk(to, from, room) }
}

/// Notes that a new block was filled with the start of `text`.
fn note_duplicate(block: *const c_char, text: *const c_char, most: size_t, return_address: u64) {
    if let Some(call) = Call::returning_to(return_address) {
        call.reads(text.cast(), length_at_most(text, most));
        if !block.is_null() {
            call.writes(block.cast(), whole_length(block));
        }
    }
}

extern "C" fn duplicate(text: *const c_char, return_address: u64) -> *mut c_char {
    // SAFETY: as in `copy`.
    let block = unsafe { real::strdup(text) };
    note_duplicate(block, text, usize::MAX, return_address);
    block
}

extern "C" fn duplicate_start(
    text: *const c_char,
    most: size_t,
    return_address: u64,
) -> *mut c_char {
    // SAFETY: as in `copy`.
    let block = unsafe { real::strndup(text, most) };
    note_duplicate(block, text, most, return_address);
    block
}
