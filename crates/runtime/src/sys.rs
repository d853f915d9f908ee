//! System calls made directly, because the C library's versions may be intercepted by us or by the program.
//!
//! Every call here returns the kernel's answer: a value, or `Err(errno)`.

use core::arch::asm;
use core::sync::atomic::AtomicU32;
use libc::c_long;

/// Makes a system call.
///
/// # Safety
/// As for the system call itself: the arguments must be valid for `number`.
#[inline]
pub unsafe fn call(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> Result<usize, i32> {
    let answer: isize;
    // SAFETY: the x86_64 system call convention clobbers rcx and r11 only; memory effects are the caller's promise.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => answer,
            in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d, in("r8") e, in("r9") f,
            lateout("rcx") _, lateout("r11") _,
            options(nostack),
        );
    }
    if (-4095..0).contains(&answer) { Err(-answer as i32) } else { Ok(answer as usize) }
}

/// Memory of our own: private, zeroed, not counted until touched, not in core dumps.
/// With `at`, exactly there or not at all.
pub fn map_private(at: Option<usize>, bytes: usize) -> Result<*mut u8, i32> {
    let mut flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    if at.is_some() {
        flags |= libc::MAP_FIXED_NOREPLACE;
    }
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping; NOREPLACE keeps the kernel from putting it over anything that exists.
    let address = unsafe {
        call(
            libc::SYS_mmap,
            at.unwrap_or(0),
            bytes,
            protection as usize,
            flags as usize,
            usize::MAX,
            0,
        )?
    };
    if at.is_some_and(|wanted| wanted != address) {
        // A kernel older than 4.17 takes the address as a hint only.
        unmap(address as *mut u8, bytes);
        return Err(libc::EEXIST);
    }
    // SAFETY: the range was just mapped by us; the advice only keeps it out of core dumps.
    let _ =
        unsafe { call(libc::SYS_madvise, address, bytes, libc::MADV_DONTDUMP as usize, 0, 0, 0) };
    Ok(address as *mut u8)
}

/// Maps a file of ours, shared: what is written there survives the process.
pub fn map_shared(file: i32, bytes: usize) -> Result<*mut u8, i32> {
    let protection = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags = (libc::MAP_SHARED | libc::MAP_NORESERVE) as usize;
    // SAFETY: a new mapping at an address the kernel chooses.
    let address = unsafe { call(libc::SYS_mmap, 0, bytes, protection, flags, file as usize, 0)? };
    // SAFETY: as above; the advice only keeps the recording out of core dumps.
    let _ =
        unsafe { call(libc::SYS_madvise, address, bytes, libc::MADV_DONTDUMP as usize, 0, 0, 0) };
    Ok(address as *mut u8)
}

/// Gives a mapping of ours back.
pub fn unmap(address: *mut u8, bytes: usize) {
    // SAFETY: callers pass only what `map_private` or `map_shared` gave them and do not use it again.
    let _ = unsafe { call(libc::SYS_munmap, address as usize, bytes, 0, 0, 0, 0) };
}

/// Zeroes whole pages of a private mapping of ours by giving them back.
pub fn forget_pages(address: usize, bytes: usize) {
    // SAFETY: only used on shadow memory, where all-zero means "nothing is known".
    let _ =
        unsafe { call(libc::SYS_madvise, address, bytes, libc::MADV_DONTNEED as usize, 0, 0, 0) };
}

/// For each page of a mapping of ours: whether anything was ever written to it (lowest bit).
pub fn which_pages_are_present(address: usize, bytes: usize, answer: &mut [u8]) {
    debug_assert!(answer.len() * 4096 >= bytes);
    // SAFETY: the kernel writes one byte for each page of the range, which `answer` has room for.
    let _ =
        unsafe { call(libc::SYS_mincore, address, bytes, answer.as_mut_ptr() as usize, 0, 0, 0) };
}

/// Makes pages of a shared mapping present and writable now, so that a full disk is an error here
/// and not a SIGBUS later.
pub fn populate(address: *mut u8, bytes: usize) -> Result<(), i32> {
    const MADV_POPULATE_WRITE: usize = 23;
    // SAFETY: touches only pages of our own mapping, without changing their contents.
    unsafe {
        call(libc::SYS_madvise, address as usize, bytes, MADV_POPULATE_WRITE, 0, 0, 0).map(drop)
    }
}

/// Sleeps for this long; a signal may end it early.
pub fn sleep(nanoseconds: u64) {
    let time = [(nanoseconds / 1_000_000_000) as i64, (nanoseconds % 1_000_000_000) as i64];
    // SAFETY: `time` is a valid timespec and the remainder is not asked for.
    let _ = unsafe { call(libc::SYS_nanosleep, time.as_ptr() as usize, 0, 0, 0, 0, 0) };
}

/// Waits until `word` is not `seen` any more and somebody says so, or so many nanoseconds have passed, or less.
pub fn wait_for_change(word: &AtomicU32, seen: u32, nanoseconds: u64) {
    let time = [(nanoseconds / 1_000_000_000) as i64, (nanoseconds % 1_000_000_000) as i64];
    let operation = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG) as usize;
    let (word, time) = (core::ptr::from_ref(word) as usize, time.as_ptr() as usize);
    // SAFETY: the word and the timespec outlive the call; the kernel only reads them.
    let _ = unsafe { call(libc::SYS_futex, word, operation, seen as usize, time, 0, 0) };
}

/// Wakes all that wait for `word` to change.
pub fn wake_all(word: &AtomicU32) {
    let operation = (libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG) as usize;
    let word = core::ptr::from_ref(word) as usize;
    // SAFETY: the kernel uses the address as a name only.
    let _ = unsafe { call(libc::SYS_futex, word, operation, i32::MAX as usize, 0, 0, 0) };
}

/// A set of signals as the kernel has it: signal `n` is bit `n - 1`.
pub type SignalSet = u64;

/// Keeps signals from the running thread until they are let through again. Gives what was kept from it before.
pub fn hold_back_signals(which: SignalSet) -> Result<SignalSet, i32> {
    change_signal_mask(libc::SIG_BLOCK, which)
}

pub fn let_signals_through(which: SignalSet) -> Result<SignalSet, i32> {
    change_signal_mask(libc::SIG_UNBLOCK, which)
}

/// Which signals are kept from the running thread.
pub fn signals_held_back() -> Result<SignalSet, i32> {
    hold_back_signals(0)
}

fn change_signal_mask(how: i32, which: SignalSet) -> Result<SignalSet, i32> {
    let mut before: SignalSet = 0;
    let (given, answered) = (&raw const which as usize, &raw mut before as usize);
    let bytes = size_of::<SignalSet>();
    // SAFETY: both sets outlive the call and have the size that is told.
    unsafe { call(libc::SYS_rt_sigprocmask, how as usize, given, answered, bytes, 0, 0)? };
    Ok(before)
}

/// What the kernel does when a signal comes, in the layout that it has.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct SignalAction {
    pub handler: usize,
    flags: u64,
    restorer: usize,
    mask: SignalSet,
}

impl SignalAction {
    /// `flags` are `libc::SA_…`; `mask` is kept back while the handler runs.
    pub fn new(handler: usize, flags: u64, mask: SignalSet) -> Self {
        const RESTORER: u64 = 0x0400_0000;
        Self { handler, flags: flags | RESTORER, restorer: restore as *const () as usize, mask }
    }
}

/// Where a handler returns to: the kernel takes up again what it interrupted.
#[unsafe(naked)]
unsafe extern "C" fn restore() {
    core::arch::naked_asm!("mov eax, {number}", "syscall", number = const libc::SYS_rt_sigreturn)
}

/// The action of a signal.
pub fn signal_action(signal: i32) -> Result<SignalAction, i32> {
    let mut action = SignalAction { handler: 0, flags: 0, restorer: 0, mask: 0 };
    let (answered, bytes) = (&raw mut action as usize, size_of::<SignalSet>());
    // SAFETY: the action has the kernel's layout and outlives the call.
    unsafe { call(libc::SYS_rt_sigaction, signal as usize, 0, answered, bytes, 0, 0)? };
    Ok(action)
}

pub fn set_signal_action(signal: i32, action: &SignalAction) -> Result<(), i32> {
    let (given, bytes) = (core::ptr::from_ref(action) as usize, size_of::<SignalSet>());
    // SAFETY: the action has the kernel's layout; what it names lives as long as the process.
    unsafe { call(libc::SYS_rt_sigaction, signal as usize, given, 0, bytes, 0, 0).map(drop) }
}

/// Sends a signal to the running thread, with the information that came with it before where the kernel takes that.
pub fn send_to_this_thread(signal: i32, information: *const core::ffi::c_void) {
    let (process, thread) = (process_number() as usize, thread_number() as usize);
    let (signal, information) = (signal as usize, information as usize);
    // SAFETY: the kernel reads the information, which it wrote for the handler that is running.
    let sent =
        unsafe { call(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, information, 0, 0) };
    if sent.is_err() {
        // SAFETY: no memory.
        let _ = unsafe { call(libc::SYS_tgkill, process, thread, signal, 0, 0, 0) };
    }
}

/// Sets what may be done with whole pages (`libc::PROT_…`).
pub fn protect(address: u64, bytes: u64, protection: i32) -> Result<(), i32> {
    // SAFETY: only used on code, which stays readable and executable, and on pages of our own.
    unsafe {
        call(libc::SYS_mprotect, address as usize, bytes as usize, protection as usize, 0, 0, 0)
            .map(drop)
    }
}

pub fn yield_now() {
    // SAFETY: no arguments, no memory.
    let _ = unsafe { call(libc::SYS_sched_yield, 0, 0, 0, 0, 0, 0) };
}

/// What the kernel says of a thread of this process: `R` if it runs or could, another letter if it sleeps.
pub fn state_of_thread(number: u32) -> Option<u8> {
    const START: &[u8] = b"/proc/self/task/";
    const END: &[u8] = b"/stat\0";
    let mut path = [0_u8; START.len() + 10 + END.len()];
    let mut digits = [0_u8; 10];
    let mut first = digits.len();
    let mut rest = number;
    while rest != 0 && first > 0 {
        first -= 1;
        digits[first] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    let parts = START.iter().chain(digits.get(first..)?).chain(END);
    let mut length = 0;
    for (place, byte) in path.iter_mut().zip(parts) {
        *place = *byte;
        length += 1;
    }
    let mut text = [0_u8; 96];
    let read = read_file(path.get(..length)?, &mut text).ok()?;
    // `number (name) state …`: a name may have brackets and blanks of its own, and has at most 15 bytes.
    let text = text.get(..read)?;
    let end_of_name = text.iter().rposition(|byte| *byte == b')')?;
    text.get(end_of_name + 2).copied()
}

pub fn thread_number() -> u32 {
    // SAFETY: no arguments, no memory.
    unsafe { call(libc::SYS_gettid, 0, 0, 0, 0, 0, 0) }.unwrap_or(0) as u32
}

pub fn process_number() -> u32 {
    // SAFETY: no arguments, no memory.
    unsafe { call(libc::SYS_getpid, 0, 0, 0, 0, 0, 0) }.unwrap_or(0) as u32
}

pub fn parent_process_number() -> u32 {
    // SAFETY: no arguments, no memory.
    unsafe { call(libc::SYS_getppid, 0, 0, 0, 0, 0, 0) }.unwrap_or(0) as u32
}

/// Nanoseconds of a clock (`libc::CLOCK_…`).
pub fn clock(which: i32) -> u64 {
    let mut time = [0_i64; 2];
    // SAFETY: `time` has the layout of a timespec and outlives the call.
    let _ = unsafe {
        call(libc::SYS_clock_gettime, which as usize, time.as_mut_ptr() as usize, 0, 0, 0, 0)
    };
    (time[0] as u64).wrapping_mul(1_000_000_000).wrapping_add(time[1] as u64)
}

/// Opens a file; `path` ends in a zero byte.
pub fn open(path: &[u8], flags: i32, mode: u32) -> Result<i32, i32> {
    debug_assert_eq!(path.last(), Some(&0));
    // SAFETY: `path` is a readable, zero-terminated string.
    unsafe {
        call(
            libc::SYS_openat,
            libc::AT_FDCWD as usize,
            path.as_ptr() as usize,
            flags as usize,
            mode as usize,
            0,
            0,
        )
        .map(|file| file as i32)
    }
}

pub fn close(file: i32) {
    // SAFETY: callers close only files they opened.
    let _ = unsafe { call(libc::SYS_close, file as usize, 0, 0, 0, 0, 0) };
}

pub fn set_length(file: i32, bytes: u64) -> Result<(), i32> {
    // SAFETY: the file is ours.
    unsafe { call(libc::SYS_ftruncate, file as usize, bytes as usize, 0, 0, 0, 0).map(drop) }
}

/// Reads into `buffer`, as `read(2)`.
pub fn read(file: i32, buffer: &mut [u8]) -> Result<usize, i32> {
    // SAFETY: the kernel writes only inside `buffer`.
    unsafe {
        call(libc::SYS_read, file as usize, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0)
    }
}

/// Reads the beginning of a file; `path` ends in a zero byte.
pub fn read_file(path: &[u8], buffer: &mut [u8]) -> Result<usize, i32> {
    let file = open(path, libc::O_RDONLY | libc::O_CLOEXEC, 0)?;
    let mut length = 0;
    while length < buffer.len()
        && let Ok(got) = read(file, &mut buffer[length..])
        && got != 0
    {
        length += got;
    }
    close(file);
    Ok(length)
}

/// Where a symbolic link leads; `path` ends in a zero byte.
pub fn read_link(path: &[u8], buffer: &mut [u8]) -> Result<usize, i32> {
    debug_assert_eq!(path.last(), Some(&0));
    // SAFETY: `path` is a readable, zero-terminated string; the kernel writes only inside `buffer`.
    unsafe {
        call(
            libc::SYS_readlink,
            path.as_ptr() as usize,
            buffer.as_mut_ptr() as usize,
            buffer.len(),
            0,
            0,
            0,
        )
    }
}

/// The working folder, without a zero byte at its end.
pub fn working_folder(buffer: &mut [u8]) -> Result<usize, i32> {
    // SAFETY: the kernel writes only inside `buffer`.
    let length =
        unsafe { call(libc::SYS_getcwd, buffer.as_mut_ptr() as usize, buffer.len(), 0, 0, 0, 0)? };
    Ok(length.saturating_sub(1))
}

/// Writes `text` into a new file; `path` ends in a zero byte.
pub fn write_new_file(path: &[u8], text: &[u8]) -> Result<(), i32> {
    let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    let file = open(path, flags, 0o600)?;
    // SAFETY: the kernel only reads `text`.
    let answer = unsafe {
        call(libc::SYS_write, file as usize, text.as_ptr() as usize, text.len(), 0, 0, 0)
    };
    close(file);
    answer.map(drop)
}

/// Writes a message to standard error, as far as it takes it.
pub fn complain(parts: &[&[u8]]) {
    for part in parts {
        // SAFETY: the kernel only reads `part`.
        let _ = unsafe { call(libc::SYS_write, 2, part.as_ptr() as usize, part.len(), 0, 0, 0) };
    }
}

/// Ends the process at once.
pub fn exit(code: i32) -> ! {
    loop {
        // SAFETY: does not return.
        let _ = unsafe { call(libc::SYS_exit_group, code as usize, 0, 0, 0, 0, 0) };
    }
}

/// The soft limit of a resource.
pub fn soft_limit(resource: u32) -> u64 {
    let mut limit = [0_u64; 2];
    // SAFETY: `limit` has the layout of a struct rlimit and outlives the call.
    match unsafe {
        call(libc::SYS_prlimit64, 0, resource as usize, 0, limit.as_mut_ptr() as usize, 0, 0)
    } {
        Ok(_) => limit[0],
        Err(_) => u64::MAX,
    }
}

/// Copies bytes without calling `memcpy`, which is one of our intercepts.
///
/// # Safety
/// As for `memcpy`.
pub unsafe fn copy_bytes(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller vouches for both ranges; the direction flag is clear, as the calling convention has it.
    unsafe {
        asm!(
            "rep movsb",
            inout("rcx") bytes => _,
            inout("rdi") to => _,
            inout("rsi") from => _,
            options(nostack, preserves_flags),
        );
    }
}
