//! Which orders were tried that no run had.
//!
//! Takes   findings of an active hunt.      Gives  a table: those that failed first, then those that came about.

use unpick_findings::{Active, Findings, TriedOrder};

use crate::Style;
use crate::layout::{paragraph, printable, wrapped};

const HEAD: &str = " runs   hit  failed  order";
/// Columns before the words of an order.
const FIGURES: usize = 21;
/// More can be read in the JSON.
const MOST_SHOWN: usize = 20;

/// Empty if none was tried.
pub fn tried(findings: &Findings, style: &Style) -> String {
    let Some(active) = findings.active.as_ref().filter(|active| active.has_tried()) else {
        return String::new();
    };
    let mut orders: Vec<&TriedOrder> = active.orders.iter().chain(&active.shown).collect();
    orders.sort_by_key(|order| (order.failed == 0, order.hits == 0));
    let counted = paragraph(&counted(active), style.columns(), "");
    let mut text = format!("\n{counted}{}\n", style.paint().heading(HEAD));
    text.extend(orders.iter().take(MOST_SHOWN).map(|order| row(order, style)));
    if orders.len() > MOST_SHOWN {
        let more = orders.len() - MOST_SHOWN;
        text += &format!(
            "{}and {more} more: {}\n",
            " ".repeat(FIGURES),
            style.command("show --json -")
        );
    }
    text
}

/// `Orders that no run had: 34 tried, 20 came about, 1 failed; 23 remain.`
fn counted(active: &Active) -> String {
    let Active { tried, reached, failed, remaining, .. } = active;
    let unseen = format!(
        "Orders that no run had: {tried} tried, {reached} came about, {failed} failed; {remaining} remain."
    );
    if active.shown.is_empty() {
        return unseen;
    }
    let (shown, failed) = (active.shown.len(), active.shown_failed());
    format!("{unseen} Orders that passing runs had: {shown} tried, {failed} failed.")
}

fn row(order: &TriedOrder, style: &Style) -> String {
    let TriedOrder { runs, hits, failed, .. } = order;
    let figures = format!("{runs:>5} {hits:>5} {failed:>7}  ");
    let verdict = order.verdict.map(|verdict| format!(" ({})", verdict.name())).unwrap_or_default();
    let words = format!("{}: {}{verdict}", order.pattern, order.steps.join("; "));
    let lines = wrapped(&printable(&words), style.columns() - FIGURES);
    let beginnings = std::iter::once(figures).chain(std::iter::repeat(" ".repeat(FIGURES)));
    lines.iter().zip(beginnings).map(|(line, before)| format!("{before}{line}\n")).collect()
}
