//! What became of a run, as far as a verdict on the program goes.

/// The verdict on one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Label {
    Pass,
    Fail,
    /// Unpick's own fault, or no verdict: never counted.
    Unusable,
}

impl Label {
    pub const ALL: [Label; 3] = [Label::Pass, Label::Fail, Label::Unusable];

    /// The word for it in files and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Label::Pass => "pass",
            Label::Fail => "fail",
            Label::Unusable => "unusable",
        }
    }

    /// The label with this name.
    pub fn from_name(name: &str) -> Option<Label> {
        Label::ALL.into_iter().find(|label| label.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_found_by_its_name() {
        for label in Label::ALL {
            assert_eq!(Label::from_name(label.name()), Some(label));
        }
        assert_eq!(Label::from_name("passed"), None);
    }
}
