//! Functions of the C library that the program calls through us.
//!
//! Each intercept has the C function's name and signature, learns its call site from the return address, records,
//! and calls the real function. In programs linked statically the linker's `--wrap` does the renaming.

pub mod allocation;
pub mod barriers;
mod caller;
mod channels;
pub mod conditions;
mod early_signals;
pub mod failures;
pub mod guards;
pub mod input_output;
pub mod locks;
pub mod mapping;
pub mod memory;
// A program linked statically does not load modules.
#[cfg(not(feature = "static-target"))]
pub mod modules;
pub mod objects;
pub mod once;
pub mod process;
pub mod rust_std;
pub mod semaphores;
pub mod system_call;
pub mod threads;

/// Makes an intercept weak: a program that has a function of this name (its own `malloc`, its own `send`) keeps it.
#[cfg(not(feature = "static-target"))]
macro_rules! weakened {
    ($name:ident) => {
        concat!(".weak ", stringify!($name))
    };
}
#[cfg(feature = "static-target")]
macro_rules! weakened {
    ($name:ident) => {
        ""
    };
}

/// Defines intercepts.
///
/// ```ignore
/// intercepts! {
///     /// `register` is the one after the function's own arguments: the return address travels there.
///     "rsi": fn pthread_mutex_lock(mutex: *mut c_void) -> c_int => lock;
/// }
/// ```
///
/// makes the exported function `pthread_mutex_lock`, which calls `lock(mutex, site)`; in `lock`'s module,
/// `real::pthread_mutex_lock(mutex)` is the C library's. A second string gives the symbol version to look up.
macro_rules! intercepts {
    ($($register:literal: fn $name:ident($($argument:ident: $type:ty),*) $(-> $answer:ty)? => $target:ident $(, $version:literal)?;)*) => {
        #[allow(non_snake_case)]
        mod exported {
            $(
                #[cfg_attr(not(feature = "static-target"), unsafe(export_name = stringify!($name)))]
                #[cfg_attr(feature = "static-target", unsafe(export_name = concat!("__wrap_", stringify!($name))))]
                #[unsafe(naked)]
                pub unsafe extern "C" fn $name() {
                    core::arch::naked_asm!(
                        $crate::intercept::weakened!($name),
                        concat!("mov ", $register, ", qword ptr [rsp]"),
                        "jmp {target}",
                        target = sym super::$target,
                    )
                }
            )*
        }

        #[allow(dead_code, non_snake_case)]
        mod address {
            $($crate::intercept::real_address! { pub $name $(, $version)? })*
        }

        #[allow(dead_code, non_snake_case, unused_imports)]
        mod real {
            use super::*;
            $(
                #[inline]
                pub unsafe fn $name($($argument: $type),*) $(-> $answer)? {
                    // SAFETY: the address is that of the C library's function of this name, whose signature is the
                    // one given; the caller vouches for the arguments.
                    unsafe {
                        let function: unsafe extern "C" fn($($type),*) $(-> $answer)? = core::mem::transmute(address::$name());
                        function($($argument),*)
                    }
                }
            )*
        }
    };
}

/// Defines intercepts of calls that touch memory of the program: what a call touches is noted, and the real function
/// does the rest.
///
/// ```ignore
/// touching! {
///     "rsi": fn puts(text: *const c_char) -> c_int => write_line, before |call| call.reads_text(text);
///     "rsi": fn strlen(text: *const c_char) -> size_t => length, after |call, answer| call.reads(text.cast(), answer + 1);
/// }
/// ```
///
/// notes before the call, or after it, when its answer tells what was touched. Nothing is held while the real function
/// runs: it may be a cancellation point and never return. Otherwise as `intercepts!`.
macro_rules! touching {
    ($($register:literal: fn $name:ident($($argument:ident: $type:ty),*) -> $answer:ty => $target:ident,
        $when:ident |$call:ident $(, $answered:ident)?| $note:expr;)*) => {
        $crate::intercept::intercepts! {
            $($register: fn $name($($argument: $type),*) -> $answer => $target;)*
        }

        $(
            pub(crate) extern "C" fn $target($($argument: $type,)* return_address: u64) -> $answer {
                // SAFETY: the real function gets the program's own arguments.
                let act = || unsafe { real::$name($($argument),*) };
                $crate::intercept::noted!($when, return_address, act, |$call $(, $answered)?| $note)
            }
        )*
    };
}

/// One call of `touching!`.
macro_rules! noted {
    (before, $return_address:ident, $act:ident, |$call:ident| $note:expr) => {{
        if let Some($call) = $crate::intercept::caller::Call::returning_to($return_address) {
            $note
        }
        $act()
    }};
    (after, $return_address:ident, $act:ident, |$call:ident, $answered:ident| $note:expr) => {{
        let $answered = $act();
        if let Some($call) = $crate::intercept::caller::Call::returning_to($return_address) {
            $note
        }
        $answered
    }};
}

/// Defines intercepts that take notice and then jump to the real function, which finds registers and stack as its
/// caller left them: for functions with a variable number of arguments, or that look at who called them.
///
/// ```ignore
/// notices! { fn dlopen => opening; }
/// ```
///
/// makes the exported function `dlopen`, which calls `opening(site, &mut arguments)` first; `arguments` are the six
/// registers, as the real function will find them.
macro_rules! notices {
    ($(fn $name:ident => $target:ident;)*) => {
        #[allow(non_snake_case)]
        mod noticed {
            $(
                pub mod $name {
                    $crate::intercept::real_address! { pub $name }

                    extern "C" fn notice(site: u64, arguments: &mut [u64; 6]) -> *const core::ffi::c_void {
                        super::super::$target(site, arguments);
                        $name()
                    }

                    #[cfg_attr(not(feature = "static-target"), unsafe(export_name = stringify!($name)))]
                    #[cfg_attr(feature = "static-target", unsafe(export_name = concat!("__wrap_", stringify!($name))))]
                    #[unsafe(naked)]
                    pub unsafe extern "C" fn intercept() {
                        // rax holds the number of vector registers of a call with variable arguments.
                        core::arch::naked_asm!(
                            $crate::intercept::weakened!($name),
                            "push rax",
                            "push r9",
                            "push r8",
                            "push rcx",
                            "push rdx",
                            "push rsi",
                            "push rdi",
                            "mov rdi, qword ptr [rsp + 56]",
                            "mov rsi, rsp",
                            "call {notice}",
                            "mov r11, rax",
                            "pop rdi",
                            "pop rsi",
                            "pop rdx",
                            "pop rcx",
                            "pop r8",
                            "pop r9",
                            "pop rax",
                            "jmp r11",
                            notice = sym notice,
                        )
                    }
                }
            )*
        }
    };
}

/// Defines a function that gives the address of a function of the C library: looked up at the start, or known to the
/// linker as `__real_X` (option `--wrap=X`).
macro_rules! real_address {
    ($visibility:vis $name:ident $(, $version:literal)?) => {
        #[cfg(not(feature = "static-target"))]
        #[inline]
        $visibility fn $name() -> *const core::ffi::c_void {
            $crate::intercept::real_function!(REAL = $name $(, $version)?);
            REAL.address()
        }

        #[cfg(feature = "static-target")]
        #[inline]
        $visibility fn $name() -> *const core::ffi::c_void {
            unsafe extern "C" {
                #[link_name = concat!("__real_", stringify!($name))]
                fn function();
            }
            function as *const core::ffi::c_void
        }
    };
}

/// Defines `static $real: Real` for a function of the C library, and puts it into the list that
/// `real::look_up_all` goes through.
#[cfg(not(feature = "static-target"))]
macro_rules! real_function {
    ($real:ident = $name:ident $(, $version:literal)?) => {
        static $real: $crate::real::Real = $crate::real::Real::new(
            $crate::intercept::c_text!(stringify!($name)),
            $crate::intercept::version_text!($($version)?),
        );
        #[used]
        #[unsafe(link_section = "unpick_reals")]
        static LOOKED_UP_EARLY: &$crate::real::Real = &$real;
    };
}

#[cfg(not(feature = "static-target"))]
macro_rules! version_text {
    () => {
        None
    };
    ($version:literal) => {
        Some($crate::intercept::c_text!($version))
    };
}

#[cfg(not(feature = "static-target"))]
macro_rules! c_text {
    ($text:expr) => {
        // SAFETY: the bytes end in the only zero byte.
        unsafe { core::ffi::CStr::from_bytes_with_nul_unchecked(concat!($text, "\0").as_bytes()) }
    };
}

#[cfg(not(feature = "static-target"))]
pub(crate) use c_text;
pub(crate) use intercepts;
pub(crate) use noted;
pub(crate) use notices;
pub(crate) use real_address;
#[cfg(not(feature = "static-target"))]
pub(crate) use real_function;
pub(crate) use touching;
#[cfg(not(feature = "static-target"))]
pub(crate) use version_text;
pub(crate) use weakened;
