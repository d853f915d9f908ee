//! What the wrapper refuses, and how it says so.

mod cc_support;

use cc_support::{GCC, Outcome, Project, UNPICK};

fn refusal(script: &str) -> String {
    let outcome = Project::new().run_wrapped(GCC, script);
    assert_eq!(outcome.exit, Some(2), "{outcome:?}");
    assert_eq!(outcome.stdout, "");
    outcome.stderr
}

fn with_compiler(value: &str, script: &str) -> Outcome {
    let project = Project::new();
    let mut shell = project.shell(script);
    shell.env("CC", format!("{UNPICK} cc")).env("UNPICK_CC", value);
    project.outcome(shell)
}

#[test]
fn other_machines_are_refused() {
    for option in ["-m32", "-mx32", "--target=aarch64-linux-gnu"] {
        let text = refusal(&format!("$CC {option} -c part.c"));
        assert!(
            text.starts_with("error: programs for another machine cannot be instrumented\n"),
            "{text}"
        );
        assert!(text.contains(option) && text.contains("\n  next: "), "{text}");
    }
}

#[test]
fn rival_sanitizers_are_refused_also_from_a_response_file() {
    let text = refusal("$CC -fsanitize=undefined,address -c part.c");
    assert!(
        text.starts_with("error: -fsanitize=address cannot be combined with Unpick\n"),
        "{text}"
    );
    let text = refusal("echo -fsanitize=leak > flags; $CC @flags -c part.c");
    assert!(text.contains("-fsanitize=leak"), "{text}");
}

#[test]
fn a_missing_compiler_is_named() {
    let outcome = with_compiler("no-such-compiler -x", "$CC -c part.c");
    assert_eq!(outcome.exit, Some(2));
    assert!(outcome.stderr.starts_with("error: the compiler `no-such-compiler` cannot be found\n"));
}

#[test]
fn without_any_compiler_the_package_is_named() {
    let project = Project::new();
    let mut shell =
        project.shell(&format!("PATH=/nowhere; {UNPICK} cc -c part.c; {UNPICK} c++ -c part.c"));
    shell.env_remove("CC");
    let outcome = project.outcome(shell);
    assert_eq!(outcome.exit, Some(2));
    assert!(outcome.stderr.contains("error: no C compiler is installed\n"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("apt install g++ or clang"), "{}", outcome.stderr);
}

#[test]
fn a_program_that_is_no_compiler_is_refused() {
    let outcome = with_compiler("true", "$CC -c part.c");
    assert_eq!(outcome.exit, Some(2));
    assert!(outcome.stderr.contains("does not behave like gcc or clang"), "{}", outcome.stderr);
}

#[test]
fn the_wrapper_does_not_call_itself() {
    let outcome = with_compiler(&format!("{UNPICK} cc"), "$CC -c part.c");
    assert_eq!(outcome.exit, Some(2));
    assert!(outcome.stderr.contains("would call itself"), "{}", outcome.stderr);
}
