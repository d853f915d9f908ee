//! The call stack of each thread, kept by the hooks at function entry and exit.
//!
//! A frame is known by its stack pointer: frames left by `longjmp`, an exception or a fiber switch are
//! recognised as gone because a newer frame has taken their place or a frame above them returns.

use unpick_events::header::Header;
use unpick_events::{Address, Context, Kind, Site, live};

use crate::stream;
use crate::sys;
use crate::thread::{Hot, Thread};

/// One call: where the stack pointer was at entry, the call site, and the hash of the stack up to here (0: not yet computed).
#[repr(C)]
pub struct Frame {
    pub stack_pointer: u64,
    pub call_site: u32,
    pub hash: u32,
}

// Read from outside, too, when the program hangs.
const _: () = assert!(
    size_of::<Frame>() == live::FRAME_BYTES
        && core::mem::offset_of!(Frame, stack_pointer) == live::STACK_POINTER_AT
        && core::mem::offset_of!(Frame, call_site) == live::CALL_SITE_AT
);

/// Deeper calls are not seen; their accesses get the context of the deepest frame that is.
const MAX_FRAMES: usize = live::MOST_FRAMES;
const MAX_SPELLED: usize = live::MAX_SPELLED;
/// Contexts a thread remembers having spelled out.
const REMEMBERED: usize = 1 << 12;

const FRAME_BYTES: usize = MAX_FRAMES * size_of::<Frame>();

/// Gives a new thread an empty call stack. Below the first frame stands one that never goes.
pub fn prepare(thread: &Thread, hot: &Hot) {
    if thread.frames.get().is_null() {
        let bytes = FRAME_BYTES + REMEMBERED * size_of::<u32>();
        let Ok(memory) = sys::map_private(None, bytes) else { return };
        thread.frames.set(memory.cast());
    }
    let bottom = thread.frames.get();
    // SAFETY: the frames of a thread are its own, mapped above and never unmapped.
    unsafe { bottom.write(Frame { stack_pointer: live::BOTTOM, call_site: 0, hash: 1 }) };
    for slot in remembered(thread) {
        // SAFETY: a slot of the table. Volatile, so that this does not become a call of `memset`: see RULES.md.
        unsafe { core::ptr::from_mut(slot).write_volatile(0) };
    }
    hot.frames_top.set(bottom.wrapping_add(1));
    hot.frames_end.set(bottom.wrapping_add(MAX_FRAMES));
}

#[allow(clippy::mut_from_ref)] // the thread's own, as the SAFETY note says
fn remembered(thread: &Thread) -> &mut [u32] {
    let start = thread.frames.get().wrapping_add(MAX_FRAMES).cast::<u32>();
    // SAFETY: `prepare` mapped this table behind the frames; only the busy thread itself uses it.
    unsafe { core::slice::from_raw_parts_mut(start, REMEMBERED) }
}

#[allow(clippy::mut_from_ref)] // the thread's own, as the SAFETY note says
fn frames(thread: &Thread) -> &mut [Frame] {
    let bottom = thread.frames.get();
    if bottom.is_null() {
        return &mut [];
    }
    let count = (thread.hot().frames_top.get() as usize - bottom as usize) / size_of::<Frame>();
    // SAFETY: the hooks keep `frames_top` between bottom and end; only the thread itself uses them.
    unsafe { core::slice::from_raw_parts_mut(bottom, count) }
}

/// The calls that led to where the thread is, from the inside out.
pub fn innermost(thread: &Thread) -> impl Iterator<Item = u32> {
    outermost(thread).rev()
}

/// The current call stack as a context, spelled out in the recording if this thread has not done so yet.
#[inline]
pub fn context(thread: &Thread) -> Context {
    let top = thread.hot().frames_top.get();
    if top.is_null() {
        return Context(0);
    }
    // SAFETY: `frames_top` is above the bottom frame whenever it is set.
    let hash = unsafe { (*top.wrapping_sub(1)).hash };
    if hash != 0 && remembered(thread)[hash as usize % REMEMBERED] == hash {
        return Context(hash);
    }
    new_context(thread)
}

#[cold]
#[inline(never)]
fn new_context(thread: &Thread) -> Context {
    hash_new_calls(thread);
    let frames = frames(thread);
    let Some(hash) = frames.last().map(|frame| frame.hash) else { return Context(0) };
    let slot = &mut remembered(thread)[hash as usize % REMEMBERED];
    if *slot != hash {
        *slot = hash;
        spell_out(thread, hash, frames);
    }
    Context(hash)
}

/// Calls that were made since the last time get their hashes. From then on they are not new any more.
fn hash_new_calls(thread: &Thread) {
    let frames = frames(thread);
    let Some(known) = frames.iter().rposition(|frame| frame.hash != 0) else { return };
    for index in known + 1..frames.len() {
        frames[index].hash = mix(frames[index - 1].hash, frames[index].call_site);
    }
    if known + 1 < frames.len() {
        note_entered(thread, known);
        thread.activations.calls_are_new(known);
    }
}

/// The thread is at the first step of a role: its calls are remembered.
pub fn begin_activation(thread: &Thread, role: u8) {
    hash_new_calls(thread);
    thread.activations.begin(role, outermost(thread));
}

/// Whether the thread has made a call again in which it was at the first step of a role.
pub fn is_made_again(thread: &Thread, role: u8) -> bool {
    hash_new_calls(thread);
    thread.activations.is_made_again(role, outermost(thread))
}

/// The calls that led to where the thread is, from the outside in.
fn outermost(thread: &Thread) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator {
    frames(thread).get(1..).unwrap_or(&[]).iter().map(|frame| frame.call_site)
}

/// Frames above the first `kept` are new: they had no hash. The next access that is told says so.
fn note_entered(thread: &Thread, kept: usize) {
    let kept_so_far = thread.kept_calls.get().unwrap_or(usize::MAX);
    thread.kept_calls.set(Some(kept_so_far.min(kept)));
}

/// Tells which calls were entered since the last access that was told, if any were: without it, the same line reached twice by the same
/// calls looks like one activation of its function. The context of the access at hand must have been asked for.
#[inline]
pub fn tell_entered(thread: &Thread) {
    if let Some(kept) = thread.kept_calls.take() {
        spell_entered(thread, kept);
    }
}

#[cold]
fn spell_entered(thread: &Thread, kept: usize) {
    let header = Header {
        kind: Kind::Calls,
        words: 0,
        flags: 0,
        stamp: 0,
        object: Address(kept as u64),
        unit: 0,
        slot: 0,
        site: Site(0),
        context: Context(0),
    };
    stream::append_remark(thread, header);
}

fn mix(hash: u32, call_site: u32) -> u32 {
    let mixed = (hash.rotate_left(5) ^ call_site).wrapping_mul(0x9e37_79b1);
    let mixed = mixed ^ mixed >> 15;
    if mixed == 0 { 1 } else { mixed }
}

fn spell_out(thread: &Thread, hash: u32, frames: &[Frame]) {
    let innermost = &frames[1..];
    let innermost = &innermost[innermost.len().saturating_sub(MAX_SPELLED)..];
    let mut words = [0_u64; MAX_SPELLED / 2];
    for (index, frame) in innermost.iter().enumerate() {
        words[index / 2] |= (frame.call_site as u64) << (index % 2 * 32);
    }
    let header = Header {
        kind: Kind::Stack,
        words: 0,
        flags: 0,
        stamp: 0,
        object: Address(innermost.len() as u64),
        unit: 0,
        slot: 0,
        site: Site(0),
        context: Context(hash),
    };
    stream::append(thread, header, &words[..innermost.len().div_ceil(2)]);
}

/// A function was entered from `call_site` with this stack pointer.
#[inline(always)]
pub fn enter(hot: &Hot, call_site: u64, stack_pointer: u64) {
    let top = hot.frames_top.get();
    if top >= hot.frames_end.get() {
        return;
    }
    // SAFETY: bottom < top < end, so `top` and the frame below are frames of this thread.
    unsafe {
        top.write(Frame { stack_pointer, call_site: call_site as u32, hash: 0 });
        if (*top.sub(1)).stack_pointer <= stack_pointer {
            return drop_frames_below(hot, stack_pointer, call_site);
        }
    }
    hot.frames_top.set(top.wrapping_add(1));
}

#[cold]
fn drop_frames_below(hot: &Hot, stack_pointer: u64, call_site: u64) {
    let mut top = hot.frames_top.get();
    // SAFETY: the bottom frame has the highest possible stack pointer, so this stops there at the latest.
    unsafe {
        while (*top.sub(1)).stack_pointer <= stack_pointer {
            top = top.sub(1);
        }
        top.write(Frame { stack_pointer, call_site: call_site as u32, hash: 0 });
    }
    hot.frames_top.set(top.wrapping_add(1));
}

/// Of larger frames the end is not looked for.
const LARGEST_FRAME: u64 = 1 << 20;

/// A function that is being left.
#[derive(Clone, Copy)]
pub struct Left {
    /// In it: where it is left.
    pub site: u32,
    /// Where it was called.
    call_site: u32,
    stack_pointer: u64,
}

impl Left {
    /// The end of its frame, which is on the stack from `low` to `live`: the return address, at `live` or below. What its caller has allocated
    /// since it was entered (`alloca`, arrays of variable length) is in between, and is not gone. `None` on another stack, as of signals.
    pub fn end(&self, low: u64, live: u64) -> Option<u64> {
        if !(low..live).contains(&self.stack_pointer) {
            return None;
        }
        let mut at = self.stack_pointer + 8;
        let most = self.stack_pointer.saturating_add(LARGEST_FRAME).min(live);
        while at <= most {
            // SAFETY: from the stack pointer up to that of a caller there is stack that is in use.
            if unsafe { (at as *const u64).read_volatile() } as u32 == self.call_site {
                return Some(at);
            }
            at += 8;
        }
        None
    }
}

/// What has been left last, right after `leave`; `None` if it was left by a jump or a tail call.
pub fn left(hot: &Hot, stack_pointer: u64) -> Option<Left> {
    let top = hot.frames_top.get();
    // SAFETY: a frame that was taken off is still there until the next function is entered. At the entry of the hook the stack pointer points to
    // its return address.
    let (known, call_site, site) = unsafe {
        ((*top).stack_pointer, (*top).call_site, (stack_pointer as *const u64).read_volatile())
    };
    (known == stack_pointer).then_some(Left { site: site as u32, call_site, stack_pointer })
}

/// A function is left with this stack pointer. Gives the stack pointer of its caller's frame.
#[inline(always)]
pub fn leave(hot: &Hot, stack_pointer: u64) -> u64 {
    if hot.frames_top.get().is_null() {
        return 0;
    }
    let mut top = hot.frames_top.get().wrapping_sub(1);
    // SAFETY: `frames_top` is above the bottom frame whenever it is set; the bottom's stack pointer is
    // the highest possible, so no step goes below it.
    unsafe {
        if (*top).stack_pointer == stack_pointer {
            hot.frames_top.set(top);
            return (*top.sub(1)).stack_pointer;
        }
        // Left by a jump out of deeper frames, or by a tail call that has already given its own frame up:
        // whatever lies below this stack pointer is gone.
        while (*top).stack_pointer < stack_pointer {
            top = top.sub(1);
        }
        hot.frames_top.set(top.add(1));
        (*top).stack_pointer
    }
}
