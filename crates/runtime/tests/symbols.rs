//! What the runtime object needs from others, and what it must not contain: the rules of `RULES.md` that a machine can
//! check.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use support::{build, run_tool, runtime};

/// All that the runtime may refer to. Nothing here is intercepted by us, and none of it but the lookup at the start
/// allocates memory of the program.
const ALLOWED: &[&str] = &[
    // The linker's.
    "__executable_start",
    "__start_unpick_reals",
    "__stop_unpick_reals",
    "etext",
    // Asked at the start, and when modules come and go.
    "dl_iterate_phdr",
    "dlerror",
    "dlsym",
    "dlvsym",
    "environ",
    "__register_atfork",
    "on_exit",
    "pthread_key_create",
    // Asked when threads begin and end.
    "pthread_attr_destroy",
    "pthread_attr_getstack",
    "pthread_attr_getstacksize",
    "pthread_attr_init",
    "pthread_self",
    "pthread_setspecific",
    // The allocator behind our intercepts of it.
    "__errno_location",
    "__libc_calloc",
    "__libc_free",
    "__libc_malloc",
    "__libc_memalign",
    "__libc_realloc",
    "malloc_usable_size",
];

/// Hooks and intercepts run on the program's stacks, which may be as small as a signal stack.
const LARGEST_FRAME: u64 = 512;

/// The runtime's own object, taken out of an archive.
fn object_of(archive: &Path, folder: &Path) -> PathBuf {
    run_tool(Command::new("ar").current_dir(folder).arg("x").arg(archive));
    let members =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut own = members.filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("unpick_runtime-"))
    });
    let object = own.next().expect("the archive has the runtime's object");
    assert!(
        own.next().is_none(),
        "one object only: keep lto and codegen-units of [profile.runtime]"
    );
    object
}

fn object(folder: &Path) -> PathBuf {
    object_of(runtime(), folder)
}

fn output(command: &mut Command) -> String {
    String::from_utf8_lossy(&command.output().expect("binutils are there").stdout).into_owned()
}

fn undefined_in(object: &Path) -> Vec<String> {
    let undefined = output(Command::new("nm").arg("-u").arg(object));
    undefined.lines().filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect()
}

#[test]
fn the_runtime_refers_to_nothing_that_could_be_intercepted() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut refused = undefined_in(&object(folder.path()));
    refused.retain(|name| !ALLOWED.contains(&name.as_str()));
    assert_eq!(refused, [""; 0], "not in the list of allowed references");
}

/// The usual form defines `memcpy` and the like itself, as intercepts, which hides its own calls of them. In the form
/// for static targets they have other names.
#[test]
fn the_runtime_does_not_call_its_own_intercepts() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut refused = undefined_in(&object_of(&build("static-target"), folder.path()));
    refused.retain(|name| !ALLOWED.contains(&name.as_str()) && !name.starts_with("__real_"));
    assert_eq!(refused, [""; 0], "not in the list of allowed references");
}

#[test]
fn a_program_built_with_unpick_can_be_recognised() {
    let folder = tempfile::tempdir().expect("a folder");
    let defined = output(Command::new("nm").arg("--defined-only").arg(object(folder.path())));
    assert!(defined.lines().any(|line| line.ends_with(" unpick_runtime_version")));
}

#[test]
fn the_runtime_formats_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let defined = output(Command::new("nm").arg("-C").arg(object(folder.path())));
    let formatting: Vec<&str> =
        defined.lines().filter(|line| line.contains("core::fmt::")).collect();
    assert_eq!(formatting, [""; 0]);
}

#[test]
fn frames_are_small_enough_for_signal_stacks() {
    let folder = tempfile::tempdir().expect("a folder");
    let code = output(
        Command::new("objdump")
            .args(["-d", "-C", "--no-show-raw-insn", "-M", "intel"])
            .arg(object(folder.path())),
    );
    let mut function = "";
    let mut large = Vec::new();
    for line in code.lines() {
        if line.ends_with(">:") {
            function = line;
        }
        if let Some(bytes) = frame_bytes(line).filter(|bytes| *bytes > LARGEST_FRAME) {
            large.push(format!("{bytes} bytes: {function}"));
        }
    }
    assert_eq!(large, [""; 0]);
}

/// The size of the frame that an instruction like `sub rsp,0x48` makes.
fn frame_bytes(line: &str) -> Option<u64> {
    let (_, size) = line.split_once("sub ")?.1.trim_start().split_once("rsp,0x")?;
    u64::from_str_radix(size.trim(), 16).ok()
}
