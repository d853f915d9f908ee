//! `unpick races --sarif`: a race as other tools read it.

mod sarif_rules;

use std::fs;
use std::process::Command;

use sarif_rules::assert_sound;
use serde_json::Value;

const RACE: &str = "#include <pthread.h>
int total;
void *add(void *of) {
    total = total + 1;
    return of;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, 0, add, 0);
    pthread_create(&two, 0, add, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
}
";

#[test]
fn a_race_is_a_result_at_its_first_access_with_the_other_one_related() {
    let folder = tempfile::tempdir().unwrap();
    let unpick = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
        command.current_dir(folder.path()).args(arguments).output().unwrap()
    };
    fs::write(folder.path().join("race.c"), RACE).unwrap();
    let built = unpick(&["cc", "-g", "race.c", "-o", "race", "-lpthread"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let output = unpick(&["races", "--quiet", "--sarif", "-", "--", "./race"]);
    assert_eq!(output.status.code(), Some(66), "{}", String::from_utf8_lossy(&output.stderr));
    let log: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_sound(&log);
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "data-race");
    assert_eq!(result["level"], "error");
    let place = &result["locations"][0];
    assert_eq!(place["physicalLocation"]["artifactLocation"]["uri"], "race.c");
    assert_eq!(place["physicalLocation"]["region"]["startLine"], 4);
    assert_eq!(place["logicalLocations"][0]["fullyQualifiedName"], "add");
    assert_eq!(result["relatedLocations"].as_array().unwrap().len(), 1);
}

#[test]
fn two_texts_do_not_go_to_one_stream() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
    let command = command.args(["races", "--json", "-", "--sarif", "-", "--", "./nothing"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot both go to standard output"));
}
