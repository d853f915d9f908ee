//! Pipes and sockets order what threads do: who reads comes after who wrote.
//!
//! Told in full recordings only, which are there for what is ordered and what is not. Which bytes a reader got is not known: it comes after
//! everything that was written so far. Files on disk order nothing here.

use core::mem::MaybeUninit;
use libc::{c_int, ssize_t};
use unpick_events::Kind;

use super::caller::Call;
use crate::start::recorder;
use crate::sync;
use crate::sys;

/// No address of the program has this bit.
const CHANNEL: u64 = 1 << 47;
const NUMBER_MASK: u64 = CHANNEL - 1;

impl Call {
    /// Something is about to be written to a file.
    pub fn gives_to(&self, file: c_int) {
        if let Some(channel) = channel_of(file) {
            sync::record(Kind::HappensBefore, 0, channel, self.site(), &[]);
        }
    }

    /// So much has been read from a file.
    pub fn takes_from(&self, file: c_int, answer: ssize_t) {
        if answer > 0
            && let Some(channel) = channel_of(file)
        {
            sync::record(Kind::HappensAfter, 0, channel, self.site(), &[]);
        }
    }
}

/// A number for what is behind a file: the same for both ends of a pipe, and one for all sockets, whose ends do not know each other.
fn channel_of(file: c_int) -> Option<u64> {
    if !recorder().is_full() {
        return None;
    }
    let mut about = MaybeUninit::<libc::stat>::uninit();
    let place = about.as_mut_ptr() as usize;
    // SAFETY: the kernel fills the structure, which outlives the call.
    unsafe { sys::call(libc::SYS_fstat, file as usize, place, 0, 0, 0, 0) }.ok()?;
    // SAFETY: it succeeded, so all of it is filled. It is looked at where it is: a copy would be a call of `memcpy`.
    let (mode, number) = unsafe { ((*about.as_ptr()).st_mode, (*about.as_ptr()).st_ino) };
    match mode & libc::S_IFMT {
        libc::S_IFIFO => Some(CHANNEL | number << 1 & NUMBER_MASK | 1),
        libc::S_IFSOCK => Some(CHANNEL),
        // An event or timer of the kernel has no type.
        0 => Some(CHANNEL | (file as u64) << 1 & NUMBER_MASK),
        _ => None,
    }
}
