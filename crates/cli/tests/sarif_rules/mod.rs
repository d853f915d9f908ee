//! What the schema of SARIF 2.1.0, and its text, ask of the parts that Unpick writes. Names that it does not have are refused.

use serde_json::Value;

/// Panics where a log is not sound.
#[track_caller]
pub fn assert_sound(log: &Value) {
    assert_eq!(log["version"], "2.1.0");
    only(log, &["$schema", "version", "runs"]);
    for run in array(&log["runs"]) {
        assert_run(run);
    }
}

fn assert_run(run: &Value) {
    only(run, &["tool", "columnKind", "originalUriBaseIds", "invocations", "results"]);
    assert!(["utf16CodeUnits", "unicodeCodePoints"].contains(&text(&run["columnKind"])));
    let driver = &run["tool"]["driver"];
    only(&run["tool"], &["driver"]);
    only(driver, &["name", "semanticVersion", "rules"]);
    assert!(!text(&driver["name"]).is_empty());
    let mut ids = Vec::new();
    for rule in array(&driver["rules"]) {
        only(rule, &["id", "shortDescription", "help", "defaultConfiguration"]);
        assert_message(&rule["shortDescription"]);
        assert_message(&rule["help"]);
        assert_level(&rule["defaultConfiguration"]["level"]);
        assert!(!ids.contains(&&rule["id"]), "two rules have one id");
        ids.push(&rule["id"]);
    }
    for (name, base) in run["originalUriBaseIds"].as_object().unwrap() {
        assert!(!name.is_empty());
        let uri = text(&base["uri"]);
        assert!(uri.starts_with("file:///") && uri.ends_with('/'), "{uri}");
    }
    for invocation in array(&run["invocations"]) {
        only(invocation, &["executionSuccessful", "toolExecutionNotifications"]);
        assert!(invocation["executionSuccessful"].is_boolean());
        for notification in array(&invocation["toolExecutionNotifications"]) {
            only(notification, &["level", "message"]);
            assert_message(&notification["message"]);
            assert_level(&notification["level"]);
        }
    }
    for result in array(&run["results"]) {
        assert_result(result, &ids, &run["originalUriBaseIds"]);
    }
}

fn assert_result(result: &Value, rules: &[&Value], bases: &Value) {
    only(
        result,
        &[
            "ruleId",
            "ruleIndex",
            "kind",
            "level",
            "message",
            "locations",
            "relatedLocations",
            "partialFingerprints",
            "rank",
        ],
    );
    assert_eq!(rules[result["ruleIndex"].as_u64().unwrap() as usize], &result["ruleId"]);
    assert_message(&result["message"]);
    assert_level(&result["level"]);
    // Whatever is no failure has no level.
    assert_eq!(result["kind"] == "fail", result["level"] != "none");
    assert!((0.0..=100.0).contains(&result["rank"].as_f64().unwrap()));
    let fingerprints = result["partialFingerprints"].as_object().unwrap();
    assert!(!fingerprints.is_empty() && fingerprints.values().all(Value::is_string));
    array(&result["locations"]).iter().for_each(|one| assert_location(one, bases));
    let mut numbers = Vec::new();
    for related in array(&result["relatedLocations"]) {
        assert_location(related, bases);
        assert_message(&related["message"]);
        let id = related["id"].as_u64().unwrap();
        assert!(!numbers.contains(&id), "two locations have one id");
        numbers.push(id);
    }
}

fn assert_location(location: &Value, bases: &Value) {
    only(location, &["id", "message", "physicalLocation", "logicalLocations"]);
    let physical = &location["physicalLocation"];
    only(physical, &["artifactLocation", "region"]);
    let artifact = &physical["artifactLocation"];
    only(artifact, &["uri", "uriBaseId"]);
    let uri = text(&artifact["uri"]);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~%:".contains(&byte);
    assert!(!uri.is_empty() && uri.bytes().all(is_plain), "{uri}");
    match artifact.get("uriBaseId") {
        Some(base) => {
            assert!(bases.get(text(base)).is_some() && !uri.starts_with('/'), "{artifact}");
        }
        None => assert!(uri.starts_with("file:///"), "{uri}"),
    }
    if let Some(region) = physical.get("region") {
        only(region, &["startLine", "startColumn"]);
        assert!(region["startLine"].as_u64().unwrap() >= 1);
        assert!(region.get("startColumn").is_none_or(|column| column.as_u64().unwrap() >= 1));
    }
    for logical in location.get("logicalLocations").map_or(&[][..], array) {
        only(logical, &["fullyQualifiedName", "kind"]);
        assert_eq!(logical["kind"], "function");
        assert!(!text(&logical["fullyQualifiedName"]).is_empty());
    }
}

fn assert_message(message: &Value) {
    only(message, &["text"]);
    assert!(!text(&message["text"]).is_empty());
}

fn assert_level(level: &Value) {
    assert!(["none", "note", "warning", "error"].contains(&text(level)), "{level}");
}

fn only(object: &Value, names: &[&str]) {
    for name in object.as_object().unwrap().keys() {
        assert!(names.contains(&name.as_str()), "SARIF has no {name} here");
    }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}
