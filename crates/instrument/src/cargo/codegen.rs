//! A compiler's command line as `-C` options and everything else: what reports need is added, what hides it is taken.
//!
//! Debug information: full, unless the command line says how much. A release build has none by default, and without it
//! a report has no lines and no names. It is neither stripped nor split off into other files.
//!
//! Optimisation: level 1 where cargo says nothing, which is its way to say level 0 (`-C opt-level=0` in RUSTFLAGS is
//! respected). Unoptimised code calls a hook for every local variable that has an address: see
//! docs/design/0004-rust-locks.md for what level 1 saves and what it keeps. Debug assertions stay as they were.
//!
//! Link-time optimisation: off. It would merge code of std into the program, where `--wrap` no longer finds it.
//!
//! A C library linked statically (`crt-static`) is replaced by the dynamic one: rustc refuses to instrument otherwise.

use std::ffi::{OsStr, OsString};
use std::fs;

/// Full: types and variables too, so that a report can name the field.
const DEBUG_INFORMATION: &str = "debuginfo=2";

#[derive(Debug, Clone, PartialEq)]
enum Argument {
    /// `-C name=value`, in any of its spellings.
    Codegen(String),
    Other(OsString),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct CommandLine {
    arguments: Vec<Argument>,
}

impl CommandLine {
    pub fn parse(arguments: Vec<OsString>) -> Self {
        let mut parsed = Vec::new();
        let mut rest = arguments.into_iter();
        while let Some(argument) = rest.next() {
            parsed.push(match codegen_spelling(&argument) {
                Some(CodegenSpelling::Attached(option)) => Argument::Codegen(option),
                Some(CodegenSpelling::Next) => match rest.next() {
                    Some(option) => Argument::Codegen(option.to_string_lossy().into_owned()),
                    None => Argument::Other(argument),
                },
                None => Argument::Other(argument),
            });
        }
        Self { arguments: parsed }
    }

    pub fn print(self) -> Vec<OsString> {
        let print = |argument| match argument {
            Argument::Codegen(option) => format!("-C{option}").into(),
            Argument::Other(argument) => argument,
        };
        self.arguments.into_iter().map(print).collect()
    }

    /// Makes the code fit for reports; see the head of this file.
    pub fn prepare_for_reports(&mut self) {
        self.arguments.retain(
            |argument| !matches!(argument, Argument::Codegen(option) if is_unwanted(option)),
        );
        self.link_the_c_library_dynamically();
        if !self.sets("debuginfo") && !self.has("-g") {
            self.add_codegen(DEBUG_INFORMATION);
        }
        if !self.sets("opt-level") && !self.has("-O") {
            self.add_codegen("opt-level=1");
            // rustc switches these on by itself only at level 0.
            if !self.sets("debug-assertions") {
                self.add_codegen("debug-assertions=on");
            }
        }
    }

    pub fn add(&mut self, flags: &[String]) {
        self.arguments.extend(flags.iter().map(|flag| Argument::Other(flag.into())));
    }

    fn add_codegen(&mut self, option: &str) {
        self.arguments.push(Argument::Codegen(option.to_owned()));
    }

    fn link_the_c_library_dynamically(&mut self) {
        for argument in &mut self.arguments {
            if let Argument::Codegen(option) = argument
                && option.starts_with("target-feature=")
            {
                *option = option.replace("+crt-static", "-crt-static");
            }
        }
    }

    fn sets(&self, name: &str) -> bool {
        let is_it = |option: &str| {
            option.split('=').next().is_some_and(|found| found.replace('_', "-") == name)
        };
        self.arguments
            .iter()
            .any(|argument| matches!(argument, Argument::Codegen(option) if is_it(option)))
    }

    pub fn has(&self, flag: &str) -> bool {
        self.values_and_flags().any(|argument| argument == flag)
    }

    /// The values given with `--name value` or `--name=value`.
    pub fn values(&self, name: &str) -> Vec<String> {
        let mut values = Vec::new();
        let mut arguments = self.values_and_flags();
        while let Some(argument) = arguments.next() {
            if argument == name {
                values.extend(arguments.next());
            } else if let Some(value) =
                argument.strip_prefix(name).and_then(|rest| rest.strip_prefix('='))
            {
                values.push(value.to_owned());
            }
        }
        values
    }

    /// Everything but `-C`, looking into the files cargo writes when a command line is too long for the system.
    fn values_and_flags(&self) -> impl Iterator<Item = String> {
        self.arguments.iter().flat_map(|argument| match argument {
            Argument::Codegen(_) => Vec::new(),
            Argument::Other(argument) => expanded(argument),
        })
    }
}

fn expanded(argument: &OsStr) -> Vec<String> {
    let text = argument.to_string_lossy();
    match text.strip_prefix('@').and_then(|path| fs::read_to_string(path).ok()) {
        Some(content) => content.lines().map(str::to_owned).collect(),
        None => vec![text.into_owned()],
    }
}

enum CodegenSpelling {
    Attached(String),
    Next,
}

fn codegen_spelling(argument: &OsStr) -> Option<CodegenSpelling> {
    let text = argument.to_str()?;
    if text == "-C" || text == "--codegen" {
        return Some(CodegenSpelling::Next);
    }
    let attached = text.strip_prefix("-C").or_else(|| text.strip_prefix("--codegen="))?;
    Some(CodegenSpelling::Attached(attached.to_owned()))
}

fn is_unwanted(option: &str) -> bool {
    let name = option.split('=').next().unwrap_or(option);
    ["strip", "split-debuginfo", "lto", "linker-plugin-lto"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(line: &str) -> String {
        let mut line = CommandLine::parse(line.split_whitespace().map(OsString::from).collect());
        line.prepare_for_reports();
        let words: Vec<String> =
            line.print().iter().map(|word| word.to_string_lossy().into_owned()).collect();
        words.join(" ")
    }

    #[test]
    fn a_release_build_gets_debug_information_and_keeps_it() {
        assert_eq!(
            prepared("a.rs -C opt-level=3 -C strip=debuginfo"),
            "a.rs -Copt-level=3 -Cdebuginfo=2"
        );
    }

    #[test]
    fn link_time_optimisation_is_left_out() {
        for lto in ["-Clto", "-C lto=thin", "-C linker-plugin-lto"] {
            assert_eq!(prepared(&format!("-g -O {lto}")), "-g -O");
        }
    }

    #[test]
    fn a_dev_build_is_optimised_a_little_with_its_assertions_on() {
        assert_eq!(
            prepared("a.rs -C debuginfo=2"),
            "a.rs -Cdebuginfo=2 -Copt-level=1 -Cdebug-assertions=on"
        );
        assert_eq!(
            prepared("a.rs -Cdebuginfo=2 -C debug-assertions=off"),
            "a.rs -Cdebuginfo=2 -Cdebug-assertions=off -Copt-level=1"
        );
    }

    #[test]
    fn what_the_user_says_about_levels_is_respected() {
        let line = "a.rs -Copt-level=0 -Cdebuginfo=0";
        assert_eq!(prepared(line), line);
    }

    #[test]
    fn a_static_c_library_becomes_the_dynamic_one() {
        assert_eq!(
            prepared("-Copt-level=1 -Cdebuginfo=1 -Ctarget-feature=+avx,+crt-static"),
            "-Copt-level=1 -Cdebuginfo=1 -Ctarget-feature=+avx,-crt-static"
        );
    }

    #[test]
    fn a_response_file_is_looked_into() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("args");
        fs::write(&file, "--target\nhere\n--test\n").unwrap();
        let line = CommandLine::parse(vec![format!("@{}", file.display()).into()]);
        assert_eq!(line.values("--target"), ["here"]);
        assert!(line.has("--test"));
    }
}
