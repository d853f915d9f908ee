//! Builds test programs by `unpick cargo test --no-run`, and reads from cargo's messages what came of it.
//!
//! Takes   a request.      Gives  the test programs, each with what cargo would put into its environment.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use serde::Deserialize;
use unpick_instrument::cargo::cargo_command;
use unpick_problem::Problem;

use super::request::Request;
use super::test_program::{Package, TestProgram};
use crate::cargo::own_program;

/// A line of cargo's standard output. What a program of the project prints there is none of them.
#[derive(Deserialize)]
#[serde(tag = "reason", rename_all = "kebab-case")]
enum Message {
    CompilerArtifact(Artifact),
    BuildScriptExecuted(BuildScript),
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Artifact {
    package_id: String,
    manifest_path: PathBuf,
    target: Target,
    profile: Profile,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    kind: Vec<String>,
    name: String,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

/// What a build script has told cargo.
#[derive(Deserialize)]
pub struct BuildScript {
    package_id: String,
    pub linked_paths: Vec<String>,
    pub env: Vec<(String, String)>,
    pub out_dir: PathBuf,
}

/// Builds what the request names; in the order of their ids.
pub fn test_programs(request: &Request) -> Result<Vec<TestProgram>, Problem> {
    let mut words: Vec<OsString> = request.cargo.iter().map(OsString::from).collect();
    words.extend(["--no-run".into(), "--message-format=json-render-diagnostics".into()]);
    let mut cargo = cargo_command(&own_program()?, words)?;
    cargo.stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| not_built(request, &error.to_string()))?;
    if !output.status.success() {
        return Err(not_built(
            request,
            &format!("cargo ended with {}, and said why", output.status),
        ));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = text.lines().filter_map(|line| serde_json::from_str(line).ok());
    let mut programs = messages.fold(Told::default(), Told::take).programs();
    programs.sort_by_cached_key(TestProgram::id);
    Ok(programs)
}

/// What cargo has told so far.
#[derive(Default)]
struct Told {
    scripts: HashMap<String, Vec<BuildScript>>,
    packages: HashMap<String, Package>,
    /// Id of the package, what was built of it, and where that is.
    test_programs: Vec<(String, Target, PathBuf)>,
}

impl Told {
    fn take(mut self, message: Message) -> Told {
        match message {
            Message::CompilerArtifact(artifact) => self.take_artifact(artifact),
            Message::BuildScriptExecuted(script) => {
                self.scripts.entry(script.package_id.clone()).or_default().push(script);
            }
            Message::Other => {}
        }
        self
    }

    fn take_artifact(&mut self, artifact: Artifact) {
        let Artifact { package_id, manifest_path, target, profile, executable } = artifact;
        let Some(path) = executable else { return };
        let new_package = || Package::new(&package_id, manifest_path);
        let package = self.packages.entry(package_id.clone()).or_insert_with(new_package);
        if profile.test {
            self.test_programs.push((package_id, target, path));
        } else if target.kind.iter().any(|kind| kind == "bin") {
            package.binaries.push((target.name, path));
        }
    }

    fn programs(self) -> Vec<TestProgram> {
        let Told { scripts, packages, test_programs } = self;
        let programs = test_programs.into_iter().map(|(package_id, target, path)| {
            let kind = target.kind.into_iter().next().unwrap_or_default();
            let scripts = scripts.get(&package_id).map(Vec::as_slice).unwrap_or_default();
            TestProgram::new(path, &packages[&package_id], kind, target.name, scripts)
        });
        programs.collect()
    }
}

fn not_built(request: &Request, why: &str) -> Problem {
    Problem::usage("the tests cannot be built")
        .at("command", format!("unpick cargo {} --no-run", request.cargo.join(" ")))
        .why(why)
        .next("see that this command works, then try again")
}
