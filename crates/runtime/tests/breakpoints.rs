//! Breakpoints in real programs: schedules made from their code, orders that come about, and programs that do as they would
//! without when it cannot.

mod schedule;
mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use schedule::{Outcome, Place, SECOND, Schedule};
use support::{limited, preloadable_runtime, run_tool, runtime, source_path};
use tempfile::TempDir;
use unpick_events::ThreadId;
use unpick_events::schedule::{
    Arming, HEADER_WORDS, LetGo, Mode, Operand, VARIABLE, outcome, outcome_step,
};
use unpick_recording::{Action, Event, Recording};

/// The calls in a program or library, by the function they are in.
struct Code {
    calls: Vec<Call>,
}

struct Call {
    function: String,
    callee: String,
    return_address: u64,
}

impl Code {
    fn of(path: &Path) -> Code {
        let text = Command::new("objdump")
            .args(["-d", "--no-show-raw-insn"])
            .arg(path)
            .output()
            .expect("binutils are there");
        let text = String::from_utf8_lossy(&text.stdout).into_owned();
        let mut code = Code { calls: Vec::new() };
        let (mut function, mut open) = (String::new(), None::<String>);
        for line in text.lines() {
            if let Some(name) = line.strip_suffix(">:").and_then(|line| line.split_once('<')) {
                function = name.1.to_owned();
            }
            let Some((address, instruction)) = line.trim_start().split_once(":\t") else {
                continue;
            };
            let Ok(return_address) = u64::from_str_radix(address, 16) else { continue };
            if let Some(callee) = open.take() {
                code.calls.push(Call { function: function.clone(), callee, return_address });
            }
            open = instruction.starts_with("call").then(|| instruction.to_owned());
        }
        code
    }

    /// The return address of the nth call, from 0, of `callee` in `function`.
    fn call(&self, function: &str, callee: &str, nth: usize) -> u64 {
        let mut calls = self
            .calls
            .iter()
            .filter(|call| call.function == function && call.callee.contains(callee));
        let call = calls.nth(nth);
        call.unwrap_or_else(|| panic!("{function} does not call {callee} {nth} times"))
            .return_address
    }

    fn put(&self) -> u64 {
        self.call("put", "__tsan_write4", 0)
    }

    fn look(&self) -> u64 {
        self.call("look", "__tsan_read4", 0)
    }

    fn read_of_add(&self) -> u64 {
        self.call("add", "__tsan_read4", 0)
    }

    fn write_of_add(&self) -> u64 {
        self.call("add", "__tsan_write4", 0)
    }
}

/// A program that waits for schedules.
struct Subject {
    folder: TempDir,
    program: PathBuf,
    code: Code,
    preload: Option<PathBuf>,
}

/// Held this long where the order is to come about: nobody shall have to be quick.
const PATIENT: u64 = 20 * SECOND;

fn compile(folder: &Path, source: &str, name: &str, options: &[&str]) -> PathBuf {
    let object = folder.join(name);
    run_tool(
        Command::new("gcc")
            .args(["-O1", "-g", "-fsanitize=thread", "-c"])
            .args(options)
            .arg(source_path(source))
            .arg("-o")
            .arg(&object),
    );
    object
}

fn link(parts: &[&Path], options: &[&str], to: &Path) {
    let last = ["-pthread", "-ldl", "-Wl,--export-dynamic-symbol=__tsan_*"];
    run_tool(Command::new("gcc").args(parts).args(options).arg("-o").arg(to).args(last));
}

impl Subject {
    fn ordered() -> Subject {
        let folder = tempfile::tempdir().expect("a folder");
        let object = compile(folder.path(), "ordered.c", "ordered.o", &[]);
        let program = canonical(folder.path()).join("ordered");
        link(&[&object, runtime()], &[], &program);
        let code = Code::of(&program);
        Subject { folder, program, code, preload: None }
    }

    /// The places are in a shared library, which calls the hooks as `options` say. The program is compiled with `define`.
    fn with_library(define: &str, options: &[&str]) -> (Subject, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let home = canonical(folder.path());
        let options: Vec<&str> = options.iter().copied().chain(["-fPIC"]).collect();
        let part = compile(folder.path(), "ordered_places.c", "places.o", &options);
        let library = home.join("libplaces.so");
        link(&[&part], &["-shared"], &library);
        let object = compile(folder.path(), "ordered.c", "ordered.o", &[define]);
        let program = home.join("ordered");
        if define == "-DIN_LIBRARY" {
            let rpath = format!("-Wl,-rpath,{}", home.display());
            link(&[&object, runtime(), &library], &[&rpath], &program);
        } else {
            link(&[&object, runtime()], &[], &program);
        }
        let code = Code::of(&library);
        (Subject { folder, program, code, preload: None }, library)
    }

    fn run(&self, arguments: &[&str], schedule: &Schedule) -> Forced {
        let module = self.program.display().to_string();
        self.run_with_bytes(
            arguments,
            &Schedule { modules: vec![module], ..schedule.clone() }.bytes(),
        )
    }

    fn run_with_bytes(&self, arguments: &[&str], schedule: &[u8]) -> Forced {
        let file = self.folder.path().join("schedule");
        fs::write(&file, schedule).expect("ours");
        self.run_with_file(arguments, Some(&file))
    }

    fn run_with_file(&self, arguments: &[&str], schedule: Option<&Path>) -> Forced {
        let runs = tempfile::tempdir().expect("a folder");
        let mut command = limited(Path::new("env"));
        if let Some(library) = &self.preload {
            command.arg(format!("LD_PRELOAD={}", library.display()));
        }
        if let Some(file) = schedule {
            command.arg(format!("{VARIABLE}={}", file.display()));
        }
        let command = command.arg(&self.program).args(arguments);
        let output = command
            .env("UNPICK_RUN_DIR", runs.path())
            .env("UNPICK_OPTIONS", "limit=268435456")
            .output()
            .expect("it runs");
        Forced { outcomes: outcomes_in(runs.path()), output, runs }
    }

    /// Runs with a schedule whose order cannot come about: it must do the same as without.
    fn check_unharmed(&self, arguments: &[&str], schedule: &Schedule) -> Outcome {
        let without = self.run_with_file(arguments, None);
        let forced = self.run(arguments, schedule);
        assert_eq!(shown(&forced.output), shown(&without.output), "{arguments:?}");
        forced.outcome().clone()
    }
}

fn canonical(folder: &Path) -> PathBuf {
    folder.canonicalize().expect("it is there")
}

fn outcomes_in(folder: &Path) -> Vec<Outcome> {
    let files = fs::read_dir(folder).expect("a folder").map(|file| file.expect("a file").path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|kind| kind == "outcome")).collect();
    files.sort();
    files.iter().map(|file| Outcome::read(file)).collect()
}

fn shown(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// A run under a schedule.
struct Forced {
    output: Output,
    outcomes: Vec<Outcome>,
    runs: TempDir,
}

impl Forced {
    /// The outcome of a run with one process image.
    fn outcome(&self) -> &Outcome {
        assert_eq!(self.outcomes.len(), 1, "{:?}", shown(&self.output));
        &self.outcomes[0]
    }

    /// The recording of a run with one process image.
    fn recording(&self) -> Recording {
        let files = unpick_recording::event_files(self.runs.path()).expect("a folder");
        assert_eq!(files.len(), 1);
        Recording::open(&files[0]).expect("a recording")
    }

    #[track_caller]
    fn printed(&self, expected: &str) -> &Self {
        assert_eq!(shown(&self.output), (expected.to_owned(), String::new(), Some(0)));
        self
    }

    #[track_caller]
    fn hit(&self, times: u64) {
        assert_eq!(self.outcome().hits(), times, "{:?}", self.outcome());
    }
}

fn patient(mode: Mode, places: Vec<Place>) -> Schedule {
    Schedule { pause: PATIENT, budget: 2 * PATIENT, ..Schedule::new(mode, places) }
}

fn force(places: Vec<Place>) -> Schedule {
    patient(Mode::Force, places)
}

fn first_put_then_look(code: &Code) -> Schedule {
    force(vec![Place::step(0, 0, code.put()), Place::step(1, 1, code.look())])
}

fn first_look_then_put(code: &Code) -> Schedule {
    force(vec![Place::step(0, 0, code.look()), Place::step(1, 1, code.put())])
}

// Orders that come about

#[test]
fn two_accesses_are_forced_both_ways() {
    let subject = Subject::ordered();
    subject.run(&["pair"], &first_put_then_look(&subject.code)).printed("1\n").hit(1);
    subject.run(&["pair"], &first_look_then_put(&subject.code)).printed("0\n").hit(1);
}

#[test]
fn reversed_two_accesses_come_the_other_way_round() {
    let subject = Subject::ordered();
    let reversed = |schedule: Schedule| Schedule { mode: Mode::Reverse, ..schedule };
    for (schedule, printed) in
        [(first_put_then_look(&subject.code), "0\n"), (first_look_then_put(&subject.code), "1\n")]
    {
        let forced = subject.run(&["pair"], &reversed(schedule));
        forced.printed(printed).hit(0);
        assert_eq!(forced.outcome().word(outcome::INVERSE_HITS), 1);
    }
}

fn lost_update(code: &Code) -> Vec<Place> {
    vec![
        Place::step(0, 0, code.read_of_add()),
        Place::step(1, 1, code.write_of_add()),
        Place::step(2, 0, code.write_of_add()),
    ]
}

#[test]
fn an_update_is_lost_or_not_as_the_schedule_says() {
    let subject = Subject::ordered();
    let places = lost_update(&subject.code);
    subject.run(&["lost"], &force(places.clone())).printed("1\n").hit(1);
    // Both threads begin with the read: that of the second is where it enters.
    let serial = [Place::gate(1, 1, subject.code.read_of_add())].into_iter().chain(places);
    let forced = subject.run(&["lost"], &patient(Mode::Serialise, serial.collect()));
    forced.printed("2\n").hit(0);
    assert_eq!(forced.outcome().word(outcome::INVERSE_HITS), 1);
}

fn between_two_sections(code: &Code) -> Vec<Place> {
    vec![
        Place::step(0, 0, code.look()),
        Place::step(1, 1, code.write_of_add()),
        Place::step(2, 0, code.put()),
    ]
}

fn gates_of_sections(code: &Code) -> Vec<Place> {
    vec![
        Place::gate(1, 1, code.call("in_one_section", "pthread_mutex_lock", 0)),
        Place::gate(2, 0, code.call("in_two_sections", "pthread_mutex_lock", 1)),
    ]
}

#[test]
fn gates_let_another_in_between_two_critical_sections() {
    let subject = Subject::ordered();
    let places = between_two_sections(&subject.code).into_iter();
    let places = places.chain(gates_of_sections(&subject.code)).collect();
    subject.run(&["sections"], &force(places)).printed("1\n").hit(1);
}

/// A thread's step between two of another; each takes the lock by a function that a third thread calls as well.
fn between_two_takes(code: &Code) -> Schedule {
    let take = code.call("take", "pthread_mutex_lock", 0);
    let gate = |step, role, function: &str, nth| Place {
        calls: vec![code.call(function, "take", nth)],
        ..Place::gate(step, role, take)
    };
    let own = [gate(1, 1, "lets_look_and_adds", 0), gate(2, 0, "takes_twice", 1)];
    force(between_two_sections(code).into_iter().chain(own).collect())
}

#[test]
fn others_stand_aside_while_a_role_waits_for_its_lock() {
    let subject = Subject::ordered();
    let schedule = between_two_takes(&subject.code);
    subject.run(&["disturbed", "20000"], &schedule).printed("0 1\n").hit(1);
    let undisturbed = Schedule { undisturbed: true, ..schedule };
    // Who stands aside does so for moments only: on a busy machine the others may need longer than that.
    let mut runs = (0..10).map(|_| subject.run(&["disturbed", "50"], &undisturbed));
    assert!(runs.any(|run| shown(&run.output).0 == "1 1\n" && run.outcome().hits() == 1));
}

#[test]
fn who_stands_aside_goes_on_if_the_others_wait_for_it() {
    let subject = Subject::ordered();
    let undisturbed = Schedule { undisturbed: true, ..between_two_takes(&subject.code) };
    // While a thread dies it is not there any more, and who joins it still waits: on a busy machine that may last longer than the
    // patience with which another is held. So the order need not come about every time; but every run ends, and who stood aside went on.
    let mut runs = (0..10).map(|_| subject.run(&["disturbed", "to-its-end"], &undisturbed));
    let came_about = runs.any(|run| {
        let (printed, errors, code) = shown(&run.output);
        assert!(printed.starts_with("0 ") && errors.is_empty() && code == Some(0), "{printed}");
        run.outcome().hits() == 1
    });
    assert!(came_about);
}

#[test]
fn a_condition_variable_between_two_steps() {
    let subject = Subject::ordered();
    let look = |nth| subject.code.call("waits_for_change", "<look>", nth);
    let own = |step, role, offset| Place {
        operand: Operand::Unknown,
        variable: None,
        ..Place::step(step, role, offset)
    };
    let places = vec![
        own(0, 0, look(0)),
        Place::gate(1, 1, subject.code.call("changes", "pthread_mutex_lock", 0)),
        Place::step(1, 1, subject.code.put()).on(None),
        own(2, 0, look(1)),
    ];
    subject.run(&["condition"], &force(places)).printed("1\n").hit(1);
}

// Ways to call

fn check_pair_in_library(subject: &Subject, library: &Path) {
    let in_library = |schedule: Schedule| Schedule {
        modules: vec!["/no/such/module".to_owned(), library.display().to_string()],
        places: schedule.places.into_iter().map(|place| place.in_module(1)).collect(),
        ..schedule
    };
    for (schedule, printed) in
        [(first_put_then_look(&subject.code), "1\n"), (first_look_then_put(&subject.code), "0\n")]
    {
        let forced = subject.run_with_bytes(&["pair"], &in_library(schedule).bytes());
        forced.printed(printed).hit(1);
    }
}

#[test]
fn calls_through_the_linkage_table_of_a_library() {
    let (subject, library) = Subject::with_library("-DIN_LIBRARY", &[]);
    check_pair_in_library(&subject, &library);
}

#[test]
fn calls_through_a_slot_of_a_library() {
    let (subject, library) = Subject::with_library("-DIN_LIBRARY", &["-fno-plt"]);
    check_pair_in_library(&subject, &library);
}

#[test]
fn a_library_that_is_loaded_again_and_again() {
    for options in [&[][..], &["-fno-plt"]] {
        let (subject, library) = Subject::with_library("-DLOADS_LIBRARY", options);
        let schedule = first_look_then_put(&subject.code);
        let schedule = Schedule { modules: vec![library.display().to_string()], ..schedule };
        let path = library.display().to_string();
        subject.run_with_bytes(&["loads", &path], &schedule.bytes()).printed("0\n0\n0\n").hit(3);
    }
}

#[test]
fn a_preloaded_runtime_is_far_from_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let object = compile(folder.path(), "ordered.c", "ordered.o", &[]);
    let program = canonical(folder.path()).join("ordered");
    for options in [&[][..], &["-no-pie"]] {
        link(&[&object], &[&["-Wl,--unresolved-symbols=ignore-all"], options].concat(), &program);
        let code = Code::of(&program);
        let preload = Some(preloadable_runtime());
        let subject = Subject {
            folder: tempfile::tempdir().expect("a folder"),
            program: program.clone(),
            code,
            preload,
        };
        subject.run(&["pair"], &first_put_then_look(&subject.code)).printed("1\n").hit(1);
        subject.run(&["pair"], &first_look_then_put(&subject.code)).printed("0\n").hit(1);
    }
}

#[test]
fn what_is_no_call_is_not_armed() {
    let subject = Subject::ordered();
    let put = subject.code.put();
    // In the middle of a call, before the code, in the data, behind everything.
    for offset in [put + 1, put - 5, 0, 3, 0x400, u64::MAX, u64::MAX / 2] {
        let places = vec![Place::step(0, 0, offset), Place::step(1, 1, subject.code.look())];
        let told = subject.check_unharmed(&["locked"], &force(places));
        assert_eq!(told.arming(0), Some(Arming::NoCall), "{offset:x}");
        assert_eq!(told.arming(1), Some(Arming::Armed));
    }
}

#[test]
fn a_call_through_a_register_is_not_armed() {
    let subject = Subject::ordered();
    let call = subject.code.call("through_register", "*%r", 0);
    let places = vec![Place::step(0, 0, call), Place::step(1, 1, subject.code.look())];
    let told = subject.check_unharmed(&["indirect"], &force(places));
    assert_eq!(told.arming(0), Some(Arming::NoCall));
}

#[test]
fn a_module_that_never_comes_is_said() {
    let subject = Subject::ordered();
    let schedule = first_put_then_look(&subject.code);
    let schedule = Schedule { modules: vec!["/no/such/module".to_owned()], ..schedule };
    let forced = subject.run_with_bytes(&["locked"], &schedule.bytes());
    forced.printed("2\n").hit(0);
    assert_eq!(forced.outcome().arming(0), Some(Arming::NoModule));
}

// Schedules that are none

#[test]
fn damaged_schedules_are_as_good_as_none() {
    let subject = Subject::ordered();
    let whole = first_put_then_look(&subject.code).bytes();
    let mut damaged = vec![Vec::new(), b"unpksch1".to_vec(), vec![0xff; 100], vec![0; 4 << 20]];
    let head = 8 * HEADER_WORDS;
    let lengths = [8, head - 1, head, 500, whole.len() - 1];
    damaged.extend(lengths.map(|length| whole[..length].to_vec()));
    for (at, byte) in [(0, b'x'), (8, 9), (48, 200), (56, 200), (64, 200), (head, 255)] {
        let mut bytes = whole.clone();
        bytes[at] = byte;
        damaged.push(bytes);
    }
    for (number, bytes) in damaged.iter().enumerate() {
        let forced = subject.run_with_bytes(&["locked"], bytes);
        forced.printed("2\n");
        assert_eq!(forced.outcomes.len(), 0, "number {number}");
    }
    let missing = subject.run_with_file(&["locked"], Some(Path::new("/no/such/file")));
    missing.printed("2\n");
}

// Orders that cannot come about

/// A first step that no thread ever makes.
fn never(code: &Code) -> Place {
    Place::step(0, 0, code.call("executes", "usleep", 0)).on(None)
}

#[test]
fn under_one_lock_the_order_is_impossible_and_nobody_hangs() {
    let subject = Subject::ordered();
    let told = subject.check_unharmed(&["locked"], &force(lost_update(&subject.code)));
    assert_eq!(told.hits(), 0);
    let told = subject.check_unharmed(&["recursive"], &force(lost_update(&subject.code)));
    assert_eq!(told.hits(), 0);
}

/// The last event that a thread had recorded when it was seen, of those that say something.
fn last_of<T>(
    recording: &Recording,
    seen: (u16, u64),
    told: impl Fn(&Event<'_>) -> Option<T>,
) -> Option<T> {
    let events = recording.stream(ThreadId(seen.0));
    events.take_while(|event| event.ordinal < seen.1).filter_map(|event| told(&event)).last()
}

#[test]
fn which_lock_the_others_waited_for_can_be_found_in_the_recording() {
    let subject = Subject::ordered();
    let forced = subject.run(&["locked"], &force(lost_update(&subject.code)));
    let (told, recording) = (forced.outcome(), forced.recording());
    assert_eq!(told.let_go(), Some(LetGo::InTheWay));
    assert_eq!(told.word(outcome::LET_GO_AT), 2);
    let seen = told.seen();
    assert_eq!(seen.len(), 3, "the held one, the one that waits, and main: {seen:?}");
    let taken = |event: &Event<'_>| match event.action {
        Action::Acquire { lock, .. } => Some(lock),
        _ => None,
    };
    let wanted = |event: &Event<'_>| match event.action {
        Action::LockWait { lock, .. } => Some(Some(lock)),
        _ => Some(None),
    };
    let lock = last_of(&recording, seen[0], taken);
    assert!(lock.is_some());
    assert_eq!(last_of(&recording, seen[1], wanted), Some(lock));
}

#[test]
fn that_the_others_waited_for_the_end_of_threads_can_be_found_in_the_recording() {
    let subject = Subject::ordered();
    let places = vec![never(&subject.code), Place::step(1, 1, subject.code.look())];
    let forced = subject.run(&["pair"], &force(places));
    let (told, recording) = (forced.outcome(), forced.recording());
    assert_eq!(told.let_go(), Some(LetGo::Alone));
    assert_eq!(told.word(outcome::LET_GO_AT), 1);
    let seen = told.seen();
    assert_eq!((seen.len(), seen[1].0), (2, 1), "the held one, and main: {seen:?}");
    let waits_for_end =
        |event: &Event<'_>| Some(matches!(event.action, Action::ThreadJoinWait { .. }));
    assert_eq!(last_of(&recording, seen[1], waits_for_end), Some(true));
}

#[test]
fn all_threads_at_gates_for_a_step_that_never_comes() {
    let subject = Subject::ordered();
    let lock = subject.code.call("in_one_section", "pthread_mutex_lock", 0);
    let write = Place::step(1, 1, subject.code.write_of_add());
    for role in [1, 2] {
        let places = vec![
            never(&subject.code),
            Place::gate(1, 1, lock),
            write.clone(),
            Place::step(2, role, subject.code.look()),
        ];
        let told = subject.check_unharmed(&["many"], &force(places));
        assert_eq!(told.hits(), 0);
        assert!(told.of_step(1, outcome_step::HELD) > 0);
    }
}

#[test]
fn all_threads_at_a_meeting_to_which_one_is_missing() {
    let subject = Subject::ordered();
    let lock = subject.code.call("in_one_section", "pthread_mutex_lock", 0);
    let places = vec![
        Place::meeting(0, 0, lock),
        Place::meeting(1, 1, lock),
        Place::meeting(2, 2, subject.code.call("changes", "pthread_mutex_lock", 0)),
    ];
    assert_eq!(subject.check_unharmed(&["locked"], &force(places)).hits(), 0);
}

/// How often a step is made at `place` that counts only with the lock that is taken at `lock`.
fn arrived_with_lock(subject: &Subject, way: &str, place: u64, lock: u64) -> u64 {
    let step = Place { holds: true, ..Place::step(0, 0, place) };
    let places = vec![step, Place::holding(0, 0, lock), Place::step(1, 1, subject.code.put())];
    let schedule = Schedule { pause: 0, ..force(places) };
    subject.check_unharmed(&[way], &schedule).of_step(0, outcome_step::MADE)
}

#[test]
fn a_step_counts_only_for_who_holds_the_lock_that_was_taken_where_it_must() {
    let subject = Subject::ordered();
    let lock = |function: &str, nth| subject.code.call(function, "pthread_mutex_lock", nth);
    let add = subject.code.read_of_add();
    let look = subject.code.look();
    assert_eq!(arrived_with_lock(&subject, "locked", add, lock("in_one_section", 0)), 2);
    assert_eq!(arrived_with_lock(&subject, "locked", add, lock("changes", 0)), 0, "another place");
    assert_eq!(arrived_with_lock(&subject, "lost", add, lock("in_one_section", 0)), 0, "no lock");
    let waits = lock("waits_for_change", 0);
    assert_eq!(arrived_with_lock(&subject, "condition", look, waits), 2, "also after a wait");
    let add_in =
        |nth| arrived_with_lock(&subject, "recursive", add, lock("in_nested_sections", nth));
    assert_eq!((add_in(0), add_in(1)), (4, 2), "until it is given back");
}

#[test]
fn status_and_signal_stay_the_programs() {
    let subject = Subject::ordered();
    for mode in [Mode::Force, Mode::Serialise, Mode::Reverse] {
        let places = vec![never(&subject.code), Place::step(1, 1, subject.code.look())];
        subject.check_unharmed(&["leaves"], &Schedule { mode, ..force(places.clone()) });
        subject.check_unharmed(&["dies"], &Schedule { mode, ..force(places) });
    }
}

#[test]
fn many_threads_in_every_mode() {
    let subject = Subject::ordered();
    let places: Vec<Place> = [Place::step(1, 1, subject.code.read_of_add())]
        .into_iter()
        .chain(lost_update(&subject.code))
        .collect();
    for mode in [Mode::Force, Mode::Serialise, Mode::Reverse] {
        let schedule = Schedule { pause: SECOND / 10, ..patient(mode, places.clone()) };
        subject.check_unharmed(&["many"], &schedule);
    }
}

// How long

fn waits_in_vain(code: &Code) -> Schedule {
    force(vec![never(code), Place::step(1, 1, code.look())])
}

#[test]
fn a_thread_is_held_for_its_pause() {
    let subject = Subject::ordered();
    let pause = SECOND / 20;
    let schedule = Schedule { pause, ..waits_in_vain(&subject.code) };
    let told = subject.check_unharmed(&["busy", "1"], &schedule);
    assert_eq!(told.word(outcome::TIMED_OUT), 1);
    let held = told.word(outcome::HELD);
    assert!((pause..pause * 100).contains(&held), "{held}");
}

#[test]
fn a_pause_of_zero_holds_nobody() {
    let subject = Subject::ordered();
    let schedule = Schedule { pause: 0, ..waits_in_vain(&subject.code) };
    let told = subject.check_unharmed(&["busy", "8"], &schedule);
    assert_eq!(told.of_step(1, outcome_step::ARRIVED), 8);
    assert!(told.word(outcome::HELD) < SECOND / 100, "{told:?}");
}

#[test]
fn all_threads_together_are_held_for_the_budget() {
    let subject = Subject::ordered();
    let budget = SECOND / 5;
    let schedule = Schedule { budget, ..waits_in_vain(&subject.code) };
    let told = subject.check_unharmed(&["busy", "64"], &schedule);
    assert_eq!(told.word(outcome::OVER), 2);
    let held = told.word(outcome::HELD);
    assert!((budget..budget * 20).contains(&held), "{held}");
}

#[test]
fn after_the_bound_nobody_is_held() {
    let (subject, library) = Subject::with_library("-DLOADS_LIBRARY", &[]);
    let schedule = first_look_then_put(&subject.code);
    let path = library.display().to_string();
    let schedule = Schedule { modules: vec![path.clone()], bound: 1, ..schedule };
    let forced = subject.run_with_bytes(&["loads", &path], &schedule.bytes());
    forced.hit(1);
    assert_eq!(forced.outcome().word(outcome::OVER), 1);
}

// Lives of processes and threads

#[test]
fn a_child_of_a_fork_is_left_alone_and_its_parent_is_not() {
    let subject = Subject::ordered();
    subject.run(&["fork"], &first_put_then_look(&subject.code)).printed("41 1\n").hit(1);
}

#[test]
fn a_program_that_is_executed_has_an_outcome_of_its_own() {
    let subject = Subject::ordered();
    let forced = subject.run(&["exec"], &first_put_then_look(&subject.code));
    forced.printed("1\n");
    let hits: Vec<u64> = forced.outcomes.iter().map(Outcome::hits).collect();
    assert_eq!(hits, [0, 1]);
}

#[test]
fn a_signal_handler_of_a_held_thread_passes() {
    let subject = Subject::ordered();
    let schedule = first_put_then_look(&subject.code);
    subject.run(&["signal"], &schedule).printed("10 1\n").hit(1);
}

#[test]
fn a_held_thread_can_be_cancelled() {
    let subject = Subject::ordered();
    for how in ["cancel", "cancel-at-once"] {
        let told = subject.check_unharmed(&[how], &first_put_then_look(&subject.code));
        assert!(told.hits() > 0, "{how}: who comes afterwards is served");
    }
}

#[test]
fn a_thread_that_ends_between_its_steps_takes_its_role_along() {
    let subject = Subject::ordered();
    let places = vec![
        Place::step(0, 0, subject.code.put()),
        Place::step(1, 1, subject.code.look()),
        Place::step(2, 0, subject.code.write_of_add()),
    ];
    let forced = subject.run(&["pair"], &force(places));
    forced.hit(0);
    assert!(forced.output.status.success());
    assert_eq!(forced.outcome().of_step(0, outcome_step::MADE), 1);
    assert_eq!(forced.outcome().word(outcome::TIMED_OUT), 0, "nobody waits for the dead");
}

// The end while an order is under way

#[test]
fn a_process_that_returns_or_leaves_waits_for_the_order_that_is_under_way() {
    let subject = Subject::ordered();
    for bound in [0, 1] {
        let schedule = Schedule { bound, ..first_put_then_look(&subject.code) };
        // What was there to be run at exit runs afterwards.
        subject.run(&["returns-early"], &schedule).printed("1\n").hit(1);
        subject.run(&["leaves-early"], &schedule).printed("").hit(1);
    }
}

#[test]
fn a_process_that_ends_does_not_wait_for_who_cannot_come() {
    let subject = Subject::ordered();
    let forced = subject.run(&["returns-in-vain"], &first_put_then_look(&subject.code));
    forced.printed("0\n").hit(0);
    let held = forced.outcome().word(outcome::HELD);
    assert!(held < PATIENT, "nobody could come, and that was seen: {held}");
}

#[test]
fn a_process_that_fails_ends_at_once() {
    let subject = Subject::ordered();
    let forced = subject.run(&["fails-early"], &first_put_then_look(&subject.code));
    assert_eq!(forced.output.status.code(), Some(7));
    assert_eq!(forced.outcome().word(outcome::HELD), 0);
}

fn put_between_look_and_add(code: &Code) -> Schedule {
    force(vec![
        Place::step(0, 0, code.look()),
        Place::step(1, 1, code.put()),
        Place::step(2, 0, code.write_of_add()),
    ])
}

#[test]
fn a_thread_ends_after_the_step_that_follows_its_own() {
    let subject = Subject::ordered();
    let forced = subject.run(&["leaves-after-end"], &put_between_look_and_add(&subject.code));
    assert_eq!(forced.output.status.code(), Some(7));
    forced.hit(1);
}

#[test]
fn undisturbed_a_thread_does_nothing_more_before_the_step_that_follows_its_own() {
    let subject = Subject::ordered();
    let schedule = put_between_look_and_add(&subject.code);
    let undisturbed = Schedule { undisturbed: true, ..schedule };
    let forced = subject.run(&["leaves-after-put"], &undisturbed);
    assert_eq!(forced.output.status.code(), Some(7));
    forced.hit(1);
}

// Calls

#[test]
fn steps_of_a_thread_match_across_calls_unless_the_schedule_says_otherwise() {
    let subject = Subject::ordered();
    let across = force(between_two_sections(&subject.code));
    subject.run(&["across-calls"], &across).printed("").hit(1);
    let within = Schedule { within_calls: true, ..across };
    subject.run(&["across-calls"], &within).printed("").hit(0);
}

#[test]
fn steps_in_one_call_and_in_calls_that_it_makes_match_within_calls() {
    let subject = Subject::ordered();
    let within = |places| Schedule { within_calls: true, ..force(places) };
    subject.run(&["lost"], &within(lost_update(&subject.code))).printed("1\n").hit(1);
    let places = between_two_sections(&subject.code).into_iter();
    let places = places.chain(gates_of_sections(&subject.code)).collect();
    subject.run(&["sections"], &within(places)).printed("1\n").hit(1);
}
