//! 128-bit atomics, all by `cmpxchg16b`.
//!
//! The values travel in two registers each, so the compare-exchange hooks have no register left for the return
//! address: it is passed on the stack.

use core::arch::{asm, naked_asm};
use unpick_events::Kind;

use super::{exchange_flags, perform, plain_flags};

/// Stores `value` if the 16 bytes at `address` are `expected`; gives what was there.
fn exchange_if_equal(address: u64, expected: u128, value: u128) -> u128 {
    let (found_low, found_high): (u64, u64);
    // SAFETY: the program asked for a 16-byte atomic at this address, which is thus valid and aligned. rbx is
    // kept by LLVM for itself and restored. The address has a register of its own, which may not be rbx.
    unsafe {
        asm!(
            "xchg rbx, {low}",
            "lock cmpxchg16b xmmword ptr [rdi]",
            "mov rbx, {low}",
            low = inout(reg) value as u64 => _,
            in("rdi") address,
            in("rcx") (value >> 64) as u64,
            inout("rax") expected as u64 => found_low,
            inout("rdx") (expected >> 64) as u64 => found_high,
            options(nostack),
        );
    }
    found_low as u128 | (found_high as u128) << 64
}

fn update(address: u64, change: impl Fn(u128) -> u128) -> u128 {
    let mut seen = exchange_if_equal(address, 0, 0);
    loop {
        let found = exchange_if_equal(address, seen, change(seen));
        if found == seen {
            return found;
        }
        seen = found;
    }
}

pub extern "C" fn load(address: u64, order: i32, site: u64) -> u128 {
    perform(address, 16, site, plain_flags(order, 16), || {
        (exchange_if_equal(address, 0, 0), Kind::Read)
    })
}

pub extern "C" fn store(address: u64, value: u128, order: i32, site: u64) {
    perform(address, 16, site, plain_flags(order, 16), || {
        (update(address, |_| value), Kind::Write)
    });
}

macro_rules! updates {
    ($($name:ident = $change:expr;)*) => {$(
        pub extern "C" fn $name(address: u64, value: u128, order: i32, site: u64) -> u128 {
            let change: fn(u128, u128) -> u128 = $change;
            perform(address, 16, site, plain_flags(order, 16), || (update(address, |old| change(old, value)), Kind::ReadWrite))
        }
    )*};
}

updates! {
    exchange = |_, value| value;
    add = u128::wrapping_add;
    sub = u128::wrapping_sub;
    and = |old, value| old & value;
    or = |old, value| old | value;
    xor = |old, value| old ^ value;
    nand = |old, value| !(old & value);
}

fn exchange_if(address: u64, expected: u128, value: u128, orders: [i32; 2], site: u64) -> u128 {
    perform(address, 16, site, exchange_flags(orders[0], orders[1]), || {
        let found = exchange_if_equal(address, expected, value);
        (found, if found == expected { Kind::ReadWrite } else { Kind::Read })
    })
}

extern "C" fn compare_exchange(
    address: u64,
    expected: *mut u128,
    value: u128,
    order: i32,
    failure_order: i32,
    site: u64,
) -> bool {
    // SAFETY: the program passes a valid pointer to the value it expects; gcc and clang align it to 16.
    let wanted = unsafe { expected.read_unaligned() };
    let found = exchange_if(address, wanted, value, [order, failure_order], site);
    if found != wanted {
        // SAFETY: as above; the hook's contract is to store what was found.
        unsafe { expected.write_unaligned(found) };
    }
    found == wanted
}

extern "C" fn compare_exchange_value(
    address: u64,
    expected: u128,
    value: u128,
    order: i32,
    failure_order: i32,
    site: u64,
) -> u128 {
    exchange_if(address, expected, value, [order, failure_order], site)
}

/// Six registers are taken: the site goes on the stack, as seventh argument.
macro_rules! with_site_on_stack {
    ($($name:ident => $target:path,)*) => {$(
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub unsafe extern "C" fn $name() {
            naked_asm!(
                "push qword ptr [rsp]",
                "call {target}",
                "add rsp, 8",
                "ret",
                target = sym $target,
            )
        }
    )*};
}

with_site_on_stack! {
    __tsan_atomic128_compare_exchange_strong => compare_exchange,
    __tsan_atomic128_compare_exchange_weak => compare_exchange,
}

/// address rdi, expected rsi:rdx, value rcx:r8, order r9d, failure order at [rsp+8].
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn __tsan_atomic128_compare_exchange_val() {
    naked_asm!(
        "mov rax, qword ptr [rsp]",
        "mov r10, qword ptr [rsp + 8]",
        "sub rsp, 8",
        "push rax",
        "push r10",
        "call {target}",
        "add rsp, 24",
        "ret",
        target = sym compare_exchange_value,
    )
}
