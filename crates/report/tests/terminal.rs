//! The terminal report of hand-made findings: every class, C, C++ and Rust, narrow and wide.

mod dot_grammar;

use std::fs;
use std::path::{Path, PathBuf};

use unicode_width::UnicodeWidthStr;
use unpick_findings::{
    AccessKind, Active, Class, CodePlace, Confirmation, Confirmed, Finding, FindingAccess,
    Findings, Frame, HeldLock, Origin, Packages, Reconstruction, RelatedAccess, Relation, Runs,
    SCHEMA, Study, Supporter, TriedOrder,
};
use unpick_report::{Style, dot, headline, one, terminal};

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sources")
}

fn style(width: usize) -> Style {
    let (kept_lines, command_options) = Default::default();
    Style { width, colour: false, folder: sources(), kept_lines, command_options }
}

fn frame(function: &str, file: &str, line: u32, column: u32) -> Frame {
    Frame {
        function: Some(function.to_owned()),
        file: Some(file.to_owned()),
        line: Some(line),
        column: Some(column),
    }
}

fn line_of(frame: &Frame) -> Option<String> {
    let text = fs::read_to_string(sources().join(frame.file.as_ref()?)).ok()?;
    text.lines().nth(frame.line? as usize - 1).map(str::to_owned)
}

fn access(role: u8, kind: AccessKind, variable: &str, frame: Frame) -> FindingAccess {
    FindingAccess {
        role,
        kind,
        variable: Some(variable.to_owned()),
        text: line_of(&frame),
        frame,
        inlined_into: Vec::new(),
        thread: 4 - u16::from(role),
        process: 0,
        atomic: false,
        order: 0,
        stack: Vec::new(),
        locks: Vec::new(),
        code: CodePlace {
            module: Some("bank".to_owned()),
            build_id: Some("c0ffee".to_owned()),
            offset: "0x1234".to_owned(),
        },
        bytes: 8,
        library: false,
        calls: Vec::new(),
        shown_call: None,
    }
}

fn finding(class: Class, pattern: &str, sentence: &str, accesses: Vec<FindingAccess>) -> Finding {
    Finding {
        rank: 1,
        score: 1.0,
        class,
        pattern: pattern.to_owned(),
        sentence: sentence.to_owned(),
        accesses,
        failed_runs: 25,
        passed_runs: 0,
        covered_runs: 0,
        missing_runs: 0,
        example_run: 6,
        cut_short: false,
        in_failing_code: false,
        in_experiments: Default::default(),
        supporters: Vec::new(),
        further_supporters: 0,
        study: Study {
            first_pair: None,
            second_pair: None,
            pattern_rank: 1,
            patterns_at_rank_1: 1,
            pairs: 10,
            patterns: 20,
            median_distance: None,
            longest_distance: None,
            access_window: None,
        },
        confirmed: None,
        origin: Origin::Correlated,
        invariants: Vec::new(),
        reconstruction: None,
        correlation: None,
    }
}

fn findings(findings: Vec<Finding>) -> Findings {
    Findings {
        hangs: Vec::new(),
        active: None,
        reconstructions: Vec::new(),
        packages: Packages::default(),
        schema: SCHEMA.to_owned(),
        hunt: None,
        failures: Vec::new(),
        runs: Runs { total: 81, passed: 55, failed: 25, unusable: 1 },
        formula: "jaccard".to_owned(),
        findings,
    }
}

/// C: a lost update under locks; a source with tabs and wide characters.
fn lost_update() -> Finding {
    use AccessKind::{Read, Write};
    let look = || frame("look", "bank.c", 13, 14);
    let put = || frame("put", "bank.c", 21, 18);
    let lock = |line| HeldLock {
        name: Some("account.lock".to_owned()),
        kind: "mutex".to_owned(),
        shared: false,
        taken_at: frame("look", "bank.c", line, 2),
        code: None,
        calls: Vec::new(),
        shown_call: None,
        acquisition: None,
        distance: None,
    };
    let calls = |line| vec![frame("deposit", "bank.c", line, 9), frame("teller", "bank.c", 48, 3)];
    let mut accesses = vec![
        access(1, Read, "account.balance", look()),
        access(2, Write, "account.balance", put()),
        access(1, Write, "account.balance", put()),
    ];
    for (access, line) in accesses.iter_mut().zip([12, 20, 20]) {
        access.locks = vec![lock(line)];
        access.stack = calls(line + 20);
    }
    let related = |role, kind, frame| RelatedAccess {
        role,
        kind,
        variable: Some("account.balance".to_owned()),
        frame,
    };
    let mut lost = finding(
        Class::SingleVariable,
        "P7",
        "Thread 1 (`look`) read `account.balance` and then wrote it, but thread 2 (`put`) wrote it in between: that value \
         is lost, because the later write knows only the old one.",
        accesses,
    );
    lost.supporters = vec![Supporter {
        pattern: "P3".to_owned(),
        class: Class::Order,
        score: 0.45,
        pattern_rank: 7,
        relation: Relation::PartOf,
        failed_runs: 25,
        passed_runs: 30,
        accesses: vec![related(2, Write, put()), related(1, Write, put())],
    }];
    lost.further_supporters = 3;
    lost
}

/// C++: use after free in a template; the access itself is in a header.
fn used_after_free() -> Finding {
    use AccessKind::{Free, Read};
    let class = "store::Cache<std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >, \
                 std::vector<store::Entry<int>, std::allocator<store::Entry<int> > >, store::LeastRecentlyUsed<256> >";
    let variable = "Table<std::pair<int const, store::Entry<int> > >.buckets (heap, allocated at store/table/implementation.cpp:118)";
    let clear = frame(&format!("{class}::clear"), "cache.hpp", 13, 16);
    let find = frame(&format!("{class}::find"), "cache.hpp", 8, 27);
    let mut accesses = vec![access(1, Free, variable, clear), access(2, Read, variable, find)];
    accesses[1].stack = vec![
        frame(
            "std::__invoke_impl<void, main::{lambda(int)#1}, int>",
            "/usr/include/c++/12/bits/invoke.h",
            61,
            36,
        ),
        frame(
            "std::thread::_State_impl<std::thread::_Invoker<std::tuple<main::{lambda(int)#1}, int> > >::_M_run",
            "/usr/include/c++/12/bits/std_thread.h",
            211,
            13,
        ),
    ];
    let sentence = format!(
        "Thread 1 (`{class}::clear`) freed `{variable}`, and then thread 2 (`{class}::find`) used it. No passing run shows these \
         two accesses the other way round next to each other."
    );
    let mut finding = finding(Class::Order, "P2", &sentence, accesses);
    finding.cut_short = true;
    finding
}

/// Rust: two atomics that belong together.
fn torn_apart() -> Finding {
    use AccessKind::{Read, Write};
    let post = "<ledger::Ledger<alloc::string::String> as ledger::Post<u64>>::post";
    let average = "ledger::Ledger<alloc::string::String>::average";
    let total = "Ledger<alloc::string::String>.total (heap, allocated at main.rs:31)";
    let entries = "Ledger<alloc::string::String>.entries (heap, allocated at main.rs:31)";
    let mut accesses = vec![
        access(1, Write, entries, frame(post, "ledger.rs", 7, 22)),
        access(2, Read, entries, frame(average, "ledger.rs", 14, 36)),
        access(2, Read, total, frame(average, "ledger.rs", 15, 32)),
        access(1, Write, total, frame(post, "ledger.rs", 8, 20)),
    ];
    for access in &mut accesses {
        access.atomic = true;
    }
    accesses[1].locks = vec![HeldLock {
        name: None,
        kind: "rust".to_owned(),
        shared: true,
        taken_at: frame("ledger::main::{closure#0}", "main.rs", 40, 9),
        code: None,
        calls: Vec::new(),
        shown_call: None,
        acquisition: None,
        distance: None,
    }];
    let sentence = format!(
        "Thread 2 (`{average}`) read `{entries}` and `{total}` while thread 1 (`{post}`) was writing them: it saw one before and \
         one after the change, and they do not fit together."
    );
    finding(Class::MultiVariable, "P12", &sentence, accesses)
}

fn no_line_is_wider_than(width: usize, text: &str) {
    for line in text.lines() {
        assert!(line.width() <= width, "{} columns: {line}", line.width());
    }
}

#[track_caller]
fn shown(findings: &Findings, width: usize) -> String {
    let text = terminal(findings, &style(width));
    no_line_is_wider_than(width, &text);
    text
}

#[test]
fn a_lost_update_in_c() {
    insta::assert_snapshot!("lost_update_80", shown(&findings(vec![lost_update()]), 80));
    insta::assert_snapshot!("lost_update_120", shown(&findings(vec![lost_update()]), 120));
}

#[test]
fn an_order_that_no_run_had_and_others_that_were_tried() {
    let confirmed = Confirmed {
        forced_runs: 10,
        forced_hits: 10,
        forced_failures: 10,
        inverse_runs: 10,
        inverse_hits: 9,
        inverse_failures: 0,
        baseline_runs: 0,
        baseline_failures: 0,
        verdict: Confirmation::Cause,
        doubt: None,
    };
    let forced = Finding {
        score: 0.0,
        failed_runs: 0,
        origin: Origin::Forced,
        confirmed: Some(confirmed),
        ..lost_update()
    };
    let tried = |steps: [&str; 2], hits, failed| TriedOrder {
        pattern: "P1".to_owned(),
        steps: steps.map(str::to_owned).to_vec(),
        code: Vec::new(),
        runs: 3,
        hits,
        failed,
        verdict: (failed > 0).then_some(Confirmation::Cause),
    };
    let mut active = Active { remaining: 7, ..Active::default() };
    active.add(tried(["read of `a` in `f` at bank.c:1", "write of `a` in `g` at bank.c:2"], 0, 0));
    active.add(tried(["read of `b` in `f` at bank.c:3", "write of `b` in `g` at bank.c:4"], 3, 0));
    active.add(tried(["read of `c` in `f` at bank.c:5", "write of `c` in `g` at bank.c:6"], 3, 1));
    let runs = Runs { total: 55, passed: 55, failed: 0, unusable: 0 };
    let found = Findings { runs, active: Some(active), ..findings(vec![forced]) };
    insta::assert_snapshot!("forced_80", shown(&found, 80));
    let nothing = Findings { findings: Vec::new(), ..found.clone() };
    insta::assert_snapshot!("nothing_by_forcing_80", shown(&nothing, 80));
    let mut again = found;
    let active = again.active.as_mut().unwrap();
    active.shown.push(tried(
        ["read of `d` in `f` at bank.c:7", "write of `d` in `g` at bank.c:8"],
        3,
        1,
    ));
    again.findings[0].passed_runs = 4;
    let text = shown(&again, 200);
    assert!(text.contains("1 finding, by forcing orders that no failing run had."), "{text}");
    assert!(text.contains("7 remain. Orders that passing runs had: 1 tried, 1 failed."), "{text}");
    assert!(text.contains("write of `d` in `g` at bank.c:8 (cause)"), "{text}");
}

#[test]
fn a_use_after_free_in_cpp_templates() {
    insta::assert_snapshot!("used_after_free_80", shown(&findings(vec![used_after_free()]), 80));
    insta::assert_snapshot!("used_after_free_120", shown(&findings(vec![used_after_free()]), 120));
}

#[test]
fn two_variables_torn_apart_in_generic_rust() {
    insta::assert_snapshot!("torn_apart_80", shown(&findings(vec![torn_apart()]), 80));
    insta::assert_snapshot!("torn_apart_120", shown(&findings(vec![torn_apart()]), 120));
}

fn three() -> Findings {
    let mut three = findings(vec![lost_update(), used_after_free(), torn_apart()]);
    three.findings[1].rank = 2;
    three.findings[1].score = 0.5;
    three.findings[2].rank = 3;
    three.findings[2].score = 0.25;
    three
}

#[test]
fn the_list_comes_first_and_the_next_command_last() {
    let text = shown(&three(), 80);
    let list: Vec<&str> = text.lines().take_while(|line| !line.starts_with('=')).collect();
    insta::assert_snapshot!("list", list.join("\n"));
    assert!(text.contains("Finding 1 of 3") && !text.contains("Finding 2 of 3"));
    assert_eq!(text.lines().last(), Some("next: unpick show 2"));
}

/// Five runs of each kind.
fn tried(verdict: Confirmation, forced_failures: u32, inverse_failures: u32) -> Option<Confirmed> {
    let hits = if verdict == Confirmation::NotReproduced { 0 } else { 5 };
    Some(Confirmed {
        forced_runs: 5,
        forced_hits: hits,
        forced_failures,
        inverse_runs: 5,
        inverse_hits: hits,
        inverse_failures,
        baseline_runs: 0,
        baseline_failures: 0,
        verdict,
        doubt: None,
    })
}

#[test]
fn what_was_confirmed_is_in_the_list_and_in_the_head() {
    let mut three = three();
    three.findings[0].confirmed = tried(Confirmation::Refuted, 0, 0);
    three.findings[1].confirmed = tried(Confirmation::NotReproduced, 0, 0);
    three.findings[2].confirmed = tried(Confirmation::Cause, 5, 0);
    three.order_by_confirmation();
    let text = shown(&three, 80);
    let (list, in_full) = text.split_once("====").unwrap();
    insta::assert_snapshot!("confirmed_list", list);
    assert!(in_full.contains(
        "root cause confirmed: fails 5/5 when this order is forced, 0/5 when it is\nprevented\n"
    ));
    assert!(text.contains("Finding 1 of 3") && !text.contains("Finding 2 of 3"), "only the cause");
    let second = one(&three, 2, &style(80)).unwrap();
    assert!(second.contains("not reproduced: the order was reached in 0 of 5 forced runs\n"));
}

#[test]
fn every_finding_ends_in_the_command_that_makes_it_fail() {
    let style = Style { command_options: " --store elsewhere".to_owned(), ..style(80) };
    for number in 1..=3 {
        let text = one(&three(), number, &style).unwrap();
        let line = format!("make it fail: unpick reproduce {number} --store elsewhere");
        assert_eq!(text.lines().rev().nth(2), Some(line.as_str()), "{text}");
    }
}

#[test]
fn a_headline_is_one_line() {
    assert_eq!(headline(&lost_update()), "atomicity violation (P7) on account.balance, score 1.00");
    assert_eq!(
        headline(&used_after_free()),
        "order violation (P2) on Table<std::pair<…>>.buckets, score 1.00"
    );
}

#[test]
fn one_finding_is_found_by_its_number_and_names_the_next() {
    let style = Style { command_options: " --store elsewhere".to_owned(), ..style(80) };
    let text = one(&three(), 2, &style).unwrap();
    assert!(text.contains("Finding 2 of 3"));
    assert_eq!(text.lines().last(), Some("next: unpick show 3 --store elsewhere"));
    let last = one(&three(), 3, &style).unwrap();
    assert_eq!(last.lines().last(), Some("next: unpick show --store elsewhere"));
    assert_eq!(one(&three(), 0, &style), None);
    assert_eq!(one(&three(), 4, &style), None);
}

#[test]
fn source_that_is_gone_or_changed_is_not_shown() {
    let mut finding = lost_update();
    finding.accesses[0].text = Some("\tlong seen = account->balance;".to_owned());
    finding.accesses[1].frame.file = Some("gone.c".to_owned());
    finding.accesses[2].text = None;
    let text = shown(&findings(vec![finding]), 80);
    for expected in [
        "line 13 of bank.c was changed since",
        "gone.c cannot be read",
        "newer than the program",
        "(source text not available)",
        "long seen = account->balance;",
    ] {
        assert!(
            text.split_whitespace().collect::<Vec<_>>().join(" ").contains(expected),
            "{expected}\n{text}"
        );
    }
}

#[test]
fn a_label_that_does_not_fit_behind_its_place_is_made_shorter() {
    let folder = tempfile::tempdir().unwrap();
    for blanks in [0, 20, 50, 55, 60, 65, 70, 72, 75, 90, 150] {
        let line = format!("{}x = 1;", " ".repeat(blanks));
        fs::write(folder.path().join("wide.c"), format!("{line}\n")).unwrap();
        let mut finding = lost_update();
        for access in &mut finding.accesses {
            access.frame = frame("f", "wide.c", 1, blanks as u32 + 1);
            access.text = Some(line.clone());
        }
        let style = Style { folder: folder.path().to_owned(), ..style(80) };
        let text = terminal(&findings(vec![finding]), &style);
        no_line_is_wider_than(80, &text);
        assert!(text.contains('^'), "{text}");
    }
}

#[test]
fn lines_that_were_kept_stand_in_for_a_source_that_is_not_here_or_was_changed() {
    let folder = tempfile::tempdir().unwrap();
    let mut finding = lost_update();
    for access in &mut finding.accesses {
        access.frame = frame("f", "gone.c", 40, 1);
        access.text = Some("x = 1;".to_owned());
    }
    let lines = [(39, "before();"), (40, "x = 1;"), (41, "after();")];
    let lines = lines.map(|(number, text)| (number, text.to_owned())).into();
    let kept_lines = [("gone.c".to_owned(), lines)].into();
    let style = Style { folder: folder.path().to_owned(), kept_lines, ..style(80) };
    let kept = terminal(&findings(vec![finding.clone()]), &style);
    assert!(kept.contains("39 | before();") && kept.contains("41 | after();"), "{kept}");
    fs::write(folder.path().join("gone.c"), "another program\n").unwrap();
    assert_eq!(terminal(&findings(vec![finding.clone()]), &style), kept);

    finding.accesses[0].text = Some("x = 2;".to_owned());
    let neither = terminal(&findings(vec![finding]), &style);
    assert!(neither.contains("was changed since") && !neither.contains("before();"), "{neither}");
}

#[test]
fn what_has_no_names_is_shown_by_number_and_nothing_is_made_up() {
    let mut finding = lost_update();
    for access in &mut finding.accesses {
        access.frame = Frame::default();
        access.text = None;
        access.variable = None;
        access.stack.clear();
        access.locks.clear();
    }
    insta::assert_snapshot!("without_names", shown(&findings(vec![finding]), 80));
}

#[test]
fn without_findings_it_says_why_and_what_to_try() {
    let mut none = findings(Vec::new());
    assert!(terminal(&none, &style(80)).contains("no order of accesses goes with failing"));
    none.runs.passed = 0;
    assert!(terminal(&none, &style(80)).contains("Every run failed"));
    none.runs.failed = 0;
    assert!(terminal(&none, &style(80)).contains("No run failed"));
}

#[test]
fn communication_comes_first_where_patterns_do_not_say_enough() {
    let mut unsure = findings(vec![Finding { score: 0.5, ..lost_update() }]);
    let of_finding = "Finding 1 of 1";
    let plain = terminal(&unsure, &style(80));
    assert!(plain.contains(of_finding) && !plain.contains("Reconstruction 1"), "{plain}");
    unsure.reconstructions = vec![Reconstruction {
        rank: 1,
        score: 24.0,
        buggy_frequency: 26.0,
        context_variation: 0.0,
        consistency: 1.0,
        earliness: 1.0,
        overlap: 1.0,
        failed_runs: 25,
        passed_runs: 0,
        source_context: Vec::new(),
        sink_context: Vec::new(),
        points: Vec::new(),
    }];
    let told = terminal(&unsure, &style(80));
    let (before, _) = told.split_once(of_finding).expect("the finding is told as well");
    assert!(before.contains("More than two threads or two variables"), "{before}");
    assert!(before.contains("Reconstruction 1 of 1"), "{before}");
    unsure.findings[0].score = 0.3;
    assert!(terminal(&unsure, &style(80)).contains("No order of accesses goes well with failing"));
}

#[test]
fn colours_are_only_there_when_wanted_and_change_nothing_else() {
    let plain = terminal(&three(), &style(80));
    assert!(!plain.contains('\x1b'));
    let coloured = terminal(&three(), &Style { colour: true, ..style(80) });
    assert!(coloured.contains("\x1b[1m"));
    let lines = |text: &str| text.lines().count();
    assert_eq!(lines(&plain), lines(&coloured));
}

#[test]
fn names_from_a_damaged_file_cannot_steer_the_terminal() {
    let mut finding = lost_update();
    finding.sentence = "\x1b]0;owned\x07".to_owned();
    finding.pattern = "\x1b[2J".to_owned();
    for access in &mut finding.accesses {
        access.role = 9;
        access.variable = Some("\x1b[31mred".to_owned());
        access.frame.function = Some("f\x1b[0m".to_owned());
        access.frame.column = Some(u32::MAX);
    }
    assert!(!shown(&findings(vec![finding]), 80).contains('\x1b'));
}

#[test]
fn the_order_of_a_finding_is_a_graph_with_a_box_per_thread() {
    let text = dot::pattern(&lost_update());
    let [graph] = dot_grammar::graphs(&text).try_into().unwrap();
    assert_eq!((graph.name.as_str(), graph.boxes), ("P7", 2));
    let does =
        graph.nodes.iter().map(|(node, label)| (node.as_str(), label.split("\\l").next().unwrap()));
    let mut does: Vec<_> = does.collect();
    does.sort_unstable();
    let expected =
        ["1. reads account.balance", "2. writes account.balance", "3. writes account.balance"];
    assert_eq!(does, [("n1", expected[0]), ("n2", expected[1]), ("n3", expected[2])]);
    let ends: Vec<_> =
        graph.edges.iter().map(|(source, sink)| (source.as_str(), sink.as_str())).collect();
    assert_eq!(ends, [("n1", "n2"), ("n2", "n3")]);
    assert_eq!(text.matches("color=red").count(), 2, "both cross threads");
}

#[test]
fn the_list_says_what_ignored_packages_leave_out() {
    let ignored = vec!["tokio".to_owned(), "vendor/zlib".to_owned()];
    let packages =
        |left_out| Packages { ignored: ignored.clone(), left_out, ..Packages::default() };
    let told = |left_out, list: Vec<Finding>| {
        let findings = Findings { packages: packages(left_out), ..findings(list) };
        terminal(&findings, &style(200))
    };
    let sentence = "Not reported: 12 orders that are all in ignored packages (tokio, vendor/zlib).";
    assert!(told(12, vec![lost_update()]).contains(sentence));
    assert!(told(12, Vec::new()).contains(sentence), "also where nothing else is found");
    assert!(told(1, Vec::new()).contains("Not reported: 1 order that is all in ignored packages"));
    assert!(!told(0, Vec::new()).contains("Not reported"));
}

#[test]
fn a_package_of_the_users_own_is_not_called_a_dependency() {
    let mut finding = lost_update();
    let fetched = "/home/me/.cargo/registry/src/index-1/queue-0.3.11/src/lib.rs";
    finding.accesses[0].frame.file = Some(fetched.to_owned());
    let told = |own: Vec<String>| {
        let packages = Packages { own, ..Packages::default() };
        let findings = Findings { packages, ..findings(vec![finding.clone()]) };
        terminal(&findings, &style(200)).replace('\n', " ")
    };
    assert!(told(Vec::new()).contains("It is in crate queue 0.3.11, a dependency."));
    assert!(!told(vec!["queue".to_owned()]).contains("a dependency"));
}
