//! Where the debug info of a module is: in the file itself, in a file beside it, or split into many.
//!
//! Takes   a module's ELF file.      Gives  the file that holds its DWARF, and an `addr2line` context over it.
//! Misses  debuginfod servers and `.gnu_debugaltlink` (dwz) files.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use addr2line::{LookupContinuation, LookupResult, SplitDwarfLoad};
use gimli::Reader;
use object::Object;

use crate::elf_file::{Bytes, Dwarf, ElfFile};

const GLOBAL_DEBUG_FOLDER: &str = "/usr/lib/debug";

/// The debug info of one module.
pub struct DebugInfo {
    pub dwarf: Arc<Dwarf>,
    pub lines: addr2line::Context<Bytes>,
    /// The separate file the debug info came from, if any: its symbol table is fuller.
    pub separate: Option<ElfFile>,
    package: Option<gimli::DwarfPackage<Bytes>>,
}

impl DebugInfo {
    /// The debug info of a module, from wherever it is.
    pub fn find(module: &ElfFile) -> Option<DebugInfo> {
        if let Some(dwarf) = module.dwarf() {
            return DebugInfo::over(dwarf, None, module);
        }
        let separate = separate_file(module)?;
        let dwarf = separate.dwarf()?;
        DebugInfo::over(dwarf, Some(separate), module)
    }

    fn over(mut dwarf: Dwarf, separate: Option<ElfFile>, module: &ElfFile) -> Option<DebugInfo> {
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);
        let dwarf = Arc::new(dwarf);
        let lines = addr2line::Context::from_arc_dwarf(dwarf.clone()).ok()?;
        let holder = separate.as_ref().unwrap_or(module);
        let package = with_suffix(&holder.path, ".dwp");
        let package = ElfFile::read(&package).ok().and_then(|file| file.dwarf_package());
        Some(DebugInfo { dwarf, lines, separate, package })
    }

    /// Runs a lookup to its end, loading the split debug info it asks for.
    pub fn finish<L>(&self, mut lookup: LookupResult<L>) -> L::Output
    where
        L: LookupContinuation<Buf = Bytes>,
    {
        loop {
            lookup = match lookup {
                LookupResult::Output(output) => return output,
                LookupResult::Load { load, continuation } => continuation.resume(self.split(load)),
            };
        }
    }

    /// The split debug info of a unit (`-gsplit-dwarf`), from the package or from its own file.
    fn split(&self, wanted: SplitDwarfLoad<Bytes>) -> Option<Arc<Dwarf>> {
        let packed = self
            .package
            .as_ref()
            .and_then(|package| package.find_cu(wanted.dwo_id, &wanted.parent).ok().flatten());
        packed.or_else(|| split_file(&wanted)).map(Arc::new)
    }

    /// The split debug info that belongs to a skeleton unit.
    pub fn split_of(&self, unit: &gimli::Unit<Bytes>) -> Option<Dwarf> {
        let name = unit.dwo_name().ok()??;
        let wanted = SplitDwarfLoad {
            dwo_id: unit.dwo_id?,
            comp_dir: unit.comp_dir.clone(),
            path: self.dwarf.attr_string(unit, name).ok(),
            parent: self.dwarf.clone(),
        };
        self.split(wanted).and_then(Arc::into_inner)
    }
}

fn split_file(wanted: &SplitDwarfLoad<Bytes>) -> Option<Dwarf> {
    let folder = wanted.comp_dir.as_ref().and_then(path_from).unwrap_or_default();
    let path = folder.join(path_from(wanted.path.as_ref()?)?);
    let mut dwarf = ElfFile::read(&path).ok()?.split_dwarf()?;
    let header = dwarf.units().next().ok()??;
    let unit = dwarf.unit(header).ok()?;
    if unit.dwo_id != Some(wanted.dwo_id) {
        return None;
    }
    dwarf.make_dwo(&wanted.parent);
    Some(dwarf)
}

fn path_from(bytes: &Bytes) -> Option<PathBuf> {
    Some(PathBuf::from(OsString::from_vec(bytes.to_slice().ok()?.into_owned())))
}

/// The file with the debug info that was stripped from this one.
fn separate_file(module: &ElfFile) -> Option<ElfFile> {
    candidates(module).into_iter().find_map(|path| {
        let file = ElfFile::read(&path).ok()?;
        (file.path != module.path && belongs_to(&file, module)).then_some(file)
    })
}

/// A file of another build would name wrong lines.
fn belongs_to(file: &ElfFile, module: &ElfFile) -> bool {
    match module.build_id.as_str() {
        "" => debug_link(module).is_some_and(|(_, checksum)| checksum == crc32(&file.bytes)),
        build_id => file.build_id == build_id,
    }
}

/// CRC-32 as in zlib: what `.gnu_debuglink` holds.
fn crc32(bytes: &[u8]) -> u32 {
    let rest_of = |byte: u32| {
        (0..8).fold(byte, |rest, _| rest >> 1 ^ if rest & 1 == 1 { 0xedb8_8320 } else { 0 })
    };
    let table: Vec<u32> = (0..256).map(rest_of).collect();
    !bytes.iter().fold(!0, |crc: u32, &byte| crc >> 8 ^ table[(crc as u8 ^ byte) as usize])
}

/// Where gdb looks, in the same order.
fn candidates(module: &ElfFile) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    if let Some((folder, rest)) = module.build_id.split_at_checked(2) {
        paths.push(format!("{GLOBAL_DEBUG_FOLDER}/.build-id/{folder}/{rest}.debug").into());
    }
    let folder = module.path.parent().unwrap_or(Path::new("/"));
    if let Some((link, _)) = debug_link(module) {
        paths.push(folder.join(&link));
        paths.push(folder.join(".debug").join(&link));
        if let Ok(below_root) = folder.strip_prefix("/") {
            paths.push(Path::new(GLOBAL_DEBUG_FOLDER).join(below_root).join(&link));
        }
    }
    paths
}

/// File name and checksum of the separate file.
fn debug_link(module: &ElfFile) -> Option<(OsString, u32)> {
    let object = module.object()?;
    let (name, checksum) = object.gnu_debuglink().ok()??;
    // A link is a bare file name; anything else could point outside the folders that are searched.
    (!name.contains(&b'/')).then(|| (OsString::from_vec(name.to_vec()), checksum))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::crc32;

    #[test]
    fn the_checksum_is_that_of_zlib() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
