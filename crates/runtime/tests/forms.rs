//! Every form of access that compilers tell by a hook of its own: read before write, volatile, vptr, compound, 128 bits.

mod support;

use support::{Program, Run};
use unpick_recording::{AccessFlags, Histories, Recording};

/// What happened to `bytes` at `address`: thread, kind, and the flag that `is_set` tells, each step once.
fn history(
    recording: &Recording,
    address: u64,
    bytes: u64,
    flag: (&str, fn(AccessFlags) -> bool),
) -> String {
    let histories = Histories::within(recording, address..address + bytes);
    let locations: Vec<_> = histories.locations().collect();
    let of_location = |location: &unpick_recording::Location| -> Vec<String> {
        let accesses = location.lives.iter().flat_map(|life| &life.accesses);
        let step = |access: &unpick_recording::Access| {
            let kind = if access.is_write() { "w" } else { "r" };
            let name = if flag.1(access.flags) { flag.0 } else { "" };
            format!("{}{kind}{name}", access.thread.0)
        };
        accesses.map(step).collect()
    };
    let mut all: Vec<Vec<String>> = locations.iter().map(of_location).collect();
    all.dedup();
    assert_eq!(all.len(), 1, "the same for all bytes: {all:?}");
    all.remove(0).join(" ")
}

struct Forms {
    recording: Recording,
    places: Vec<u64>,
}

impl Forms {
    fn of(compiler: &str, options: &[&str], mode: &str) -> Self {
        let program =
            Program::build_using(compiler, "forms.cc", &[&["-mcx16"], options, LIBATOMIC].concat());
        let run: Run = program.record(&[], mode);
        let output = String::from_utf8_lossy(&run.output.stdout).into_owned();
        assert_eq!(
            output, "3:4\n1:2\n2:3\n0:0\n2:3\n5:6\n2 1 1\n",
            "{compiler} {options:?} {:?}",
            run.output
        );
        let text = String::from_utf8_lossy(&run.output.stderr).into_owned();
        let hex = |word: &str| {
            u64::from_str_radix(word.trim_start_matches("0x"), 16).expect("an address")
        };
        let recording = run.recording();
        assert!(recording.is_complete(), "{:?}", recording.incompleteness());
        Self { recording, places: text.split_whitespace().map(hex).collect() }
    }

    fn sum(&self) -> String {
        history(&self.recording, self.places[0], 4, ("", |_| false))
    }

    fn looked_at(&self) -> String {
        history(&self.recording, self.places[1], 4, ("v", AccessFlags::is_volatile))
    }

    fn changed(&self) -> String {
        history(&self.recording, self.places[2], 2, ("v", AccessFlags::is_volatile))
    }

    fn vptr(&self) -> String {
        history(&self.recording, self.places[3], 8, ("vptr", AccessFlags::is_vptr))
    }

    fn wide(&self) -> String {
        history(&self.recording, self.places[4], 16, ("a", AccessFlags::is_atomic))
    }
}

/// What gcc calls for 128 bits in the program without hooks.
const LIBATOMIC: &[&str] = &["-Wl,--no-as-needed", "-latomic"];
const READ_BEFORE_WRITE: &[&str] = &["-mllvm", "-tsan-instrument-read-before-write"];

#[test]
fn adding_is_a_read_and_a_write() {
    if !support::is_installed("clang++") {
        return;
    }
    for level in ["-O0", "-O1", "-O2"] {
        let gcc = Forms::of("g++", &[level], "");
        let clang = Forms::of("clang++", &[READ_BEFORE_WRITE, &[level]].concat(), "");
        let compound = ["-mllvm", "-tsan-compound-read-before-write", level];
        let compound = Forms::of("clang++", &compound, "");
        // The last read is the main thread's, which prints it.
        for forms in [gcc, clang, compound] {
            assert_eq!(forms.sum(), "1w 2r 2w 1r", "{level}");
        }
    }
}

#[test]
fn volatile_accesses_are_marked_where_the_compiler_tells() {
    if !support::is_installed("clang++") {
        return;
    }
    let gcc = Forms::of("g++", &["--param", "tsan-distinguish-volatile=1"], "full");
    let clang = Forms::of("clang++", &["-mllvm", "-tsan-distinguish-volatile"], "full");
    for forms in [gcc, clang] {
        // The past of an event has no flags.
        assert_eq!(forms.looked_at(), "1w 2rv 1rv");
        assert_eq!(forms.changed(), "1w 2wv 1rv");
    }
}

#[test]
fn reading_and_writing_a_vptr_is_marked() {
    if !support::is_installed("clang++") {
        return;
    }
    assert_eq!(Forms::of("clang++", READ_BEFORE_WRITE, "").vptr(), "1w 2rvptr");
    // gcc tells only of writes.
    assert_eq!(Forms::of("g++", &[], "").vptr(), "1w 2r");
}

#[test]
fn atomics_of_128_bits_are_performed_and_recorded() {
    if !support::is_installed("clang++") {
        return;
    }
    // Store; exchange, add, load, an exchange that fails, store, xor; in a full recording, all of them.
    let expected = "1wa 2ra 2wa 2ra 2wa 2ra 2ra 2wa 2ra 2wa";
    assert_eq!(Forms::of("clang++", READ_BEFORE_WRITE, "full").wide(), expected);
    assert_eq!(Forms::of("g++", &[], "full").wide(), expected);
}
