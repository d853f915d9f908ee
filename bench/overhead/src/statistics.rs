//! The few statistics the tables need.

/// The middle value, or the mean of the two middle ones; none of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

pub fn largest(values: &[f64]) -> Option<f64> {
    values.iter().copied().max_by(f64::total_cmp)
}

/// How far the values lie apart, as a share of their median.
pub fn relative_spread(values: &[f64]) -> Option<f64> {
    let smallest = values.iter().copied().min_by(f64::total_cmp)?;
    Some((largest(values)? - smallest) / median(values)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_one_outlier() {
        assert_eq!(median(&[1.0, 90.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 90.0]), Some(3.0));
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn the_spread_is_relative_to_the_median() {
        assert_eq!(relative_spread(&[9.0, 10.0, 12.0]), Some(0.3));
        assert_eq!(relative_spread(&[]), None);
    }
}
