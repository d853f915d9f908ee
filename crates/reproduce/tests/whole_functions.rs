//! The inverse that keeps whole functions apart finds where they begin and end, in real programs.

mod built;
mod made;
#[path = "../../symbols/tests/toolchain/mod.rs"]
mod toolchain;

use built::Built;
use toolchain::Compiler;
use unpick_analyses::interleaving_patterns::PatternId;
use unpick_reproduce::{Mode, Plan, PlanPlace, Purpose};

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
        let inverses = plan.whole_inverses(&built.program);
        let [inverse] = &inverses[..] else { panic!("one role has two steps") };
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
    assert_eq!(pair.whole_inverses(&built.program), []);
    let apart = built.plan(PatternId::P8, &["begins", "adds", "changes"]);
    assert_eq!(apart.whole_inverses(&built.program), []);
}

/// Writes of variables that nobody else writes: those are recorded. What the first function does is inlined.
const INLINED: &str = r#"
int x, y, u, v, before, after;

__attribute__((noinline)) int next(int value) {
    __asm__ volatile("" : "+r"(value));
    return value + 1;
}

static inline __attribute__((always_inline)) void both(int value) {
    x = next(value); // sets x
    y = next(value); // sets y
}

__attribute__((noinline)) void loops(int rounds) {
    for (int at = 0; at < rounds; at++) {
        before = next(at); // goes round
        both(at);
        after = next(at); // goes on
    }
}

__attribute__((noinline)) void others(void) {
    u = 1; // sets u
    v = 1; // sets v
}

int main(void) {
    loops(3);
    others();
    return y != 3;
}
"#;

#[test]
fn an_inlined_function_begins_at_its_first_call_and_ends_at_the_first_one_outside() {
    for compiler in [Compiler::Gcc, Compiler::Clang].into_iter().filter(|one| one.is_here()) {
        let built = Built::of(compiler, "inlined.c", INLINED);
        let plan = built.plan(PatternId::P8, &["sets x", "sets u", "sets y"]);
        let inverses = plan.whole_inverses(&built.program);
        let [inverse] = &inverses[..] else { panic!("one role has two steps") };
        let [first, _, last] = &inverse.steps[..] else { panic!("three steps") };
        let offsets = |places: &[PlanPlace]| -> Vec<u64> {
            places.iter().map(|place| place.at.offset).collect()
        };
        let gates = offsets(&first.gates);
        assert!(gates.len() == 1 && gates[0] <= built.write_at("sets x"), "{compiler:?}");
        assert!(gates[0] > built.write_at("goes round"), "the loop around it goes on");
        let exits = offsets(&last.exits);
        assert!(exits.contains(&built.write_at("goes round")), "{compiler:?}: the next round");
        assert!(exits.contains(&built.write_at("goes on")), "{compiler:?}: the same round");
        assert!(!exits.contains(&built.write_at("sets y")), "it is part of the function");
    }
}

#[test]
fn where_both_threads_have_whole_functions_each_is_also_kept_by_itself() {
    let built = Built::of(Compiler::Gcc, "inlined.c", INLINED);
    let mut marks = [vec!["sets y", "sets x"], vec!["sets v", "sets u"]];
    let steps = PatternId::P10.steps().iter();
    let marks: Vec<&str> =
        steps.filter_map(|step| marks[usize::from(step.role) - 1].pop()).collect();
    let plan = built.plan(PatternId::P10, &marks);
    let exits = |plan: &Plan| -> Vec<bool> {
        plan.steps.iter().map(|step| !step.exits.is_empty()).collect()
    };
    let inverses = plan.whole_inverses(&built.program);
    let shapes: Vec<Vec<bool>> = inverses.iter().map(exits).collect();
    assert_eq!(shapes.len(), 3, "both, then one or the other: {shapes:?}");
    assert_eq!(shapes[0].iter().filter(|has| **has).count(), 2);
    assert!(shapes[1..].iter().all(|shape| shape.iter().filter(|has| **has).count() == 1));
    assert_ne!(shapes[1], shapes[2]);
}
