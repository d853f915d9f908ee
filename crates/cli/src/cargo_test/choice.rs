//! Which test is meant.
//!
//! Takes   a request, and the programs that were built.
//! Gives   the one test that has the name, or whose name alone has it inside; else a problem that lists what there is.

use unpick_problem::Problem;

use super::request::Request;
use super::test_program::TestProgram;

/// So many tests are listed at most.
const MOST_LISTED: usize = 10;
/// The same of tests that only have a similar name.
const MOST_NEAR: usize = 3;

/// A test, and the program it is in.
#[derive(Clone)]
pub struct Choice<'a> {
    pub program: &'a TestProgram,
    pub test: String,
}

/// The test that the request means.
pub fn choose<'a>(request: &Request, built: &'a [TestProgram]) -> Result<Choice<'a>, Problem> {
    let programs = programs_called(request.program.as_deref(), built);
    if programs.is_empty() {
        return Err(no_such_program(request, built));
    }
    let choices_in = |program: &'a TestProgram| {
        program.tests().into_iter().map(move |test| Choice { program, test })
    };
    let all: Vec<Choice<'a>> = programs.iter().copied().flat_map(choices_in).collect();
    let mut meant = meant(request, &all);
    match meant.len() {
        0 => Err(no_such_test(request, &programs, &all)),
        1 => Ok(meant.remove(0)),
        _ => Err(several_tests(request, &meant)),
    }
}

/// The programs with this id; if none has it, those that may be called so; all, if none is named.
fn programs_called<'a>(called: Option<&str>, programs: &'a [TestProgram]) -> Vec<&'a TestProgram> {
    let Some(called) = called else { return programs.iter().collect() };
    let with_id: Vec<_> = programs.iter().filter(|program| program.id() == called).collect();
    if with_id.is_empty() {
        programs.iter().filter(|program| program.may_be_called(called)).collect()
    } else {
        with_id
    }
}

/// A test of that very name comes before all that only have it inside.
fn meant<'a>(request: &Request, all: &[Choice<'a>]) -> Vec<Choice<'a>> {
    let named = |fits: &dyn Fn(&str) -> bool| -> Vec<Choice<'a>> {
        all.iter().filter(|choice| fits(&choice.test)).cloned().collect()
    };
    let exactly = named(&|name| name == request.test);
    if !exactly.is_empty() || request.is_exact {
        return exactly;
    }
    named(&|name| name.contains(&request.test))
}

fn no_such_program(request: &Request, built: &[TestProgram]) -> Problem {
    let what = match &request.program {
        Some(program) => format!("there is no test program `{program}`"),
        None => "there are no tests".to_owned(),
    };
    Problem::usage(what)
        .at("programs", ids(built.iter()))
        .why("these are the test programs that were built, and no others")
        .next("if it belongs to another package: --cargo test --workspace …, or -p PACKAGE")
}

fn no_such_test(request: &Request, programs: &[&TestProgram], all: &[Choice<'_>]) -> Problem {
    let problem = Problem::usage(format!("there is no test `{}`", request.test))
        .at("programs", ids(programs.iter().copied()));
    if all.is_empty() {
        return problem
            .why("these programs list no tests")
            .next("if it belongs to another package: --cargo test --workspace …, or -p PACKAGE");
    }
    let nearest = nearest(&request.test, all);
    problem
        .why(format!("none of their {} tests has that in its name", all.len()))
        .next(format!("perhaps one of these:{}", listed(request, &nearest)))
}

fn several_tests(request: &Request, meant: &[Choice<'_>]) -> Problem {
    let what = match request.test.as_str() {
        "" => format!("no test is named, and there are {}", meant.len()),
        name => format!("`{name}` means {} tests", meant.len()),
    };
    Problem::usage(what)
        .why("a hunt compares runs of one test")
        .next(format!("choose one:{}", listed(request, meant)))
}

fn ids<'a>(programs: impl Iterator<Item = &'a TestProgram>) -> String {
    let ids: Vec<String> = programs.map(TestProgram::id).collect();
    if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
}

/// One line per test, each to be pasted.
fn listed(request: &Request, choices: &[Choice<'_>]) -> String {
    let shown = choices
        .iter()
        .take(MOST_LISTED)
        .map(|choice| format!("\n    {}", request.naming(&choice.program.id(), &choice.test)));
    let text: String = shown.collect();
    match choices.len().saturating_sub(MOST_LISTED) {
        0 => text,
        more => format!("{text}\n    … and {more} more"),
    }
}

/// The tests whose names are most like this one, the nearest first.
fn nearest<'a>(name: &str, all: &[Choice<'a>]) -> Vec<Choice<'a>> {
    let unlike = |choice: &Choice<'_>| (1e6 * (1.0 - likeness(name, &choice.test))) as u64;
    let mut nearest = all.to_vec();
    nearest.sort_by_key(unlike);
    nearest.truncate(MOST_NEAR);
    nearest
}

/// From 0 to 1. A module that was left out or is another one does not matter as much as the function's own name.
fn likeness(asked: &str, name: &str) -> f64 {
    let function = |path: &str| path.rsplit("::").next().unwrap_or_default().to_owned();
    let own = strsim::jaro_winkler(&function(asked), &function(name));
    own.max(strsim::jaro_winkler(asked, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_known_in_another_module() {
        assert!(
            likeness("bank::transfr", "account::transfer")
                > likeness("bank::transfr", "bank::close")
        );
    }
}
