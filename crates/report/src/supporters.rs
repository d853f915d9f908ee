//! Other patterns of the same cause, in brief.

use unpick_findings::{Finding, Relation, Supporter};

use crate::Style;
use crate::layout::{cut, printable};
use crate::words;

/// Supporters shown; the others are in the JSON.
const MOST: usize = 5;

/// One line per supporter.
pub fn supporters(finding: &Finding, style: &Style) -> String {
    let all = finding.supporters.len() + finding.further_supporters as usize;
    if all == 0 {
        return String::new();
    }
    let heading = format!("Supported by {all} other pattern{}", if all == 1 { "" } else { "s" });
    let mut text = format!("{}\n\n", style.paint().heading(&heading));
    for supporter in finding.supporters.iter().take(MOST) {
        text.push_str(&cut(&line(supporter), style.columns()));
        text.push('\n');
    }
    if all > MOST.min(finding.supporters.len()) {
        text.push_str(&format!("  … and {} more\n", all - MOST.min(finding.supporters.len())));
    }
    text
}

fn line(supporter: &Supporter) -> String {
    let accesses = supporter.accesses.iter().map(|access| {
        let place = words::brief_place(&access.frame).unwrap_or_else(|| "?".to_owned());
        format!("{} {place}", words::kind(access.kind))
    });
    format!(
        "  {:<4} {:>4.2}  {:<18} {}",
        printable(&supporter.pattern),
        supporter.score,
        relation(supporter.relation),
        accesses.collect::<Vec<_>>().join(", ")
    )
}

fn relation(relation: Relation) -> &'static str {
    match relation {
        Relation::Contains => "contains it",
        Relation::PartOf => "is part of it",
        Relation::SharesCode => "shares code",
        Relation::SameRuns => "in the same runs",
    }
}
