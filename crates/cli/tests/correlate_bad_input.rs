//! What can be wrong with the input of `unpick correlate`: each is told, and the rest is analysed.
//!
//! Those in C need libclang 16 or newer; without it they test nothing, unless `CI` is set.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Two variables that go together in all four functions.
const GOOD: &str = "struct cache { int table; int empty; };
void a(struct cache *c) { c->table = 1; c->empty = 0; }
void b(struct cache *c) { c->table = 2; c->empty = 0; }
void d(struct cache *c) { c->table = 3; c->empty = 0; }
void e(struct cache *c) { c->table = 4; c->empty = 0; }
";
const FOUND: &str = "write(cache::table) => write(cache::empty), 4 of 4 functions";

struct Scene(TempDir);

impl Scene {
    /// A folder with a sound file, and others.
    fn with(files: &[(&str, &[u8])]) -> Self {
        let scene = Self(tempfile::tempdir().unwrap());
        fs::write(scene.path().join("good.c"), GOOD).unwrap();
        for (name, bytes) in files {
            fs::write(scene.path().join(name), bytes).unwrap();
        }
        scene
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
        command.current_dir(self.path()).arg("correlate").args(arguments);
        command
    }

    fn correlate(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Everything is told that should be, and the sound file is analysed all the same.
    #[track_caller]
    fn assert_told(&self, expected: &[&str]) {
        let output = self.correlate(&["."]);
        let (text, told) = (words(&output.stdout), words(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert!(text.contains(FOUND), "{text}\n{told}");
        for one in expected {
            assert!(told.contains(one), "{one} is not in\n{told}");
        }
        assert_eq!(expected.is_empty(), told.is_empty(), "{told}");
    }
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether C can be read here. In CI it must be.
fn has_libclang() -> bool {
    let scene = Scene::with(&[]);
    let has = words(&scene.correlate(&["."]).stdout).contains(FOUND);
    assert!(has || std::env::var_os("CI").is_none(), "no libclang");
    has
}

#[test]
fn sources_that_do_not_parse_and_headers_that_are_missing() {
    if !has_libclang() {
        return;
    }
    let bad_c: &[u8] =
        b"#include \"gone.h\"\nstruct s { int x; };\nvoid f(struct s *p) { p->x = ; }";
    let scene = Scene::with(&[
        ("bad.c", bad_c),
        ("bad.cc", b"class X { void f() { y = ; } int z; void g() { z = 1; } ;"),
        ("bad.rs", b"fn f( {"),
    ]);
    scene.assert_told(&[
        "bad.c:1: 'gone.h' file not found (and 1 more)",
        "bad.cc:1:",
        "bad.rs: not read: line 1",
        "next: say where headers are: a compile_commands.json",
    ]);
}

#[test]
fn files_that_are_no_text_are_empty_or_too_large() {
    if !has_libclang() {
        return;
    }
    let scene = Scene::with(&[
        ("binary.c", b"\x7fELF\x00\x01\x02\xff\xfe("),
        ("latin.c", b"/* \xff\xfe */ int y;"),
        ("latin.rs", b"fn f() { let x = \"\xff\"; }"),
        ("empty.c", b""),
        ("empty.rs", b""),
    ]);
    let large = fs::File::create(scene.path().join("generated.c")).unwrap();
    large.set_len(65 << 20).unwrap();
    scene.assert_told(&[
        "binary.c:1: expected",
        "latin.rs: not read: byte 18 is not UTF-8",
        "generated.c: not read: 65 MB are more than a person writes",
    ]);
}

#[test]
fn folders_that_lead_into_themselves_and_links_to_nowhere() {
    if !has_libclang() {
        return;
    }
    let scene = Scene::with(&[]);
    std::os::unix::fs::symlink(".", scene.path().join("self")).unwrap();
    std::os::unix::fs::symlink("nowhere", scene.path().join("dangling.c")).unwrap();
    scene.assert_told(&[]);
}

#[test]
fn a_pipe_is_not_waited_for() {
    let scene = Scene::with(&[("a.rs", b"fn f() {}")]);
    let made = Command::new("mkfifo").arg(scene.path().join("pipe.c")).status().unwrap();
    assert!(made.success());
    let output = scene.correlate(&["pipe.c", "a.rs"]);
    assert!(words(&output.stderr).contains("pipe.c: not read: it is a pipe"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn one_file_is_enough() {
    if !has_libclang() {
        return;
    }
    let scene = Scene::with(&[("other.c", b"this is not C")]);
    let output = scene.correlate(&["good.c"]);
    assert!(words(&output.stdout).contains(FOUND));
    assert_eq!(words(&output.stderr), "");
}

#[test]
fn compile_commands_that_are_damaged_old_or_of_another_compiler() {
    if !has_libclang() {
        return;
    }
    let scene = Scene::with(&[]);
    let folder = scene.path().canonicalize().unwrap();
    let entry = |file: &str, command: &str| {
        let directory = folder.display();
        format!(r#"{{"directory": "{directory}", "file": "{file}", "command": "{command}"}}"#)
    };
    let database = |entries: &[String]| {
        let text = format!("[{}]", entries.join(","));
        fs::write(folder.join("compile_commands.json"), text).unwrap();
    };
    fs::write(folder.join("compile_commands.json"), "[{").unwrap();
    scene.assert_told(&["compile_commands.json: not used, flags are guessed"]);
    database(&[entry("gone.c", "cc -c gone.c")]);
    scene.assert_told(&[
        "compile_commands.json: 1 of the files it names is not there",
        "gone.c: build again",
        "1 of 1 files are in no compile_commands.json",
    ]);
    database(&[entry("good.c", "gcc -fno-such -mno-such -fplugin=x.so --param=a=3 -c good.c")]);
    scene.assert_told(&[]);
    database(&[entry("good.c", "gcc -std=c99zz -x klingon -DON -c good.c")]);
    scene.assert_told(&["good.c: read without flags libclang refuses: -std=c99zz -x"]);
}

#[test]
fn a_libclang_that_is_none() {
    let scene = Scene::with(&[("a.rs", b"fn f() {}")]);
    let libraries = tempfile::tempdir().unwrap();
    fs::write(libraries.path().join("libclang.so"), "garbage").unwrap();
    let output = scene.command(&["."]).env("LIBCLANG_PATH", libraries.path()).output().unwrap();
    let told = words(&output.stderr);
    assert!(told.contains("C and C++ cannot be read") && told.contains("apt install"), "{told}");
    assert_eq!(output.status.code(), Some(0), "Rust is read all the same");
}

#[test]
fn a_cache_that_is_damaged_or_cannot_be_written_costs_time_only() {
    if !has_libclang() {
        return;
    }
    let scene = Scene::with(&[]);
    scene.assert_told(&[]);
    let cache = scene.path().join(".unpick/access-sets");
    let files: Vec<_> = fs::read_dir(&cache).unwrap().flatten().map(|one| one.path()).collect();
    assert!(!files.is_empty());
    files.iter().for_each(|file| fs::write(file, b"\x00nonsense").unwrap());
    scene.assert_told(&[]);
    fs::remove_dir_all(&cache).unwrap();
    fs::write(&cache, "a file where a folder should be").unwrap();
    scene.assert_told(&[]);
}

#[test]
fn output_that_cannot_be_written_is_told_with_a_way_out() {
    let scene = Scene::with(&[("a.rs", b"fn f() {}")]);
    for option in ["--json", "--sarif"] {
        let output = scene.correlate(&["a.rs", option, "/dev/full"]);
        assert_eq!(output.status.code(), Some(70));
        let told = words(&output.stderr);
        assert!(told.contains("file: /dev/full") && told.contains("next: choose a file"), "{told}");
    }
    let output = scene.correlate(&["a.rs", "--json", "-", "--sarif", "-"]);
    assert_eq!(output.status.code(), Some(2));
}
