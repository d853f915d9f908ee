//! A small project, and shell scripts run over it with the real compiler or with the wrapper.
#![allow(dead_code)] // each test file uses its own part

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

pub const UNPICK: &str = env!("CARGO_BIN_EXE_unpick");

/// A C compiler and the C++ compiler of the same family.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    pub cc: &'static str,
    pub cxx: &'static str,
}

pub const GCC: Family = Family { cc: "gcc", cxx: "g++" };
pub const CLANG: Family = Family { cc: "clang", cxx: "clang++" };
pub const CLANG_16: Family = Family { cc: "clang-16", cxx: "clang++-16" };

impl Family {
    /// Compilers are optional on a developer's machine, never where CI decides, unless `.ci/run` found no package.
    pub fn is_missing(self) -> bool {
        let found =
            Command::new(self.cc).arg("--version").output().is_ok_and(|out| out.status.success());
        let excused = std::env::var("UNPICK_TEST_WITHOUT").is_ok_and(|without| without == self.cc);
        assert!(
            found || excused || std::env::var_os("CI").is_none(),
            "{} is not installed, but CI is set",
            self.cc
        );
        if !found {
            println!("skipped: {} is not installed", self.cc);
        }
        !found
    }
}

/// A folder with the sources below, and a cache folder of its own.
pub struct Project {
    folder: TempDir,
    cache: TempDir,
}

/// Everything a script left to see.
#[derive(Debug, PartialEq, Eq)]
pub struct Outcome {
    pub exit: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub files: BTreeSet<String>,
}

impl Outcome {
    /// For the reader of a failed test.
    pub fn differences_from(&self, plain: &Self) -> String {
        let mut text = String::new();
        if self.exit != plain.exit {
            text += &format!("exit {:?}, plain {:?}\n", self.exit, plain.exit);
        }
        for (name, own, other) in
            [("stdout", &self.stdout, &plain.stdout), ("stderr", &self.stderr, &plain.stderr)]
        {
            if own != other {
                text += &format!("{name}:\n{own}{name} of the plain compiler:\n{other}");
            }
        }
        let (more, fewer) = (&self.files - &plain.files, &plain.files - &self.files);
        text + &format!("files only here: {more:?}, missing here: {fewer:?}")
    }
}

impl Project {
    pub fn new() -> Self {
        let project =
            Self { folder: tempfile::tempdir().unwrap(), cache: tempfile::tempdir().unwrap() };
        for (name, text) in SOURCES {
            project.write(name, text);
        }
        project
    }

    pub fn empty() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), cache: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn cache(&self) -> PathBuf {
        self.cache.path().join("unpick")
    }

    pub fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn contains(&self, file: &str, needle: &str) -> bool {
        let bytes = fs::read(self.path().join(file)).unwrap_or_default();
        bytes.windows(needle.len()).any(|window| window == needle.as_bytes())
    }

    /// `$CC` and `$CXX` in the script are the real compilers.
    pub fn run_plain(&self, family: Family, script: &str) -> Outcome {
        let mut shell = self.shell(script);
        shell.env("CC", family.cc).env("CXX", family.cxx);
        self.outcome(shell)
    }

    /// `$CC` and `$CXX` in the script are the wrappers.
    pub fn run_wrapped(&self, family: Family, script: &str) -> Outcome {
        let mut shell = self.shell(script);
        shell.env("CC", format!("{UNPICK} cc")).env("CXX", format!("{UNPICK} c++"));
        shell.env("UNPICK_CC", family.cc).env("UNPICK_CXX", family.cxx);
        self.outcome(shell)
    }

    pub fn shell(&self, script: &str) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", script]).current_dir(self.path());
        shell.env("XDG_CACHE_HOME", self.cache.path()).env("LC_ALL", "C").env("PWD", self.path());
        for name in
            ["CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "MAKEFLAGS", "UNPICK_CC", "UNPICK_CXX"]
        {
            shell.env_remove(name);
        }
        shell
    }

    pub fn outcome(&self, mut shell: Command) -> Outcome {
        let Output { status, stdout, stderr } = shell.output().unwrap();
        Outcome {
            exit: status.code(),
            stdout: self.without_names_that_vary(&stdout),
            stderr: self.without_names_that_vary(&stderr),
            files: files_below(self.path()),
        }
    }

    /// Records a run of a program that succeeds, and gives the lines of its dump.
    pub fn recorded(&self, program: &str) -> Vec<Value> {
        let recorded = self.unpick(&["record", "--quiet", "--", program]);
        let stderr = String::from_utf8_lossy(&recorded.stderr);
        assert_eq!((recorded.status.code(), &*stderr), (Some(0), ""), "{program}");
        let dump = String::from_utf8(self.unpick(&["dump", "--json"]).stdout).unwrap();
        dump.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn unpick(&self, arguments: &[&str]) -> Output {
        Command::new(UNPICK).args(arguments).current_dir(self.path()).output().unwrap()
    }

    /// The project's folder, and the temporary files compilers name at random.
    fn without_names_that_vary(&self, output: &[u8]) -> String {
        let text =
            String::from_utf8_lossy(output).replace(&*self.path().to_string_lossy(), "FOLDER");
        let words = text.split_inclusive(char::is_whitespace).map(without_temporary_name);
        words.collect()
    }

    /// The wrapper in one word.
    pub fn link_as(&self, name: &str) -> PathBuf {
        let path = self.cache.path().join(name);
        symlink(UNPICK, &path).unwrap();
        path
    }
}

fn without_temporary_name(word: &str) -> String {
    match word.find("/tmp/").map(|at| word.split_at(at)) {
        Some((before, path)) => {
            format!("{before}TEMPORARY{}", &path[path.rfind('.').unwrap_or(path.len())..])
        }
        None => word.to_owned(),
    }
}

fn files_below(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            found.insert(path.strip_prefix(folder).unwrap().to_string_lossy().into_owned());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    found
}

const SOURCES: &[(&str, &str)] = &[
    (
        "main.c",
        "#include \"part.h\"\n#include <pthread.h>\n#include <stdio.h>\n\
         static int total;\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
         static void *work(void *unused) {\n  for (int i = 0; i < 1000; i++) {\n\
         pthread_mutex_lock(&lock);\n    total = part(total);\n    pthread_mutex_unlock(&lock);\n  }\n\
         return unused;\n}\n\
         int main(void) {\n  pthread_t a, b;\n  pthread_create(&a, 0, work, 0);\n\
         pthread_create(&b, 0, work, 0);\n  pthread_join(a, 0);\n  pthread_join(b, 0);\n\
         printf(\"total %d\\n\", total);\n  return 3;\n}\n",
    ),
    ("part.h", "int part(int number);\n"),
    (
        "part.c",
        "#include \"part.h\"\nint calls;\nint part(int number) { calls += 1; return number + 1; }\n",
    ),
    ("with space/one more.c", "int more;\nint one_more(void) { return ++more; }\n"),
    ("lonely.c", "int counter;\nint main(void) { counter += 1; return counter - 1; }\n"),
    (
        "assembly.s",
        ".text\n.globl part\npart:\n  lea 1(%rdi), %eax\n  ret\n.section .note.GNU-stack,\"\",@progbits\n",
    ),
    (
        "preprocessed.S",
        "#define NAME part\n.text\n.globl NAME\nNAME:\n  lea 1(%rdi), %eax\n  ret\n.section .note.GNU-stack,\"\",@progbits\n",
    ),
    (
        "threads.cpp",
        "#include <atomic>\n#include <cstdio>\n#include <mutex>\n#include <thread>\n\
         static std::mutex lock;\nstatic int plain;\nstatic std::atomic<int> atomic{0};\n\
         static void work() { for (int i = 0; i < 100; i++) { std::lock_guard<std::mutex> hold(lock); plain++; atomic++; } }\n\
         int main() {\n  std::thread a(work), b(work);\n  a.join();\n  b.join();\n\
         std::printf(\"%d %d\\n\", plain, atomic.load());\n  try { throw 7; } catch (int code) { return code; }\n}\n",
    ),
    ("plugin.c", "int state;\nint answer(void) { state += 42; return state; }\n"),
    (
        "host.c",
        "#include <dlfcn.h>\n#include <stdio.h>\nint main(void) {\n\
         void *plugin = dlopen(\"./plugin.so\", RTLD_NOW);\n\
         if (!plugin) { puts(dlerror()); return 9; }\n\
         int (*answer)(void) = (int (*)(void))dlsym(plugin, \"answer\");\n  return answer();\n}\n",
    ),
    ("broken.c", "int main(void) { return missing_variable; }\n"),
    ("warning.c", "int main(void) { int unused; return 0; }\n"),
    ("undefined.c", "int missing_function(void);\nint main(void) { return missing_function(); }\n"),
    (
        "needs_missing.c",
        "int missing_function(void);\nint call_it(void) { return missing_function(); }\n",
    ),
    (
        "uninitialised.c",
        "int get(int);\nint use(int n) { int x; if (n) x = get(n); get(3); if (n) return x + get(n); return n > 3 ? x : 0; }\n\
         int main(void) { return 0; }\n",
    ),
    (
        "fence.c",
        "#include <stdatomic.h>\nint main(void) { atomic_thread_fence(memory_order_seq_cst); return 0; }\n",
    ),
    ("common.h", "static inline int twice(int n) { return 2 * n; }\n"),
    ("uses_common.c", "int main(void) { return twice(2); }\n"),
    ("inputs.ld", "INPUT(part.o)\n"),
    (
        "freestanding.c",
        "int counter;\nvoid _start(void) { counter += 1; __asm__ volatile(\"mov $60, %eax\\n mov $5, %edi\\n syscall\"); }\n",
    ),
    (
        "own_malloc.c",
        "#include <stddef.h>\nstatic char room[1 << 20];\nstatic size_t used;\n\
         void *malloc(size_t size) { void *at = room + used; used += (size + 15) & ~(size_t)15; return at; }\n\
         void free(void *at) { (void)at; }\n\
         int main(void) { char *text = malloc(4); text[0] = 4; return text >= room && text < room + sizeof room ? text[0] : 1; }\n",
    ),
];
