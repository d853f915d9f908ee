//! Panics of Rust under recording: nothing is delayed once one has begun, and what the program does afterwards is recorded.

mod cargo_project;

use std::path::Path;
use std::process::{Command, Output};

use cargo_project::{copied, executable};
use unpick_recording::events::Kind;
use unpick_recording::{Recording, Run};

fn unpick(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
    // What the cargo that runs this test was told is not meant for the one under test.
    for variable in
        ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "RUSTFLAGS", "RUSTC_WRAPPER", "CARGO"]
    {
        command.env_remove(variable);
    }
    command.env("RUST_BACKTRACE", "1");
    let output = command.current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn count(recording: &Recording, kind: Kind) -> usize {
    recording.events().filter(|event| event.kind() == kind).count()
}

#[test]
fn after_a_panic_nothing_is_delayed_and_everything_recorded() {
    let folder = copied("rust-panics");
    let built = unpick(&folder, &["cargo", "build", "--message-format=json"]);
    let program = executable(&built);
    let store = tempfile::tempdir().unwrap();
    let path = store.path().to_str().unwrap();
    let delays = ["--delay-sync", "100%", "--delay-access", "100%", "--delay-max", "1us"];
    let program = ["--store", path, "--", program.to_str().unwrap()];
    let recorded = unpick(&folder, &[&["record"], &delays[..], &program].concat());
    assert_eq!(String::from_utf8_lossy(&recorded.stdout), "true 2000\n");
    let told = String::from_utf8_lossy(&recorded.stderr);
    assert!(told.contains("on purpose") && told.contains("rust_begin_unwind"), "{told}");
    assert!(!told.contains("__wrap_"), "the backtrace has no frame of ours: {told}");
    let run = Run::open(store.path().join("runs/0001")).unwrap();
    let recording = Recording::open(&run.event_files()[0]).unwrap();
    // Two thousand times a lock was taken; with delays there would be one for each, at least.
    let delayed = count(&recording, Kind::Delay);
    assert!(delayed < 500, "{delayed} delays");
    let writes = count(&recording, Kind::ReadWrite) + count(&recording, Kind::Write);
    assert!(writes >= 2000, "{writes} writes after the panic");
}
