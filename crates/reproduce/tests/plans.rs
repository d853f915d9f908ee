//! From findings and deadlocks to plans, and to the words of the runtime.

mod made;

use made::{code, deed, finding, frame, hang, lock, lost_notification, waiting};
use unpick_analyses::interleaving_patterns::PatternId;
use unpick_events::schedule::{self, header, place};
use unpick_findings::{
    AccessOrder, CodePlace, Finding, LostDeed, LostStep, LostVariable, TORN_AT_FIRST,
    TORN_AT_SECOND,
};
use unpick_reproduce::{Mode, Operand, Plan, PlanPlace, Purpose};

const NO_CALLS: [u64; 0] = [];

fn plan_of(finding: &Finding) -> Plan {
    Plan::of_finding(finding).unwrap()
}

fn offsets(places: &[PlanPlace]) -> Vec<u64> {
    places.iter().map(|place| place.at.offset).collect()
}

fn calls(place: &PlanPlace) -> Vec<u64> {
    place.calls.iter().map(|call| call.offset).collect()
}

#[test]
fn every_pattern_is_a_plan_with_its_roles_variables_and_places() {
    for pattern in PatternId::all() {
        let plan = plan_of(&finding(pattern));
        assert_eq!((plan.mode, plan.bound, plan.ignored), (Mode::Force, 0, 0));
        assert_eq!(plan.steps.len(), pattern.steps().len(), "{}", pattern.name());
        for (at, (step, of_pattern)) in plan.steps.iter().zip(pattern.steps()).enumerate() {
            assert_eq!(step.role, of_pattern.role);
            assert_eq!(step.variable, Some(of_pattern.variable as u8));
            assert_eq!(offsets(&step.places), [(at as u64 + 1) * 10]);
            assert_eq!(
                (step.purpose, step.operand, step.bytes),
                (Purpose::Step, Operand::First, 4)
            );
            assert!(step.gates.is_empty());
        }
        let inverse = plan.inverse().mode;
        let is_pair = pattern.steps().len() == 2;
        assert_eq!(inverse, if is_pair { Mode::Reverse } else { Mode::Serialise });
    }
}

#[test]
fn a_torn_unit_is_a_plan_of_two_variables_whatever_is_read_or_written() {
    for (pattern, variables) in [(TORN_AT_FIRST, [0, 0, 1]), (TORN_AT_SECOND, [0, 1, 1])] {
        for of in [PatternId::P4, PatternId::P6, PatternId::P8] {
            let accesses = finding(of).accesses;
            let order =
                AccessOrder { pattern: pattern.to_owned(), sentence: String::new(), accesses };
            let plan = Plan::of_order(&order).unwrap();
            let told: Vec<_> =
                plan.steps.iter().map(|step| (step.role, step.variable.unwrap())).collect();
            assert_eq!(told, [(1, variables[0]), (2, variables[1]), (1, variables[2])]);
            assert_eq!(plan.inverse().mode, Mode::Serialise);
        }
    }
    let mut other_role = finding(PatternId::P4);
    other_role.pattern = TORN_AT_FIRST.to_owned();
    other_role.accesses[1].role = 1;
    assert!(Plan::of_finding(&other_role).is_err());
}

#[test]
fn a_finding_that_is_not_what_it_says_is_refused() {
    let mut other_role = finding(PatternId::P7);
    other_role.accesses[1].role = 1;
    let mut other_kind = finding(PatternId::P7);
    other_kind.pattern = "P4".to_owned();
    let mut other_length = finding(PatternId::P1);
    other_length.pattern = "P4".to_owned();
    let mut no_pattern = finding(PatternId::P1);
    no_pattern.pattern = "P33".to_owned();
    for strange in [other_role, other_kind, other_length, no_pattern] {
        let problem = Plan::of_finding(&strange).unwrap_err().to_string();
        assert!(problem.contains("not what it says"), "{problem}");
    }
}

#[test]
fn code_that_is_in_no_module_is_refused() {
    for strange in [
        CodePlace { module: None, build_id: None, ..code(1) },
        CodePlace { offset: "10".to_owned(), ..code(1) },
        CodePlace { offset: "0xfffffffffffffffff".to_owned(), ..code(1) },
    ] {
        let mut unknown = finding(PatternId::P1);
        unknown.accesses[1].code = strange;
        let problem = Plan::of_finding(&unknown).unwrap_err().to_string();
        assert!(problem.contains("where the code is, is not known"), "{problem}");
        assert!(problem.contains("write of `x` in `work` at bank.c:20"), "{problem}");
    }
}

#[test]
fn a_thread_waits_before_the_outermost_lock_that_it_took_since_its_last_access() {
    let mut lost = finding(PatternId::P7);
    lost.accesses[0].locks = vec![lock("all", 1, 5), lock("account", 9, 6)];
    lost.accesses[1].locks = vec![lock("account", 19, 3)];
    lost.accesses[2].locks = vec![lock("all", 1, 5), lock("account", 29, 8), lock("log", 30, 9)];
    let plan = plan_of(&lost);
    let gates: Vec<_> = plan.steps.iter().map(|step| offsets(&step.gates)).collect();
    assert_eq!(gates, [[1], [19], [29]], "`all` is kept from access 1 to 3");
}

#[test]
fn a_lock_that_is_kept_between_two_accesses_is_no_gate_for_the_second() {
    let mut kept = finding(PatternId::P7);
    kept.accesses[0].locks = vec![lock("account", 9, 6)];
    kept.accesses[2].locks = vec![lock("account", 9, 6)];
    assert!(plan_of(&kept).steps[2].gates.is_empty());
    kept.accesses[2].locks[0].acquisition = None;
    assert!(plan_of(&kept).steps[2].gates.is_empty(), "not known: it may be kept");
    kept.accesses[2].locks[0].acquisition = Some(8);
    assert_eq!(offsets(&plan_of(&kept).steps[2].gates), [9], "taken again at the same place");
}

#[test]
fn a_lock_of_an_earlier_build_that_does_not_tell_its_place_is_no_gate() {
    let mut old = finding(PatternId::P1);
    old.accesses[1].locks = vec![lock("account", 9, 6)];
    old.accesses[1].locks[0].code = None;
    assert!(plan_of(&old).steps[1].gates.is_empty());
}

#[test]
fn a_function_that_takes_locks_for_others_is_known_by_its_calls() {
    let mut helped = finding(PatternId::P1);
    let access = &mut helped.accesses[1];
    access.calls = vec![code(0x50), code(0x60)];
    access.locks = vec![lock("account", 9, 6)];
    let with_calls = |calls: &[u64]| {
        let mut helped = helped.clone();
        helped.accesses[1].locks[0].calls = calls.iter().map(|&at| code(at)).collect();
        calls_of_gate(&helped)
    };
    assert_eq!(with_calls(&[0x50, 0x60]), NO_CALLS, "in the same function");
    assert_eq!(with_calls(&[0x60]), NO_CALLS, "in its caller");
    assert_eq!(with_calls(&[0x21, 0x50, 0x60]), [0x21], "in a helper");
    assert_eq!(with_calls(&[0x22, 0x21, 0x50]), [0x22, 0x21], "whose outermost call is lost");
    assert_eq!(with_calls(&[0x91, 0x92]), [0x91, 0x92], "nothing in common");
}

fn calls_of_gate(finding: &Finding) -> Vec<u64> {
    calls(&plan_of(finding).steps[1].gates[0])
}

#[test]
fn where_the_calls_of_an_access_are_not_known_another_function_is_a_helper() {
    let mut helped = finding(PatternId::P1);
    helped.accesses[1].locks = vec![lock("account", 9, 6)];
    helped.accesses[1].locks[0].calls = vec![code(0x21), code(0x50)];
    assert_eq!(calls_of_gate(&helped), NO_CALLS);
    helped.accesses[1].locks[0].taken_at = frame("enter", 9);
    assert_eq!(calls_of_gate(&helped), [0x21]);
}

#[test]
fn inside_a_library_of_the_language_the_calls_up_to_the_users_own_count() {
    let mut inside = finding(PatternId::P1);
    inside.accesses[0].calls = vec![code(0x71), code(0x72), code(0x73)];
    inside.accesses[0].shown_call = Some(1);
    assert_eq!(calls(&plan_of(&inside).steps[0].places[0]), [0x71, 0x72]);
}

#[test]
fn a_lock_of_a_library_is_waited_for_where_the_user_calls_it() {
    let mut inside = finding(PatternId::P1);
    inside.accesses[1].calls = vec![code(0x50)];
    inside.accesses[1].locks = vec![lock("account", 9, 6)];
    let taken = &mut inside.accesses[1].locks[0];
    (taken.calls, taken.shown_call) = (vec![code(0x19), code(0x50)], Some(0));
    let gate = &plan_of(&inside).steps[1].gates[0];
    assert_eq!((gate.at.offset, calls(gate)), (0x19, vec![]), "before both ways into the lock");
    let taken = &mut inside.accesses[1].locks[0];
    taken.calls = vec![code(0x19), code(0x21), code(0x50)];
    let gate = &plan_of(&inside).steps[1].gates[0];
    assert_eq!((gate.at.offset, calls(gate)), (0x19, vec![0x21]), "in a helper of the user's");
    let taken = &mut inside.accesses[1].locks[0];
    taken.shown_call = Some(7);
    assert!(plan_of(&inside).steps[1].gates.is_empty(), "nonsense in the file");
}

#[test]
fn where_the_lock_tells_the_object_the_gate_is_inside_the_library() {
    let mut inside = finding(PatternId::P1);
    inside.accesses[1].calls = vec![code(0x50)];
    inside.accesses[1].locks = vec![lock("account", 9, 6)];
    let taken = &mut inside.accesses[1].locks[0];
    (taken.calls, taken.shown_call) = (vec![code(0x19), code(0x50)], Some(0));
    taken.distance = Some(8);
    let gate = &plan_of(&inside).steps[1].gates[0];
    assert_eq!((gate.at.offset, calls(gate), gate.distance), (9, vec![0x19], Some(8)));
}

#[test]
fn an_access_in_a_helper_of_what_both_are_part_of_is_known_by_its_call() {
    let deposit = [0x50, 0x60];
    let places = |first: &[u64], last: &[u64]| {
        let mut lost = finding(PatternId::P7);
        lost.accesses[0].calls = first.iter().map(|&at| code(at)).collect();
        lost.accesses[2].calls = last.iter().map(|&at| code(at)).collect();
        let plan = plan_of(&lost);
        [0, 2].map(|step: usize| calls(&plan.steps[step].places[0]))
    };
    assert_eq!(places(&[0x21, 0x50, 0x60], &deposit), [vec![0x21], vec![]], "look() of deposit()");
    assert_eq!(
        places(&[0x21, 0x50, 0x60], &[0x22, 0x50, 0x60]),
        [vec![0x21], vec![0x22]],
        "and put()"
    );
    assert_eq!(places(&deposit, &deposit), [NO_CALLS, NO_CALLS], "in one function");
    assert_eq!(places(&[0x91, 0x60], &[0x22, 0x50, 0x60]), [NO_CALLS, NO_CALLS], "further apart");
    assert_eq!(places(&[], &deposit), [NO_CALLS, NO_CALLS], "not known");
}

#[test]
fn one_access_to_both_variables_is_one_step() {
    let mut wide = finding(PatternId::P9);
    wide.accesses[2].code = wide.accesses[1].code.clone();
    assert_eq!(plan_of(&wide).steps.len(), 4, "the same place, but two accesses");
    wide.accesses[2].order = wide.accesses[1].order;
    let plan = plan_of(&wide);
    let roles: Vec<u8> = plan.steps.iter().map(|step| step.role).collect();
    assert_eq!(roles, [1, 2, 1]);
    assert_eq!(plan.inverse().mode, Mode::Serialise);
}

#[test]
fn two_roles_at_one_place_are_two_steps() {
    let mut same = finding(PatternId::P3);
    same.accesses[1].code = same.accesses[0].code.clone();
    assert_eq!(plan_of(&same).steps.len(), 2);
}

#[test]
fn the_address_of_a_library_call_is_not_known_except_when_it_frees() {
    let mut copied = finding(PatternId::P1);
    copied.accesses.iter_mut().for_each(|access| access.library = true);
    copied.accesses[1].kind = unpick_findings::AccessKind::Free;
    let operands: Vec<_> = plan_of(&copied).steps.iter().map(|step| step.operand).collect();
    assert_eq!(operands, [Operand::Unknown, Operand::First]);
}

#[test]
fn the_threads_of_a_deadlock_meet_where_they_wait() {
    let threads = vec![waiting(2, "a", "b"), waiting(3, "b", "c"), waiting(4, "c", "a")];
    let plan = Plan::of_deadlock(&hang(&[2, 3, 4], threads)).unwrap();
    let told: Vec<_> =
        plan.steps.iter().map(|step| (step.role, step.purpose, offsets(&step.places))).collect();
    assert_eq!(
        told,
        [
            (1, Purpose::Meeting, vec![201]),
            (2, Purpose::Meeting, vec![301]),
            (3, Purpose::Meeting, vec![401])
        ]
    );
    let purposes: Vec<_> = plan.numbered_places().map(|place| place.purpose).collect();
    let of_thread = [Purpose::Meeting, Purpose::Holding];
    assert_eq!(purposes, of_thread.repeat(3), "nobody waits before its lock, but must hold it");
    assert!(plan.steps.iter().all(|step| step.must_hold));
    let inverse = plan.inverse();
    assert_eq!(inverse.mode, Mode::Serialise);
    let gates: Vec<_> = inverse.steps.iter().map(|step| offsets(&step.gates)).collect();
    assert_eq!(gates, [[200], [300], [400]], "the lock of the circle, not that of the log");
    assert!(inverse.steps.iter().all(|step| step.purpose == Purpose::Step && step.must_hold));
    let purposes: Vec<_> = inverse.numbered_places().map(|place| place.purpose).collect();
    let of_thread = [Purpose::Step, Purpose::Gate, Purpose::Holding];
    assert_eq!(purposes, of_thread.repeat(3), "alone from its lock until it gives that back");
}

#[test]
fn a_wait_in_a_function_that_also_took_the_lock_is_known_by_its_calls() {
    let mut threads = vec![waiting(2, "a", "b"), waiting(3, "b", "a")];
    threads[0].calls = vec![code(0x72), code(0x80)];
    threads[0].code = Some(code(0x60));
    threads[0].holds = vec![lock("a", 0x60, 2)];
    threads[0].holds[0].calls = vec![code(0x71), code(0x80)];
    let plan = Plan::of_deadlock(&hang(&[2, 3], threads)).unwrap();
    assert_eq!(calls(&plan.steps[0].places[0]), [0x72]);
    assert_eq!(calls(&plan.steps[0].gates[0]), [0x71]);
    assert_eq!(calls(&plan.steps[1].places[0]), NO_CALLS);
}

#[test]
fn two_threads_in_a_circle_are_serialised_not_reversed() {
    let threads = vec![waiting(2, "a", "b"), waiting(3, "b", "a")];
    let plan = Plan::of_deadlock(&hang(&[2, 3], threads)).unwrap();
    assert_eq!(plan.inverse().mode, Mode::Serialise);
}

#[test]
fn that_a_lock_of_rust_is_held_is_not_asked_for() {
    let mut threads = vec![waiting(2, "a", "b"), waiting(3, "b", "a")];
    threads[0].holds[1].kind = "rust".to_owned();
    let plan = Plan::of_hang(&hang(&[2, 3], threads)).unwrap();
    let must: Vec<_> = plan.steps.iter().map(|step| step.must_hold).collect();
    assert_eq!(must, [false, true]);
}

fn overtaken() -> Plan {
    Plan::of_hang(&lost_notification(vec![
        deed(7, LostDeed::Waits, 70),
        deed(1, LostDeed::Locks, 10),
        deed(4, LostDeed::Locks, 40),
    ]))
    .unwrap()
}

#[test]
fn a_notification_is_lost_when_another_comes_between_wait_and_notifier() {
    let plan = overtaken();
    assert_eq!(plan.mode, Mode::Force);
    let told: Vec<_> =
        plan.steps.iter().map(|step| (step.role, step.purpose, offsets(&step.places))).collect();
    let step = Purpose::Step;
    assert_eq!(told, [(1, step, vec![70]), (2, step, vec![10]), (3, step, vec![40])]);
    assert!(plan.steps.iter().all(|step| step.variable.is_none() && step.gates.is_empty()));
    assert_eq!(plan.steps[0].shown, "wait in `work` at bank.c:70");
    assert_eq!(plan.numbered_places().count(), 3);
}

#[test]
fn in_the_inverse_of_that_the_other_stays_away_while_the_thread_waits() {
    let inverse = overtaken().inverse();
    assert_eq!(inverse.mode, Mode::Serialise);
    let places: Vec<_> = inverse.steps.iter().map(|step| offsets(&step.places)).collect();
    assert_eq!(places, [[70], [10]], "who notifies comes as it likes");
}

#[test]
fn a_notification_that_comes_too_early_is_made_before_the_wait() {
    let mut notifies = deed(3, LostDeed::Notifies, 32);
    notifies.lock = Some(lock("guard", 31, 1));
    let steps = vec![deed(2, LostDeed::Locks, 21), notifies, deed(2, LostDeed::Waits, 22)];
    let plan = Plan::of_hang(&lost_notification(steps)).unwrap();
    let told = plan.steps.iter();
    let told = told.map(|step| (step.role, offsets(&step.places), offsets(&step.gates)));
    let none = Vec::new;
    assert_eq!(
        told.collect::<Vec<_>>(),
        [(1, vec![21], none()), (2, vec![32], vec![31]), (1, vec![22], none())]
    );
    assert_eq!(plan.inverse().mode, Mode::Serialise);
    assert_eq!(plan.inverse().steps.len(), 3, "all of them, one thread at a time");
}

#[test]
fn threads_at_one_place_of_a_lost_notification_are_known_by_their_calls() {
    let mut steps = vec![
        deed(7, LostDeed::Waits, 70),
        deed(1, LostDeed::Locks, 10),
        deed(4, LostDeed::Locks, 10),
    ];
    steps[1].calls = vec![code(0x11), code(0x20), code(0x30)];
    steps[2].calls = vec![code(0x11), code(0x21), code(0x30)];
    let plan = Plan::of_hang(&lost_notification(steps)).unwrap();
    assert_eq!(calls(&plan.steps[0].places[0]), NO_CALLS);
    assert_eq!(calls(&plan.steps[1].places[0]), [0x11, 0x20]);
    assert_eq!(calls(&plan.steps[2].places[0]), [0x11, 0x21]);
}

#[test]
fn what_is_no_circle_of_threads_is_refused() {
    let problem = |hang| Plan::of_deadlock(&hang).unwrap_err().to_string();
    let mut none = hang(&[], vec![waiting(2, "a", "b")]);
    none.processes[0].deadlocks.clear();
    assert!(problem(none).contains("of this hang"));
    assert!(problem(hang(&[2], vec![waiting(2, "a", "a")])).contains("of one thread"));
    let strange = hang(&[2, 9], vec![waiting(2, "a", "b")]);
    assert!(problem(strange).contains("of this hang"), "thread 9 is not in the file");
    let mut old = hang(&[2, 3], vec![waiting(2, "a", "b"), waiting(3, "b", "a")]);
    old.processes[0].threads[1].code = None;
    assert!(problem(old).contains("wait in `work` at bank.c:301"));
}

#[test]
fn the_words_are_as_the_form_says() {
    let mut lost = finding(PatternId::P7);
    lost.accesses[1].locks = vec![lock("account", 19, 3)];
    lost.accesses[1].locks[0].calls = vec![CodePlace { build_id: None, ..code(0x21) }];
    lost.accesses[1].calls = vec![code(0x22)];
    let mut plan = Plan { bound: 3, ignored: 2, rounds: 5, stop: true, ..plan_of(&lost) };
    plan.steps[1].must_hold = true;
    let words = plan.to_words().unwrap();
    assert_eq!(words[header::MAGIC], schedule::MAGIC);
    assert_eq!((words[header::MODE], words[header::STOP]), (0, 1));
    assert_eq!((words[header::PAUSE], words[header::BUDGET]), (1_000_000_000, 10_000_000_000));
    assert_eq!((words[header::BOUND], words[header::IGNORED]), (3, 2));
    assert_eq!((words[header::STEPS], words[header::PLACES], words[header::MODULES]), (3, 5, 2));
    assert_eq!(words[header::ROUNDS], 5);
    let (module, rest) = words[schedule::HEADER_WORDS..].split_at(schedule::MODULE_WORDS);
    assert_eq!(module[..3], [6, 1, u64::from_le_bytes(*b"c0ffee\0\0")]);
    let (module, places) = rest.split_at(schedule::MODULE_WORDS);
    assert_eq!(module[..3], [4, 0, u64::from_le_bytes(*b"bank\0\0\0\0")]);
    let places: Vec<_> = places.chunks(schedule::PLACE_WORDS).collect();
    assert_eq!(places.len(), 5);
    assert_eq!(places[0][..9], [0, 10, 0, Purpose::Step as u64, 0, 0, 0, 4, 0]);
    assert_eq!(places[1][..9], [0, 20, 1, Purpose::Step as u64, 1, 0, 0, 4, 0]);
    let gate = [0, 19, 1, Purpose::Gate as u64, 1, place::NONE];
    assert_eq!(places[2][..6], gate);
    assert_eq!(places[2][place::CALLS..place::FIRST_CALL + 3], [1, 1, 0x21, 0]);
    assert_eq!(places[3][..5], [0, 19, 1, Purpose::Holding as u64, 1]);
    let holds: Vec<u64> = places.iter().map(|words| words[place::HOLDS]).collect();
    assert_eq!(holds, [0, 1, 0, 0, 0], "the step, not where the lock is taken");
    assert_eq!(places[4][place::STEP], 2);
    assert_eq!(plan.to_bytes().unwrap().len(), words.len() * 8);
}

#[test]
fn what_goes_beyond_the_form_is_refused() {
    let plan = plan_of(&finding(PatternId::P1));
    let problem = |plan: Plan| plan.to_words().unwrap_err().to_string();
    let too_long = Plan { steps: vec![plan.steps[0].clone(); 17], ..plan.clone() };
    assert!(problem(too_long).contains("17 steps, at most 16 fit"));
    let mut many_places = plan.clone();
    many_places.steps[0].places = vec![plan.steps[0].places[0].clone(); 64];
    assert!(problem(many_places).contains("65 places, at most 64 fit"));
    let mut long_name = plan.clone();
    long_name.steps[0].places[0].at.module = unpick_reproduce::ModuleName::Path("a".repeat(241));
    assert!(problem(long_name).contains("241 bytes in the name of a module"));
    let mut no_place = plan.clone();
    no_place.steps[0].places.clear();
    assert!(problem(no_place).contains("no place"));
    assert!(problem(Plan { steps: Vec::new(), ..plan }).contains("no steps"));
}

/// Thread 2 tests at 21, under a lock taken at 20; thread 3 writes at 31 and notifies at 32; thread 2 waits at 22.
fn stale_test() -> Plan {
    let variable = |step| LostStep {
        variable: Some(LostVariable {
            name: Some("full".to_owned()),
            bytes: 4,
            behind_condition: Some(-8),
        }),
        ..step
    };
    let mut test = variable(deed(2, LostDeed::Tests, 21));
    test.lock = Some(lock("guard", 20, 1));
    Plan::of_hang(&lost_notification(vec![
        test,
        variable(deed(3, LostDeed::Writes, 31)),
        deed(3, LostDeed::Notifies, 32),
        deed(2, LostDeed::Waits, 22),
    ]))
    .unwrap()
}

#[test]
fn who_notifies_is_kept_in_front_of_its_write_until_the_other_has_tested() {
    let plan = stale_test();
    let told = plan.steps.iter();
    let told = told.map(|step| (step.role, offsets(&step.places), offsets(&step.gates)));
    let none = Vec::new;
    assert_eq!(
        told.collect::<Vec<_>>(),
        [(1, vec![21], vec![20]), (2, vec![32], vec![31]), (1, vec![22], none())]
    );
    assert_eq!(plan.steps[0].shown, "read of `full` in `work` at bank.c:21");
    let variables: Vec<_> = plan.steps.iter().map(|step| step.variable).collect();
    assert_eq!(variables, [Some(0), Some(0), None]);
    assert_eq!(plan.steps[1].places[0].distance, Some(-8), "the condition tells which object");
}

#[test]
fn the_inverse_of_a_lost_wakeup_keeps_the_write_away_from_test_and_wait() {
    let inverse = stale_test().inverse();
    assert_eq!(inverse.mode, Mode::Serialise);
    let steps = inverse.steps.iter();
    let steps: Vec<_> = steps.map(|step| (step.role, offsets(&step.places))).collect();
    assert_eq!(steps, [(1, vec![21]), (1, vec![22]), (2, vec![31])]);
    assert!(inverse.pause < stale_test().pause, "a test that leads to no wait is soon over");
}
