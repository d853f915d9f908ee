//! The inverse that keeps whole functions apart finds where they begin and end, in real programs.

mod made;
#[path = "../../symbols/tests/toolchain/mod.rs"]
mod toolchain;

use made::finding;
use toolchain::{Compiler, Event, Recorded, Workshop, line_of};
use unpick_analyses::interleaving_patterns::PatternId;
use unpick_findings::CodePlace;
use unpick_reproduce::{Mode, ModuleName, Plan, PlanPlace, Program, Purpose};

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

struct Built {
    workshop: Workshop,
    recorded: Recorded,
    program: Program,
}

fn built(compiler: Compiler) -> Built {
    let workshop = Workshop::new();
    workshop.write("walk.c", WALK);
    let recorded = workshop.instrumented(compiler, "walk.c", &["-O1"]);
    let program = Program::open(&workshop.path("program")).unwrap();
    Built { workshop, recorded, program }
}

impl Built {
    /// A place where a line writes.
    fn write_at(&self, mark: &str) -> u64 {
        let (symbols, file) = (self.recorded.symbols(), self.workshop.path("walk.c"));
        let is_it = |module: &&unpick_symbols::ModuleInfo| module.path == self.program.path();
        let bias = self.recorded.modules.iter().find(is_it).unwrap().bias;
        let mut sites = self.recorded.events.iter().filter_map(|event| match event {
            Event::Access { access: unpick_symbols::Access::Write, site, .. } => Some(*site),
            _ => None,
        });
        let line = line_of(WALK, mark);
        let is_there = |site: &u64| {
            let place = symbols.place(*site);
            place.line() == Some(line) && place.file() == file.to_str()
        };
        sites.find(is_there).unwrap() - bias
    }

    fn plan(&self, pattern: PatternId, marks: &[&str]) -> Plan {
        let mut finding = finding(pattern);
        for (access, mark) in finding.accesses.iter_mut().zip(marks) {
            let place = self.program.place(self.write_at(mark));
            let ModuleName::BuildId(build_id) = place.module else { panic!("no build id") };
            access.code = CodePlace {
                module: None,
                build_id: Some(build_id),
                offset: format!("{:#x}", place.offset),
            };
        }
        Plan::of_finding(&finding).unwrap()
    }

    fn callees(&self, places: &[PlanPlace]) -> Vec<String> {
        places.iter().map(|place| self.program.callee_at(&place.at).unwrap()).collect()
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
