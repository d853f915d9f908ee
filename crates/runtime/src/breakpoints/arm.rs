//! Changes the calls that lead to places, so that they come to `hold` first.
//!
//! A site is the return address of a call: `call function`, or `call [address]` where the linker did not know how far it is. Either has
//! room for a call of a stub, which puts the number of the site on the stack and goes on to `arrival`; that lets the thread wait and
//! then jumps to where the call led before, with all arguments as they were. The hook behind it sees the same return address.
//!
//! Misses  calls through a register, which have no room.

use core::arch::{global_asm, naked_asm};
use core::sync::atomic::{AtomicPtr, AtomicU8, AtomicU64, Ordering::*};
use unpick_events::schedule::{Arming, MOST_MODULES, MOST_PLACES, outcome_place};

use super::hold::{self, Arguments};
use super::outcome as told;
use super::plan::{Call, Entry, Plan};
use crate::sys;

/// By site: the return address, and where the call led before.
static ADDRESSES: [AtomicU64; MOST_PLACES] = [const { AtomicU64::new(0) }; MOST_PLACES];
static TARGETS: [AtomicU64; MOST_PLACES] = [const { AtomicU64::new(0) }; MOST_PLACES];
/// By entry of the plan: its site.
static SITES: [AtomicU8; MOST_PLACES] = [const { AtomicU8::new(NO_SITE) }; MOST_PLACES];
const NO_SITE: u8 = u8::MAX;
/// By site: an entry of the plan that is there.
static ENTRIES: [AtomicU8; MOST_PLACES] = [const { AtomicU8::new(0) }; MOST_PLACES];
/// By module: its load bias, and its page of stubs if ours are too far away.
static BIASES: [AtomicU64; MOST_MODULES] = [const { AtomicU64::new(0) }; MOST_MODULES];
static PAGES: [AtomicPtr<u8>; MOST_MODULES] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; MOST_MODULES];

const PAGE: u64 = 4096;
/// Bytes of a stub: in our own code, and in a page near a module.
const STUB: u64 = 16;
const FAR_STUB: usize = 32;
const _: () = assert!(MOST_PLACES * FAR_STUB <= PAGE as usize);

/// The addresses of a module, and of its code. What is in neither code nor data may not even be readable.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    pub low: u64,
    pub high: u64,
    pub code: u64,
    pub code_end: u64,
}

impl Range {
    fn has(&self, address: u64) -> bool {
        (self.low..self.high).contains(&address)
    }

    /// Whether there is room for a call that returns to `address`.
    fn has_code_before(&self, address: u64) -> bool {
        self.code.saturating_add(6) <= address && address <= self.code_end
    }
}

/// The entries of the plan at a site.
pub fn entries_at(plan: &Plan, site: usize) -> impl Iterator<Item = (usize, &Entry)> {
    let is_there = move |at: &usize| SITES[*at].load(Relaxed) as usize == site;
    plan.entries().iter().enumerate().filter(move |(at, _)| is_there(at))
}

/// One entry of the plan at a site; of a delay plan, the only one.
pub fn entry_at(site: usize) -> usize {
    ENTRIES.get(site).map_or(0, |entry| entry.load(Relaxed) as usize)
}

/// A call site as frames keep it.
pub fn address_of(call: &Call) -> u32 {
    BIASES[call.module as usize].load(Relaxed).wrapping_add(call.offset) as u32
}

/// A module comes: if it was there before and has gone, what was known of its places is of no use.
pub fn forget(plan: &Plan, module: u8) {
    for (at, _) in plan.entries().iter().enumerate().filter(|(_, entry)| entry.module == module) {
        let site = SITES[at].swap(NO_SITE, Relaxed) as usize;
        if let Some(address) = ADDRESSES.get(site) {
            address.store(0, Relaxed);
        }
    }
    // It may have come to another address. The old page stays: a thread may be on its way through it.
    PAGES[module as usize].store(core::ptr::null_mut(), Relaxed);
}

/// Arms all places of a module.
pub fn arm(plan: &Plan, module: u8, bias: u64, range: Range) {
    BIASES[module as usize].store(bias, Relaxed);
    for (at, entry) in plan.entries().iter().enumerate() {
        if entry.module == module {
            let arming = arm_entry(at, entry, bias.wrapping_add(entry.offset), range);
            told::of_place(plan, at, outcome_place::ARMING).store(arming as u64, Relaxed);
        }
    }
}

fn arm_entry(at: usize, entry: &Entry, address: u64, range: Range) -> Arming {
    // Several entries may speak of one site.
    let known = ADDRESSES.iter().position(|known| known.load(Relaxed) == address);
    let site = known.or_else(|| ADDRESSES.iter().position(|known| known.load(Relaxed) == 0));
    let Some(site) = site else { return Arming::NoCall };
    if known.is_none() {
        let arming = change_call(site, entry.module, address, range);
        if arming != Arming::Armed {
            return arming;
        }
    }
    ENTRIES[site].store(at as u8, Relaxed);
    SITES[at].store(site as u8, Release);
    Arming::Armed
}

fn change_call(site: usize, module: u8, address: u64, range: Range) -> Arming {
    let Some(target) = target_of_call(address, range) else { return Arming::NoCall };
    let Some(stub) = stub_for(site, module, address, range) else { return Arming::Refused };
    TARGETS[site].store(target, Relaxed);
    ADDRESSES[site].store(address, Release);
    if call_instead(address, stub).is_err() {
        ADDRESSES[site].store(0, Release);
        return Arming::Refused;
    }
    Arming::Armed
}

/// Where the call that returns to `address` leads.
fn target_of_call(address: u64, range: Range) -> Option<u64> {
    if !range.has_code_before(address) {
        return None;
    }
    let byte = |back: u64| {
        // SAFETY: a byte of the module's code, as was just checked: code is readable.
        unsafe { ((address - back) as *const u8).read_volatile() }
    };
    let displacement = i32::from_le_bytes([byte(4), byte(3), byte(2), byte(1)]);
    let reached = address.wrapping_add_signed(displacement as i64);
    if byte(6) == 0xff && byte(5) == 0x15 && range.has(reached) && reached.is_multiple_of(8) {
        // SAFETY: a slot of the module's table of addresses.
        return Some(unsafe { (reached as *const u64).read_volatile() });
    }
    (byte(5) == 0xe8 && range.has(reached)).then_some(reached)
}

/// A stub that the call can reach.
fn stub_for(site: usize, module: u8, address: u64, range: Range) -> Option<u64> {
    let own = (&raw const unpick_stubs) as u64 + site as u64 * STUB;
    if reaches(address, own) {
        return Some(own);
    }
    let page = page_near(module, range)? as u64;
    let stub = page + (site * FAR_STUB) as u64;
    write_far_stub(page, stub, site).ok()?;
    reaches(address, stub).then_some(stub)
}

fn reaches(address: u64, stub: u64) -> bool {
    i32::try_from(stub.wrapping_sub(address) as i64).is_ok()
}

/// Above the module or below it: memory of ours, or of the program, may be next to it for more than a call can reach.
fn page_near(module: u8, range: Range) -> Option<*mut u8> {
    const STEP: u64 = 1 << 20;
    const MOST_STEPS: u64 = 1024;
    let known = PAGES[module as usize].load(Relaxed);
    if !known.is_null() {
        return Some(known);
    }
    let above = range.high.next_multiple_of(PAGE);
    let below = (range.low & !(PAGE - 1)).saturating_sub(PAGE);
    let page = (0..MOST_STEPS).find_map(|step| {
        map_page(above.saturating_add(step * STEP))
            .or_else(|| map_page(below.saturating_sub(step * STEP)))
    })?;
    PAGES[module as usize].store(page, Relaxed);
    Some(page)
}

fn map_page(at: u64) -> Option<*mut u8> {
    sys::map_private(Some(at as usize), PAGE as usize).ok()
}

/// `push site; jmp [rip]; address of arrival`.
fn write_far_stub(page: u64, stub: u64, site: usize) -> Result<(), i32> {
    sys::protect(page, PAGE, libc::PROT_READ | libc::PROT_WRITE)?;
    let target = (arrival as *const () as u64).to_le_bytes();
    let code = [0x6a, site as u8, 0xff, 0x25, 0, 0, 0, 0].into_iter().chain(target);
    for (at, byte) in code.enumerate() {
        // SAFETY: the page is ours and large enough for all stubs.
        unsafe { (stub as *mut u8).add(at).write_volatile(byte) };
    }
    sys::protect(page, PAGE, libc::PROT_READ | libc::PROT_EXEC)
}

/// Makes the call that returns to `address` one of `stub`.
fn call_instead(address: u64, stub: u64) -> Result<(), i32> {
    let first = (address - 6) & !(PAGE - 1);
    let bytes = address.next_multiple_of(PAGE) - first;
    let (read, write, run) = (libc::PROT_READ, libc::PROT_WRITE, libc::PROT_EXEC);
    // Still executable meanwhile: other threads may be running code of the same page.
    sys::protect(first, bytes, read | write | run)?;
    let distance = (stub.wrapping_sub(address) as i32).to_le_bytes();
    // SAFETY: the six bytes are those of a call, as `target_of_call` saw, in a page that is writable now. What stands before a
    // short call is left alone.
    unsafe {
        let code = |back: u64| (address - back) as *mut u8;
        if code(5).read_volatile() == 0x15 {
            // A prefix without effect keeps the return address where it is.
            code(6).write_volatile(0x67);
            code(5).write_volatile(0xe8);
        }
        for (at, byte) in distance.into_iter().enumerate() {
            code(4 - at as u64).write_volatile(byte);
        }
    }
    sys::protect(first, bytes, read | run)
}

/// Lets the thread wait; gives where the call leads.
extern "C" fn arrived(site: u64, arguments: &Arguments) -> u64 {
    hold::arrive(site as usize, arguments);
    TARGETS.get(site as usize).map_or(0, |target| target.load(Relaxed))
}

/// On the stack: the number of the site, then the return address of the call. All registers that may carry arguments
/// are kept.
#[unsafe(naked)]
unsafe extern "C" fn arrival() {
    naked_asm!(
        ".cfi_startproc",
        ".cfi_def_cfa_offset 16",
        "push rax",
        "push rcx",
        "push rdx",
        "push r8",
        "push r9",
        "push r10",
        "push rsi",
        "push rdi",
        "sub rsp, 128",
        ".cfi_def_cfa_offset 208",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "movups [rsp + 32], xmm2",
        "movups [rsp + 48], xmm3",
        "movups [rsp + 64], xmm4",
        "movups [rsp + 80], xmm5",
        "movups [rsp + 96], xmm6",
        "movups [rsp + 112], xmm7",
        "mov rdi, [rsp + 192]",
        "lea rsi, [rsp + 128]",
        "call {arrived}",
        "mov r11, rax",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "movups xmm2, [rsp + 32]",
        "movups xmm3, [rsp + 48]",
        "movups xmm4, [rsp + 64]",
        "movups xmm5, [rsp + 80]",
        "movups xmm6, [rsp + 96]",
        "movups xmm7, [rsp + 112]",
        "add rsp, 128",
        "pop rdi",
        "pop rsi",
        "pop r10",
        "pop r9",
        "pop r8",
        "pop rdx",
        "pop rcx",
        "pop rax",
        "add rsp, 8",
        ".cfi_def_cfa_offset 8",
        "jmp r11",
        ".cfi_endproc",
        arrived = sym arrived,
    )
}

unsafe extern "C" {
    static unpick_stubs: u8;
}

global_asm!(
    ".pushsection .text.unpick_stubs, \"ax\", @progbits",
    ".balign 16",
    ".globl unpick_stubs",
    ".hidden unpick_stubs",
    "unpick_stubs:",
    ".set unpick_stub_number, 0",
    ".rept {most}",
    ".cfi_startproc",
    "push unpick_stub_number",
    ".cfi_adjust_cfa_offset 8",
    "jmp {arrival}",
    ".cfi_endproc",
    ".balign 16",
    ".set unpick_stub_number, unpick_stub_number + 1",
    ".endr",
    ".popsection",
    most = const MOST_PLACES,
    arrival = sym arrival,
);
