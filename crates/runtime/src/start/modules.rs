//! The modules (executable and shared objects) of the process, as events: sites are told apart by them.
//!
//! All are told at the start. A module loaded later is told when its own constructor calls `__tsan_init`, or at the
//! first synchronisation after `dlopen`; an unloaded one after `dlclose`.
//!
//! Misses  nothing in the end, but a module that was never instrumented may be told after its first site.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};
use libc::{Elf64_Phdr, PF_X, PT_LOAD, PT_NOTE, dl_phdr_info};
use unpick_events::Kind;
use unpick_events::file::lost;

use super::options::text_at;
use super::path::{TEXT, Text};
use super::words::{Shared, WORDS, Words};
use crate::breakpoints;
use crate::sync;
use crate::sys;
use crate::thread::Thread;

/// More modules than this at a time are not told.
const MOST: usize = 4096;

#[derive(Clone, Copy)]
struct Module {
    /// Load bias; with `code_end` 0 the slot is free.
    bias: u64,
    code: u64,
    code_end: u64,
    /// It belongs to the system: no hook is called from there.
    is_system: bool,
    /// The last scan that found it.
    scan: u32,
}

struct Table {
    modules: [Module; MOST],
    used: usize,
    scan: u32,
}

static TABLE: Shared<Table> = Shared::new(Table {
    modules: [const { Module { bias: 0, code: 0, code_end: 0, is_system: false, scan: 0 } }; MOST],
    used: 0,
    scan: 0,
});

/// `dl_phdr_info`'s count of modules ever loaded and unloaded, at the last scan.
static KNOWN_CHANGES: AtomicU64 = AtomicU64::new(u64::MAX);
/// How many more synchronisations shall look for new modules: a `dlopen` may be under way.
static LOOKS: AtomicU32 = AtomicU32::new(0);
/// A `dlopen` that loads a new module is done after this many synchronisations, or is seen by another way.
const LOOKS_PER_OPENING: u32 = 64;

/// A module may be about to be loaded.
pub fn expect_new() {
    LOOKS.store(LOOKS_PER_OPENING, Relaxed);
}

/// If a module may have been loaded, looks for it. For every synchronisation: cheap when there is nothing to do.
#[inline]
pub fn look_if_expected(thread: &Thread) {
    if LOOKS.load(Relaxed) != 0 {
        look(thread);
    }
}

/// Tells modules that were loaded and unloaded since the last time.
#[cold]
pub fn look(thread: &Thread) {
    let left = LOOKS.load(Relaxed);
    if left != 0 {
        LOOKS.store(left - 1, Relaxed);
    }
    let mut changes = 0_u64;
    iterate(count_changes, (&raw mut changes).cast());
    if changes != KNOWN_CHANGES.load(Relaxed)
        && TABLE.try_with(|table| table.scan(thread)).is_some()
    {
        KNOWN_CHANGES.store(changes, Relaxed);
        LOOKS.store(0, Relaxed);
    }
}

/// In the child of a fork: tells all modules again, into its own recording. The dynamic linker is not asked: another
/// thread may have been in it when the process forked, and its lock is then taken for ever.
pub fn tell_again(thread: &Thread) {
    TABLE.free_after_fork();
    TOLD.free_after_fork();
    TOLD.try_with(|told| told.tell_again(thread));
}

/// What was told of the modules that are there.
struct Told {
    /// For each module: its load bias (`GONE` if it is unloaded), how many words follow, those words.
    words: [u64; MOST_TOLD],
    used: usize,
}

/// Room for some hundred modules; what does not fit is not told to the children of a fork.
const MOST_TOLD: usize = 16 << 10;
const GONE: u64 = u64::MAX;

static TOLD: Shared<Told> = Shared::new(Told { words: [0; MOST_TOLD], used: 0 });

impl Told {
    fn add(&mut self, bias: u64, payload: &[u64]) {
        let needed = 2 + payload.len();
        let Some(place) = self.words.get_mut(self.used..self.used + needed) else { return };
        let entry = [bias, payload.len() as u64];
        for (to, word) in place.iter_mut().zip(entry.iter().chain(payload)) {
            *to = *word;
        }
        self.used += needed;
    }

    /// Visits the entries: load bias and payload.
    fn each(&mut self, mut visit: impl FnMut(&mut u64, &[u64])) {
        let mut rest = &mut self.words[..self.used];
        while let [bias, length, more @ ..] = rest {
            let Some((payload, next)) = more.split_at_mut_checked(*length as usize) else { return };
            visit(bias, payload);
            rest = next;
        }
    }

    fn remove(&mut self, gone: u64) {
        self.each(|bias, _| {
            if *bias == gone {
                *bias = GONE;
            }
        });
    }

    fn tell_again(&mut self, thread: &Thread) {
        self.each(|bias, payload| {
            if *bias != GONE {
                sync::record_for(thread, Kind::Module, 0, *bias, 0, payload);
            }
        });
    }
}

type Callback = unsafe extern "C" fn(*mut dl_phdr_info, usize, *mut c_void) -> c_int;

fn iterate(callback: Callback, data: *mut c_void) {
    // SAFETY: both callbacks here take what the dynamic linker gives, and `data` of the type their caller passes.
    unsafe { libc::dl_iterate_phdr(Some(callback), data) };
}

/// Every module is given the same counts: the first will do.
unsafe extern "C" fn count_changes(
    info: *mut dl_phdr_info,
    _size: usize,
    changes: *mut c_void,
) -> c_int {
    // SAFETY: the dynamic linker's own struct, and `look`'s local variable.
    unsafe {
        *changes.cast::<u64>() =
            (*info).dlpi_adds.wrapping_mul(1 << 32).wrapping_add((*info).dlpi_subs)
    };
    1
}

struct Scan<'a> {
    table: &'a mut Table,
    thread: &'a Thread,
}

impl Table {
    fn scan(&mut self, thread: &Thread) {
        self.scan = self.scan.wrapping_add(1);
        let mut scan = Scan { table: self, thread };
        iterate(visit, (&raw mut scan).cast());
        self.drop_gone(thread);
    }

    fn drop_gone(&mut self, thread: &Thread) {
        for module in &mut self.modules[..self.used] {
            if module.code_end != 0 && module.scan != self.scan {
                sync::record_for(thread, Kind::ModuleGone, 0, module.bias, 0, &[]);
                TOLD.try_with(|told| told.remove(module.bias));
                module.code_end = 0;
            }
        }
    }

    fn known(&mut self, bias: u64, code: u64) -> Option<&mut Module> {
        self.modules[..self.used]
            .iter_mut()
            .find(|m| m.code_end != 0 && m.bias == bias && m.code == code)
    }

    fn add(&mut self, module: Module) -> bool {
        if let Some(free) = self.modules[..self.used].iter_mut().find(|m| m.code_end == 0) {
            *free = module;
            return true;
        }
        let Some(next) = self.modules.get_mut(self.used) else { return false };
        *next = module;
        self.used += 1;
        true
    }

    fn is_ambiguous(&self, new: &Module) -> bool {
        let others =
            self.modules[..self.used].iter().filter(|old| old.code_end != 0 && !old.is_system);
        !new.is_system && others.clone().any(|old| share_low_bits(old, new))
    }
}

/// Libraries of the system are not built with hooks, and where they share low bits with a module that is, the reader
/// of the recording takes that one. With several of them in every process and addresses drawn at random, it happens.
fn is_system(info: &dl_phdr_info) -> bool {
    let name = name_of(info);
    [&b"/lib"[..], b"/usr/lib", b"linux-vdso"].iter().any(|start| name.starts_with(start))
}

/// Whether two modules have code whose addresses agree in the 32 bits that a site keeps.
fn share_low_bits(a: &Module, b: &Module) -> bool {
    let distance = b.code.wrapping_sub(a.code) as u32 as u64;
    let back = a.code.wrapping_sub(b.code) as u32 as u64;
    distance < a.code_end - a.code || back < b.code_end - b.code
}

unsafe extern "C" fn visit(info: *mut dl_phdr_info, _size: usize, scan: *mut c_void) -> c_int {
    // SAFETY: the dynamic linker's own struct, and the `Scan` that `Table::scan` passed and keeps.
    let (info, scan) = unsafe { (&*info, &mut *scan.cast::<Scan>()) };
    scan.visit(info);
    0
}

impl Scan<'_> {
    fn visit(&mut self, info: &dl_phdr_info) {
        let Some(extent) = Extent::of(info) else { return };
        let scan = self.table.scan;
        if let Some(known) = self.table.known(info.dlpi_addr, extent.code) {
            known.scan = scan;
            return;
        }
        let Extent { code, code_end, .. } = extent;
        let module =
            Module { bias: info.dlpi_addr, code, code_end, is_system: is_system(info), scan };
        if self.table.is_ambiguous(&module) {
            self.thread.recorder.mark_lost(lost::AMBIGUOUS_SITES);
        }
        if self.table.add(module) {
            tell(self.thread, info, &extent);
            arm_breakpoints(info, &extent);
        }
    }
}

/// The addresses of a module.
struct Extent {
    low: u64,
    high: u64,
    code: u64,
    code_end: u64,
}

impl Extent {
    /// `None` for what has no code.
    fn of(info: &dl_phdr_info) -> Option<Self> {
        let mut extent = Self { low: u64::MAX, high: 0, code: u64::MAX, code_end: 0 };
        for segment in segments(info).iter().filter(|segment| segment.p_type == PT_LOAD) {
            let start = info.dlpi_addr.wrapping_add(segment.p_vaddr);
            let end = start.wrapping_add(segment.p_memsz);
            extent.low = extent.low.min(start & !4095);
            extent.high = extent.high.max(end);
            if segment.p_flags & PF_X != 0 {
                extent.code = extent.code.min(start);
                extent.code_end = extent.code_end.max(end);
            }
        }
        (extent.code < extent.code_end).then_some(extent)
    }
}

fn segments(info: &dl_phdr_info) -> &[Elf64_Phdr] {
    if info.dlpi_phnum == 0 {
        return &[];
    }
    // SAFETY: the dynamic linker gives an array of this many.
    unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize) }
}

fn tell(thread: &Thread, info: &dl_phdr_info, extent: &Extent) {
    WORDS.try_with(|words| {
        words.clear();
        words.push(extent.low);
        words.push(extent.high - extent.low);
        push_build_id(words, info);
        push_path(words, info);
        words.push(extent.code);
        words.push(extent.code_end - extent.code);
        sync::record_for(thread, Kind::Module, 0, info.dlpi_addr, 0, words.as_slice());
        TOLD.try_with(|told| told.add(info.dlpi_addr, words.as_slice()));
    });
}

fn arm_breakpoints(info: &dl_phdr_info, extent: &Extent) {
    let Extent { low, high, code, code_end } = *extent;
    let range = breakpoints::arm::Range { low, high, code, code_end };
    breakpoints::module_is_there(info.dlpi_addr, range, |is_build_id, name| {
        if is_build_id {
            return hex_of(id_of(info)).eq(name.iter().copied());
        }
        let told = TEXT.try_with(|text| {
            fill_path(text, info);
            is_same(text.as_bytes(), name)
        });
        told.unwrap_or(false)
    });
}

/// Without `memcmp`: see RULES.md.
fn is_same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b)
}

/// The build id of a module; empty if it has none.
fn id_of(info: &dl_phdr_info) -> &[u8] {
    let mut notes = segments(info).iter().filter(|segment| segment.p_type == PT_NOTE);
    let id = notes.find_map(|segment| {
        let start = info.dlpi_addr.wrapping_add(segment.p_vaddr);
        // SAFETY: a note segment is part of the loaded module.
        build_id(unsafe {
            core::slice::from_raw_parts(start as *const u8, segment.p_memsz as usize)
        })
    });
    id.unwrap_or(&[])
}

fn hex_of(id: &[u8]) -> impl Iterator<Item = u8> {
    id.iter().take(MOST_ID_BYTES).flat_map(|byte| [hex_digit(byte >> 4), hex_digit(byte & 15)])
}

fn push_build_id(words: &mut Words, info: &dl_phdr_info) {
    let mut hex = [0; 2 * MOST_ID_BYTES];
    let mut length = 0;
    for (digit, place) in hex_of(id_of(info)).zip(&mut hex) {
        *place = digit;
        length += 1;
    }
    words.push_text(&hex[..length]);
}

const MOST_ID_BYTES: usize = 32;

fn hex_digit(value: u8) -> u8 {
    if value < 10 { b'0' + value } else { b'a' + value - 10 }
}

/// The build id among notes: each has three 32-bit numbers (length of name, length of content, type), name, content.
fn build_id(mut notes: &[u8]) -> Option<&[u8]> {
    const BUILD_ID: u32 = 3;
    loop {
        let (name_bytes, content_bytes, kind) = (word(notes, 0)?, word(notes, 4)?, word(notes, 8)?);
        let name = notes.get(12..)?.get(..name_bytes as usize)?;
        let content_at = 12 + (name_bytes as usize).next_multiple_of(4);
        let content = notes.get(content_at..)?.get(..content_bytes as usize)?;
        if kind == BUILD_ID && matches!(name, [b'G', b'N', b'U', 0]) {
            return Some(content);
        }
        notes = notes.get(content_at + (content_bytes as usize).next_multiple_of(4)..)?;
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let part = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes([part[0], part[1], part[2], part[3]]))
}

/// The path of a module, absolute where it can be: the executable's own is asked of the kernel.
fn push_path(words: &mut Words, info: &dl_phdr_info) {
    let told = TEXT.try_with(|text| {
        fill_path(text, info);
        words.push_text(text.as_bytes());
    });
    if told.is_none() {
        words.push_text(name_of(info));
    }
}

fn name_of(info: &dl_phdr_info) -> &[u8] {
    // SAFETY: a zero-terminated name, or null.
    unsafe { if info.dlpi_name.is_null() { &[] } else { text_at(info.dlpi_name.cast()) } }
}

fn fill_path(text: &mut Text, info: &dl_phdr_info) {
    let name = name_of(info);
    if name.is_empty() {
        text.fill(|buffer| sys::read_link(b"/proc/self/exe\0", buffer));
    } else if name[0] != b'/' && name.contains(&b'/') {
        text.fill(sys::working_folder);
        text.push(b"/");
        text.push(name);
    } else {
        text.cut(0);
        text.push(name);
    }
}
