//! Breaks and correlations as SARIF has findings.

use std::path::Path;

use serde_json::Value;
use unpick_correlations::{Break, Correlation, CorrelationList, Place};
use unpick_report::{SarifLevel, SarifPlace, SarifResult, SarifRule, sarif};

const BREAK: SarifRule = SarifRule {
    id: "inconsistent-update",
    short: "A function changes one of two variables that belong together, and not the other.",
    help: "Nearly all other functions that make this access make the other one as well. Compare with the functions named as related: \
           either the other access is missing here, or whoever calls the function makes it.",
    level: SarifLevel::Warning,
};

const CORRELATION: SarifRule = SarifRule {
    id: "correlated-variables",
    short: "Two variables belong together: whoever accesses one accesses the other nearby.",
    help: "Another thread that comes between the two accesses sees one of them new and the other old. \
           unpick races --correlations looks for that in runs.",
    level: SarifLevel::Information,
};

/// Breaks that are less sure are notes.
const SURE: f64 = 0.5;

/// What is wanted.
#[derive(Clone, Copy)]
pub enum What {
    Breaks,
    /// Beside the breaks.
    Correlations {
        with_weak: bool,
    },
}

pub fn log(list: &CorrelationList, what: What, folder: &Path) -> Value {
    let mut results: Vec<SarifResult> = list.breaks.iter().map(result_of_break).collect();
    if let What::Correlations { with_weak } = what {
        results.extend(list.told(with_weak).filter_map(result_of_correlation));
    }
    sarif(&[BREAK, CORRELATION], &results, folder, &list.missing)
}

fn result_of_break(found: &Break) -> SarifResult {
    let Break { left, right, support, left_functions, .. } = found;
    let condition = where_it_holds(found.condition.as_deref());
    SarifResult {
        rule: BREAK.id,
        level: if found.score >= SURE { SarifLevel::Warning } else { SarifLevel::Note },
        message: format!(
            "{left} without {right}, which {support} of {left_functions} functions have{condition}"
        ),
        place: place_of(&found.place),
        related: related(&found.examples, &format!("{left} with {right}")),
        fingerprint: found.fingerprint.clone(),
        score: found.score,
    }
}

/// One that no function shows has no place.
fn result_of_correlation(found: &Correlation) -> Option<SarifResult> {
    let Correlation { left, right, support, left_functions, .. } = found;
    let condition = where_it_holds(found.condition.as_deref());
    let (first, others) = found.examples.split_first()?;
    let mut all = related(others, "both");
    all.extend(related(&found.broken_by, &format!("{left} alone")));
    Some(SarifResult {
        rule: CORRELATION.id,
        level: SarifLevel::Information,
        message: format!("{left} => {right}, {support} of {left_functions} functions{condition}"),
        place: place_of(first),
        related: all,
        fingerprint: found.fingerprint.clone(),
        score: found.score,
    })
}

fn where_it_holds(condition: Option<&str>) -> String {
    condition.map_or_else(String::new, |condition| format!(", if {condition}"))
}

fn related(places: &[Place], what: &str) -> Vec<(SarifPlace, String)> {
    places.iter().map(|place| (place_of(place), what.to_owned())).collect()
}

fn place_of(place: &Place) -> SarifPlace {
    SarifPlace {
        file: place.file.clone(),
        line: place.line,
        column: place.column.unwrap_or(0),
        function: place.function.clone(),
    }
}
