//! Which cargo and rustc the user means, and whether that rustc can instrument.

use super::project::Project;
use std::env;
use std::env::consts::ARCH;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{Command, Output};
use unpick_problem::Problem;

/// Says that instrumented code may be linked with std, which is not. Compilers before the check (1.88 and older) know
/// neither the check nor the flag.
const ALLOW_CLEAN_STD: &str = "-Cunsafe-allow-abi-mismatch=sanitizer";

/// What every instrumented crate is compiled with.
const INSTRUMENTING_FLAGS: [&str; 5] = [
    "-Zsanitizer=thread",
    // Link no runtime of the compiler's: ours takes its place.
    "-Zexternal-clangrt",
    // Without it the read of `x += 1` is left out.
    "-Cllvm-args=-tsan-instrument-read-before-write",
    // Below level 2 rustc takes `Vec<u8>::push` and the like from the std that is delivered compiled, where nothing is
    // instrumented. Costs a tenth of the build time.
    "-Zshare-generics=no",
    // Stacks are walked by frame pointers.
    "-Cforce-frame-pointers=yes",
];

#[derive(Debug)]
pub(super) struct Toolchain {
    cargo: OsString,
    /// `+nightly`, if the user asked for it.
    selector: Option<OsString>,
    version: String,
}

impl Toolchain {
    pub fn find(selector: Option<&OsStr>) -> Result<Self, Problem> {
        // Set by cargo for its subcommands; with a selector, only rustup's cargo will do.
        let own = env::var_os("CARGO").filter(|_| selector.is_none());
        let mut toolchain = Self {
            cargo: own.unwrap_or_else(|| "cargo".into()),
            selector: selector.map(OsStr::to_owned),
            version: String::new(),
        };
        let output =
            toolchain.cargo().arg("-vV").output().map_err(|error| toolchain.no_cargo(error))?;
        if !output.status.success() {
            return Err(toolchain.no_cargo(first_error(&output)));
        }
        toolchain.version = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(toolchain)
    }

    fn no_cargo(&self, why: impl std::fmt::Display) -> Problem {
        Problem::usage("cargo cannot be started").at("command", shown(&self.cargo())).why(why).next(
            "install Rust (https://rustup.rs) or put its folder on PATH, then try `cargo -vV`",
        )
    }

    pub fn cargo(&self) -> Command {
        let mut cargo = Command::new(&self.cargo);
        cargo.args(&self.selector);
        cargo
    }

    fn rustc(&self, project: &Project) -> Command {
        match &project.rustc {
            Some(chosen) => Command::new(chosen),
            None => {
                let mut rustc = Command::new("rustc");
                rustc.args(&self.selector);
                rustc
            }
        }
    }

    /// The only target the runtime can be linked into: this machine.
    pub fn target(&self) -> Result<String, Problem> {
        let supported = format!("{ARCH}-unknown-linux-gnu");
        let host =
            self.version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or("unknown");
        if host == supported {
            return Ok(supported);
        }
        Err(Problem::usage(format!(
            "this Rust toolchain builds for `{host}`, which cannot be instrumented"
        ))
        .at("command", shown(self.cargo().arg("-vV")))
        .why(format!("the runtime of this Unpick is built for {supported}"))
        .next(format!("use a toolchain of that host: rustup toolchain install stable-{supported}")))
    }

    /// The flags this rustc instruments with, after asking it whether it knows them.
    pub fn instrumenting_flags(
        &self,
        project: &Project,
        target: &str,
    ) -> Result<Vec<String>, Problem> {
        let newest: Vec<&str> = INSTRUMENTING_FLAGS.into_iter().chain([ALLOW_CLEAN_STD]).collect();
        let accepted = match self.refusal(project, target, &newest)? {
            None => newest,
            Some(refusal) => match self.refusal(project, target, &INSTRUMENTING_FLAGS)? {
                None => INSTRUMENTING_FLAGS.to_vec(),
                Some(_) => return Err(self.cannot_instrument(project, &refusal)),
            },
        };
        Ok(accepted.into_iter().map(str::to_owned).collect())
    }

    /// What rustc has against these flags, if anything.
    fn refusal(
        &self,
        project: &Project,
        target: &str,
        flags: &[&str],
    ) -> Result<Option<String>, Problem> {
        let mut rustc = self.rustc(project);
        rustc.args(["--print", "cfg", "--target", target]).args(flags).env("RUSTC_BOOTSTRAP", "1");
        let output = rustc.output().map_err(|error| {
            Problem::usage("rustc cannot be started")
                .at("command", shown(&self.rustc(project)))
                .why(error)
                .next("install Rust (https://rustup.rs) or put its folder on PATH, then try `rustc -vV`")
        })?;
        Ok((!output.status.success()).then(|| first_error(&output)))
    }

    /// Where this rustc keeps the libraries it delivers for the target.
    pub fn library_folder(&self, project: &Project, target: &str) -> Option<PathBuf> {
        let mut rustc = self.rustc(project);
        let output = rustc.args(["--print", "target-libdir", "--target", target]).output().ok()?;
        Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim_end()))
    }

    fn cannot_instrument(&self, project: &Project, refusal: &str) -> Problem {
        Problem::usage("this Rust compiler cannot instrument a program for Unpick")
            .at("command", shown(self.rustc(project).arg("-vV")))
            .why(refusal)
            .next("use a newer one (1.85 is known to work): rustup update stable; rust-toolchain.toml may pin an old one")
    }
}

fn first_error(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find(|line| line.starts_with("error")).or_else(|| text.lines().next());
    line.unwrap_or("it failed and said nothing").trim_start_matches("error: ").to_owned()
}

/// The command as one would type it.
fn shown(command: &Command) -> String {
    let words = [command.get_program()].into_iter().chain(command.get_args());
    words.map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" ")
}
