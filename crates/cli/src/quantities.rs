//! Sizes, times, probabilities and counts as people write them: `1GiB`, `1ms`, `0.5%`, `2 threads`.

use std::time::Duration;

const SIZES: &[(&str, u64)] = &[
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("KB", 1000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("K", 1 << 10),
    ("M", 1 << 20),
    ("G", 1 << 30),
    ("B", 1),
];
const TIMES: &[(&str, u64)] =
    &[("ns", 1), ("us", 1000), ("µs", 1000), ("ms", 1_000_000), ("s", 1_000_000_000)];

/// `4096`, `64KiB`, `1.5GiB`.
pub fn bytes(text: &str) -> Result<u64, String> {
    amount(text, SIZES).ok_or_else(|| "expected a size such as 512MiB or 1GiB".to_owned())
}

/// `0`, `100ns`, `1us`, `1.5ms`, `1s`: in nanoseconds.
pub fn nanoseconds(text: &str) -> Result<u64, String> {
    if text == "0" {
        return Ok(0);
    }
    let unit_given = text.ends_with('s');
    let time = if unit_given { amount(text, TIMES) } else { None };
    time.ok_or_else(|| "expected a time such as 500ns, 1us or 1ms".to_owned())
}

/// `500ms`, `5s`, `2m`, `1h`, `7d`: how long something may take.
pub fn duration(text: &str) -> Result<Duration, String> {
    let long = [("m", 60.0), ("h", 3600.0), ("d", 86400.0)].iter().find_map(|(unit, seconds)| {
        let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * seconds)
    });
    let seconds = long.or_else(|| nanoseconds(text).ok().map(|time| time as f64 / 1e9));
    let allowed = seconds.filter(|seconds| (1e-3..1e9).contains(seconds));
    allowed.map(Duration::from_secs_f64).ok_or_else(|| {
        "expected a time of at least 1ms, such as 500ms, 5s, 2m, 1h or 7d".to_owned()
    })
}

/// `0.01` or `1%`: in parts per million.
pub fn parts_per_million(text: &str) -> Result<u32, String> {
    let (number, whole) = match text.strip_suffix('%') {
        Some(percent) => (percent, 100.0),
        None => (text, 1.0),
    };
    let share = number.trim().parse::<f64>().ok().map(|number| number / whole);
    match share {
        Some(share) if (0.0..=1.0).contains(&share) => Ok((share * 1e6).round() as u32),
        _ => Err("expected a probability such as 0.01 or 1%".to_owned()),
    }
}

fn amount(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let (number, unit) = units
        .iter()
        .find_map(|(name, unit)| Some((text.strip_suffix(name)?, *unit)))
        .unwrap_or((text, 1));
    let number: f64 = number.trim().parse().ok()?;
    let amount = number * unit as f64;
    (0.0..1e18).contains(&amount).then_some(amount.round() as u64)
}

/// `1.5 MiB`.
pub fn bytes_in_words(bytes: u64) -> String {
    let units = [("GiB", 1_u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match units.iter().find(|(_, unit)| bytes >= *unit) {
        Some((name, unit)) => format!("{:.1} {name}", bytes as f64 / *unit as f64),
        None => format!("{bytes} bytes"),
    }
}

/// `1 thread`, `2 threads`.
pub fn counted(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_as_people_write_them() {
        assert_eq!(bytes("4096"), Ok(4096));
        assert_eq!(bytes("1.5 GiB"), Ok(3 << 29));
        assert_eq!(bytes("2MB"), Ok(2_000_000));
        assert!(bytes("much").is_err());
        assert!(bytes("-1").is_err());
        assert!(bytes("nan").is_err());
    }

    #[test]
    fn times_need_a_unit() {
        assert_eq!(nanoseconds("0"), Ok(0));
        assert_eq!(nanoseconds("1us"), Ok(1000));
        assert_eq!(nanoseconds("1.5ms"), Ok(1_500_000));
        assert!(nanoseconds("5").is_err());
    }

    #[test]
    fn long_times_have_minutes_hours_and_days() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("5s"), Ok(Duration::from_secs(5)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        assert_eq!(duration("7d"), Ok(Duration::from_secs(7 * 86_400)));
        for text in ["0", "5", "-1s", "nans", "m", "infs", "infm"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn probabilities_are_shares_or_percents() {
        assert_eq!(parts_per_million("0.01"), Ok(10_000));
        assert_eq!(parts_per_million("1%"), Ok(10_000));
        assert_eq!(parts_per_million("1"), Ok(1_000_000));
        assert!(parts_per_million("2").is_err());
        assert!(parts_per_million("-0.1").is_err());
    }

    #[test]
    fn sizes_are_said_in_the_unit_that_fits() {
        assert_eq!(bytes_in_words(100), "100 bytes");
        assert_eq!(bytes_in_words(3 << 19), "1.5 MiB");
    }
}
