//! What the parts of a finding are called.

use unpick_findings::{
    AccessKind, Class, Confirmation, Confirmed, Doubt, Finding, FindingAccess, Frame, HeldLock,
    TORN_AT_FIRST, TORN_AT_SECOND,
};

use crate::layout::{cut_front, printable};
use crate::short_names::shortened;

pub fn class(class: Class) -> &'static str {
    match class {
        Class::Order => "order violation",
        Class::SingleVariable => "atomicity violation",
        Class::MultiVariable => "atomicity violation of two variables",
    }
}

/// What experiments have shown, with their figures: `root cause: fails 10/10 when this order is forced, 0/10 when it is prevented`.
pub fn confirmed(confirmed: &Confirmed) -> String {
    let Confirmed { forced_runs, forced_hits, forced_failures, .. } = confirmed;
    let verdict = verdict(confirmed.verdict);
    if confirmed.verdict == Confirmation::NotReproduced {
        return format!(
            "{verdict}: the order was reached in {forced_hits} of {forced_runs} forced runs"
        );
    }
    let prevented = match confirmed.inverse_hits {
        0 => "it could not be prevented".to_owned(),
        hits => format!("{}/{hits} when it is prevented", confirmed.inverse_failures),
    };
    format!(
        "{verdict}: fails {forced_failures}/{forced_hits} when this order is forced, {prevented}"
    )
}

pub fn verdict(verdict: Confirmation) -> &'static str {
    match verdict {
        Confirmation::Cause => "root cause confirmed",
        Confirmation::Likely => "likely cause",
        Confirmation::Related => "related",
        Confirmation::Refuted => "refuted",
        Confirmation::NotReproduced => "not reproduced",
    }
}

/// What is not shown of a likely cause.
pub fn doubt(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::NotPrevented => "this order could not be prevented often enough",
        Doubt::FailsWhenPrevented => "some runs fail although this order is prevented",
        Doubt::SeldomFails => "it fails too seldom when this order is forced",
        Doubt::MissedFailures => "some failing runs do not have this order",
        Doubt::FailsByItself => "the program fails nearly as often without being forced",
        Doubt::SpansOperations => {
            "the accesses of one thread are in different operations, and something between them may be the cause"
        }
        Doubt::InPassingRuns => "passing runs have this order, too",
        Doubt::Confounded => "another order that correlates as well cannot be told from it",
        Doubt::DependsOnPlace => "it fails only if threads are held at certain places",
    }
}

pub fn is_cause(finding: &Finding) -> bool {
    finding.confirmed.is_some_and(|confirmed| confirmed.verdict == Confirmation::Cause)
}

/// A pattern without names.
pub fn pattern(finding: &Finding) -> &'static str {
    let is_free =
        |at: usize| finding.accesses.get(at).is_some_and(|access| access.kind == AccessKind::Free);
    match finding.pattern.as_str() {
        "P1" | "P2" | "P3" if is_free(0) => "freed, then used by another thread",
        "P1" | "P3" if is_free(1) => "used, then freed by another thread",
        "P1" => "read, then written by another thread",
        "P2" => "written, then read by another thread",
        "P3" => "written, then written by another thread",
        "P4" => "two reads, another thread's write between them",
        "P5" => "a write and a read, another thread's write between them",
        "P6" => "two writes, another thread's read between them",
        "P7" => "a read and a write, another thread's write between them",
        "P8" => "two writes, another thread's write between them",
        "P9" | "P10" | "P11" => "written by two threads in different order",
        TORN_AT_FIRST | TORN_AT_SECOND => "accessed together, another thread's access between them",
        "P12" | "P13" | "P14" | "P15" | "P16" | "P17" => {
            "read together while another thread writes them"
        }
        "P18" | "P19" | "P20" | "P21" | "P22" | "P23" => {
            "a check and what is done by it, another thread's accesses between them"
        }
        _ => "two variables, each accessed before the other by one of two threads",
    }
}

pub fn does(access: &FindingAccess) -> &'static str {
    does_kind(access.kind)
}

pub fn does_kind(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::Free => "frees",
    }
}

pub fn kind(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Free => "free",
    }
}

/// `Account.balance` and `heap, allocated at bank.c:31` of `Account.balance (heap, allocated at bank.c:31)`.
pub fn name_and_origin(variable: &str) -> (&str, Option<&str>) {
    let parts = [" (heap, ", " (static in "].iter().find_map(|start| variable.rfind(start));
    match (parts, variable.strip_suffix(')')) {
        (Some(at), Some(open)) => (&variable[..at], Some(&open[at + 2..])),
        _ => (variable, None),
    }
}

/// What an access touches, without where it comes from.
pub fn variable(name: Option<&String>, columns: usize) -> String {
    match name {
        // Words, which can be wrapped, and which only together say which memory it is.
        Some(name) if name.starts_with("heap block of ") => printable(name),
        Some(name) => shortened(&printable(name_and_origin(name).0), columns),
        None => "memory without a name".to_owned(),
    }
}

/// The different variables of a finding, in the order of accesses.
pub fn variables(finding: &Finding) -> Vec<&String> {
    let mut variables: Vec<&String> = Vec::new();
    for variable in finding.accesses.iter().filter_map(|access| access.variable.as_ref()) {
        if !variables.contains(&variable) {
            variables.push(variable);
        }
    }
    variables
}

/// `src/bank.c:31:9`; of a long path the end.
pub fn place(frame: &Frame, columns: usize) -> Option<String> {
    let line = match (frame.line, frame.column) {
        (Some(line), Some(column)) => format!(":{line}:{column}"),
        (Some(line), None) => format!(":{line}"),
        _ => String::new(),
    };
    let file = printable(frame.file.as_deref()?);
    Some(format!("{}{line}", cut_front(&file, columns.saturating_sub(line.len()))))
}

/// `bank.c:31`: the last part of the path is enough where the reader only has to recognise it.
pub fn brief_place(frame: &Frame) -> Option<String> {
    let file = printable(frame.file.as_deref()?);
    let name = file.rsplit('/').next().unwrap_or(&file).to_owned();
    Some(frame.line.map_or(name.clone(), |line| format!("{name}:{line}")))
}

/// `account.lock`, `a mutex taken at bank.c:22`, with `(shared)`.
pub fn lock(lock: &HeldLock, columns: usize) -> String {
    let kind = if lock.kind == "rust" { "lock" } else { lock.kind.as_str() };
    let name = match (&lock.name, brief_place(&lock.taken_at)) {
        (Some(name), _) => variable(Some(name), columns),
        (None, Some(place)) => format!("a {} taken at {place}", printable(kind)),
        (None, None) => format!("a {} without a name", printable(kind)),
    };
    if lock.shared { format!("{name} (shared)") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_told_from_where_it_comes_from() {
        assert_eq!(
            name_and_origin("Account.balance (heap, allocated at bank.c:31)"),
            ("Account.balance", Some("heap, allocated at bank.c:31"))
        );
        assert_eq!(name_and_origin("count (static in next)"), ("count", Some("static in next")));
        assert_eq!(name_and_origin("(*p)"), ("(*p)", None));
    }
}
