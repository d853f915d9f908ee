//! What single arguments of gcc and clang mean, as tables: which take a value, what a file's name
//! or `-x` says about its content, which choose debug information.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InputKind {
    /// Goes through the compiler proper.
    Source,
    /// Becomes a precompiled header; never linked.
    Header,
    Assembly,
    /// Objects, archives, libraries, linker scripts: only the linker reads them.
    ForLinker,
}

/// Options that print something and do nothing else, even beside input files.
pub(super) fn asks_the_driver(option: &[u8]) -> bool {
    const EXACT: [&[u8]; 9] = [
        b"--version",
        b"-dumpversion",
        b"-dumpfullversion",
        b"-dumpmachine",
        b"-dumpspecs",
        b"--target-help",
        b"-help",
        // Not a driver's command line at all: clang is its own compiler proper and assembler.
        b"-cc1",
        b"-cc1as",
    ];
    const BEGINNINGS: [&[u8]; 3] = [b"-print-", b"--print-", b"--help"];
    EXACT.contains(&option) || BEGINNINGS.iter().any(|beginning| option.starts_with(beginning))
}

/// Options that say how much debug information to make; others that start with `-g` only shape it.
pub(super) fn chooses_debug_info(option: &[u8]) -> bool {
    let exact: [&[u8]; 11] = [
        b"-g",
        b"-g0",
        b"-g1",
        b"-g2",
        b"-g3",
        b"-gmlt",
        b"-gline-tables-only",
        b"-gline-directives-only",
        b"-gfull",
        b"-gused",
        b"-gbtf",
    ];
    let beginnings: [&[u8]; 8] =
        [b"-ggdb", b"-glldb", b"-gsce", b"-gdbx", b"-gdwarf-", b"-gstabs", b"-gctf", b"-gcodeview"];
    exact.contains(&option)
        || option == b"-gdwarf"
        || option.starts_with(b"--debug")
        || beginnings.iter().any(|beginning| option.starts_with(beginning))
}

/// Options whose value is the next argument, so that it is not taken for an input file.
pub(super) fn takes_next_argument(option: &[u8]) -> bool {
    const OPTIONS: &[&str] = &[
        "-A",
        "-B",
        "-D",
        "-I",
        "-L",
        "-MF",
        "-MJ",
        "-MQ",
        "-MT",
        "-T",
        "-U",
        "-Xanalyzer",
        "-Xassembler",
        "-Xclang",
        "-Xlinker",
        "-Xopenmp-target",
        "-Xpreprocessor",
        "-arch",
        "-aux-info",
        "-cxx-isystem",
        "-dumpbase",
        "-dumpbase-ext",
        "-dumpdir",
        "-e",
        "-framework",
        "-gcc-toolchain",
        "-idirafter",
        "-iframework",
        "-imacros",
        "-imultiarch",
        "-imultilib",
        "-include",
        "-include-pch",
        "-index-store-path",
        "-iprefix",
        "-iquote",
        "-isysroot",
        "-isystem",
        "-isystem-after",
        "-ivfsoverlay",
        "-iwithprefix",
        "-iwithprefixbefore",
        "-iwithsysroot",
        "-l",
        "-mllvm",
        "-o",
        "-resource-dir",
        "-serialize-diagnostics",
        "-specs",
        "-target",
        "-u",
        "-wrapper",
        "-x",
        "-z",
        "--assert",
        "--config",
        "--define-macro",
        "--dumpbase",
        "--dumpdir",
        "--entry",
        "--for-assembler",
        "--for-linker",
        "--force-link",
        "--imacros",
        "--include",
        "--include-directory",
        "--include-directory-after",
        "--include-prefix",
        "--include-with-prefix",
        "--language",
        "--library",
        "--library-directory",
        "--output",
        "--param",
        "--prefix",
        "--serialize-diagnostics",
        "--specs",
        "--sysroot",
        "--target",
        "--undefine-macro",
    ];
    OPTIONS.iter().any(|known| known.as_bytes() == option)
}

/// For the languages of `-x`; `none` goes back to file names.
pub(super) fn kind_of_language(name: &[u8]) -> Option<InputKind> {
    match name {
        b"none" => None,
        b"assembler" | b"assembler-with-cpp" => Some(InputKind::Assembly),
        _ if name.ends_with(b"-header") || name.ends_with(b"-header-cpp-output") => {
            Some(InputKind::Header)
        }
        _ => Some(InputKind::Source),
    }
}

pub(super) fn kind_of_file(path: &[u8]) -> InputKind {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let Some(dot) = name.iter().rposition(|byte| *byte == b'.') else {
        // "-" is the standard input, which needs `-x` or `-E` and is then text to translate.
        return if name == b"-" { InputKind::Source } else { InputKind::ForLinker };
    };
    match &name[dot + 1..] {
        b"s" | b"S" | b"sx" | b"asm" => InputKind::Assembly,
        b"h" | b"hh" | b"hp" | b"hpp" | b"hxx" | b"h++" | b"H" | b"tcc" => InputKind::Header,
        b"c" | b"i" | b"cc" | b"cp" | b"cxx" | b"cpp" | b"CPP" | b"c++" | b"C" | b"ii" | b"m"
        | b"mi" | b"mm" | b"M" | b"mii" | b"cppm" | b"ixx" | b"pcm" | b"ll" | b"bc" | b"f"
        | b"for" | b"F" | b"f90" | b"F90" | b"f95" | b"F95" | b"f03" | b"f08" | b"d" | b"di"
        | b"go" | b"adb" | b"ads" | b"cu" => InputKind::Source,
        _ => InputKind::ForLinker,
    }
}

pub(super) fn comma_list(text: &[u8]) -> Vec<String> {
    text.split(|byte| *byte == b',').map(text_of).collect()
}

pub(super) fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The argument without ThreadSanitizer's own library and flag: ours come in their place.
/// `None` when nothing of it is left.
pub(super) fn without_thread_sanitizer(arg: &OsStr) -> Option<OsString> {
    match arg.as_bytes() {
        b"-static-libtsan" | b"-shared-libtsan" | b"-ltsan" => None,
        bytes => match bytes.strip_prefix(b"-fsanitize=") {
            Some(names) => without_thread(names),
            None => Some(arg.to_owned()),
        },
    }
}

fn without_thread(names: &[u8]) -> Option<OsString> {
    let mut kept = comma_list(names);
    kept.retain(|name| name != "thread");
    (!kept.is_empty()).then(|| format!("-fsanitize={}", kept.join(",")).into())
}
