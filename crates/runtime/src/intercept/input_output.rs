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
use super::{real_address, touching, weakened};

touching! {
    "rcx": fn read(file: c_int, buffer: *mut c_void, bytes: size_t) -> ssize_t => read_file,
        after |call, answer| {
            call.takes_from(file, answer);
            call.fills(buffer, answer)
        };
    "r8": fn pread(file: c_int, buffer: *mut c_void, bytes: size_t, offset: off_t) -> ssize_t => read_at,
        after |call, answer| call.fills(buffer, answer);
    "r8": fn pread64(file: c_int, buffer: *mut c_void, bytes: size_t, offset: off_t) -> ssize_t => read_at_64,
        after |call, answer| call.fills(buffer, answer);
    "r8": fn __read_chk(file: c_int, buffer: *mut c_void, bytes: size_t, room: size_t) -> ssize_t => read_checked,
        after |call, answer| {
            call.takes_from(file, answer);
            call.fills(buffer, answer)
        };
    "rcx": fn readv(file: c_int, parts: *const iovec, count: c_int) -> ssize_t => read_parts,
        after |call, answer| {
            call.takes_from(file, answer);
            // SAFETY: what the call has filled is valid.
            unsafe { call.fills_parts(parts, count as usize, answer) }
        };
    // With MSG_TRUNC the answer may be more than there was room for.
    "r8": fn recv(socket: c_int, buffer: *mut c_void, bytes: size_t, flags: c_int) -> ssize_t => receive,
        after |call, answer| {
            call.takes_from(socket, answer);
            call.fills(buffer, min(answer, bytes as ssize_t))
        };
    "rcx": fn recvmsg(socket: c_int, message: *mut msghdr, flags: c_int) -> ssize_t => receive_message,
        after |call, answer| if answer > 0 {
            call.takes_from(socket, answer);
            // SAFETY: a message that something came into is valid, and so are its parts.
            unsafe { call.fills_parts((*message).msg_iov, (*message).msg_iovlen, answer) }
        };
    "r8": fn fread(buffer: *mut c_void, unit: size_t, count: size_t, file: *mut FILE) -> size_t => read_units,
        after |call, answer| call.writes(buffer, answer.saturating_mul(unit));
    "rcx": fn fgets(buffer: *mut c_char, bytes: c_int, file: *mut FILE) -> *mut c_char => read_line,
        after |call, answer| if !answer.is_null() {
            call.writes(buffer.cast(), whole_length(buffer))
        };

    "rcx": fn write(file: c_int, buffer: *const c_void, bytes: size_t) -> ssize_t => write_file,
        before |call| {
            call.reads(buffer, bytes);
            call.gives_to(file)
        };
    "r8": fn pwrite(file: c_int, buffer: *const c_void, bytes: size_t, offset: off_t) -> ssize_t => write_at,
        before |call| call.reads(buffer, bytes);
    "r8": fn pwrite64(file: c_int, buffer: *const c_void, bytes: size_t, offset: off_t) -> ssize_t => write_at_64,
        before |call| call.reads(buffer, bytes);
    "rcx": fn writev(file: c_int, parts: *const iovec, count: c_int) -> ssize_t => write_parts,
        before |call| {
            // SAFETY: parts that are not valid are an error of the call, and a negative count has none.
            unsafe { call.reads_parts(parts, count.max(0) as usize) };
            call.gives_to(file)
        };
    "r8": fn send(socket: c_int, buffer: *const c_void, bytes: size_t, flags: c_int) -> ssize_t => send_bytes,
        before |call| {
            call.reads(buffer, bytes);
            call.gives_to(socket)
        };
    "rcx": fn sendmsg(socket: c_int, message: *const msghdr, flags: c_int) -> ssize_t => send_message,
        before |call| if !message.is_null() {
            // SAFETY: as for `writev`.
            unsafe { call.reads_parts((*message).msg_iov, (*message).msg_iovlen) };
            call.gives_to(socket)
        };
    "r8": fn fwrite(buffer: *const c_void, unit: size_t, count: size_t, file: *mut FILE) -> size_t => write_units,
        before |call| call.reads(buffer, unit.saturating_mul(count));
    "rsi": fn puts(text: *const c_char) -> c_int => write_line,
        before |call| call.reads_text(text);
    "rdx": fn fputs(text: *const c_char, file: *mut FILE) -> c_int => write_text,
        before |call| call.reads_text(text);
}

impl Call {
    /// `answer` is the number of bytes that came, or negative.
    fn fills(&self, buffer: *const c_void, answer: ssize_t) {
        self.writes(buffer, answer.max(0) as usize);
    }

    /// # Safety
    /// As for `readv`, which has answered `answer`.
    unsafe fn fills_parts(&self, parts: *const iovec, count: usize, answer: ssize_t) {
        if answer > 0 {
            // SAFETY: the caller vouches for the parts.
            unsafe {
                each_part(parts, count, answer as usize, |part, bytes| self.writes(part, bytes))
            };
        }
    }

    /// # Safety
    /// As for `writev`.
    unsafe fn reads_parts(&self, parts: *const iovec, count: usize) {
        if !parts.is_null() {
            // SAFETY: the caller vouches for the parts.
            unsafe { each_part(parts, count, usize::MAX, |part, bytes| self.reads(part, bytes)) };
        }
    }
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
    if let Some(call) = Call::returning_to(return_address) {
        // With MSG_TRUNC the answer may be more than there was room for.
        call.fills(buffer, min(answer, bytes as ssize_t));
    }
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
    if let Some(call) = Call::returning_to(return_address) {
        call.reads(buffer, bytes);
    }
    // SAFETY: as in `receive_from`.
    unsafe {
        let function = core::mem::transmute::<*const c_void, SendTo>(address_of::sendto());
        function(socket, buffer, bytes, flags, receiver, receiver_bytes)
    }
}
