//! Synchronisation as events: every one is stamped, so that it orders what the threads did around it.
//!
//! What gives something away (unlock, signal, post, create) is recorded before it takes effect; what takes
//! something (lock, wait, join) after. So the order of stamps is an order in which it can have happened.

use unpick_events::file::file_field;
use unpick_events::header::Header;
use unpick_events::{Address, Context, Kind, Site};

use crate::breakpoints;
use crate::frames;
use crate::local;
use crate::perturb::{self, Place};
use crate::start::{modules, threads};
use crate::stream;
use crate::thread::Thread;

/// Records an event of the running thread, which becomes known by it if it was not.
pub fn record(kind: Kind, flags: u16, object: u64, site: u32, payload: &[u64]) {
    if let Some(thread) = local::thread_that_may_ignore().or_else(threads::attach_unknown) {
        modules::look_if_expected(thread);
        record_for(thread, kind, flags, object, site, payload);
    }
}

/// Records an event of `thread`, which is the running one.
pub fn record_for(
    thread: &Thread,
    kind: Kind,
    flags: u16,
    object: u64,
    site: u32,
    payload: &[u64],
) {
    if breakpoints::are_on() {
        breakpoints::note_synchronisation(thread, kind, flags, object);
    }
    if !thread.recorder.is_on() {
        // If there is a file, it cannot grow any more.
        return thread.recorder.add(file_field::DROPPED, 1);
    }
    let Some(_busy) = thread.enter() else { return };
    let context = if site == 0 { Context(0) } else { frames::context(thread) };
    let header = Header {
        kind,
        words: 0,
        flags,
        stamp: thread.recorder.draw_stamp(),
        object: Address(object),
        unit: 0,
        slot: 0,
        site: Site(site),
        context,
    };
    stream::append(thread, header, payload);
    if breakpoints::are_on() {
        breakpoints::note_recorded(thread);
    }
}

/// Perhaps delays the running thread: it is about to synchronise, or has just done so.
pub fn perturb() {
    if let Some(thread) = local::thread_that_may_ignore() {
        perturb::at(thread, Place::Synchronisation);
    }
}

pub fn fence(order_flags: u16, site: u32) {
    record(Kind::Fence, order_flags, 0, site, &[]);
}
