//! Compiles the programs of the tests, runs them under fake hooks, and reads what the hooks print.
#![allow(dead_code)] // each test file uses its part

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use tempfile::TempDir;
use unpick_symbols::{Access, Memory, ModuleInfo, Place, Symbols, Touch};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compiler {
    Gcc,
    Gxx,
    Clang,
    Clangxx,
    Rustc,
}

impl Compiler {
    pub fn command(self) -> &'static str {
        match self {
            Compiler::Gcc => "gcc",
            Compiler::Gxx => "g++",
            Compiler::Clang => "clang",
            Compiler::Clangxx => "clang++",
            Compiler::Rustc => "rustc",
        }
    }

    /// Without a compiler its tests say so and pass, except where CI promises that all are there.
    pub fn is_here(self) -> bool {
        let here = Command::new(self.command()).arg("--version").output().is_ok();
        assert!(here || std::env::var_os("CI").is_none(), "{} is missing", self.command());
        if !here {
            eprintln!("skipped: {} is not installed", self.command());
        }
        here
    }

    fn instrumenting(self) -> &'static [&'static str] {
        match self {
            Compiler::Gcc | Compiler::Gxx => &["-fsanitize=thread"],
            Compiler::Clang | Compiler::Clangxx => {
                &["-fsanitize=thread", "-mllvm", "-tsan-instrument-read-before-write"]
            }
            Compiler::Rustc => &[
                "-Zsanitizer=thread",
                "-Zexternal-clangrt",
                "-Cunsafe-allow-abi-mismatch=sanitizer",
                "-Cllvm-args=-tsan-instrument-read-before-write",
                "--target=x86_64-unknown-linux-gnu",
            ],
        }
    }
}

/// A folder for one program.
pub struct Workshop {
    folder: TempDir,
}

const WRAPPED: [&str; 4] = ["malloc", "calloc", "_Znwm", "_Znam"];

impl Workshop {
    pub fn new() -> Workshop {
        Workshop { folder: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        // The real path: compilers record it.
        self.folder.path().canonicalize().unwrap().join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Runs a compiler in the folder.
    pub fn compile(&self, compiler: Compiler, arguments: &[&str]) {
        run(Command::new(compiler.command())
            .args(arguments)
            .env("RUSTC_BOOTSTRAP", "1")
            .current_dir(self.path("")));
    }

    pub fn run(&self, command: &str, arguments: &[&str]) -> String {
        run(Command::new(command).args(arguments).current_dir(self.path("")))
    }

    /// An instrumented program, linked with the fake hooks.
    pub fn instrumented(&self, compiler: Compiler, source: &str, options: &[&str]) -> Recorded {
        self.hooks();
        match compiler {
            Compiler::Rustc => self.link_rust(source, options),
            _ => self.link_c(compiler, source, options),
        }
        self.record()
    }

    /// The fake hooks as an object file.
    pub fn hooks(&self) {
        let hooks = concat!(env!("CARGO_MANIFEST_DIR"), "/../symbols/tests/programs/hooks.c");
        self.compile(Compiler::Gcc, &["-O1", "-fPIC", "-c", hooks, "-o", "hooks.o"]);
    }

    /// Runs the program that was built.
    pub fn record(&self) -> Recorded {
        Recorded::parse(&self.run(self.path("program").to_str().unwrap(), &[]))
    }

    fn link_c(&self, compiler: Compiler, source: &str, options: &[&str]) {
        let compile =
            [&["-g", "-c", source, "-o", "program.o"], compiler.instrumenting(), options].concat();
        self.compile(compiler, &compile);
        let wraps: Vec<String> = WRAPPED.iter().map(|name| format!("-Wl,--wrap={name}")).collect();
        let mut link = vec!["program.o", "hooks.o", "-o", "program"];
        link.extend(wraps.iter().map(String::as_str));
        link.extend(options.iter().filter(|option| option.contains("pie")));
        self.compile(compiler, &link);
    }

    fn link_rust(&self, source: &str, options: &[&str]) {
        let wraps: Vec<String> =
            WRAPPED.iter().map(|name| format!("-Clink-arg=-Wl,--wrap={name}")).collect();
        let mut arguments =
            vec!["--edition=2024", "-g", source, "-o", "program", "-Clink-arg=hooks.o"];
        arguments.extend(wraps.iter().map(String::as_str));
        arguments.extend(Compiler::Rustc.instrumenting());
        arguments.extend(options);
        self.compile(Compiler::Rustc, &arguments);
    }
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?} failed: {errors}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What the hooks printed.
pub struct Recorded {
    pub modules: Vec<ModuleInfo>,
    pub events: Vec<Event>,
}

#[derive(Debug, Clone)]
pub enum Event {
    Access { access: Access, site: u64, address: u64, length: u64 },
    Note { address: u64, expression: String },
    Allocation { address: u64, size: u64, stack: Vec<u64> },
}

impl Recorded {
    fn parse(text: &str) -> Recorded {
        let mut recorded = Recorded { modules: Vec::new(), events: Vec::new() };
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["module", bias, start, length, path] => recorded.modules.push(ModuleInfo {
                    path: path.into(),
                    build_id: String::new(),
                    bias: hex(bias),
                    start: hex(start),
                    length: hex(length),
                }),
                [kind @ ("read" | "write"), site, address, length] => {
                    let access = if *kind == "read" { Access::Read } else { Access::Write };
                    let (site, address) = (hex(site), hex(address));
                    let length = length.parse().unwrap();
                    recorded.events.push(Event::Access { access, site, address, length });
                }
                ["note", address, expression @ ..] => recorded
                    .events
                    .push(Event::Note { address: hex(address), expression: expression.join(" ") }),
                ["alloc", address, size, stack @ ..] => recorded.events.push(Event::Allocation {
                    address: hex(address),
                    size: size.parse().unwrap(),
                    stack: stack.iter().map(|site| hex(site)).collect(),
                }),
                _ => {}
            }
        }
        recorded
    }

    pub fn symbols(&self) -> Symbols {
        Symbols::load(&self.modules)
    }

    /// The places of all accesses at a line of a file.
    pub fn places_at(&self, symbols: &Symbols, file: &Path, line: u32) -> Vec<Arc<Place>> {
        let sites = self.events.iter().filter_map(|event| match event {
            Event::Access { site, .. } => Some(*site),
            _ => None,
        });
        let places = sites.map(|site| symbols.place(site));
        places.filter(|place| place.file() == file.to_str() && place.line() == Some(line)).collect()
    }

    /// The notes of the program: expression and address.
    pub fn notes(&self) -> Vec<(&str, u64)> {
        let notes = self.events.iter().filter_map(|event| match event {
            Event::Note { address, expression } => Some((expression.as_str(), *address)),
            _ => None,
        });
        notes.collect()
    }

    fn is_in_module(&self, address: u64) -> bool {
        self.modules.iter().any(|module| module.addresses().contains(&address))
    }

    /// Small blocks come from the break, far below the stack.
    pub fn memory(&self, address: u64) -> Memory {
        match address {
            _ if self.is_in_module(address) => Memory::Unknown,
            0x7000_0000_0000.. => Memory::Stack,
            _ => Memory::Heap,
        }
    }

    /// Every access in `file`, with its place and the expression found for it.
    pub fn named_accesses(&self, file: &Path) -> Vec<NamedAccess> {
        let symbols = self.symbols();
        let mut noted = HashMap::new();
        let mut found = Vec::new();
        for event in &self.events {
            match event {
                Event::Note { address, expression } => {
                    noted.insert(expression.clone(), *address);
                }
                Event::Access { access, site, address, length } => {
                    let place = symbols.place(*site);
                    if place.file() != file.to_str() {
                        continue;
                    }
                    let touch = Touch {
                        access: *access,
                        length: *length,
                        address: Some(*address),
                        memory: self.memory(*address),
                    };
                    let text = symbols.field_of_access(&place, touch);
                    let truth = text.as_ref().and_then(|text| noted.get(text).copied());
                    found.push(NamedAccess {
                        place,
                        access: *access,
                        address: *address,
                        text,
                        truth,
                    });
                }
                Event::Allocation { .. } => {}
            }
        }
        found
    }
}

/// An access, what it was called, and where the program says the thing of that name is.
#[derive(Debug)]
pub struct NamedAccess {
    pub place: Arc<Place>,
    pub access: Access,
    pub address: u64,
    pub text: Option<String>,
    pub truth: Option<u64>,
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text, 16).unwrap()
}

/// The line of `text` that ends in the comment `// <mark>`.
pub fn line_of(text: &str, mark: &str) -> u32 {
    let comment = format!("// {mark}");
    let at = text.lines().position(|line| line.trim_end().ends_with(&comment));
    u32::try_from(at.unwrap_or_else(|| panic!("no line is marked {mark}"))).unwrap() + 1
}
