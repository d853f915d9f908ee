//! Reads `scenarios/table.txt`, plays a scenario with a command, and compares.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(Debug, Default, Clone)]
pub struct Scenario {
    pub name: String,
    pub environment: Vec<(String, String)>,
    /// What the threads do, a line each.
    pub script: String,
    told: Vec<String>,
    words: Option<String>,
    json: Vec<String>,
    says: Vec<String>,
    says_nothing: bool,
}

pub fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

pub fn scenarios() -> Vec<Scenario> {
    let text = fs::read_to_string(folder().join("scenarios/table.txt")).expect("the table");
    let mut scenarios: Vec<Scenario> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("scenario ") {
            scenarios.push(Scenario { name: name.to_owned(), ..Scenario::default() });
            continue;
        }
        scenarios.last_mut().expect("a scenario begins with its name").read(line);
    }
    assert!(scenarios.len() > 30, "the table is there");
    scenarios
}

impl Scenario {
    fn read(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').expect("two words");
        match word {
            "env" => {
                let (name, value) = rest.split_once('=').expect("name=value");
                self.environment.push((name.to_owned(), value.to_owned()));
            }
            "=" => self.told.push(line.to_owned()),
            "words" => self.words = Some(line.to_owned()),
            "json" => self.json.push(rest.to_owned()),
            "says" if rest == "nothing" => self.says_nothing = true,
            "says" => self.says.push(rest.to_owned()),
            thread if thread.len() == 1 => self.script += &format!("{line}\n"),
            other => panic!("`{other}` begins no line of a scenario"),
        }
    }

    /// Plays it with the command, which reads the script on stdin, and prints what threads are told.
    pub fn holds_for(&self, command: &mut Command, scratch: &Path) {
        let report = scratch.join("report.json");
        let _ = fs::remove_file(&report);
        for name in ["UNPICK_BREAKPOINTS", "UNPICK_BREAKPOINT_PAUSE_MS"] {
            command.env_remove(name);
        }
        command.env("UNPICK_BREAKPOINT_REPORT", &report).envs(self.environment.clone());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the driver starts");
        child.stdin.take().expect("a pipe").write_all(self.script.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        let printed = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        let context = format!("scenario `{}` with {command:?}\n{printed}\n{said}", self.name);
        assert!(output.status.success(), "{context}");
        let told: Vec<&str> = printed.lines().filter(|line| line.starts_with("= ")).collect();
        assert_eq!(told, self.told, "{context}");
        if let Some(words) = &self.words {
            assert!(printed.lines().any(|line| line == words), "{words}: {context}");
        }
        let json = fs::read_to_string(&report).unwrap_or_default();
        for line in &self.json {
            assert!(json.lines().any(|found| found == line), "{line}\n{json}: {context}");
        }
        for text in &self.says {
            assert_eq!(said.matches(text.as_str()).count(), 1, "{text}: {context}");
        }
        assert!(!self.says_nothing || said.is_empty(), "{context}");
    }
}
