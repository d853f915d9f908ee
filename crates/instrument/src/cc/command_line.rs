//! Reads a compiler's command line: what the call makes, and which choices the user made.
//!
//! Takes   arguments with response files already expanded.    Gives  a [`CommandLine`].
//! Misses  what a specs or config file of the user's adds, and options inside a linker's own
//!         response file (`-Wl,@file`).

use super::options::{
    InputKind, asks_the_driver, chooses_debug_info, comma_list, kind_of_file, kind_of_language,
    takes_next_argument, text_of,
};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// What one call of the compiler leaves behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Product {
    /// The call only asks: `--version`, `-print-…`, or no input at all.
    Answer,
    /// Object files, assembly, preprocessed text, precompiled headers: nothing is linked.
    Parts,
    /// `-r`: an object made of objects.
    Relocatable,
    SharedObject,
    Executable,
    /// `-static` or `-static-pie`.
    StaticExecutable,
}

/// What matters to us in a compiler's command line.
#[derive(Debug, Clone, Default)]
pub(super) struct CommandLine {
    stop: Stop,
    asks: bool,
    inputs: Vec<InputKind>,
    some_input_exists: bool,
    shared: bool,
    relocatable: bool,
    fully_static: bool,
    no_default_libraries: bool,
    names_libc: bool,
    freestanding: bool,
    linker_words: Vec<OsString>,
    sanitizers: Vec<String>,
    /// `-fno-sanitize=thread` or `=all`.
    pub thread_declined: bool,
    pub debug_chosen: bool,
    pub optimisation_chosen: bool,
    pub saves_temporaries: bool,
    /// The option that asks for code of another machine than x86-64 Linux.
    pub foreign_target: Option<String>,
    /// `-fuse-ld=…`, `-B…`, `--ld-path=…`: what decides which linker runs.
    pub linker_choice: Vec<OsString>,
    /// clang's `-fsanitize-ignorelist=…`: code the user does not want instrumented.
    pub ignore_lists: Vec<OsString>,
}

/// The last step the driver takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stop {
    BeforeLinking,
    #[default]
    AfterLinking,
}

impl CommandLine {
    pub fn read(args: &[OsString]) -> Self {
        let mut line = Self::default();
        let mut language: Option<InputKind> = None;
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let text = arg.as_bytes();
            if takes_next_argument(text) {
                let value = rest.next().map(|value| value.as_bytes()).unwrap_or_default();
                if matches!(text, b"-x" | b"--language") {
                    language = kind_of_language(value);
                }
                line.note_option_with_value(text, value);
            } else if let Some(name) = text.strip_prefix(b"-x").filter(|name| !name.is_empty()) {
                language = kind_of_language(name);
            } else if text.len() > 1 && text.starts_with(b"-") {
                line.note_option(text);
            } else {
                line.note_file(arg, language);
            }
        }
        line.note_linker_words();
        line
    }

    pub fn product(&self) -> Product {
        let only_headers = self.inputs.iter().all(|kind| *kind == InputKind::Header);
        match () {
            () if self.asks || self.has_no_input() => Product::Answer,
            () if self.stop == Stop::BeforeLinking => Product::Parts,
            () if only_headers && !self.inputs.is_empty() => Product::Parts,
            () if self.relocatable => Product::Relocatable,
            () if self.shared => Product::SharedObject,
            () if self.fully_static => Product::StaticExecutable,
            () => Product::Executable,
        }
    }

    /// Also when every file named is missing: then the compiler can only complain.
    fn has_no_input(&self) -> bool {
        let questions = ["--version", "-version", "-v", "-V", "--help", "-help"];
        let only_asks_the_linker =
            self.linker_words.iter().all(|word| questions.iter().any(|question| word == question));
        !self.some_input_exists && only_asks_the_linker
    }

    fn note_file(&mut self, path: &OsStr, language: Option<InputKind>) {
        self.some_input_exists |= path == "-" || Path::new(path).exists();
        self.inputs.push(language.unwrap_or_else(|| kind_of_file(path.as_bytes())));
    }

    /// Some input is translated, so flags for the compiler proper have a meaning.
    pub fn compiles(&self) -> bool {
        self.inputs.iter().any(|kind| matches!(kind, InputKind::Source | InputKind::Header))
    }

    /// Code that runs without a C library (kernels, boot loaders, start-up code): our runtime
    /// could not run there.
    pub fn has_no_c_library(&self) -> bool {
        let links = matches!(self.product(), Product::Executable | Product::StaticExecutable);
        self.freestanding || (links && self.no_default_libraries && !self.names_libc)
    }

    /// A sanitizer that cannot live in one process with ours.
    pub fn rival_sanitizer(&self) -> Option<&str> {
        const RIVALS: [&str; 10] = [
            "address",
            "hwaddress",
            "kernel-address",
            "kernel-hwaddress",
            "memory",
            "kernel-memory",
            "leak",
            "dataflow",
            "safe-stack",
            "type",
        ];
        self.sanitizers.iter().map(String::as_str).find(|name| RIVALS.contains(name))
    }

    /// The linker was told to complain about names nobody defines.
    pub fn refuses_undefined(&self) -> bool {
        let words = &self.linker_words;
        let by_keyword = words.windows(2).any(|pair| pair[0] == "-z" && pair[1] == "defs");
        let names = ["-zdefs", "--no-undefined", "-no-undefined", "--no-allow-shlib-undefined"];
        by_keyword || words.iter().any(|word| names.iter().any(|name| word == name))
    }

    fn note_option_with_value(&mut self, option: &[u8], value: &[u8]) {
        match option {
            b"-Xlinker" | b"--for-linker" => self.add_linker_word(value),
            b"-z" => self.linker_words.extend(["-z".into(), to_os(value)]),
            b"-l" | b"--library" => self.note_library(value),
            b"-T" | b"-u" => {}
            b"-target" | b"--target" => self.note_target(value),
            b"-B" | b"--prefix" => self.linker_choice.extend([to_os(option), to_os(value)]),
            _ => {}
        }
    }

    fn note_option(&mut self, option: &[u8]) {
        match option {
            b"-c"
            | b"-S"
            | b"-E"
            | b"-M"
            | b"-MM"
            | b"-fsyntax-only"
            | b"--compile"
            | b"--assemble"
            | b"--preprocess"
            | b"--dependencies"
            | b"--user-dependencies"
            | b"--precompile"
            | b"--analyze"
            | b"-emit-ast"
            | b"-extract-api"
            | b"-fmodule-header" => self.stop = Stop::BeforeLinking,
            b"-shared" | b"--shared" => self.shared = true,
            b"-r" | b"--relocatable" => self.relocatable = true,
            b"-static" | b"--static" | b"-static-pie" | b"--static-pie" => self.fully_static = true,
            b"-nostdlib" | b"--no-standard-libraries" | b"-nodefaultlibs" | b"-nolibc" => {
                self.no_default_libraries = true;
            }
            b"-ffreestanding" | b"-fno-hosted" => self.freestanding = true,
            b"-m64" => self.foreign_target = None,
            b"-m32" | b"-mx32" | b"-m16" | b"-miamcu" => {
                self.foreign_target = Some(text_of(option))
            }
            _ => self.note_option_with_joined_value(option),
        }
    }

    fn note_option_with_joined_value(&mut self, option: &[u8]) {
        if let Some(words) = option.strip_prefix(b"-Wl,") {
            words.split(|byte| *byte == b',').for_each(|word| self.add_linker_word(word));
        } else if let Some(word) = option.strip_prefix(b"--for-linker=") {
            self.add_linker_word(word);
        } else if let Some(keyword) = option.strip_prefix(b"-z") {
            self.linker_words.extend(["-z".into(), to_os(keyword)]);
        } else if let Some(name) = option.strip_prefix(b"-l") {
            self.note_library(name);
        } else if let Some(names) = option.strip_prefix(b"-fsanitize=") {
            self.add_sanitizers(comma_list(names));
        } else if let Some(names) = option.strip_prefix(b"-fno-sanitize=") {
            self.decline_sanitizers(&comma_list(names));
        } else if let Some(triple) = option.strip_prefix(b"--target=") {
            self.note_target(triple);
        } else {
            self.note_option_by_its_beginning(option);
        }
    }

    fn note_option_by_its_beginning(&mut self, option: &[u8]) {
        let begins = |beginning: &str| option.starts_with(beginning.as_bytes());
        if asks_the_driver(option) {
            self.asks = true;
        } else if begins("-save-temps") || begins("--save-temps") {
            self.saves_temporaries = true;
        } else if begins("-fuse-ld=") || begins("--ld-path=") || begins("-B") {
            self.linker_choice.push(to_os(option));
        } else if begins("-fsanitize-ignorelist=") || begins("-fsanitize-blacklist=") {
            self.ignore_lists.push(to_os(option));
        } else if begins("-O") || begins("--optimize") {
            self.optimisation_chosen = true;
        } else if chooses_debug_info(option) {
            self.debug_chosen = true;
        }
    }

    fn add_linker_word(&mut self, word: &[u8]) {
        self.linker_words.push(to_os(word));
    }

    fn note_library(&mut self, name: &[u8]) {
        self.some_input_exists = true;
        self.inputs.push(InputKind::ForLinker);
        self.names_libc |= name == b"c";
    }

    fn note_target(&mut self, triple: &[u8]) {
        let triple = text_of(triple);
        let known = (triple.starts_with("x86_64") || triple.starts_with("amd64"))
            && triple.contains("linux")
            && !triple.ends_with("x32");
        self.foreign_target = (!known).then(|| format!("--target={triple}"));
    }

    fn add_sanitizers(&mut self, names: Vec<String>) {
        self.thread_declined &= !names.iter().any(|name| name == "thread");
        self.sanitizers.extend(names);
    }

    fn decline_sanitizers(&mut self, declined: &[String]) {
        let all = declined.iter().any(|name| name == "all");
        self.thread_declined |= all || declined.iter().any(|name| name == "thread");
        self.sanitizers.retain(|name| !all && !declined.contains(name));
    }

    fn note_linker_words(&mut self) {
        for word in &self.linker_words {
            match word.as_bytes() {
                b"-r" | b"-i" | b"-Ur" | b"--relocatable" | b"-relocatable" => {
                    self.relocatable = true;
                }
                b"-shared" | b"--shared" | b"-Bshareable" => self.shared = true,
                b"-lc" => self.names_libc = true,
                _ => {}
            }
        }
    }
}

fn to_os(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(args: &str) -> CommandLine {
        let args: Vec<OsString> = args.split_whitespace().map(OsString::from).collect();
        CommandLine::read(&args)
    }

    /// Every input is taken for existing: `-` is the standard input.
    fn product(args: &str) -> Product {
        read(&format!("{args} -lm")).product()
    }

    #[test]
    fn questions_make_nothing() {
        for args in ["--version", "-dumpmachine a.c", "-print-file-name=x -c a.c", "--help=params"]
        {
            assert_eq!(product(args), Product::Answer, "{args}");
        }
        for args in ["", "-v", "-Wl,--version", "-c -o x.o", "missing.c", "-O2 -I include"] {
            assert_eq!(read(args).product(), Product::Answer, "{args}");
        }
    }

    #[test]
    fn flags_that_stop_early_make_parts() {
        for args in [
            "-c a.c",
            "-S a.c",
            "-E a.c",
            "-M a.c",
            "-MM a.c",
            "-fsyntax-only a.c",
            "--compile a.c",
        ] {
            assert_eq!(product(args), Product::Parts, "{args}");
        }
        for args in ["-MD a.c", "-MMD a.c", "-MF -c a.c", "-o -c a.c"] {
            assert_eq!(product(args), Product::Executable, "{args}");
        }
    }

    #[test]
    fn only_headers_make_parts() {
        let line = read("-x c-header -");
        assert_eq!(line.product(), Product::Parts);
        assert!(line.compiles());
    }

    #[test]
    fn the_kind_of_link_is_known_also_from_the_linkers_own_options() {
        assert_eq!(product("-shared a.o"), Product::SharedObject);
        assert_eq!(product("-Wl,-shared a.o"), Product::SharedObject);
        assert_eq!(product("-r a.o"), Product::Relocatable);
        assert_eq!(product("-Xlinker -r a.o"), Product::Relocatable);
        assert_eq!(product("-static a.o"), Product::StaticExecutable);
        assert_eq!(product("-static-pie a.o"), Product::StaticExecutable);
        assert_eq!(product("-static -shared a.o"), Product::SharedObject);
    }

    #[test]
    fn the_language_of_an_option_counts_until_none() {
        assert!(read("-x c text").compiles());
        assert!(!read("-xassembler a.c").compiles());
        assert!(!read("-x c -x none a.o").compiles());
        assert!(!read("a.s b.S c.o libd.a e.so f").compiles());
        assert!(read("a.cpp").compiles() && read("a.i").compiles() && read("-").compiles());
    }

    #[test]
    fn values_of_options_are_no_inputs() {
        assert!(!read("-include a.c -I b.c -MF c.c -Xclang d.c --param e.c -o f.c g.o").compiles());
    }

    #[test]
    fn options_that_only_shape_debug_information_do_not_choose_it() {
        for args in ["-g", "-g0", "-g3", "-ggdb3", "-gdwarf-4", "-gline-tables-only"] {
            assert!(read(args).debug_chosen, "{args}");
        }
        for args in ["-gz", "-gsplit-dwarf", "-gno-column-info", "-grecord-gcc-switches"] {
            assert!(!read(args).debug_chosen, "{args}");
        }
    }

    #[test]
    fn the_last_word_on_the_machine_counts() {
        assert_eq!(read("-m32").foreign_target.as_deref(), Some("-m32"));
        assert_eq!(read("-m32 -m64").foreign_target, None);
        let arm = read("-target aarch64-linux-gnu").foreign_target;
        assert_eq!(arm.as_deref(), Some("--target=aarch64-linux-gnu"));
        assert_eq!(read("--target=x86_64-pc-linux-gnu").foreign_target, None);
        assert!(read("--target=x86_64-apple-darwin").foreign_target.is_some());
        assert!(read("--target=x86_64-linux-gnux32").foreign_target.is_some());
    }

    #[test]
    fn sanitizers_add_up_and_can_be_taken_back() {
        assert_eq!(read("-fsanitize=undefined,address").rival_sanitizer(), Some("address"));
        assert_eq!(read("-fsanitize=address -fno-sanitize=all").rival_sanitizer(), None);
        assert_eq!(read("-fsanitize=undefined,thread").rival_sanitizer(), None);
        assert!(read("-fno-sanitize=thread").thread_declined);
        assert!(!read("-fno-sanitize=all -fsanitize=thread").thread_declined);
    }

    #[test]
    fn code_without_a_c_library_is_recognised_only_where_it_is_linked() {
        assert!(read("-nostdlib -").has_no_c_library());
        assert!(!read("-nostdlib - -lc").has_no_c_library());
        assert!(!read("-nostdlib -c -").has_no_c_library());
        assert!(!read("-nostdlib -shared -").has_no_c_library());
        assert!(read("-ffreestanding -c -").has_no_c_library());
    }

    #[test]
    fn refusing_undefined_names_is_seen_in_every_spelling() {
        for args in ["-Wl,-z,defs", "-z defs", "-Xlinker -z -Xlinker defs", "-Wl,--no-undefined"] {
            assert!(read(args).refuses_undefined(), "{args}");
        }
        assert!(!read("-Wl,-z,now").refuses_undefined());
    }
}
