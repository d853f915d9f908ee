//! The user's cargo command line: the few options that decide what is built where.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use unpick_problem::Problem;

#[derive(Debug, Default, PartialEq)]
pub(super) struct CargoArguments {
    /// `+nightly`, as rustup's cargo takes it.
    pub toolchain: Option<OsString>,
    /// What was given with `--target`.
    pub targets: Vec<String>,
    /// What was given with `--target-dir`.
    pub target_dir: Option<PathBuf>,
    /// The options that say which project is meant, for asking cargo about it.
    pub project_options: Vec<OsString>,
    /// Everything but the toolchain and the target folder, which reach cargo another way.
    pub passed_on: Vec<OsString>,
}

impl CargoArguments {
    pub fn parse(arguments: Vec<OsString>) -> Self {
        let mut parsed = Self::default();
        let mut rest = arguments.into_iter().peekable();
        parsed.toolchain = rest.next_if(|first| first.as_encoded_bytes().starts_with(b"+"));
        while let Some(argument) = rest.next() {
            if argument == "--" {
                parsed.passed_on.push(argument);
                break;
            }
            let Some(option) = known_option(&argument) else {
                parsed.passed_on.push(argument);
                continue;
            };
            match attached_value(&argument, option).or_else(|| rest.next()) {
                Some(value) => parsed.take(option, value),
                // Without its value: cargo says so.
                None => parsed.passed_on.push(argument),
            }
        }
        parsed.passed_on.extend(rest);
        parsed
    }

    fn take(&mut self, option: &'static str, value: OsString) {
        match option {
            "--target" => {
                self.targets.push(value.to_string_lossy().into_owned());
                self.passed_on.extend([option.into(), value]);
            }
            "--target-dir" => self.target_dir = Some(value.into()),
            _ => {
                self.project_options.extend([option.into(), value.clone()]);
                self.passed_on.extend([option.into(), value]);
            }
        }
    }

    pub fn refuse_other_targets(&self, host: &str) -> Result<(), Problem> {
        let is_host = |target: &&String| *target == host || *target == "host-tuple";
        match self.targets.iter().find(|target| !is_host(target)) {
            None => Ok(()),
            Some(other) => Err(Problem::usage(format!("a program for `{other}` cannot be instrumented here"))
                .at("option", format!("--target {other}"))
                .why(format!("the runtime linked into it is built for {host}, and the program is to run on this machine"))
                .next("leave --target out; if it belongs to your own program, put a `--` in front of its arguments")),
        }
    }
}

fn known_option(argument: &OsStr) -> Option<&'static str> {
    let name = argument.as_encoded_bytes().split(|byte| *byte == b'=').next()?;
    ["--target", "--target-dir", "--manifest-path", "--config"]
        .into_iter()
        .find(|option| option.as_bytes() == name)
}

/// The value of `--option=value`.
fn attached_value(argument: &OsStr, option: &str) -> Option<OsString> {
    let value = argument.to_str()?.strip_prefix(option)?.strip_prefix('=')?;
    Some(value.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> CargoArguments {
        CargoArguments::parse(line.split_whitespace().map(OsString::from).collect())
    }

    #[test]
    fn target_and_folder_are_found_in_both_spellings_and_the_folder_is_taken_out() {
        for line in ["test --target a --target-dir b -q", "test --target=a --target-dir=b -q"] {
            let parsed = parse(line);
            assert_eq!(parsed.targets, ["a"]);
            assert_eq!(parsed.target_dir, Some("b".into()));
            assert_eq!(parsed.passed_on, ["test", "--target", "a", "-q"]);
        }
    }

    #[test]
    fn what_stands_behind_two_dashes_belongs_to_the_program() {
        let parsed = parse("run -- --target prod");
        assert_eq!(parsed.targets, [""; 0]);
        assert_eq!(parsed.passed_on, ["run", "--", "--target", "prod"]);
    }

    #[test]
    fn a_toolchain_comes_first_or_not_at_all() {
        assert_eq!(parse("+nightly test").toolchain, Some("+nightly".into()));
        assert_eq!(parse("test +nightly").toolchain, None);
    }

    #[test]
    fn options_that_name_the_project_are_also_used_to_ask_about_it() {
        let parsed = parse("test --manifest-path a/Cargo.toml");
        assert_eq!(parsed.project_options, ["--manifest-path", "a/Cargo.toml"]);
        assert_eq!(parsed.passed_on, ["test", "--manifest-path", "a/Cargo.toml"]);
    }

    #[test]
    fn only_the_host_is_a_possible_target() {
        let host = "x86_64-unknown-linux-gnu";
        assert!(parse("test --target host-tuple").refuse_other_targets(host).is_ok());
        assert!(parse(&format!("test --target {host}")).refuse_other_targets(host).is_ok());
        let refused = parse("test --target wasm32-wasip1").refuse_other_targets(host).unwrap_err();
        assert_eq!(refused.exit_code(), 2);
    }
}
