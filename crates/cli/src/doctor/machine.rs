//! Settings of this machine that decide whether an instrumented program can run and be recorded.

use super::Check;
use super::compilers::first_line;
use std::env::consts::ARCH;
use std::fs;
use std::path::Path;
use unpick_instrument::RuntimeFiles;
use unpick_instrument::cc::{Compiler, Driver};

/// Where the linker and the kernel are asked, and folders are tried by writing to them.
pub fn examine(runtime: &RuntimeFiles) -> Vec<Check> {
    vec![
        system(),
        linker(),
        overcommit(&setting("/proc/sys/vm/overcommit_memory")),
        address_space(&setting("/proc/self/limits")),
        runtime_folder(runtime),
        runtime_to_preload(runtime),
        recordings_folder(),
    ]
}

fn system() -> Check {
    let release = setting("/proc/sys/kernel/osrelease");
    let detail = format!("Linux {release} on {ARCH}");
    if ARCH == "x86_64" {
        Check::good("system", detail)
    } else {
        Check::bad("system", detail, "use a 64-bit x86 machine: the runtime supports no other")
    }
}

fn linker() -> Check {
    let asked = Compiler::choose(Driver::C).ok().and_then(|compiler| {
        let output = compiler.command().arg("-Wl,--version").output().ok()?;
        output.status.success().then(|| first_line(&String::from_utf8_lossy(&output.stdout)))
    });
    match asked {
        Some(version) => Check::good("linker", version),
        None => Check::bad("linker", "none answers", "apt install binutils"),
    }
}

/// The shadow of the program's memory is a reservation far larger than the machine's memory.
fn overcommit(policy: &str) -> Check {
    match policy {
        "2" => Check::bad(
            "memory overcommit",
            "vm.overcommit_memory = 2 forbids the runtime to reserve its shadow memory",
            "sudo sysctl vm.overcommit_memory=0",
        ),
        policy => Check::good("memory overcommit", format!("vm.overcommit_memory = {policy}")),
    }
}

fn address_space(limits: &str) -> Check {
    let line = limits.lines().find(|line| line.starts_with("Max address space"));
    let soft = line.and_then(|line| line.split_whitespace().nth(3)).unwrap_or("unlimited");
    match soft {
        "unlimited" => Check::good("address space limit", "none"),
        bytes => Check::bad(
            "address space limit",
            format!("{bytes} bytes leave no room for the runtime's shadow memory"),
            "ulimit -v unlimited",
        ),
    }
}

fn runtime_folder(runtime: &RuntimeFiles) -> Check {
    let folder = runtime.object.parent().unwrap_or(Path::new("/"));
    Check::good("runtime unpacked to", folder.display().to_string())
}

/// For `LD_PRELOAD`; in the folder that the line before names.
fn runtime_to_preload(runtime: &RuntimeFiles) -> Check {
    let name = runtime.shared.file_name().unwrap_or_default().to_string_lossy();
    Check::good("  for LD_PRELOAD", name)
}

fn recordings_folder() -> Check {
    let store = Path::new(".unpick");
    let folder = if store.is_dir() { store } else { Path::new(".") };
    match tempfile::NamedTempFile::new_in(folder) {
        Ok(_) => Check::good("recordings folder", "this folder can be written: .unpick"),
        Err(error) => Check::bad(
            "recordings folder",
            format!(".unpick cannot be written here: {error}"),
            "run Unpick in a folder you can write to",
        ),
    }
}

fn setting(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::State;

    #[test]
    fn strict_overcommit_is_bad() {
        assert_eq!(overcommit("2").state, State::Bad);
        assert_eq!(overcommit("0").state, State::Good);
        assert_eq!(overcommit("1").state, State::Good);
    }

    #[test]
    fn only_an_unlimited_address_space_is_good() {
        let line = "Max address space         4294967296           unlimited            bytes";
        assert_eq!(address_space(line).state, State::Bad);
        assert_eq!(address_space(&line.replace("4294967296", "unlimited ")).state, State::Good);
    }
}
