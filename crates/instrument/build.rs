//! Builds the runtime in the forms a program under test can take, and embeds them into this crate.
//!
//! Takes  the crate `unpick-runtime` of this workspace.
//! Gives  in `OUT_DIR`: `runtime.o`, `runtime-static.o`, `libunpick_runtime.so`, the list of symbols an executable must
//!        export, and `embedded.rs`, which names them all with a hash of their content.
//!
//! The runtime is linked as one object, not as an archive: an archive would lose the constructors nobody refers to,
//! and would bring in Rust's own library code beside that of a Rust target.

use object::read::archive::ArchiveFile;
use object::{Object, ObjectSymbol};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

const WRAP_PREFIX: &str = "__wrap_";

fn main() {
    let out = PathBuf::from(required_env("OUT_DIR"));
    let workspace = workspace_folder();
    rerun_when_the_runtime_changes(&workspace);

    let build = RuntimeBuild { workspace, target_dir: out.join("runtime-target") };
    let object = lone_object(&build.run("standalone", "staticlib"));
    let shared = read(&build.run("standalone", "cdylib"));
    let static_object = lone_object(&build.run("static-target", "staticlib"));

    let exported = exported_symbols(&object);
    let wrapped = wrapped_symbols(&static_object);
    let mut generated = String::new();
    embed(&mut generated, &out, "OBJECT", "runtime.o", &object);
    embed(&mut generated, &out, "STATIC_OBJECT", "runtime-static.o", &static_object);
    embed(&mut generated, &out, "SHARED", "libunpick_runtime.so", &shared);
    embed(
        &mut generated,
        &out,
        "DYNAMIC_LIST",
        "runtime-exports.txt",
        dynamic_list(&exported).as_bytes(),
    );
    embed(
        &mut generated,
        &out,
        "GCC_SPECS",
        "gcc-compile.specs",
        &read(&source_file("src/cc/gcc-compile.specs")),
    );
    list(&mut generated, "EXPORTED", &exported);
    list(&mut generated, "WRAPPED", &wrapped);
    write(&out.join("embedded.rs"), generated.as_bytes());
}

fn source_file(name: &str) -> PathBuf {
    println!("cargo:rerun-if-changed={name}");
    PathBuf::from(required_env("CARGO_MANIFEST_DIR")).join(name)
}

fn workspace_folder() -> PathBuf {
    let here = PathBuf::from(required_env("CARGO_MANIFEST_DIR"));
    match here.ancestors().nth(2) {
        Some(folder) if folder.join("crates/runtime/Cargo.toml").is_file() => folder.to_path_buf(),
        _ => fail(&format!(
            "the runtime's source is not at ../runtime as seen from {}\n  \
             next: build Unpick inside its own workspace, e.g. cargo install --path crates/cli",
            here.display()
        )),
    }
}

fn rerun_when_the_runtime_changes(workspace: &Path) {
    for part in ["crates/runtime", "crates/events", "Cargo.toml"] {
        println!("cargo:rerun-if-changed={}", workspace.join(part).display());
    }
}

/// A nested cargo, with a target folder of its own: the outer one holds the lock of the usual folder.
struct RuntimeBuild {
    workspace: PathBuf,
    target_dir: PathBuf,
}

impl RuntimeBuild {
    /// Builds one form and returns where cargo put it.
    fn run(&self, feature: &str, crate_type: &str) -> PathBuf {
        let mut cargo = Command::new(required_env("CARGO"));
        cargo
            .current_dir(&self.workspace)
            .args([
                "rustc",
                "--quiet",
                "--package",
                "unpick-runtime",
                "--lib",
                "--profile",
                "runtime",
            ])
            .args(["--features", feature, "--crate-type", crate_type])
            .arg("--target-dir")
            .arg(self.target_dir.join(feature));
        forget_the_outer_build(&mut cargo);
        self.check(cargo, feature, crate_type);
        let name =
            if crate_type == "cdylib" { "libunpick_runtime.so" } else { "libunpick_runtime.a" };
        self.target_dir.join(feature).join("runtime").join(name)
    }

    fn check(&self, mut cargo: Command, feature: &str, crate_type: &str) {
        let args = cargo.get_args().map(|arg| arg.to_string_lossy()).collect::<Vec<_>>().join(" ");
        let shown = format!("cargo {args}");
        match cargo.output() {
            Ok(output) if output.status.success() => {}
            Ok(output) => fail(&format!(
                "the runtime ({crate_type}, feature {feature}) does not build\n  command: {shown}\n{}",
                String::from_utf8_lossy(&output.stderr)
            )),
            Err(error) => {
                fail(&format!("cargo cannot be started\n  command: {shown}\n  why: {error}"))
            }
        }
    }
}

/// Removes what the outer cargo (or `cargo clippy`, `cargo install`) set for *its* build, and flags meant for the
/// user's own programs: the runtime is always built the same way.
fn forget_the_outer_build(cargo: &mut Command) {
    const ABOUT_THE_MACHINE: [&str; 4] =
        ["CARGO_HOME", "CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTR"];
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy();
        let of_cargo = name.starts_with("CARGO_")
            && !ABOUT_THE_MACHINE.iter().any(|kept| name.starts_with(kept));
        let of_build = [
            "RUSTFLAGS",
            "RUSTC_WRAPPER",
            "RUSTC_WORKSPACE_WRAPPER",
            "RUSTC_BOOTSTRAP",
            "RUSTDOCFLAGS",
            "CLIPPY_ARGS",
            "MAKEFLAGS",
            "MFLAGS",
            "TARGET",
            "HOST",
            "OUT_DIR",
            "PROFILE",
            "OPT_LEVEL",
            "DEBUG",
            "NUM_JOBS",
        ];
        if of_cargo || of_build.contains(&&*name) {
            cargo.env_remove(&*name);
        }
    }
    // Set and empty: also silences `build.rustflags` of a config file.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", "");
}

/// The one object of the runtime crate in a staticlib, after checking that it needs no other member of the archive.
fn lone_object(archive_path: &Path) -> Vec<u8> {
    let data = read(archive_path);
    let archive =
        ArchiveFile::parse(&*data).unwrap_or_else(|error| unreadable(archive_path, &error));
    let mut own = Vec::new();
    let mut defined_elsewhere = BTreeSet::new();
    for member in archive.members() {
        let member = member.unwrap_or_else(|error| unreadable(archive_path, &error));
        let bytes = member.data(&*data).unwrap_or_else(|error| unreadable(archive_path, &error));
        let name = String::from_utf8_lossy(member.name()).into_owned();
        if name.starts_with("unpick_runtime-") && name.ends_with(".rcgu.o") {
            own.push(bytes.to_vec());
        } else if name.ends_with(".o") {
            defined_elsewhere.extend(global_symbols(bytes, archive_path));
        }
    }
    let Ok([object]) = <[Vec<u8>; 1]>::try_from(own) else {
        fail(&format!(
            "expected exactly one object of unpick_runtime in {}\n  \
             next: keep `lto = \"fat\"` and `codegen-units = 1` in [profile.runtime]",
            archive_path.display()
        ))
    };
    refuse_references_to_rust_libraries(&object, &defined_elsewhere, archive_path);
    object
}

fn refuse_references_to_rust_libraries(
    object: &[u8],
    defined_elsewhere: &BTreeSet<String>,
    archive: &Path,
) {
    let file = parse_object(object, archive);
    let foreign: Vec<&str> = file
        .symbols()
        .filter(|symbol| symbol.is_undefined() && !symbol.is_weak())
        .filter_map(|symbol| symbol.name().ok())
        .filter(|name| defined_elsewhere.contains(*name) || is_rust_symbol(name))
        .collect();
    if !foreign.is_empty() {
        fail(&format!(
            "the runtime object refers to Rust library code that is not linked with it: {}\n  file: {}\n  \
             next: avoid the operation that needs it (128-bit division, float formatting, unwinding, …) in \
             crates/runtime",
            foreign.join(", "),
            archive.display()
        ));
    }
}

fn is_rust_symbol(name: &str) -> bool {
    ["_R", "_ZN", "rust_", "__rust", "__rdl_"].iter().any(|prefix| name.starts_with(prefix))
}

/// Names other objects can bind to.
fn global_symbols(object: &[u8], origin: &Path) -> BTreeSet<String> {
    let file = parse_object(object, origin);
    file.symbols()
        .filter(|symbol| symbol.is_definition() && symbol.is_global())
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .collect()
}

/// What a `dlopen`ed object may refer to: hooks and intercepts, but nothing with a mangled Rust name.
fn exported_symbols(object: &[u8]) -> Vec<String> {
    let file = parse_object(object, Path::new("runtime.o"));
    let visible: BTreeSet<String> = file
        .symbols()
        .filter(|symbol| symbol.is_definition() && symbol.scope() == object::SymbolScope::Dynamic)
        .filter_map(|symbol| symbol.name().ok().map(str::to_owned))
        .filter(|name| !is_rust_symbol(name))
        .collect();
    visible.into_iter().collect()
}

fn wrapped_symbols(static_object: &[u8]) -> Vec<String> {
    global_symbols(static_object, Path::new("runtime-static.o"))
        .iter()
        .filter_map(|name| name.strip_prefix(WRAP_PREFIX))
        .map(str::to_owned)
        .collect()
}

/// In the syntax of `--dynamic-list`, which every linker knows (`--export-dynamic-symbol` is younger).
fn dynamic_list(exported: &[String]) -> String {
    let mut text = String::from("{\n");
    // The linker refuses an empty list.
    for name in exported.iter().map(String::as_str).chain(["__tsan_*"]) {
        let _ = writeln!(text, "  {name};");
    }
    text + "};\n"
}

/// Writes the bytes to `OUT_DIR` and a constant that carries them, named by their content.
fn embed(generated: &mut String, out: &Path, constant: &str, file: &str, bytes: &[u8]) {
    write(&out.join(file), bytes);
    let (stem, extension) = file.rsplit_once('.').unwrap_or((file, ""));
    let name = format!("{stem}-{}.{extension}", short_hash(bytes));
    let _ = writeln!(
        generated,
        "pub(crate) static {constant}: Embedded = Embedded {{ name: {name:?}, \
         bytes: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/{file}\")) }};"
    );
}

fn list(generated: &mut String, constant: &str, names: &[String]) {
    let _ = writeln!(generated, "pub(crate) static {constant}: &[&str] = &{names:?};");
}

fn short_hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn parse_object<'data>(bytes: &'data [u8], origin: &Path) -> object::File<'data> {
    object::File::parse(bytes).unwrap_or_else(|error| unreadable(origin, &error))
}

fn read(path: &Path) -> Vec<u8> {
    fs::read(path)
        .unwrap_or_else(|error| fail(&format!("{} cannot be read: {error}", path.display())))
}

fn write(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes)
        .unwrap_or_else(|error| fail(&format!("{} cannot be written: {error}", path.display())));
}

fn required_env(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| fail(&format!("cargo did not set {name}")))
}

fn unreadable(path: &Path, error: &object::Error) -> ! {
    fail(&format!("{} is not what a Rust compiler makes: {error}", path.display()))
}

fn fail(text: &str) -> ! {
    eprintln!("error: {text}");
    exit(1)
}
