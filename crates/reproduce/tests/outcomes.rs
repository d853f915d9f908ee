//! What the runtime says about a schedule, and what is said to people about it.

mod made;

use std::time::Duration;

use made::{finding, lock};
use proptest::prelude::*;
use unpick_analyses::interleaving_patterns::PatternId;
use unpick_events::Kind;
use unpick_events::schedule::{Arming, LetGo, OUTCOME_MAGIC, outcome};
use unpick_reproduce::{Outcome, Over, Plan, Prevention, StepOutcome, why_never_hit};

/// Two steps, three places.
fn words() -> Vec<u64> {
    let mut header = [0; 16];
    header[outcome::MAGIC] = OUTCOME_MAGIC;
    header[outcome::STEPS] = 2;
    header[outcome::PLACES] = 3;
    header[outcome::HITS] = 1;
    header[outcome::HELD] = 5_000_000;
    header[outcome::STARTED_AT] = 1_000;
    header[outcome::HIT_AT] = 3_000;
    let steps = [4, 3, 2, 1, 0, 0, 0, 0, 5, 0, 2, 0, 1, 0, 0, 0];
    let places = [1, 4, 1, 3, 0, 0];
    [&header[..], &steps, &places].concat()
}

fn bytes(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn read(words: &[u64]) -> Result<Outcome, unpick_problem::Problem> {
    Outcome::from_bytes(&bytes(words), "0001/1-0.outcome")
}

#[test]
fn an_outcome_is_read() {
    let outcome = read(&words()).unwrap();
    assert_eq!((outcome.hits, outcome.held), (1, Duration::from_millis(5)));
    assert_eq!(outcome.until_hit, Some(Duration::from_nanos(2_000)));
    let first = StepOutcome { arrived: 4, held: 3, made: 2, timed_out: 1, blocked: 0, alone: 0 };
    assert_eq!(outcome.steps[0], first);
    let armings: Vec<_> =
        outcome.places.iter().map(|place| (place.arming, place.arrived)).collect();
    assert_eq!(armings, [(Arming::Armed, 4), (Arming::Armed, 3), (Arming::NoModule, 0)]);
    let mut mapped = words();
    mapped.resize(512, 0);
    assert_eq!(read(&mapped).unwrap(), outcome, "what follows is of the page");
}

#[test]
fn damaged_outcomes_are_refused() {
    let with = |at: usize, word: u64| {
        let mut words = words();
        words[at] = word;
        words
    };
    assert!(read(&with(outcome::MAGIC, 7)).is_err());
    assert!(read(&with(outcome::STEPS, 17)).is_err());
    assert!(read(&with(outcome::PLACES, u64::MAX)).is_err());
    assert!(read(&with(32, 9)).is_err(), "no known state of a place");
    assert!(read(&words()[..37]).is_err());
    assert!(Outcome::from_bytes(&bytes(&words())[..300], "odd").is_err());
    assert!(Outcome::from_bytes(&[], "empty").is_err());
}

#[test]
fn processes_are_summed_and_who_got_furthest_tells_about_a_place() {
    let mut other = words();
    other[32] = Arming::NoCall as u64;
    other[36] = Arming::Armed as u64;
    other[outcome::OVER] = 2;
    other[outcome::WAITED_IN] = Kind::LockWait as u64 + 1;
    other[outcome::HIT_AT] = 0;
    let both = [read(&words()).unwrap(), read(&other).unwrap()];
    let sum = Outcome::sum(&both).unwrap();
    assert_eq!((sum.hits, sum.steps[1].arrived, sum.places[0].arrived), (2, 10, 8));
    assert!(sum.places.iter().all(|place| place.arming == Arming::Armed));
    assert_eq!((sum.over, sum.waited_in), (Some(Over::Budget), Some(Kind::LockWait)));
    assert_eq!(sum.until_hit, Some(Duration::from_nanos(2_000)));
    assert_eq!(Outcome::sum(&[]).unwrap(), Outcome::default());
    let mut shorter = words();
    shorter[outcome::PLACES] = 2;
    assert!(Outcome::sum(&[read(&words()).unwrap(), read(&shorter).unwrap()]).is_err());
}

/// P1 with a gate before the second step: places are step 1, step 2, gate of step 2.
fn plan() -> Plan {
    let mut finding = finding(PatternId::P1);
    finding.accesses[1].locks = vec![lock("account", 19, 3)];
    Plan::of_finding(&finding).unwrap()
}

fn never_hit() -> Outcome {
    let mut outcome = read(&words()).unwrap();
    outcome.hits = 0;
    outcome.steps = vec![StepOutcome { arrived: 3, ..StepOutcome::default() }; 2];
    outcome
}

fn told(outcome: &Outcome) -> String {
    why_never_hit(&plan(), outcome, None, 20).to_string()
}

#[test]
fn the_first_obstacle_is_told() {
    let mut outcome = never_hit();
    assert!(told(&outcome).contains("not to the same bytes at the same time"));
    outcome.steps[0].alone = 2;
    assert!(told(&outcome).contains("let go 2 times because there was no other thread"));
    outcome.steps[1].timed_out = 7;
    assert_eq!(
        told(&outcome),
        "error: the order never came about in 20 runs\n  \
         step: 2, write of `x` in `work` at bank.c:20\n  \
         why:  a thread held there was let go 7 times after 1.0s: what must come before did not happen meanwhile\n  \
         next: give it more time: a longer `--pause`, and a `--budget` of several pauses"
    );
    outcome.over = Some(Over::Budget);
    outcome.steps[1].held = 9;
    assert!(told(&outcome).contains("larger `--budget`"));
    outcome.steps[1].blocked = 1;
    assert!(told(&outcome).contains("let go once because all others waited\n"));
    outcome.waited_in = Some(Kind::LockWait);
    assert!(told(&outcome).contains("let go once because all others waited for a lock"));
    outcome.steps[0].arrived = 0;
    assert!(told(&outcome).contains("step: 1, read of `x`"));
    assert!(told(&outcome).contains("no thread ever came there"));
    outcome.places[1].arming = Arming::NoCall;
    assert!(told(&outcome).contains("no call ends at 0x14 of the module c0ffee"));
    outcome.places[0].arming = Arming::NoModule;
    assert!(told(&outcome).contains("no process had the module c0ffee"));
}

#[test]
fn who_waited_for_what_is_told_at_its_step() {
    let mut outcome = never_hit();
    let who = "thread 3 waits for ledger at bank.c:10";
    let mut prevention = Prevention { why: LetGo::InTheWay, step: 1, who: who.to_owned() };
    let told = |outcome: &Outcome, prevention: &Prevention| {
        why_never_hit(&plan(), outcome, Some(prevention), 20).to_string()
    };
    (outcome.steps[0].blocked, outcome.steps[1].blocked) = (1, 1);
    outcome.waited_in = Some(Kind::LockWait);
    let text = told(&outcome, &prevention);
    assert!(
        text.contains("step: 2, ") && text.contains(&format!("because others waited: {who}\n")),
        "{text}"
    );
    // Of another step it is not known.
    outcome.steps[1].blocked = 0;
    let text = told(&outcome, &prevention);
    assert!(text.contains("step: 1, ") && !text.contains(who), "{text}");
    outcome.steps[0] = StepOutcome { blocked: 0, alone: 2, ..outcome.steps[0] };
    prevention.step = 0;
    let text = told(&outcome, &prevention);
    assert!(text.contains(&format!("all others waited for threads to end: {who}\n")), "{text}");
}

#[test]
fn the_threads_that_were_seen_are_read() {
    let mut words = words();
    assert_eq!(read(&words).unwrap().impasse, None);
    words[outcome::LET_GO] = LetGo::InTheWay as u64;
    words[outcome::LET_GO_AT] = 1;
    words[outcome::SEEN] = 2;
    assert_eq!(read(&words).unwrap().impasse, None, "cut off");
    words.extend([3, 70, 2, 40]);
    let impasse = read(&words).unwrap().impasse.unwrap();
    assert_eq!((impasse.why, impasse.step), (LetGo::InTheWay, 1));
    let seen: Vec<_> =
        impasse.threads.iter().map(|seen| (seen.thread, seen.next_ordinal)).collect();
    assert_eq!(seen, [(3, 70), (2, 40)]);
    words[outcome::SEEN] = 33;
    assert_eq!(read(&words).unwrap().impasse, None, "more than there can be");
    // Threads are of one process: a sum has none.
    assert_eq!(Outcome::sum(&[read(&words).unwrap()]).unwrap().impasse, None);
}

#[test]
fn one_place_of_several_is_enough() {
    let mut plan = plan();
    let copy = plan.steps[0].places[0].clone();
    plan.steps[0].places.push(copy);
    let mut outcome = never_hit();
    outcome.places.insert(0, outcome.places[2]);
    let problem = why_never_hit(&plan, &outcome, None, 1).to_string();
    assert!(problem.contains("in one run") && !problem.contains("module"), "{problem}");
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_harm(mut words in proptest::collection::vec(any::<u64>(), 0..80), steps in 0..20u64, places in 0..70u64) {
        if let [magic, of_steps, of_places, ..] = &mut words[..] {
            (*magic, *of_steps, *of_places) = (OUTCOME_MAGIC, steps, places);
        }
        if let Ok(outcome) = read(&words) {
            let _ = why_never_hit(&plan(), &outcome, None, 3).to_string();
            let _ = Outcome::sum([&outcome, &outcome]);
        }
    }
}
