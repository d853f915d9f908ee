//! The life of a process: it forks, runs other programs, dies in every way, gives up its rights, loads modules.

mod support;

use std::process::Command;
use support::{Program, count, run_tool, runtime, source_path};
use unpick_recording::Action;
use unpick_recording::events::Kind;

#[test]
fn every_forked_child_has_a_recording_of_its_own() {
    let run = Program::build("forks.c").check();
    let recordings = run.recordings();
    // Five children, their five children, one each by system call and by clone, and the program itself; none for vfork.
    assert_eq!(recordings.len(), 13);
    for recording in &recordings {
        let forked: Vec<_> = recording
            .events()
            .filter_map(|event| {
                if let Action::Forked { parent, .. } = event.action { Some(parent) } else { None }
            })
            .collect();
        assert!(recording.header().orderly_exit, "{:?}", recording.path());
        assert_eq!(recording.incompleteness(), [""; 0], "{:?}", recording.path());
        if let [parent] = forked[..] {
            let of_parent = recordings
                .iter()
                .find(|other| other.header().process == parent)
                .expect("its recording");
            let child = recording.header().process;
            let knows = |event: unpick_recording::Event<'_>| matches!(event.action, Action::Fork { child: number } if number == child);
            let is_cloned =
                recording.events().any(|event| matches!(event.action, Action::Exit { status: 42 }));
            assert!(is_cloned || of_parent.events().any(knows), "{parent} knows of {child}");
            assert!(!recording.modules().is_empty() && !recording.facts().is_empty());
        }
    }
    let with_threads =
        recordings.iter().filter(|recording| count(recording, Kind::ThreadJoin) == 2);
    assert_eq!(
        with_threads.count(),
        7,
        "the grandchildren, the raw and the cloned child ran two threads each"
    );
}

#[test]
fn each_program_image_has_a_recording_of_its_own() {
    let run = Program::build("executes.c").check();
    let recordings = run.recordings();
    assert_eq!(recordings.len(), 5);
    for recording in &recordings {
        assert!(count(recording, Kind::Exec) >= 1 && !recording.header().orderly_exit);
    }
}

#[test]
fn what_happened_before_death_is_in_the_recording() {
    let program = Program::build("dies.c");
    for (how, status) in [
        ("return", Some(3)),
        ("exit", Some(4)),
        ("_exit", Some(5)),
        ("_Exit", Some(6)),
        ("quick_exit", Some(7)),
        ("exit_group", Some(8)),
        ("abort", None),
        ("kill", None),
        ("segv", None),
        ("term", None),
    ] {
        let recording = program.check_with(&[how], "").recording();
        let exits: Vec<u64> = recording
            .events()
            .filter_map(|event| {
                if let Action::Exit { status } = event.action { Some(status) } else { None }
            })
            .collect();
        assert_eq!(exits, status.into_iter().collect::<Vec<u64>>(), "{how}");
        assert_eq!(recording.header().orderly_exit, status.is_some(), "{how}");
        assert_eq!(count(&recording, Kind::Acquire), 2, "{how}");
        assert!(count(&recording, Kind::Write) + count(&recording, Kind::Read) > 0, "{how}");
    }
}

#[test]
fn recording_goes_on_without_descriptors_folder_root_and_rights() {
    let recording = Program::build("hardened.c").check().recording();
    assert!(recording.is_complete(), "{:?}", recording.incompleteness());
    assert_eq!(count(&recording, Kind::ThreadJoin), 6);
    assert_eq!(count(&recording, Kind::Exit), 1);
}

#[test]
fn signal_handlers_and_jumps_do_no_harm() {
    let recording = Program::build("signals.c").check().recording();
    assert!(!recording.incompleteness().iter().any(|why| why.contains("limit")));
    assert!(count(&recording, Kind::ReadWrite) > 0);
    assert_eq!(count(&recording, Kind::ThreadJoin), 3);
}

#[test]
fn a_loaded_module_is_told_before_its_sites_and_when_it_is_gone() {
    let program = Program::build("loads.c");
    let object = program.folder().join("libloaded.so");
    run_tool(
        Command::new("gcc")
            .args(["-O1", "-g", "-fPIC", "-fsanitize=thread", "-c"])
            .arg(source_path("loaded.c"))
            .arg("-o")
            .arg(program.folder().join("loaded.o")),
    );
    run_tool(
        Command::new("gcc")
            .arg("-shared")
            .arg(program.folder().join("loaded.o"))
            .arg("-o")
            .arg(&object),
    );
    let run = program.record(&[object.to_str().expect("a plain path")], "");
    assert_eq!(String::from_utf8_lossy(&run.output.stdout), "none 1\n2\n0 1\n");
    let recording = run.recording();
    let told = recording.events().position(|event| matches!(event.action, Action::Module { path, .. } if path.to_text().ends_with("libloaded.so")));
    let used = recording.events().position(|event| event.kind() == Kind::Acquire);
    let gone = recording.events().position(|event| event.kind() == Kind::ModuleGone);
    assert!(told.is_some() && told < used && used < gone, "{told:?} {used:?} {gone:?}");
}

#[test]
fn the_facts_name_the_program_and_its_runtime() {
    let recording = Program::build("dies.c").check_with(&["exit"], "seed=12").recording();
    let fact = |name: &str| {
        let found = recording.facts().iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    assert!(fact("command line").ends_with("/watched exit"), "{}", fact("command line"));
    assert!(fact("executable").ends_with("/watched"));
    assert!(fact("runtime").starts_with("unpick runtime "));
    assert!(fact("working folder").starts_with('/'));
    assert_eq!(fact("seed"), "12");
    let executable = &recording.modules()[0];
    assert!(executable.path.ends_with("/watched"), "{executable:?}");
}

#[test]
fn without_a_run_folder_the_program_runs_as_ever() {
    let program = Program::build("dies.c");
    let output = program.run_unrecorded(&["exit"]);
    assert_eq!(
        (output.status.code(), &output.stdout[..], &output.stderr[..]),
        (Some(4), &b"2\n"[..], &b""[..])
    );
}

#[test]
fn a_recording_that_cannot_begin_leaves_the_reason_and_no_noise() {
    let program = Program::build("dies.c");
    let mut command = Command::new(program.folder().join("watched"));
    let relative =
        command.arg("exit").env("UNPICK_RUN_DIR", "relative/folder").output().expect("it runs");
    assert_eq!((relative.status.code(), &relative.stderr[..]), (Some(4), &b""[..]));
    let run = program.record(&["exit"], "limit=9000000000000000000");
    assert_eq!((run.output.status.code(), &run.output.stderr[..]), (Some(4), &b""[..]));
    let failed = std::fs::read_dir(run.folder()).expect("a folder").filter(|entry| {
        entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().ends_with(".failed"))
    });
    assert_eq!(failed.count(), 1);
}

#[test]
fn a_process_without_room_for_the_shadow_says_so() {
    let program = Program::build("dies.c");
    let watched = program.folder().join("watched");
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 4000000; exec \"$0\" exit"])
        .arg(watched)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(70));
    assert!(String::from_utf8_lossy(&output.stderr).contains("ulimit -v"));
}

#[test]
fn another_runtime_in_the_process_is_refused() {
    let program = Program::build("dies.c");
    let other = program.folder().join("libother.so");
    let source = program.folder().join("other.c");
    std::fs::write(&source, "void __asan_init(void) {}\n").expect("ours");
    run_tool(Command::new("gcc").args(["-shared", "-fPIC"]).arg(&source).arg("-o").arg(&other));
    let output = Command::new(program.folder().join("watched"))
        .arg("exit")
        .env("LD_PRELOAD", &other)
        .output()
        .expect("it runs");
    assert_eq!(output.status.code(), Some(70));
    assert!(String::from_utf8_lossy(&output.stderr).contains("AddressSanitizer"));
    let _ = runtime();
}
