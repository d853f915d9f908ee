//! `unpick correlate` on small code bases, and on what can be wrong with them.
//!
//! Those in C need libclang 16 or newer; without it they test nothing, unless `CI` is set.

mod schemas;

use std::fs;
use std::process::{Command, Output};

use schemas::assert_valid;
use serde_json::Value;
use tempfile::TempDir;

/// A cache whose table and emptiness change together, but for one function.
fn cache_in_c() -> String {
    let mut text = String::from("struct cache { int table[8]; int empty; int hits; };\n");
    for number in 0..6 {
        text += &format!(
            "void fill{number}(struct cache *c) {{ c->table[{number}] = 1; c->empty = 0; }}\n"
        );
    }
    text + "void forget(struct cache *c) {\n    c->table[7] = 1;\n    c->hits++;\n}\n"
}

fn cache_in_rust() -> String {
    let mut text =
        String::from("struct Cache { table: Vec<u32>, empty: bool, hits: u32 }\nimpl Cache {\n");
    for number in 0..6 {
        text += &format!(
            "fn fill{number}(&mut self) {{ self.table.push({number}); self.empty = false; }}\n"
        );
    }
    text + "fn forget(&mut self) {\n    self.table.push(7);\n    self.hits += 1;\n}\n}\n"
}

struct Scene(TempDir);

impl Scene {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(folder)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
        command.current_dir(self.0.path()).arg("correlate").args(arguments);
        command
    }

    fn correlate(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.correlate(&[arguments, &["--json", "-"]].concat());
        let value = serde_json::from_slice(&output.stdout).unwrap();
        assert_valid(&value, "correlations.schema.json");
        value
    }
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Whether C can be read here. In CI it must be.
fn has_libclang() -> bool {
    let scene = Scene::with(&[("a.c", "int x;"), ("a.rs", "fn f() {}")]);
    let has = scene.json(&["."])["missing"].as_array().unwrap().is_empty();
    assert!(has || std::env::var_os("CI").is_none(), "no libclang");
    has
}

#[test]
fn the_function_that_forgets_is_found_in_c() {
    if !has_libclang() {
        return;
    }
    let scene = Scene::with(&[("src/cache.c", &cache_in_c())]);
    let output = scene.correlate(&["src"]);
    assert_eq!(output.status.code(), Some(0), "{}", words(&output.stderr));
    let text = words(&output.stdout);
    assert!(
        text.contains("write(cache::empty) => write(cache::table), 6 of 6 functions"),
        "{text}"
    );
    let output = scene.correlate(&["src", "--broken"]);
    assert_eq!(output.status.code(), Some(66));
    let text = words(&output.stdout);
    assert!(text.contains("forget src/cache.c:9"), "{text}");
    assert!(text.contains("write(cache::table) without write(cache::empty)"), "{text}");
}

#[test]
fn the_function_that_forgets_is_found_in_rust() {
    let scene = Scene::with(&[("src/cache.rs", &cache_in_rust())]);
    let list = scene.json(&["src", "--broken"]);
    assert_eq!(list["breaks"][0]["place"]["function"], "Cache::forget");
    assert_eq!(list["breaks"][0]["place"]["line"], 10);
    assert_eq!(list["breaks"][0]["right"]["variable"], "Cache::empty");
    assert_eq!(list["summary"]["functions"], 7);
}

/// Records that are filled in whole, and whose kind changes alone as well: nothing relates their two fields.
fn records_in_rust() -> String {
    let mut text =
        String::from("struct Record { time: u32, kind: u32, seen: u32 }\nimpl Record {\n");
    for number in 0..5 {
        text += &format!(
            "fn fill{number}(&mut self) {{ self.time = {number}; self.kind = {number}; }}\n\
             fn turn{number}(&mut self) {{ self.kind = {number}; self.seen = {number}; }}\n"
        );
    }
    text + "}\n"
}

#[test]
fn weak_correlations_are_counted_and_told_where_they_are_asked_for() {
    let scene = Scene::with(&[("a.rs", &records_in_rust()), ("b.rs", &cache_in_rust())]);
    let rule = "write(Record::time) => write(Record::kind), 5 of 5 functions";
    let usual = words(&scene.correlate(&["."]).stdout);
    assert!(!usual.contains(rule), "{usual}");
    assert!(usual.contains("1 correlation, 1 shown (2 weaker: --weak); "), "{usual}");
    let all = words(&scene.correlate(&[".", "--weak"]).stdout);
    assert!(all.contains(rule) && all.contains("3 correlations, 3 shown; "), "{all}");
    assert!(
        all.contains("weak:  of 10 functions that touch either, 5 touch both and 0 relate them; of 10 that write either, 5 write both"),
        "{all}"
    );
}

#[test]
fn where_all_is_weak_the_next_command_shows_it() {
    let scene = Scene::with(&[("a.rs", &records_in_rust())]);
    let usual = words(&scene.correlate(&["a.rs"]).stdout);
    assert!(usual.starts_with("0 correlations") && usual.contains("(2 weaker: --weak)"), "{usual}");
    let next = usual.lines().last().unwrap();
    assert!(next.starts_with("next: unpick correlate") && next.ends_with("--weak a.rs"), "{next}");
}

#[test]
fn json_has_weak_correlations_behind_the_others() {
    let scene = Scene::with(&[("a.rs", &records_in_rust()), ("b.rs", &cache_in_rust())]);
    let list = scene.json(&["."]);
    let weak = |at: usize| list["correlations"][at]["is_weak"].as_bool().unwrap();
    assert_eq!([weak(0), weak(1), weak(2)], [false, true, true]);
    assert_eq!(list["correlations"][0]["left"]["variable"], "Cache::empty");
    assert_eq!(list["correlations"][2]["rank"], 3);
}

#[test]
fn unchanged_files_are_not_read_again_and_a_changed_header_counts() {
    if !has_libclang() {
        return;
    }
    let scene = Scene::with(&[
        ("a.c", "#include \"a.h\"\nvoid f(struct s *p) { p->x = 1; }"),
        ("b.c", "struct t { int y; }; void g(struct t *p) { p->y = 1; }"),
        ("a.h", "struct s { int x; };"),
    ]);
    assert_eq!(scene.json(&["."])["summary"]["files_unchanged"], 0);
    let list = scene.json(&["."]);
    assert_eq!(list["summary"]["files_unchanged"], 2);
    assert_eq!(list["summary"]["functions"], 2);
    fs::write(scene.0.path().join("a.h"), "struct s { int w, x; };").unwrap();
    assert_eq!(scene.json(&["."])["summary"]["files_unchanged"], 1);
    assert_eq!(scene.json(&[".", "--no-cache"])["summary"]["files_unchanged"], 0);
}

#[test]
fn unchanged_rust_is_not_read_again_and_a_changed_type_concerns_who_uses_it() {
    let (used, types) = ("fn f(t: &mut T) { t.y = 1; }", "struct T { y: u32 }\nfn g() {}");
    let scene = Scene::with(&[
        ("src/cache.rs", &cache_in_rust()),
        ("src/types.rs", types),
        ("src/used.rs", used),
        ("src/bad.rs", "fn f( {"),
    ]);
    let unchanged = |list: &Value| list["summary"]["files_unchanged"].clone();
    let first = scene.json(&["src"]);
    assert_eq!((&first["summary"]["files"], unchanged(&first)), (&Value::from(4), 0.into()));
    let mut second = scene.json(&["src"]);
    assert_eq!(unchanged(&second), 4);
    second["summary"]["files_unchanged"] = 0.into();
    assert_eq!(second, first, "the same in everything else");
    let text = words(&scene.correlate(&["src"]).stdout);
    assert!(text.contains("in 4 files, 4 of them as before"), "{text}");

    let write = |name: &str, text: &str| fs::write(scene.0.path().join(name), text).unwrap();
    write("src/used.rs", "fn f(t: &mut T) { t.y = 1; t.y += 2; }");
    assert_eq!(unchanged(&scene.json(&["src"])), 3, "a body was changed");
    write("src/types.rs", "struct T { x: u32, y: u32 }\nfn g() {}\nfn h() {}");
    assert_eq!(unchanged(&scene.json(&["src"])), 3, "nobody uses what was added");
    write("src/types.rs", "struct T { x: u32, y: Vec<u32> }\nfn g() {}");
    assert_eq!(unchanged(&scene.json(&["src"])), 2, "a type was changed");
    assert_eq!(unchanged(&scene.json(&["src", "--no-cache"])), 0);
}

#[test]
fn functions_of_shared_headers_count_once() {
    if !has_libclang() {
        return;
    }
    let header =
        "#pragma once\nstruct s { int x; };\nstatic inline void h(struct s *p) { p->x++; }";
    let file = |number: u32| format!("#include \"s.h\"\nvoid f{number}(struct s *p) {{ h(p); }}");
    let files: Vec<(String, String)> = (0..6).map(|at| (format!("{at}.c"), file(at))).collect();
    let mut all: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    all.push(("s.h", header));
    let scene = Scene::with(&all);
    for unchanged in [0, 6] {
        let list = scene.json(&["."]);
        assert_eq!(list["missing"].as_array().unwrap().len(), 0, "{}", list["missing"]);
        assert_eq!(list["summary"]["functions"], 7);
        assert_eq!(list["summary"]["lines"], 6 * 2 + 3);
        assert_eq!(list["summary"]["files_unchanged"], unchanged);
    }
}

#[test]
fn flags_come_from_compile_commands() {
    if !has_libclang() {
        return;
    }
    let scene = Scene::with(&[(
        "src/a.c",
        "struct s { int x; };\n#ifdef ON\nvoid f(struct s *p) { p->x = 1; }\n#endif",
    )]);
    assert_eq!(scene.json(&["src"])["summary"]["functions"], 0);
    let commands = r#"[{"directory": "DIR", "file": "src/a.c", "command": "cc -DON -c src/a.c"}]"#;
    let folder = scene.0.path().canonicalize().unwrap();
    fs::create_dir(scene.0.path().join("build")).unwrap();
    let text = commands.replace("DIR", folder.to_str().unwrap());
    fs::write(scene.0.path().join("build/compile_commands.json"), text).unwrap();
    assert_eq!(scene.json(&["src"])["summary"]["functions"], 1);
    fs::write(scene.0.path().join("build/compile_commands.json"), "[{]").unwrap();
    let list = scene.json(&["src"]);
    assert!(
        list["missing"][0].as_str().unwrap().contains("flags are guessed"),
        "{}",
        list["missing"]
    );
}

#[test]
fn flags_that_unpick_cc_was_called_with_are_used() {
    if !has_libclang() {
        return;
    }
    let text = "struct s { int x; };\n#ifdef ON\nvoid f(struct s *p) { p->x = 1; }\n#endif";
    let scene = Scene::with(&[("src/a.c", text)]);
    let cache = scene.0.path().join("cache");
    let compiled = Command::new(env!("CARGO_BIN_EXE_unpick"))
        .args(["cc", "-DON", "-c", "src/a.c", "-o", "a.o"])
        .current_dir(scene.0.path())
        .env("XDG_CACHE_HOME", &cache)
        .status()
        .unwrap();
    assert!(compiled.success());
    let mut correlate = scene.command(&["src", "--json", "-"]);
    let output = correlate.env("XDG_CACHE_HOME", &cache).output().unwrap();
    let list: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(list["summary"]["functions"], 1, "{}", list["missing"]);
}

#[test]
fn without_libclang_rust_is_still_read_and_the_rest_is_told() {
    let scene = Scene::with(&[("a.c", "int x;"), ("a.rs", &cache_in_rust())]);
    let output = scene.command(&["."]).env("LIBCLANG_PATH", "/nowhere").output().unwrap();
    let told = words(&output.stderr);
    assert!(told.contains("apt install libclang"), "{told}");
    assert_eq!(output.status.code(), Some(0));
    assert!(words(&output.stdout).contains("Cache::empty"));
}

#[test]
fn without_libclang_c_alone_cannot_be_read_and_the_way_out_is_told() {
    let scene = Scene::with(&[("a.c", "int x;")]);
    let output = scene.command(&["."]).env("LIBCLANG_PATH", "/nowhere").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = words(&output.stderr);
    assert!(told.contains("apt install libclang") && told.contains("LIBCLANG_PATH"), "{told}");
    assert!(told.contains("no source could be read"), "{told}");
}

#[test]
fn what_cannot_be_read_is_told_and_the_rest_is_analysed() {
    let scene = Scene::with(&[("good.rs", &cache_in_rust()), ("bad.rs", "fn f( {")]);
    let output = scene.correlate(&["."]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        words(&output.stderr).contains("bad.rs: not read: line 1"),
        "{}",
        words(&output.stderr)
    );
    assert!(words(&output.stdout).contains("Cache::empty"));
}

#[test]
fn a_folder_without_sources_and_one_that_is_not_there() {
    let scene = Scene::with(&[("notes.txt", "")]);
    for path in [".", "nowhere"] {
        let output = scene.correlate(&[path]);
        assert_eq!(output.status.code(), Some(2));
        let told = words(&output.stderr);
        assert!(
            told.contains("there are no sources to look at") && told.contains("next:"),
            "{told}"
        );
    }
}
