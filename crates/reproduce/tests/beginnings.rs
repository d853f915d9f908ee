//! Where no lock is known a thread can wait where the function of its step begins, inlined or not, or where its own code does. In real
//! programs.

mod made;
#[path = "../../symbols/tests/toolchain/mod.rs"]
mod toolchain;

use made::finding;
use toolchain::{Compiler, Event, Recorded, Workshop, line_of};
use unpick_analyses::interleaving_patterns::PatternId;
use unpick_findings::{CodePlace, Finding};
use unpick_reproduce::{ModuleName, Plan, PlanStep, Program};

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

struct Built {
    workshop: Workshop,
    recorded: Recorded,
    program: Program,
}

fn built(compiler: Compiler) -> Built {
    let workshop = Workshop::new();
    workshop.write("flag.c", FLAG);
    let recorded = workshop.instrumented(compiler, "flag.c", &["-O1"]);
    let program = Program::open(&workshop.path("program")).unwrap();
    Built { workshop, recorded, program }
}

impl Built {
    /// The place where a line writes.
    fn code_at(&self, mark: &str) -> CodePlace {
        let (symbols, file) = (self.recorded.symbols(), self.workshop.path("flag.c"));
        let is_it = |module: &&unpick_symbols::ModuleInfo| module.path == self.program.path();
        let bias = self.recorded.modules.iter().find(is_it).unwrap().bias;
        let mut sites = self.recorded.events.iter().filter_map(|event| match event {
            Event::Access { access: unpick_symbols::Access::Write, site, .. } => Some(*site),
            _ => None,
        });
        let line = line_of(FLAG, mark);
        let is_there = |site: &u64| {
            let place = symbols.place(*site);
            place.line() == Some(line) && place.file() == file.to_str()
        };
        let place = self.program.place(sites.find(is_there).unwrap() - bias);
        let ModuleName::BuildId(build_id) = place.module else { panic!("no build id") };
        CodePlace { module: None, build_id: Some(build_id), offset: format!("{:#x}", place.offset) }
    }

    /// Two writes of one thread, and one of another in between.
    fn finding(&self, marks: [&str; 3]) -> Finding {
        let mut finding = finding(PatternId::P8);
        for (access, mark) in finding.accesses.iter_mut().zip(marks) {
            access.code = self.code_at(mark);
        }
        finding
    }

    fn early(&self, marks: [&str; 3]) -> Option<Plan> {
        Plan::of_finding(&self.finding(marks)).unwrap().with_early_gates(&self.program)
    }

    fn gates(&self, step: &PlanStep) -> Vec<String> {
        step.gates.iter().map(|place| self.program.callee_at(&place.at).unwrap()).collect()
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
fn who_comes_in_later_can_be_held_where_its_own_code_begins() {
    let built = built(Compiler::Gcc);
    let mut finding = built.finding(["others", "resets", "others"]);
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
