//! Two iterations of a loop are two pieces of work: what comes between them tears nothing.

mod traces;

use traces::{address_of, names};
use unpick_analyses::{Collector, Options, RunPatterns};
use unpick_events::{Kind, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

/// Contexts by number: two functions that the thread's own function calls, the first at two places.
const GET: u32 = 1;
const GET_AGAIN: u32 = 2;
const PUT: u32 = 3;
const OWN: u32 = 4;

/// `1r x 10 GET` by thread 1 reads x at site 10, in a function called as `GET` says; `1b 1` returns until so many calls are left.
fn run_with(program: &[(&str, u32)], options: Options) -> RunPatterns {
    let mut writer = Writer::new();
    let stacks: [(u32, &[u32]); 4] =
        [(GET, &[0x10, 0x20]), (GET_AGAIN, &[0x10, 0x28]), (PUT, &[0x10, 0x30]), (OWN, &[0x10])];
    for (context, call_sites) in stacks {
        let stack = Draft::new(Kind::Stack).context(context).call_sites(call_sites);
        writer.write(ThreadId(1), stack.unstamped());
    }
    for (step, context) in program {
        let words: Vec<&str> = step.split_whitespace().collect();
        let thread = ThreadId(words[0][..1].parse().unwrap());
        let access = |kind| {
            let bytes = address_of(words[1].chars().next().unwrap());
            Draft::access(kind, bytes, 8).site(words[2].parse().unwrap()).context(*context)
        };
        let draft = match &words[0][1..] {
            "r" => access(Kind::Read),
            "w" => access(Kind::Write),
            _ => Draft::new(Kind::Calls).object(words[1].parse().unwrap()).unstamped(),
        };
        writer.write(thread, draft);
    }
    let recording = Recording::from_bytes(&writer.to_bytes(), "program").unwrap();
    let mut collector = Collector::new(options);
    collector.add(&recording, &recording);
    collector.finish()
}

fn found(program: &[(&str, u32)]) -> Vec<String> {
    let mut longer = names(&run_with(program, Options::default()));
    longer.retain(|name| name.split(' ').count() > 3);
    longer
}

const NONE: [&str; 0] = [];
const OTHER: (&str, u32) = ("2w x 90", OWN);

#[test]
fn a_function_that_is_called_twice_by_one_call_is_no_unit() {
    let iterations = [("1r x 10", GET), OTHER, ("1b 1", 0), ("1w x 11", GET)];
    assert_eq!(found(&iterations), NONE);
    let one_call = [("1r x 10", GET), OTHER, ("1w x 11", GET)];
    assert_eq!(found(&one_call), ["P7 10 90 11"]);
    let as_the_papers_have_it = names(&run_with(&iterations, Options::by_window_only()));
    assert!(as_the_papers_have_it.contains(&"P7 10 90 11".to_owned()));
}

#[test]
fn what_one_function_calls_at_two_places_is_a_unit() {
    let check_then_act = [("1r x 10", GET), OTHER, ("1b 1", 0), ("1w x 11", PUT)];
    assert_eq!(found(&check_then_act), ["P7 10 90 11"]);
    let two_calls = [("1r x 10", GET), OTHER, ("1b 1", 0), ("1r x 10", GET_AGAIN)];
    assert_eq!(found(&two_calls), ["P4 10 90 10"]);
}

#[test]
fn an_instruction_that_is_executed_again_is_a_new_iteration() {
    assert_eq!(found(&[("1w x 10", OWN), OTHER, ("1w x 10", OWN)]), NONE);
    assert_eq!(found(&[("1w x 10", OWN), OTHER, ("1w x 11", OWN)]), ["P8 10 90 11"]);
}

#[test]
fn two_variables_in_two_iterations_are_no_unit() {
    let other = [("2w x 90", OWN), ("2w y 91", OWN)];
    let torn = |back: Option<(&'static str, u32)>| {
        let first = [("1w x 10", GET), other[0], other[1]];
        let all: Vec<_> = first.into_iter().chain(back).chain([("1w y 11", GET)]).collect();
        found(&all)
    };
    assert_eq!(torn(None).len(), 1);
    assert_eq!(torn(Some(("1b 1", 0))), NONE);
}

#[test]
fn the_elements_of_a_collection_are_a_unit() {
    let other = [("2w x 90", OWN), ("2w y 91", OWN)];
    let elements = [("1r x 10", GET), other[0], other[1], ("1b 1", 0), ("1r y 10", GET)];
    assert_eq!(found(&elements).len(), 1);
}
