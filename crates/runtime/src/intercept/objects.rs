//! Synchronisation objects as memory: they are initialised, used and destroyed like any other bytes.
//!
//! So a lock that is used before it was initialised, or after it was destroyed or freed, shows as an order of accesses.

use libc::{EBUSY, c_int};
use unpick_events::Kind;
use unpick_events::kind::access_flags::{FREE, LIBRARY};

use crate::local;
use crate::shadow::cell::QUAD;
use crate::shadow::silent::{read_among_readers, read_silently};
use crate::shadow::{Access, range, touch};
use crate::start::threads;

/// How much of an object a use of it looks at: no object is smaller.
const LOOKED_AT: u64 = 4;

/// The object is initialised: its bytes begin a new life.
pub fn begin(address: u64, bytes: u64, site: u64) {
    let Some(thread) = local::thread().or_else(threads::attach_unknown) else { return };
    if let Some(_busy) = thread.enter() {
        range::forget(thread, address, bytes);
    }
    touch(thread, &Access { kind: Kind::Write, flags: LIBRARY, address, bytes, site: site as u32 });
}

/// The object is destroyed: the last write to its bytes in this life.
pub fn end(address: u64, bytes: u64, site: u64) {
    note(Access { kind: Kind::Write, flags: LIBRARY | FREE, address, bytes, site: site as u32 });
}

/// What `init` of an object answered: 0 if it has been initialised.
pub fn initialised(answer: c_int, address: u64, bytes: u64, site: u64) -> c_int {
    if answer == 0 {
        begin(address, bytes, site);
    }
    answer
}

/// What `destroy` of an object answered: 0 if it has been destroyed. One that is refused because somebody uses the object is a write all the
/// same: whoever was to be done with the object before is not, and only the order of the two shows that.
pub fn destroyed(answer: c_int, address: u64, bytes: u64, site: u64) -> c_int {
    match answer {
        0 => end(address, bytes, site),
        EBUSY => {
            note(Access { kind: Kind::Write, flags: LIBRARY, address, bytes, site: site as u32 })
        }
        _ => {}
    }
    answer
}

/// The object is used.
pub fn look_at(address: u64, site: u64) {
    let is_silent = address.is_multiple_of(LOOKED_AT)
        && (read_silently(local::pass(), address, QUAD, site as u32)
            || read_among_readers(local::hot(), address, QUAD, site as u32));
    if is_silent {
        return;
    }
    note(Access { kind: Kind::Read, flags: LIBRARY, address, bytes: LOOKED_AT, site: site as u32 });
}

/// The object is changed.
pub fn change(address: u64, site: u64) {
    note(Access {
        kind: Kind::Write,
        flags: LIBRARY,
        address,
        bytes: LOOKED_AT,
        site: site as u32,
    });
}

fn note(access: Access) {
    if let Some(thread) = local::thread().or_else(threads::attach_unknown) {
        touch(thread, &access);
    }
}
