//! The functions of std that synchronise, or begin a panic, and are delivered compiled: puts a hook before and after each of them.
//!
//! Takes  the symbols of this toolchain's std.
//! Gives  an assembly file and linker flags (`--wrap`): a program's call of such a function enters a few instructions
//!        that call `__unpick_std_enter`, then the function, then `__unpick_std_leave`.
//! Misses calls inside std itself, and calls the function is inlined into.
//!
//! Why these functions, and what the hooks mean: docs/design/0004-rust-locks.md. A runtime without the hooks is called
//! by nobody: the references are weak, and the function is entered directly.

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// What a hook is told about the function it is called for. The numbers are known to the runtime.
const FUNCTIONS: [StdFunction; 13] = [
    function(1, "4sync5mutex5futex", "5Mutex14lock_contended"),
    function(2, "4sync6rwlock5futex", "6RwLock14read_contended"),
    function(3, "4sync6rwlock5futex", "6RwLock15write_contended"),
    function(4, "4sync7condvar5futex", "7Condvar4wait"),
    function(5, "4sync7condvar5futex", "7Condvar12wait_timeout"),
    function(6, "4sync4once5futex", "4Once4call"),
    function(7, "4sync4once", "4Once4wait"),
    function(10, "6thread", "6Thread4park"),
    function(11, "6thread", "6Thread12park_timeout"),
    // After those of `Thread`, whose names end the same.
    function(8, "6thread", "4park"),
    function(9, "6thread", "12park_timeout"),
    function(12, "6thread6scoped", "9ScopeData29decrement_num_running_threads"),
    function(13, "4sync7barrier", "7Barrier4wait"),
];

/// Where a panic begins. It gets a hook before and no frame of ours: a backtrace shows what it would show without.
const PANIC: u32 = 14;
const PANIC_SYMBOL: &str = "rust_begin_unwind";
/// Printing a backtrace happens inside this function of the compiler's library.
const BACKTRACE: u32 = 15;
const BACKTRACE_SYMBOL: &str = "_Unwind_Backtrace";

#[derive(Debug, Clone, Copy)]
struct StdFunction {
    number: u32,
    /// Pieces of the mangled name: the module, then what it ends in.
    module: &'static str,
    name: &'static str,
}

const fn function(number: u32, module: &'static str, name: &'static str) -> StdFunction {
    StdFunction { number, module, name }
}

impl StdFunction {
    /// In the mangling of today (`_R…`), and in that of old (`_ZN…17h<hash>E`).
    fn is_called(self, symbol: &str) -> bool {
        let of_std = symbol
            .find("3std")
            .and_then(|at| symbol[at..].find(self.module).map(|module| at + module));
        let rest = of_std.map(|at| &symbol[at + self.module.len()..]);
        rest.is_some_and(|rest| match symbol.starts_with("_ZN") {
            true => rest.split("17h").next().is_some_and(|path| path.ends_with(self.name)),
            false => rest.ends_with(self.name),
        })
    }
}

/// The flags for every link, and the content of the assembly file that they name as `file`.
pub(super) struct StdHooks {
    pub assembly: String,
    symbols: BTreeMap<String, u32>,
}

impl StdHooks {
    /// None where nothing can be hooked: another machine, or a std with other functions.
    pub fn for_library_folder(folder: &Path) -> Option<Self> {
        let mut symbols: BTreeMap<String, u32> =
            std_archives(folder).iter().flat_map(|archive| functions_in(archive)).collect();
        if !symbols.is_empty() {
            symbols.insert(BACKTRACE_SYMBOL.to_owned(), BACKTRACE);
        }
        Self::for_symbols(symbols)
    }

    fn for_symbols(symbols: BTreeMap<String, u32>) -> Option<Self> {
        if symbols.is_empty() || !cfg!(target_arch = "x86_64") {
            return None;
        }
        let assembly = symbols.iter().fold(String::from(HEADER), |mut text, (symbol, number)| {
            let hooked = if *number == PANIC { before } else { around };
            let _ = write!(text, "{}", hooked(symbol, *number));
            text
        });
        Some(Self { assembly, symbols })
    }

    pub fn link_flags(&self, file: &Path) -> Vec<String> {
        // The compiler that links also assembles.
        let assembly = format!("-Clink-arg={}", file.display());
        let wraps = self.symbols.keys().map(|symbol| format!("-Clink-arg=-Wl,--wrap={symbol}"));
        [assembly].into_iter().chain(wraps).collect()
    }
}

fn std_archives(folder: &Path) -> Vec<PathBuf> {
    let is_std = |path: &PathBuf| {
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(is_std).collect()
}

/// The functions of our table in an archive; none from what cannot be read.
fn functions_in(archive: &Path) -> Vec<(String, u32)> {
    let Ok(data) = fs::read(archive) else { return Vec::new() };
    let Ok(archive) = ArchiveFile::parse(&*data) else { return Vec::new() };
    let members = archive.members().filter_map(|member| member.ok()?.data(&*data).ok());
    members
        .filter_map(|member| object::File::parse(member).ok())
        .flat_map(|file| functions_in_object(&file))
        .collect()
}

fn functions_in_object(file: &object::File<'_>) -> Vec<(String, u32)> {
    let defined = file.symbols().filter(|symbol| symbol.is_definition() && symbol.is_global());
    let names = defined.filter_map(|symbol| symbol.name().ok());
    names.filter_map(|name| Some((name.to_owned(), number_of(name)?))).collect()
}

fn number_of(symbol: &str) -> Option<u32> {
    if symbol.ends_with(PANIC_SYMBOL) {
        return Some(PANIC);
    }
    FUNCTIONS
        .into_iter()
        .find(|function| function.is_called(symbol))
        .map(|function| function.number)
}

const HEADER: &str = "\
# Written by `unpick cargo`: a hook before and after functions of std. See docs/design/0004-rust-locks.md.
    .weak __unpick_std_enter
    .weak __unpick_std_leave
    .section .note.GNU-stack,\"\",@progbits
    .text
";

/// Keeps the registers of up to six arguments; tells the hook the number and where the program called. The function is entered by
/// a jump, so that it finds the stack as its caller left it.
fn before(symbol: &str, number: u32) -> String {
    format!(
        "
    .weak __real_{symbol}
    .globl __wrap_{symbol}
    .hidden __wrap_{symbol}
    .type __wrap_{symbol}, @function
__wrap_{symbol}:
    .cfi_startproc
    cmpq $0, __unpick_std_enter@GOTPCREL(%rip)
    je 1f
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    subq $8, %rsp
    .cfi_adjust_cfa_offset 56
    movl ${number}, %edi
    xorl %esi, %esi
    xorl %edx, %edx
    movq 56(%rsp), %rcx
    call *__unpick_std_enter@GOTPCREL(%rip)
    addq $8, %rsp
    popq %r9
    popq %r8
    popq %rcx
    popq %rdx
    popq %rsi
    popq %rdi
    .cfi_adjust_cfa_offset -56
1:  jmp *__real_{symbol}@GOTPCREL(%rip)
    .cfi_endproc
    .size __wrap_{symbol}, .-__wrap_{symbol}
"
    )
}

/// Keeps the registers of up to six arguments and of the result; has unwinding information, as closures given to
/// `Once` may panic; tells the hooks the number, two arguments and where the program called.
fn around(symbol: &str, number: u32) -> String {
    format!(
        "
    .weak __real_{symbol}
    .globl __wrap_{symbol}
    .hidden __wrap_{symbol}
    .type __wrap_{symbol}, @function
__wrap_{symbol}:
    .cfi_startproc
    cmpq $0, __unpick_std_enter@GOTPCREL(%rip)
    jne 1f
    jmp *__real_{symbol}@GOTPCREL(%rip)
1:  pushq %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %rdi
    pushq %rsi
    pushq %rdx
    pushq %rcx
    pushq %r8
    pushq %r9
    movl ${number}, %edi
    movq -8(%rbp), %rsi
    movq -16(%rbp), %rdx
    movq 8(%rbp), %rcx
    call *__unpick_std_enter@GOTPCREL(%rip)
    movq -8(%rbp), %rdi
    movq -16(%rbp), %rsi
    movq -24(%rbp), %rdx
    movq -32(%rbp), %rcx
    movq -40(%rbp), %r8
    movq -48(%rbp), %r9
    call *__real_{symbol}@GOTPCREL(%rip)
    movq %rax, -24(%rbp)
    movq %rdx, -32(%rbp)
    movl ${number}, %edi
    movq -8(%rbp), %rsi
    movq -16(%rbp), %rdx
    movq 8(%rbp), %rcx
    call *__unpick_std_leave@GOTPCREL(%rip)
    movq -24(%rbp), %rax
    movq -32(%rbp), %rdx
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size __wrap_{symbol}, .-__wrap_{symbol}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_in_both_manglings() {
        let names = [
            (
                "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended",
                Some(1),
            ),
            ("_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE", Some(1)),
            ("_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync7condvar5futexNtB2_7Condvar4wait", Some(4)),
            (
                "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync7condvar5futexNtB2_7Condvar12wait_timeout",
                Some(5),
            ),
            ("_RNvMs0_NtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync4once5futexNtB5_4Once4call", Some(6)),
            ("_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex4wake", None),
            ("_RNvNtNtCsjrHSEGnQ3l9_3std6thread9functions4park", Some(8)),
            ("_ZN3std6thread4park17h0123456789abcdefE", Some(8)),
            ("_RNvMNtNtCsjrHSEGnQ3l9_3std6thread6threadNtB2_6Thread4park", Some(10)),
            ("_ZN3std6thread6Thread4park17h0123456789abcdefE", Some(10)),
            ("_RNvMNtNtCsx_4mine4sync5mutex5futexNtB2_5Mutex14lock_contended", None),
            ("_RNvCsfLfy6EI15iL_7___rustc17rust_begin_unwind", Some(PANIC)),
            ("rust_begin_unwind", Some(PANIC)),
        ];
        for (name, number) in names {
            assert_eq!(number_of(name), number, "{name}");
        }
    }

    #[test]
    fn a_std_without_known_functions_gets_no_flags() {
        assert!(StdHooks::for_symbols(BTreeMap::new()).is_none());
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_beginning_of_a_panic_is_entered_without_a_frame() {
        let hooks = StdHooks::for_symbols([(PANIC_SYMBOL.to_owned(), PANIC)].into()).unwrap();
        assert!(!hooks.assembly.contains("call *__real_"), "{}", hooks.assembly);
        assert!(hooks.assembly.contains("jmp *__real_rust_begin_unwind@GOTPCREL(%rip)"));
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_function_is_wrapped_by_its_exact_name() {
        let hooks = StdHooks::for_symbols([("lock".to_owned(), 1)].into()).unwrap();
        assert_eq!(
            hooks.link_flags(Path::new("/hooks.s")),
            ["-Clink-arg=/hooks.s", "-Clink-arg=-Wl,--wrap=lock"]
        );
        assert!(hooks.assembly.contains("call *__real_lock@GOTPCREL(%rip)"));
    }
}
