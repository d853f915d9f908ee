//! One ELF file on disk: its bytes, what identifies it, which of its addresses are code.
//!
//! Takes   a path.      Gives  build id, executable ranges, sections (decompressed), or why it cannot be used.
//! Cost    the whole file is read once; sections that are not compressed share its memory.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use object::{Object, ObjectSection, ObjectSegment};

/// The bytes of a section, shared with the file they came from.
pub type Bytes = gimli::EndianArcSlice<gimli::RunTimeEndian>;
/// The debug info of a file.
pub type Dwarf = gimli::Dwarf<Bytes>;

/// A compressed section may not claim more than this: a damaged header must not take the machine's memory.
const LARGEST_SECTION: u64 = 1 << 32;
/// A file beyond this is no program that was recorded.
const LARGEST_FILE: u64 = 1 << 33;

/// An ELF file whose headers could be read.
pub struct ElfFile {
    pub path: PathBuf,
    pub bytes: Arc<[u8]>,
    /// In hex; empty if there is none.
    pub build_id: String,
    /// Addresses in the file that are mapped executable.
    pub executable: Vec<Range<u64>>,
    pub modified: Option<SystemTime>,
}

impl ElfFile {
    /// Reads a file; the error is a half sentence that says why it cannot be used.
    pub fn read(path: &Path) -> Result<ElfFile, String> {
        let about = fs::metadata(path).map_err(|error| error.to_string())?;
        if !about.is_file() {
            return Err("it is not a file".to_owned());
        }
        if about.len() > LARGEST_FILE {
            return Err(format!("it is larger than {} GiB", LARGEST_FILE >> 30));
        }
        let bytes: Arc<[u8]> = fs::read(path).map_err(|error| error.to_string())?.into();
        let object = parse(&bytes).ok_or("it is not an ELF file, or a damaged one")?;
        let build_id = hex(object.build_id().ok().flatten().unwrap_or_default());
        let executable = executable_ranges(&object);
        drop(object);
        Ok(ElfFile {
            path: path.to_owned(),
            bytes,
            build_id,
            executable,
            modified: about.modified().ok(),
        })
    }

    /// The headers, parsed again: cheap, and spares a borrow of our own bytes.
    pub fn object(&self) -> Option<object::File<'_>> {
        parse(&self.bytes)
    }

    /// The machine code at an address of the file.
    pub fn code_at(&self, address: u64, size: u64) -> Option<&[u8]> {
        let object = self.object()?;
        let mut segments = object.segments();
        let segment = segments.find(|segment| {
            (segment.address()..segment.address().saturating_add(segment.size())).contains(&address)
        })?;
        let (offset, length) = segment.file_range();
        let inside = address - segment.address();
        let end = inside.checked_add(size).filter(|&end| end <= length)?;
        let range = offset.checked_add(inside)?..offset.checked_add(end)?;
        self.bytes.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
    }

    /// All debug sections; those that are missing are empty. `None` if there is no debug info at all.
    pub fn dwarf(&self) -> Option<Dwarf> {
        let object = self.object()?;
        object.section_by_name(".debug_info")?;
        gimli::Dwarf::load(|id| Ok::<_, gimli::Error>(self.section(&object, id.name()))).ok()
    }

    /// The debug sections of a `.dwo` file.
    pub fn split_dwarf(&self) -> Option<Dwarf> {
        let object = self.object()?;
        gimli::Dwarf::load(|id| {
            Ok::<_, gimli::Error>(self.section(&object, id.dwo_name().unwrap_or("")))
        })
        .ok()
    }

    /// The index of a `.dwp` file.
    pub fn dwarf_package(&self) -> Option<gimli::DwarfPackage<Bytes>> {
        let object = self.object()?;
        let load = |id: gimli::SectionId| {
            Ok::<_, gimli::Error>(self.section(&object, id.dwo_name().unwrap_or("")))
        };
        gimli::DwarfPackage::load(load, no_bytes(endian(&object))).ok()
    }

    fn section(&self, object: &object::File<'_>, name: &str) -> Bytes {
        self.section_bytes(object, name).unwrap_or_else(|| no_bytes(endian(object)))
    }

    fn section_bytes(&self, object: &object::File<'_>, name: &str) -> Option<Bytes> {
        let section = object.section_by_name(name)?;
        let stored = section.compressed_file_range().ok()?;
        if stored.uncompressed_size > LARGEST_SECTION {
            return None;
        }
        if stored.format != object::CompressionFormat::None {
            let bytes: Arc<[u8]> = section.uncompressed_data().ok()?.into_owned().into();
            return Some(Bytes::new(bytes, endian(object)));
        }
        let start = usize::try_from(stored.offset).ok()?;
        let end = start.checked_add(usize::try_from(stored.compressed_size).ok()?)?;
        (end <= self.bytes.len())
            .then(|| Bytes::new(self.bytes.clone(), endian(object)).range(start..end))
    }
}

fn parse(bytes: &[u8]) -> Option<object::File<'_>> {
    object::File::parse(bytes).ok()
}

fn endian(object: &object::File<'_>) -> gimli::RunTimeEndian {
    match object.is_little_endian() {
        true => gimli::RunTimeEndian::Little,
        false => gimli::RunTimeEndian::Big,
    }
}

fn no_bytes(endian: gimli::RunTimeEndian) -> Bytes {
    Bytes::new(Arc::from([]), endian)
}

fn executable_ranges(object: &object::File<'_>) -> Vec<Range<u64>> {
    object
        .segments()
        .filter(|segment| segment.permissions().executable())
        .map(|segment| segment.address()..segment.address().saturating_add(segment.size()))
        .collect()
}

/// Bytes as lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
