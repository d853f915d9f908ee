//! Input and output: buffers that are read into are written, buffers that are written out are read, at the call site.
//!
//! Output is noted before the call, input after it, when it is known how much came. These calls are cancellation
//! points and may never return: nothing is held while the real function runs.

use core::cmp::min;
use libc::{
    FILE, c_char, c_int, c_void, iovec, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t,
};

use super::caller::Call;
use super::memory::whole_length;
use super::{intercepts, real_address, weakened};

intercepts! {
    "rcx": fn read(file: c_int, buffer: *mut c_void, bytes: size_t) -> ssize_t => read_file;
    "r8": fn pread(file: c_int, buffer: *mut c_void, bytes: size_t, offset: off_t) -> ssize_t => read_at;
    "r8": fn pread64(file: c_int, buffer: *mut c_void, bytes: size_t, offset: off_t) -> ssize_t => read_at;
    "rcx": fn readv(file: c_int, parts: *const iovec, count: c_int) -> ssize_t => read_parts;
    "r8": fn __read_chk(file: c_int, buffer: *mut c_void, bytes: size_t, room: size_t) -> ssize_t => read_checked;
    "r8": fn recv(socket: c_int, buffer: *mut c_void, bytes: size_t, flags: c_int) -> ssize_t => receive;
    "rcx": fn recvmsg(socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t => receive_message;
    "rcx": fn write(file: c_int, buffer: *const c_void, bytes: size_t) -> ssize_t => write_file;
    "r8": fn pwrite(file: c_int, buffer: *const c_void, bytes: size_t, offset: off_t) -> ssize_t => write_at;
    "r8": fn pwrite64(file: c_int, buffer: *const c_void, bytes: size_t, offset: off_t) -> ssize_t => write_at;
    "rcx": fn writev(file: c_int, parts: *const iovec, count: c_int) -> ssize_t => write_parts;
    "r8": fn send(socket: c_int, buffer: *const c_void, bytes: size_t, flags: c_int) -> ssize_t => send_bytes;
    "rcx": fn sendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t => send_message;
    "r8": fn fread(buffer: *mut c_void, unit: size_t, count: size_t, file: *mut FILE) -> size_t => read_units;
    "r8": fn fwrite(buffer: *const c_void, unit: size_t, count: size_t, file: *mut FILE) -> size_t => write_units;
    "rcx": fn fgets(buffer: *mut c_char, bytes: c_int, file: *mut FILE) -> *mut c_char => read_line;
    "rsi": fn puts(text: *const c_char) -> c_int => write_line;
    "rdx": fn fputs(text: *const c_char, file: *mut FILE) -> c_int => write_text;
}

fn note_output(buffer: *const c_void, bytes: size_t, return_address: u64) {
    if let Some(call) = Call::returning_to(return_address) {
        call.reads(buffer, bytes);
    }
}

/// `answer` is the number of bytes that came, or negative.
fn note_input(buffer: *const c_void, answer: ssize_t, return_address: u64) -> ssize_t {
    if answer > 0
        && let Some(call) = Call::returning_to(return_address)
    {
        call.writes(buffer, answer as usize);
    }
    answer
}

/// # Safety
/// As for `readv` and `writev`: `parts` are `count` valid parts.
unsafe fn each_part(
    parts: *const iovec,
    count: usize,
    most: usize,
    note: impl Fn(*const c_void, usize),
) {
    let mut left = most;
    for index in 0..count {
        // SAFETY: the caller vouches for `count` parts.
        let part = unsafe { &*parts.add(index) };
        let bytes = min(part.iov_len, left);
        note(part.iov_base, bytes);
        left -= bytes;
    }
}

/// # Safety
/// As for `writev`.
unsafe fn note_output_parts(parts: *const iovec, count: usize, return_address: u64) {
    if let Some(call) = Call::returning_to(return_address) {
        // SAFETY: the caller vouches for the parts.
        unsafe { each_part(parts, count, usize::MAX, |part, bytes| call.reads(part, bytes)) };
    }
}

/// # Safety
/// As for `readv`, which has answered `answer`.
unsafe fn note_input_parts(
    parts: *const iovec,
    count: usize,
    answer: ssize_t,
    return_address: u64,
) -> ssize_t {
    if answer > 0
        && let Some(call) = Call::returning_to(return_address)
    {
        // SAFETY: the caller vouches for the parts.
        unsafe { each_part(parts, count, answer as usize, |part, bytes| call.writes(part, bytes)) };
    }
    answer
}

extern "C" fn read_file(
    file: c_int,
    buffer: *mut c_void,
    bytes: size_t,
    return_address: u64,
) -> ssize_t {
    // SAFETY: the program's own arguments; so in all of this file where nothing else is said.
    note_input(buffer, unsafe { real::read(file, buffer, bytes) }, return_address)
}

extern "C" fn read_checked(
    file: c_int,
    buffer: *mut c_void,
    bytes: size_t,
    room: size_t,
    return_address: u64,
) -> ssize_t {
    // SAFETY: as in `read_file`.
    note_input(buffer, unsafe { real::__read_chk(file, buffer, bytes, room) }, return_address)
}

extern "C" fn read_at(
    file: c_int,
    buffer: *mut c_void,
    bytes: size_t,
    offset: off_t,
    return_address: u64,
) -> ssize_t {
    // SAFETY: as in `read_file`.
    note_input(buffer, unsafe { real::pread(file, buffer, bytes, offset) }, return_address)
}

extern "C" fn receive(
    socket: c_int,
    buffer: *mut c_void,
    bytes: size_t,
    flags: c_int,
    return_address: u64,
) -> ssize_t {
    // SAFETY: as in `read_file`.
    let answer = unsafe { real::recv(socket, buffer, bytes, flags) };
    // With MSG_TRUNC the answer may be more than there was room for.
    note_input(buffer, min(answer, bytes as ssize_t), return_address);
    answer
}

extern "C" fn read_parts(
    file: c_int,
    parts: *const iovec,
    count: c_int,
    return_address: u64,
) -> ssize_t {
    // SAFETY: as in `read_file`; what the call has filled is valid.
    unsafe {
        note_input_parts(parts, count as usize, real::readv(file, parts, count), return_address)
    }
}

extern "C" fn receive_message(
    socket: c_int,
    message: *mut msghdr,
    flags: c_int,
    return_address: u64,
) -> ssize_t {
    // SAFETY: as in `read_parts`.
    unsafe {
        let answer = real::recvmsg(socket, message, flags);
        if answer <= 0 {
            return answer;
        }
        note_input_parts((*message).msg_iov, (*message).msg_iovlen, answer, return_address)
    }
}

extern "C" fn write_file(
    file: c_int,
    buffer: *const c_void,
    bytes: size_t,
    return_address: u64,
) -> ssize_t {
    note_output(buffer, bytes, return_address);
    // SAFETY: as in `read_file`.
    unsafe { real::write(file, buffer, bytes) }
}

extern "C" fn write_at(
    file: c_int,
    buffer: *const c_void,
    bytes: size_t,
    offset: off_t,
    return_address: u64,
) -> ssize_t {
    note_output(buffer, bytes, return_address);
    // SAFETY: as in `read_file`.
    unsafe { real::pwrite(file, buffer, bytes, offset) }
}

extern "C" fn write_parts(
    file: c_int,
    parts: *const iovec,
    count: c_int,
    return_address: u64,
) -> ssize_t {
    // SAFETY: as in `read_file`; parts that are not valid are an error of the call, and a negative count has none.
    unsafe {
        if !parts.is_null() {
            note_output_parts(parts, count.max(0) as usize, return_address);
        }
        real::writev(file, parts, count)
    }
}

extern "C" fn send_bytes(
    socket: c_int,
    buffer: *const c_void,
    bytes: size_t,
    flags: c_int,
    return_address: u64,
) -> ssize_t {
    note_output(buffer, bytes, return_address);
    // SAFETY: as in `read_file`.
    unsafe { real::send(socket, buffer, bytes, flags) }
}

extern "C" fn send_message(
    socket: c_int,
    message: *const msghdr,
    flags: c_int,
    return_address: u64,
) -> ssize_t {
    // SAFETY: as in `write_parts`.
    unsafe {
        if !message.is_null() && !(*message).msg_iov.is_null() {
            note_output_parts((*message).msg_iov, (*message).msg_iovlen, return_address);
        }
        real::sendmsg(socket, message, flags)
    }
}

extern "C" fn read_units(
    buffer: *mut c_void,
    unit: size_t,
    count: size_t,
    file: *mut FILE,
    return_address: u64,
) -> size_t {
    // SAFETY: as in `read_file`.
    let answer = unsafe { real::fread(buffer, unit, count, file) };
    note_input(buffer, answer.saturating_mul(unit) as ssize_t, return_address);
    answer
}

extern "C" fn write_units(
    buffer: *const c_void,
    unit: size_t,
    count: size_t,
    file: *mut FILE,
    return_address: u64,
) -> size_t {
    note_output(buffer, unit.saturating_mul(count), return_address);
    // SAFETY: as in `read_file`.
    unsafe { real::fwrite(buffer, unit, count, file) }
}

extern "C" fn read_line(
    buffer: *mut c_char,
    bytes: c_int,
    file: *mut FILE,
    return_address: u64,
) -> *mut c_char {
    // SAFETY: as in `read_file`.
    let answer = unsafe { real::fgets(buffer, bytes, file) };
    if !answer.is_null() {
        note_input(buffer.cast(), whole_length(buffer) as ssize_t, return_address);
    }
    answer
}

extern "C" fn write_line(text: *const c_char, return_address: u64) -> c_int {
    note_output(text.cast(), whole_length(text), return_address);
    // SAFETY: as in `read_file`.
    unsafe { real::puts(text) }
}

extern "C" fn write_text(text: *const c_char, file: *mut FILE, return_address: u64) -> c_int {
    note_output(text.cast(), whole_length(text), return_address);
    // SAFETY: as in `read_file`.
    unsafe { real::fputs(text, file) }
}

/// Functions with six arguments leave no register for the return address: it becomes a seventh, on the stack.
macro_rules! six_argument_intercepts {
    ($($name:ident => $target:ident;)*) => {$(
        #[cfg_attr(not(feature = "static-target"), unsafe(export_name = stringify!($name)))]
        #[cfg_attr(feature = "static-target", unsafe(export_name = concat!("__wrap_", stringify!($name))))]
        #[unsafe(naked)]
        unsafe extern "C" fn $name() {
            // A cancelled thread unwinds through here, hence the notes for the unwinder.
            core::arch::naked_asm!(
                weakened!($name),
                ".cfi_startproc",
                "push qword ptr [rsp]",
                ".cfi_adjust_cfa_offset 8",
                "call {target}",
                "add rsp, 8",
                ".cfi_adjust_cfa_offset -8",
                "ret",
                ".cfi_endproc",
                target = sym $target,
            )
        }
    )*};
}

six_argument_intercepts! {
    recvfrom => receive_from;
    sendto => send_to;
}

mod address_of {
    use super::real_address;
    real_address! { pub recvfrom }
    real_address! { pub sendto }
}

type ReceiveFrom = unsafe extern "C" fn(
    c_int,
    *mut c_void,
    size_t,
    c_int,
    *mut sockaddr,
    *mut socklen_t,
) -> ssize_t;
type SendTo = unsafe extern "C" fn(
    c_int,
    *const c_void,
    size_t,
    c_int,
    *const sockaddr,
    socklen_t,
) -> ssize_t;

extern "C" fn receive_from(
    socket: c_int,
    buffer: *mut c_void,
    bytes: size_t,
    flags: c_int,
    sender: *mut sockaddr,
    sender_bytes: *mut socklen_t,
    return_address: u64,
) -> ssize_t {
    // SAFETY: the C library's function of this name, with the program's own arguments.
    let answer = unsafe {
        let function = core::mem::transmute::<*const c_void, ReceiveFrom>(address_of::recvfrom());
        function(socket, buffer, bytes, flags, sender, sender_bytes)
    };
    // With MSG_TRUNC the answer may be more than there was room for.
    note_input(buffer, min(answer, bytes as ssize_t), return_address);
    answer
}

extern "C" fn send_to(
    socket: c_int,
    buffer: *const c_void,
    bytes: size_t,
    flags: c_int,
    receiver: *const sockaddr,
    receiver_bytes: socklen_t,
    return_address: u64,
) -> ssize_t {
    note_output(buffer, bytes, return_address);
    // SAFETY: as in `receive_from`.
    unsafe {
        let function = core::mem::transmute::<*const c_void, SendTo>(address_of::sendto());
        function(socket, buffer, bytes, flags, receiver, receiver_bytes)
    }
}
