//! One small threaded program from source to names: what every compiler has to manage.

use super::compilers::first_line;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use unpick_instrument::RuntimeFiles;
use unpick_instrument::cc::{Compiler, prepare_with};
use unpick_symbols::{ModuleInfo, Symbols};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    C,
    Cxx,
}

/// What went wrong, and what the user can do.
pub struct Failure {
    pub what: String,
    pub next: String,
}

pub struct Trial<'a> {
    pub compiler: &'a Compiler,
    pub language: Language,
    pub runtime: &'a RuntimeFiles,
}

/// A program that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(20);

impl Trial<'_> {
    pub fn run(&self) -> Result<(), Failure> {
        let folder = TempDir::new().map_err(|error| no_folder(&error))?;
        let source = folder.path().join(self.language.source_name());
        let program = folder.path().join("probe");
        fs::write(&source, self.language.program()).map_err(|error| no_folder(&error))?;
        self.build(&source, &program)?;
        require_hooks(&program)?;
        let main = address_of_main(&program)?;
        self.read_debug_information(&program, main)
    }

    fn build(&self, source: &Path, program: &Path) -> Result<(), Failure> {
        let mut args = ["-no-pie", "-fno-pie", "-pthread", "-o"].map(OsString::from).to_vec();
        args.extend([program.into(), source.into()]);
        let mut call = prepare_with(self.compiler, self.runtime, &args).map_err(|problem| {
            Failure { what: first_line(&problem.to_string()), next: "use another compiler".into() }
        })?;
        let output = call.output().map_err(|error| Failure {
            what: format!("{} cannot be started: {error}", self.compiler.name()),
            next: "reinstall it".into(),
        })?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let error = said.lines().find(|line| line.contains("error")).unwrap_or(&said);
        Err(Failure { what: first_line(error), next: self.advice_for_build(&said) })
    }

    fn advice_for_build(&self, said: &str) -> String {
        let cxx_library_missing =
            ["-lstdc++", "'thread' file", "<thread>"].iter().any(|text| said.contains(text));
        match self.language {
            Language::Cxx if cxx_library_missing => "apt install g++ (for libstdc++)".into(),
            _ if said.contains("pthread.h") || said.contains("crt1.o") => {
                "apt install libc6-dev".into()
            }
            _ => format!(
                "see what `{} -pthread` says about any threaded program",
                self.compiler.name()
            ),
        }
    }

    fn read_debug_information(&self, program: &Path, main: u64) -> Result<(), Failure> {
        let length = fs::metadata(program).map_or(0, |facts| facts.len()) + main;
        let module = ModuleInfo { path: program.to_owned(), length, ..ModuleInfo::default() };
        // A call at the first byte of main would return just behind it.
        let place = Symbols::load(&[module]).place(main + 1);
        let named = place.file().is_some_and(|file| file.ends_with(self.language.source_name()));
        if named && place.line().is_some() {
            return Ok(());
        }
        Err(Failure {
            what: "it runs, but its debug information names no source line".into(),
            next: "compile with -g and without -s; use gcc 9, clang 11 or later".into(),
        })
    }
}

fn require_hooks(program: &Path) -> Result<(), Failure> {
    const HOOK: &[u8] = b"__tsan_func_entry";
    let bytes = fs::read(program).map_err(|error| no_folder(&error))?;
    if bytes.windows(HOOK.len()).any(|window| window == HOOK) {
        return Ok(());
    }
    Err(Failure {
        what: "compiles and links, but the program is not instrumented".into(),
        next: "use a compiler that was built with support for -fsanitize=thread".into(),
    })
}

/// Runs the program, which prints where its `main` is.
fn address_of_main(program: &Path) -> Result<u64, Failure> {
    let output = output_in_time(&mut Command::new(program)).map_err(|what| Failure {
        what,
        next: "run it with another compiler's build to compare; please report this".into(),
    })?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let address = printed.trim().strip_prefix("2000 0x").map(|hex| u64::from_str_radix(hex, 16));
    match address {
        Some(Ok(address)) if output.status.success() => Ok(address),
        _ => Err(Failure {
            what: format!(
                "compiles and links, but the program gave {}: {}",
                output.status,
                first_line(&String::from_utf8_lossy(&output.stderr))
            ),
            next: "see the machine's settings below; if they are fine, please report this".into(),
        }),
    }
}

fn output_in_time(command: &mut Command) -> Result<Output, String> {
    let start = Instant::now();
    let silent = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child =
        silent.spawn().map_err(|error| format!("the program cannot be started: {error}"))?;
    while child.try_wait().is_ok_and(|status| status.is_none()) {
        if start.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!(
                "compiles and links, but the program hung for {} s",
                PATIENCE.as_secs()
            ));
        }
        sleep(Duration::from_millis(5));
    }
    child.wait_with_output().map_err(|error| format!("the program cannot be waited for: {error}"))
}

/// A cargo project without dependencies, built and run by `unpick cargo`.
pub fn rust_program_works() -> Result<(), Failure> {
    let folder = TempDir::new().map_err(|error| no_folder(&error))?;
    write_rust_project(folder.path()).map_err(|error| no_folder(&error))?;
    let unpick = std::env::current_exe().map_err(|error| no_folder(&error))?;
    let mut cargo = Command::new(unpick);
    cargo.args(["cargo", "run", "--quiet", "--offline"]).current_dir(folder.path());
    cargo.env_remove("CARGO_TARGET_DIR").env_remove("RUSTFLAGS");
    let output = cargo.output().map_err(|error| no_folder(&error))?;
    if output.status.success() && output.stdout.trim_ascii() == b"2000" {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let what = said.lines().find(|line| line.contains("error")).unwrap_or(&said);
    Err(Failure {
        what: first_line(what),
        next: "in a cargo project, see what `unpick cargo build` says".into(),
    })
}

fn write_rust_project(folder: &Path) -> std::io::Result<()> {
    let manifest =
        "[package]\nname = \"probe\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), manifest)?;
    fs::create_dir(folder.join("src"))?;
    fs::write(folder.join("src/main.rs"), RUST_PROGRAM)
}

fn no_folder(error: &std::io::Error) -> Failure {
    Failure {
        what: format!("the trial program cannot be written: {error}"),
        next: "set TMPDIR to a folder you can write to, where programs may run".into(),
    }
}

impl Language {
    /// With the package that brings each.
    pub fn usual_compilers(self) -> [(&'static str, &'static str); 2] {
        match self {
            Self::C => [("gcc", "gcc libc6-dev"), ("clang", "clang libc6-dev")],
            Self::Cxx => [("g++", "g++"), ("clang++", "clang g++")],
        }
    }

    /// `gcc`, `gcc-12`, but not `gcc-ar`.
    pub fn is_compiler(self, name: &str) -> bool {
        self.usual_compilers().iter().any(|(usual, _)| match name.strip_prefix(usual) {
            Some("") => true,
            Some(rest) => rest.strip_prefix('-').is_some_and(|digits| {
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            }),
            None => false,
        })
    }

    fn source_name(self) -> &'static str {
        match self {
            Self::C => "probe.c",
            Self::Cxx => "probe.cpp",
        }
    }

    fn program(self) -> &'static str {
        match self {
            Self::C => C_PROGRAM,
            Self::Cxx => CXX_PROGRAM,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::C => "C",
            Self::Cxx => "C++",
        })
    }
}

const C_PROGRAM: &str = r#"#include <pthread.h>
#include <stdio.h>
static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused) {
  for (int i = 0; i < 1000; i++) {
    pthread_mutex_lock(&lock);
    counter += 1;
    pthread_mutex_unlock(&lock);
  }
  return unused;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  printf("%d %p\n", counter, (void *)main);
  return 0;
}
"#;

const CXX_PROGRAM: &str = r#"#include <cstdio>
#include <mutex>
#include <thread>
static int counter;
static std::mutex lock;
static void work() {
  for (int i = 0; i < 1000; i++) {
    std::lock_guard<std::mutex> held(lock);
    counter += 1;
  }
}
int here() { return 0; }
int main() {
  std::thread first(work), second(work);
  first.join();
  second.join();
  std::printf("%d %p\n", counter, reinterpret_cast<void *>(&here));
  return 0;
}
"#;

const RUST_PROGRAM: &str = r#"use std::sync::Mutex;
static COUNTER: Mutex<u32> = Mutex::new(0);
fn work() {
    (0..1000).for_each(|_| *COUNTER.lock().unwrap() += 1);
}
fn main() {
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    println!("{}", COUNTER.lock().unwrap());
}
"#;
