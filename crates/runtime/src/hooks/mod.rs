//! The functions that compiled code calls: the hook ABI of gcc, clang and rustc.
//!
//! A hook's site is the address it returns to. Hooks are naked functions that pass that address on as one
//! more argument.

pub mod access;
pub mod annotations;
pub mod atomic;
pub mod function;
pub mod memory;
pub mod start;

/// Defines exported hooks that jump to a function with the return address in the given register, which is the
/// one after the hook's own arguments.
macro_rules! hooks {
    ($register:literal: $($name:ident => $target:path,)*) => {$(
        // Only compiled code calls hooks: who they are safe for is the compiler's affair.
        #[allow(non_snake_case, clippy::missing_safety_doc)]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            core::arch::naked_asm!(
                concat!("mov ", $register, ", qword ptr [rsp]"),
                "jmp {target}",
                target = sym $target,
            )
        }
    )*};
}

pub(crate) use hooks;
