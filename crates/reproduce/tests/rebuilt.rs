//! A reproducer is made of a program, and found again in the same program after it was changed and built again.

mod made;
#[path = "../../symbols/tests/toolchain/mod.rs"]
mod toolchain;

use std::path::Path;

use made::finding;
use toolchain::{Compiler, Event, Recorded, Workshop, line_of};
use unpick_analyses::interleaving_patterns::PatternId;
use unpick_findings::{CodePlace, Finding, HeldLock};
use unpick_reproduce::{Matched, Operand, Plan, Program, Reproducer, Subject};
use unpick_symbols::{Access, ModuleInfo, Symbols};

const BANK: &str = include_str!("programs/bank.c");

struct Built {
    workshop: Workshop,
    recorded: Recorded,
    program: Program,
}

fn built(compiler: Compiler, source: &str, options: &[&str]) -> Built {
    let workshop = Workshop::new();
    workshop.write("bank.c", source);
    let recorded = workshop.instrumented(compiler, "bank.c", options);
    let program = Program::open(&workshop.path("program")).unwrap();
    Built { workshop, recorded, program }
}

impl Built {
    fn executable(&self) -> &ModuleInfo {
        let is_it = |module: &&ModuleInfo| module.path == self.program.path();
        self.recorded.modules.iter().find(is_it).unwrap()
    }

    /// The addresses of the accesses of a kind that were made at a line.
    fn accesses(&self, line: u32, wanted: Access) -> Vec<u64> {
        let (symbols, file) = (self.recorded.symbols(), self.workshop.path("bank.c"));
        let bias = self.executable().bias;
        let sites = self.recorded.events.iter().filter_map(|event| match event {
            Event::Access { access, site, .. } if *access == wanted => Some(*site),
            _ => None,
        });
        let is_there = |site: &u64| {
            let place = symbols.place(*site);
            place.line() == Some(line) && place.file() == file.to_str()
        };
        sites.filter(is_there).map(|site| site - bias).collect()
    }

    /// The first call of a function on a line, by brute force.
    fn call(&self, line: u32, callee: &str) -> u64 {
        let info = ModuleInfo {
            path: self.program.path().to_owned(),
            length: u64::MAX,
            ..ModuleInfo::default()
        };
        let symbols = Symbols::load(&[info]);
        let is_it = |address: &u64| {
            let place = self.program.place(*address);
            symbols.place(*address).line() == Some(line)
                && self.program.callee_at(&place).as_deref() == Some(callee)
        };
        let start = self.executable().start - self.executable().bias;
        (start..start + self.executable().length).find(is_it).unwrap()
    }

    fn code(&self, offset: u64) -> CodePlace {
        let place = self.program.place(offset);
        CodePlace {
            module: Some(self.program.path().to_string_lossy().into_owned()),
            build_id: match &place.module {
                unpick_reproduce::ModuleName::BuildId(id) => Some(id.clone()),
                unpick_reproduce::ModuleName::Path(_) => None,
            },
            offset: format!("{offset:#x}"),
        }
    }

    fn subject(&self) -> Subject {
        Subject {
            program: "./program".to_owned(),
            folder: self.workshop.path(""),
            ..Subject::default()
        }
    }

    /// `look` reads, `put` writes, `put` writes: a lost update, with gates.
    fn lost_update(&self) -> Finding {
        let mut lost = finding(PatternId::P7);
        let read = self.accesses(line_of(BANK, "look"), Access::Read)[0];
        let write = self.accesses(line_of(BANK, "store"), Access::Write)[0];
        for (access, offset) in lost.accesses.iter_mut().zip([read, write, write]) {
            access.code = self.code(offset);
        }
        let helper = self.call(line_of(BANK, "helper"), "pthread_mutex_lock");
        let gate = self.call(line_of(BANK, "gate"), "pthread_mutex_lock");
        lost.accesses[0].locks = vec![HeldLock {
            calls: vec![self.code(self.call(line_of(BANK, "enters"), "enter"))],
            taken_at: made::frame("enter", line_of(BANK, "helper")),
            ..self.lock(helper, 1)
        }];
        lost.accesses[1].locks = vec![self.lock(gate, 1)];
        lost.accesses[2].locks = vec![self.lock(gate, 5)];
        lost
    }

    fn lock(&self, offset: u64, acquisition: u64) -> HeldLock {
        HeldLock { code: Some(self.code(offset)), ..made::lock("lock", 1, acquisition) }
    }

    fn pinned(&self) -> Reproducer {
        let pinned =
            Reproducer::of_finding(&self.lost_update(), &self.subject(), &self.program).unwrap();
        let text = pinned.to_toml();
        assert_eq!(Reproducer::from_toml(&text, "bank.toml").as_ref(), Ok(&pinned), "{text}");
        pinned
    }

    fn matched(&self, reproducer: &Reproducer) -> Matched {
        reproducer.matched(&self.program).unwrap_or_else(|problem| panic!("{problem}"))
    }
}

fn offsets(plan: &Plan) -> Vec<Vec<u64>> {
    let steps = plan.steps.iter().map(|step| [&step.places[..], &step.gates].concat());
    steps.map(|places| places.iter().map(|place| place.at.offset).collect()).collect()
}

/// Several ways to build it; at -O0 a helper is a call of its own.
fn builds() -> Vec<Built> {
    let compilers =
        [Compiler::Gcc, Compiler::Clang].into_iter().filter(|compiler| compiler.is_here());
    compilers.map(|compiler| built(compiler, BANK, &["-O0"])).collect()
}

#[test]
fn in_the_same_build_a_reproducer_means_the_same_places() {
    for built in builds() {
        let plan = Plan::of_finding(&built.lost_update()).unwrap();
        let matched = built.matched(&built.pinned());
        assert_eq!(matched.changes, [""; 0]);
        assert_eq!(matched.plan.steps.len(), 3);
        for (found, step) in matched.plan.steps.iter().zip(&plan.steps) {
            assert_eq!((&found.places, &found.gates), (&step.places, &step.gates));
            assert_eq!((found.role, found.variable), (step.role, step.variable));
            assert_eq!((found.operand, found.bytes), (Operand::First, 4));
        }
        assert_eq!(matched.plan.steps[0].gates[0].calls.len(), 1, "by way of `enter`");
    }
}

/// The program after a change, and what has changed for the reproducer of the old one.
fn after(change: impl Fn(&str) -> String) -> (String, Built, Matched) {
    let old = built(Compiler::Gcc, BANK, &["-O0"]);
    let source = change(BANK);
    let new = built(Compiler::Gcc, &source, &["-O0"]);
    let matched = new.matched(&old.pinned());
    (source, new, matched)
}

fn expected(new: &Built, source: &str) -> Vec<Vec<u64>> {
    let read = new.accesses(line_of(source, "look"), Access::Read)[0];
    let write = new.accesses(line_of(source, "store"), Access::Write)[0];
    let helper = new.call(line_of(source, "helper"), "pthread_mutex_lock");
    let gate = new.call(line_of(source, "gate"), "pthread_mutex_lock");
    vec![vec![read, helper], vec![write, gate], vec![write, gate]]
}

#[test]
fn lines_that_moved_are_found_by_their_text() {
    let (source, new, matched) =
        after(|bank| bank.replace("int balance", "\n\nint other;\nint balance"));
    assert_eq!(offsets(&matched.plan), expected(&new, &source));
    assert!(
        matched.changes.contains(&"step 1: line 12 is now line 15".to_owned()),
        "{:?}",
        matched.changes
    );
}

#[test]
fn spaces_do_not_count_and_the_nearest_of_equal_lines_is_taken() {
    let twin =
        "__attribute__((noinline)) int look(void) {\n    if (limit) return balance; // other\n";
    let change = |bank: &str| {
        bank.replace("    int old = balance;", "\tint  old=balance;")
            .replace("__attribute__((noinline)) int look(void) {\n", twin)
    };
    let (source, new, matched) = after(change);
    assert_eq!(offsets(&matched.plan), expected(&new, &source));
}

#[test]
fn a_function_that_was_renamed_and_a_variable_of_another_type_are_told() {
    let change = |bank: &str| {
        bank.replace("look(void)", "peek(void)")
            .replace("look()", "peek()")
            .replace("int balance, limit;", "long balance; int limit;")
    };
    let (source, new, matched) = after(change);
    assert_eq!(offsets(&matched.plan), expected(&new, &source));
    let changes = matched.changes.join("\n");
    assert!(changes.contains("step 1: it is now in `peek`"), "{changes}");
    assert!(changes.contains("step 2: it now has another length"), "{changes}");
    assert_eq!(matched.plan.steps[1].bytes, 8);
}

#[test]
fn at_another_level_inlined_code_is_found_as_well() {
    for compiler in
        [Compiler::Gcc, Compiler::Clang].into_iter().filter(|compiler| compiler.is_here())
    {
        let old = built(compiler, BANK, &["-O0"]);
        let new = built(compiler, BANK, &["-O2"]);
        let matched = new.matched(&old.pinned());
        let expected = new.accesses(line_of(BANK, "store"), Access::Write)[0];
        assert_eq!(matched.plan.steps[1].places[0].at.offset, expected);
        let gate = &matched.plan.steps[0].gates[0];
        assert_eq!(gate.at.offset, new.call(line_of(BANK, "helper"), "pthread_mutex_lock"));
        assert!(gate.calls.is_empty(), "the helper is part of `look` now");
        let back = built(compiler, BANK, &["-O0"]);
        let read = back.accesses(line_of(BANK, "look"), Access::Read)[0];
        assert_eq!(back.matched(&old.pinned()).plan.steps[0].places[0].at.offset, read);
    }
}

#[test]
fn two_accesses_on_one_line_are_told_apart() {
    for built in builds() {
        let reads = built.accesses(line_of(BANK, "both"), Access::Read);
        let [first, second] = reads[..] else { panic!("{reads:?}") };
        for wanted in [first, second] {
            let mut pair = finding(PatternId::P1);
            pair.accesses[0].code = built.code(wanted);
            pair.accesses[1].code =
                built.code(built.accesses(line_of(BANK, "store"), Access::Write)[0]);
            let pinned = Reproducer::of_finding(&pair, &built.subject(), &built.program).unwrap();
            let matched = built.matched(&pinned);
            assert_eq!(offsets(&matched.plan)[0], [wanted], "{}", pinned.to_toml());
            let mut vague = pinned.clone();
            let at = &mut vague.steps[0].at;
            (at.column, at.occurrence, at.occurrences) = (None, None, None);
            let matched = built.matched(&vague);
            assert_eq!(offsets(&matched.plan)[0], [first, second]);
            assert_eq!(matched.changes, ["step 1: 2 calls there are alike: all are used"]);
        }
    }
}

#[test]
fn a_step_that_is_gone_is_told_with_what_is_there_now() {
    let old = built(Compiler::Gcc, BANK, &["-O0"]);
    let source = BANK.replace("balance = value; // store", "balance += 2 * value; // store");
    let new = built(Compiler::Gcc, &source, &["-O0"]);
    let problem = old.pinned().matched(&new.program).unwrap_err().to_string();
    assert!(problem.contains("step 2 of a reproducer is not in the program any more"), "{problem}");
    assert!(problem.contains("`balance = value; // store`"), "{problem}");
    assert!(problem.contains("line 18: `balance += 2 * value; // store`"), "{problem}");
}

#[test]
fn a_gate_that_is_gone_is_only_told() {
    let (_, _, matched) =
        after(|bank| bank.replace("pthread_mutex_lock(&lock); // gate", "// gate"));
    assert!(matched.plan.steps[1].gates.is_empty());
    assert_eq!(matched.plan.steps[0].gates.len(), 1);
    let changes = matched.changes.join("\n");
    assert!(changes.contains("gate of step 2: it is not there any more"), "{changes}");
}

#[test]
fn a_program_without_hooks_is_told_so() {
    let old = built(Compiler::Gcc, BANK, &["-O0"]);
    old.workshop.compile(Compiler::Gcc, &["-g", "-O0", "bank.c", "-o", "plain"]);
    let plain = Program::open(&old.workshop.path("plain")).unwrap();
    let problem = old.pinned().matched(&plain).unwrap_err().to_string();
    assert!(problem.contains("no hooks at all"), "{problem}");
}

#[test]
fn another_build_cannot_be_pinned() {
    let old = built(Compiler::Gcc, BANK, &["-O0"]);
    let new = built(Compiler::Gcc, &BANK.replace("+ 1", "+ 2"), &["-O0"]);
    let problem =
        Reproducer::of_finding(&old.lost_update(), &old.subject(), &new.program).unwrap_err();
    assert!(problem.to_string().contains("not in the program as it is now"), "{problem}");
}

#[test]
fn a_reproducer_is_for_programs_of_its_name() {
    let pinned = built(Compiler::Gcc, BANK, &["-O0"]).pinned();
    assert!(pinned.check_program(Path::new("/elsewhere/program")).is_ok());
    assert!(pinned.check_program(Path::new("deps/program-0123456789abcdef")).is_ok());
    assert!(pinned.check_program(Path::new("deps/program-two")).is_err());
    let problem = pinned.check_program(Path::new("/elsewhere/shop")).unwrap_err().to_string();
    assert!(problem.contains("for another program: ./program"), "{problem}");
}

#[test]
fn the_program_tells_which_argument_of_a_library_call_is_the_address() {
    let source = BANK.replace(
        "int main(void) {",
        "#include <sys/socket.h>\nint from, to;\nint main(void) {\n    send(-1, &from, 4, 0); // sends\n    recv(-1, &to, 4, 0); // receives",
    );
    let built = built(Compiler::Gcc, &source, &["-O0"]);
    let sends = built.call(line_of(&source, "sends"), "send");
    let receives = built.call(line_of(&source, "receives"), "recv");
    let mut pair = finding(PatternId::P1);
    pair.accesses[0].code = built.code(sends);
    pair.accesses[1].code = built.code(receives);
    let plan = Plan::of_finding(&pair).unwrap().completed(&built.program);
    let operands: Vec<Operand> = plan.steps.iter().map(|step| step.operand).collect();
    assert_eq!(operands, [Operand::Second, Operand::Second]);
    let pinned = Reproducer::of_finding(&pair, &built.subject(), &built.program).unwrap();
    assert_eq!(offsets(&built.matched(&pinned).plan), [[sends], [receives]]);
}

#[test]
fn libraries_of_a_finding_are_read_if_they_are_of_its_build() {
    let built = built(Compiler::Gcc, BANK, &["-O0"]);
    built.workshop.compile(Compiler::Gcc, &["-g", "bank.c", "-o", "other"]);
    let other = || Program::open(&built.workshop.path("other")).unwrap();
    let lost = built.lost_update();
    let subject = built.subject();
    assert!(Reproducer::of_finding(&lost, &subject, &other()).is_err());
    let with_library = other().with_libraries_of(&lost.accesses, &subject.folder);
    let pinned = Reproducer::of_finding(&lost, &subject, &with_library).unwrap();
    assert_eq!(pinned.steps[0].at.module.as_deref(), Some("program"));
    let matched = pinned.matched(&with_library).unwrap();
    assert_eq!(matched.plan.steps[0].places, Plan::of_finding(&lost).unwrap().steps[0].places);
    let problem = pinned.matched(&other()).unwrap_err().to_string();
    assert!(problem.contains("there is no library `program`"), "{problem}");
}
