//! Which orders a hunt forced because no run had had them, and what came of it.

use serde::{Deserialize, Serialize};

use crate::confirmed::Confirmation;
use crate::finding::{CodePlace, Finding, Findings};

/// Orders that were tried, counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Active {
    pub tried: u32,
    /// Those of `tried` that came about at least once.
    pub reached: u32,
    /// Those of `tried` under which a run failed.
    pub failed: u32,
    /// Not tried yet.
    pub remaining: u32,
    /// Those that were tried, in their order.
    pub orders: Vec<TriedOrder>,
    /// Orders that passing runs had, and that were tried between other threads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<TriedOrder>,
}

/// An order that was tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TriedOrder {
    /// `P1` to `P32`.
    pub pattern: String,
    /// The accesses in words, in the order that was forced.
    pub steps: Vec<String>,
    /// Where they are: with `pattern`, what tells the order from others.
    pub code: Vec<CodePlace>,
    /// Runs that can be used; in how many of them it came about; how many failed.
    pub runs: u32,
    pub hits: u32,
    pub failed: u32,
    /// None: no run failed, or it was not forced again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Confirmation>,
}

impl TriedOrder {
    /// Whether it is the order of this finding.
    pub fn is_of(&self, finding: &Finding) -> bool {
        let code = finding.accesses.iter().map(|access| &access.code);
        self.pattern == finding.pattern && code.eq(&self.code)
    }
}

impl Active {
    /// Of the orders that passing runs had, those under which a run failed.
    pub fn shown_failed(&self) -> usize {
        self.shown.iter().filter(|order| order.failed > 0).count()
    }

    /// Whether any order was tried.
    pub fn has_tried(&self) -> bool {
        self.tried > 0 || !self.shown.is_empty()
    }

    pub fn add(&mut self, order: TriedOrder) {
        self.tried += 1;
        self.reached += u32::from(order.hits > 0);
        self.failed += u32::from(order.failed > 0);
        self.orders.push(order);
    }
}

impl Findings {
    /// Whether there is anything to report: a run failed, or an order was tried.
    pub fn tell_something(&self) -> bool {
        self.runs.failed > 0 || self.active.as_ref().is_some_and(Active::has_tried)
    }
}
