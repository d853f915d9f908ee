//! The interleaving: one column per thread, one row per access, in the order of execution.

use unpick_findings::{Finding, FindingAccess};

use crate::Style;
use crate::layout::{cut, padded, printable, wrapped_at_most};
use crate::short_names::shortened;
use crate::words;

/// ` 1  | ` before the first column, ` | ` between the two.
const BEFORE: usize = 6;
const BETWEEN: usize = 3;
/// Of a long line of source or a long name so many lines are shown.
const MOST_LINES: usize = 3;

/// The rows of a finding's accesses.
pub fn table(finding: &Finding, style: &Style) -> String {
    let table = Table { style, columns: (style.columns() - BEFORE - BETWEEN) / 2 };
    let mut text = table.head(finding);
    for (access, number) in finding.accesses.iter().zip(1..) {
        if number > 1 {
            text.push_str(&table.line("", "", 1));
        }
        text.push_str(&table.row(access, number));
    }
    text
}

struct Table<'s> {
    style: &'s Style,
    /// Of each thread.
    columns: usize,
}

impl Table<'_> {
    fn head(&self, finding: &Finding) -> String {
        let title = |role: u8| {
            let access = finding.accesses.iter().find(|access| access.role == role);
            let text = access.map_or(format!("thread {role}"), thread_name);
            self.painted(role, &cut(&text, self.columns))
        };
        let rule = "-".repeat(self.columns);
        format!("    | {} | {}\n----+-{rule}-+-{rule}\n", title(1), title(2).trim_end())
    }

    fn row(&self, access: &FindingAccess, number: usize) -> String {
        let lines = self.cell(access);
        let numbers = std::iter::once(number.to_string()).chain(std::iter::repeat(String::new()));
        lines
            .iter()
            .zip(numbers)
            .map(|(line, number)| self.line(&number, line, access.role))
            .collect()
    }

    /// A line of the table with text in the column of one thread.
    fn line(&self, number: &str, text: &str, role: u8) -> String {
        let blank = " ".repeat(self.columns);
        let text = self.painted(role, text);
        let line = match role {
            1 => format!("{number:>2}  | {text} |"),
            _ => format!("{number:>2}  | {blank} | {text}"),
        };
        format!("{}\n", line.trim_end())
    }

    fn painted(&self, role: u8, text: &str) -> String {
        self.style.paint().of_role(role, &padded(text, self.columns))
    }

    /// Source line, what it does, where it is, which locks are held.
    fn cell(&self, access: &FindingAccess) -> Vec<String> {
        let parts = [
            source_text(access),
            format!("{} {}", words::does(access), self.touched(access)),
            self.place(access),
            self.locks(access),
        ];
        parts.iter().flat_map(|part| wrapped_at_most(part, self.columns, MOST_LINES)).collect()
    }

    fn touched(&self, access: &FindingAccess) -> String {
        let variable = words::variable(access.variable.as_ref(), self.columns - "writes ".len());
        let atomic = if access.atomic { " (atomic)" } else { "" };
        format!("{variable}{atomic}")
    }

    fn place(&self, access: &FindingAccess) -> String {
        let place = words::place(&access.frame, self.columns).unwrap_or_else(|| module(access));
        match &access.frame.function {
            Some(function) => {
                format!("{place} in {}", shortened(&printable(function), self.columns))
            }
            None => place,
        }
    }

    fn locks(&self, access: &FindingAccess) -> String {
        if access.locks.is_empty() {
            return "holds no lock".to_owned();
        }
        let names = access.locks.iter().map(|lock| words::lock(lock, self.columns));
        format!("holds {}", names.collect::<Vec<_>>().join(", "))
    }
}

/// `thread 1 (T3 of run 6)`.
fn thread_name(access: &FindingAccess) -> String {
    let process = match access.process {
        0 => String::new(),
        process => format!(" of process {process}"),
    };
    format!("thread {} (T{}{process})", access.role, access.thread)
}

fn source_text(access: &FindingAccess) -> String {
    match access.text.as_deref().map(printable) {
        Some(text) if !text.is_empty() => text,
        _ => "(source text not available)".to_owned(),
    }
}

/// Where there is no line: the module's file and the address in it.
pub fn module(access: &FindingAccess) -> String {
    match &access.code.module {
        Some(module) => format!("{}+{}", printable(module), printable(&access.code.offset)),
        None => printable(&access.code.offset),
    }
}
