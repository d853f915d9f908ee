//! Where patterns do not say enough, reconstructions lead; those of the user's own code first.

#[path = "../../analyses/tests/traces/mod.rs"]
mod traces;

use std::path::PathBuf;

use traces::{collect, record, steps};
use unpick_analyses::communication::{
    self, GraphOptions, LabelledGraphs, Limits, Reconstructions, reconstruct,
};
use unpick_analyses::interleaving_patterns::CodeSite;
use unpick_analyses::ranking::{CodeBook, ExampleAccess, ExampleLock, ExampleMemory};
use unpick_analyses::{Formula, LabelledRun, Options, RunPatterns, conclude};
use unpick_events::Label::{self, Fail, Pass};
use unpick_findings::{
    Author, Choices, Findings, Frame, Names, Packages, Place, PointThread, Reconstruction,
    ReconstructionWords, describe, own_first,
};

/// Site 31 is line 31 of bank.c; variables have the names of their traces. From site 100 on it is code that cargo fetched.
struct TestNames;

impl Names for TestNames {
    fn place(&self, site: CodeSite, _: &CodeBook) -> Place {
        let frame = Frame {
            function: Some("f".to_owned()),
            file: Some(if site.offset < 100 { "bank.c" } else { "lib/queue/a.c" }.to_owned()),
            line: Some(site.offset as u32),
            column: None,
        };
        Place { frame, inlined_into: Vec::new() }
    }

    fn author(&self, site: CodeSite, _: &CodeBook) -> Author {
        if site.offset < 100 { Author::User } else { Author::Dependency }
    }

    fn line_text(&self, _: CodeSite, _: &CodeBook) -> Option<String> {
        None
    }

    fn variable(&self, access: &ExampleAccess, _: &CodeBook) -> Option<String> {
        let ExampleMemory::Other { address } = access.memory else { return None };
        ('a'..='z').find(|&name| traces::address_of(name) == address).map(String::from)
    }

    fn lock(&self, _: &ExampleLock, _: &CodeBook) -> Option<String> {
        None
    }
}

fn reconstructed(runs: &[(Label, &str)]) -> Reconstructions {
    let labelled = runs.iter().zip(1..).map(|(&(label, trace), number)| {
        let recording = record(&steps(trace));
        let mut collector = communication::Collector::new(GraphOptions::default());
        collector.add(&recording, &recording);
        LabelledGraphs { number, label, graphs: collector.finish() }
    });
    reconstruct(labelled.collect::<Vec<_>>(), &Limits::default()).unwrap()
}

fn choices() -> Choices {
    Choices {
        working_folder: PathBuf::from("/"),
        most_findings: 10,
        most_supporters: 20,
        correlations: Vec::new(),
        packages: Packages::default(),
    }
}

fn found(runs: &[(Label, &str)]) -> Findings {
    let patterns: Vec<RunPatterns> =
        runs.iter().map(|(_, trace)| collect(trace, Options::default())).collect();
    let labelled = runs.iter().zip(&patterns).zip(1..);
    let labelled = labelled
        .map(|((&(label, _), patterns), number)| LabelledRun { number, label, patterns })
        .collect::<Vec<_>>();
    let conclusion = conclude(labelled, Formula::Jaccard).unwrap();
    let choices = choices();
    let all = reconstructed(runs);
    let findings = describe(&conclusion, &TestNames, &choices);
    findings.with_reconstructions(&ReconstructionWords::new(&all, &TestNames, &choices))
}

fn lines(one: &Reconstruction) -> Vec<u32> {
    one.points.iter().filter_map(|point| point.frame.line).collect()
}

#[test]
fn a_pattern_that_says_it_all_leads() {
    let torn = (Fail, "1w x 90, 3r x 1, 2w x 2, 3r x 3");
    let whole = (Pass, "1w x 90, 3r x 1, 3r x 3, 2w x 2");
    let findings = found(&[torn, torn, whole, whole]);
    assert!(!findings.nothing_correlates());
    assert_eq!(findings.reconstructions, []);
    assert!(findings.findings[0].reconstruction.is_some());
}

#[test]
fn where_no_pattern_goes_well_with_failing_reconstructions_lead() {
    // One failing run of four has the order that one passing run has, too.
    let torn = "1w x 90, 3r x 1, 2w x 2, 3r x 3";
    let whole = "1w x 90, 3r x 1, 3r x 3, 2w x 2";
    let findings =
        found(&[(Fail, torn), (Fail, whole), (Fail, whole), (Fail, whole), (Pass, whole)]);
    assert!(findings.nothing_correlates());
    assert!(!findings.reconstructions.is_empty());
}

#[test]
fn where_three_variables_take_part_the_reconstruction_leads() {
    // Both x and y must change between the looks at them and the look at z: two variables alone are torn in passing runs as well.
    let failing =
        (Fail, "1w x 90, 1w y 91, 1w z 92, 3r x 1, 3r y 2, 2w x 3, 2w y 4, 2w z 5, 3r z 6");
    let only_x = (Pass, "1w x 90, 1w y 91, 1w z 92, 3r x 1, 3r y 2, 2w x 3, 2w z 5, 3r z 6");
    let only_y = (Pass, "1w x 90, 1w y 91, 1w z 92, 3r x 1, 3r y 2, 2w y 4, 2w z 5, 3r z 6");
    let findings = found(&[failing, failing, only_x, only_y]);
    assert!(!findings.nothing_correlates(), "{}", findings.findings[0].score);
    assert!(findings.findings[0].score < 1.0);
    let leader = &findings.reconstructions[0];
    assert_eq!((leader.failed_runs, leader.passed_runs), (2, 0));
    let told = lines(leader);
    assert!([1, 2, 3, 4, 5, 6].iter().all(|line| told.contains(line)), "{told:?}");
}

#[test]
fn where_three_threads_take_part_the_reconstruction_leads() {
    // Each thread waits for what the next has, and all three met: any two of the meetings are in passing runs.
    let failing = (Fail, "2w x 1, 3r x 2, 3w y 3, 4r y 4, 4w z 5, 2r z 6");
    let without_z = (Pass, "2w x 1, 3r x 2, 3w y 3, 4r y 4, 2r z 6, 4w z 5");
    let without_y = (Pass, "2w x 1, 3r x 2, 4r y 4, 3w y 3, 4w z 5, 2r z 6");
    let without_x = (Pass, "3r x 2, 2w x 1, 3w y 3, 4r y 4, 4w z 5, 2r z 6");
    let findings = found(&[failing, failing, failing, failing, without_z, without_y, without_x]);
    assert!(!findings.nothing_correlates(), "{}", findings.findings[0].score);
    let leader = &findings.reconstructions[0];
    assert_eq!((leader.failed_runs, leader.passed_runs), (4, 0));
    assert!(leader.points.iter().any(|point| point.thread == PointThread::Another));
    assert_eq!(
        {
            let mut told = lines(leader);
            told.sort_unstable();
            told
        },
        [1, 2, 3, 4, 5, 6]
    );
}

/// The ranks of reconstructions, and the sites of their ends.
fn ends(all: &Reconstructions) -> Vec<(u32, [u64; 2])> {
    let offset = |site: u32| all.code.sites[site as usize].offset;
    let ends = |one: &communication::Reconstruction| {
        [one.edge.source.site, one.edge.sink.site].map(offset)
    };
    all.ranked.iter().map(|one| (one.rank, ends(one))).collect()
}

#[test]
fn what_a_library_does_comes_after_the_users_own_code() {
    // A library's own meeting (101, 102) comes first and goes with failing just as well; so does one between it and the user (103, 3).
    let failing = (Fail, "2w a 101, 3r a 102, 2w b 103, 3r b 3, 2w x 1, 3r x 2");
    let passing = (Pass, "3r a 102, 2w a 101, 3r b 3, 2w b 103, 3r x 2, 2w x 1");
    let all = reconstructed(&[failing, failing, passing, passing]);
    assert_ne!(ends(&all)[0].1, [1, 2]);
    let as_read = own_first(all, &TestNames, &choices());
    assert_eq!(ends(&as_read), [(1, [1, 2]), (2, [103, 3]), (3, [101, 102])]);
}

#[test]
fn a_library_is_shown_and_an_ignored_one_is_not() {
    let runs = [(Fail, "2w a 101, 3r a 102"), (Pass, "3r a 102, 2w a 101")];
    let all = reconstructed(&runs);
    let shown = |packages: Packages| {
        let choices = Choices { packages, ..choices() };
        ReconstructionWords::new(&all, &TestNames, &choices).first(10).len()
    };
    assert_eq!(shown(Packages::default()), 1);
    let ignored = vec!["lib/queue".to_owned()];
    assert_eq!(shown(Packages { ignored, ..Packages::default() }), 0);
}
