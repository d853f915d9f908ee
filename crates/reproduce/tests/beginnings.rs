//! Where no lock is known a thread can wait where the function of its step begins, inlined or not, or where its own code does. In real
//! programs.

mod built;
mod made;
#[path = "../../symbols/tests/toolchain/mod.rs"]
mod toolchain;

use built::Built;
use toolchain::Compiler;
use unpick_analyses::interleaving_patterns::PatternId;
use unpick_findings::Finding;
use unpick_reproduce::{Plan, PlanStep};

/// A lock that nobody knows as one.
const FLAG: &str = r"
int x, flag;

__attribute__((noinline)) void take(void) {
    while (__atomic_exchange_n(&flag, 1, __ATOMIC_ACQUIRE)) continue;
}

__attribute__((noinline)) void give(void) {
    __atomic_store_n(&flag, 0, __ATOMIC_RELEASE);
}

static inline __attribute__((always_inline)) void set(int value) {
    take();
    x = value; // sets
    give();
}

__attribute__((noinline)) void reset(void) {
    take();
    x = 0; // resets
    give();
}

__attribute__((noinline)) void change(void) {
    x = 1; // begins
    reset();
    set(2);
    x = 3; // ends
}

__attribute__((noinline)) void other(void) {
    take();
    x = 5; // others
    give();
}

int main(void) {
    change();
    other();
    return x != 5;
}
";

fn built(compiler: Compiler) -> Built {
    Built::of(compiler, "flag.c", FLAG)
}

impl Built {
    /// Two writes of one thread, and one of another in between.
    fn torn(&self, marks: [&str; 3]) -> Finding {
        self.finding(PatternId::P8, &marks)
    }

    fn early(&self, marks: [&str; 3]) -> Option<Plan> {
        Plan::of_finding(&self.torn(marks)).unwrap().with_early_gates(&self.program)
    }

    fn gates(&self, step: &PlanStep) -> Vec<String> {
        self.callees(&step.gates)
    }
}

#[test]
fn a_gate_is_where_the_function_of_a_step_begins_also_if_it_is_inlined() {
    for compiler in [Compiler::Gcc, Compiler::Clang].into_iter().filter(|one| one.is_here()) {
        let built = built(compiler);
        let plan = built.early(["resets", "others", "sets"]).unwrap();
        assert!(plan.early);
        let gates: Vec<_> = plan.steps.iter().map(|step| built.gates(step)).collect();
        let entry = ["__tsan_func_entry".to_owned()];
        assert_eq!(gates[..2], [entry.to_vec(), entry.to_vec()], "{compiler:?}");
        assert_eq!(gates[2], ["take"], "{compiler:?}: the first call of `set`");
        plan.to_words().unwrap();
    }
}

#[test]
fn a_function_that_has_made_the_step_before_does_not_begin_again() {
    let built = built(Compiler::Gcc);
    let plan = built.early(["begins", "others", "sets"]).unwrap();
    assert_eq!(built.gates(&plan.steps[2]), ["take"], "`change` has begun, `set` has not");
    let plan = built.early(["begins", "others", "ends"]).unwrap();
    assert!(plan.steps[2].gates.is_empty(), "both are in `change` itself");
}

#[test]
fn gates_that_are_known_stay() {
    let built = built(Compiler::Gcc);
    let early = built.early(["resets", "others", "sets"]).unwrap();
    assert_eq!(early.with_early_gates(&built.program), None);
}

#[test]
fn gates_can_be_moved_to_where_functions_begin() {
    let built = built(Compiler::Gcc);
    let early = built.early(["resets", "others", "sets"]).unwrap();
    let mut at_lock = early.clone();
    at_lock.steps[2].gates = at_lock.steps[2].places.clone();
    let moved = at_lock.with_gates_before_locks(&built.program).unwrap();
    assert_eq!(moved.steps[2].gates, early.steps[2].gates);
    assert_eq!(early.with_gates_before_locks(&built.program), None, "they are there already");
}

#[test]
fn who_comes_in_later_can_be_held_where_its_own_code_begins() {
    let built = built(Compiler::Gcc);
    let mut finding = built.torn(["others", "resets", "others"]);
    let held_back = |finding: &Finding| {
        Plan::of_finding(finding).unwrap().held_back(&built.program).map(|plan| plan.steps)
    };
    let steps = held_back(&finding).unwrap();
    assert_eq!(built.gates(&steps[1]), ["__tsan_func_entry"], "no calls are known");
    assert!(steps[0].gates.is_empty() && steps[2].gates.is_empty(), "the first has begun");
    finding.accesses[1].calls = vec![built.code_at("ends")];
    let by_call = held_back(&finding).unwrap();
    assert_eq!(built.gates(&by_call[1]), ["__tsan_func_entry"]);
    assert_ne!(by_call[1].gates, steps[1].gates, "that of `change`, which called it");
    finding.accesses[2].calls = vec![built.code_at("ends")];
    assert_eq!(
        held_back(&finding),
        None,
        "both threads begin with `change`, by what is known of `other`"
    );
}
