//! What `unpick cargo` tells the tools that cargo calls later, through the environment they inherit.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

/// As cargo separates the flags in CARGO_ENCODED_RUSTFLAGS: no flag contains it.
const SEPARATOR: char = '\x1f';

const TARGET: &str = "UNPICK_CARGO_TARGET";
const TARGET_DIR: &str = "UNPICK_CARGO_TARGET_DIR";
const COMPILE_FLAGS: &str = "UNPICK_CARGO_COMPILE_FLAGS";
const LINK_FLAGS: &str = "UNPICK_CARGO_LINK_FLAGS";
const EXECUTABLE_FLAGS: &str = "UNPICK_CARGO_EXECUTABLE_FLAGS";
const RUSTC_WRAPPER: &str = "UNPICK_CARGO_RUSTC_WRAPPER";
const RUSTDOC: &str = "UNPICK_CARGO_RUSTDOC";
const C_COMPILER: &str = "UNPICK_CARGO_CC";
const CXX_COMPILER: &str = "UNPICK_CARGO_CXX";

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Settings {
    pub target: String,
    pub target_dir: PathBuf,
    /// For every crate of the target.
    pub compile_flags: Vec<String>,
    /// For those that are linked, as executable or as library.
    pub link_flags: Vec<String>,
    /// For those that become executables.
    pub executable_flags: Vec<String>,
    /// The user's own tools, which ours stand in front of.
    pub rustc_wrapper: Option<OsString>,
    pub rustdoc: Option<OsString>,
    pub c_compiler: Option<OsString>,
    pub cxx_compiler: Option<OsString>,
}

impl Settings {
    /// None outside `unpick cargo`, or where a build script cleared the environment: then nothing is instrumented.
    pub fn from_environment() -> Option<Self> {
        Some(Self {
            target: env::var(TARGET).ok()?,
            target_dir: env::var_os(TARGET_DIR)?.into(),
            compile_flags: split(&env::var(COMPILE_FLAGS).ok()?),
            link_flags: split(&env::var(LINK_FLAGS).ok()?),
            executable_flags: split(&env::var(EXECUTABLE_FLAGS).ok()?),
            rustc_wrapper: env::var_os(RUSTC_WRAPPER),
            rustdoc: env::var_os(RUSTDOC),
            c_compiler: env::var_os(C_COMPILER),
            cxx_compiler: env::var_os(CXX_COMPILER),
        })
    }

    /// All that decides what comes out of a build: different flags, different files.
    pub fn all_flags(&self) -> Vec<String> {
        [&self.compile_flags[..], &self.link_flags[..], &self.executable_flags[..]].concat()
    }

    pub fn write_to(&self, command: &mut Command) {
        command
            .env(TARGET, &self.target)
            .env(TARGET_DIR, &self.target_dir)
            .env(COMPILE_FLAGS, join(&self.compile_flags))
            .env(LINK_FLAGS, join(&self.link_flags))
            .env(EXECUTABLE_FLAGS, join(&self.executable_flags));
        let tools = [
            (RUSTC_WRAPPER, &self.rustc_wrapper),
            (RUSTDOC, &self.rustdoc),
            (C_COMPILER, &self.c_compiler),
            (CXX_COMPILER, &self.cxx_compiler),
        ];
        for (name, tool) in tools {
            match tool {
                Some(tool) => command.env(name, tool),
                None => command.env_remove(name),
            };
        }
    }
}

fn join(flags: &[String]) -> String {
    flags.join(&SEPARATOR.to_string())
}

fn split(flags: &str) -> Vec<String> {
    flags.split(SEPARATOR).filter(|flag| !flag.is_empty()).map(str::to_owned).collect()
}
