//! Finds a place of the source in a program as it is now.
//!
//! Takes   a place in words, and what kind of call is looked for.      Gives  the calls there, and what is not as it was.
//! Misses  code whose line was rewritten, on purpose: what it does now nobody can know.
//!
//! First the line: where it was, if its text is the same; else the nearest line with that text in the function; else in the
//! file. Then the calls on it: by what they call, by column, by the function they are part of, by occurrence.

use std::path::Path;

use crate::program::{Call, Program, ProgramModule, ShownCall, deed_of};

use super::{SourcePlace, StepKind};

/// What kind of call is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// An access by a hook, or by the function that is named.
    Access { kind: StepKind, bytes: u64 },
    /// A lock that is taken or waited for: by the function that is named, or another that takes locks.
    Lock,
    /// Whatever is named, or any function of the program or its libraries.
    Function,
}

/// What a step needs; at a meeting threads wait for locks.
pub fn need_of(kind: StepKind, bytes: u64, is_meeting: bool) -> Need {
    match kind {
        StepKind::Lock => Need::Lock,
        StepKind::Wait if is_meeting => Need::Lock,
        StepKind::Wait | StepKind::Notify => Need::Function,
        StepKind::Read | StepKind::Write | StepKind::Free => Need::Access { kind, bytes },
    }
}

/// What the gate of a step needs: a lock, or of a notification the write of what was tested, which is the variable itself.
pub fn need_of_gate(kind: StepKind, bytes: u64, distance: Option<i64>) -> Need {
    match kind {
        StepKind::Notify if distance == Some(0) => Need::Access { kind: StepKind::Write, bytes },
        _ => Need::Lock,
    }
}

/// Calls that were found, all of one line.
#[derive(Default)]
pub struct Found<'p> {
    pub calls: Vec<FoundCall<'p>>,
    /// What is not as it was, in words.
    pub changes: Vec<String>,
}

#[derive(Clone)]
pub struct FoundCall<'p> {
    pub module: &'p ProgramModule,
    pub call: Call,
    shown: ShownCall,
    fit: Fit,
}

impl FoundCall<'_> {
    /// Whether it is part of the code of a function.
    pub fn is_inside(&self, function: Option<String>) -> bool {
        function.is_some() && self.shown.inside == function
    }
}

/// How well a call fits; the first is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    SameName,
    SameKind,
    OtherLength,
}

/// The calls that a place means; else what is there instead.
pub fn search<'p>(
    program: &'p Program,
    place: &SourcePlace,
    need: Need,
) -> Result<Found<'p>, String> {
    let search = Search { place, need };
    let modules = search.modules(program)?;
    let inside = place.inside.as_ref().or(place.function.as_ref());
    let in_function = inside
        .map_or_else(Vec::new, |name| search.fitting(&modules, |module| module.calls_inside(name)));
    if let Some(found) = search.on_its_line(&in_function, Reach::Function) {
        return Ok(found);
    }
    let anywhere = search.fitting(&modules, |module| module.calls().to_vec());
    search.on_its_line(&anywhere, Reach::File).ok_or_else(|| search.instead(&modules, &anywhere))
}

/// How far from its function a line may have moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Function,
    File,
}

struct Search<'s> {
    place: &'s SourcePlace,
    need: Need,
}

impl<'s> Search<'s> {
    /// The executable, or the library that is named.
    fn modules<'p>(&self, program: &'p Program) -> Result<Vec<&'p ProgramModule>, String> {
        let Some(name) = &self.place.module else {
            return Ok(program.modules.first().into_iter().collect());
        };
        let named = program.modules.iter().filter(|module| module.file_name() == *name);
        let named: Vec<_> = named.collect();
        if named.is_empty() { Err(format!("there is no library `{name}`")) } else { Ok(named) }
    }

    fn fitting<'p>(
        &self,
        modules: &[&'p ProgramModule],
        calls: impl Fn(&'p ProgramModule) -> Vec<Call>,
    ) -> Vec<FoundCall<'p>> {
        let mut found = Vec::new();
        for module in modules {
            for call in calls(module) {
                let Some(fit) = self.fit(module, &call) else { continue };
                let shown = module.shown(call.return_address);
                found.push(FoundCall { module, call, shown, fit });
            }
        }
        self.in_its_file(found)
    }

    fn fit(&self, module: &ProgramModule, call: &Call) -> Option<Fit> {
        let callee = call.callee.as_deref();
        if callee.is_some() && callee == self.place.call.as_deref() {
            return Some(Fit::SameName);
        }
        match self.need {
            Need::Access { kind, bytes } => self.fit_of_access(callee?, kind, bytes),
            Need::Lock if module.takes_lock(call) => Some(Fit::SameKind),
            Need::Lock | Need::Function => {
                let is_hook = callee.is_some_and(|callee| callee.starts_with("__tsan_"));
                (self.place.call.is_none() && !is_hook).then_some(Fit::SameKind)
            }
        }
    }

    /// A hook stands for another of its kind: only the type of the variable has changed.
    fn fit_of_access(&self, callee: &str, kind: StepKind, bytes: u64) -> Option<Fit> {
        let named = self.place.call.as_deref();
        if named.is_some_and(|named| deed_of(named).is_none()) {
            return None;
        }
        let deed = deed_of(callee)?;
        let fits = match kind {
            StepKind::Read => deed.reads,
            StepKind::Write => deed.writes,
            StepKind::Free | StepKind::Wait | StepKind::Lock | StepKind::Notify => false,
        };
        let same_length = bytes == 0 || deed.bytes == 0 || bytes == deed.bytes;
        let fit = if same_length { Fit::SameKind } else { Fit::OtherLength };
        fits.then_some(fit)
    }

    /// Those in the file whose path has most of its end in common with the one that is looked for.
    fn in_its_file<'p>(&self, mut calls: Vec<FoundCall<'p>>) -> Vec<FoundCall<'p>> {
        let Some(wanted) = &self.place.file else { return calls };
        let common = |call: &FoundCall<'_>| {
            call.shown.frame.file.as_ref().map_or(0, |file| common_end(file, wanted))
        };
        let most = calls.iter().map(common).max().unwrap_or(0);
        calls.retain(|call| most > 0 && common(call) == most);
        calls
    }

    fn on_its_line<'p>(&self, calls: &[FoundCall<'p>], reach: Reach) -> Option<Found<'p>> {
        let line = self.line(calls, reach)?;
        let on_line = calls.iter().filter(|call| call.shown.frame.line == Some(line));
        let mut found = Found { calls: on_line.cloned().collect(), changes: Vec::new() };
        self.tell_moves(&mut found, line);
        self.narrow(&mut found);
        Some(found)
    }

    /// The number of the line that is meant.
    fn line(&self, calls: &[FoundCall<'_>], reach: Reach) -> Option<u32> {
        let stays = |call: &&FoundCall<'_>| {
            let is_same = match self.same_text(call) {
                Some(is_same) => is_same,
                None => self.in_its_function(call),
            };
            is_same && call.shown.frame.line == self.place.line
        };
        if let Some(call) = calls.iter().find(stays) {
            return call.shown.frame.line;
        }
        let same = |call: &&FoundCall<'_>| self.same_text(call) == Some(true);
        let in_function = |call: &&FoundCall<'_>| same(call) && self.in_its_function(call);
        let nearest = self.nearest(calls.iter().filter(in_function));
        let anywhere = || self.nearest(calls.iter().filter(same));
        nearest.or_else(|| if reach == Reach::File { anywhere() } else { None })
    }

    fn nearest<'c, 'p: 'c>(&self, calls: impl Iterator<Item = &'c FoundCall<'p>>) -> Option<u32> {
        let was = self.place.line.unwrap_or(0);
        calls
            .filter_map(|call| call.shown.frame.line)
            .min_by_key(|line| (line.abs_diff(was), *line))
    }

    /// None: one of the texts is not known.
    fn same_text(&self, call: &FoundCall<'_>) -> Option<bool> {
        let wanted = self.place.text.as_deref()?;
        Some(same_but_spaces(wanted, call.shown.text.as_deref()?))
    }

    fn in_its_function(&self, call: &FoundCall<'_>) -> bool {
        let function = call.shown.frame.function.as_deref();
        self.place.function.as_deref().is_none_or(|wanted| {
            function.is_some_and(|function| same_but_numbers_of_closures(wanted, function))
        })
    }

    fn tell_moves(&self, found: &mut Found<'_>, line: u32) {
        if let Some(was) = self.place.line.filter(|was| *was != line) {
            found.changes.push(format!("line {was} is now line {line}"));
        }
        let Some(call) = found.calls.first() else { return };
        if !self.in_its_function(call) {
            let now = call.shown.frame.function.as_deref().unwrap_or("an unknown function");
            found.changes.push(format!("it is now in `{now}`"));
        }
        if self.place.text.is_some() && call.shown.text.is_none() {
            let why =
                "the source is gone or newer than the program, so its text could not be compared";
            found.changes.push(why.to_owned());
        }
    }

    /// Leaves those calls of a line that are meant.
    fn narrow(&self, found: &mut Found<'_>) {
        let calls = &mut found.calls;
        let best = calls.iter().map(|call| call.fit).min();
        calls.retain(|call| Some(call.fit) == best);
        if best == Some(Fit::OtherLength) {
            found.changes.push("it now has another length".to_owned());
        }
        let column = self.place.column;
        keep_if_any(calls, |call| column.is_some() && call.shown.frame.column == column);
        let inside = self.place.inside.as_ref();
        keep_if_any(calls, |call| inside.is_some() && call.shown.inside.as_ref() == inside);
        self.pick_occurrence(found);
    }

    fn pick_occurrence(&self, found: &mut Found<'_>) {
        let now = found.calls.len();
        match (self.place.occurrence, self.place.occurrences) {
            (Some(one), Some(all)) if all as usize == now => {
                found.calls = vec![found.calls[one as usize - 1].clone()];
            }
            (Some(_), Some(all)) => found.changes.push(format!(
                "there were {all} calls alike, now there are {now}: all of them are used"
            )),
            _ if now > 1 => {
                found.changes.push(format!("{now} calls there are alike: all are used"))
            }
            _ => {}
        }
    }

    /// What is there now, where the place was.
    fn instead(&self, modules: &[&ProgramModule], calls: &[FoundCall<'_>]) -> String {
        let accesses = matches!(self.need, Need::Access { .. });
        let is_instrumented = |module: &&ProgramModule| {
            module.calls().iter().any(|call| call.callee.as_deref().and_then(deed_of).is_some())
        };
        if accesses && !modules.iter().any(is_instrumented) {
            return "the program has no hooks at all: it was not built by unpick".to_owned();
        }
        let in_function = calls.iter().filter(|call| self.in_its_function(call));
        let mut lines: Vec<(u32, Option<&str>)> = in_function
            .filter_map(|call| Some((call.shown.frame.line?, call.shown.text.as_deref())))
            .collect();
        lines.sort_unstable();
        lines.dedup();
        match (&self.place.function, &lines[..]) {
            (Some(function), []) => format!("`{function}` has no such call, or is not there"),
            (None, []) => "there is no such call in the file".to_owned(),
            (_, lines) => {
                format!("the nearest are at {}", nearest_in_words(lines, self.place.line))
            }
        }
    }
}

/// At most three, the nearest first.
fn nearest_in_words(lines: &[(u32, Option<&str>)], was: Option<u32>) -> String {
    let mut lines = lines.to_vec();
    lines.sort_by_key(|(line, _)| line.abs_diff(was.unwrap_or(0)));
    let words = lines.iter().take(3).map(|(line, text)| match text {
        Some(text) => format!("line {line}: `{}`", text.trim()),
        None => format!("line {line}"),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn keep_if_any<T>(things: &mut Vec<T>, wanted: impl Fn(&T) -> bool) {
    if things.iter().any(&wanted) {
        things.retain(wanted);
    }
}

/// How many of the last parts two paths have in common.
fn common_end(one: &str, other: &str) -> usize {
    let parts = |path| Path::new(path).components().rev();
    std::iter::zip(parts(one), parts(other)).take_while(|(one, other)| one == other).count()
}

fn same_but_spaces(one: &str, other: &str) -> bool {
    let without = |text: &'_ str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    without(one) == without(other)
}

/// Closures are numbered: a new one before them must not hide them.
fn same_but_numbers_of_closures(one: &str, other: &str) -> bool {
    fn without(name: &str) -> String {
        let mut parts = name.split("{closure#");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |name, part| {
            let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{name}{{closure#{rest}")
        })
    }
    one == other || without(one) == without(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_from_their_ends() {
        assert_eq!(common_end("/home/a/bank/src/bank.c", "src/bank.c"), 2);
        assert_eq!(common_end("/home/a/bank/src/bank.c", "/home/b/bank/src/bank.c"), 3);
        assert_eq!(common_end("/home/a/bank.c", "ank.c"), 0);
    }

    #[test]
    fn spaces_and_numbers_of_closures_do_not_count() {
        assert!(same_but_spaces("\tx  = y;", "x=y; "));
        assert!(!same_but_spaces("x = y;", "x = z;"));
        assert!(same_but_numbers_of_closures("a::{closure#0}::b", "a::{closure#12}::b"));
        assert!(!same_but_numbers_of_closures("a::{closure#0}", "b::{closure#0}"));
    }
}
