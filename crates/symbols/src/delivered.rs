//! Code of Rust that is delivered compiled, without hooks: std and test, and what they are made of.
//!
//! Takes   a module and a return address that a recording has.      Returns  whether such code did what was recorded there.
//! Misses  delivered code without debug info, and calls through a pointer: what they do counts as the caller's.
//!
//! Of code without hooks a recording has only calls of functions that are intercepted: copies, frees. Their place is the call by which the
//! innermost function with hooks entered that code, or a place inside it. What that code synchronised by in between is not seen.

use gimli::Reader;
use object::{Object, ObjectSegment};

use crate::elf_file::ElfFile;
use crate::module::Module;

/// Where the compiler that made std was run.
const DELIVERED_FOLDER: &str = "/rustc/";
/// Functions that do nothing but what is intercepted: allocate and free.
const ALLOCATOR_PREFIXES: [&str; 3] = ["__rust_", "__rdl_", "__rg_"];
/// `call rel32`.
const CALL: u8 = 0xe8;
/// `call *rel32(%rip)`: through a slot that the loader fills.
const CALL_BY_SLOT: [u8; 2] = [0xff, 0x15];
/// Of the distance, which ends both.
const DISTANCE_BYTES: u64 = 4;

impl Module {
    /// Whether what was recorded at a return address was done by delivered code: the place is inside it, or is a call of it.
    pub fn is_by_delivered_code(&self, return_address: u64) -> bool {
        if self.is_in_delivered_code(return_address) {
            return true;
        }
        let in_file = self.in_file(return_address);
        let callee = self.file().and_then(|file| callee(file, in_file));
        callee.is_some_and(|callee| self.is_delivered(callee) && !self.is_allocator(callee))
    }

    /// Whether a return address is inside delivered code.
    pub fn is_in_delivered_code(&self, return_address: u64) -> bool {
        self.is_delivered(self.in_file(return_address).wrapping_sub(1))
    }

    fn is_delivered(&self, in_file: u64) -> bool {
        let Some(debug_info) = self.debug_info() else { return false };
        let unit = debug_info.finish(debug_info.lines.find_dwarf_and_unit(in_file));
        let folder = unit.and_then(|unit| unit.unit.comp_dir.clone());
        let folder = folder.as_ref().and_then(|folder| folder.to_string_lossy().ok());
        folder.is_some_and(|folder| folder.starts_with(DELIVERED_FOLDER))
    }

    fn is_allocator(&self, in_file: u64) -> bool {
        let symbol = self.symbols().function(in_file);
        let is_one = |name: &str| ALLOCATOR_PREFIXES.iter().any(|prefix| name.contains(prefix));
        symbol.is_some_and(|symbol| is_one(&symbol.name))
    }
}

/// The function that the call before a return address calls, if the file says so.
fn callee(file: &ElfFile, return_address: u64) -> Option<u64> {
    let object = file.object()?;
    let before = |bytes: u64| bytes_at(&object, return_address.checked_sub(bytes)?, bytes);
    let distance = before(DISTANCE_BYTES)?.try_into().ok().map(i32::from_le_bytes)?;
    let target = return_address.wrapping_add_signed(distance.into());
    let is_by_slot = before(DISTANCE_BYTES + 2).is_some_and(|call| call[..2] == CALL_BY_SLOT);
    if is_by_slot {
        return filled_with(&object, target);
    }
    (before(DISTANCE_BYTES + 1)?[0] == CALL).then_some(target)
}

/// The address that the loader puts into a slot, if that is one of the same file.
fn filled_with(object: &object::File<'_>, slot: u64) -> Option<u64> {
    let (_, relocation) = object.dynamic_relocations()?.find(|(at, _)| *at == slot)?;
    let is_own = relocation.target() == object::RelocationTarget::Absolute;
    u64::try_from(relocation.addend()).ok().filter(|_| is_own)
}

fn bytes_at<'f>(object: &object::File<'f>, address: u64, length: u64) -> Option<&'f [u8]> {
    object.segments().find_map(|segment| segment.data_range(address, length).ok()?)
}
