//! Atomic accesses: performed as asked for, and recorded in the order in which they took effect.
//!
//! A store or read-modify-write holds the granule's lock bit while it is performed. A load by a thread that the
//! bytes know already only looks: if the state is the same before and after, no store came in between.
//! On x86_64 every order is performed at least as strongly as asked for: loads acquire, stores release or
//! exchange, read-modify-writes are sequentially consistent.

use core::sync::atomic::{
    AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::*, compiler_fence, fence,
};
use unpick_events::kind::access_flags;
use unpick_events::{Kind, MemoryOrder};

use super::hooks;
use crate::breakpoints;
use crate::local;
use crate::shadow::cell::{GRANULE, KEPT_IN_FULL, LOCKED, QUAD};
use crate::shadow::region::cell;
use crate::shadow::silent::{read_among_readers, read_silently};
use crate::shadow::touch::{
    Access, FAILURE_ORDER_SHIFT, MAY_LOCK, RECORDED_FLAGS, touch, touch_around,
};
use crate::start;
use crate::sync;

/// `__ATOMIC_SEQ_CST` of the compilers; their orders are ours less one.
const SEQUENTIALLY_CONSISTENT: i32 = 5;

fn order_flags(order: i32) -> u16 {
    // Bits above the lowest byte are hints for lock elision.
    ((order & 0xff).clamp(0, SEQUENTIALLY_CONSISTENT) + 1) as u16
}

/// Locks of the standard library are words of at most this many bytes; larger ones are mostly counters and pointers.
const LARGEST_LOCK: u64 = 4;

/// The order, and whether the access may be a step of a lock: if it writes, and orders what is around it.
fn flags_of(order: i32, may_lock: bool) -> u16 {
    let order = order_flags(order);
    if may_lock && order >= MemoryOrder::Acquire as u16 { order | MAY_LOCK } else { order }
}

/// The same for an access that is no exchange and no subtraction.
fn plain_flags(order: i32, bytes: u64) -> u16 {
    flags_of(order, bytes <= LARGEST_LOCK)
}

/// The same for a compare-exchange, by which locks of parking_lot that have eight bytes are taken.
fn exchange_flags(order: i32, failure_order: i32) -> u16 {
    let failed = order_flags(failure_order) << FAILURE_ORDER_SHIFT;
    flags_of(order, true) | access_flags::FAILED_EXCHANGE | failed
}

/// Performs an atomic access so that its place in the recording agrees with its effect.
fn perform<T>(
    address: u64,
    bytes: u64,
    site: u64,
    flags: u16,
    action: impl FnOnce() -> (T, Kind),
) -> T {
    let Some(thread) = local::thread().or_else(start::attach_unknown_thread) else {
        return action().0;
    };
    let access = Access { kind: Kind::ReadWrite, flags, address, bytes, site: site as u32 };
    let mut kind = Kind::Read;
    let answer = touch_around(thread, &access, || {
        let (answer, what) = action();
        kind = what;
        (answer, what)
    });
    if bytes > 8 {
        touch(
            thread,
            &Access {
                kind,
                flags: access.flags & RECORDED_FLAGS & !access_flags::FAILED_EXCHANGE
                    | access_flags::CONTINUED,
                address: address + 8,
                bytes: 8,
                ..access
            },
        );
    }
    if flags & MAY_LOCK != 0 {
        // A lock that the program made of atomics may have been released.
        breakpoints::after_release();
    }
    answer
}

/// The value, if the load can be made without taking part: no store may come between looking and loading.
#[inline]
fn load_silently<T>(address: u64, shape: u32, site: u64, load: &impl Fn() -> T) -> Option<T> {
    let hot = local::hot();
    // In a full recording every atomic access has an event.
    let is_full = hot.kept.get() == KEPT_IN_FULL && start::recorder().is_full();
    if hot.key.get() == 0 || is_full {
        return None;
    }
    let (mine, low) = (cell(address), cell(address & !7));
    let before = (mine.raw_state(), low.raw_state());
    compiler_fence(SeqCst);
    let value = load();
    compiler_fence(SeqCst);
    let is_calm = low.raw_state() & LOCKED == 0 && before == (mine.raw_state(), low.raw_state());
    let is_known = is_calm
        && (read_silently(hot.pass(), address, shape, site as u32)
            || read_among_readers(hot, address, shape, site as u32));
    is_known.then_some(value)
}

/// Read-modify-writes that give the value before: each by the method of the atomic type. Used inside `atomics!`.
macro_rules! updates {
    ($integer:ty: $($name:ident = $method:ident;)*) => {$(
        pub extern "C" fn $name(address: u64, value: $integer, order: i32, site: u64) -> $integer {
            perform(address, BYTES, site, plain_flags(order, BYTES), || {
                (at(address).$method(value, SeqCst), Kind::ReadWrite)
            })
        }
    )*};
}

macro_rules! atomics {
    ($width:ident, $integer:ty, $atomic:ty, $shape:expr) => {
        mod $width {
            use super::*;

            const BYTES: u64 = size_of::<$integer>() as u64;

            fn at(address: u64) -> &'static $atomic {
                // SAFETY: the program asked for an atomic access to this address, which is thus valid and aligned.
                unsafe { &*(address as *const $atomic) }
            }

            pub extern "C" fn load(address: u64, order: i32, site: u64) -> $integer {
                let load = || at(address).load(SeqCst);
                let shape: u32 = $shape;
                if shape != 0
                    && let Some(value) = load_silently(address, shape, site, &load)
                {
                    return value;
                }
                perform(address, BYTES, site, plain_flags(order, BYTES), || (load(), Kind::Read))
            }

            pub extern "C" fn store(address: u64, value: $integer, order: i32, site: u64) {
                perform(address, BYTES, site, plain_flags(order, BYTES), || {
                    if order & 0xff == SEQUENTIALLY_CONSISTENT {
                        at(address).store(value, SeqCst);
                    } else {
                        at(address).store(value, Release);
                    }
                    ((), Kind::Write)
                });
            }

            updates! { $integer:
                exchange = swap;
                add = fetch_add;
                and = fetch_and;
                or = fetch_or;
                xor = fetch_xor;
                nand = fetch_nand;
            }

            /// Locks of parking_lot count in steps above 1; what counts by 1 in eight bytes is an `Arc`.
            pub extern "C" fn sub(
                address: u64,
                value: $integer,
                order: i32,
                site: u64,
            ) -> $integer {
                let flags = flags_of(order, BYTES <= LARGEST_LOCK || value != 1);
                perform(address, BYTES, site, flags, || {
                    (at(address).fetch_sub(value, SeqCst), Kind::ReadWrite)
                })
            }

            fn exchange_if(
                address: u64,
                expected: $integer,
                value: $integer,
                orders: [i32; 2],
                site: u64,
            ) -> Result<$integer, $integer> {
                let flags = exchange_flags(orders[0], orders[1]);
                perform(address, BYTES, site, flags, || {
                    let answer = at(address).compare_exchange(expected, value, SeqCst, SeqCst);
                    (answer, if answer.is_ok() { Kind::ReadWrite } else { Kind::Read })
                })
            }

            pub extern "C" fn compare_exchange(
                address: u64,
                expected: *mut $integer,
                value: $integer,
                order: i32,
                failure_order: i32,
                site: u64,
            ) -> bool {
                // SAFETY: the program passes a valid pointer to the value it expects.
                let wanted = unsafe { *expected };
                let answer = exchange_if(address, wanted, value, [order, failure_order], site);
                if let Err(found) = answer {
                    // SAFETY: as above; the hook's contract is to store what was found.
                    unsafe { *expected = found };
                }
                answer.is_ok()
            }

            pub extern "C" fn compare_exchange_value(
                address: u64,
                expected: $integer,
                value: $integer,
                order: i32,
                failure_order: i32,
                site: u64,
            ) -> $integer {
                exchange_if(address, expected, value, [order, failure_order], site)
                    .unwrap_or_else(|found| found)
            }
        }
    };
}

atomics!(bits_8, u8, AtomicU8, 0);
atomics!(bits_16, u16, AtomicU16, 0);
atomics!(bits_32, u32, AtomicU32, QUAD);
atomics!(bits_64, u64, AtomicU64, GRANULE);

mod bits_128;

hooks! { "rdx":
    __tsan_atomic8_load => bits_8::load,
    __tsan_atomic16_load => bits_16::load,
    __tsan_atomic32_load => bits_32::load,
    __tsan_atomic64_load => bits_64::load,
    __tsan_atomic128_load => bits_128::load,
}

hooks! { "rcx":
    __tsan_atomic8_store => bits_8::store,
    __tsan_atomic16_store => bits_16::store,
    __tsan_atomic32_store => bits_32::store,
    __tsan_atomic64_store => bits_64::store,
    __tsan_atomic8_exchange => bits_8::exchange,
    __tsan_atomic16_exchange => bits_16::exchange,
    __tsan_atomic32_exchange => bits_32::exchange,
    __tsan_atomic64_exchange => bits_64::exchange,
    __tsan_atomic8_fetch_add => bits_8::add,
    __tsan_atomic16_fetch_add => bits_16::add,
    __tsan_atomic32_fetch_add => bits_32::add,
    __tsan_atomic64_fetch_add => bits_64::add,
    __tsan_atomic8_fetch_sub => bits_8::sub,
    __tsan_atomic16_fetch_sub => bits_16::sub,
    __tsan_atomic32_fetch_sub => bits_32::sub,
    __tsan_atomic64_fetch_sub => bits_64::sub,
    __tsan_atomic8_fetch_and => bits_8::and,
    __tsan_atomic16_fetch_and => bits_16::and,
    __tsan_atomic32_fetch_and => bits_32::and,
    __tsan_atomic64_fetch_and => bits_64::and,
    __tsan_atomic8_fetch_or => bits_8::or,
    __tsan_atomic16_fetch_or => bits_16::or,
    __tsan_atomic32_fetch_or => bits_32::or,
    __tsan_atomic64_fetch_or => bits_64::or,
    __tsan_atomic8_fetch_xor => bits_8::xor,
    __tsan_atomic16_fetch_xor => bits_16::xor,
    __tsan_atomic32_fetch_xor => bits_32::xor,
    __tsan_atomic64_fetch_xor => bits_64::xor,
    __tsan_atomic8_fetch_nand => bits_8::nand,
    __tsan_atomic16_fetch_nand => bits_16::nand,
    __tsan_atomic32_fetch_nand => bits_32::nand,
    __tsan_atomic64_fetch_nand => bits_64::nand,
}

// A 128-bit value takes two registers.
hooks! { "r8":
    __tsan_atomic128_store => bits_128::store,
    __tsan_atomic128_exchange => bits_128::exchange,
    __tsan_atomic128_fetch_add => bits_128::add,
    __tsan_atomic128_fetch_sub => bits_128::sub,
    __tsan_atomic128_fetch_and => bits_128::and,
    __tsan_atomic128_fetch_or => bits_128::or,
    __tsan_atomic128_fetch_xor => bits_128::xor,
    __tsan_atomic128_fetch_nand => bits_128::nand,
}

hooks! { "r9":
    __tsan_atomic8_compare_exchange_strong => bits_8::compare_exchange,
    __tsan_atomic16_compare_exchange_strong => bits_16::compare_exchange,
    __tsan_atomic32_compare_exchange_strong => bits_32::compare_exchange,
    __tsan_atomic64_compare_exchange_strong => bits_64::compare_exchange,
    __tsan_atomic8_compare_exchange_weak => bits_8::compare_exchange,
    __tsan_atomic16_compare_exchange_weak => bits_16::compare_exchange,
    __tsan_atomic32_compare_exchange_weak => bits_32::compare_exchange,
    __tsan_atomic64_compare_exchange_weak => bits_64::compare_exchange,
    __tsan_atomic8_compare_exchange_val => bits_8::compare_exchange_value,
    __tsan_atomic16_compare_exchange_val => bits_16::compare_exchange_value,
    __tsan_atomic32_compare_exchange_val => bits_32::compare_exchange_value,
    __tsan_atomic64_compare_exchange_val => bits_64::compare_exchange_value,
}

extern "C" fn thread_fence(order: i32, site: u64) {
    fence(SeqCst);
    sync::fence(order_flags(order), site as u32);
}

extern "C" fn signal_fence(_order: i32) {
    compiler_fence(SeqCst);
}

hooks! { "rsi":
    __tsan_atomic_thread_fence => thread_fence,
    __tsan_atomic_signal_fence => signal_fence,
}
