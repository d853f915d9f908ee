//! Findings for other tools: SARIF 2.1.0, which editors, code hosts and CI systems show at the lines they are about.
//!
//! Takes   rules and results as plain data, of any analysis; the folder that files are told relative to.
//! Gives   one log with one run. What could not be looked at is in it as notifications.
//! Misses  what SARIF has beyond that: code flows, fixes, suppressions.

use std::path::Path;

use serde_json::{Value, json};

/// The name that files relative to the folder are told by.
const ROOT: &str = "SRCROOT";
/// Where stable numbers of results are; raised when what they are made of changes.
const FINGERPRINT: &str = "unpick/v1";

/// What kind of thing is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SarifRule {
    /// `inconsistent-update`
    pub id: &'static str,
    /// One sentence.
    pub short: &'static str,
    /// What it means, and what to do about it.
    pub help: &'static str,
    pub level: SarifLevel,
}

/// How bad a result is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SarifLevel {
    Error,
    Warning,
    Note,
    /// Nothing is wrong: it is told for information.
    Information,
}

impl SarifLevel {
    fn word(self) -> &'static str {
        match self {
            SarifLevel::Error => "error",
            SarifLevel::Warning => "warning",
            SarifLevel::Note => "note",
            SarifLevel::Information => "none",
        }
    }

    fn kind(self) -> &'static str {
        if self == SarifLevel::Information { "informational" } else { "fail" }
    }
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct SarifResult {
    /// [`SarifRule::id`]
    pub rule: &'static str,
    pub level: SarifLevel,
    pub message: String,
    pub place: SarifPlace,
    /// Other places that it is about, each with what it is.
    pub related: Vec<(SarifPlace, String)>,
    /// The same for the same finding, wherever its lines have gone since.
    pub fingerprint: String,
    /// From 0 to 1: how sure it is.
    pub score: f64,
}

/// A place in a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SarifPlace {
    pub file: String,
    /// From 1; 0: not known.
    pub line: u32,
    /// From 1; 0: not known.
    pub column: u32,
    pub function: String,
}

/// The whole log. `folder` is absolute; `missing` is what could not be looked at, in sentences.
pub fn sarif(
    rules: &[SarifRule],
    results: &[SarifResult],
    folder: &Path,
    missing: &[String],
) -> Value {
    let notifications: Vec<Value> = missing
        .iter()
        .map(|text| json!({ "level": "warning", "message": { "text": text } }))
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "unpick",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(rule_of).collect::<Vec<_>>(),
            }},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": { ROOT: { "uri": format!("file://{}/", encoded(folder)) } },
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications,
            }],
            "results": results.iter().map(|one| result_of(one, rules, folder)).collect::<Vec<_>>(),
        }],
    })
}

fn rule_of(rule: &SarifRule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.short },
        "help": { "text": rule.help },
        "defaultConfiguration": { "level": rule.level.word() },
    })
}

fn result_of(result: &SarifResult, rules: &[SarifRule], folder: &Path) -> Value {
    let related = result.related.iter().enumerate().map(|(at, (place, message))| {
        let mut location = location_of(place, folder);
        location["id"] = json!(at + 1);
        location["message"] = json!({ "text": message });
        location
    });
    json!({
        "ruleId": result.rule,
        "ruleIndex": rules.iter().position(|rule| rule.id == result.rule),
        "kind": result.level.kind(),
        "level": result.level.word(),
        "message": { "text": result.message },
        "locations": [location_of(&result.place, folder)],
        "relatedLocations": related.collect::<Vec<_>>(),
        "partialFingerprints": { FINGERPRINT: result.fingerprint },
        "rank": (result.score.clamp(0.0, 1.0) * 1000.0).round() / 10.0,
    })
}

fn location_of(place: &SarifPlace, folder: &Path) -> Value {
    let path = Path::new(&place.file);
    let artifact = match path.strip_prefix(folder) {
        Ok(inside) => json!({ "uri": encoded(inside), "uriBaseId": ROOT }),
        Err(_) if path.is_absolute() => json!({ "uri": format!("file://{}", encoded(path)) }),
        Err(_) => json!({ "uri": encoded(path), "uriBaseId": ROOT }),
    };
    let mut physical = json!({ "artifactLocation": artifact });
    if place.line > 0 {
        physical["region"] = json!({ "startLine": place.line });
        if place.column > 0 {
            physical["region"]["startColumn"] = json!(place.column);
        }
    }
    let mut location = json!({ "physicalLocation": physical });
    if !place.function.is_empty() {
        location["logicalLocations"] =
            json!([{ "fullyQualifiedName": place.function, "kind": "function" }]);
    }
    location
}

/// A path as part of an address: all but plain letters by their bytes.
fn encoded(path: &Path) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(byte);
    path.as_os_str().as_encoded_bytes().iter().fold(String::new(), |text, byte| {
        if plain(byte) {
            text + &char::from(*byte).to_string()
        } else {
            text + &format!("%{byte:02X}")
        }
    })
}
