//! The inverse that keeps whole functions apart finds where they begin and end, in real programs.

mod built;
mod made;
#[path = "../../symbols/tests/toolchain/mod.rs"]
mod toolchain;

use built::Built;
use toolchain::Compiler;
use unpick_analyses::interleaving_patterns::PatternId;
use unpick_reproduce::{Mode, Plan, Purpose};

const WALK: &str = r"
int seen, total, other;

__attribute__((noinline)) void walk(int steps) {
    seen = 1; // begins
    if (steps > 2)
        return;
    for (int at = 0; at < steps; at++)
        total += at; // adds
    seen = 2; // ends
}

__attribute__((noinline)) void change(void) {
    other = 1; // changes
}

int main(void) {
    walk(2);
    change();
    return total < 0;
}
";

fn built(compiler: Compiler) -> Built {
    Built::of(compiler, "walk.c", WALK)
}

impl Built {
    fn plan(&self, pattern: PatternId, marks: &[&str]) -> Plan {
        Plan::of_finding(&self.finding(pattern, marks)).unwrap()
    }
}

#[test]
fn a_role_is_alone_from_the_entry_of_its_function_to_each_exit() {
    for compiler in [Compiler::Gcc, Compiler::Clang].into_iter().filter(|one| one.is_here()) {
        let built = built(compiler);
        let plan = built.plan(PatternId::P8, &["begins", "changes", "ends"]);
        let inverse = plan.whole_inverse(&built.program).unwrap();
        assert_eq!(inverse.mode, Mode::Serialise);
        let [first, between, last] = &inverse.steps[..] else { panic!("three steps") };
        assert_eq!(built.callees(&first.gates), ["__tsan_func_entry"], "{compiler:?}");
        let exits = built.callees(&last.exits);
        assert!(!exits.is_empty() && exits.iter().all(|callee| callee == "__tsan_func_exit"));
        let entry = first.gates[0].at.offset;
        let code = [built.write_at("begins"), built.write_at("ends")];
        assert!(code.iter().all(|offset| *offset > entry), "of that function");
        assert!(between.exits.is_empty() && between.gates.is_empty(), "one access is no function");
        let purposes: Vec<Purpose> = inverse.numbered_places().map(|one| one.purpose).collect();
        assert!(purposes.contains(&Purpose::Exit) && purposes.contains(&Purpose::Gate));
        inverse.to_words().unwrap();
    }
}

#[test]
fn there_is_no_whole_function_for_two_accesses_or_for_accesses_of_two_functions() {
    let built = built(Compiler::Gcc);
    let pair = built.plan(PatternId::P3, &["begins", "changes"]);
    assert_eq!(pair.whole_inverse(&built.program), None);
    let apart = built.plan(PatternId::P8, &["begins", "adds", "changes"]);
    assert_eq!(apart.whole_inverse(&built.program), None);
}
