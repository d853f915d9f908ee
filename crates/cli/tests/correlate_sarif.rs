//! `unpick correlate --sarif`: what the schema of SARIF 2.1.0 asks for, and what a reader of it sees.

mod sarif_rules;

use std::fs;
use std::path::Path;
use std::process::Command;

use sarif_rules::assert_sound;
use serde_json::Value;

fn cache_in_rust(before: &str) -> String {
    let mut text = format!(
        "{before}struct Cache {{ table: Vec<u32>, empty: bool, hits: u32 }}\nimpl Cache {{\n"
    );
    for number in 0..6 {
        text += &format!(
            "fn fill{number}(&mut self) {{ self.table.push({number}); self.empty = false; }}\n"
        );
    }
    text + "fn forget(&mut self) {\n    self.table.push(7);\n    self.hits += 1;\n}\n}\n"
}

fn log(folder: &Path, arguments: &[&str]) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
    command.current_dir(folder).arg("correlate").args(arguments);
    let output = command.output().unwrap();
    let log = serde_json::from_slice(&output.stdout).unwrap();
    assert_sound(&log);
    log
}

#[test]
fn breaks_are_results_with_places_functions_and_fingerprints() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let source = folder.join("my src/cache.rs");
    fs::create_dir_all(source.parent().unwrap()).unwrap();
    fs::write(&source, cache_in_rust("")).unwrap();
    fs::write(folder.join("my src/bad.rs"), "fn f( {").unwrap();
    let log_before = log(folder, &["my src", "--broken", "--sarif", "-"]);
    let run = &log_before["runs"][0];
    assert_eq!(run["results"].as_array().unwrap().len(), 1);
    let result = &run["results"][0];
    assert_eq!(result["ruleId"], "inconsistent-update");
    assert_eq!(
        result["message"]["text"],
        "write(Cache::table) without write(Cache::empty), which 6 of 7 functions have"
    );
    let place = &result["locations"][0];
    assert_eq!(place["physicalLocation"]["artifactLocation"]["uri"], "my%20src/cache.rs");
    assert_eq!(place["physicalLocation"]["region"]["startLine"], 10);
    assert_eq!(place["physicalLocation"]["region"]["startColumn"], 10);
    assert_eq!(place["logicalLocations"][0]["fullyQualifiedName"], "Cache::forget");
    assert_eq!(result["relatedLocations"].as_array().unwrap().len(), 3);
    let told = &run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
    assert!(told.as_str().unwrap().contains("bad.rs: not read"), "{told}");

    // Lines move; the finding is the same.
    fs::write(&source, cache_in_rust("// one\n// two\n")).unwrap();
    let after = log(folder, &["my src", "--broken", "--sarif", "-"]);
    let moved = &after["runs"][0]["results"][0];
    assert_eq!(moved["locations"][0]["physicalLocation"]["region"]["startLine"], 12);
    assert_eq!(moved["partialFingerprints"], result["partialFingerprints"]);
}

#[test]
fn correlations_are_information_and_a_clean_code_base_has_no_results() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("a.rs"), cache_in_rust("")).unwrap();
    let all = log(folder, &["a.rs", "--sarif", "-"]);
    let results = all["runs"][0]["results"].as_array().unwrap();
    let information = results.iter().find(|one| one["ruleId"] == "correlated-variables").unwrap();
    assert_eq!(information["level"], "none");
    assert_eq!(information["kind"], "informational");
    fs::write(folder.join("clean.rs"), "fn f() {}").unwrap();
    let clean = log(folder, &["clean.rs", "--sarif", "-"]);
    assert_eq!(clean["runs"][0]["results"], Value::Array(vec![]));
}

#[test]
fn weak_correlations_are_results_where_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let functions: String = (0..5)
        .map(|at| format!("fn fill{at}(&mut self) {{ self.time = {at}; self.kind = {at}; }} fn turn{at}(&mut self) {{ self.kind = {at}; self.seen = {at}; }}\n"))
        .collect();
    let text = format!(
        "struct Record {{ time: u32, kind: u32, seen: u32 }}\nimpl Record {{\n{functions}}}\n"
    );
    fs::write(folder.path().join("a.rs"), text).unwrap();
    let results = |arguments: &[&str]| {
        let all = log(folder.path(), arguments);
        all["runs"][0]["results"].as_array().unwrap().len()
    };
    assert_eq!(results(&["a.rs", "--sarif", "-"]), 0);
    assert_eq!(results(&["a.rs", "--weak", "--sarif", "-"]), 2);
}

#[test]
fn a_file_and_the_text_can_be_had_at_once() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.rs"), cache_in_rust("")).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
    let arguments = ["correlate", "a.rs", "--broken", "--sarif", "out.sarif"];
    let output = command.current_dir(folder.path()).args(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(66));
    assert!(String::from_utf8(output.stdout).unwrap().contains("Cache::forget a.rs:10"));
    let text = fs::read_to_string(folder.path().join("out.sarif")).unwrap();
    assert_sound(&serde_json::from_str(&text).unwrap());
}
