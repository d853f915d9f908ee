//! From traces to findings: which pattern leads, who supports it, what is said.

#[path = "../../analyses/tests/traces/mod.rs"]
mod traces;

use std::path::{Path, PathBuf};

use boon::{Compiler, Schemas};
use traces::collect;
use unpick_analyses::interleaving_patterns::CodeSite;
use unpick_analyses::races::NamedRule;
use unpick_analyses::races_multi_variable::AccessType;
use unpick_analyses::ranking::{CodeBook, Conclusion, ExampleAccess, ExampleLock, ExampleMemory};
use unpick_analyses::{Collector, Formula, LabelledRun, Options, RunPatterns, Unseen, conclude};
use unpick_events::Label::{self, Fail, Pass, Unusable};
use unpick_events::{Kind, ThreadId};
use unpick_findings::{
    Alternative, Author, Choices, Confirmation, Confirmed, Finding, FindingAccess, Findings, Frame,
    HangGroup, Names, OpenUnit, Origin, Packages, Place, RaceFinding, Reason, Relation, Unreadable,
    UsersCall, alternatives, describe, describe_shown, describe_unseen,
};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

/// Site 31 is line 31 of bank.c; sites above 100 are on the line of their last two digits, as inlined copies are.
/// Sites above 1000 are a library's. Above 2000 the user calls it only from the line of their last two digits; above 3000 from several
/// copies of that line. Site 499 is what the compiler adds, without a file.
struct TestNames;

const ADDED: u32 = 499;

/// From site 501 to 1000 it is code that cargo fetched.
fn file_of(site: CodeSite) -> &'static str {
    match site.offset {
        501..=1000 => "/home/me/.cargo/registry/src/index-1/queue-0.3.11/src/lib.rs",
        _ => "/home/me/bank/src/bank.c",
    }
}

impl Names for TestNames {
    fn place(&self, site: CodeSite, _: &CodeBook) -> Place {
        let frame = Frame {
            function: Some(format!("f{}", site.offset)),
            file: (site.offset != u64::from(ADDED)).then(|| file_of(site).to_owned()),
            line: (site.offset != u64::from(ADDED)).then_some(site.offset as u32 % 100),
            column: Some(5),
        };
        let inlined_into = (site.offset == 40).then(Frame::default);
        Place { frame, inlined_into: inlined_into.into_iter().collect() }
    }

    fn users_call(&self, site: CodeSite, _: &CodeBook) -> Option<UsersCall> {
        let offset = site.offset % 100;
        let call = UsersCall { site: CodeSite { offset, ..site }, is_exact: site.offset < 3000 };
        (site.offset > 2000).then_some(call)
    }

    fn author(&self, site: CodeSite, _: &CodeBook) -> Author {
        match site.offset {
            0..=500 => Author::User,
            501..=1000 => Author::Dependency,
            _ => Author::Language,
        }
    }

    fn line_text(&self, site: CodeSite, _: &CodeBook) -> Option<String> {
        Some(format!("text of line {}", site.offset))
    }

    fn variable(&self, access: &ExampleAccess, _: &CodeBook) -> Option<String> {
        let ExampleMemory::Other { address } = access.memory else { return None };
        ('a'..='z').find(|&name| traces::address_of(name) == address).map(String::from)
    }

    fn lock(&self, _: &ExampleLock, _: &CodeBook) -> Option<String> {
        None
    }
}

fn concluded(traces: &[(Label, &str)]) -> Conclusion {
    let runs: Vec<(Label, RunPatterns)> =
        traces.iter().map(|(label, trace)| (*label, collect(trace, Options::default()))).collect();
    let labelled = runs.iter().zip(1..).map(|((label, patterns), number)| LabelledRun {
        number,
        label: *label,
        patterns,
    });
    conclude(labelled, Formula::Jaccard).unwrap()
}

fn choices() -> Choices {
    Choices {
        working_folder: PathBuf::from("/home/me/bank"),
        most_findings: 10,
        most_supporters: 20,
        correlations: Vec::new(),
        packages: Packages::default(),
    }
}

fn found(traces: &[(Label, &str)]) -> Findings {
    describe(&concluded(traces), &TestNames, &choices())
}

/// `P5 1 2 3`: the pattern in front and its lines.
fn leader(finding: &Finding) -> String {
    let lines = finding.accesses.iter().map(|access| format!(" {}", access.frame.line.unwrap()));
    lines.fold(finding.pattern.clone(), |text, line| text + &line)
}

fn leaders(findings: &Findings) -> Vec<String> {
    findings.findings.iter().map(leader).collect()
}

fn supporters(finding: &Finding) -> Vec<(String, Relation)> {
    let name = |supporter: &unpick_findings::Supporter| {
        let lines =
            supporter.accesses.iter().map(|access| format!(" {}", access.frame.line.unwrap()));
        lines.fold(supporter.pattern.clone(), |text, line| text + &line)
    };
    finding.supporters.iter().map(|supporter| (name(supporter), supporter.relation)).collect()
}

#[test]
fn an_order_violation_leads_the_longer_patterns_that_contain_it() {
    // UNICORN Fig. 1: the main thread takes the mutex away at 10 before the worker has done with it at 20.
    let findings = found(&[(Pass, "2r x 5, 2r x 20, 1w x 10"), (Fail, "2r x 5, 1w x 10, 2r x 20")]);
    assert_eq!(leaders(&findings), ["P2 10 20"]);
    let finding = &findings.findings[0];
    assert!(supporters(finding).contains(&("P4 5 10 20".to_owned(), Relation::Contains)));
    assert_eq!(finding.class, unpick_findings::Class::Order);
    assert_eq!(
        finding.sentence,
        "Thread 2 (`f20`) read `x` after thread 1 (`f10`) had written it. They came the other way round in 1 of the 1 runs \
         that passed."
    );
}

#[test]
fn a_row_of_accesses_that_was_cut_in_two_is_not_the_cause() {
    // As before, but the mutex is also set up at 17: in failing runs the row of reads that follows ends at 5, not at 20.
    let findings = found(&[
        (Pass, "1w x 17, 2r x 5, 2r x 20, 1w x 10"),
        (Fail, "1w x 17, 2r x 5, 1w x 10, 2r x 20"),
    ]);
    assert_eq!(leaders(&findings), ["P2 10 20"]);
    let names: Vec<String> =
        supporters(&findings.findings[0]).into_iter().map(|(name, _)| name).collect();
    for artefact in ["P2 17 5", "P1 5 10"] {
        assert!(!names.contains(&artefact.to_owned()), "passing runs hide it: {names:?}");
    }
}

#[test]
fn a_row_that_is_cut_at_different_places_is_not_the_cause_either() {
    // Sometimes the worker dies at 6 already, where it uses the mutex for the second time.
    let mut traces = vec![(Pass, "1w x 17, 2r x 5, 2r x 6, 2r x 20, 1w x 10"); 5];
    traces.extend(vec![(Fail, "1w x 17, 2r x 5, 2r x 6, 1w x 10, 2r x 20"); 3]);
    traces.extend(vec![(Fail, "1w x 17, 2r x 5, 2r x 6, 1w x 10"); 2]);
    let findings = found(&traces);
    assert_eq!(leader(&findings.findings[0]), "P2 10 20", "{:?}", leaders(&findings));
    assert_eq!(findings.findings[0].rank, 1);
}

#[test]
fn an_atomicity_violation_leads_its_pair_if_both_serial_orders_pass() {
    // UNICORN's LoadScript: thread 2 writes between a write and a read of thread 1.
    let findings = found(&[
        (Pass, "2w x 2, 1w x 1, 1r x 3"),
        (Pass, "1w x 1, 1r x 3, 2w x 2"),
        (Fail, "1w x 1, 2w x 2, 1r x 3"),
    ]);
    assert_eq!(leaders(&findings), ["P5 1 2 3"]);
    assert!(supporters(&findings.findings[0]).contains(&("P2 2 3".to_owned(), Relation::PartOf)));
    assert!(findings.findings[0].sentence.contains("instead of its own"));
}

#[test]
fn the_pair_leads_if_passing_runs_have_one_order_only() {
    let findings = found(&[(Pass, "1w x 1, 1r x 3, 2w x 2"), (Fail, "1w x 1, 2w x 2, 1r x 3")]);
    assert_eq!(leaders(&findings), ["P2 2 3"]);
}

#[test]
fn a_value_in_between_that_was_read_leads_the_pair_that_comes_after() {
    // UNICORN Fig. 2: the log is closed at 1 and open again at 3; at 2 it is found closed.
    let findings = found(&[
        (Pass, "2r x 2, 1w x 1, 1w x 3"),
        (Pass, "1w x 1, 1w x 3, 2r x 2"),
        (Fail, "1w x 1, 2r x 2, 1w x 3"),
    ]);
    assert_eq!(findings.findings[0].pattern, "P6");
    assert_eq!(findings.findings.len(), 1);
}

/// UNICORN Table II, with an unusable run.
const TABLE_2: [(Label, &str); 7] = [
    (Pass, "1w x 1, 2w x 2, 1w y 4, 2w y 3"),
    (Pass, "2w x 2, 1w x 1, 2w y 3, 1w y 4"),
    (Pass, "1w x 1, 2w x 2, 1w y 4, 2w y 3"),
    (Unusable, "1w x 1, 2r x 2"),
    (Pass, "2w x 2, 1w x 1, 2w y 3, 1w y 4"),
    (Fail, "1w x 1, 2w x 2, 2w y 3, 1w y 4"),
    (Fail, "1w x 1, 2w x 2, 2w y 3, 1w y 4"),
];

#[test]
fn two_variables_that_are_torn_apart_are_one_finding() {
    let findings = found(&TABLE_2);
    assert_eq!(leaders(&findings), ["P9 1 2 3 4"]);
    let finding = &findings.findings[0];
    assert_eq!(
        (finding.rank, finding.score, finding.failed_runs, finding.passed_runs),
        (1, 1.0, 2, 0)
    );
    let parts = [("P3 1 2".to_owned(), Relation::PartOf), ("P3 3 4".to_owned(), Relation::PartOf)];
    assert_eq!(supporters(finding), parts);
    assert_eq!((findings.runs.total, findings.runs.unusable), (7, 1));
    assert_eq!(finding.example_run, 6);
    assert_eq!((finding.study.first_pair, finding.study.patterns_at_rank_1), (Some(0.5), 1));
}

#[test]
fn what_failing_code_does_afterwards_supports_the_cause() {
    let cause = "1w x 1, 2w x 2, 1r x 3";
    let effect = "1w e 90, 3r e 91";
    let findings = found(&[
        (Pass, "2w x 2, 1w x 1, 1r x 3"),
        (Pass, "1w x 1, 1r x 3, 2w x 2"),
        (Fail, &format!("{cause}, {effect}")),
        (Fail, &format!("{cause}, {effect}")),
    ]);
    assert_eq!(leaders(&findings), ["P5 1 2 3"]);
    let effect = ("P2 90 91".to_owned(), Relation::SameRuns);
    assert!(supporters(&findings.findings[0]).contains(&effect));
}

#[test]
fn a_flag_that_only_failing_runs_set_is_not_the_cause() {
    // Thread 1 checks twice; only if thread 2 comes between the two in the first round, the second check fails and says so at 80.
    let torn = "1r x 1, 2w x 2, 1r x 3, 1w e 80, 3r e 81";
    let harmless = "1r x 1, 2w x 2, 1r x 3, 3r e 81";
    let mut traces = vec![(Fail, torn); 4];
    traces.extend(vec![(Pass, harmless); 1]);
    traces.extend(vec![(Pass, "2w x 2, 1r x 1, 1r x 3, 3r e 81"); 4]);
    traces.extend(vec![(Pass, "1r x 1, 1r x 3, 2w x 2, 3r e 81"); 4]);
    let findings = found(&traces);
    assert_eq!(leaders(&findings), ["P4 1 2 3"]);
    let finding = &findings.findings[0];
    assert_eq!((finding.rank, finding.score), (1, 0.8));
    assert_eq!(supporters(finding)[0], ("P2 80 81".to_owned(), Relation::SameRuns));
}

#[test]
fn a_flag_leads_if_nothing_is_behind_it() {
    let findings = found(&[(Pass, "3r e 81"), (Fail, "1w e 80, 3r e 81")]);
    assert_eq!(leaders(&findings), ["P2 80 81"]);
}

#[test]
fn an_order_that_passing_runs_hide_is_not_the_cause() {
    // Passing runs free at 9 what they have read at 8; failing ones end before. Threads 1 and 2 tear x apart.
    let findings = found(&[
        (Pass, "2w y 2, 1w y 1, 1r y 3, 3r y 8, 3w y 9"),
        (Pass, "1w y 1, 1r y 3, 2w y 2, 3r y 8, 3w y 9"),
        (Fail, "1w y 1, 2w y 2, 1r y 3, 3r y 8"),
    ]);
    assert_eq!(leaders(&findings), ["P5 1 2 3"]);
    let names: Vec<String> =
        supporters(&findings.findings[0]).into_iter().map(|(name, _)| name).collect();
    assert!(!names.contains(&"P2 2 8".to_owned()), "{names:?}");
}

/// Failing runs have an order in the user's own code (1, 2) and, in other variables and threads, one in a package (550, 560); of 19 passing runs
/// so many have the first and the second.
fn own_and_fetched(own: usize, fetched: usize) -> Vec<(Label, &'static str)> {
    let passing = |at: usize| match (at < own, at < fetched) {
        (true, true) => "1w x 1, 2r x 2, 3w d 550, 4r d 560",
        (true, false) => "1w x 1, 2r x 2",
        (false, true) => "3w d 550, 4r d 560",
        (false, false) => "2r x 2, 1w x 1, 4r d 560, 3w d 550",
    };
    let failing = (Fail, "3w d 550, 4r d 560, 1w x 1, 2r x 2");
    (0..19).map(|at| (Pass, passing(at))).chain(vec![failing; 19]).collect()
}

fn ranked(findings: &Findings) -> Vec<(u32, String)> {
    findings.findings.iter().map(|finding| (finding.rank, leader(finding))).collect()
}

fn named(runs: &[(Label, &str)], packages: Packages) -> Findings {
    describe(&concluded(runs), &TestNames, &Choices { packages, ..choices() })
}

#[test]
fn own_code_comes_before_a_package_of_similar_score_which_is_reported_too() {
    let own_is_a_bit_worse = found(&own_and_fetched(1, 0));
    let orders = [(1, "P2 1 2".to_owned()), (2, "P2 50 60".to_owned())];
    assert_eq!(ranked(&own_is_a_bit_worse), orders);
    assert!(own_is_a_bit_worse.findings[0].score < own_is_a_bit_worse.findings[1].score);
    assert_eq!(own_is_a_bit_worse.findings[1].packages(&Packages::default()), ["queue 0.3.11"]);
}

#[test]
fn a_package_that_correlates_clearly_better_comes_first() {
    let findings = found(&own_and_fetched(9, 0));
    assert_eq!(ranked(&findings), [(1, "P2 50 60".to_owned()), (2, "P2 1 2".to_owned())]);
}

#[test]
fn code_of_a_package_is_a_finding_whatever_its_score() {
    let findings = found(&own_and_fetched(0, 17));
    assert_eq!(ranked(&findings), [(1, "P2 1 2".to_owned()), (2, "P2 50 60".to_owned())]);
    assert!(findings.findings[1].score < 0.6);
    let only_theirs = found(&[(Pass, "4r d 560"), (Fail, "3w d 550, 4r d 560")]);
    assert_eq!(leaders(&only_theirs), ["P2 50 60"]);
}

#[test]
fn where_no_run_tells_them_apart_the_package_supports_own_code() {
    let findings = found(&own_and_fetched(0, 0));
    assert_eq!(leaders(&findings), ["P2 1 2"]);
    let supporters = supporters(&findings.findings[0]);
    assert!(supporters.contains(&("P2 50 60".to_owned(), Relation::SameRuns)), "{supporters:?}");
}

#[test]
fn a_package_that_is_named_counts_as_own_code() {
    let packages = Packages { own: vec!["queue".to_owned()], ..Packages::default() };
    let findings = named(&own_and_fetched(1, 0), packages.clone());
    assert_eq!(ranked(&findings), [(1, "P2 50 60".to_owned()), (2, "P2 1 2".to_owned())]);
    assert_eq!(findings.findings[0].packages(&packages), Vec::<String>::new());
    assert_eq!(findings.packages, packages);
}

#[test]
fn orders_that_are_all_in_an_ignored_package_are_counted_and_not_reported() {
    let ignored = vec!["queue@0.3.11".to_owned()];
    let packages = Packages { ignored, ..Packages::default() };
    let findings = named(&own_and_fetched(9, 0), packages.clone());
    assert_eq!(leaders(&findings), ["P2 1 2"]);
    assert_eq!(findings.packages.left_out, 1);
    let is_theirs = |(name, _): &(String, Relation)| name.ends_with("50 60");
    assert!(!supporters(&findings.findings[0]).iter().any(is_theirs));
    // One access in own code is enough to be reported.
    let mixed = named(&[(Pass, "2r x 2"), (Fail, "1w x 550, 2r x 2")], packages);
    assert_eq!((leaders(&mixed), mixed.packages.left_out), (vec!["P2 50 2".to_owned()], 0));
}

#[test]
fn of_two_that_are_nearly_as_good_the_one_that_no_passing_run_has_leads() {
    let torn = "1r x 1, 2w x 2, 1r x 3";
    let both = format!("{torn}, 3w y 8, 4w y 9");
    let mut traces = vec![(Fail, both.as_str()); 24];
    traces.extend([(Fail, "1r x 1, 1r x 3, 3w y 8, 4w y 9"), (Pass, "3w y 8, 4w y 9")]);
    traces.extend(vec![(Pass, "1r x 1, 1r x 3, 2w x 2"); 12]);
    traces.extend(vec![(Pass, "2w x 2, 1r x 1, 1r x 3"); 12]);
    let findings = found(&traces);
    assert_eq!(leader(&findings.findings[0]), "P4 1 2 3", "{:?}", leaders(&findings));
}

#[test]
fn the_first_two_accesses_of_a_torn_row_do_not_lead_it() {
    let findings = found(&[(Pass, "2w x 2, 1r x 1, 1w x 3"), (Fail, "1r x 1, 2w x 2, 1w x 3")]);
    assert_eq!(leaders(&findings), ["P7 1 2 3"]);
    assert!(supporters(&findings.findings[0]).contains(&("P1 1 2".to_owned(), Relation::PartOf)));
}

#[test]
fn two_bugs_are_two_findings() {
    let quiet = "2r x 20, 1w x 10, 2r y 40, 1w y 30";
    let findings = found(&[
        (Pass, quiet),
        (Pass, quiet),
        (Fail, "1w x 10, 2r x 20, 2r y 40, 1w y 30"),
        (Fail, "2r x 20, 1w x 10, 1w y 30, 2r y 40"),
    ]);
    assert_eq!(leaders(&findings), ["P2 10 20", "P2 30 40"]);
    assert_eq!(findings.findings.iter().map(|finding| finding.rank).collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn where_runs_end_before_the_last_access_their_common_beginning_leads() {
    let whole = "1r x 1, 2w x 2, 1r x 3";
    let cut = "1r x 1, 2w x 2";
    let harmless = "1r x 1, 2w x 2";
    let other = "2w x 2, 1r x 1, 1r x 3";
    let mut traces = vec![(Fail, whole); 3];
    traces.extend(vec![(Fail, cut); 2]);
    traces.extend(vec![(Pass, harmless); 5]);
    traces.extend(vec![(Pass, other); 5]);
    let findings = found(&traces);
    assert_eq!(leaders(&findings), ["P1 1 2"]);
    let finding = &findings.findings[0];
    assert!(finding.cut_short);
    assert_eq!((finding.failed_runs, finding.passed_runs), (5, 5));
    assert!(supporters(finding).contains(&("P4 1 2 3".to_owned(), Relation::Contains)));
}

#[test]
fn a_beginning_that_most_passing_runs_have_explains_nothing() {
    let mut traces = vec![(Fail, "1r x 1, 2w x 2, 1r x 3"); 3];
    traces.push((Fail, "1r x 1, 2w x 2"));
    traces.extend(vec![(Pass, "1r x 1, 2w x 2"); 6]);
    traces.push((Pass, "2w x 2, 1r x 1, 1r x 3"));
    let findings = found(&traces);
    assert!(findings.findings.iter().all(|finding| !finding.cut_short));
    assert_ne!(leader(&findings.findings[0]), "P1 1 2");
}

#[test]
fn copies_of_one_line_are_one_cause() {
    // Sites 20 and 120 are both on line 20; each is in one failing run only.
    let findings = found(&[
        (Pass, "2r x 20, 1w x 10"),
        (Fail, "1w x 10, 2r x 20"),
        (Fail, "1w x 10, 2r x 120"),
    ]);
    assert_eq!(leaders(&findings), ["P2 10 20"]);
    assert_eq!(supporters(&findings.findings[0]), [("P2 10 20".to_owned(), Relation::SharesCode)]);
}

#[test]
fn what_goes_with_passing_is_no_finding() {
    let findings = found(&[(Pass, "1w x 1, 2r x 2"), (Pass, "1w x 1, 2r x 2"), (Fail, "1w x 1")]);
    assert!(findings.findings.is_empty());
    assert!(found(&[(Pass, "1w x 1, 2r x 2")]).findings.is_empty(), "no failing run");
    assert!(found(&[]).findings.is_empty(), "no run");
}

/// A write at a site, with calls that led there (outermost first), that line 40 reads.
fn written_at(site: u32, call_sites: &[u32]) -> [FindingAccess; 2] {
    let mut writer = Writer::new();
    let stack = Draft::new(Kind::Stack).context(9).call_sites(call_sites);
    writer.write(ThreadId(1), stack);
    let inside = Draft::access(Kind::Write, traces::address_of('x'), 8).site(site).context(9);
    writer.write(ThreadId(1), inside);
    let outside = Draft::access(Kind::Read, traces::address_of('x'), 8).site(40);
    writer.write(ThreadId(2), outside);
    let recording = Recording::from_bytes(&writer.to_bytes(), "library").unwrap();
    let mut collector = Collector::new(Options::default());
    collector.add(&recording, &recording);
    let patterns = collector.finish();
    let run = LabelledRun { number: 1, label: Fail, patterns: &patterns };
    let conclusion = conclude(std::iter::once(run), Formula::Jaccard).unwrap();
    let findings = describe(&conclusion, &TestNames, &choices());
    findings.findings[0].accesses.clone().try_into().unwrap()
}

fn lines_of_calls(access: &FindingAccess) -> Vec<Option<u32>> {
    access.stack.iter().map(|frame| frame.line).collect()
}

#[test]
fn an_access_inside_a_library_is_shown_at_the_users_call_of_it() {
    let [write, read] = written_at(1099, &[29, 31, 1005]);
    assert_eq!((write.frame.line, read.frame.line), (Some(31), Some(40)));
    assert_eq!(write.text.as_deref(), Some("text of line 31"));
    assert_eq!(lines_of_calls(&write), [Some(29)]);
    assert_eq!(write.code.offset, "0x44b", "the access itself can still be found");
    let calls: Vec<&str> = write.calls.iter().map(|call| call.offset.as_str()).collect();
    assert_eq!((&calls[..], write.shown_call), (&["0x3ed", "0x1f", "0x1d"][..], Some(1)));
    assert_eq!((write.bytes, read.shown_call), (8, None));
}

#[test]
fn what_the_compiler_adds_around_a_thread_is_not_shown_as_the_users() {
    let [write, _] = written_at(1099, &[29, ADDED, 1005]);
    assert_eq!((write.frame.line, write.shown_call), (Some(29), Some(2)));
    let [write, _] = written_at(1099, &[ADDED, 1005]);
    assert_eq!((write.frame.line, write.shown_call), (Some(99), None), "the library itself");
}

#[test]
fn a_call_of_a_library_that_was_not_recorded_is_shown_if_there_is_only_one() {
    for recorded in [&[29, ADDED, 1005][..], &[29], &[]] {
        let [write, _] = written_at(2040, recorded);
        assert_eq!((write.frame.line, write.frame.column), (Some(40), Some(5)));
        assert_eq!(write.text.as_deref(), Some("text of line 40"));
        assert_eq!((write.inlined_into.len(), write.shown_call), (1, None));
        assert_eq!((write.code.offset.as_str(), write.calls.len()), ("0x7f8", recorded.len()));
        assert_eq!(lines_of_calls(&write).len(), write.calls.len(), "all of them led there");
    }
    let [copied, _] = written_at(3040, &[29]);
    assert_eq!((copied.frame.line, copied.frame.column), (Some(40), None));
    assert_eq!(copied.inlined_into, [], "which of the copies it was is not known");
}

#[test]
fn a_call_of_a_library_that_was_recorded_needs_no_other() {
    let [write, _] = written_at(2040, &[29, 140, 1005]);
    assert_eq!(write.frame.function.as_deref(), Some("f140"), "a copy of line 40");
    assert_eq!(write.shown_call, Some(1));
}

#[test]
fn findings_of_another_version_and_damaged_ones_are_told_apart() {
    let text = found(&TABLE_2).to_json();
    assert_eq!(Findings::from_json(&text), Ok(found(&TABLE_2)));
    let newer = text.replace("unpick-findings/1", "unpick-findings/2");
    let other = Unreadable::OtherForm("unpick-findings/2".to_owned());
    assert_eq!(Findings::from_json(&newer), Err(other));
    for damaged in [&text[..text.len() / 2], "", "[]", "{}", "{\"schema\": \"unpick-findings/1\"}"]
    {
        assert!(matches!(Findings::from_json(damaged), Err(Unreadable::Damaged(_))), "{damaged}");
    }
}

#[test]
fn findings_of_builds_that_told_less_are_still_read() {
    let mut value: serde_json::Value = serde_json::from_str(&found(&TABLE_2).to_json()).unwrap();
    let access = value["findings"][0]["accesses"][0].as_object_mut().unwrap();
    for field in ["bytes", "library", "calls", "shown_call"] {
        assert!(access.remove(field).is_some(), "{field}");
    }
    let read = Findings::from_json(&value.to_string()).unwrap();
    let access = &read.findings[0].accesses[0];
    assert_eq!((access.bytes, access.library, &access.calls[..]), (0, false, &[][..]));
}

#[test]
fn files_are_named_as_seen_from_the_working_folder() {
    let findings = found(&TABLE_2);
    assert_eq!(findings.findings[0].accesses[0].frame.file.as_deref(), Some("src/bank.c"));
}

#[test]
fn supporters_can_take_the_place_of_the_leader() {
    let traces = [(Pass, "2r x 5, 2r x 20, 1w x 10"), (Fail, "2r x 5, 1w x 10, 2r x 20")];
    let finding = found(&traces).findings.remove(0);
    let all = alternatives(&concluded(&traces), &TestNames, &choices(), &[]);
    let of_first: Vec<&Alternative> = all.iter().filter(|one| one.of.is_same(&finding)).collect();
    let other = of_first.iter().find(|one| leader(&one.finding) == "P4 5 10 20").unwrap();
    let other = &other.finding;
    assert_eq!(supporters(other)[0], ("P2 10 20".to_owned(), Relation::PartOf), "who led it");
    assert_eq!(other.supporters.len(), finding.supporters.len());
    assert!(other.confirmed.is_none() && other.sentence != finding.sentence);
    assert!(of_first.iter().all(|one| leader(&one.finding) != leader(&finding)));
}

#[test]
fn alternatives_correlate_at_least_half_as_well_and_are_offered_once() {
    // 5 10 20 is in all runs that fail and in none that passes, 30 10 20 in one of those as well.
    let traces = [
        (Pass, "2r x 5, 2r x 20, 1w x 10"),
        (Pass, "2r y 30, 1w y 31, 2r x 5, 2r x 20, 1w x 10"),
        (Fail, "2r y 30, 1w y 31, 2r x 5, 1w x 10, 2r x 20"),
    ];
    let all = alternatives(&concluded(&traces), &TestNames, &choices(), &[]);
    assert!(!all.is_empty());
    for (at, one) in all.iter().enumerate() {
        assert!(2.0 * one.finding.score >= one.of.score, "{}", leader(&one.finding));
        let again =
            |other: &Alternative| other.of.is_same(&one.of) && other.finding.is_same(&one.finding);
        assert!(!all[at + 1..].iter().any(again), "{}", leader(&one.finding));
    }
}

/// A race of line `unit[0]`, then line `unit[1]`, of one thread, which line `remote` of another can come between.
fn open_unit(unit: [u32; 2], remote: u32) -> RaceFinding {
    let access = |role: u8, line: u32, order: u32| {
        serde_json::json!({
            "role": role, "kind": "write", "variable": "x", "function": "f", "file": "src/bank.c",
            "line": line, "column": 1, "inlined_into": [], "thread": role, "process": 0,
            "atomic": false, "order": order, "stack": [], "locks": [],
            "code": { "module": "a", "build_id": "b", "offset": format!("{line:#x}") },
        })
    };
    let race = serde_json::json!({
        "detectors": ["lockset"], "sentence": "", "why": "", "variable": "x",
        "allocated_at": null, "unordered": 0, "unlocked": 1, "runs": 1, "example_run": 1,
        "own_code": true, "accesses": [access(1, unit[0], 1), access(2, remote, 2)], "steps": [],
        "correlated": { "correlation": "x and y", "access": access(1, unit[1], 3) },
    });
    serde_json::from_value(race).unwrap()
}

#[test]
fn patterns_that_tear_an_open_unit_are_alternatives_whatever_their_score() {
    // 30 goes with failing; 1 2 3 4 is in one of two failing runs only, and in a passing one.
    let traces = [
        (Pass, "1w x 1, 2w x 2, 2w y 3, 1w y 4, 2r z 31, 1w z 30"),
        (Pass, "2r z 31, 1w z 30"),
        (Fail, "1w z 30, 2r z 31"),
        (Fail, "1w x 1, 2w x 2, 2w y 3, 1w y 4, 1w z 30, 2r z 31"),
    ];
    let conclusion = concluded(&traces);
    let torn = |units: &[OpenUnit]| -> Vec<String> {
        let all = alternatives(&conclusion, &TestNames, &choices(), units);
        let torn = all.iter().filter(|one| one.reason == Reason::TearsUnit);
        torn.map(|one| leader(&one.finding)).collect()
    };
    assert_eq!(torn(&open_unit([1, 4], 2).open_units()), ["P9 1 2 3 4"]);
    assert_eq!(torn(&open_unit([4, 1], 2).open_units()), Vec::<String>::new());
    assert_eq!(torn(&open_unit([1, 4], 30).open_units()), Vec::<String>::new());
    assert_eq!(torn(&[]), Vec::<String>::new());
}

fn confirmed(verdict: Confirmation) -> Confirmed {
    Confirmed {
        forced_runs: 20,
        forced_hits: 19,
        forced_failures: 18,
        inverse_runs: 20,
        inverse_hits: 20,
        inverse_failures: 0,
        baseline_runs: 0,
        baseline_failures: 0,
        verdict,
        doubt: None,
    }
}

fn hang(deadlock: bool, verdict: Option<Confirmation>) -> HangGroup {
    let sentence = format!("{verdict:?}");
    let confirmed = verdict.map(confirmed);
    let lost_notification = false;
    HangGroup {
        sentence,
        deadlock,
        lost_notification,
        failed_runs: 1,
        example_run: 1,
        ways: Vec::new(),
        confirmed,
    }
}

#[test]
fn causes_come_first_and_refuted_findings_last() {
    use Confirmation::{Cause, Likely, NotReproduced, Refuted, Related};
    let verdicts =
        [Some(Refuted), None, Some(Related), Some(NotReproduced), Some(Likely), Some(Cause)];
    let mut findings = found(&TABLE_2);
    let finding = findings.findings[0].clone();
    let with = |verdict: Option<Confirmation>| Finding {
        confirmed: verdict.map(confirmed),
        ..finding.clone()
    };
    findings.findings = verdicts.into_iter().map(with).collect();
    findings.hangs = vec![hang(true, Some(Refuted)), hang(true, None), hang(false, Some(Cause))];
    findings.order_by_confirmation();
    let order: Vec<_> = findings
        .findings
        .iter()
        .map(|finding| finding.confirmed.map(|confirmed| confirmed.verdict))
        .collect();
    assert_eq!(
        order,
        [Some(Cause), Some(Likely), None, Some(Related), Some(NotReproduced), Some(Refuted)]
    );
    let hangs: Vec<_> = findings.hangs.iter().map(|hang| hang.sentence.as_str()).collect();
    assert_eq!(hangs, ["None", "Some(Refuted)", "Some(Cause)"], "a deadlock stays a deadlock");
}

#[test]
fn what_was_confirmed_is_taken_over_by_the_same_findings_only() {
    use Confirmation::Cause;
    let mut earlier = found(&TABLE_2);
    earlier.findings[0].confirmed = Some(confirmed(Cause));
    earlier.hangs = vec![hang(true, Some(Cause))];
    let mut again = found(&TABLE_2);
    again.findings[0].sentence = "in other words".to_owned();
    again.hangs = vec![hang(true, None), hang(false, None)];
    let mut of_another_hunt = again.clone();
    of_another_hunt.findings[0].example_run += 100;
    again.take_over_confirmations(&earlier);
    assert_eq!(again.findings[0].confirmed, Some(confirmed(Cause)));
    let hangs: Vec<_> = again.hangs.iter().map(|hang| hang.confirmed.is_some()).collect();
    assert_eq!(hangs, [true, false]);
    of_another_hunt.take_over_confirmations(&earlier);
    assert!(of_another_hunt.findings[0].confirmed.is_none());
}

#[test]
fn the_json_is_as_the_schema_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/findings.schema.json");
    let mut schemas = Schemas::new();
    let index = Compiler::new().compile(path.to_str().unwrap(), &mut schemas).unwrap();
    for mut findings in [found(&TABLE_2), found(&TABLE_2[..1]), lacking_a_write()] {
        if let Some(finding) = findings.findings.first_mut() {
            finding.confirmed = Some(confirmed(Confirmation::NotReproduced));
        }
        findings.hangs = vec![hang(true, Some(Confirmation::Cause)), hang(false, None)];
        let value = serde_json::from_str(&findings.to_json()).unwrap();
        if let Err(error) = schemas.validate(&value, index) {
            panic!("{error:#}\n{}", findings.to_json());
        }
        let read: Findings = serde_json::from_str(&findings.to_json()).unwrap();
        assert_eq!(read, findings, "and it can be read back");
    }
    let mut strange: serde_json::Value = serde_json::from_str(&found(&TABLE_2).to_json()).unwrap();
    strange["findings"][0]["accesses"][0]["role"] = 3.into();
    assert!(schemas.validate(&strange, index).is_err(), "the schema refuses something");
}

fn unseen(traces: &[(Label, &str)], most: usize) -> Vec<Finding> {
    let mut unseen = Unseen::default();
    for ((label, trace), number) in traces.iter().zip(1..) {
        unseen.add(number, *label, &collect(trace, Options::default()));
    }
    describe_unseen(&unseen.finish(), &TestNames, &choices(), most).orders
}

#[test]
fn an_order_that_no_run_had_has_the_form_of_a_finding_but_no_score() {
    let orders = unseen(&[(Pass, "1w x 10, 2r x 20")], 10);
    let [order] = orders.as_slice() else { panic!("{orders:?}") };
    assert_eq!((order.pattern.as_str(), order.origin, order.score), ("P1", Origin::Forced, 0.0));
    let steps: Vec<_> = order.accesses.iter().map(|one| (one.role, one.frame.line)).collect();
    assert_eq!(steps, [(1, Some(20)), (2, Some(10))]);
    assert!(
        order.sentence.contains("the other way round: this order was forced"),
        "{}",
        order.sentence
    );
    assert_eq!((order.failed_runs, order.passed_runs, order.example_run), (0, 0, 1));
}

/// Failing runs that crashed before anything met.
#[test]
fn an_order_that_passing_runs_had_says_so() {
    let mut unseen = Unseen::default();
    for number in 1..=2 {
        let run = collect("2r x 5, 1w x 10, 2w x 20", Options::default());
        unseen.add(number, Pass, &run);
    }
    let shown = describe_shown(&unseen.finish(), &TestNames, &choices(), 10).orders;
    let order = shown.iter().find(|order| order.pattern == "P7").unwrap();
    assert_eq!((order.origin, order.passed_runs, order.score), (Origin::Forced, 2, 0.0));
    assert!(order.sentence.contains("2 passing runs had this order as well"), "{}", order.sentence);
}

fn lacking_a_write() -> Findings {
    let passing = collect("1w x 10, 2r x 20", Options::default());
    let nothing = Collector::new(Options::default()).finish();
    let failing = RunPatterns { unfinished: true, ..nothing };
    let runs = [(Pass, &passing), (Fail, &failing), (Fail, &failing)].into_iter();
    let labelled =
        runs.zip(1..).map(|((label, patterns), number)| LabelledRun { number, label, patterns });
    describe(&conclude(labelled, Formula::Jaccard).unwrap(), &TestNames, &choices())
}

#[test]
fn a_read_that_no_failing_run_lived_to_show_is_a_finding_with_both_lines() {
    let findings = lacking_a_write();
    assert_eq!(leaders(&findings), ["P1 20 10"]);
    let finding = &findings.findings[0];
    assert_eq!(
        (finding.origin, finding.missing_runs, finding.example_run),
        (Origin::Inferred, 2, 1)
    );
    assert_eq!(
        finding.sentence,
        "Thread 1 (`f20`) read `x` before thread 2 (`f10`) wrote it: it saw the initial value. 2 of the 2 failing runs ended before \
         the write; in 1 of the 1 passing runs the write came first."
    );
}

#[test]
fn orders_of_the_users_own_code_are_tried_first() {
    let runs = [(Pass, "1w x 601, 2r x 602, 1w y 10, 2r y 20, 1w y 11, 2r y 20, 1w y 11")];
    let orders = unseen(&runs, 10);
    let is_foreign = |function: &Option<String>| {
        ["f601", "f602"].map(str::to_owned).map(Some).contains(function)
    };
    let of_user =
        |order: &Finding| order.accesses.iter().any(|one| !is_foreign(&one.frame.function));
    assert!(orders.len() > 1 && orders.is_sorted_by_key(|order| !of_user(order)), "{orders:#?}");
    assert_eq!(unseen(&runs, 1).len(), 1);
}

/// Whoever writes the one variable writes the other.
fn belong_together(one: &str, other: &str) -> NamedRule {
    NamedRule {
        sides: [one, other].map(|name| (name.to_owned(), AccessType::Write)),
        text: format!("write({one}) => write({other})"),
        because: "5 of 6 functions that write the first write the second".to_owned(),
    }
}

/// Two bugs of two variables each, in one failing run each; either thread may write both first.
const TWO_TORN_PAIRS: [(Label, &str); 6] = [
    (Pass, "1w a 1, 1w b 4, 2w a 2, 2w b 3"),
    (Pass, "2w a 2, 2w b 3, 1w a 1, 1w b 4"),
    (Pass, "1w c 11, 1w d 14, 2w c 12, 2w d 13"),
    (Pass, "2w c 12, 2w d 13, 1w c 11, 1w d 14"),
    (Fail, "1w a 1, 2w a 2, 2w b 3, 1w b 4"),
    (Fail, "1w c 11, 2w c 12, 2w d 13, 1w d 14"),
];

fn found_with(traces: &[(Label, &str)], correlations: Vec<NamedRule>) -> Findings {
    describe(&concluded(traces), &TestNames, &Choices { correlations, ..choices() })
}

#[test]
fn among_equals_the_one_whose_variables_belong_together_comes_first() {
    let plain = found(&TWO_TORN_PAIRS);
    assert_eq!(leaders(&plain), ["P9 1 2 3 4", "P9 11 12 13 14"]);
    let hinted = found_with(&TWO_TORN_PAIRS, vec![belong_together("d", "c")]);
    assert_eq!(leaders(&hinted), ["P9 11 12 13 14", "P9 1 2 3 4"]);
    assert!(hinted.findings.iter().all(|finding| finding.rank == 1));
    let known = hinted.findings[0].correlation.as_ref().unwrap();
    let told =
        "`d` and `c` belong together: 5 of 6 functions that write the first write the second.";
    assert_eq!((known.sentence.as_str(), known.rule.as_str()), (told, "write(d) => write(c)"));
    assert_eq!(hinted.findings[1].correlation, None);
}

#[test]
fn a_hint_decides_where_runs_cannot_tell_a_pair_from_the_pattern_around_it() {
    // No passing run has the second thread first: that alone may be wrong, or that it came between.
    let traces =
        [(Pass, "1w a 1, 1w b 4, 2w a 2, 2w b 3"), (Fail, "1w a 1, 2w a 2, 2w b 3, 1w b 4")];
    assert_eq!(leaders(&found(&traces)), ["P3 3 4"]);
    let hinted = found_with(&traces, vec![belong_together("a", "b")]);
    assert_eq!(leaders(&hinted), ["P9 1 2 3 4"]);
    let parts = supporters(&hinted.findings[0]);
    assert!(parts.contains(&("P3 3 4".to_owned(), Relation::PartOf)), "{parts:?}");
}

#[test]
fn what_belongs_together_never_comes_before_what_is_more_suspicious() {
    let mut traces = TWO_TORN_PAIRS.to_vec();
    traces.push((Fail, "1w a 1, 2w a 2, 2w b 3, 1w b 4"));
    let hinted = found_with(&traces, vec![belong_together("c", "d")]);
    assert_eq!(leaders(&hinted), ["P9 1 2 3 4", "P9 11 12 13 14"]);
    assert_eq!(hinted.findings.iter().map(|one| one.rank).collect::<Vec<_>>(), [1, 2]);
    assert!(hinted.findings[1].correlation.is_some(), "it is told all the same");
}

#[test]
fn a_rule_about_other_accesses_or_one_of_the_variables_is_no_hint() {
    let reads = NamedRule {
        sides: ["c", "d"].map(|name| (name.to_owned(), AccessType::Read)),
        ..belong_together("c", "d")
    };
    let hinted = found_with(&TWO_TORN_PAIRS, vec![reads, belong_together("c", "e")]);
    assert_eq!(hinted, found(&TWO_TORN_PAIRS));
}
