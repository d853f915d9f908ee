//! How sure the first thing is that a report says.

use serde::{Deserialize, Serialize};

use crate::confirmed::{Confirmation, Confirmed};
use crate::finding::Findings;

/// How sure the leading finding, or hang, is the root cause.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// Experiments have shown it.
    Confirmed,
    /// It makes the program fail; a part of the proof is missing.
    Likely,
    /// The best guess: it correlates with failure, or not even that.
    #[default]
    Unsure,
}

impl Findings {
    /// How sure what comes first is.
    pub fn certainty(&self) -> Certainty {
        match self.leading_hang() {
            // What the threads of a hang wait for was seen, not inferred.
            Some(hang) => hang.confirmed.map_or(Certainty::Likely, of).min(Certainty::Likely),
            None => {
                let first = self.findings.first().and_then(|first| first.confirmed);
                first.map_or_else(Certainty::default, of)
            }
        }
    }
}

fn of(confirmed: Confirmed) -> Certainty {
    match confirmed.verdict {
        Confirmation::Cause => Certainty::Confirmed,
        Confirmation::Likely => Certainty::Likely,
        Confirmation::Related | Confirmation::Refuted | Confirmation::NotReproduced => {
            Certainty::Unsure
        }
    }
}
