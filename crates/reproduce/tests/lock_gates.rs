//! A lock that a library takes: pinned where the user calls it, and found again with the lock in front, so that the variable is known.

mod made;
#[path = "../../symbols/tests/toolchain/mod.rs"]
mod toolchain;

use std::ops::Range;

use made::finding;
use toolchain::{Compiler, Workshop};
use unpick_analyses::interleaving_patterns::PatternId;
use unpick_findings::{CodePlace, Finding, Frame, HeldLock};
use unpick_reproduce::{CallPlace, ModuleName, Plan, PlanPlace, Program, Reproducer, Subject};

const CPP: &str = "
#include <mutex>
struct Account { std::mutex lock; long balance; };
Account account;
void put(long value) {
    std::lock_guard<std::mutex> guard(account.lock);
    account.balance = value;
}
long look() { return account.balance; }
int main() { put(1); return look() == 1 ? 0 : 1; }
";

const RUST: &str = "
use std::sync::Mutex;
pub struct Account { lock: Mutex<u8>, balance: std::cell::UnsafeCell<u64> }
unsafe impl Sync for Account {}
pub static ACCOUNT: Account =
    Account { lock: Mutex::new(0), balance: std::cell::UnsafeCell::new(0) };
#[inline(never)]
pub fn put(value: u64) {
    let guard = ACCOUNT.lock.lock().unwrap();
    unsafe { *ACCOUNT.balance.get() = value };
    drop(guard);
}
#[inline(never)]
pub fn look() -> u64 { unsafe { *ACCOUNT.balance.get() } }
fn main() { put(1); assert_eq!(look(), 1); }
";

struct Built {
    workshop: Workshop,
    program: Program,
    /// What `nm` says of its functions: where each begins and ends, and what it is called.
    functions: Vec<(Range<u64>, String)>,
}

fn built(compiler: Compiler, source: &str, options: &[&str]) -> Built {
    let workshop = Workshop::new();
    let name = if compiler == Compiler::Rustc { "bank.rs" } else { "bank.cc" };
    workshop.write(name, source);
    workshop.instrumented(compiler, name, options);
    let program = Program::open(&workshop.path("program")).unwrap();
    let listed = workshop.run("nm", &["-S", "-C", "program"]);
    Built { program, functions: listed.lines().filter_map(function).collect(), workshop }
}

/// `0000000000001139 000000000000001b T put(long)`.
fn function(line: &str) -> Option<(Range<u64>, String)> {
    let mut words = line.splitn(4, ' ');
    let mut number = || u64::from_str_radix(words.next()?, 16).ok();
    let (start, size) = (number()?, number()?);
    Some((start..start + size + 1, words.nth(1)?.to_owned()))
}

impl Built {
    /// The first call of what is called so, in a function that is called so.
    fn call(&self, function: &str, callee: &str) -> u64 {
        let is_call = |address: &u64| {
            let called = self.program.callee_at(&self.program.place(*address));
            called.is_some_and(|name| name.contains(callee))
        };
        let ranges = self.functions.iter().filter(|(_, name)| name.contains(function));
        let found = ranges.flat_map(|(range, _)| range.clone()).find(is_call);
        found.unwrap_or_else(|| panic!("{function} does not call {callee}"))
    }

    fn code(&self, offset: u64) -> CodePlace {
        let ModuleName::BuildId(id) = self.program.place(offset).module else {
            panic!("it has a build id")
        };
        CodePlace { module: None, build_id: Some(id), offset: format!("{offset:#x}") }
    }

    /// A read without a lock, then a write under one that was taken by these calls, innermost first.
    fn pair(&self, way_to_lock: &[u64]) -> Finding {
        let mut pair = finding(PatternId::P1);
        pair.accesses[0].code = self.code(self.call("look", "__tsan_read"));
        pair.accesses[1].code = self.code(self.call("put", "__tsan_write"));
        let calls: Vec<CodePlace> = way_to_lock.iter().map(|call| self.code(*call)).collect();
        pair.accesses[1].locks = vec![HeldLock {
            code: Some(calls[0].clone()),
            calls: calls[1..].to_vec(),
            shown_call: calls.len().checked_sub(2),
            taken_at: Frame::default(),
            distance: Some(40),
            ..made::lock("lock", 1, 1)
        }];
        pair
    }

    /// What the pair forces, and what its reproducer does.
    fn plans(&self, way_to_lock: &[u64]) -> (Plan, Plan) {
        let pair = self.pair(way_to_lock);
        let subject = Subject {
            program: "./program".to_owned(),
            folder: self.workshop.path(""),
            ..Subject::default()
        };
        let pinned = Reproducer::of_finding(&pair, &subject, &self.program).unwrap();
        let pinned = Reproducer::from_toml(&pinned.to_toml(), "pair.toml").unwrap();
        let found = Plan::of_finding(&pair).unwrap().completed(&self.program);
        let matched = pinned.matched(&self.program).unwrap();
        assert_eq!(matched.changes, [""; 0], "{}", pinned.to_toml());
        (found, matched.plan)
    }

    fn place(&self, offset: u64) -> CallPlace {
        self.program.place(offset)
    }
}

#[test]
fn a_guard_of_cpp_is_pinned_with_its_mutex() {
    let built = built(Compiler::Gxx, CPP, &["-O0"]);
    let user = built.call("put", "lock_guard");
    let guard = built.call("lock_guard", "std::mutex::lock");
    let mutex = built.call("std::mutex::lock", "__gthread_mutex_lock");
    let system = built.call("__gthread_mutex_lock", "pthread_mutex_lock");
    let (_, pinned) = built.plans(&[system, mutex, guard, user]);
    let gates = &pinned.steps[1].gates;
    assert_eq!(gates.len(), 1, "{gates:?}");
    // Both have the mutex in front.
    let calls = [guard, user].map(|call| built.place(call));
    assert_eq!((&gates[0].at, &gates[0].calls[..]), (&built.place(mutex), &calls[..]));
    assert_eq!(gates[0].distance, Some(40));
}

/// Without optimisation the user calls the lock, with it there is nothing left to call.
#[test]
fn a_mutex_of_rust_is_pinned_as_it_is_forced() {
    for (level, is_called) in [("-Copt-level=0", true), ("-Copt-level=1", false)] {
        let built = built(Compiler::Rustc, RUST, &[level]);
        let way = match is_called {
            true => vec![
                built.call("Mutex<u8>>::lock", "lock_contended"),
                built.call("bank::put", "Mutex<u8>::lock"),
            ],
            false => vec![built.call("bank::put", "__tsan_atomic32_compare_exchange")],
        };
        let (found, pinned) = built.plans(&way);
        let gates = |plan: &Plan| {
            let mut gates = plan.steps[1].gates.clone();
            gates.sort_by_key(|gate| gate.at.offset);
            gates
        };
        assert_eq!(gates(&found), gates(&pinned), "{level}");
        let calls: Vec<CallPlace> = way[1..].iter().map(|call| built.place(*call)).collect();
        let is_forced = |gate: &PlanPlace| {
            (&gate.at, &gate.calls, gate.distance) == (&built.place(way[0]), &calls, Some(40))
        };
        assert!(gates(&pinned).iter().any(is_forced), "{level}: {pinned:?}");
    }
}
