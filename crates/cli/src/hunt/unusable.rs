//! Why runs of a hunt were unusable, counted by reason.

use std::collections::BTreeMap;

use crate::quantities::counted;

/// Of more kinds of reasons only the most frequent are named.
const MAX_REASONS: usize = 3;

#[derive(Debug, Default)]
pub struct Unusable {
    /// By the reason without its numbers: how often, and the first in full.
    reasons: BTreeMap<String, (u32, String)>,
    last: Option<String>,
}

impl Unusable {
    pub fn observe(&mut self, why: &str) {
        let kind: String = why.chars().filter(|c| !c.is_ascii_digit()).collect();
        self.reasons.entry(kind).or_insert_with(|| (0, why.to_owned())).0 += 1;
        self.last = Some(why.to_owned());
    }

    /// Why the last one was.
    pub fn last(&self) -> Option<&str> {
        self.last.as_deref()
    }

    /// `3 runs were unusable: nothing was recorded`, a line per reason, the most frequent first.
    pub fn lines(&self) -> Vec<String> {
        let mut reasons: Vec<_> = self.reasons.values().collect();
        reasons.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        let line = |(count, why): &(u32, String)| {
            let were = if *count == 1 { "was" } else { "were" };
            format!("{} {were} unusable: {why}", counted((*count).into(), "run"))
        };
        reasons.into_iter().take(MAX_REASONS).map(line).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_that_differ_in_numbers_only_are_one() {
        let mut unusable = Unusable::default();
        unusable.observe("nothing was recorded");
        unusable.observe("not finished after 2.1 s");
        unusable.observe("not finished after 2.3 s");
        let lines = [
            "2 runs were unusable: not finished after 2.1 s",
            "1 run was unusable: nothing was recorded",
        ];
        assert_eq!(unusable.lines(), lines);
        assert_eq!(unusable.last(), Some("not finished after 2.3 s"));
    }
}
