//! The features by which reconstructions are scored.

/// In how many runs something occurred, of how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Share {
    pub of: u32,
    pub occurred: u32,
}

impl Share {
    fn value(self) -> f64 {
        f64::from(self.occurred) / f64::from(self.of.max(1))
    }
}

/// Buggy frequency ratio: how much more often failing runs have an edge. One that no passing run has counts as if it were
/// in less than one of them.
pub fn buggy_frequency(failing: Share, passing: Share) -> f64 {
    let in_passing = match passing.occurred {
        0 => 1.0 / f64::from(passing.of + 1),
        _ => passing.value(),
    };
    failing.value() / in_passing
}

/// Context variation ratio: how different the numbers of contexts are in which two sites communicated.
pub fn context_variation(failing: usize, passing: usize) -> f64 {
    match failing + passing {
        0 => 0.0,
        sum => failing.abs_diff(passing) as f64 / sum as f64,
    }
}

/// Reconstruction consistency: the mean of all confidences.
pub fn consistency(confidences: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = confidences.fold((0.0, 0_u32), |(sum, count), one| (sum + one, count + 1));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}

/// The product of the features that are not zero.
pub fn score(features: [f64; 3]) -> f64 {
    features.into_iter().filter(|feature| *feature != 0.0).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_that_never_passes_beats_one_that_passes_once() {
        let of = 25;
        let failing = Share { of, occurred: 25 };
        assert_eq!(buggy_frequency(failing, Share { of, occurred: 0 }), 26.0);
        assert_eq!(buggy_frequency(failing, Share { of, occurred: 1 }), 25.0);
        assert_eq!(buggy_frequency(failing, Share { of, occurred: 25 }), 1.0);
    }

    #[test]
    fn contexts_are_compared_by_number() {
        assert_eq!(context_variation(3, 1), 0.5);
        assert_eq!(context_variation(1, 3), 0.5);
        assert_eq!(context_variation(2, 2), 0.0);
        assert_eq!(context_variation(0, 0), 0.0);
    }

    #[test]
    fn a_feature_that_is_zero_does_not_count() {
        assert_eq!(score([26.0, 0.0, 0.5]), 13.0);
        assert_eq!(score([4.0, 0.5, 0.0]), 2.0);
    }
}
