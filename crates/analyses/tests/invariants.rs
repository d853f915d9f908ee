//! Invariants by the paper's own cases and figures, and what training makes of them.

mod traces;

use traces::{record, steps};
use unpick_analyses::invariants::{
    CacheShape, Case, Checks, Collector, Rules, RunInvariants, Training, Variant,
};
use unpick_events::Label;

fn collect_as(variant: Variant, text: &str) -> RunInvariants {
    let recording = record(&steps(text));
    let mut collector = Collector::new(variant);
    collector.add(&recording, &recording);
    collector.finish()
}

fn collect(text: &str) -> RunInvariants {
    collect_as(Variant::Software, text)
}

/// Each violation as `3: 10 20 11`: the case, and the sites of its accesses.
fn violations(run: &RunInvariants) -> Vec<String> {
    let offset = |site: u32| run.code.sites[site as usize].offset.to_string();
    let told = run.violations.iter().map(|violation| {
        let sites: Vec<String> = run.example(violation).map(|access| offset(access.site)).collect();
        format!("{}: {}", violation.case.number(), sites.join(" "))
    });
    told.collect()
}

/// By site: checked, challenged, violated.
fn checks(run: &RunInvariants) -> Vec<(u64, [u64; 3])> {
    let told = run.checks.iter().map(|(site, checks)| {
        let Checks { checked, challenged, violated } = *checks;
        (run.code.sites[*site as usize].offset, [checked, challenged, violated])
    });
    let mut told: Vec<_> = told.collect();
    told.sort_unstable();
    told
}

fn by_site(run: &RunInvariants) -> Vec<(u64, Checks)> {
    run.checks
        .iter()
        .map(|(site, checks)| (run.code.sites[*site as usize].offset, *checks))
        .collect()
}

#[test]
fn the_eight_cases_of_table_2() {
    let table = [
        ("1r x 10, 2r x 20, 1r x 11, 2w y 9, 1w y 9", None),
        ("1w x 10, 2r x 20, 1r x 11", None),
        ("1r x 10, 2w x 20, 1r x 11", Some(2)),
        ("1w x 10, 2w x 20, 1r x 11", Some(3)),
        ("1r x 10, 2r x 20, 1w x 11", None),
        ("1w x 10, 2r x 20, 1w x 11", Some(5)),
        ("1r x 10, 2w x 20, 1w x 11", Some(6)),
        ("1w x 10, 2w x 20, 1w x 11", None),
    ];
    for (trace, case) in table {
        let expected: Vec<String> =
            case.into_iter().map(|case: u8| format!("{case}: 10 20 11")).collect();
        assert_eq!(violations(&collect(trace)), expected, "{trace}");
    }
}

#[test]
fn with_several_remote_accesses_any_write_counts_but_after_a_write_the_first_read() {
    assert_eq!(violations(&collect("1r x 10, 2r x 20, 3w x 30, 1r x 11")), ["2: 10 20 30 11"]);
    assert_eq!(violations(&collect("1w x 10, 2r x 20, 2w x 21, 1r x 11")), ["3: 10 20 21 11"]);
    assert_eq!(violations(&collect("1r x 10, 2r x 20, 2w x 21, 1w x 11")), ["6: 10 20 21 11"]);
    assert_eq!(violations(&collect("1w x 10, 2r x 20, 2w x 21, 1w x 11")), ["5: 10 20 21 11"]);
    let overwritten = collect("1w x 10, 2w x 21, 2r x 20, 1w x 11");
    assert_eq!(violations(&overwritten), Vec::<String>::new(), "nobody saw what was written first");
}

#[test]
fn a_read_after_a_write_is_what_precedes() {
    // The access window would keep the write, and see 5.
    assert_eq!(violations(&collect("1w x 10, 1r x 12, 2r x 20, 1w x 11")), Vec::<String>::new());
    assert_eq!(violations(&collect("1w x 10, 1r x 12, 2w x 20, 1w x 11")), ["6: 12 20 11"]);
}

#[test]
fn figure_1_mozilla_loses_the_script_it_has_just_set() {
    let run = collect("1w s 13, 2w s 22, 1r s 19");
    assert_eq!(violations(&run), ["3: 13 22 19"]);
    assert_eq!(run.violations[0].case, Case::WriteIsGone);
}

#[test]
fn figure_4_apache_and_mysql() {
    let apache = collect("1r c 12, 2r c 22, 2r c 24, 2w c 25, 1r c 14, 1w c 15");
    assert_eq!(violations(&apache), ["2: 12 22 24 25 14"]);
    let mysql = collect("1w t 12, 2r t 22, 1w t 13");
    assert_eq!(violations(&mysql), ["5: 12 22 13"]);
}

#[test]
fn figure_3_an_account_holds_an_invariant_and_a_flag_that_is_waited_for_does_not() {
    let passing = [
        // Deposits one after the other, and a loop that waits until the flag is set.
        "1r a 1, 1w a 2, 2r a 1, 2w a 2, 2r f 8, 2r f 8, 1w f 7, 2r f 8",
        "2r a 1, 2w a 2, 2r f 8, 1r a 1, 1w a 2, 1w f 7, 2r f 8",
    ];
    let mut training = Training::new(Rules::default());
    for trace in passing {
        training.add(Label::Pass, by_site(&collect(trace)));
    }
    let kept: Vec<u64> = training.invariants().map(|(site, _)| *site).collect();
    assert_eq!(kept, [2], "the deposit's write; the flag's read was violated");
    let failing = collect("1r a 1, 2r a 1, 2w a 2, 1w a 2, 1w f 7, 2r f 8");
    assert_eq!(violations(&failing), ["6: 1 1 2 2"]);
    let site = failing.code.sites[failing.site_of(&failing.violations[0]) as usize].offset;
    assert!(training.is_invariant(&site));
}

#[test]
fn checked_challenged_and_violated_are_counted_by_the_site_of_the_i_access() {
    let run = collect("1r x 10, 1r x 11, 2r x 20, 1r x 11, 2w x 21, 1r x 11, 1w x 12");
    assert_eq!(checks(&run), [(11, [3, 2, 1]), (12, [1, 0, 0]), (21, [1, 1, 0])]);
}

#[test]
fn a_read_modify_write_is_not_checked_against_its_own_read() {
    let run = collect("1u x 10, 2u x 20, 1u x 10");
    assert_eq!(checks(&run), [(10, [1, 1, 1])]);
    assert_eq!(violations(&run), ["3: 10 20 20 10"]);
}

#[test]
fn lives_and_variables_are_kept_apart() {
    assert_eq!(violations(&collect("1w x 10, 0g x 0, 2w x 20, 1r x 11")), Vec::<String>::new());
    assert_eq!(violations(&collect("1w x 10, 2w y 20, 1r x 11, 2r x 9")), Vec::<String>::new());
}

#[test]
fn many_remote_accesses_are_cut_but_the_deciding_one_is_shown() {
    let reads = "2r x 20, 3r x 30, ".repeat(10);
    let run = collect(&format!("1r x 10, {reads} 2w x 21, 3r x 30, 1r x 11"));
    let violation = run
        .violations
        .iter()
        .find(|one| run.site_of(one) == run.code.accesses.last().unwrap().site);
    let violation = violation.unwrap();
    let accesses: Vec<_> = run.example(violation).collect();
    let deciding = accesses[violation.deciding];
    assert_eq!(run.code.sites[deciding.site as usize].offset, 21);
    assert_eq!(accesses.len() as u64 - 2 + violation.further, 22);
}

fn once(site: u64, violated: bool) -> Vec<(u64, Checks)> {
    vec![(site, Checks { checked: 1, challenged: violated.into(), violated: violated.into() })]
}

#[test]
fn training_settles_after_so_many_runs_without_a_change() {
    let mut training = Training::new(Rules { settled_after: 3, leaves_after: 1 });
    let mut settled_at = Vec::new();
    let runs = [
        (1, false),
        (1, false),
        (2, false),
        (1, false),
        (2, true),
        (1, false),
        (1, false),
        (1, false),
    ];
    for (at, (site, violated)) in runs.into_iter().enumerate() {
        training.add(Label::Pass, once(site, violated));
        if training.has_settled() {
            settled_at.push(at);
        }
    }
    assert_eq!(settled_at, [7], "run 2 entered a site, run 4 took it away");
    assert_eq!(training.invariants().map(|(site, _)| *site).collect::<Vec<_>>(), [1]);
}

#[test]
fn runs_that_did_not_pass_train_nothing() {
    let mut training = Training::new(Rules::default());
    assert_eq!(training.add(Label::Fail, once(1, true)), None);
    assert_eq!(training.add(Label::Unusable, once(1, true)), None);
    assert!(training.sites().is_empty() && training.runs() == 0);
}

#[test]
fn a_site_stays_until_more_runs_violate_it_than_may_be_mislabelled() {
    let mut training = Training::new(Rules { leaves_after: 2, ..Rules::default() });
    training.add(Label::Pass, once(1, false));
    training.add(Label::Pass, once(1, true));
    assert!(training.is_invariant(&1));
    let change = training.add(Label::Pass, once(1, true)).unwrap();
    assert_eq!((change.entered, change.left), (0, 1));
    assert!(!training.is_invariant(&1));
}

#[test]
fn sites_under_one_name_are_one() {
    let mut training = Training::new(Rules::default());
    training.add(Label::Pass, once(1, false).into_iter().chain(once(1, true)));
    assert_eq!(training.sites()[&1].runs, 1);
    assert!(!training.is_invariant(&1));
}

fn hardware(line: u64, capacity: u64, trace: &str) -> Vec<String> {
    let shape = CacheShape::new(line, capacity).unwrap();
    violations(&collect_as(Variant::Hardware(shape), trace))
}

#[test]
fn the_hardware_variant_sees_the_same_where_every_variable_has_a_line() {
    for trace in [
        "1r x 10, 2w x 20, 1r x 11",
        "1w x 10, 2w x 20, 1r x 11",
        "1w x 10, 2r x 20, 1w x 11",
        "1r x 10, 2w x 20, 1w x 11",
        "1w x 10, 2w x 20, 1w x 11",
        "1w x 10, 2w x 20, 2r x 21, 1w x 11",
        "1w x 10, 1r x 12, 2r x 20, 1w x 11",
    ] {
        assert_eq!(hardware(8, 4096, trace), violations(&collect(trace)), "{trace}");
    }
}

#[test]
fn the_hardware_variant_takes_neighbours_in_a_line_for_one() {
    let neighbours = "1r s 10, 2w t 20, 1r s 11, 2r s 9";
    assert_eq!(violations(&collect(neighbours)), Vec::<String>::new());
    assert_eq!(hardware(64, 4096, neighbours), ["2: 10 20 11"]);
}

#[test]
fn the_hardware_variant_forgets_what_its_cache_displaced() {
    // Lines of 8 bytes, one set of four: a to d drive x out.
    let much = "1w x 10, 1r a 1, 1r b 1, 1r c 1, 1r d 1, 2w x 20, 1r x 11";
    assert_eq!(hardware(8, 4096, much), ["3: 10 20 11"]);
    assert_eq!(hardware(8, 32, much), Vec::<String>::new());
}

#[test]
fn caches_that_make_no_sense_are_refused() {
    assert!(CacheShape::new(48, 4096).is_none());
    assert!(CacheShape::new(64, 64).is_none());
    assert!(CacheShape::new(0, 4096).is_none());
    assert!(CacheShape::new(64, 32 << 10).is_some());
}
