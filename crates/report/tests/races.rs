//! How races and their marks are shown.

use serde_json::{Value, json};
use unpick_findings::{CorrelatedAccess, ForcedOrder, ForcedRace, RaceFinding};
use unpick_report::{Style, confirmed_races, ordered, race, race_mark, races};

fn access(role: u8, kind: &str, line: u32) -> Value {
    json!({
        "role": role, "kind": kind, "variable": "settings", "function": "use", "file": "src/a.c",
        "line": line, "column": 1, "text": "settings = 7;", "inlined_into": [], "thread": role,
        "process": 0, "atomic": false, "order": role, "stack": [], "locks": [],
        "code": { "module": "a", "build_id": "b1", "offset": "0x10" },
    })
}

fn found(forced: Option<ForcedRace>) -> RaceFinding {
    let race = json!({
        "detectors": ["happens-before"], "sentence": "Nothing orders the two.", "why": "Nothing.",
        "variable": "settings", "allocated_at": null, "unordered": 1, "unlocked": 0, "runs": 1,
        "example_run": 1, "own_code": true, "steps": [],
        "accesses": [access(1, "write", 3), access(2, "read", 9)],
    });
    RaceFinding { forced, ..serde_json::from_value(race).unwrap() }
}

fn forced(hits: u32, failures: u32) -> ForcedRace {
    let confirmed = json!({
        "forced_runs": hits, "forced_hits": hits, "forced_failures": failures, "inverse_runs": 5,
        "inverse_hits": 5, "inverse_failures": 0, "verdict": "cause",
    });
    let confirmed = serde_json::from_value(confirmed).unwrap();
    ForcedRace::new(vec![ForcedOrder {
        pattern: "P1".to_owned(),
        steps: vec!["read of `settings`".to_owned(), "write of `settings`".to_owned()],
        runs: 5,
        hits,
        failures,
        confirmed: (failures > 0).then_some(confirmed),
        obstacle: (hits == 0).then(|| "nobody came".to_owned()),
    }])
}

fn style() -> Style {
    let (folder, kept_lines) = Default::default();
    Style { width: 80, colour: false, folder, kept_lines, command_options: " --store s".to_owned() }
}

#[test]
fn a_mark_says_what_it_rests_on() {
    let told = "confirmed: read of `settings`, then write of `settings` makes it fail in 5 of 5 runs; kept from that, in 0 of 5";
    assert_eq!(race_mark(&forced(5, 5)), told);
    assert_eq!(race_mark(&forced(4, 0)), "benign so far: forced 4 times, none failed");
    let told = "not forced: read of `settings`, then write of `settings` could not be forced in 5 runs: nobody came";
    assert_eq!(race_mark(&forced(0, 0)), told);
}

#[test]
fn marks_are_in_the_list_and_with_a_race_in_full() {
    let all = [found(None), found(Some(forced(5, 0)))];
    let list = races(&all, &style());
    assert_eq!(list.matches("benign so far: forced 5 times, none failed").count(), 1, "{list}");
    assert!(list.lines().all(|line| line.chars().count() <= 80), "{list}");
    assert!(race(&all, 2, &style()).unwrap().contains("\nbenign so far: "));
    assert!(!race(&all, 1, &style()).unwrap().contains("benign"));
}

#[test]
fn a_race_of_several_variables_names_both() {
    let mut torn = found(None);
    let mut left_out = torn.accesses[0].clone();
    left_out.variable = Some("count".to_owned());
    let correlation = "settings => count".to_owned();
    torn.correlated = Some(CorrelatedAccess { correlation, access: left_out });
    let list = races(std::slice::from_ref(&torn), &style());
    assert!(list.starts_with("1. settings and count: happens-before, once\n"), "{list}");
    let full = race(&[torn], 1, &style()).unwrap();
    assert!(full.contains("settings and count\nfound by happens-before, once"), "{full}");
}

#[test]
fn of_what_is_no_race_only_a_few_are_listed() {
    let all = vec![found(None); 30];
    assert!(races(&all, &style()).contains("30. "));
    let list = ordered(&all, 5, &style());
    assert!(list.contains("15. ") && !list.contains("16. "), "{list}");
    assert!(list.contains("and 20 more: see --json FILE"), "{list}");
}

#[test]
fn only_what_is_confirmed_is_told_as_a_finding_with_its_number_and_command() {
    let all = [found(None), found(Some(forced(5, 0))), found(Some(forced(5, 5)))];
    let told = confirmed_races(&all, &style());
    assert!(told.starts_with("Races that make it fail\n\n3. settings: "), "{told}");
    assert!(
        told.contains("keep it as a test: unpick pin --race 3 --store s > race.toml"),
        "{told}"
    );
    assert_eq!(confirmed_races(&all[..2], &style()), "");
}

#[test]
fn words_from_a_damaged_file_cannot_steer_the_terminal() {
    let mut damaged = forced(5, 5);
    damaged.sentence.push('\u{1b}');
    assert!(!races(&[found(Some(damaged))], &style()).contains('\u{1b}'));
}
