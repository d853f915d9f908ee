//! Looks at a program before it is run: can it run here, and can Unpick's runtime live in it.
//!
//! Takes   the name a user gave.      Gives  the file, and whether it was built with Unpick.
//! Misses  programs that carry another sanitizer without any symbol of it (stripped and static).

use std::env;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use object::elf::{
    DT_NEEDED, EM_386, EM_AARCH64, EM_ARM, EM_PPC64, EM_RISCV, EM_S390, EM_X86_64, FileHeader64,
    Machine,
};
use object::endian::Endianness;
use object::read::elf::{Dyn, FileHeader};
use object::{Object, ObjectSymbol, ReadCache};
use unpick_problem::Problem;

/// Every program linked with our runtime has this symbol.
const OUR_MARKER: &str = "unpick_runtime_version";
const OTHER_RUNTIMES: &[OtherRuntime] = &[
    OtherRuntime { name: "ThreadSanitizer", symbol: "__tsan_init", library: "libtsan" },
    OtherRuntime { name: "AddressSanitizer", symbol: "__asan_init", library: "libasan" },
];
const MACHINE: Machine = if cfg!(target_arch = "aarch64") { EM_AARCH64 } else { EM_X86_64 };

struct OtherRuntime {
    name: &'static str,
    symbol: &'static str,
    library: &'static str,
}

/// A program that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub path: PathBuf,
    /// It carries our runtime. `None`: not an ELF file, so it may start one that does.
    pub built_with_unpick: Option<bool>,
}

impl Program {
    /// Finds the program a command names, and refuses what cannot be recorded.
    pub fn find(name: &Path) -> Result<Program, Problem> {
        let path = locate(name)?;
        check_executable(&path)?;
        let built_with_unpick = look_inside(&path)?;
        Ok(Program { path, built_with_unpick })
    }
}

fn locate(name: &Path) -> Result<PathBuf, Problem> {
    if name.components().count() > 1 || name.is_absolute() || name.is_dir() {
        return if name.exists() { Ok(name.to_owned()) } else { Err(missing(name)) };
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&folders)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file() && is_executable(path))
        .ok_or_else(|| not_in_path(name))
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.permissions().mode() & 0o111 != 0)
}

fn check_executable(path: &Path) -> Result<(), Problem> {
    if path.is_dir() {
        return Err(Problem::usage("the program cannot be run: it is a folder")
            .at("file", path.display())
            .next("name the program itself: -- FOLDER/PROGRAM"));
    }
    if is_executable(path) {
        return Ok(());
    }
    Err(Problem::usage("the program cannot be run: it is not executable")
        .at("file", path.display())
        .why("none of its execute permissions is set")
        .next(format!("chmod +x {}", path.display())))
}

/// Whether an ELF file was built with Unpick; a problem if it is one that cannot be recorded.
fn look_inside(path: &Path) -> Result<Option<bool>, Problem> {
    let Ok(file) = File::open(path) else { return Ok(None) };
    let data = ReadCache::new(file);
    let Ok(header) = FileHeader64::<Endianness>::parse(&data) else {
        return refuse_narrow_elf(&data, path);
    };
    let Ok(endian) = header.endian() else { return Ok(None) };
    let machine = header.e_machine(endian);
    if machine != MACHINE {
        return Err(wrong_machine(path, machine));
    }
    let symbols = Symbols::of(&data);
    let libraries = needed_libraries(header, endian, &data);
    match OTHER_RUNTIMES.iter().find(|other| other.is_in(&symbols, &libraries)) {
        Some(other) => Err(carries(path, other)),
        None => Ok(Some(symbols.ours)),
    }
}

/// An ELF file with 32-bit addresses is for another machine; anything else may be a script.
fn refuse_narrow_elf(data: &ReadCache<File>, path: &Path) -> Result<Option<bool>, Problem> {
    use object::elf::FileHeader32;
    let Ok(header) = FileHeader32::<Endianness>::parse(data) else { return Ok(None) };
    let Ok(endian) = header.endian() else { return Ok(None) };
    Err(wrong_machine(path, header.e_machine(endian)))
}

/// Which of the symbols that matter a file has, defined or wanted.
#[derive(Debug, Default)]
struct Symbols {
    ours: bool,
    others: [bool; 2],
}

impl Symbols {
    fn of(data: &ReadCache<File>) -> Symbols {
        let mut found = Symbols::default();
        let Ok(file) = object::File::parse(data) else { return found };
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            found.note(symbol.name().unwrap_or_default());
        }
        found
    }

    fn note(&mut self, name: &str) {
        self.ours |= name == OUR_MARKER;
        for (other, seen) in OTHER_RUNTIMES.iter().zip(&mut self.others) {
            *seen |= name == other.symbol;
        }
    }

    fn has(&self, other: &OtherRuntime) -> bool {
        let mut known = OTHER_RUNTIMES.iter().zip(&self.others);
        known.any(|(runtime, &seen)| seen && runtime.symbol == other.symbol)
    }
}

impl OtherRuntime {
    /// Our own runtime answers to `__tsan_init`, so with it that symbol says nothing.
    fn is_in(&self, symbols: &Symbols, libraries: &[String]) -> bool {
        let linked = libraries.iter().any(|library| library.starts_with(self.library));
        linked || (symbols.has(self) && !symbols.ours)
    }
}

fn needed_libraries(
    header: &FileHeader64<Endianness>,
    endian: Endianness,
    data: &ReadCache<File>,
) -> Vec<String> {
    needed(header, endian, data).unwrap_or_default()
}

fn needed(
    header: &FileHeader64<Endianness>,
    endian: Endianness,
    data: &ReadCache<File>,
) -> Option<Vec<String>> {
    let sections = header.sections(endian, data).ok()?;
    let (entries, link) = sections.dynamic(endian, data).ok()??;
    let strings = sections.strings(endian, data, link).ok()?;
    let names = entries.iter().filter(|entry| entry.d_tag(endian) == DT_NEEDED);
    Some(
        names
            .filter_map(|entry| entry.string(endian, strings).ok())
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect(),
    )
}

fn missing(name: &Path) -> Problem {
    Problem::usage("the program cannot be run: there is no such file")
        .at("file", name.display())
        .next("check the path, or build the program first")
}

fn not_in_path(name: &Path) -> Problem {
    Problem::usage("the program cannot be run: it was not found")
        .at("command", name.display())
        .why("no folder in PATH holds an executable file of that name")
        .next(format!("if it is in this folder: -- ./{}", name.display()))
}

fn wrong_machine(path: &Path, machine: Machine) -> Problem {
    Problem::usage("the program cannot be run: it is for another machine")
        .at("file", path.display())
        .why(format!(
            "it is built for {}, this is {}",
            machine_name(machine),
            machine_name(MACHINE)
        ))
        .next("build it for this machine: unpick cc …")
}

fn machine_name(machine: Machine) -> String {
    match machine {
        EM_386 => "i386".to_owned(),
        EM_X86_64 => "x86-64".to_owned(),
        EM_ARM => "32-bit ARM".to_owned(),
        EM_AARCH64 => "64-bit ARM".to_owned(),
        EM_RISCV => "RISC-V".to_owned(),
        EM_PPC64 => "64-bit PowerPC".to_owned(),
        EM_S390 => "S/390".to_owned(),
        other => format!("ELF machine {other}"),
    }
}

fn carries(path: &Path, other: &OtherRuntime) -> Problem {
    Problem::usage(format!("the program cannot be recorded: it carries {}", other.name))
        .at("file", path.display())
        .why("two runtimes that watch memory cannot live in one process")
        .next("build it without -fsanitize=…, by unpick cc, unpick c++ or cargo unpick")
}
