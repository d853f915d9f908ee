//! What makes two messages the same: numbers, addresses, and the directories of files differ from run to run.
//!
//! Takes   a line of output.      Gives  it with `N` for numbers, `ADDRESS` for addresses, files without directory.
//!
//! The line of a source file stays: two assertions of one file are two messages. Its column goes.

/// Longer ones say no more.
const MAX_CHARACTERS: usize = 120;
/// Hexadecimal digits in a row that are more likely an address or a hash than a number or a word.
const ADDRESS_DIGITS: usize = 8;

pub fn normalised(message: &str) -> String {
    let words = message.split_whitespace().map(word);
    let text = words.collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MAX_CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn word(word: &str) -> String {
    let word = without_directory(word);
    match source_line(word) {
        Some((file, line, rest)) => format!("{file}:{line}{rest}"),
        None => without_numbers(word),
    }
}

/// `/tmp/a/bank.c:3` is `bank.c:3`; what is quoted or in brackets stays so.
fn without_directory(word: &str) -> &str {
    let path = word.trim_start_matches(['\'', '"', '`', '(', '<']);
    let is_path = path.starts_with(['/', '~']) || path.starts_with("./") || path.contains("/src/");
    match path.rsplit_once('/') {
        Some((_, name)) if is_path && name.chars().any(char::is_alphanumeric) => name,
        _ => word,
    }
}

/// `pool.rs:42:9:` is file `pool.rs`, line `42`, rest `:`.
fn source_line(word: &str) -> Option<(&str, &str, &str)> {
    let (file, rest) = word.split_once(':')?;
    let extension = file.rsplit_once('.')?.1;
    let is_extension = (1..=4).contains(&extension.len())
        && extension.chars().all(|c| c.is_ascii_alphanumeric() || c == '+')
        && extension.starts_with(|c: char| c.is_ascii_alphabetic());
    let (line, rest) = leading_digits(rest);
    if !is_extension || line.is_empty() {
        return None;
    }
    let (column, after) = rest.strip_prefix(':').map_or(("", rest), leading_digits);
    Some((file, line, if column.is_empty() { rest } else { after }))
}

fn leading_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// Numbers with points, commas and colons between their digits, such as times, are one number.
fn without_numbers(word: &str) -> String {
    let mut text = String::new();
    let mut rest = word;
    while let Some(first) = rest.chars().next() {
        let hexadecimal = hexadecimal_digits(rest);
        let taken = if hexadecimal > 0 {
            text.push_str("ADDRESS");
            hexadecimal
        } else if first.is_ascii_digit() {
            text.push('N');
            number_length(rest)
        } else {
            text.push(first);
            first.len_utf8()
        };
        rest = &rest[taken..];
    }
    text
}

/// The length of an address at the beginning; 0: there is none.
fn hexadecimal_digits(text: &str) -> usize {
    let (prefix, digits) = match text.strip_prefix("0x") {
        Some(digits) => (2, digits),
        None => (0, text),
    };
    let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
    let run = &digits[..end];
    let is_mixed = run.contains(|c: char| c.is_ascii_digit())
        && run.contains(|c: char| c.is_ascii_alphabetic());
    let is_address = match prefix {
        0 => end >= ADDRESS_DIGITS && is_mixed,
        _ => end > 0,
    };
    if is_address { prefix + end } else { 0 }
}

fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let is_between = matches!(bytes[end], b'.' | b',' | b':')
            && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        if !bytes[end].is_ascii_digit() && !is_between {
            break;
        }
        end += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_does_not_count() {
        let same = [
            ("lost job 17", "lost job 4"),
            ("at 0x7f12ab34: bad", "at 0x55aa: bad"),
            ("12:30:01.123 worker-3 failed", "09:00:59.9 worker-12 failed"),
            ("took 1.5 s", "took 20.25 s"),
            ("cannot open /tmp/a1b2/log.txt", "cannot open /tmp/zzz/log.txt"),
            ("ThreadId(3) is lost", "ThreadId(14) is lost"),
            ("id 3f2504e04f8911d3", "id 9a0c0305e82c3301"),
        ];
        for (one, other) in same {
            assert_eq!(normalised(one), normalised(other));
        }
        assert_eq!(normalised("lost   job 17"), "lost job N");
    }

    #[test]
    fn what_is_another_failure_stays_another() {
        let others = [
            ("src/pool.rs:42:9: lost", "src/pool.rs:50:9: lost"),
            (
                "bank: bank.c:12: main: Assertion `a' failed.",
                "bank: bank.c:12: main: Assertion `b' failed.",
            ),
            ("lost job 3", "lost jobs 3"),
        ];
        for (one, other) in others {
            assert_ne!(normalised(one), normalised(other));
        }
        assert_eq!(normalised("/home/me/src/pool.rs:42:9: lost 3"), "pool.rs:42: lost N");
    }

    #[test]
    fn a_message_is_never_long() {
        assert_eq!(normalised(&"x".repeat(1000)).chars().count(), MAX_CHARACTERS + 1);
        assert_eq!(normalised(""), "");
    }
}
