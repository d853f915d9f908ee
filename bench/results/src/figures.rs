//! Figures with targets, and the facts above them.

use crate::machine;
use crate::table::table;

/// A number that must reach a target, in words.
pub struct Figure {
    pub name: String,
    pub target: String,
    pub measured: String,
    pub verdict: &'static str,
}

pub fn verdict(is_reached: bool) -> &'static str {
    if is_reached { "reached" } else { "missed" }
}

pub fn figures_table(figures: &[Figure]) -> String {
    let head = ["figure", "must reach", "measured", "verdict"].map(str::to_owned).to_vec();
    let row = |figure: &Figure| {
        let Figure { name, target, measured, verdict } = figure;
        vec![name.clone(), target.clone(), measured.clone(), (*verdict).to_owned()]
    };
    let rows: Vec<_> = std::iter::once(head).chain(figures.iter().map(row)).collect();
    table(&rows)
}

/// What a result belongs to, as a Markdown list: the machine, the versions of `tools`, and what the benchmark adds.
pub fn setting(tools: &[&str], further: &[String]) -> String {
    let facts = machine::description(tools);
    let lines = facts.iter().chain(further).map(|fact| format!("- {fact}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// The mean for ratios: a factor of two up and one of two down give 1. None of nothing.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    let logarithms: f64 = values.iter().map(|value| value.ln()).sum();
    (!values.is_empty()).then(|| (logarithms / values.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_geometric_mean_balances_factors() {
        let mean = geometric_mean(&[2.0, 0.5, 8.0, 0.125]).unwrap();
        assert!((mean - 1.0).abs() < 1e-12, "{mean}");
        assert_eq!(geometric_mean(&[]), None);
    }
}
