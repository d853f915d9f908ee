//! Delay plans in real programs: arrivals at places of the code are counted and delayed, whoever comes first.

mod schedule;
mod support;

use std::fs;

use schedule::{Outcome, delay_plan};
use support::{Program, limited};
use unpick_events::schedule::{Arming, VARIABLE, outcome_place};
use unpick_events::{Kind, Site};
use unpick_recording::{Action, Recording};

const MILLISECOND: u64 = 1_000_000;

/// A run under a delay plan.
struct Delayed {
    stdout: String,
    recording: Recording,
    outcome: Option<Outcome>,
}

impl Delayed {
    /// For each delay its thread and length, in the order of threads.
    fn delays(&self) -> Vec<(u16, u64)> {
        let threads = self.recording.threads().iter();
        let events = threads.flat_map(|thread| self.recording.stream(thread.id));
        let delays = events.filter_map(|event| match event.action {
            Action::Delay { nanoseconds } => Some((event.thread.0, nanoseconds)),
            _ => None,
        });
        delays.collect()
    }

    fn arrivals(&self, place: usize) -> u64 {
        let outcome = self.outcome.as_ref().expect("an outcome");
        assert_eq!(outcome.arming(place), Some(Arming::Armed));
        outcome.of_place(place, outcome_place::ARRIVED)
    }
}

fn run(program: &Program, options: &str, plan: &[u8]) -> Delayed {
    let runs = tempfile::tempdir().expect("a folder");
    let file = program.folder().join("plan");
    fs::write(&file, plan).expect("ours");
    let output = limited(program.watched())
        .env("UNPICK_RUN_DIR", runs.path())
        .env("UNPICK_OPTIONS", format!("limit=268435456 {options}"))
        .env(VARIABLE, &file)
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{output:?}");
    let files = |extension: &str| {
        let mut all = fs::read_dir(runs.path()).expect("a folder").map(|file| file.unwrap().path());
        all.find(|file| file.extension().is_some_and(|kind| kind == extension))
    };
    Delayed {
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        recording: Recording::open(files("events").expect("a recording")).expect("readable"),
        outcome: files("outcome").map(|file| Outcome::read(&file)),
    }
}

/// The offsets, in the program's file, of main's first write of `handed` and of its reads of `counter`.
fn places_of(program: &Program) -> [u64; 2] {
    let recording = program.record(&[], "").recording();
    let offset = |site: Site| {
        let (module, address) = recording.place_of(site).expect("in a module");
        address - module.bias
    };
    let worker_reads =
        recording.events().find(|event| event.thread.0 == 2 && event.kind() == Kind::Read);
    let Action::Access { pasts, .. } = worker_reads.expect("it reads").action else { panic!() };
    let first_write = pasts.iter().next().expect("main wrote before").site;
    let main_reads =
        recording.events().find(|event| event.thread.0 == 1 && event.kind() == Kind::Read);
    [offset(first_write), offset(main_reads.expect("it reads").site)]
}

fn module_of(program: &Program) -> String {
    program.watched().canonicalize().expect("it is there").display().to_string()
}

#[test]
fn the_first_thread_to_touch_a_variable_is_delayed_and_arrivals_are_counted() {
    let program = Program::build("handed_over.c");
    let [first_write, reads] = places_of(&program);
    let plan = delay_plan(
        &module_of(&program),
        &[(first_write, 1, 2 * MILLISECOND), (reads, 70, MILLISECOND)],
    );
    let delayed = run(&program, "targets=2", &plan);
    assert_eq!(delayed.stdout, "4200\n");
    assert_eq!(delayed.delays(), [(1, 2 * MILLISECOND), (1, MILLISECOND)]);
    assert_eq!((delayed.arrivals(0), delayed.arrivals(1)), (1, 100));
    assert!(delayed.recording.header().is_perturbed());
    assert_eq!(delayed.recording.header().delayed, 3 * MILLISECOND);
}

#[test]
fn places_are_counted_without_a_delay() {
    let program = Program::build("handed_over.c");
    let [first_write, reads] = places_of(&program);
    let plan = delay_plan(&module_of(&program), &[(first_write, 2, 9), (reads, 0, 9)]);
    let counted = run(&program, "", &plan);
    assert_eq!((counted.delays(), counted.arrivals(1)), (Vec::new(), 100));
}

#[test]
fn a_delay_that_does_not_fit_into_the_budget_is_not_made() {
    let program = Program::build("handed_over.c");
    let [first_write, reads] = places_of(&program);
    let plan =
        delay_plan(&module_of(&program), &[(first_write, 1, MILLISECOND), (reads, 1, MILLISECOND)]);
    let delayed = run(&program, "budget=1500000", &plan);
    assert_eq!(delayed.delays(), [(1, MILLISECOND)]);
}

#[test]
fn a_damaged_plan_is_no_plan() {
    let program = Program::build("handed_over.c");
    let [first_write, _] = places_of(&program);
    let plan = delay_plan(&module_of(&program), &[(first_write, 1, MILLISECOND)]);
    let cut = run(&program, "", &plan[..plan.len() - 8]);
    assert!(cut.outcome.is_none() && cut.delays().is_empty());
    assert_eq!(cut.stdout, "4200\n");
}
