//! Makes a plan of a finding, or of an order of a race: one step per access, whichever of the 17 patterns it is, or a torn unit.
//!
//! Both come from files: that they fit their pattern is checked, not believed.

use unpick_analyses::interleaving_patterns::{AccessKind as Kind, PatternId};
use unpick_findings::{
    AccessKind, AccessOrder, CodePlace, Finding, FindingAccess, Frame, MOST_CALLS, TORN_AT_FIRST,
    TORN_AT_SECOND,
};
use unpick_problem::Problem;

use super::gates::{gate, place};
use super::{CallPlace, Operand, Plan, PlanPlace, PlanStep, Purpose};

impl Plan {
    /// Forces the order of accesses of a finding.
    pub fn of_finding(finding: &Finding) -> Result<Plan, Problem> {
        plan_of(&finding.pattern, &finding.accesses)
    }

    /// Forces an order of a race.
    pub fn of_order(order: &AccessOrder) -> Result<Plan, Problem> {
        plan_of(&order.pattern, &order.accesses)
    }
}

fn plan_of(pattern: &str, accesses: &[FindingAccess]) -> Result<Plan, Problem> {
    let steps = steps_of(pattern, accesses)?;
    let own = steps.into_iter().enumerate();
    let own = own.filter(|(at, _)| !is_with_previous(accesses, *at));
    Ok(Plan::forcing(own.map(|(_, step)| step).collect()))
}

/// A step for every access, also for those that are one access with the one before.
pub fn steps_of(pattern: &str, accesses: &[FindingAccess]) -> Result<Vec<PlanStep>, Problem> {
    let unfit = || unfit(pattern, accesses);
    let steps = pattern_called(pattern).ok_or_else(unfit)?;
    let is_as = |(step, access): (&PatternStep, &FindingAccess)| {
        step.fits(access.role, access.kind != AccessKind::Read)
    };
    if steps.len() != accesses.len() || !steps.iter().zip(accesses).all(is_as) {
        return Err(unfit());
    }
    let steps = steps.into_iter().enumerate();
    steps.map(|(at, of_pattern)| step(of_pattern, accesses, at)).collect()
}

/// What an access of an order must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternStep {
    pub role: u8,
    pub variable: u8,
    /// None: a read or a write.
    pub kind: Option<Kind>,
}

impl PatternStep {
    pub fn fits(&self, role: u8, is_write: bool) -> bool {
        self.role == role && self.kind.is_none_or(|kind| kind == Kind::of_write(is_write))
    }
}

/// The steps of `P1` to `P32`, or of a torn unit.
pub fn pattern_called(name: &str) -> Option<Vec<PatternStep>> {
    let torn = |variables: [u8; 3]| {
        let steps = [1, 2, 1].into_iter().zip(variables);
        steps.map(|(role, variable)| PatternStep { role, variable, kind: None }).collect()
    };
    match name {
        TORN_AT_FIRST => Some(torn([0, 0, 1])),
        TORN_AT_SECOND => Some(torn([0, 1, 1])),
        _ => {
            let pattern = PatternId::from_name(name)?;
            let steps = pattern.steps().iter().map(|step| PatternStep {
                role: step.role,
                variable: step.variable as u8,
                kind: Some(step.kind),
            });
            Some(steps.collect())
        }
    }
}

/// One access of a thread to both variables is one step: the thread comes there once.
pub fn is_with_previous(accesses: &[FindingAccess], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| &accesses[before]) else { return false };
    let access = &accesses[at];
    let same_variable = access.variable.is_some() && access.variable == before.variable;
    access.role == before.role
        && access.code == before.code
        && (access.order == before.order || same_variable)
}

fn step(step: PatternStep, accesses: &[FindingAccess], at: usize) -> Result<PlanStep, Problem> {
    let access = &accesses[at];
    let before = accesses[..at].iter().rfind(|before| before.role == access.role);
    Ok(PlanStep {
        role: access.role,
        purpose: Purpose::Step,
        places: vec![place_of_access(accesses, at).ok_or_else(|| nowhere(&shown(access)))?],
        gates: gate(access, before).into_iter().collect(),
        must_hold: false,
        exits: Vec::new(),
        variable: Some(step.variable),
        operand: operand(access),
        bytes: access.bytes,
        is_write: access.kind != AccessKind::Read,
        calls: access.calls.iter().map_while(CallPlace::of).collect(),
        shown: shown(access),
    })
}

/// Inside a library of the language the calls up to the user's own tell which access is meant, in a helper the call of it; elsewhere
/// the place itself does.
fn place_of_access(accesses: &[FindingAccess], at: usize) -> Option<PlanPlace> {
    let access = &accesses[at];
    let inside_library = access.shown_call.map_or(0, |shown| shown + 1);
    let same_role =
        |(other, of_role): &(usize, &FindingAccess)| *other != at && of_role.role == access.role;
    let partner = accesses.iter().enumerate().find(same_role).map(|(_, partner)| partner);
    let helper = usize::from(partner.is_some_and(|partner| is_in_helper(access, partner)));
    place(&access.code, &access.calls, inside_library.max(helper))
}

/// Whether an access is made for the function that both are part of, by one that it calls. What the helper does for others is not
/// meant: a look at the balance for a deposit is followed by a write, one for a report is not.
fn is_in_helper(access: &FindingAccess, partner: &FindingAccess) -> bool {
    let Some((_, outer)) = access.calls.split_first() else { return false };
    let is_called_by = |calls: &[CodePlace]| !outer.is_empty() && is_same_way(outer, calls);
    let both_helpers = || partner.calls.split_first().is_some_and(|(_, calls)| is_called_by(calls));
    access.calls != partner.calls && (is_called_by(&partner.calls) || both_helpers())
}

/// Of deep stacks only the innermost calls are known.
fn is_same_way(one: &[CodePlace], other: &[CodePlace]) -> bool {
    let is_cut = one.len().max(other.len()) + 1 >= MOST_CALLS;
    (one.len() == other.len() || is_cut) && one.iter().zip(other).all(|(one, other)| one == other)
}

/// Hooks, and whatever frees, have the address in front. Of other library functions it depends on which one it is.
fn operand(access: &FindingAccess) -> Operand {
    let is_known = !access.library || access.kind == AccessKind::Free;
    if is_known { Operand::First } else { Operand::Unknown }
}

/// `write of x in put at bank.c:21`.
pub fn shown(access: &FindingAccess) -> String {
    let kind = match access.kind {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Free => "free",
    };
    let of = access.variable.as_ref().map_or_else(String::new, |name| format!(" of `{name}`"));
    format!("{kind}{of}{}", shown_place(&access.frame))
}

/// ` in put at bank.c:21`, or as much of it as is known.
pub fn shown_place(frame: &Frame) -> String {
    let function = frame.function.as_ref().map(|function| format!(" in `{function}`"));
    let line = frame.line.map(|line| format!(":{line}")).unwrap_or_default();
    let file = frame.file.as_ref().map(|file| format!(" at {file}{line}"));
    [function, file].into_iter().flatten().collect()
}

fn unfit(pattern: &str, accesses: &[FindingAccess]) -> Problem {
    let roles: Vec<String> = accesses
        .iter()
        .map(|access| format!("{:?} by thread {}", access.kind, access.role).to_lowercase())
        .collect();
    Problem::usage(format!("a finding is not what it says it is: `{pattern}`"))
        .why(format!("its accesses are: {}", roles.join(", ")))
        .next("rank the runs again: `unpick rank`")
}

pub fn nowhere(what: &str) -> Problem {
    Problem::usage(format!("no schedule can be made: where the code is, is not known ({what})"))
        .why("the findings were made by an earlier version of unpick, or the code is in no file")
        .next("hunt again with this version")
}
