//! How much of its thread's work an order spans.

use unpick_findings::{Finding, FindingAccess, Frame};
use unpick_symbols::Place;

/// Functions of the C library that call what a thread runs. Where the library has debug info, they look like anybody's.
const THREAD_STARTS: [&str; 5] =
    ["start_thread", "clone3", "__clone3", "__libc_start_call_main", "__libc_start_main_impl"];

/// Whether one of the threads makes its accesses in several operations, which only the function that the thread runs has in common: a whole round of its work is in
/// between. False also where the calls are not known.
pub fn spans_operations(finding: &Finding) -> bool {
    let of_role = |role: u8| finding.accesses.iter().filter(move |access| access.role == role);
    [1, 2].into_iter().any(|role| {
        let accesses: Vec<(Vec<String>, Option<u32>)> =
            of_role(role).map(|access| (own_functions(access), access.frame.line)).collect();
        accesses.windows(2).any(|pair| {
            let [(one, first), (other, second)] = [&pair[0], &pair[1]];
            are_apart(one, other) || second < first && is_next_call(one, other)
        })
    })
}

/// Whether two accesses, the second on an earlier line, are of two calls of one function, which only what the thread runs calls: it did its work, came back, and has begun the next
/// piece.
fn is_next_call(one: &[String], other: &[String]) -> bool {
    one == other && one.len() > 1 && one[2..].iter().all(|function| is_closure(function))
}

/// Whether two accesses, by the functions that led there, innermost first, have nothing in common but what the thread runs. Closures around that only call it.
fn are_apart(one: &[String], other: &[String]) -> bool {
    let Some(common) = one.iter().position(|function| other.contains(function)) else {
        return false;
    };
    let is_operation = common == 0 || other.first() == Some(&one[common]);
    !is_operation && one[common + 1..].iter().all(|function| is_closure(function))
}

fn is_closure(function: &str) -> bool {
    function.contains("{closure") || function.contains("{lambda")
}

/// The functions that led to an access and are not of a library of the language, innermost first.
pub fn own_functions(access: &FindingAccess) -> Vec<String> {
    functions_of([&access.frame].into_iter().chain(&access.inlined_into).chain(&access.stack))
}

fn functions_of<'f>(frames: impl Iterator<Item = &'f Frame>) -> Vec<String> {
    let own = frames.filter_map(|frame| {
        let frame = unpick_symbols::Frame {
            function: frame.function.clone(),
            file: frame.file.clone(),
            line: frame.line,
            column: frame.column,
        };
        let place = Place { frames: vec![frame], ..Place::default() };
        place.own_frame().and_then(|at| place.frames[at].function.clone())
    });
    own.filter(|function| !THREAD_STARTS.contains(&function.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(one: &[&str], other: &[&str]) -> bool {
        let functions = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let (one, other): (Vec<_>, Vec<_>) = (functions(one), functions(other));
        are_apart(&one, &other)
    }

    #[test]
    fn operations_of_a_thread_are_apart_where_only_its_function_has_both() {
        assert!(apart(&["get", "user"], &["release", "put", "user"]));
        let closure = "main::{closure#0}";
        assert!(apart(&["get", "user", closure], &["put", "user", closure]));
        assert!(apart(&["get", closure], &["put", closure]), "the closure is what it runs");
    }

    #[test]
    fn a_function_that_the_thread_calls_again_is_another_piece_of_work() {
        let names = |of: &[&str]| of.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let again = |of: &[&str]| is_next_call(&names(of), &names(of));
        assert!(again(&["append", "node_main"]));
        assert!(!again(&["append", "commit", "node_main"]), "an operation that appends twice");
        assert!(!again(&["node_main"]), "its own loop");
    }

    #[test]
    fn what_the_c_library_starts_threads_with_is_nobodys_function() {
        let frame = |function: &str, file: &str| Frame {
            function: Some(function.to_owned()),
            file: Some(file.to_owned()),
            line: Some(1),
            column: None,
        };
        let start = frame("start_thread", "./nptl/pthread_create.c");
        let functions =
            functions_of([&frame("get", "a.c"), &frame("user", "a.c"), &start].into_iter());
        assert_eq!(functions, ["get", "user"]);
    }

    #[test]
    fn accesses_within_one_operation_are_not() {
        assert!(!apart(&["put", "user"], &["release", "put", "user"]), "a helper");
        assert!(!apart(&["find", "login", "user"], &["insert", "login", "user"]));
        assert!(!apart(&["user"], &["user"]));
        assert!(!apart(&["get"], &["put"]), "who called them is not known");
    }
}
