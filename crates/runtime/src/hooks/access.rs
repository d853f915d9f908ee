//! Plain reads and writes.

use unpick_events::Kind;
use unpick_events::kind::access_flags;

use super::hooks;
use crate::local;
use crate::shadow::cell::{GRANULE, QUAD};
use crate::shadow::quick;
use crate::shadow::range::{FEW, touch_few, touch_range};
use crate::shadow::silent::{
    byte_silently, read_among_readers, read_silently, span_silently, write_silently,
};
use crate::shadow::{Access, touch};
use crate::start;

/// Notes an access that did not pass in silence.
#[cold]
#[inline(never)]
pub extern "C" fn note(address: u64, site: u64, bytes: u64, kind_and_flags: u64) {
    let Some(thread) = local::thread().or_else(start::attach_unknown_thread) else { return };
    let kind = if kind_and_flags & 1 == 0 { Kind::Read } else { Kind::Write };
    let flags = (kind_and_flags >> 1) as u16;
    touch(thread, &Access { kind, flags, address, bytes, site: site as u32 });
}

/// Notes an access of four or eight aligned bytes that did not pass in silence.
#[cold]
#[inline(never)]
extern "C" fn note_aligned(address: u64, site: u64, bytes: u64, kind: u64) {
    let shape = if bytes == 8 { GRANULE } else { QUAD };
    let what = if kind == WRITE { Kind::Write } else { Kind::Read };
    if let Some(thread) = local::thread()
        && let Some(_busy) = thread.enter_quietly()
        && quick::note_aligned(thread, address, shape, site as u32, what)
    {
        return;
    }
    note(address, site, bytes, kind);
}

/// Notes an access of one byte that did not pass in silence.
#[cold]
#[inline(never)]
extern "C" fn note_byte(address: u64, site: u64, kind: u64) {
    let what = if kind == WRITE { Kind::Write } else { Kind::Read };
    if let Some(thread) = local::thread()
        && let Some(_busy) = thread.enter_quietly()
        && quick::note_byte(thread, address, site as u32, what)
    {
        return;
    }
    note(address, site, 1, kind);
}

/// Notes an access to a few bytes of any alignment that did not pass in silence.
#[cold]
#[inline(never)]
extern "C" fn note_span(address: u64, site: u64, bytes: u64, kind: u64) {
    let Some(thread) = local::thread() else { return note(address, site, bytes, kind) };
    let kind = if kind == WRITE { Kind::Write } else { Kind::Read };
    touch_few(thread, Access { kind, flags: 0, address, bytes, site: site as u32 });
}

const READ: u64 = 0;
const WRITE: u64 = 1;
const fn with_flags(kind: u64, flags: u16) -> u64 {
    kind | (flags as u64) << 1
}

// Each step calls the next as its last act, so that none needs a stack frame.

extern "C" fn read_8(address: u64, site: u64) {
    if !read_silently(local::pass(), address, GRANULE, site as u32) {
        read_shared_8(address, site);
    }
}

#[inline(never)]
extern "C" fn read_shared_8(address: u64, site: u64) {
    if !read_among_readers(local::hot(), address, GRANULE, site as u32) {
        note_aligned(address, site, 8, READ);
    }
}

extern "C" fn read_4(address: u64, site: u64) {
    if !read_silently(local::pass(), address, QUAD, site as u32) {
        read_shared_4(address, site);
    }
}

#[inline(never)]
extern "C" fn read_shared_4(address: u64, site: u64) {
    if !read_among_readers(local::hot(), address, QUAD, site as u32) {
        note_aligned(address, site, 4, READ);
    }
}

extern "C" fn write_8(address: u64, site: u64) {
    if !write_silently(local::pass(), address, GRANULE, site as u32) {
        note_aligned(address, site, 8, WRITE);
    }
}

extern "C" fn write_4(address: u64, site: u64) {
    if !write_silently(local::pass(), address, QUAD, site as u32) {
        note_aligned(address, site, 4, WRITE);
    }
}

extern "C" fn read_1(address: u64, site: u64) {
    if !byte_silently(local::hot(), address, site as u32, false) {
        note_byte(address, site, READ);
    }
}

extern "C" fn write_1(address: u64, site: u64) {
    if !byte_silently(local::hot(), address, site as u32, true) {
        note_byte(address, site, WRITE);
    }
}

extern "C" fn read_16(address: u64, site: u64) {
    read_8(address, site);
    read_8(address + 8, site);
}

extern "C" fn write_16(address: u64, site: u64) {
    write_8(address, site);
    write_8(address + 8, site);
}

/// Defines functions for accesses of a fixed length and any alignment.
macro_rules! spanning {
    ($($name:ident($bytes:literal, $kind:expr);)*) => {$(
        extern "C" fn $name(address: u64, site: u64) {
            if !span_silently(local::hot(), address, $bytes, site as u32, $kind == WRITE) {
                note_span(address, site, $bytes, $kind);
            }
        }
    )*};
}

spanning! {
    read_2(2, READ);
    write_2(2, WRITE);
    unaligned_read_2(2, READ);
    unaligned_read_4(4, READ);
    unaligned_read_8(8, READ);
    unaligned_read_16(16, READ);
    unaligned_write_2(2, WRITE);
    unaligned_write_4(4, WRITE);
    unaligned_write_8(8, WRITE);
    unaligned_write_16(16, WRITE);
}

/// Defines functions that note an access of a fixed length that never has a short cut.
macro_rules! noting {
    ($($name:ident($bytes:literal, $kind:expr);)*) => {$(
        extern "C" fn $name(address: u64, site: u64) {
            note(address, site, $bytes, $kind);
        }
    )*};
}

noting! {
    volatile_read_1(1, with_flags(READ, access_flags::VOLATILE));
    volatile_read_2(2, with_flags(READ, access_flags::VOLATILE));
    volatile_read_4(4, with_flags(READ, access_flags::VOLATILE));
    volatile_read_8(8, with_flags(READ, access_flags::VOLATILE));
    volatile_read_16(16, with_flags(READ, access_flags::VOLATILE));
    volatile_write_1(1, with_flags(WRITE, access_flags::VOLATILE));
    volatile_write_2(2, with_flags(WRITE, access_flags::VOLATILE));
    volatile_write_4(4, with_flags(WRITE, access_flags::VOLATILE));
    volatile_write_8(8, with_flags(WRITE, access_flags::VOLATILE));
    volatile_write_16(16, with_flags(WRITE, access_flags::VOLATILE));
    vptr_read(8, with_flags(READ, access_flags::VPTR));
    vptr_write(8, with_flags(WRITE, access_flags::VPTR));
}

/// A read, then a write, in one hook.
macro_rules! read_writing {
    ($($name:ident = $read:ident, $write:ident;)*) => {$(
        extern "C" fn $name(address: u64, site: u64) {
            $read(address, site);
            $write(address, site);
        }
    )*};
}

read_writing! {
    read_write_1 = read_1, write_1;
    read_write_2 = read_2, write_2;
    read_write_4 = read_4, write_4;
    read_write_8 = read_8, write_8;
    read_write_16 = read_16, write_16;
    unaligned_read_write_2 = unaligned_read_2, unaligned_write_2;
    unaligned_read_write_4 = unaligned_read_4, unaligned_write_4;
    unaligned_read_write_8 = unaligned_read_8, unaligned_write_8;
    unaligned_read_write_16 = unaligned_read_16, unaligned_write_16;
}

/// Defines functions for accesses of any length and alignment. gcc tells all so that it does not know to be aligned.
macro_rules! ranging {
    ($($name:ident($kind:expr, $what:expr);)*) => {$(
        extern "C" fn $name(address: u64, bytes: u64, site: u64) {
            if bytes <= FEW {
                if !span_silently(local::hot(), address, bytes, site as u32, $kind == WRITE) {
                    note_span(address, site, bytes, $kind);
                }
            } else if let Some(thread) = local::thread() {
                let access = Access { kind: $what, flags: 0, address, bytes, site: site as u32 };
                touch_range(thread, &access);
            }
        }
    )*};
}

ranging! {
    read_range(READ, Kind::Read);
    write_range(WRITE, Kind::Write);
}

hooks! { "rsi":
    __tsan_read1 => read_1,
    __tsan_read2 => read_2,
    __tsan_read4 => read_4,
    __tsan_read8 => read_8,
    __tsan_read16 => read_16,
    __tsan_write1 => write_1,
    __tsan_write2 => write_2,
    __tsan_write4 => write_4,
    __tsan_write8 => write_8,
    __tsan_write16 => write_16,
    __tsan_unaligned_read2 => unaligned_read_2,
    __tsan_unaligned_read4 => unaligned_read_4,
    __tsan_unaligned_read8 => unaligned_read_8,
    __tsan_unaligned_read16 => unaligned_read_16,
    __tsan_unaligned_write2 => unaligned_write_2,
    __tsan_unaligned_write4 => unaligned_write_4,
    __tsan_unaligned_write8 => unaligned_write_8,
    __tsan_unaligned_write16 => unaligned_write_16,
    __tsan_volatile_read1 => volatile_read_1,
    __tsan_volatile_read2 => volatile_read_2,
    __tsan_volatile_read4 => volatile_read_4,
    __tsan_volatile_read8 => volatile_read_8,
    __tsan_volatile_read16 => volatile_read_16,
    __tsan_volatile_write1 => volatile_write_1,
    __tsan_volatile_write2 => volatile_write_2,
    __tsan_volatile_write4 => volatile_write_4,
    __tsan_volatile_write8 => volatile_write_8,
    __tsan_volatile_write16 => volatile_write_16,
    __tsan_unaligned_volatile_read2 => volatile_read_2,
    __tsan_unaligned_volatile_read4 => volatile_read_4,
    __tsan_unaligned_volatile_read8 => volatile_read_8,
    __tsan_unaligned_volatile_read16 => volatile_read_16,
    __tsan_unaligned_volatile_write2 => volatile_write_2,
    __tsan_unaligned_volatile_write4 => volatile_write_4,
    __tsan_unaligned_volatile_write8 => volatile_write_8,
    __tsan_unaligned_volatile_write16 => volatile_write_16,
    __tsan_read_write1 => read_write_1,
    __tsan_read_write2 => read_write_2,
    __tsan_read_write4 => read_write_4,
    __tsan_read_write8 => read_write_8,
    __tsan_read_write16 => read_write_16,
    __tsan_unaligned_read_write2 => unaligned_read_write_2,
    __tsan_unaligned_read_write4 => unaligned_read_write_4,
    __tsan_unaligned_read_write8 => unaligned_read_write_8,
    __tsan_unaligned_read_write16 => unaligned_read_write_16,
    __tsan_vptr_read => vptr_read,
}

hooks! { "rdx":
    __tsan_read_range => read_range,
    __tsan_write_range => write_range,
}

// The new value of the vtable pointer is the hook's second argument and of no interest: a constructor writes it.
hooks! { "rsi":
    __tsan_vptr_update => vptr_write,
}
