//! A test program that cargo has built: its id, its environment, its tests.
//!
//! Takes   what cargo's messages say of it.
//! Gives   the id that nextest has for it; the folder and variables that cargo runs it with; its tests, by asking it.
//! Misses  the tests of a program that does not answer like libtest (`harness = false`).

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::build::BuildScript;

/// Where the loader looks for shared objects.
const LIBRARY_PATH: &str = "LD_LIBRARY_PATH";

/// A package of the project.
pub struct Package {
    name: String,
    version: String,
    manifest: PathBuf,
    /// Programs its integration tests may start, by name.
    pub binaries: Vec<(String, PathBuf)>,
}

impl Package {
    pub fn new(id: &str, manifest: PathBuf) -> Package {
        let (name, version) = name_and_version(id);
        Package { name, version, manifest, binaries: Vec::new() }
    }
}

/// `path+file:///home/me/bank#0.1.0` or `path+file:///home/me/checkout#bank@0.1.0`.
fn name_and_version(id: &str) -> (String, String) {
    let (address, fragment) = id.split_once('#').unwrap_or((id, ""));
    let last = address.rsplit('/').next().unwrap_or_default();
    let (name, version) = fragment.split_once('@').unwrap_or((last, fragment));
    (name.to_owned(), version.to_owned())
}

/// A program with tests.
pub struct TestProgram {
    pub path: PathBuf,
    /// What cargo gives it beside what it inherits.
    pub environment: Vec<(OsString, OsString)>,
    package: String,
    manifest: PathBuf,
    /// `lib`, `test`, `bin`, …
    kind: String,
    name: String,
}

impl TestProgram {
    pub fn new(
        path: PathBuf,
        package: &Package,
        kind: String,
        name: String,
        scripts: &[BuildScript],
    ) -> TestProgram {
        let environment = environment(&path, package, &kind, scripts);
        let (manifest, package) = (package.manifest.clone(), package.name.clone());
        TestProgram { path, environment, package, manifest, kind, name }
    }

    /// As nextest names it: `bank`, `bank::integration`, `bank::bin/teller`.
    pub fn id(&self) -> String {
        let TestProgram { package, kind, name, .. } = self;
        match kind.as_str() {
            "test" => format!("{package}::{name}"),
            "bin" | "example" | "bench" | "proc-macro" => format!("{package}::{kind}/{name}"),
            _ => package.clone(),
        }
    }

    /// Whether somebody who knows no ids would call it so.
    pub fn may_be_called(&self, called: &str) -> bool {
        let TestProgram { package, name, .. } = self;
        called == package || called == name || called == format!("{package}::{name}")
    }

    /// Where cargo runs it.
    pub fn package_folder(&self) -> &Path {
        self.manifest.parent().unwrap_or(Path::new("/"))
    }

    /// The names of its tests; empty if it does not list them.
    pub fn tests(&self) -> Vec<String> {
        self.list(&[])
    }

    /// Whether this test is marked `#[ignore]`.
    pub fn ignores(&self, test: &str) -> bool {
        self.list(&["--ignored"]).iter().any(|name| name == test)
    }

    fn list(&self, options: &[&str]) -> Vec<String> {
        let mut command = Command::new(&self.path);
        command.args(["--list", "--format", "terse"]).args(options).stdin(Stdio::null());
        command.current_dir(self.package_folder());
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let output = command.output().ok().filter(|output| output.status.success());
        let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let lines = text.iter().flat_map(|text| text.lines());
        lines.filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect()
    }
}

fn environment(
    program: &Path,
    package: &Package,
    kind: &str,
    scripts: &[BuildScript],
) -> Vec<(OsString, OsString)> {
    let folder = package.manifest.parent().unwrap_or(Path::new("/"));
    let profile_folder = program.parent().and_then(Path::parent).unwrap_or(Path::new("/"));
    // A package that is built for build scripts too has another one there.
    let script = scripts.iter().find(|script| script.out_dir.starts_with(profile_folder));
    let mut variables: Vec<(OsString, OsString)> = vec![
        ("CARGO_MANIFEST_DIR".into(), folder.into()),
        ("CARGO_MANIFEST_PATH".into(), package.manifest.clone().into()),
        ("CARGO_PKG_NAME".into(), package.name.clone().into()),
        ("CARGO_PKG_VERSION".into(), package.version.clone().into()),
        (LIBRARY_PATH.into(), library_path(profile_folder, scripts)),
    ];
    if let Some(script) = script {
        variables.push(("OUT_DIR".into(), script.out_dir.clone().into()));
        variables.extend(script.env.iter().map(|(name, value)| (name.into(), value.into())));
    }
    if kind == "test" || kind == "bench" {
        let binaries = package.binaries.iter();
        variables.extend(
            binaries.map(|(name, path)| (format!("CARGO_BIN_EXE_{name}").into(), path.into())),
        );
    }
    variables
}

/// What build scripts have built, then what cargo has built, then what was there before.
fn library_path(profile_folder: &Path, scripts: &[BuildScript]) -> OsString {
    let linked = scripts.iter().flat_map(|script| &script.linked_paths);
    let linked =
        linked.map(|path| PathBuf::from(path.split_once('=').map_or(&**path, |(_, path)| path)));
    let mut folders: Vec<PathBuf> =
        linked.filter(|path| path.starts_with(profile_folder)).collect();
    folders.extend([profile_folder.join("deps"), profile_folder.to_owned()]);
    let before = env::var_os(LIBRARY_PATH).unwrap_or_default();
    folders.extend(env::split_paths(&before).filter(|folder| !folder.as_os_str().is_empty()));
    // A folder with a colon in its name cannot be in such a list; cargo refuses to build there.
    env::join_paths(folders).unwrap_or(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(kind: &str, name: &str) -> TestProgram {
        let mut package =
            Package::new("path+file:///home/me/bank#0.1.0", "/home/me/bank/Cargo.toml".into());
        package.binaries.push(("teller".to_owned(), "/home/me/target/debug/teller".into()));
        let path = PathBuf::from("/home/me/target/debug/deps/x-1");
        TestProgram::new(path, &package, kind.to_owned(), name.to_owned(), &[])
    }

    fn has(program: &TestProgram, variable: &str) -> bool {
        program.environment.iter().any(|(name, _)| name == variable)
    }

    #[test]
    fn ids_are_those_of_nextest() {
        assert_eq!(program("lib", "bank").id(), "bank");
        assert_eq!(program("test", "integration").id(), "bank::integration");
        assert_eq!(program("bin", "teller").id(), "bank::bin/teller");
    }

    #[test]
    fn packages_are_told_by_both_forms_of_an_id() {
        let told = |id| name_and_version(id);
        assert_eq!(told("path+file:///a/bank#0.1.0"), ("bank".into(), "0.1.0".into()));
        assert_eq!(told("path+file:///a/b#bank@1.2.3"), ("bank".into(), "1.2.3".into()));
    }

    #[test]
    fn only_integration_tests_are_told_of_programs() {
        assert!(has(&program("test", "integration"), "CARGO_BIN_EXE_teller"));
        assert!(!has(&program("lib", "bank"), "CARGO_BIN_EXE_teller"));
    }
}
