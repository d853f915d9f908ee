//! Markdown tables.

/// A table with columns of even width, so that it reads well on a terminal too; the first row is its head.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0).max(3);
    let widths: Vec<_> = (0..columns).map(width).collect();
    let mut lines: Vec<_> = rows.iter().map(|row| table_line(row, &widths)).collect();
    let dashes: Vec<_> = widths.iter().enumerate().map(|(at, &width)| rule(at, width)).collect();
    lines.insert(1.min(lines.len()), format!("|{}|", dashes.join("|")));
    lines.join("\n")
}

fn table_line(row: &[String], widths: &[usize]) -> String {
    let pad = |(at, (text, &width)): (usize, (&String, &usize))| match at {
        0 => format!(" {text:<width$} "),
        _ => format!(" {text:>width$} "),
    };
    let cells: Vec<_> = row.iter().zip(widths).enumerate().map(pad).collect();
    format!("|{}|", cells.join("|"))
}

/// The first column is aligned left, numbers right.
fn rule(column: usize, width: usize) -> String {
    if column == 0 { "-".repeat(width + 2) } else { format!("{}:", "-".repeat(width + 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_lines_up() {
        let rows = [
            vec!["workload".to_owned(), "x".to_owned()],
            vec!["lu".to_owned(), "12.34".to_owned()],
        ];
        let expected = "| workload |     x |\n|----------|------:|\n| lu       | 12.34 |";
        assert_eq!(table(&rows), expected);
    }
}
