//! Initialisers that run once: `pthread_once` (also behind `std::call_once`) and `call_once` of C11.
//!
//! The routine may throw a C++ exception: the C library then sets the once back, and the exception goes on to the
//! caller. So all frames of ours around it are naked functions with unwind tables of their own.
//!
//! The C library passes no argument to the routine; what ours needs travels in thread-local storage.

use libc::{c_int, c_void};
use unpick_events::Kind;

use super::real_address;
use crate::local::{self, Once};
use crate::sync;

/// Defines the intercept of a function that takes a once and a routine.
macro_rules! once_intercepts {
    ($($name:ident,)*) => {$(
        mod $name {
            super::real_address! { pub $name }

            #[cfg_attr(not(feature = "static-target"), unsafe(export_name = stringify!($name)))]
            #[cfg_attr(feature = "static-target", unsafe(export_name = concat!("__wrap_", stringify!($name))))]
            #[unsafe(naked)]
            pub unsafe extern "C" fn intercept() {
                core::arch::naked_asm!(
                    super::super::weakened!($name),
                    ".cfi_startproc",
                    "push rbx",
                    ".cfi_def_cfa_offset 16",
                    ".cfi_offset rbx, -16",
                    "push r12",
                    ".cfi_def_cfa_offset 24",
                    ".cfi_offset r12, -24",
                    "sub rsp, 8",
                    ".cfi_def_cfa_offset 32",
                    "mov rbx, rdi",
                    "mov r12, qword ptr [rsp + 24]",
                    "mov rdx, r12",
                    "call {before}",
                    "call {address}",
                    "mov rdi, rbx",
                    "lea rsi, [rip + {run}]",
                    "call rax",
                    "mov rdi, rbx",
                    "mov rsi, r12",
                    "mov edx, eax",
                    "call {after}",
                    "add rsp, 8",
                    ".cfi_def_cfa_offset 24",
                    "pop r12",
                    ".cfi_def_cfa_offset 16",
                    "pop rbx",
                    ".cfi_def_cfa_offset 8",
                    "ret",
                    ".cfi_endproc",
                    before = sym super::before,
                    address = sym address,
                    run = sym super::run,
                    after = sym super::after,
                )
            }

            extern "C" fn address() -> *const core::ffi::c_void {
                $name()
            }
        }
    )*};
}

once_intercepts! { pthread_once, call_once, }

const NONE: Once = Once { routine: 0, control: 0, site: 0 };

/// What the C library keeps in a once while its routine runs.
const RUNNING: u32 = 1;

extern "C" fn before(control: u64, routine: u64, site: u64) {
    sync::perturb();
    // SAFETY: the program passes a valid once, which is a word.
    if unsafe { (control as *const u32).read_volatile() } & RUNNING != 0 {
        sync::record(Kind::OnceWait, 0, control, site as u32, &[]);
    }
    local::cold().once.set(Once { routine, control, site });
}

/// What the C library runs in place of the program's routine.
#[unsafe(naked)]
unsafe extern "C" fn run() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "sub rsp, 24",
        ".cfi_def_cfa_offset 32",
        "mov rdi, rsp",
        "call {begins}",
        "call qword ptr [rsp]",
        "mov rdi, rsp",
        "call {ends}",
        "add rsp, 24",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
        begins = sym begins,
        ends = sym ends,
    )
}

const _: () = assert!(size_of::<Once>() == 24 && core::mem::offset_of!(Once, routine) == 0);

/// Takes the once under way into the frame of `run`: the routine may use another once.
extern "C" fn begins(frame: &mut Once) {
    *frame = local::cold().once.replace(NONE);
    sync::record(Kind::OnceBegin, 0, frame.control, frame.site as u32, &[]);
}

/// The routine has run; the C library is about to tell the others.
extern "C" fn ends(frame: &Once) {
    sync::record(Kind::OnceDone, 0, frame.control, frame.site as u32, &[]);
}

/// If the routine was not run here, it has been run by somebody else.
extern "C" fn after(control: *mut c_void, site: u64, answer: c_int) -> c_int {
    let pending = local::cold().once.replace(NONE);
    if pending.control != 0 && answer == 0 {
        sync::record(Kind::OnceDone, 0, control as u64, site as u32, &[]);
    }
    answer
}
